"""Passages that contradict each other, found without holding every sentence against every other one.

1. Sentences that may speak of one matter are found by the words that they share: each is compared with those of other
   passages that have its rarest words, and only so many of them, so that the work grows with the passages and not with
   their pairs.
2. Of those, pairs are asked about in which something differs that can contradict: another value of one kind, another
   day, a negation, opposite words, another name. Pairs that differ in values come first, then those nearest to the
   question, and at most `PER_PASSAGE` a passage.
3. Each is read by the exact tier and the network, in both directions: a contradiction of two statements is one from
   either side, and the network is surer of one side by chance. How likely it is then to be a conflict is fitted
   (`train/fit_screen_conflicts.py`).
4. Those that may be one are judged as a check judges a claim of one source beside another: what is found there is told.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from assay.errors import VerifierError
from assay.guard.check.verdicts import Judged
from assay.guard.conflicts.source_matching import is_record, speaks_of_another
from assay.models import PairScorer
from assay.retrieve import heading
from assay.schema import Evidence, PassageConflict, Verdict
from assay.text.dates import find_dates
from assay.text.lexicon import MODAL, NEGATIONS, find_names, find_words, opposites
from assay.text.quantities import find_quantities
from assay.text.sentences import split_sentences
from assay.verify.exact import check_exact, index_evidence
from assay.verify.network import LogisticModel, logit

MOST_SENTENCES: Final = 40
"""Sentences of a passage that are compared, those nearest to the question first."""
LONGEST: Final = 600
"""Characters of a sentence that is compared; a longer one is seldom a statement of one thing."""
SHORTEST: Final = 2
"""Content words and values of a sentence that says something of a matter."""
FAMILY: Final = 6
"""Letters by which words are of one family: "rehearsal" and "rehearse"."""
RAREST: Final = 8
"""Words of a sentence by which others are found."""
POSTINGS: Final = 64
"""Sentences that are looked at for one word."""
PARTNERS: Final = 3
"""Sentences of other passages that are kept for one."""
OF_ONE_MATTER: Final = 0.1
"""The least share, by weight, of what the one that says less says that the other one says too."""
FROM_ONE_SIDE: Final = 0.7
"""How likely a pair has to be a conflict where only one of its sentences, taken as the claim, is found contradicted by
the other source."""
OF_QUESTION: Final = 0.34
"""The share of the question's content words from which a sentence speaks of what was asked."""
PER_PASSAGE: Final = 1
"""Pairs that are read for each passage, over all of them."""
LEAST_READ: Final = 12
"""Pairs that are read where there are few passages."""
LEAST_JUDGED: Final = 6
"""Pairs that are judged where there are few passages; of many a quarter of their number."""
_DATA: Final = re.compile(r"[|{}\n\t]|\"\s*:")
"""What stands in data and not in a sentence."""
_RECORD: Final = re.compile(r"\s*(\{[^{}\[\]]{2,598}\})\s*")
"""One JSON object of plain values."""
SURE: Final = 0.8
"""The confidence from which the exact tier is sure of another value."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a passage, as it is compared."""

    passage: int
    start: int
    text: str
    stems: Mapping[str, float]
    """Its content stems and numbers, each with its weight."""
    values: frozenset[tuple[str, str]]
    """Its quantities and days, by kind and value."""
    kinds: frozenset[str]
    """The kinds of its values."""
    negated: bool
    names: frozenset[str]
    modals: frozenset[str] = frozenset()
    """Its verbs that say what may, must or can be."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences that may contradict each other."""

    first: Statement
    second: Statement
    shared: float
    """The share of the poorer one's content that both have, in [0, 1]."""
    differs: str
    """What can contradict: `value`, `negation`, `opposite`, `name` or `words`."""


def statements_of(place: int, item: Evidence, question: frozenset[str]) -> list[Statement]:
    """The sentences of a passage that can be compared, at most `MOST_SENTENCES`.

    Rows of tables and fields of records are none: what they are of stands elsewhere, and two rows always differ. A
    record by itself is one.
    """
    if is_record(item.text):
        whole = _RECORD.fullmatch(item.text)
        return [statement(place, whole.start(1), whole[1])] if whole is not None else []
    found = []
    for span in split_sentences(item.text):
        text = item.text[span.start : span.end]
        if len(text) <= LONGEST and not _DATA.search(text):
            one = statement(place, span.start, text)
            if len(one.stems) >= SHORTEST:
                found.append(one)
    if len(found) > MOST_SENTENCES:
        near = sorted(found, key=lambda one: (-len(question & set(one.stems)), one.start))[:MOST_SENTENCES]
        found = sorted(near, key=lambda one: one.start)
    return found


def statement(place: int, start: int, text: str) -> Statement:
    """A sentence as it is compared."""
    words = find_words(text)
    dates = find_dates(text, words)
    quantities = find_quantities(text, words, skip=[(one.start, one.end) for one in dates])
    values = {(one.dimension, str(one.low if one.exact else (one.low, one.high))) for one in quantities if not one.weak}
    for day in dates:
        parts = (
            ("year", day.year),
            ("month", day.month),
            ("day", day.day),
            ("weekday", day.weekday),
            ("clock", day.minute),
        )
        values |= {(f"date:{name}", str(part)) for name, part in parts if part is not None}
    stems = {word.stem[:FAMILY]: (word.weight or 0.5) for word in words.lexemes if word.weight or word.digit}
    return Statement(
        place, start, text, stems, frozenset(values), frozenset(kind for kind, _ in values),
        any(word.fold in NEGATIONS for word in words.lexemes),
        frozenset(key for name in find_names(text, words) if name.sure for key in name.keys),
        frozenset(word.fold for word in words.lexemes if word.fold in MODAL),
    )  # fmt: skip


def candidates(statements: Sequence[Statement], question: frozenset[str], most: int) -> list[Pair]:
    """The pairs that are worth asking about, at most so many, in an order that does not depend on that of passages.

    Args:
        statements: of all passages.
        question: the stems of the question: pairs that speak of it come first among equals.
        most: how many.
    """
    postings: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(statements):
        for stem in one.stems:
            postings[stem].append(at)
    rarity = {stem: math.log1p(len(statements) / len(found)) for stem, found in postings.items()}
    weights = [sum(value * rarity[stem] for stem, value in one.stems.items()) for one in statements]
    pairs: dict[tuple[int, int], Pair] = {}
    for at, one in enumerate(statements):
        shared: dict[int, float] = defaultdict(float)
        common = [stem for stem in one.stems if len(postings[stem]) > 1]
        for stem in sorted(common, key=lambda s: (len(postings[s]), s))[:RAREST]:
            for other in _near(postings[stem], at):
                if statements[other].passage != one.passage:
                    shared[other] += 1.0
        best = sorted(shared, key=lambda other: (-shared[other], statements[other].text))[: 4 * PARTNERS]
        measured = []
        for other in best:
            theirs = statements[other].stems
            both = sum(value * rarity[stem] for stem, value in one.stems.items() if stem in theirs)
            measured.append((both / (min(weights[at], weights[other]) or 1.0), other))
        for share, other in sorted(measured, key=lambda found: (-found[0], statements[found[1]].text))[:PARTNERS]:
            key = (min(at, other), max(at, other))
            if share >= OF_ONE_MATTER and key not in pairs:
                differs = what_differs(one, statements[other])
                if differs is not None:
                    pairs[key] = Pair(statements[key[0]], statements[key[1]], min(1.0, share), differs)
    found = sorted(pairs.values(), key=lambda pair: (-_promise(pair, question), pair.first.text, pair.second.text))
    return [*found[:most], *_of_two_wordings(statements, found, question, min(most, LEAST_READ) - len(found))]


def _of_two_wordings(
    statements: Sequence[Statement], found: Sequence[Pair], question: frozenset[str], most: int
) -> list[Pair]:
    """Pairs of passages that share no word: of each two without a pair the sentences nearest to the question.

    What was retrieved for one question may answer it twice in different words ("The seat is in Graz", "Registered
    office: Linz"). Passages that say one thing each come alone: which of many sentences would be it nobody knows.
    """
    if most <= 0:
        return []
    counts = Counter(one.passage for one in statements)
    alone = sorted((one for one in statements if counts[one.passage] == 1), key=lambda one: (
        -len(question & set(one.stems)), one.text,
    ))[: 2 * LEAST_READ]  # fmt: skip
    known = {(pair.first.passage, pair.second.passage) for pair in found}
    made = []
    for number, one in enumerate(alone):
        for other in alone[number + 1 :]:
            first, second = (one, other) if one.passage < other.passage else (other, one)
            differs = what_differs(one, other)
            if differs is not None and (first.passage, second.passage) not in known:
                made.append(Pair(first, second, 0.0, differs))
    return made[:most]


def _near(places: Sequence[int], at: int) -> Sequence[int]:
    """The places around one, where there are too many: later ones of a long list would otherwise never be seen."""
    if len(places) <= POSTINGS:
        return places
    step = len(places) / POSTINGS
    return [places[int(i * step + at) % len(places)] for i in range(POSTINGS)]


_PROMISE: Final = {"value": 0.5, "opposite": 0.35, "negation": 0.3, "name": 0.2, "words": 0.0}


def _promise(pair: Pair, question: frozenset[str]) -> float:
    asked = question & set(pair.first.stems) & set(pair.second.stems)
    return pair.shared + _PROMISE[pair.differs] + (0.5 * len(asked) / len(question) if question else 0.0)


def what_differs(one: Statement, other: Statement) -> str | None:
    """What of two sentences can contradict; none where one only repeats a part of the other.

    >>> first, second = (statement(0, 0, text) for text in ("Leave is 2 weeks.", "Leave is 4 weeks."))
    >>> what_differs(first, second)
    'value'
    >>> first, second = (statement(0, 0, f"Gloves {text} in the lab.") for text in ("must be worn", "are optional"))
    >>> what_differs(first, second)
    'words'
    """
    kinds = one.kinds & other.kinds
    for kind in kinds:
        mine = {value for name, value in one.values if name == kind}
        theirs = {value for name, value in other.values if name == kind}
        if mine != theirs and not (mine & theirs and (mine <= theirs or theirs <= mine)):
            return "value"
    if one.negated != other.negated:
        return "negation"
    mine_only, theirs_only = set(one.stems) - set(other.stems), set(other.stems) - set(one.stems)
    if any({word[:FAMILY] for word in opposites(stem)} & theirs_only for stem in mine_only):
        return "opposite"
    if one.names - other.names and other.names - one.names:
        return "name"
    if (mine_only and theirs_only) or (one.modals != other.modals and (mine_only or theirs_only)):
        return "words"
    return None


@dataclass(frozen=True, slots=True)
class Heard:
    """What the tiers make of a pair."""

    pair: Pair
    signals: Mapping[str, float]
    exact: bool
    """Whether the exact tier is sure of another value."""


def hear_pairs(pairs: Sequence[Pair], items: Sequence[Evidence], scorer: PairScorer) -> list[Heard]:
    """What both tiers make of pairs, in one call of the network.

    Raises:
        VerifierError: the network failed.
    """
    if not pairs:
        return []
    asked: list[tuple[str, str]] = []
    room = scorer.max_pair_tokens - 8
    for pair in pairs:
        mine, theirs = _read(items, pair.first), _read(items, pair.second)
        asked += [(theirs, pair.first.text), (mine, pair.second.text)]
    sizes = scorer.count_tokens([f"{premise} {claim}" for premise, claim in asked])
    fitting = [one for one, size in zip(asked, sizes, strict=True) if size <= room]
    known = dict(zip(fitting, scorer.score(fitting).tolist(), strict=True)) if fitting else {}
    silent = [0.0, 1.0, 0.0]
    return [
        _heard(pair, known.get(asked[2 * n], silent), known.get(asked[2 * n + 1], silent), items)
        for n, pair in enumerate(pairs)
    ]


def _read(items: Sequence[Evidence], one: Statement) -> str:
    head = heading(items[one.passage])
    return (head if len(head) <= 120 else "") + one.text


VALUES: Final = frozenset({"number", "date", "time", "record", "identifier"})
OTHERS: Final = frozenset({"polarity", "antonym", "negation", "comparative"})


def _heard(pair: Pair, first: Sequence[float], second: Sequence[float], items: Sequence[Evidence]) -> Heard:
    values, words = [], []
    for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
        alone = Evidence(id="o", text=other.text, title=items[other.passage].title)
        against = [f for f in check_exact(one.text, index_evidence([alone])).findings if f.effect == "contradicts"]
        values.append(max((f.confidence for f in against if f.code.split(".", 1)[0] in VALUES), default=0.0))
        words.append(max((f.confidence for f in against if f.code.split(".", 1)[0] not in VALUES), default=0.0))
    less, more = sorted((pair.first.stems, pair.second.stems), key=len)
    union = len(set(less) | set(more))
    contra, entail = sorted((first[2], second[2])), sorted((first[0], second[0]))
    signals = {
        "contra_low": logit(contra[0]), "contra_high": logit(contra[1]), "entail_low": logit(entail[0]),
        "entail_high": logit(entail[1]), "value": max(values), "value_both": min(values), "words": max(words),
        "shared": pair.shared, "overlap": len(set(less) & set(more)) / union if union else 0.0,
        "differs_value": float(pair.differs == "value"), "differs_negation": float(pair.differs == "negation"),
        "differs_words": float(pair.differs == "words"), "differs_name": float(pair.differs == "name"),
    }  # fmt: skip
    return Heard(pair, signals, max(values) >= SURE)


@dataclass(frozen=True, slots=True)
class ConflictModel:
    """How likely two sentences are to contradict each other, and from where on they are judged."""

    model: LogisticModel
    threshold: float

    def probability(self, heard: Heard) -> float:
        """The probability, in [0, 1]."""
        return self.model.probability(heard.signals)


@lru_cache(maxsize=1)
def load_conflict_model() -> ConflictModel:
    """The model that ships with the package."""
    raw: Mapping[str, Any] = json.loads(
        files("assay.guard").joinpath("screen_conflicts.json").read_text(encoding="utf-8")
    )
    return ConflictModel(LogisticModel(raw["intercept"], raw["weights"]), raw["threshold"])


Judge = Callable[[Sequence[tuple[str, tuple[Evidence, ...]]]], Sequence[Judged]]
"""Judges claims, each beside its own evidence, as a check does."""


def conflicts_of(
    items: Sequence[Evidence], question: str | None, scorer: PairScorer, judge: Judge
) -> tuple[PassageConflict, ...]:
    """The conflicts between passages, the surest first, one for two passages and a matter.

    Args:
        items: the passages that may be used.
        question: what is asked.
        scorer: the network.
        judge: what judges the pairs that may be conflicts.

    Raises:
        VerifierError: the network failed: whether there are conflicts is not known then.
    """
    if len(items) < 2:
        return ()
    asked = frozenset(word.stem[:FAMILY] for word in find_words(question or "").lexemes if word.weight)
    statements = [one for place, item in enumerate(items) for one in statements_of(place, item, asked)]
    pairs = candidates(statements, asked, max(LEAST_READ, PER_PASSAGE * len(items)))
    found = told(hear_pairs(pairs, items, scorer), items, judge, asked)
    return tuple(_first_of_each(sorted(found, key=lambda one: (-one.score, one.first, one.second, one.first_start))))


def told(
    heard: Sequence[Heard], items: Sequence[Evidence], judge: Judge, asked: frozenset[str], most: int | None = None
) -> list[PassageConflict]:
    """The conflicts among pairs that were read; those that may be one are judged, the likeliest first.

    What both sentences, each taken as the claim, find is told; what one alone finds, where it is likely, or where
    both speak of what was asked: a conflict that is missed there costs most.

    Args:
        heard: the pairs as they were read.
        items: the passages.
        judge: what judges.
        asked: the stems of the question.
        most: how many are judged; by default few of few passages, and a quarter as many as there are passages.
    """
    model = load_conflict_model()
    chances = {id(one): model.probability(one) for one in heard}
    likely = sorted((one for one in heard if chances[id(one)] >= model.threshold), key=lambda one: -chances[id(one)])
    likely = likely[: max(LEAST_JUDGED, len(items) // 4) if most is None else most]
    claims = [(side.text, _beside(one.pair, items)) for one in likely for side in (one.pair.first, one.pair.second)]
    judged = judge(claims) if claims else ()
    found = []
    for place, one in enumerate(likely):
        sides = judged[2 * place : 2 * place + 2]
        if any(side.failed is not None for side in sides):
            raise VerifierError(
                f"whether passages contradict each other is not known: {sides[0].failed or sides[1].failed}"
            )
        found_by = [_against(side, of_another=_of_another(one.pair, items)) for side in sides]
        sure = max(found_by)
        likely_enough = chances[id(one)] >= FROM_ONE_SIDE or _on_question(one.pair, asked)
        if min(found_by) > 0 or (sure > 0 and likely_enough):
            found.append(_told(one, items, max(sure, chances[id(one)])))
    return found


def _on_question(pair: Pair, asked: frozenset[str]) -> bool:
    """Whether both sentences have enough of what was asked."""
    return bool(asked) and all(
        len(asked & set(one.stems)) >= OF_QUESTION * len(asked) for one in (pair.first, pair.second)
    )


def _against(judged: Judged, *, of_another: bool) -> float:
    """How sure a judgement is that the other source says something else; 0 where it finds no such thing.

    A conflict that a check finds is of one subject; a plain contradiction may be of another one.
    """
    if judged.conflict is not None:
        return max(span.score for span in judged.conflict)
    if judged.verdict is Verdict.CONTRADICTED and judged.judgement is not None and not of_another:
        return judged.judgement.contradiction
    return 0.0


def _beside(pair: Pair, items: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The two sentences, each with those around it, as two sources."""
    return tuple(_around(items[one.passage], one) for one in (pair.first, pair.second))


def _around(item: Evidence, one: Statement) -> Evidence:
    if is_record(item.text):
        return item
    spans = split_sentences(item.text)
    at = next((n for n, span in enumerate(spans) if span.start == one.start), 0)
    near = spans[max(0, at - 1) : at + 2]
    text = item.text[near[0].start : near[-1].end] if near else one.text
    return item.model_copy(update={"text": text if len(text) <= 3 * LONGEST else one.text, "metadata": {}})


def _of_another(pair: Pair, items: Sequence[Evidence]) -> bool:
    """Whether the two sentences name different subjects: the hours of two libraries are no conflict."""
    texts = [f"{items[one.passage].title or ''}\n{one.text}" for one in (pair.first, pair.second)]
    return speaks_of_another(pair.first.text, texts[0], texts[1], pair.second.text) and speaks_of_another(
        pair.second.text, texts[1], texts[0], pair.first.text
    )


def _told(heard: Heard, items: Sequence[Evidence], sure: float) -> PassageConflict:
    one, other = heard.pair.first, heard.pair.second
    if items[one.passage].id > items[other.passage].id:
        one, other = other, one
    return PassageConflict(
        first=items[one.passage].id, second=items[other.passage].id, first_text=one.text, first_start=one.start,
        second_text=other.text, second_start=other.start, score=round(sure, 4),
        found_by="exact" if heard.exact else "network",
    )  # fmt: skip


def _first_of_each(found: Iterable[PassageConflict]) -> list[PassageConflict]:
    """The surest conflict of each sentence with each passage."""
    seen: set[tuple[str, str, int]] = set()
    kept = []
    for one in found:
        keys = {(one.first, one.second, one.first_start), (one.second, one.first, one.second_start)}
        if not keys & seen:
            kept.append(one)
        seen |= keys
    return kept
