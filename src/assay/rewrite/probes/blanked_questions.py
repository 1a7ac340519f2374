"""Turns a claim into a question that does not give its answer away: the critical words become blanks."""

import re
from typing import Final

from assay.text.dates import find_dates
from assay.text.lexicon import find_identifiers, find_names
from assay.text.quantities import find_quantities

BLANK: Final = "____"
_NEGATION: Final = re.compile(r"\b(?:not|never|no longer|cannot|n't)\b", re.IGNORECASE)


def blanked(claim: str) -> str | None:
    """The claim with its numbers, dates and identifiers blanked, or else its last name; None if it has neither.

    The first of two names is kept, since it is what the claim is about. None for a claim with a negation, since
    blanking would keep the very word that may be wrong.

    >>> blanked("Partners get 16 weeks of leave from 1 May 2024.")
    'Partners get ____ of leave from ____.'
    >>> blanked("The depot is in Ghent.")
    'The depot is in ____.'
    """
    if _NEGATION.search(claim) is not None:
        return None
    spans = [(date.start, date.end) for date in find_dates(claim)]
    spans += [(found.start, found.end) for found in find_identifiers(claim) if not _within(found.start, spans)]
    spans += [(q.start, q.end) for q in find_quantities(claim) if not q.weak and not _within(q.number_start, spans)]
    if not spans:
        names = [(name.start, name.end) for name in find_names(claim) if name.start > 0]
        spans = names[-1:]
    if not spans:
        return None
    parts, at = [], 0
    for start, end in sorted(spans):
        if start < at:
            continue
        parts += [claim[at:start], BLANK]
        at = end
    return "".join(parts) + claim[at:]


def _within(start: int, spans: list[tuple[int, int]]) -> bool:
    return any(begin <= start < end for begin, end in spans)
