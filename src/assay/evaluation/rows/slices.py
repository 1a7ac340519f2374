"""The slices of a row: by domain, language, length, what the claim contains, and by its meta.

They go by plain surface features, the same for every verifier: they show where a verifier is weak, not what a claim
means.
"""

import re
from collections.abc import Sequence
from typing import Final

from assay.evaluation.rows.domains import domain_of, language_of
from assay.evaluation.rows.reading import Row

_NUMBER: Final = re.compile(r"\d")
_DATE: Final = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\b\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b|\bMay\s+\d",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE
)
_INFERENCE: Final = re.compile(
    r"\b(?:therefore|thus|hence|because|since|so that|implies|means that|if|unless|more|less|fewer|greater|than"
    r"|most|least|total|average|altogether|combined|twice|double[ds]?|half|both|all|every|each|before|after|during|between)\b",
    re.IGNORECASE,
)
"""Words of claims that need inference beyond a lookup: reasons, conditions, comparison, counting, order."""
_NAME: Final = re.compile(r"(?<=[\w,;:)] )[A-Z]\w+")
_WORD: Final = re.compile(r"\w+")

_CLAIM_STEPS: Final = ((8, "up to 8 words"), (16, "9 to 16 words"), (32, "17 to 32 words"))
_EVIDENCE_STEPS: Final = ((50, "up to 50 words"), (200, "51 to 200 words"), (1000, "201 to 1,000 words"))
_ORDER: Final = tuple(name for _, name in (*_CLAIM_STEPS, *_EVIDENCE_STEPS))
CLAIM_TYPES: Final = ("number", "date", "name", "negation", "inference")
"""The ways of slicing by what a claim contains; each has the slices `with` and `without`."""


def slice_order(name: str) -> tuple[int, str]:
    """The sort key of a slice within its way of slicing: lengths ascending, anything else by name.

    >>> sorted(["over 32 words", "9 to 16 words", "up to 8 words"], key=slice_order)
    ['up to 8 words', '9 to 16 words', 'over 32 words']
    """
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def slices_of(row: Row, keys: Sequence[str] = ()) -> dict[str, str]:
    """The slice of a row for each way of slicing.

    Args:
        row: the row.
        keys: further names in `meta` to slice by; a row without the name is in the slice `none`.

    Returns:
        The slice by way of slicing, such as `{"claim length": "up to 8 words", "number": "with"}`.
    """
    text = row.text
    evidence_words = sum(len(_WORD.findall(piece.text)) for piece in row.evidence)
    slices = {
        "domain": domain_of(row),
        "claim length": _step(len(_WORD.findall(text)), _CLAIM_STEPS),
        "evidence length": _step(evidence_words, _EVIDENCE_STEPS),
        "number": _with(_NUMBER, text),
        "date": _with(_DATE, text),
        "name": _with(_NAME, text),
        "negation": _with(_NEGATION, text),
        "inference": _with(_INFERENCE, text),
        "question": "without" if row.question is None else "with",
        "language": language_of(row),
    }
    slices.update({f"meta {key}": _value(row.meta.get(key)) for key in keys})
    return slices


def _with(pattern: re.Pattern[str], text: str) -> str:
    return "with" if pattern.search(text) else "without"


def _step(count: int, steps: Sequence[tuple[int, str]]) -> str:
    beyond = f"over {steps[-1][0]:,} words"
    return next((name for most_words, name in steps if count <= most_words), beyond)


def _value(value: object) -> str:
    return "none" if value is None or value == "" else str(value)[:80]
