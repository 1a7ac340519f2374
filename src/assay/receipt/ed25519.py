"""Ed25519 (RFC 8032) through `cryptography`, which is imported on first use."""

from types import ModuleType
from typing import Any, Final

from assay.errors import ReceiptError
from assay.receipt.edwards import is_sound
from assay.receipt.ring import key_id_of

_NEEDED: Final = (
    "expected the package `cryptography`, which receipts need, and it is not installed; "
    "run: pip install 'assay-ai[receipts]'"
)


def _library() -> ModuleType:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise ReceiptError(_NEEDED) from error
    return ed25519


class SigningKey:
    """A private key. Neither its `repr` nor any error reveals it."""

    __slots__ = ("_key", "_key_id", "_public")

    def __init__(self, key: Any) -> None:
        """Wraps an `Ed25519PrivateKey` of `cryptography`."""
        self._key = key
        self._public: bytes = key.public_key().public_bytes_raw()
        self._key_id = key_id_of(self._public)

    @classmethod
    def generate(cls) -> "SigningKey":
        """Generates a key from the operating system's random source.

        Raises:
            ReceiptError: `cryptography` is not installed.
        """
        return cls(_library().Ed25519PrivateKey.generate())

    @classmethod
    def from_seed(cls, seed: bytes) -> "SigningKey":
        """The key of a seed of 32 secret bytes.

        Raises:
            ReceiptError: the seed does not have 32 bytes, or `cryptography` is not installed.
        """
        if len(seed) != 32:
            raise ReceiptError(f"expected a private key of 32 bytes, got {len(seed)}")
        return cls(_library().Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def from_pem(cls, pem: bytes) -> "SigningKey":
        """The key in a PEM file (PKCS #8, without a password).

        Raises:
            ReceiptError: it contains no readable Ed25519 key, or `cryptography` is not installed.
        """
        ed25519 = _library()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise ReceiptError("expected a private key in PEM without a password, got something else") from error
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            raise ReceiptError("expected an Ed25519 private key, got one of another kind")
        return cls(key)

    def to_pem(self) -> bytes:
        """The key as PEM (PKCS #8, without a password): a secret."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        pem: bytes = self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return pem

    @property
    def public(self) -> bytes:
        """The 32 bytes of the public key."""
        return self._public

    @property
    def key_id(self) -> str:
        """The id of the public key in a ring."""
        return self._key_id

    def sign(self, message: bytes) -> bytes:
        """The signature of a message, 64 bytes; it is deterministic."""
        signature: bytes = self._key.sign(message)
        return signature

    def __repr__(self) -> str:
        return f"SigningKey(key_id={self._key_id!r})"

    def __reduce__(self) -> Any:
        raise TypeError("a private key is not to be copied or pickled; load it from its file")


def fits(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature over a message was made with the private key that belongs to a public key.

    Raises:
        ReceiptError: `cryptography` is not installed.
    """
    ed25519 = _library()
    from cryptography.exceptions import InvalidSignature

    if not is_sound(public):
        return False
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
