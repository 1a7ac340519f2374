"""Corrections that need no author: if the evidence gives another value of the same thing, that value is suggested.

Only differences that the exact tier found are suggested: a number, a date, a name or an identifier for one of the same
kind, with the same unit and bound or with both written out. Nothing is applied here; whoever applies it checks again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from assay.guard.check.verdicts import SURE, Judged
from assay.guard.claims.wrong_spans import wrong_pieces
from assay.schema import ExtractedClaim, Span, Suggestion, Verdict
from assay.text.dates import find_dates
from assay.text.quantities import Quantity, find_quantities
from assay.verify.exact import ExactFinding

WORDS: Final = frozenset({"date.mismatch", "name.mismatch", "identifier.mismatch"})
"""The codes of findings whose words are replaced by those of the evidence as they stand."""
_ISO_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_DIGITS: Final = re.compile(r"\d+")
NUMBER: Final = "number.mismatch"
LONGEST: Final = 80
"""The most characters of a value."""
SURE_ENOUGH: Final = 0.5
"""The confidence of a finding from which its value is suggested, if the claim as a whole is contradicted."""
MOST: Final = 8
"""The most suggestions for one claim."""


def suggestions_for(
    judged: Judged, places: Sequence[tuple[ExactFinding, Span]], output: str, claim: ExtractedClaim
) -> tuple[Suggestion, ...]:
    """The corrections of a claim that the evidence contradicts, in the order of the text.

    Args:
        judged: the judgement of the claim.
        places: the findings that contradict it, with their places in the output.
        output: the text of the output.
        claim: the claim. A finding without a place of its own in the output has the place of the whole claim.
    """
    if judged.verdict is not Verdict.CONTRADICTED:
        return ()
    if claim.path is not None:
        return _in_document(places, output, claim)
    found: dict[tuple[int, int], set[str]] = {}
    made: dict[tuple[int, int], Suggestion] = {}
    for finding, span in places:
        if finding.confidence < SURE_ENOUGH or span == claim.span or finding.evidence is None:
            continue
        if not _pointed_at(finding, judged, claim):
            continue
        suggestion = _suggestion(finding, span, output, claim)
        if suggestion is not None and suggestion.after != suggestion.before and not _repeats(suggestion, output, claim):
            key = suggestion.span.start, suggestion.span.end
            found.setdefault(key, set()).add(suggestion.after)
            made.setdefault(key, suggestion)
    # If one value is suggested for two places, at least one of these is about something else.
    sources = Counter((one.evidence.evidence_id, one.evidence.start) for one in made.values())
    # If two values are suggested for one place, the evidence does not say which is right.
    sure = sorted(
        key
        for key, values in found.items()
        if len(values) == 1 and sources[made[key].evidence.evidence_id, made[key].evidence.start] == 1
    )
    kept: list[Suggestion] = []
    for key in sure:
        if not kept or key[0] >= kept[-1].span.end:
            kept.append(made[key])
    return tuple(kept[:MOST])


def _pointed_at(finding: ExactFinding, judged: Judged, claim: ExtractedClaim) -> bool:
    """Whether a finding is sure, or the network marks its words as wrong too (or marks no words at all)."""
    if finding.confidence >= SURE or judged.entailment.worst_contradiction is None:
        return True
    if not judged.entailment.worst_contradiction.wrong:
        return True
    pieces = wrong_pieces(judged, claim.text)
    return any(start < finding.claim_end and finding.claim_start < end for start, end in pieces)


def _repeats(suggestion: Suggestion, output: str, claim: ExtractedClaim) -> bool:
    """Whether the claim already has the suggested words: its values are swapped, and replacing one repairs nothing."""
    start, end = claim.span.start, claim.span.end
    rest = f"{output[start : suggestion.span.start]} \0 {output[suggestion.span.end : end]}"
    return re.search(rf"(?<!\w){re.escape(suggestion.after)}(?!\w)", rest, re.IGNORECASE) is not None


def _in_document(
    places: Sequence[tuple[ExactFinding, Span]], output: str, claim: ExtractedClaim
) -> tuple[Suggestion, ...]:
    """The evidence's value for a value of a JSON document, as JSON; nothing if the evidence has several."""
    before = output[claim.span.start : claim.span.end]
    try:
        value = json.loads(before)
    except ValueError:
        return ()
    made: dict[str, Suggestion] = {}
    for finding, _ in places:
        evidence = finding.evidence
        if finding.confidence < SURE_ENOUGH or evidence is None or len(evidence.text) > LONGEST:
            continue
        after = _json_value(value, claim.text, finding, evidence.text)
        if after is not None and after != before:
            made.setdefault(
                after,
                Suggestion(span=claim.span, before=before, after=after, evidence=evidence, code=finding.code),
            )
    return tuple(made.values()) if len(made) == 1 else ()


def _json_value(value: object, claim: str, finding: ExactFinding, theirs: str) -> str | None:
    """The evidence's value as JSON, of the same type as the document's value; None if it does not fit there."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        place = Span(start=finding.claim_start, end=finding.claim_end)
        mine, others = [q for q in find_quantities(claim) if _at(q, place, 0)], find_quantities(theirs)
        if finding.code != NUMBER or len(mine) != 1 or len(others) != 1:
            return None
        one, other = mine[0], others[0]
        same = (one.unit, one.dimension, one.bound) == (other.unit, other.dimension, other.bound)
        return format(other.value.normalize(), "f") if same and other.exact else None
    ours = claim[finding.claim_start : finding.claim_end]
    if not isinstance(value, str) or finding.code not in WORDS or value.strip() != ours.strip():
        return None
    if _ISO_DAY.fullmatch(value.strip()):
        days = find_dates(theirs)
        if len(days) != 1 or days[0].last_year is not None or days[0].bound != "exact":
            return None
        year, month, day = days[0].year, days[0].month, days[0].day
        return None if not (year and month and day) else json.dumps(f"{year:04}-{month:02}-{day:02}")
    return json.dumps(theirs, ensure_ascii=False)


def _suggestion(finding: ExactFinding, span: Span, output: str, claim: ExtractedClaim) -> Suggestion | None:
    evidence = finding.evidence
    if evidence is None or len(evidence.text) > LONGEST or "\n" in evidence.text:
        return None
    if finding.code == "date.mismatch" and len(_DIGITS.findall(evidence.text)) != len(
        _DIGITS.findall(output[span.start : span.end])
    ):
        return None  # a day against a year
    if finding.code in WORDS:
        place, after = span, evidence.text
    elif finding.code == NUMBER:
        numbered = _number(span, output, claim.sentence, evidence.text)
        if numbered is None:
            return None
        place, after = numbered
    else:
        return None
    before = output[place.start : place.end]
    return Suggestion(span=place, before=before, after=after, evidence=evidence, code=finding.code)


def _number(span: Span, output: str, sentence: Span, theirs: str) -> tuple[Span, str] | None:
    """The place of a number and what to write there: the other number alone, or with its unit if that differs."""
    others = find_quantities(theirs)
    words = output[sentence.start : sentence.end]
    own = [q for q in find_quantities(words) if _at(q, span, sentence.start)]
    if len(others) != 1 or len(own) != 1:
        return None
    mine, other = own[0], others[0]
    if mine.bound != other.bound or mine.dimension != other.dimension or mine.bound == "range":
        return None
    number = theirs[other.number_start : other.number_end]
    if mine.unit == other.unit:
        begin = sentence.start + mine.number_start
        return Span(start=begin, end=sentence.start + mine.number_end), number
    if mine.bound != "exact":
        return None
    return Span(start=sentence.start + mine.start, end=sentence.start + mine.end), theirs[other.start : other.end]


def _at(quantity: Quantity, span: Span, offset: int) -> bool:
    return offset + quantity.start <= span.start and span.end <= offset + quantity.end
