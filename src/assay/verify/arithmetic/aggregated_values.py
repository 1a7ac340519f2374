"""What a claim says to be the total, the difference or the average of things whose values the evidence states.

"Five tickets cost 70 euros in total" beside "tickets cost 14 euros each", "3 licences and the setup fee come to $180",
"the new bridge is 36 metres longer than the old one", "on average 28 people came". Only where every part is found in
one clause of the evidence, and nothing near says that another rule holds for some (a discount, a first one free), is
another result contradicted; the right one is given with its working.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, NamedTuple

from assay.text.lexicon import find_words, word_set
from assay.text.quantities import Quantity, mean, total
from assay.verify.arithmetic.derivations import near
from assay.verify.arithmetic.figures import format_number, in_unit_of, unit_size
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim

_CONFIDENCE: Final = 0.85
_ABOUT: Final = r"(?:(?:about|around|roughly|exactly|just|only)\s)?"
_VERB: Final = re.compile(
    r"(?P<sum>\b(?:together|altogether|in total|in all|combined)\s)?(?:\b(?:would|will|should|then|both|all)\s)*"
    r"\b(?:(?P<total>come|comes|came|coming|adds?|amounts?|totals?|sums?)|costs?|is|are|makes?|needs?|requires?|weighs?|takes?)\b"
    rf"(?:\sup)?(?:\sto)?\s{_ABOUT}$",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(
    r"\s*+(?P<sum>(?:in total|in all|altogether|together|overall|combined)\b)?[\s.!]*+$", re.IGNORECASE
)
_BEFORE: Final = 100
"""Characters before a number in which its verb is looked for: the pattern ends at the number."""
_NEXT: Final = 4
"""Words behind a number among which the thing that it counts is looked for; only one word may stand between."""
_JOINTS: Final = re.compile(r",\s*(?:and\s|plus\s)?|\s(?:and|plus|with|together with)\s", re.IGNORECASE)
_OTHER_RULES: Final = word_set(
    """free waived waive discount discounts discounted reduced reduction first additional extra further minimum
    maximum except unless if when only from until included including includes excluding plus surcharge deposit
    member members student students child children group groups senior seniors more less over under least
    most up"""
)
"""Words of evidence near the parts that may make the total another one."""
_FOR_ONE: Final = re.compile(
    r"\s*(?:\(?each\b|apiece\b|(?:(?:per|for (?:each|every|one)|an?)\s+|/\s?)(?P<of>[^\W\d]+))", re.IGNORECASE
)
_ONE_OF: Final = frozenset({"a", "an", "each", "every", "one", "per", "the"})
_MOST_PARTS: Final = 6
_EACH: Final = word_set("each day week month year time average averages averaged averaging mean on per the a every")
_COMPARED: Final = re.compile(
    r"\s(?P<degree>more|less|fewer|longer|shorter|higher|lower|taller|heavier|lighter|larger|smaller|wider|narrower|deeper|"
    r"faster|slower|older|younger|cheaper|dearer|warmer|colder|bigger)\b",
    re.IGNORECASE,
)


class Part(NamedTuple):
    """What a value of the evidence is of, and how many of it a claim mentions."""

    times: Decimal
    value: Decimal
    shown: str
    sentence: int
    place: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Worked:
    """The number of a claim that is the result, whether it is right, and the working."""

    stated: Quantity
    holds: bool
    working: str
    sentence: int
    place: tuple[int, int]


def worked_out(claim: Claim, index: ExactIndex) -> Worked | None:
    """The result that a claim states, checked against what it is the result of; none where it states none."""
    return _total(claim, index) or _difference(claim, index) or _average(claim, index)


def with_worked(claim: Claim, index: ExactIndex, findings: Sequence[ExactFinding]) -> list[ExactFinding]:
    """The findings about numbers, those about a result in place of what was found of it by itself."""
    worked = worked_out(claim, index)
    if worked is None:
        return list(findings)
    stated = worked.stated
    others = [f for f in findings if f.claim_end <= stated.start or stated.end <= f.claim_start]
    ours = claim.text[stated.start : stated.end]
    if worked.holds:
        message = f"The claim's {ours!r} follows from the evidence: {worked.working}."
        return [*others, ExactFinding("number.derived", message, stated.start, stated.end, None, "note", _CONFIDENCE)]
    span = index.span(worked.sentence, *worked.place, "contradicts", _CONFIDENCE)
    message = f"The claim says {ours!r}; by the evidence it is {worked.working}."
    found = ExactFinding("number.mismatch", message, stated.start, stated.end, span, "contradicts", _CONFIDENCE)
    return [*others, found]


def _total(claim: Claim, index: ExactIndex) -> Worked | None:
    """ "3 licences and the setup fee come to $180": so many of each part at the value that the evidence states."""
    for stated in claim.quantities:
        if not stated.exact or stated.bound != "exact":
            continue
        behind = _BEHIND.match(claim.text, _end_of(claim, stated))
        verb = _VERB.search(claim.text, max(0, stated.start - _BEFORE), stated.start)
        if behind is None or verb is None:
            continue
        parts = list(_parts(claim, index, stated, claim.text[: verb.start()]))
        summed = bool(verb["sum"] or verb["total"] or behind["sum"])
        if not parts or None in parts or len(parts) > _MOST_PARTS:
            return None
        found = [part for part in parts if part is not None]
        if not (summed or (len(found) == 1 and found[0].times > 1)) or (len(found) == 1 and found[0].times == 1):
            return None
        summed_up = total([part.times * part.value for part in found])
        if any(stated.low == part.value for part in found) or _has_other_rules(index, found):
            return None
        working = " + ".join(part.shown for part in found) + f" = {format_number(in_unit_of(stated, summed_up))}"
        return Worked(
            stated, near(replace(stated, step=Decimal(0)), summed_up), working, found[0].sentence, found[0].place
        )
    return None


def _end_of(claim: Claim, stated: Quantity) -> int:
    """Where a number and the things that it counts end: "thirty measurements"."""
    words = claim.words
    first = bisect_left(words.starts, stated.end)
    following = [
        end
        for end, word in zip(words.ends[first : first + _NEXT], words.lexemes[first : first + _NEXT], strict=True)
        if word.stem in stated.nouns
    ]
    near = following[:1] if stated.dimension == "count" else []
    return near[0] if near and not claim.text[stated.end : near[0]].strip().count(" ") else stated.end


def _parts(claim: Claim, index: ExactIndex, stated: Quantity, subject: str) -> Iterator[Part | None]:
    """The parts that the subject of a claim names, each with its value; none for one that is not found."""
    at = 0
    for joint in [*_JOINTS.finditer(subject), None]:
        end = joint.start() if joint is not None else len(subject)
        inside = [q for q in claim.quantities if at <= q.start and q.end <= end]
        stems = frozenset(
            word.stem
            for start, word in zip(claim.words.starts, claim.words.lexemes, strict=True)
            if at <= start < end
            and word.weight
            and not word.digit
            and not any(q.number_start <= start < q.number_end for q in inside)
        )
        counts = [q for q in inside if q.dimension in {"count", "time"} and q.exact]
        own = [q for q in inside if q.dimension == stated.dimension and q not in counts]
        if stems or inside:
            yield _part(index, claim, stated, stems, counts, own) if len(inside) == len(counts) + len(own) else None
        at = joint.end() if joint is not None else end


def _part(
    index: ExactIndex,
    claim: Claim,
    stated: Quantity,
    stems: frozenset[str],
    counts: Sequence[Quantity],
    own: Sequence[Quantity],
) -> Part | None:
    if len(counts) > 1 or len(own) > 1 or not stems:
        return None
    count = counts[0].value if counts else Decimal(1)
    found: dict[Decimal, tuple[int, Quantity]] = {}
    named = set(stated.nouns)
    for candidate in claim.candidates:
        for quantity in index.quantities.get(candidate.sentence, ()):
            if quantity.dimension.split("/")[0] != stated.dimension or not quantity.exact or quantity.bound != "exact":
                continue
            if quantity.dimension == "count" and named and named.isdisjoint(quantity.nouns):
                continue  # how many halls there are is not how many measurements each needs
            around = index.surroundings(candidate.sentence, quantity.start, quantity.end).clause
            timed = counts[0].dimension == "time" if counts else False
            sought = stems - {stem for stem in stems if timed and stem in _stems_of(counts[0].unit)}
            if sought and sought <= around and quantity.low is not None:
                if count > 1 and not _for_one(index, candidate.sentence, quantity, stems, counts[0]):
                    return None
                if count == 1 and _FOR_ONE.match(
                    index.passages[index.sentences[candidate.sentence].passage].text, quantity.end
                ):
                    return None
                found.setdefault(quantity.low, (candidate.sentence, quantity))
    if own and own[0].low is not None and own[0].low not in found:
        return None
    if own and own[0].low is not None:
        found = {own[0].low: found[own[0].low]}
    if len(found) != 1:
        return None
    ((value, (sentence, quantity)),) = found.items()
    shown = format_number(quantity.value)
    if count != 1:
        shown = f"{format_number(count)} × {shown}"
    return Part(count, value, shown, sentence, (quantity.start, quantity.end))


def _stems_of(unit: str) -> frozenset[str]:
    return frozenset(word.stem for word in find_words(unit).lexemes) | {unit}


def _for_one(index: ExactIndex, sentence: int, quantity: Quantity, stems: frozenset[str], count: Quantity) -> bool:
    """Whether the evidence's value is for one: "each", "per ticket", "a licence costs"."""
    here = index.sentences[sentence]
    passage = index.passages[here.passage]
    after = _FOR_ONE.match(passage.text, quantity.end)
    if after is not None:
        of = after["of"]
        return of is None or bool(_stems_of(of.lower()) & (stems | set(count.nouns) | {count.unit}))
    if quantity.dimension != quantity.dimension.split("/")[0]:
        return True
    if count.dimension == "time":
        return False  # a day ticket is not what a day costs
    lexemes = passage.words.lexemes
    return any(
        lexemes[at].fold in _ONE_OF - {"the"} and lexemes[at + 1].stem in stems
        for at in range(here.first, max(here.first, here.last - 1))
    )


def _has_other_rules(index: ExactIndex, parts: Sequence[Part]) -> bool:
    """Whether the passages of the parts mention reductions, shares, limits or conditions."""
    passages = {index.sentences[part.sentence].passage for part in parts}
    return any(
        not _OTHER_RULES.isdisjoint(index.reading(number).folds)
        or any(quantity.dimension == "share" for quantity in index.quantities.get(number, ()))
        for number, sentence in enumerate(index.sentences)
        if sentence.passage in passages
    )


def _difference(claim: Claim, index: ExactIndex) -> Worked | None:
    """ "The new bridge is 36 metres longer than the old one": two things with one value each."""
    said = [q for q in claim.quantities if not q.weak]
    if len(said) != 1 or " than " not in claim.text:
        return None
    stated = said[0]
    degree = _COMPARED.match(claim.text, stated.end)
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
    ours = _only_value(index, claim, stated, first, second)
    theirs = _only_value(index, claim, stated, second, first)
    if ours is None or theirs is None:
        return None
    (one, sentence, quantity), (other, _, _) = ours, theirs
    if one == other:
        return None
    apart, size = abs(one - other), unit_size(stated)
    high, low = (format_number(in_unit_of(stated, value)) for value in (max(one, other), min(one, other)))
    working = f"{high} − {low} = {format_number(apart / size)}"
    # A difference of temperatures is in degrees: its unit has no zero of its own.
    length = stated.value * size if stated.dimension == "temperature" else stated.low
    holds = near(replace(stated, low=length, high=length, step=Decimal(0)), apart)
    return Worked(stated, holds, working, sentence, (quantity.start, quantity.end))


def _content(claim: Claim, start: int, end: int) -> frozenset[str]:
    return frozenset(
        word.stem
        for at, word in zip(claim.words.starts, claim.words.lexemes, strict=True)
        if start <= at < end and word.weight and word.fold not in {"one", "ones", "that", "those"}
    )


def _only_value(
    index: ExactIndex, claim: Claim, stated: Quantity, own: frozenset[str], other: frozenset[str]
) -> tuple[Decimal, int, Quantity] | None:
    """The one value of a dimension in the clauses that name one of two things and not the other."""
    found: dict[Decimal, tuple[int, Quantity]] = {}
    for candidate in claim.candidates:
        row = [q for q in index.quantities.get(candidate.sentence, ()) if q.dimension == stated.dimension]
        for quantity in row:
            around = index.surroundings(candidate.sentence, quantity.start, quantity.end).clause
            if not own <= around or other <= around:
                continue
            if not quantity.exact or quantity.bound != "exact" or quantity.low is None:
                return None
            beside = [
                q for q in row if q is not quantity and _clause_of(index, candidate.sentence, q).isdisjoint(other)
            ]
            if beside:
                return None  # its length or its width: which is compared is not told
            found[quantity.low] = (candidate.sentence, quantity)
    if len(found) != 1:
        return None
    ((value, (sentence, quantity)),) = found.items()
    return value, sentence, quantity


def _clause_of(index: ExactIndex, sentence: int, quantity: Quantity) -> frozenset[str]:
    return index.surroundings(sentence, quantity.start, quantity.end).clause


def _average(claim: Claim, index: ExactIndex) -> Worked | None:
    """ "On average 28 people came each day": of all numbers of the one sentence that mentions them."""
    if claim.folds.isdisjoint({"average", "averages", "averaged", "mean"}) or len(claim.quantities) != 1:
        return None
    stated, best = claim.quantities[0], claim.best
    if best is None or not stated.exact or stated.bound not in {"exact", "about"} or stated.dimension == "share":
        return None
    row = index.quantities.get(best.sentence, ())
    left = {w.stem for w in claim.words.lexemes if w.weight and not w.digit and w.fold not in _EACH} - best.stems
    kinds = {q.dimension for q in row}
    nouns = [set(q.nouns) for q in row if q.nouns]
    alike = not nouns or all(one & nouns[0] for one in nouns)
    if left or len(row) < 2 or kinds != {stated.dimension} or not alike or not all(q.exact for q in row):
        return None
    if not claim.folds.isdisjoint(_OTHER_RULES) or "average" in index.reading(best.sentence).folds:
        return None
    passage = index.sentences[best.sentence].passage
    if any(index.sentences[c.sentence].passage == passage for c in claim.candidates if c is not best):
        return None  # what another sentence says of it may count too
    values = [q.low for q in row if q.low is not None]
    average = mean(values)
    values_shown = " + ".join(format_number(q.value) for q in row)
    working = f"({values_shown}) ÷ {len(row)} = {format_number(in_unit_of(stated, average))}"
    return Worked(stated, near(stated, average), working, best.sentence, (row[0].start, row[-1].end))
