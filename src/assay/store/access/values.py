"""What is remembered of who may do what: values, and the entries of the log that tell of each change.

No secret is stored: of passwords their hashes (made above, by `assay.server.access.passwords`), of sessions, keys and
tokens a SHA-256 of 256 random bits, which nobody can turn back. Entries of the log name users and keys by their ids:
the log outlasts the people.
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
"""The kind of an entry that tells of an act of access administration."""
COMMAND: Final = "command"
"""The actor where the operator's command did it."""

LONGEST_NAME: Final = 200
"""The most characters of a name of a user, a key or a tenant."""
MOST_WORDS: Final = 50
"""The most fields of expertise of one user."""


class TakenError(StoreError):
    """A name is taken already."""


class MalformedError(StoreError, ValueError):
    """A name, a role or a word is not what it should be."""


class StaleError(StoreError):
    """What was to be changed has changed meanwhile, or its state does not allow it."""


@dataclass(frozen=True, slots=True)
class User:
    """A person of a tenant."""

    tenant: str
    id: str
    name: str | None
    """What the person signs in with; none where it was forgotten."""
    roles: tuple[Role, ...]
    expertise: tuple[str, ...]
    """Fields that the person reviews, such as `legal`."""
    created: datetime
    disabled: datetime | None
    version: int
    """Grows with every change."""
    password: str | None = field(default=None, repr=False)
    """The hash of the password; none where the person has not set one yet."""

    @property
    def permissions(self) -> frozenset[Permission]:
        """What the roles allow together; nothing where the user is disabled."""
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
    """When it was used last, give or take a minute."""
    ends: datetime
    """When it ends at the latest."""
    revoked: datetime | None


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key of a program; the key itself is never stored."""

    tenant: str
    id: str
    name: str
    permissions: tuple[Permission, ...]
    maker: str
    """The id of who made it."""
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    used: datetime | None
    """When it was used last, give or take some minutes."""
    digest: str = field(repr=False)

    def holds(self, now: datetime) -> bool:
        """Whether it is good at a moment."""
        return self.revoked is None and (self.expires is None or now < self.expires)


def digest_of(secret: str) -> str:
    """What is stored of a random secret: its SHA-256 in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_secret() -> str:
    """A secret with 256 random bits."""
    return secrets.token_urlsafe(32)


def login_name(text: str) -> str:
    """A name as people are found by it: capitals and forms of letters make no difference.

    >>> login_name(" Ada@Example.com ")
    'ada@example.com'

    Raises:
        MalformedError: it is blank, too long, or holds something that cannot be seen.
    """
    return _seen(unicodedata.normalize("NFKC", text).casefold(), "a user")


def shown_name(text: str, what: str) -> str:
    """A name as it is shown.

    Raises:
        MalformedError: it is blank, too long, or holds something that cannot be seen.
    """
    return _seen(unicodedata.normalize("NFC", text), what)


def _seen(text: str, what: str) -> str:
    name = text.strip()
    # Controls, halves of surrogate pairs, and marks that turn the direction of what follows.
    if not name or len(name) > LONGEST_NAME or any(unicodedata.category(one) in _UNSEEN for one in name):
        raise MalformedError(
            f"expected the name of {what}: 1 to {LONGEST_NAME} characters that can be seen; got {ascii(text)[:80]}"
        )
    return name


_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def joined_roles(roles: Iterable[Role]) -> str:
    """Roles as they are stored."""
    return " ".join(sorted(role.value for role in set(roles)))


def joined_words(words: Collection[str]) -> str:
    """Fields of expertise as they are stored: lower-case words.

    >>> joined_words(["Legal", "tax-law", "legal"])
    'legal tax-law'

    Raises:
        MalformedError: one is no word, or there are too many.
    """
    found = sorted({login_name(word) for word in words})
    if len(found) > MOST_WORDS or any(" " in word for word in found):
        raise MalformedError(
            f"expected at most {MOST_WORDS} fields of expertise, each one word such as legal or tax-law"
        )
    return " ".join(found)


def access_entry(act: str, actor: str, subject: str, at: datetime, **more: str | int | list[str] | None) -> Entry:
    """The entry of an act.

    Args:
        act: what was done, such as `user.create`.
        actor: the id of who did it, or `COMMAND`.
        subject: the id of the user, key or session that it was done to.
        at: when.
        more: what else there is to tell; never a secret, never a name.
    """
    return entry(ACCESS, None, {"at": instant(at), "act": act, "actor": actor, "subject": subject, **more})
