"""Where keys come from: files, or the program that has them already."""

from dataclasses import dataclass
from typing import Protocol

from assay.errors import ReceiptError
from assay.receipt.ed25519 import SigningKey
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
