"""Compares dates of a claim with the dates of the same event in the evidence."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from assay.schema import EvidenceSpan
from assay.text.dates import DateMention, DateRelation, find_date_lists, find_date_ranges, range_contains, relate_dates
from assay.text.lexicon import Words, word_list, word_set
from assay.text.sentences import looks_foreign
from assay.verify.exact.compare.number_pairs import CLEAR_MARGIN, SAME_WORDS, SAME_WORDS_BESIDE, SURELY_SAME
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import Candidate, ExactIndex, calendar_key
from assay.verify.exact.mention_roles import describes_case, is_negated
from assay.verify.exact.parsed_claim import LONG_SENTENCE, LONG_SENTENCE_FACTOR, Claim, Context, agreement_confidence

_LEAST_CONFIDENCE = 0.2
_MOST_COMPARED = 64
"""Dates of one claim beyond this many are not compared and count as not found."""

_MOST_OTHERS = 24
_AMBIGUOUS_FACTOR = 0.75
_OTHER_NAME_FACTOR = 0.6
_MISSING = 0.6
_OTHER_CASE_FACTOR = 0.75
"""The factor where the claim's date describes a case or is denied."""
_LABEL_FACTOR, _RELATIVE_FACTOR, _FINER_FACTOR = 0.7, 0.7, 0.85
_RELATIVE = word_set("this last next previous following coming past")
_RELATIVE_UNITS = word_set("year month week season quarter spring summer autumn winter")
_TURNS = word_set(
    "begin start commence launch end finish close expire conclude terminate stop last arrive depart leave"
)
_TURNING = frozenset({"opens", "opened", "opening"})
"""Words for beginning and ending: an event from Monday to Thursday does not end on Tuesday."""
_TURNS_ELSEWHERE = tuple(
    word_list(
        """beginn begann start end anfang fang lauft schliess offne eroffn debut commenc fini ouvr ferm part expir
        empiez comienz inici termin acab abre abri cierr venc salida inizi apre apri chiud scad comec fech reis"""
    )
)
"""Prefixes of such words in German, French, Spanish, Italian and Portuguese."""
_OPENING = re.compile(r"\b(?:from|between)\s(?:the\s)?$", re.IGNORECASE)
_BEFORE_SPAN = 16
"""How many characters before a span of dates may contain its "from the"."""
_DIFFERING = frozenset({DateRelation.DIFFERENT, DateRelation.ORDER})


class _Option(NamedTuple):
    date: DateMention
    candidate: Candidate
    relation: DateRelation
    agreement: float
    closeness: float


_Pair = tuple[DateMention, Candidate, DateRelation]
"""A date of the evidence that can be compared with a claim's date, before the words around it are considered."""


def compare_dates(claim: Claim, index: ExactIndex) -> tuple[list[ExactFinding], float]:
    """Findings about each date of the claim, and the share of dates that the evidence states as precisely."""
    if not claim.dates:
        return [], 1.0
    rows = [list(_pairs(claim, index, d)) if n < _MOST_COMPARED else [] for n, d in enumerate(claim.dates)]
    equal = {(c.sentence, date.start) for row in rows for date, c, relation in row if relation is DateRelation.SAME}
    findings: list[ExactFinding] = []
    found = 0
    for mention, row in zip(claim.dates, rows, strict=True):
        finding, here = _compare_date(claim, index, mention, row, equal)
        found += here
        if finding is not None:
            findings.append(finding)
    return findings, found / len(claim.dates)


def _pairs(claim: Claim, index: ExactIndex, mention: DateMention) -> Iterator[_Pair]:
    whole = _is_whole(claim, mention)
    for candidate in claim.candidates:
        theirs = index.dates.get(candidate.sentence, ())[:_MOST_OTHERS]
        text = index.passages[index.sentences[candidate.sentence].passage].text
        allowed = _compatible_dates(text, mention, theirs) if whole and len(theirs) > 1 else frozenset()
        for other in theirs:
            relation = relate_dates(mention, other)
            if relation is DateRelation.DIFFERENT and other in allowed:
                relation = DateRelation.COMPATIBLE
            if relation is not DateRelation.INCOMPARABLE:
                yield other, candidate, relation


def _is_whole(claim: Claim, mention: DateMention) -> bool:
    """Whether a date says when something is the case, and is neither an end of a span nor of a beginning or ending."""
    if any(mention in pair for pair in find_date_ranges(claim.text, claim.dates)):
        return False
    if any(w.stem in _TURNS or w.fold in _TURNING for w in claim.words.lexemes):
        return False
    elsewhere = any(w.fold.startswith(_TURNS_ELSEWHERE) for w in claim.words.lexemes)
    return not (elsewhere and looks_foreign(claim.text))


def _compatible_dates(text: str, mention: DateMention, theirs: Sequence[DateMention]) -> frozenset[DateMention]:
    """Dates of a sentence that differ from the claim's and do not contradict it.

    These are both ends of a span that contains it ("from Monday to Thursday" contains Tuesday), and the other dates of
    a list that has it.
    """
    found: set[DateMention] = set()
    for first, last in find_date_ranges(text, theirs):
        if range_contains(text, first, last, mention):
            found |= {first, last}
    for group in find_date_lists(text, theirs):
        if any(relate_dates(mention, one) is DateRelation.SAME for one in group):
            found |= set(group)
    return frozenset(found)


def _span_around(claim: Claim, index: ExactIndex, mention: DateMention, option: _Option) -> EvidenceSpan | None:
    """The span of dates in the evidence that contains the claim's date and has the option as an end."""
    if not _is_whole(claim, mention):
        return None
    sentence = option.candidate.sentence
    text = index.passages[index.sentences[sentence].passage].text
    for first, last in find_date_ranges(text, index.dates.get(sentence, ())[:_MOST_OTHERS]):
        if option.date in (first, last) and range_contains(text, first, last, mention):
            opening = _OPENING.search(text[max(0, first.start - _BEFORE_SPAN) : first.start])
            start = first.start - (len(opening[0]) if opening is not None else 0)
            return index.span(sentence, start, last.end, "related", option.agreement)
    return None


def _options(claim: Claim, index: ExactIndex, mention: DateMention, pairs: Sequence[_Pair]) -> list[_Option]:
    """The pairs with the agreement of the words around them, equal dates first, up to one that is surely the same."""
    row: list[_Option] = []
    if not pairs:
        return row
    context = Context(claim, index, mention.start, mention.end)
    for other, candidate, relation in sorted(pairs, key=_sorts_behind_same):
        around = index.surroundings(candidate.sentence, other.start, other.end)
        agreement = context.agreement(candidate, around)
        row.append(_Option(other, candidate, relation, agreement, context.closeness(around)))
        if relation is DateRelation.SAME and agreement >= SURELY_SAME:
            break
    return row


def _sorts_behind_same(pair: _Pair) -> bool:
    return pair[2] is not DateRelation.SAME


def _rank(option: _Option) -> tuple[float, float, int, int]:
    return round(option.agreement, 6), round(option.closeness, 6), -option.candidate.sentence, -option.date.start


def _is_stated_beside(claim: Claim, index: ExactIndex, mention: DateMention) -> bool:
    """Whether a title or an effective date of the candidates' passages states the date."""
    passages = {index.sentences[c.sentence].passage for c in claim.candidates}
    return any(
        relate_dates(mention, extra) is DateRelation.SAME for p in passages for extra in index.passages[p].extra_dates
    )


def _compare_date(
    claim: Claim, index: ExactIndex, mention: DateMention, pairs: Sequence[_Pair], equal: set[tuple[int, int]]
) -> tuple[ExactFinding | None, bool]:
    row = _options(claim, index, mention, pairs)
    if row and row[-1].relation is DateRelation.SAME and row[-1].agreement >= SURELY_SAME:
        return None, True
    same = max((o for o in row if o.relation is DateRelation.SAME), key=_rank, default=None)
    differing = [o for o in row if o.relation in _DIFFERING and (o.candidate.sentence, o.date.start) not in equal]
    rival = max(differing, key=_rank, default=None)
    if same is not None and (rival is None or same.agreement >= rival.agreement - CLEAR_MARGIN):
        return None, True
    if _is_stated_beside(claim, index, mention):
        return None, True
    compatible = max((o for o in row if o.relation is DateRelation.COMPATIBLE), key=_rank, default=None)
    if rival is not None and (compatible is None or compatible.agreement < rival.agreement - CLEAR_MARGIN):
        confidence = _confidence(claim, index, mention, rival, differing)
        if confidence >= _LEAST_CONFIDENCE:
            return _mismatch(claim, index, mention, rival, confidence), same is not None
    ours = claim.text[mention.start : mention.end]
    if compatible is not None:
        around = _span_around(claim, index, mention, compatible)
        if around is not None:
            return ExactFinding(
                "date.within",
                f"The evidence says {around.text!r}, and {ours!r} lies in it.",
                mention.start,
                mention.end,
                around,
                "note",
                round(0.5 * compatible.agreement, 4),
            ), True
        return ExactFinding(
            "date.imprecise",
            f"The claim says {ours!r}; the evidence allows it but says less.",
            mention.start,
            mention.end,
            index.span(
                compatible.candidate.sentence,
                compatible.date.start,
                compatible.date.end,
                "related",
                compatible.agreement,
            ),
            "note",
            round(0.5 * compatible.agreement, 4),
        ), False
    if same is not None or _is_elsewhere(index, mention):
        return None, True
    return ExactFinding(
        "date.missing",
        f"The claim says {ours!r}; the evidence gives no such date.",
        mention.start,
        mention.end,
        None,
        "missing",
        _MISSING,
    ), False


def _is_elsewhere(index: ExactIndex, mention: DateMention) -> bool:
    """Whether the evidence has the date anywhere; a date with a bound or over several years is compared with all."""
    fits = {DateRelation.SAME} if mention.minute is None else {DateRelation.SAME, DateRelation.COMPATIBLE}
    if any(relate_dates(mention, d) in fits for d in index.calendar.get(calendar_key(mention), ())):
        return True  # a time that does not say which half of the day it means is in either
    if mention.bound == "exact" and mention.last_year is None:
        return False
    rows = islice(index.calendar.values(), _MOST_COMPARED)
    return any(relate_dates(mention, other) is DateRelation.SAME for row in rows for other in row[:_MOST_OTHERS])


def _doubt_factor(claim: Claim, index: ExactIndex, mention: DateMention, rival: _Option) -> float:
    """The factor of the confidence for doubts whether both dates are about the same event.

    A year in a name ("the 2015 European Games") dates no event, a sentence with "this year" has another date besides,
    and a complete date is seldom contradicted by a bare year.
    """
    passage = index.passages[index.sentences[rival.candidate.sentence].passage]
    here = index.sentences[rival.candidate.sentence]
    factor = 1.0
    if _is_in_name(passage.text, passage.words, rival.date) or _is_in_name(claim.text, claim.words, mention):
        factor *= _LABEL_FACTOR
    if rival.candidate.stems and any(
        a.fold in _RELATIVE and b.fold in _RELATIVE_UNITS
        for a, b in pairwise(passage.words.lexemes[here.first : here.last])
    ):
        factor *= _RELATIVE_FACTOR
    if here.last - here.first >= LONG_SENTENCE:
        factor *= LONG_SENTENCE_FACTOR
    if mention.day is not None and rival.date.day is None and rival.date.month is None:
        factor *= _FINER_FACTOR
    return factor


def _is_in_name(text: str, words: Words, date: DateMention) -> bool:
    """Whether a bare year is part of a name: a capitalised word right before it or after it."""
    if date.year is None or date.month is not None or date.last_year is not None:
        return False
    after = bisect_left(words.starts, date.end)
    if after < len(words) and words.lexemes[after].capital and text[date.end : words.starts[after]] == " ":
        return True
    at = bisect_left(words.starts, date.start) - 1
    named = at > 0 and words.lexemes[at].capital and words.lexemes[at].weight > 0
    return named and text[words.ends[at] : date.start] == " "


def _confidence(
    claim: Claim, index: ExactIndex, mention: DateMention, rival: _Option, differing: Sequence[_Option]
) -> float:
    confidence = agreement_confidence(rival.agreement) * _doubt_factor(claim, index, mention, rival)
    as_near = [o for o in differing if o.agreement >= rival.agreement - CLEAR_MARGIN and o.closeness >= rival.closeness]
    if len({(o.date.year, o.date.month, o.date.day) for o in as_near}) > 1:
        confidence *= _AMBIGUOUS_FACTOR
    same_words = rival.agreement >= SAME_WORDS and rival.closeness >= SAME_WORDS_BESIDE
    if not same_words and (
        describes_case(claim, mention.start, mention.end) or is_negated(claim, mention.start, mention.end)
    ):
        confidence *= _OTHER_CASE_FACTOR
    around = rival.candidate.stems | rival.candidate.around | rival.candidate.heading
    for name in claim.names:
        own = [w.stem for w in claim.words.lexemes[name.first : name.last] if w.weight]
        if name.sure and own and not any(stem in around for stem in own):
            return confidence * _OTHER_NAME_FACTOR
    return confidence


def _mismatch(claim: Claim, index: ExactIndex, mention: DateMention, rival: _Option, confidence: float) -> ExactFinding:
    passage = index.passages[index.sentences[rival.candidate.sentence].passage]
    theirs = passage.text[rival.date.start : rival.date.end]
    ours = claim.text[mention.start : mention.end]
    order = rival.relation is DateRelation.ORDER
    code = "date.order" if order else ("time.mismatch" if mention.minute is not None else "date.mismatch")
    what = "which does not fit that order" if order else "not that"
    return ExactFinding(
        code,
        f"The claim says {ours!r}; the evidence says {theirs!r}, {what}.",
        mention.start,
        mention.end,
        index.span(rival.candidate.sentence, rival.date.start, rival.date.end, "contradicts", confidence),
        "contradicts",
        round(confidence, 4),
    )
