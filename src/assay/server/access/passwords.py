"""The rules for new passwords, and password hashes.

Hashes are Argon2id (RFC 9106) by argon2-cffi, in its usual text form, which includes the parameters: they can be raised
later, and old hashes are replaced as people sign in. A comparison takes the same time whether the user exists or not.
At most `MOST_AT_ONCE` hashes are computed at a time, so that sign-in attempts can exhaust neither memory nor CPUs.
"""

import base64
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from assay.errors import BusyError, InputError

SHORTEST: Final = 12
LONGEST: Final = 1_000
"""The least and the greatest length of a password, in characters."""
FEWEST_DIFFERENT: Final = 5
"""Distinct characters that a password has at least: `aaaaaaaaaaaa` is long, too."""
MOST_AT_ONCE: Final = 2
"""Hashes that one process computes at a time."""
MOST_WAITING: Final = 16
"""Requests for a hash that are computed or wait; more are refused."""


class Passwords:
    """Computes and compares password hashes; safe to use from several threads."""

    def __init__(self, *, passes: int = 3, memory_kib: int = 65_536) -> None:
        """Hashes with these parameters.

        Args:
            passes: those of Argon2id over its memory (its time cost).
            memory_kib: its memory in KiB.
        """
        self._hasher = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1)
        head = f"$argon2id$v=19$m={memory_kib},t={passes},p=1"
        # The hash of no password: what is compared where there is no user.
        self._dummy_hash = f"{head}${_base64(bytes(16))}${_base64(bytes(32))}"
        self._slots = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._waiting = 0
        self._lock = threading.Lock()

    def hash(self, password: str) -> str:
        """The hash of a new password, with a salt of its own.

        Raises:
            BusyError: too many hashes are waiting.
        """
        with self._slot():
            return self._hasher.hash(_normalized(password))

    def matches(self, password: str, stored: str | None) -> bool:
        """Whether a password matches a stored hash; without one it never does, and takes as much time.

        Raises:
            BusyError: too many hashes are waiting.
        """
        with self._slot():
            try:
                self._hasher.verify(stored or self._dummy_hash, _normalized(password[: LONGEST + 1]))
            except (VerificationError, InvalidHashError):
                return False
        return stored is not None and len(password) <= LONGEST

    def needs_rehash(self, stored: str) -> bool:
        """Whether a hash was computed with other parameters than the current ones."""
        return self._hasher.check_needs_rehash(stored)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        with self._lock:
            if self._waiting >= MOST_WAITING:
                raise BusyError("too many are signing in at once; try again in a moment")
            self._waiting += 1
        try:
            with self._slots:
                yield
        finally:
            with self._lock:
                self._waiting -= 1


def checked_password(password: str, name: str = "") -> str:
    """A new password, if it follows the rules.

    Args:
        password: the password.
        name: the name of the user, which the password must not contain.

    Raises:
        InputError: it is too short or too long, has too few distinct characters, or contains the name.
    """
    plain = _normalized(password)
    if not SHORTEST <= len(plain) <= LONGEST:
        raise InputError(f"a password has {SHORTEST} to {LONGEST:,} characters; this one has {len(plain):,}")
    if len(set(plain.casefold())) < FEWEST_DIFFERENT:
        raise InputError(f"a password has at least {FEWEST_DIFFERENT} characters that differ; this one has fewer")
    own = name.casefold().partition("@")[0]
    if len(own) >= 3 and own in plain.casefold():
        raise InputError("a password does not hold the name of its user; choose another")
    return password


def _normalized(password: str) -> str:
    """The password in NFKC, so that the same letters give the same text however a keyboard composed them."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode().rstrip("=")
