"""The public key ring: which keys may sign, from when until when, and which are no longer trusted.

A verifier trusts the ring. Its checksum detects damage, not malice: anyone who can write the ring can write another.
"""

import hashlib
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, StringConstraints, ValidationError, model_validator

from assay.errors import ReceiptError
from assay.receipt.canonical_json import canonical, digest, read_json
from assay.receipt.edwards import is_sound
from assay.receipt.instants import Instant
from assay.receipt.model import KeyId, faults
from assay.schema import Value

LONGEST_RING: Final = 4_000_000
"""The largest size of a ring as text, in bytes: about ten thousand keys."""


class KeyState(StrEnum):
    """What a key may be used for."""

    ACTIVE = "active"
    """It signs and verifies."""
    RETIRED = "retired"
    """It no longer signs; its earlier signatures remain valid."""
    REVOKED = "revoked"
    """None of its signatures is trusted."""


class Revocation(Value):
    """When and why a key stopped being trusted."""

    at: Instant
    reason: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    """For people."""


class PublicKey(Value):
    """One key in the ring."""

    key_id: KeyId
    public: str = Field(pattern=r"\A[0-9a-f]{64}\z")
    """The 32 bytes of the Ed25519 key, in lower-case hexadecimal."""
    created: Instant
    retired: Instant | None = None
    revoked: Revocation | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.key_id != key_id_of(bytes.fromhex(self.public)):
            raise ValueError("a key's id must be derived from the key")
        if not is_sound(bytes.fromhex(self.public)):
            raise ValueError("a key must be a point of the curve in its one spelling, and none of small order")
        if self.retired is not None and self.retired < self.created:
            raise ValueError("a key cannot be retired before it was created")
        if self.revoked is not None and self.revoked.at < self.created:
            raise ValueError("a key cannot be revoked before it was created")
        return self

    @property
    def state(self) -> KeyState:
        """What the key may be used for."""
        if self.revoked is not None:
            return KeyState.REVOKED
        return KeyState.ACTIVE if self.retired is None else KeyState.RETIRED


class KeyRing(Value):
    """Public keys by id; a verifier needs nothing else."""

    version: Literal[1] = 1
    keys: tuple[PublicKey, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        if len({key.key_id for key in self.keys}) != len(self.keys):
            raise ValueError("a ring must not hold a key twice")
        return self

    @property
    def active(self) -> tuple[PublicKey, ...]:
        """The keys that may sign."""
        return tuple(key for key in self.keys if key.state is KeyState.ACTIVE)

    @property
    def checksum(self) -> str:
        """SHA-256 of the canonical bytes of version and keys; it identifies this exact ring."""
        return digest(self.model_dump(mode="json"))

    def find(self, key_id: str) -> PublicKey | None:
        """The key with that id; none if the ring does not contain it."""
        return next((key for key in self.keys if key.key_id == key_id), None)

    def with_key(self, key: PublicKey) -> Self:
        """The ring with one more key, or with another state of a key that it already contains.

        Raises:
            ReceiptError: the result is not a valid ring.
        """
        kept = [key if one.key_id == key.key_id else one for one in self.keys]
        if self.find(key.key_id) is None:
            kept.append(key)
        return type(self)._validated({"version": self.version, "keys": tuple(kept)})  # noqa: SLF001 our own class

    def to_text(self) -> str:
        """The ring as text: one key per line, the checksum last, a newline at the end."""
        keys = ",\n".join(canonical(key.model_dump(mode="json")).decode() for key in self.keys)
        return f'{{"version":{self.version},"keys":[\n{keys}\n],"checksum":"{self.checksum}"}}\n'

    @classmethod
    def from_text(cls, text: str | bytes) -> Self:
        """Reads exactly what `to_text` wrote.

        Raises:
            ReceiptError: the text has another form, or its checksum does not match.
        """
        value = read_json(text, "the key ring", LONGEST_RING)
        if not isinstance(value, dict) or set(value) != {"version", "keys", "checksum"}:
            raise ReceiptError("expected a key ring as an object of version, keys and checksum, got something else")
        if isinstance(value["keys"], list):
            value["keys"] = tuple(value["keys"])
        ring = cls._validated({"version": value["version"], "keys": value["keys"]})
        given = text.encode() if isinstance(text, str) else bytes(text)
        if value["checksum"] != ring.checksum or given != ring.to_text().encode():
            raise ReceiptError(
                "expected a key ring as it was written, but its checksum or its form does not fit: it was damaged or "
                "edited; restore it, and change it by `assay receipt` only"
            )
        return ring

    @classmethod
    def _validated(cls, value: dict[str, Any]) -> Self:
        try:
            return cls.model_validate(value, strict=True)
        except ValidationError as error:
            raise ReceiptError(f"expected a key ring, but {faults(error)}") from error


def key_id_of(public: bytes) -> str:
    """The id of a public key: the first 32 hexadecimal digits of its SHA-256.

    >>> key_id_of(bytes(32))
    '66687aadf862bd776c8fc18b8e9f8e20'
    """
    return hashlib.sha256(public).hexdigest()[:32]
