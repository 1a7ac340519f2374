"""Checks a claim that one thing has more of something than another against the two values that the evidence states.

"Students pay more than adults" has no number to compare; the evidence "adults pay 9 euros, students 5 euros" has both.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from assay.text.lexicon import find_words, word_set
from assay.text.quantities import Quantity
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim

_CONFIDENCE: Final = 0.85
_MORE_WORDS: Final = r"more|higher|longer|taller|heavier|larger|bigger|wider|deeper|older|warmer|dearer|more expensive"
_LESS_WORDS: Final = (
    r"less|fewer|lower|shorter|lighter|smaller|narrower|shallower|younger|colder|cheaper|less expensive"
)
_RANK: Final = re.compile(
    rf"^(?P<one>(?:[\w’'-]+\s){{1,5}}?)(?P<verb>(?:are|is|were|was|pays?|paid|costs?|gets?|has|have|takes?|took|lasts?|"
    rf"weighs?|earns?|receives?)\s)(?:(?:an?|the|much|far|a (?:bit|little))\s)*"
    rf"(?:(?P<more>{_MORE_WORDS})|(?P<less>{_LESS_WORDS}))\b(?P<what>(?:\s[\w-]+){{0,2}})\sthan\s(?P<other>(?:[\w’'-]+\s?){{1,4}})[.!]?$",
    re.IGNORECASE,
)
_OTHER_RULES: Final = word_set("free discount discounted reduced reduction or each if unless from until except")
_MOST_VALUES: Final = 8
_DIMENSIONS: Final = {
    "money": ("pay", "pays", "paid", "cost", "costs", "cheaper", "dearer", "expensive", "earn", "earns"),
    "time": ("take", "takes", "took", "last", "lasts", "longer", "shorter", "older", "younger"),
}
"""Words of a claim that determine the dimension of the two values."""


def compare_ranks(claim: Claim, index: ExactIndex) -> Iterator[ExactFinding]:
    """The finding that the values of the evidence have the opposite order."""
    match = _RANK.match(claim.text.strip())
    if match is None or claim.quantities:
        return
    first_stems, second_stems = _stems(match["one"]), _stems(match["other"])
    if not first_stems or not second_stems or first_stems & second_stems:
        return
    row = _sentence_with_both(claim, index, first_stems, second_stems)
    if row is None:
        return
    sentence, first_value, second_value = row
    higher, lower = (first_value, second_value) if match["more"] else (second_value, first_value)
    if _value(higher) > _value(lower):
        return
    start, end = match.span("more" if match["more"] else "less")
    low, high = sorted((first_value, second_value), key=lambda q: q.start)
    text = index.passages[index.sentences[sentence].passage].text
    first_text, second_text = text[first_value.start : first_value.end], text[second_value.start : second_value.end]
    message = (
        f"The claim says {claim.text[start:end]!r}; by the evidence it is {first_text[:40]!r} for "
        f"{match['one'].strip()[:40]!r} and {second_text[:40]!r} for {match['other'].strip(' .!')[:40]!r}."
    )
    span = index.span(sentence, low.start, high.end, "contradicts", _CONFIDENCE)
    yield ExactFinding("comparative.reversed", message, start, end, span, "contradicts", _CONFIDENCE)


def _sentence_with_both(
    claim: Claim, index: ExactIndex, first_stems: frozenset[str], second_stems: frozenset[str]
) -> tuple[int, Quantity, Quantity] | None:
    """The only sentence that states a value of the same dimension for each of the two things, and the values."""
    rows = []
    for candidate in claim.candidates:
        if not _OTHER_RULES.isdisjoint(index.reading(candidate.sentence).folds - {"free"}):
            continue
        values = index.quantities.get(candidate.sentence, ())[:_MOST_VALUES]
        first_values = [
            q for q in values if _is_value_of(claim, index, candidate.sentence, q, first_stems, second_stems)
        ]
        second_values = [
            q for q in values if _is_value_of(claim, index, candidate.sentence, q, second_stems, first_stems)
        ]
        if len(first_values) == len(second_values) == 1 and first_values[0].dimension == second_values[0].dimension:
            rows.append((candidate.sentence, first_values[0], second_values[0]))
    return rows[0] if len(rows) == 1 else None


def _is_value_of(
    claim: Claim, index: ExactIndex, sentence: int, q: Quantity, own: frozenset[str], other: frozenset[str]
) -> bool:
    if not q.exact or q.bound != "exact" or q.low is None or q.dimension in {"ordinal", "factor", "count", "share"}:
        return False
    dimensions = {kind for kind, words in _DIMENSIONS.items() if not claim.folds.isdisjoint(words)}
    if dimensions and not any(q.dimension.startswith(kind) for kind in dimensions):
        return False
    indexed = index.sentences[sentence]
    text = index.passages[indexed.passage].text
    cut = max(text.rfind(mark, indexed.start, q.start) for mark in ",;:")
    stems = _stems(text[max(indexed.start, cut + 1) : q.start])
    return own <= stems and stems.isdisjoint(other)


def _value(q: Quantity) -> Decimal:
    return q.low if q.low is not None else q.value


def _stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in find_words(text).lexemes if word.weight)
