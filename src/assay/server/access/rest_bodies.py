"""The bodies of requests and answers of the REST routes of access."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from assay.schema import Permission, Role
from assay.server.access.passwords import SHORTEST
from assay.store.access import LONGEST_NAME, ApiKey, Session, User

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Password = Annotated[str, Field(min_length=1, max_length=1_000, json_schema_extra={"minLength": SHORTEST})]
"""A new password; `checked_password` refuses one that breaks a rule, with a message that says which."""
Roles = Annotated[list[Role], Field(min_length=1, max_length=len(Role))]
Expertise = Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=50)]
Token = Annotated[str, Field(min_length=1, max_length=200)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class _Out(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)


class LoginBody(_Body):
    """A person signs in."""

    name: Annotated[str, Field(max_length=1_000)]
    password: Annotated[str, Field(max_length=10_000)]
    tenant: Annotated[str, Field(max_length=100)] = "default"


class SetupBody(_Body):
    """The first administrator is made."""

    token: Token
    """What was shown when the server started."""
    name: Name
    password: Password


class ResetBody(_Body):
    """A password is set again."""

    token: Token
    """What an administrator has made."""
    password: Password


class PasswordBody(_Body):
    """A person sets another password."""

    old: Annotated[str, Field(max_length=10_000)]
    new: Password


class UserBody(_Body):
    """A user to be made."""

    name: Name
    """What the person signs in with."""
    roles: Roles
    expertise: Expertise = Field(default_factory=list)
    """Fields that the person reviews, each one word."""
    password: Password | None = None
    """Without one, the person sets it with a token of `/v1/users/{id}/reset`."""


class UserChange(_Body):
    """What of a user is to be changed; what is left out stays."""

    roles: Roles | None = None
    expertise: Expertise | None = None
    disabled: bool | None = None
    """Whether the user is kept out."""


class KeyBody(_Body):
    """A key to be made."""

    name: Name
    """What it is for."""
    permissions: Annotated[list[Permission], Field(min_length=1, max_length=len(Permission))]
    days: Annotated[float, Field(gt=0, le=3_660)] | None = None
    """For how long it is good; until it is revoked by default."""


class RotateBody(_Body):
    """How a key is replaced."""

    hours: Annotated[float, Field(ge=0, le=8_760)] = 24.0
    """For how long the old one stays good."""


class MeOut(_Out):
    """Who one is to the server, and what one may do."""

    name: str
    kind: str
    """`user`, `key` or `local`."""
    id: str | None
    tenant: str
    roles: list[Role]
    permissions: list[Permission]
    expertise: list[str]
    csrf: str | None = None
    """What requests that change something carry in `x-assay-csrf`, where they come with a session."""


class UserOut(_Out):
    """A user."""

    id: str
    name: str | None
    roles: list[Role]
    expertise: list[str]
    created: datetime
    disabled: datetime | None
    has_password: bool
    version: int
    """Grows with every change; the ETag of the user."""

    @classmethod
    def of(cls, user: User) -> Self:
        """The user without the hash."""
        return cls(
            id=user.id,
            name=user.name,
            roles=list(user.roles),
            expertise=list(user.expertise),
            created=user.created,
            disabled=user.disabled,
            has_password=user.password is not None,
            version=user.version,
        )


class UsersOut(_Out):
    """A page of users."""

    items: list[UserOut]
    next: str | None
    """The cursor of the next page; none at the end."""


class ResetOut(_Out):
    """A token with which a password is set again, at `/v1/reset` or `/console/reset`."""

    token: str
    """Seen this once."""


class KeyOut(_Out):
    """What is kept of a key."""

    id: str
    name: str
    permissions: list[Permission]
    maker: str
    """The id of who made it."""
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    used: datetime | None
    """When it was used last, give or take some minutes."""

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        """The key without the digest."""
        return cls(
            id=key.id,
            name=key.name,
            permissions=list(key.permissions),
            maker=key.maker,
            created=key.created,
            expires=key.expires,
            revoked=key.revoked,
            used=key.used,
        )


class NewKeyOut(_Out):
    """A key that was just made."""

    key: str
    """The key itself, seen this once."""
    kept: KeyOut


class KeysOut(_Out):
    """A page of keys."""

    items: list[KeyOut]
    next: str | None


class SessionOut(_Out):
    """A session of the console."""

    id: str
    user: str
    created: datetime
    seen: datetime
    """When it was used last, give or take a minute."""
    ends: datetime
    current: bool
    """Whether it is the one that asks."""

    @classmethod
    def of(cls, session: Session, current: str) -> Self:
        """The session without its digest."""
        return cls(
            id=session.id,
            user=session.user,
            created=session.created,
            seen=session.seen,
            ends=session.ends,
            current=session.id == current,
        )


class SessionsOut(_Out):
    """A page of sessions."""

    items: list[SessionOut]
    next: str | None
