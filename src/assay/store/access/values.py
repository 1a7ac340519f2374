"""Users, sessions and API keys as values, and the log entry of each change of them.

No secret is stored: of a password its hash (computed above, by `assay.server.access.passwords`); of a session, key or
token the SHA-256 of 256 random bits, which nobody can invert. Log entries name users and keys by their ids, because the
log outlasts the people.
"""

import hashlib
import secrets
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from assay.errors import StoreError
from assay.receipt import instant
from assay.schema import PERMISSIONS, Permission, Role
from assay.store.audit.entries import entry
from assay.store.audit.log import Entry

ACCESS: Final = "access"
"""The kind of the log entries about users, sessions, keys and tenants."""
COMMAND: Final = "command"
"""The actor in entries of changes made with the operator's command."""

LONGEST_NAME: Final = 200
"""The most characters in the name of a user, a key or a tenant."""
MOST_WORDS: Final = 50
"""The most fields of expertise of one user."""


class TakenError(StoreError):
    """The name is already taken."""


class MalformedError(StoreError, ValueError):
    """A name, a role or a field of expertise is malformed."""


class StaleError(StoreError):
    """The object has changed since it was read, or its state does not allow the change."""


@dataclass(frozen=True, slots=True)
class User:
    """A user of a tenant."""

    tenant: str
    id: str
    name: str | None
    """The name for signing in; None once the user was removed."""
    roles: tuple[Role, ...]
    expertise: tuple[str, ...]
    """Fields that the user reviews, such as `legal`."""
    created: datetime
    disabled: datetime | None
    version: int
    """Grows with every change."""
    password: str | None = field(default=None, repr=False)
    """The hash of the password; None until the user has set one."""

    @property
    def permissions(self) -> frozenset[Permission]:
        """The union of what the roles permit; empty if the user is disabled."""
        if self.disabled is not None:
            return frozenset()
        return frozenset().union(*(PERMISSIONS[role] for role in self.roles))


@dataclass(frozen=True, slots=True)
class Session:
    """A session of the console."""

    tenant: str
    id: str
    user: str
    created: datetime
    seen: datetime
    """When it was last used, to within a minute."""
    ends: datetime
    """The latest moment at which it ends."""
    revoked: datetime | None


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key of a program; the key itself is never stored."""

    tenant: str
    id: str
    name: str
    permissions: tuple[Permission, ...]
    maker: str
    """The id of its creator."""
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    used: datetime | None
    """When it was last used, to within some minutes."""
    digest: str = field(repr=False)

    def holds(self, now: datetime) -> bool:
        """Whether it is valid at a moment."""
        return self.revoked is None and (self.expires is None or now < self.expires)


def digest_of(secret: str) -> str:
    """The SHA-256 of a random secret in hexadecimal, which is all that is stored of it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_secret() -> str:
    """A new secret of 256 random bits."""
    return secrets.token_urlsafe(32)


def login_name(text: str) -> str:
    """The form of a name under which users are looked up: NFKC and case-folded.

    >>> login_name(" Ada@Example.com ")
    'ada@example.com'

    Raises:
        MalformedError: it is blank, too long, or holds something that cannot be seen.
    """
    return _checked_name(unicodedata.normalize("NFKC", text).casefold(), "a user")


def shown_name(text: str, what: str) -> str:
    """The form of a name that is displayed: NFC.

    Args:
        text: the name.
        what: what it names, for the error message.

    Raises:
        MalformedError: it is blank, too long, or holds something that cannot be seen.
    """
    return _checked_name(unicodedata.normalize("NFC", text), what)


def _checked_name(text: str, what: str) -> str:
    name = text.strip()
    # Control characters, lone surrogates, and marks that change the direction of the text after them are refused.
    if not name or len(name) > LONGEST_NAME or any(unicodedata.category(char) in _INVISIBLE for char in name):
        raise MalformedError(
            f"expected the name of {what}: 1 to {LONGEST_NAME} characters that can be seen; got {ascii(text)[:80]}"
        )
    return name


_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def joined_roles(roles: Iterable[Role]) -> str:
    """Roles as they are stored: sorted words separated by spaces."""
    return " ".join(sorted(role.value for role in set(roles)))


def joined_words(words: Collection[str]) -> str:
    """Fields of expertise as they are stored: sorted lower-case words separated by spaces.

    >>> joined_words(["Legal", "tax-law", "legal"])
    'legal tax-law'

    Raises:
        MalformedError: one of them is not a single word, or there are too many.
    """
    fields = sorted({login_name(word) for word in words})
    if len(fields) > MOST_WORDS or any(" " in name for name in fields):
        raise MalformedError(
            f"expected at most {MOST_WORDS} fields of expertise, each one word such as legal or tax-law"
        )
    return " ".join(fields)


def access_entry(act: str, actor: str, subject: str, at: datetime, **more: str | int | list[str] | None) -> Entry:
    """The log entry of a change.

    Args:
        act: the change, such as `user.create`.
        actor: the id of the user or key that made it, or `COMMAND`.
        subject: the id of the user, key or session that was changed.
        at: when it was made.
        more: further fields; never a secret, never a name.
    """
    return entry(ACCESS, None, {"at": instant(at), "act": act, "actor": actor, "subject": subject, **more})
