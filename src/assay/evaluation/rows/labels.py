"""The labels of rows, and how other tools write them."""

from typing import Final

LABELS: Final = ("supported", "contradicted", "unsupported", "not_supported")
"""The labels of a row; `not_supported` if the source does not distinguish contradicted from unsupported."""

_GOOD: Final = frozenset({"1", "1.0", "true", "pass", "passed"})
_BAD: Final = frozenset({"0", "0.0", "false", "fail", "failed"})


def read_label(value: object, *, flipped: bool = False) -> str | None:
    """One of `LABELS`, or none if the value is not a label.

    1, true and pass mean supported, 0, false and fail mean not supported, in upper or lower case.

    Args:
        value: the value that a row carries.
        flipped: whether it means the opposite, as in a column that is 1 for a hallucination.

    >>> read_label("PASS"), read_label(0), read_label(True, flipped=True), read_label("perhaps")
    ('supported', 'not_supported', 'not_supported', None)
    """
    text = str(value).strip().lower() if isinstance(value, str | bool | int | float) else ""
    if text in LABELS:
        return text if not flipped else "supported" if text != "supported" else "not_supported"
    if text in _GOOD | _BAD:
        return "supported" if (text in _GOOD) != flipped else "not_supported"
    return None
