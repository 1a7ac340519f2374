"""Interfaces: where keys come from (files, or the program itself), and where uses of receipts are recorded."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from assay.errors import ReceiptError
from assay.receipt.ed25519 import SigningKey
from assay.receipt.instants import moment_of
from assay.receipt.model import Receipt
from assay.receipt.ring import KeyRing


class Keys(Protocol):
    """Public keys to verify with and, where available, the private key to sign with."""

    def ring(self) -> KeyRing:
        """The current public keys, revocations included.

        Raises:
            ReceiptError: they cannot be read; nothing may be committed then.
        """

    def signer(self) -> SigningKey:
        """The key that signs at present.

        Raises:
            ReceiptError: there is none.
        """


@dataclass(frozen=True, slots=True)
class FixedKeys:
    """Keys that the program holds, for example from a secret manager. They are fixed: a revocation needs new ones."""

    public: KeyRing
    private: SigningKey | None = None

    def ring(self) -> KeyRing:
        """The public keys."""
        return self.public

    def signer(self) -> SigningKey:
        """The private key.

        Raises:
            ReceiptError: there is none, or it is not an active key of the ring.
        """
        if self.private is None:
            raise ReceiptError("expected a private key to sign with, got public keys alone")
        if self.private.key_id not in {key.key_id for key in self.public.active}:
            raise ReceiptError(f"expected the ring to hold the key {self.private.key_id} as active, and it does not")
        return self.private


@dataclass(frozen=True, slots=True)
class Use:
    """The use of a receipt for one commit, as it is claimed."""

    key_id: str
    receipt_id: str
    """Together with the key's id it identifies what can be used once, so the holder of another key cannot use it up."""
    digest: str
    """SHA-256 of the whole receipt, signature included, in hexadecimal; without the receipt it reveals nothing about
    the output."""
    issued: datetime
    """When the receipt was issued, according to the signer."""
    until: datetime
    """The last moment at which it can be committed."""

    @classmethod
    def of(cls, receipt: Receipt, until: datetime) -> "Use":
        """The use of a receipt that was verified.

        >>> Use.__slots__
        ('key_id', 'receipt_id', 'digest', 'issued', 'until')
        """
        stated = receipt.statement
        digest = hashlib.sha256(receipt.to_text().encode()).hexdigest()
        return cls(stated.key_id, stated.receipt_id, digest, moment_of(stated.issued_at), until)


class Claim(StrEnum):
    """The result of claiming a use."""

    FIRST = "first"
    """This is the first use; no later claim gets this result."""
    USED = "used"
    """The same receipt was used before."""
    TAKEN = "taken"
    """Its id was used before, and not visibly by this same receipt."""
    LATE = "late"
    """It can no longer be committed, or it is unknown whether it already was, because uses of receipts issued at that
    time may have been forgotten."""


class Outcome(StrEnum):
    """How the call of the sink after a claim ended."""

    RETURNED = "returned"
    RAISED = "raised"
    """It is unknown whether the sink took effect."""


class Uses(Protocol):
    """The record of used receipts, shared by everyone who uses it. `assay.receipt.uses` has one for a single process,
    and `assay.store.records.receipt_uses` one for all processes over a database.

    A claim is durable before `claim` returns, and the sink is called only afterwards, so a receipt reaches a sink at
    most once. A process that dies between the two has used the receipt up, and its outcome is never recorded.
    """

    def claim(self, use: Use, now: datetime) -> Claim:
        """Claim the use of a receipt. Of all claims of one receipt exactly one gets `FIRST`.

        Args:
            use: what is claimed.
            now: the time by the caller's clock; a record shared by several machines uses its own clock.

        Raises:
            StoreError: it cannot be claimed now; nothing may be committed then.
        """

    def settle(self, use: Use, outcome: Outcome) -> None:
        """Record how the call of the sink ended, for people; whether the receipt can be used depends on claims alone.

        Raises:
            StoreError: it cannot be recorded.
        """
