"""Keys as files: a folder with the public ring and the private key that signs.

    ring.json        the public keys, for everyone who verifies (see `assay.receipt.ring`)
    KEY_ID.key       the private key in PEM, mode 0600; at most one, that of the active key
    lock             held while the ring is changed

Every change is crash-safe: a private key is on disk before the ring lists it, and the ring marks a key as retired or
revoked before its private key is deleted.
"""

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from assay.errors import ReceiptError
from assay.receipt.ed25519 import SigningKey
from assay.receipt.instants import instant
from assay.receipt.model import faults
from assay.receipt.ring import LONGEST_RING, KeyRing, KeyState, PublicKey, Revocation

if sys.platform != "win32":
    import fcntl

RING_FILE: Final = "ring.json"
"""The file name of the public ring in its folder."""
_LOCK_FILE: Final = "lock"
_LONGEST_KEY: Final = 4_096


class KeyStore:
    """The keys in a folder. Nothing is kept in memory: changes by another process are seen from the next call on."""

    def __init__(self, folder: Path | str) -> None:
        """Sets the folder, which is created with the first key."""
        self._folder = Path(folder)

    @property
    def folder(self) -> Path:
        """Where the keys are."""
        return self._folder

    @property
    def ring_file(self) -> Path:
        """The file with the public ring, the only one that verifiers need."""
        return self._folder / RING_FILE

    def ring(self) -> KeyRing:
        """The current public ring.

        Raises:
            ReceiptError: there is none, or it is damaged.
        """
        return read_ring(self.ring_file)

    def create(self, now: datetime) -> PublicKey:
        """Creates the signing key of a folder that has no active one.

        Args:
            now: the current time, with its zone.

        Raises:
            ReceiptError: a key is already active, or the folder cannot be written to.
        """
        with self._changing() as ring:
            if ring.active:
                raise ReceiptError(
                    f"expected no active key in {self._folder}, but {ring.active[0].key_id} is; "
                    "rotate it with `assay receipt rotate`, or revoke it with `assay receipt revoke`"
                )
            key = self._new_key(now)
            self._write_ring(ring.with_key(key))
            return key

    def rotate(self, now: datetime) -> tuple[PublicKey, PublicKey]:
        """Retires the signing key and creates another. The old private key is deleted; its signatures remain valid.

        Args:
            now: the current time, with its zone.

        Returns:
            The retired key and the new one.

        Raises:
            ReceiptError: no key is active, or the folder cannot be written to.
        """
        with self._changing() as ring:
            old = _only_active(ring, self._folder)
            # Not before it was created, however the clock was set in between.
            retired = old.model_copy(update={"retired": max(instant(now), old.created)})
            key = self._new_key(now)
            self._write_ring(ring.with_key(retired).with_key(key))
            self._delete(old.key_id)
            return retired, key

    def revoke(self, key_id: str, reason: str, now: datetime, *, since: datetime | None = None) -> PublicKey:
        """Revokes a key: nothing that it ever signed is trusted any more. Its private key is deleted if it is here.

        Args:
            key_id: the key.
            reason: why, for people; at most 500 characters.
            now: the current time, with its zone.
            since: from when on it is not trusted, if that is known; `now` by default.

        Raises:
            ReceiptError: the ring has no such key, it is already revoked, the reason is empty or too long, or the
                folder cannot be written to.
        """
        with self._changing() as ring:
            key = ring.find(key_id)
            if key is None:
                raise ReceiptError(f"expected a key of {self.ring_file}, and it holds none of that id")
            if key.revoked is not None:
                raise ReceiptError(f"the key {key_id} was revoked already at {key.revoked.at}")
            at = min(instant(now), instant(since or now))
            try:
                revocation = Revocation(at=max(at, key.created), reason=reason.strip())
            except ValidationError as error:
                raise ReceiptError(f"expected a reason of 1 to 500 characters, but {faults(error)}") from error
            revoked = key.model_copy(update={"revoked": revocation})
            self._write_ring(ring.with_key(revoked))
            self._delete(key_id)
            return revoked

    def signer(self) -> SigningKey:
        """The current signing key.

        Raises:
            ReceiptError: no key is active, or its file is missing, contains another key, or can be read by others.
        """
        key = _only_active(self.ring(), self._folder)
        signing = SigningKey.from_pem(_read_private(self._private_file(key.key_id)))
        if signing.key_id != key.key_id:
            raise ReceiptError(
                f"expected the key {key.key_id} in {self._private_file(key.key_id)}, got {signing.key_id}"
            )
        return signing

    # Files

    def _private_file(self, key_id: str) -> Path:
        return self._folder / f"{key_id}.key"

    def _new_key(self, now: datetime) -> PublicKey:
        signing = SigningKey.generate()
        _write_new(self._private_file(signing.key_id), signing.to_pem(), 0o600)
        return PublicKey(key_id=signing.key_id, public=signing.public.hex(), created=instant(now))

    def _delete(self, key_id: str) -> None:
        try:
            self._private_file(key_id).unlink(missing_ok=True)
        except OSError as error:
            raise ReceiptError(
                f"the ring was changed, but the private key {self._private_file(key_id)} cannot be deleted: "
                f"{error.strerror or error}; delete it"
            ) from error

    def _write_ring(self, ring: KeyRing) -> None:
        temporary = self._folder / f".{RING_FILE}.{secrets.token_hex(4)}.tmp"
        try:
            _write_new(temporary, ring.to_text().encode(), 0o644)
            temporary.replace(self.ring_file)
            _sync_folder(self._folder)
        except OSError as error:
            raise ReceiptError(f"{self.ring_file} cannot be written: {error.strerror or error}") from error
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    @contextmanager
    def _changing(self) -> Iterator[KeyRing]:
        """The ring, locked against other processes until the block ends; an empty one where there is none yet."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ReceiptError(
                f"expected a folder for keys at {self._folder}, but it cannot be used: {error.strerror or error}"
            ) from error
        try:
            if sys.platform != "win32":
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield self.ring() if self.ring_file.exists() else KeyRing()
        finally:
            os.close(lock)


class RingFile:
    """The public ring in a single file, for verifiers that never sign. It is read again each time."""

    def __init__(self, path: Path | str) -> None:
        """Sets the path of the file."""
        self._path = Path(path)

    def ring(self) -> KeyRing:
        """The current ring.

        Raises:
            ReceiptError: there is none, or it is damaged.
        """
        return read_ring(self._path)

    def signer(self) -> SigningKey:
        """Never returns: a public ring has no private key.

        Raises:
            ReceiptError: always.
        """
        raise ReceiptError(
            f"expected a folder of keys to sign with, got {self._path}, a ring of public keys; name the folder"
        )


def open_keys(path: Path | str) -> "KeyStore | RingFile":
    """The keys at a path: a file is read as a public ring, anything else as a folder of keys."""
    return RingFile(path) if Path(path).is_file() else KeyStore(path)


def new_receipt_id() -> str:
    """A new id for a receipt: 32 random hexadecimal digits."""
    return secrets.token_hex(16)


def read_ring(path: Path | str) -> KeyRing:
    """The public ring in a file.

    Raises:
        ReceiptError: the file cannot be read, or is not an unaltered ring.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(LONGEST_RING + 1)
    except OSError as error:
        raise ReceiptError(
            f"expected a key ring at {path}, but it cannot be read: {error.strerror or error}; "
            "make one with `assay receipt create-key`"
        ) from error
    try:
        return KeyRing.from_text(data)
    except ReceiptError as error:
        raise ReceiptError(f"{path}: {error}") from error


def _only_active(ring: KeyRing, folder: Path) -> PublicKey:
    active = [key for key in ring.keys if key.state is KeyState.ACTIVE]
    if len(active) != 1:
        raise ReceiptError(
            f"expected one active key in {folder}, got {len(active)}; make one with `assay receipt create-key`"
        )
    return active[0]


def _read_private(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            # The mode of the open file, so that what is checked is what is read.
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(_LONGEST_KEY + 1)
    except OSError as error:
        raise ReceiptError(
            f"expected the private key at {path}, but it cannot be read: {error.strerror or error}"
        ) from error
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ReceiptError(
            f"expected {path} to be readable by its owner alone (mode 0600), got {stat.S_IMODE(mode):04o}; "
            "others may have read it: revoke it with `assay receipt revoke`, or chmod 600 if nobody could"
        )
    return data


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Writes a new file with exactly these permissions, synced to disk on return; it never overwrites anything."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            if os.name == "posix":
                # The process's umask may have taken permissions away, never added one.
                os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ReceiptError(f"{path} cannot be written: {error.strerror or error}") from error


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
