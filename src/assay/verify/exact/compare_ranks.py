"""Claims that one thing has more of something than another, against the two values that the evidence states.

"Students pay more than adults" has no number that could be compared; "adults pay 9 euros, students 5 euros" has both.
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
_MORE: Final = r"more|higher|longer|taller|heavier|larger|bigger|wider|deeper|older|warmer|dearer|more expensive"
_LESS: Final = r"less|fewer|lower|shorter|lighter|smaller|narrower|shallower|younger|colder|cheaper|less expensive"
_RANK: Final = re.compile(
    rf"^(?P<one>(?:[\w’'-]+\s){{1,5}}?)(?P<verb>(?:are|is|were|was|pays?|paid|costs?|gets?|has|have|takes?|took|lasts?|"
    rf"weighs?|earns?|receives?)\s)(?:(?:an?|the|much|far|a (?:bit|little))\s)*"
    rf"(?:(?P<more>{_MORE})|(?P<less>{_LESS}))\b(?P<what>(?:\s[\w-]+){{0,2}})\sthan\s(?P<other>(?:[\w’'-]+\s?){{1,4}})[.!]?$",
    re.IGNORECASE,
)
_OTHER_RULES: Final = word_set("free discount discounted reduced reduction or each if unless from until except")
_MOST_VALUES: Final = 8
_DIMENSIONS: Final = {
    "money": ("pay", "pays", "paid", "cost", "costs", "cheaper", "dearer", "expensive", "earn", "earns"),
    "time": ("take", "takes", "took", "last", "lasts", "longer", "shorter", "older", "younger"),
}
"""Words of a claim that say which dimension the two values have; with none of them, both have to have one only."""


def compare_ranks(claim: Claim, index: ExactIndex) -> Iterator[ExactFinding]:
    """The finding that the evidence's values stand the other way about."""
    found = _RANK.match(claim.text.strip())
    if found is None or claim.quantities:
        return
    one, other = _stems(found["one"]), _stems(found["other"])
    if not one or not other or one & other:
        return
    row = _row(claim, index, one, other)
    if row is None:
        return
    sentence, mine, theirs = row
    values = _value(mine), _value(theirs)
    right = values[0] > values[1] if found["more"] else values[0] < values[1]
    if right:
        return
    start = found.start("more") if found["more"] else found.start("less")
    end = found.end("more") if found["more"] else found.end("less")
    low, high = sorted((mine, theirs), key=lambda q: q.start)
    text = index.passages[index.sentences[sentence].passage].text
    ours, shown = text[mine.start : mine.end], text[theirs.start : theirs.end]
    message = (
        f"The claim says {claim.text[start:end]!r}; by the evidence it is {ours[:40]!r} for "
        f"{found['one'].strip()[:40]!r} and {shown[:40]!r} for {found['other'].strip(' .!')[:40]!r}."
    )
    span = index.span(sentence, low.start, high.end, "contradicts", _CONFIDENCE)
    yield ExactFinding("comparative.reversed", message, start, end, span, "contradicts", _CONFIDENCE)


def _row(
    claim: Claim, index: ExactIndex, one: frozenset[str], other: frozenset[str]
) -> tuple[int, Quantity, Quantity] | None:
    """The one sentence that gives each of the two its own value of one dimension, and the two values."""
    rows = []
    for candidate in claim.candidates:
        if not _OTHER_RULES.isdisjoint(index.reading(candidate.sentence).folds - {"free"}):
            continue
        some = index.quantities.get(candidate.sentence, ())[:_MOST_VALUES]
        mine = [q for q in some if _is_of(claim, index, candidate.sentence, q, one, other)]
        theirs = [q for q in some if _is_of(claim, index, candidate.sentence, q, other, one)]
        if len(mine) == len(theirs) == 1 and mine[0].dimension == theirs[0].dimension:
            rows.append((candidate.sentence, mine[0], theirs[0]))
    return rows[0] if len(rows) == 1 else None


def _is_of(
    claim: Claim, index: ExactIndex, sentence: int, q: Quantity, own: frozenset[str], other: frozenset[str]
) -> bool:
    if not q.exact or q.bound != "exact" or q.low is None or q.dimension in {"ordinal", "factor", "count", "share"}:
        return False
    asked = {kind for kind, words in _DIMENSIONS.items() if not claim.folds.isdisjoint(words)}
    if asked and not any(q.dimension.startswith(kind) for kind in asked):
        return False
    here = index.sentences[sentence]
    text = index.passages[here.passage].text
    cut = max(text.rfind(mark, here.start, q.start) for mark in ",;:")
    stems = _stems(text[max(here.start, cut + 1) : q.start])
    return own <= stems and stems.isdisjoint(other)


def _value(q: Quantity) -> Decimal:
    return q.low if q.low is not None else q.value


def _stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in find_words(text).lexemes if word.weight)
