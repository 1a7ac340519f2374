"""Checks a total, difference or average that a claim states against the values of its parts in the evidence.

Examples: "five tickets cost 70 euros in total" with the evidence "tickets cost 14 euros each", "3 licences and the
setup fee come to $180", "the new bridge is 36 metres longer than the old one", "on average 28 people came". A result is
contradicted only where each part has its value in one clause of the evidence and nothing nearby indicates another rule
for some of them (a discount, the first one free). A correct result is reported with its working.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, NamedTuple

from assay.text.lexicon import find_words, word_set
from assay.text.quantities import Quantity, mean, total
from assay.verify.arithmetic.derivations import is_close
from assay.verify.arithmetic.figures import format_number, in_unit_of, unit_size
from assay.verify.arithmetic.stated_changes import recompute_change
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim

_CONFIDENCE: Final = 0.85
_APPROXIMATION: Final = r"(?:(?:about|around|roughly|exactly|just|only)\s)?"
_VERB: Final = re.compile(
    r"(?P<sum>\b(?:together|altogether|in total|in all|combined)\s)?(?:\b(?:would|will|should|then|both|all)\s)*"
    r"\b(?:(?P<total>come|comes|came|coming|adds?|amounts?|totals?|sums?)|costs?|is|are|makes?|needs?|requires?|weighs?|takes?)\b"
    rf"(?:\sup)?(?:\sto)?\s{_APPROXIMATION}$",
    re.IGNORECASE,
)
_AFTER_RESULT: Final = re.compile(
    r"\s*+(?P<sum>(?:in total|in all|altogether|together|overall|combined)\b)?[\s.!]*+$", re.IGNORECASE
)
_BEFORE: Final = 100
"""Characters before a number that are searched for its verb; the pattern ends at the number."""
_NEXT: Final = 4
"""Words after a number that are searched for the thing it counts; only one word may come between."""
_JOINTS: Final = re.compile(r",\s*(?:and\s|plus\s)?|\s(?:and|plus|with|together with)\s", re.IGNORECASE)
_OTHER_RULES: Final = word_set(
    """free waived waive discount discounts discounted reduced reduction first additional extra further minimum
    maximum except unless if when only from until included including includes excluding plus surcharge deposit
    member members student students child children group groups senior seniors more less over under least
    most up"""
)
"""Words in the passages of the parts which may change the total."""
_FOR_ONE: Final = re.compile(
    r"\s*(?:\(?each\b|apiece\b|(?:(?:per|for (?:each|every|one)|an?)\s+|/\s?)(?P<of>[^\W\d]+))", re.IGNORECASE
)
_UNIT_ARTICLES: Final = frozenset({"a", "an", "each", "every", "one", "per", "the"})
_MOST_PARTS: Final = 6
_EACH: Final = word_set("each day week month year time average averages averaged averaging mean on per the a every")
_DEGREE: Final = re.compile(
    r"\s(?P<degree>more|less|fewer|longer|shorter|higher|lower|taller|heavier|lighter|larger|smaller|wider|narrower|deeper|"
    r"faster|slower|older|younger|cheaper|dearer|warmer|colder|bigger)\b",
    re.IGNORECASE,
)


class TotalPart(NamedTuple):
    """One part of a total: its value in the evidence, and how many times the claim counts it."""

    times: Decimal
    value: Decimal
    """In base units."""
    shown: str
    """The part in the working: "3 × 40"."""
    sentence: int
    """The index of the evidence sentence that states the value."""
    place: tuple[int, int]
    """Start and end of the value in its passage."""


@dataclass(frozen=True, slots=True)
class RecomputedResult:
    """A result that a claim states, whether it is right, and the working."""

    stated: Quantity
    """The result as the claim states it."""
    holds: bool
    working: str
    """The calculation with the right result: "148 − 112 = 36"."""
    sentence: int
    """The index of an evidence sentence that states one of the values."""
    place: tuple[int, int]
    """Start and end of that value in its passage."""


def recompute_result(claim: Claim, index: ExactIndex) -> RecomputedResult | None:
    """The result that a claim states, recomputed from the evidence; none where the claim states no such result."""
    found = _total(claim, index) or _difference(claim, index) or _average(claim, index)
    change = recompute_change(claim, index) if found is None else None
    return RecomputedResult(*change) if change is not None else found


def with_recomputed_result(claim: Claim, index: ExactIndex, findings: Sequence[ExactFinding]) -> list[ExactFinding]:
    """The findings about numbers, with the finding of a recomputed result in place of others on the same number."""
    worked = recompute_result(claim, index)
    if worked is None:
        return list(findings)
    stated = worked.stated
    others = [f for f in findings if f.claim_end <= stated.start or stated.end <= f.claim_start]
    written = claim.text[stated.start : stated.end]
    if worked.holds:
        message = f"The claim's {written!r} follows from the evidence: {worked.working}."
        return [*others, ExactFinding("number.derived", message, stated.start, stated.end, None, "note", _CONFIDENCE)]
    span = index.span(worked.sentence, *worked.place, "contradicts", _CONFIDENCE)
    message = f"The claim says {written!r}; by the evidence it is {worked.working}."
    finding = ExactFinding("number.mismatch", message, stated.start, stated.end, span, "contradicts", _CONFIDENCE)
    return [*others, finding]


def _total(claim: Claim, index: ExactIndex) -> RecomputedResult | None:
    """Check a total: "3 licences and the setup fee come to $180" is the sum of count times value over the parts."""
    for stated in claim.quantities:
        if not stated.exact or stated.bound != "exact":
            continue
        after = _AFTER_RESULT.match(claim.text, _end_of(claim, stated))
        verb = _VERB.search(claim.text, max(0, stated.start - _BEFORE), stated.start)
        if after is None or verb is None:
            continue
        parts = list(_parts(claim, index, stated, claim.text[: verb.start()]))
        summed = bool(verb["sum"] or verb["total"] or after["sum"])
        if not parts or None in parts or len(parts) > _MOST_PARTS:
            return None
        known = [part for part in parts if part is not None]
        if not (summed or (len(known) == 1 and known[0].times > 1)) or (len(known) == 1 and known[0].times == 1):
            return None
        summed_up = total([part.times * part.value for part in known])
        if any(stated.low == part.value for part in known) or _has_other_rules(index, known):
            return None
        working = " + ".join(part.shown for part in known) + f" = {format_number(in_unit_of(stated, summed_up))}"
        return RecomputedResult(
            stated, is_close(replace(stated, step=Decimal(0)), summed_up), working, known[0].sentence, known[0].place
        )
    return None


def _end_of(claim: Claim, stated: Quantity) -> int:
    """Where a number ends, together with the noun that it counts: "thirty measurements"."""
    words = claim.words
    first = bisect_left(words.starts, stated.end)
    following = [
        end
        for end, word in zip(words.ends[first : first + _NEXT], words.lexemes[first : first + _NEXT], strict=True)
        if word.stem in stated.nouns
    ]
    counted = following[:1] if stated.dimension == "count" else []
    return counted[0] if counted and not claim.text[stated.end : counted[0]].strip().count(" ") else stated.end


def _parts(claim: Claim, index: ExactIndex, stated: Quantity, subject: str) -> Iterator[TotalPart | None]:
    """The parts that the subject of a claim names, each with its value; none for a part without one."""
    position = 0
    for joint in [*_JOINTS.finditer(subject), None]:
        end = joint.start() if joint is not None else len(subject)
        inside = [q for q in claim.quantities if position <= q.start and q.end <= end]
        stems = frozenset(
            word.stem
            for start, word in zip(claim.words.starts, claim.words.lexemes, strict=True)
            if position <= start < end
            and word.weight
            and not word.digit
            and not any(q.number_start <= start < q.number_end for q in inside)
        )
        counts = [q for q in inside if q.dimension in {"count", "time"} and q.exact]
        values = [q for q in inside if q.dimension == stated.dimension and q not in counts]
        if stems or inside:
            yield (
                _part(index, claim, stated, stems, counts, values) if len(inside) == len(counts) + len(values) else None
            )
        position = joint.end() if joint is not None else end


def _part(
    index: ExactIndex,
    claim: Claim,
    stated: Quantity,
    stems: frozenset[str],
    counts: Sequence[Quantity],
    stated_values: Sequence[Quantity],
) -> TotalPart | None:
    if len(counts) > 1 or len(stated_values) > 1 or not stems:
        return None
    count = counts[0].value if counts else Decimal(1)
    candidates: dict[Decimal, tuple[int, Quantity]] = {}
    nouns = set(stated.nouns)
    for candidate in claim.candidates:
        for quantity in index.quantities.get(candidate.sentence, ()):
            if quantity.dimension.split("/")[0] != stated.dimension or not quantity.exact or quantity.bound != "exact":
                continue
            if quantity.dimension == "count" and nouns and nouns.isdisjoint(quantity.nouns):
                continue  # how many halls there are is not how many measurements each needs
            clause = index.surroundings(candidate.sentence, quantity.start, quantity.end).clause
            timed = counts[0].dimension == "time" if counts else False
            subject_stems = stems - {stem for stem in stems if timed and stem in _stems_of(counts[0].unit)}
            if subject_stems and subject_stems <= clause and quantity.low is not None:
                if count > 1 and not _for_one(index, candidate.sentence, quantity, stems, counts[0]):
                    return None
                if count == 1 and _FOR_ONE.match(
                    index.passages[index.sentences[candidate.sentence].passage].text, quantity.end
                ):
                    return None
                candidates.setdefault(quantity.low, (candidate.sentence, quantity))
    if stated_values and stated_values[0].low is not None and stated_values[0].low not in candidates:
        return None
    if stated_values and stated_values[0].low is not None:
        candidates = {stated_values[0].low: candidates[stated_values[0].low]}
    if len(candidates) != 1:
        return None
    ((value, (sentence, quantity)),) = candidates.items()
    shown = format_number(quantity.value)
    if count != 1:
        shown = f"{format_number(count)} × {shown}"
    return TotalPart(count, value, shown, sentence, (quantity.start, quantity.end))


def _stems_of(unit: str) -> frozenset[str]:
    return frozenset(word.stem for word in find_words(unit).lexemes) | {unit}


def _for_one(index: ExactIndex, sentence: int, quantity: Quantity, stems: frozenset[str], count: Quantity) -> bool:
    """Whether a value of the evidence is the value of a single item: "each", "per ticket", "a licence costs"."""
    indexed_sentence = index.sentences[sentence]
    passage = index.passages[indexed_sentence.passage]
    after = _FOR_ONE.match(passage.text, quantity.end)
    if after is not None:
        item = after["of"]
        return item is None or bool(_stems_of(item.lower()) & (stems | set(count.nouns) | {count.unit}))
    if quantity.dimension != quantity.dimension.split("/")[0]:
        return True
    if count.dimension == "time":
        return False  # a day ticket is not what a day costs
    lexemes = passage.words.lexemes
    return any(
        lexemes[at].fold in _UNIT_ARTICLES - {"the"} and lexemes[at + 1].stem in stems
        for at in range(indexed_sentence.first, max(indexed_sentence.first, indexed_sentence.last - 1))
    )


def _has_other_rules(index: ExactIndex, parts: Sequence[TotalPart]) -> bool:
    """Whether the passages of the parts mention reductions, shares, limits or conditions."""
    passages = {index.sentences[part.sentence].passage for part in parts}
    return any(
        not _OTHER_RULES.isdisjoint(index.reading(number).folds)
        or any(quantity.dimension == "share" for quantity in index.quantities.get(number, ()))
        for number, sentence in enumerate(index.sentences)
        if sentence.passage in passages
    )


def _difference(claim: Claim, index: ExactIndex) -> RecomputedResult | None:
    """Check a difference: "the new bridge is 36 metres longer than the old one" compares two things with one value."""
    quantities = [q for q in claim.quantities if not q.weak]
    if len(quantities) != 1 or " than " not in claim.text:
        return None
    stated = quantities[0]
    degree = _DEGREE.match(claim.text, stated.end)
    if (
        degree is None
        or not stated.exact
        or stated.bound != "exact"
        or stated.dimension in {"share", "factor", "ordinal"}
    ):
        return None
    than = claim.text.find(" than ", degree.end())
    if than < 0:
        return None
    sides = [_content(claim, 0, stated.start), _content(claim, than + len(" than "), len(claim.text))]
    first, second = sides[0] - sides[1], sides[1] - sides[0]
    if not first or not second:
        return None
    first_value = _only_value(index, claim, stated, first, second)
    second_value = _only_value(index, claim, stated, second, first)
    if first_value is None or second_value is None:
        return None
    (value, sentence, quantity), (other_value, _, _) = first_value, second_value
    if value == other_value:
        return None
    difference, size = abs(value - other_value), unit_size(stated)
    high, low = (format_number(in_unit_of(stated, end)) for end in (max(value, other_value), min(value, other_value)))
    working = f"{high} − {low} = {format_number(difference / size)}"
    # A difference of temperatures is in degrees: its unit has no zero of its own.
    length = stated.value * size if stated.dimension == "temperature" else stated.low
    holds = is_close(replace(stated, low=length, high=length, step=Decimal(0)), difference)
    return RecomputedResult(stated, holds, working, sentence, (quantity.start, quantity.end))


def _content(claim: Claim, start: int, end: int) -> frozenset[str]:
    return frozenset(
        word.stem
        for at, word in zip(claim.words.starts, claim.words.lexemes, strict=True)
        if start <= at < end and word.weight and word.fold not in {"one", "ones", "that", "those"}
    )


def _only_value(
    index: ExactIndex, claim: Claim, stated: Quantity, own: frozenset[str], other: frozenset[str]
) -> tuple[Decimal, int, Quantity] | None:
    """The value of a dimension in the clauses that name one thing and not the other; none unless it is the only one."""
    values: dict[Decimal, tuple[int, Quantity]] = {}
    for candidate in claim.candidates:
        row = [q for q in index.quantities.get(candidate.sentence, ()) if q.dimension == stated.dimension]
        for quantity in row:
            clause = index.surroundings(candidate.sentence, quantity.start, quantity.end).clause
            if not own <= clause or other <= clause:
                continue
            if not quantity.exact or quantity.bound != "exact" or quantity.low is None:
                return None
            other_values = [
                q for q in row if q is not quantity and _clause_of(index, candidate.sentence, q).isdisjoint(other)
            ]
            if other_values:
                return None  # its length or its width: the claim does not say which it compares
            values[quantity.low] = (candidate.sentence, quantity)
    if len(values) != 1:
        return None
    ((value, (sentence, quantity)),) = values.items()
    return value, sentence, quantity


def _clause_of(index: ExactIndex, sentence: int, quantity: Quantity) -> frozenset[str]:
    return index.surroundings(sentence, quantity.start, quantity.end).clause


def _average(claim: Claim, index: ExactIndex) -> RecomputedResult | None:
    """Check an average: "on average 28 people came each day" is the mean of all numbers of one evidence sentence."""
    if claim.folds.isdisjoint({"average", "averages", "averaged", "mean"}) or len(claim.quantities) != 1:
        return None
    stated, best = claim.quantities[0], claim.best
    if best is None or not stated.exact or stated.bound not in {"exact", "about"} or stated.dimension == "share":
        return None
    row = index.quantities.get(best.sentence, ())
    unmatched = {w.stem for w in claim.words.lexemes if w.weight and not w.digit and w.fold not in _EACH} - best.stems
    dimensions = {q.dimension for q in row}
    nouns = [set(q.nouns) for q in row if q.nouns]
    same_nouns = not nouns or all(one & nouns[0] for one in nouns)
    if unmatched or len(row) < 2 or dimensions != {stated.dimension} or not same_nouns or not all(q.exact for q in row):
        return None
    if not claim.folds.isdisjoint(_OTHER_RULES) or "average" in index.reading(best.sentence).folds:
        return None
    passage = index.sentences[best.sentence].passage
    if any(index.sentences[c.sentence].passage == passage for c in claim.candidates if c is not best):
        return None  # a number of another sentence may belong to the average too
    values = [q.low for q in row if q.low is not None]
    average = mean(values)
    values_shown = " + ".join(format_number(q.value) for q in row)
    working = f"({values_shown}) ÷ {len(row)} = {format_number(in_unit_of(stated, average))}"
    return RecomputedResult(stated, is_close(stated, average), working, best.sentence, (row[0].start, row[-1].end))
