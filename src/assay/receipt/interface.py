"""Where keys come from (files, or the program that has them already), and where uses of receipts are remembered."""

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
    """Public keys to verify with and, where there is one, the private key to sign with."""

    def ring(self) -> KeyRing:
        """The public keys as they are now, revocations included.

        Raises:
            ReceiptError: they cannot be had; nothing may be committed then.
        """

    def signer(self) -> SigningKey:
        """The key that signs now.

        Raises:
            ReceiptError: there is none.
        """


@dataclass(frozen=True, slots=True)
class FixedKeys:
    """Keys that the program has, such as from a secret manager. They never change: revocations need a new value."""

    public: KeyRing
    private: SigningKey | None = None

    def ring(self) -> KeyRing:
        """The public keys."""
        return self.public

    def signer(self) -> SigningKey:
        """The private key.

        Raises:
            ReceiptError: there is none, or the ring does not hold it as active.
        """
        if self.private is None:
            raise ReceiptError("expected a private key to sign with, got public keys alone")
        if self.private.key_id not in {key.key_id for key in self.public.active}:
            raise ReceiptError(f"expected the ring to hold the key {self.private.key_id} as active, and it does not")
        return self.private


@dataclass(frozen=True, slots=True)
class Use:
    """The use of a receipt for a commit, as it is claimed."""

    key_id: str
    receipt_id: str
    """With the key's id, the name of what can be used once: whoever has another key cannot use it up."""
    digest: str
    """SHA-256 of the whole receipt, its signature too, in hexadecimal: it tells nothing of the output to who has not
    the receipt."""
    issued: datetime
    """When the receipt was issued, by the signer's word."""
    until: datetime
    """When it can no longer be committed."""

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
    """What came of claiming a use."""

    FIRST = "first"
    """It is the first one, and nobody gets another."""
    USED = "used"
    """This very receipt was used before."""
    TAKEN = "taken"
    """Its id was used before, and not by this very receipt that one could see."""
    LATE = "late"
    """It can no longer be committed, or it is no longer known whether it was: uses of receipts that were issued then
    or later may have been forgotten."""


class Outcome(StrEnum):
    """What became of the sink that was called after a claim."""

    RETURNED = "returned"
    RAISED = "raised"
    """Whether it took effect is not known."""


class Uses(Protocol):
    """Remembers which receipts were used, for all who share it. `assay.receipt.uses` has one for a process, and
    `assay.store.records.receipt_uses` one for all processes over a database.

    A claim lasts before `claim` returns, and the sink is called only then: a receipt reaches a sink at most once. Who
    dies between the two has used it up, and its outcome is never settled.
    """

    def claim(self, use: Use, now: datetime) -> Claim:
        """Claim the use of a receipt: of all who claim it, one gets `FIRST`.

        Args:
            use: what is claimed.
            now: the time by the claimer's clock; what several machines share goes by a clock of its own.

        Raises:
            StoreError: it cannot be claimed now; nothing may be committed then.
        """

    def settle(self, use: Use, outcome: Outcome) -> None:
        """Note what became of the sink, for people: whether the receipt may be used depends on the claim alone.

        Raises:
            StoreError: it cannot be noted.
        """
