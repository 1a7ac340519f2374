"""Labels as other tools write them."""

from typing import Final

LABELS: Final = ("supported", "contradicted", "unsupported", "not_supported")
"""The labels a row may carry; `not_supported` where the source does not tell the two before it apart."""

_GOOD: Final = frozenset({"1", "1.0", "true", "pass", "passed"})
_BAD: Final = frozenset({"0", "0.0", "false", "fail", "failed"})


def read_label(value: object, *, flipped: bool = False) -> str | None:
    """One of `LABELS`, or none of what is no label.

    1, true and pass say that the text is supported, 0, false and fail that it is not, in any case of letters.

    Args:
        value: what a row carries.
        flipped: whether it says the opposite, as in a column that is 1 where something is hallucinated.

    >>> read_label("PASS"), read_label(0), read_label(True, flipped=True), read_label("perhaps")
    ('supported', 'not_supported', 'not_supported', None)
    """
    text = str(value).strip().lower() if isinstance(value, str | bool | int | float) else ""
    if text in LABELS:
        return text if not flipped else "supported" if text != "supported" else "not_supported"
    if text in _GOOD | _BAD:
        return "supported" if (text in _GOOD) != flipped else "not_supported"
    return None
