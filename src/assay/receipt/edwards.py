"""Points of edwards25519 (RFC 8032): the checks that a public key must pass before it is trusted."""

from functools import lru_cache
from typing import Final

_P: Final = 2**255 - 19
_D: Final = -121665 * pow(121666, -1, _P) % _P
"""The field and the constant of edwards25519 (RFC 8032, section 5.1)."""


@lru_cache(maxsize=1024)
def is_sound(public: bytes) -> bool:
    """Whether 32 bytes are a public key whose signatures mean something.

    They must be the canonical encoding of a point of the curve (RFC 8032, section 5.1.3), and the point must not be of
    small order: for such a key anyone can forge a signature over any message.

    >>> is_sound(bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))
    True
    >>> is_sound(bytes(32)), is_sound(b"\\x01" + bytes(31))
    (False, False)
    """
    number = int.from_bytes(public, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if len(public) != 32 or y >= _P:
        return False
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return False
    x = -x % _P if x & 1 != sign else x
    for _ in range(3):  # eight times the point: the order of the curve is eight times a prime
        product = _D * x * x * y * y % _P
        x, y = (
            2 * x * y * pow(1 + product, -1, _P) % _P,
            (y * y + x * x) * pow(1 - product, -1, _P) % _P,
        )
    return (x, y) != (0, 1)
