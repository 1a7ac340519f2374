"""Passwords: what is asked of them, and their hashes.

Hashes are Argon2id (RFC 9106) by argon2-cffi, in its usual text form with the parameters in it, so that they can be
raised later and old hashes are made again as people sign in. Comparing takes the same time whether there is such a user
or not. At most `TOGETHER` hashes are made at once, so that tries to sign in can fill neither memory nor processors.
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
"""The characters of a password."""
FEWEST_DIFFERENT: Final = 5
"""Characters that differ: `aaaaaaaaaaaa` is long, too."""
TOGETHER: Final = 2
"""Hashes that are made at once in one process."""
MOST_WAITING: Final = 16
"""Those that may wait for it; more are refused."""


class Passwords:
    """Makes and compares hashes of passwords. May be used from several threads."""

    def __init__(self, *, passes: int = 3, memory_kib: int = 65_536) -> None:
        """Hashes with these parameters.

        Args:
            passes: those of Argon2id over its memory (its time cost).
            memory_kib: its memory in KiB.
        """
        self._hasher = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1)
        head = f"$argon2id$v=19$m={memory_kib},t={passes},p=1"
        # Of no password: what nobody's password is compared with.
        self._nobody = f"{head}${_base64(bytes(16))}${_base64(bytes(32))}"
        self._turns = threading.BoundedSemaphore(TOGETHER)
        self._waiting = 0
        self._lock = threading.Lock()

    def make(self, password: str) -> str:
        """The hash of a new password, with a salt of its own.

        Raises:
            BusyError: too many hashes are being made.
        """
        with self._turn():
            return self._hasher.hash(_normal(password))

    def fits(self, password: str, stored: str | None) -> bool:
        """Whether a password is the one of a hash; with no hash, never, after as much work.

        Raises:
            BusyError: too many hashes are being made.
        """
        with self._turn():
            try:
                self._hasher.verify(stored or self._nobody, _normal(password[: LONGEST + 1]))
            except (VerificationError, InvalidHashError):
                return False
        return stored is not None and len(password) <= LONGEST

    def is_old(self, stored: str) -> bool:
        """Whether a hash was made with other parameters than today's."""
        return self._hasher.check_needs_rehash(stored)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock:
            if self._waiting >= MOST_WAITING:
                raise BusyError("too many are signing in at once; try again in a moment")
            self._waiting += 1
        try:
            with self._turns:
                yield
        finally:
            with self._lock:
                self._waiting -= 1


def checked_password(password: str, name: str = "") -> str:
    """A new password, if it is one that cannot be guessed at once.

    Args:
        password: the password.
        name: of the user; a password that is the name, or holds it, is refused.

    Raises:
        InputError: it is too short, too long, of too few characters that differ, or holds the name.
    """
    plain = _normal(password)
    if not SHORTEST <= len(plain) <= LONGEST:
        raise InputError(f"a password has {SHORTEST} to {LONGEST:,} characters; this one has {len(plain):,}")
    if len(set(plain.casefold())) < FEWEST_DIFFERENT:
        raise InputError(f"a password has at least {FEWEST_DIFFERENT} characters that differ; this one has fewer")
    own = name.casefold().partition("@")[0]
    if len(own) >= 3 and own in plain.casefold():
        raise InputError("a password does not hold the name of its user; choose another")
    return password


def _normal(password: str) -> str:
    """The same letters give the same text, however a keyboard put them together."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode().rstrip("=")
