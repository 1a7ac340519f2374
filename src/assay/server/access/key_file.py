"""API keys in a file: created, listed, rotated and revoked by `assay keys`; only their digests are stored.

A key reads `assay_<id>_<secret>`. The secret has 256 random bits, so that a plain SHA-256 of it cannot be inverted and
takes no noticeable time. The file is read again when it has changed, so that a revoked key fails at once in every
worker.
"""

import fcntl
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError, PolicyError

SCOPES: Final = ("check", "gateway", "metrics")
DEFAULT_SCOPES: Final = ("check", "gateway")
"""What a key may be good for: the REST routes, and the routes of the gateway."""

PREFIX: Final = "assay_"
_MOST_BYTES: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class Key:
    """The stored record of one key."""

    id: str
    name: str
    """What it is for, as its creator named it."""
    digest: str
    """SHA-256 of the secret, in hexadecimal."""
    scopes: tuple[str, ...]
    created: str
    """When it was created, as in 2026-01-31T12:00:00+00:00."""
    expires: str | None = None
    """When it expires; set by a rotation, or when it was created. None for a key without an end."""
    revoked: str | None = None
    """When it was revoked."""

    def holds(self, now: datetime) -> bool:
        """Whether it is valid at a moment."""
        if self.revoked is not None:
            return False
        return self.expires is None or now < datetime.fromisoformat(self.expires)


class KeyFile:
    """The keys of a server, in one file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        """The file at `path`; it need not exist before the first key is created."""
        self.path = path
        self._stamp: tuple[int, int, int] | None = None
        self._keys: Mapping[str, Key] = {}

    def all_keys(self) -> tuple[Key, ...]:
        """All keys, including revoked ones, in the order in which they were created.

        Raises:
            PolicyError: the file cannot be read.
        """
        return tuple(self._read().values())

    def create(
        self,
        name: str,
        scopes: tuple[str, ...] = DEFAULT_SCOPES,
        *,
        now: datetime | None = None,
        days: float | None = None,
    ) -> str:
        """Create a key and return it; it is not stored and cannot be shown again.

        Raises:
            InputError: the name is blank, a scope is unknown, or the days are not above zero.
        """
        unknown = sorted(set(scopes) - set(SCOPES))
        if not name.strip() or unknown or not scopes or (days is not None and not days > 0):
            raise InputError(
                f"a key has a name, scopes among {', '.join(SCOPES)} and, where it ends, days above 0; "
                f"got the name {name!r}, the scopes {', '.join(scopes) or 'none'} and the days {days}"
            )
        moment = now or datetime.now(UTC)
        expires = None if days is None else (moment + timedelta(days=days)).isoformat()
        with self._locked_for_change() as keys:
            return _add(keys, name.strip(), tuple(scopes), moment, expires)

    def rotate(self, id_: str, *, hours: float = 24.0, now: datetime | None = None) -> str:
        """Create a key that replaces another, which stays valid for some hours more, and return the new one.

        Raises:
            InputError: there is no such key, or it is no longer valid.
        """
        moment = now or datetime.now(UTC)
        with self._locked_for_change() as keys:
            old = _require_known(keys, id_)
            if not old.holds(moment):
                raise InputError(f"the key {id_} is not good any more; make a new one with `assay keys create`")
            end = (moment + timedelta(hours=max(0.0, hours))).isoformat()
            keys[id_] = replace(old, expires=min(end, old.expires) if old.expires else end)
            return _add(keys, old.name, old.scopes, moment, None)

    def revoke(self, id_: str, *, now: datetime | None = None) -> None:
        """Revoke a key at once.

        Raises:
            InputError: there is no such key.
        """
        with self._locked_for_change() as keys:
            old = _require_known(keys, id_)
            if old.revoked is None:
                keys[id_] = replace(old, revoked=(now or datetime.now(UTC)).isoformat())

    def find(self, key: str, now: datetime | None = None) -> Key | None:
        """The record of a key that a client sent; none where it is unknown, expired or revoked.

        Raises:
            PolicyError: the file cannot be read; then no key is valid.
        """
        id_, _, secret = key.removeprefix(PREFIX).partition("_")
        known = self._read().get(id_)
        # An unknown id takes as much time as a known one.
        digest = known.digest if known is not None else "0" * 64
        same = hmac.compare_digest(digest, _digest(secret))
        return known if known is not None and same and known.holds(now or datetime.now(UTC)) else None

    def allows(self, key: str, scope: str, now: datetime | None = None) -> bool:
        """Whether a key that a client sent is valid for a scope.

        Raises:
            PolicyError: the file cannot be read; then no key is valid.
        """
        found = self.find(key, now)
        return found is not None and scope in found.scopes

    def _read(self) -> Mapping[str, Key]:
        try:
            status = self.path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self._stamp:
                self._keys, self._stamp = _parse(self.path), stamp
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise PolicyError(f"the file of API keys {self.path} cannot be read: {error.strerror}") from error
        return self._keys

    @contextmanager
    def _locked_for_change(self) -> Iterator[dict[str, Key]]:
        """The keys, to be changed in place; written back whole under a lock, so that no concurrent change is lost."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_name(self.path.name + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            keys = dict(self._read())
            yield keys
            _write(self.path, keys)


def _require_known(keys: Mapping[str, Key], id_: str) -> Key:
    if id_ not in keys:
        raise InputError(f"there is no key {id_!r}; `assay keys list` shows those that there are")
    return keys[id_]


def _add(keys: dict[str, Key], name: str, scopes: tuple[str, ...], now: datetime, expires: str | None) -> str:
    id_ = secrets.token_hex(6)
    secret = secrets.token_urlsafe(32)
    keys[id_] = Key(id_, name, _digest(secret), scopes, now.isoformat(timespec="seconds"), expires)
    return f"{PREFIX}{id_}_{secret}"


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _parse(path: Path) -> dict[str, Key]:
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES)
    try:
        rows: list[dict[str, Any]] = json.loads(content)["keys"]
        keys = [Key(**{**row, "scopes": tuple(row["scopes"])}) for row in rows]
    except (ValueError, KeyError, TypeError) as error:
        raise PolicyError(f"the file of API keys {path} is not one that `assay keys` wrote; restore it") from error
    return {key.id: key for key in keys}


def _write(path: Path, keys: Mapping[str, Key]) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"keys": [asdict(key) for key in keys.values()]}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
