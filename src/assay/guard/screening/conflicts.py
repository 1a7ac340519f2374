"""Passages that contradict each other, found without comparing every sentence with every other one.

1. Sentences that may be about one matter are found by the words that they share: each is compared with a limited number
   of sentences of other passages that have its rarest words, so that the work grows with the number of passages and not
   of their pairs.
2. Of these pairs, those are read in which something differs that can contradict: a value of one kind, a day, a
   negation, opposite words, a name. Pairs that differ in values come first, then those closest to the question, at most
   `PER_PASSAGE` for each passage.
3. Each pair is read by the exact tier and by the network in both directions: two statements contradict each other from
   either side, and the network is surer of one side by chance. How likely the pair then is a conflict is fitted
   (`train/fit_screen_conflicts.py`).
4. Likely pairs are judged as a check judges a claim of one source beside another.
5. The conflict network, trained on conflicts and near texts, has the last word (`guard/conflicts/compatibility.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from assay.errors import VerifierError
from assay.guard.check.verdicts import Judged
from assay.guard.conflicts.both_ways import is_prose, score_fitting
from assay.guard.conflicts.compatibility import CONFLICTING, with_heading
from assay.guard.conflicts.source_conflicts import VALUES
from assay.guard.conflicts.source_matching import is_record, names_another_subject
from assay.guard.screening.pairs import (
    FAMILY,
    LEAST_READ,
    LONGEST,
    Pair,
    PassageSubjects,
    Statement,
    candidates,
    statements_of,
)
from assay.guard.screening.readers import Readers
from assay.models import PairScorer
from assay.schema import Evidence, PassageConflict, Verdict
from assay.text.lexicon import find_words
from assay.text.sentences import split_sentences
from assay.verify.exact import check_exact, index_evidence
from assay.verify.network import LogisticModel, logit

FROM_BOTH_SIDES: Final = 0.4
"""The lowest probability of a conflict if each of the two sentences, taken as a claim, is contradicted by the other's
source."""
LIKELY: Final = 0.65
"""The lowest probability of a conflict if only one of them is, unless both mention what was asked."""
NOT_NEUTRAL: Final = -2.0
"""The lowest sum of the log-odds of contradiction, each sentence read as the premise of the other, of a pair that is
judged. Both were set by hand on `benchmarks/gate/planted_conflicts.jsonl` (docs/adr/0103)."""
MENTIONED: Final = -4.0
"""The same sum from which the conflict network is asked about a pair by itself: it is sure of nearly none below."""
AGREEING: Final = 0.2
"""The probability of the conflict network below which a conflict is not reported. It is higher than in a check, which
looks for what is missed here: chosen on the fit side (docs/adr/0128)."""
BOTH_WAYS: Final = 5.0
"""The sum of the log-odds of contradiction, each sentence read as the premise of the other, from which two sentences
contradict each other whatever the check of them finds. Set by hand, as is the next one, on the half `read` of
`benchmarks/gate/conflicts_fresh.jsonl` and cases of the fit side (docs/adr/0084)."""
SHARED_BOTH_WAYS: Final = 0.25
"""The share of the shorter sentence's content that the other one must have for that."""
OF_QUESTION: Final = 0.34
"""The share of the question's content words from which a sentence mentions what was asked."""
PER_PASSAGE: Final = 1
"""How many pairs are read for each passage, on average."""
LEAST_JUDGED: Final = 6
"""How many pairs are judged if there are few passages; otherwise a quarter as many as there are passages."""
SURE: Final = 0.8
"""The confidence from which the exact tier is sure of another value."""


@dataclass(frozen=True, slots=True)
class PairReading:
    """A pair as the tiers have read it."""

    pair: Pair
    signals: Mapping[str, float]
    exact: bool
    """Whether the exact tier is sure of another value."""


def read_pairs(pairs: Sequence[Pair], items: Sequence[Evidence], scorer: PairScorer) -> list[PairReading]:
    """Reads pairs with both tiers, in one call of the network.

    Raises:
        VerifierError: the network failed.
    """
    if not pairs:
        return []
    asked: list[tuple[str, str]] = []
    for pair in pairs:
        mine, theirs = _headed(pair, items)
        asked += [(theirs, pair.first.text), (mine, pair.second.text)]
    known = score_fitting(asked, scorer)
    silent = [0.0, 1.0, 0.0]
    return [
        _pair_reading(pair, known.get(asked[2 * n], silent), known.get(asked[2 * n + 1], silent), items)
        for n, pair in enumerate(pairs)
    ]


def _pair_reading(
    pair: Pair, first: Sequence[float], second: Sequence[float], items: Sequence[Evidence]
) -> PairReading:
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
        "contra_low": logit(contra[0]),
        "contra_high": logit(contra[1]),
        "entail_low": logit(entail[0]),
        "entail_high": logit(entail[1]),
        "value": max(values),
        "value_both": min(values),
        "words": max(words),
        "shared": pair.shared,
        "overlap": len(set(less) & set(more)) / union if union else 0.0,
        "differs_value": float(pair.differs == "value"),
        "differs_negation": float(pair.differs == "negation"),
        "differs_words": float(pair.differs == "words"),
        "differs_name": float(pair.differs == "name"),
    }
    return PairReading(pair, signals, max(values) >= SURE)


@dataclass(frozen=True, slots=True)
class ConflictModel:
    """How likely two sentences are to contradict each other, and the probability from which they are judged."""

    model: LogisticModel
    threshold: float

    def probability(self, pair: PairReading) -> float:
        """The probability, in [0, 1]."""
        return self.model.probability(pair.signals)


@lru_cache(maxsize=1)
def load_conflict_model() -> ConflictModel:
    """The model that ships with the package."""
    raw: Mapping[str, Any] = json.loads(
        files("assay.guard.screening").joinpath("conflicts.json").read_text(encoding="utf-8")
    )
    return ConflictModel(LogisticModel(raw["intercept"], raw["weights"]), raw["threshold"])


def conflicts_of(items: Sequence[Evidence], question: str | None, readers: Readers) -> tuple[PassageConflict, ...]:
    """The conflicts between passages, the surest first, one for two passages and a matter.

    Args:
        items: the passages that may be used.
        question: the question.
        readers: what reads them.

    Raises:
        VerifierError: a network failed, so it is not known whether there are conflicts.
    """
    if len(items) < 2:
        return ()
    asked = frozenset(word.stem[:FAMILY] for word in find_words(question or "").lexemes if word.weight)
    statements = [one for place, item in enumerate(items) for one in statements_of(place, item, asked)]
    subjects = PassageSubjects(statements, items)
    pairs = candidates(statements, asked, max(LEAST_READ, PER_PASSAGE * len(items)), subjects.differ)
    found = find_conflicts(read_pairs(pairs, items, readers.scorer), items, readers, asked)
    return tuple(_first_of_each(sorted(found, key=lambda one: (-one.score, one.first, one.second, one.first_start))))


def find_conflicts(
    pairs: Sequence[PairReading],
    items: Sequence[Evidence],
    readers: Readers,
    asked: frozenset[str],
    most: int | None = None,
) -> list[PassageConflict]:
    """The conflicts among pairs that were read; pairs that may be one are judged, the likeliest first.

    A pair is reported if a conflict is found with either sentence as the claim. If only one of them shows it, the pair
    must also be likely, or both sentences must mention what was asked, because a conflict missed there costs most. So
    is a pair of which the network is sure in both directions. Pairs that the network calls neutral are not judged, and
    no pair found so is reported of which one sentence is supported by the other's passage. Of prose the conflict
    network has a say: what can both be right is not reported, and a pair that it is sure of is, though nothing else
    found it.

    Args:
        pairs: the pairs as they were read.
        items: the passages.
        readers: what reads them.
        asked: the stems of the question.
        most: how many pairs are judged; by default a quarter as many as there are passages, but at least
            `LEAST_JUDGED`.
    """
    model = load_conflict_model()
    chances = {id(one): model.probability(one) for one in pairs}
    asking = [
        one
        for one in pairs
        if chances[id(one)] >= (model.threshold if _on_question(one.pair, asked) else FROM_BOTH_SIDES)
        and _contradiction(one) >= NOT_NEUTRAL
    ]
    likely = sorted(asking, key=lambda one: -chances[id(one)])
    likely = likely[: max(LEAST_JUDGED, len(items) // 4) if most is None else most]
    claims = [(side.text, _beside(one.pair, items)) for one in likely for side in (one.pair.first, one.pair.second)]
    judged = readers.judge(claims) if claims else ()
    found: list[tuple[PairReading, float]] = []
    for place, one in enumerate(likely):
        sides = judged[2 * place : 2 * place + 2]
        if any(side.failed is not None for side in sides):
            raise VerifierError(
                f"whether passages contradict each other is not known: {sides[0].failed or sides[1].failed}"
            )
        found_by = [_against(side, other_subject=_name_other_subjects(one.pair, items)) for side in sides]
        sure, chance = max(found_by), chances[id(one)]
        both = min(found_by) > 0 and chance >= FROM_BOTH_SIDES
        alone = sure > 0 and (chance >= LIKELY or _on_question(one.pair, asked))
        if both or alone or _both_ways(one):
            found.append((one, max(sure, chance)))
    judged_so = {id(one): sure for one, sure in found}
    read = [one for one in pairs if id(one) in judged_so or _contradiction(one) >= MENTIONED]
    standing: list[tuple[PairReading, float]] = []
    added: list[tuple[PairReading, float]] = []
    for one, said in zip(read, _conflict_chances([one.pair for one in read], items, readers), strict=True):
        sure = judged_so.get(id(one), -1.0)
        if sure >= 0 and (said is None or said >= AGREEING):
            standing.append((one, max(sure, said or 0.0)))
        elif sure < 0 and said is not None and said >= CONFLICTING:
            added.append((one, said))
    borne_out = _supported_by_other([one.pair for one, _ in standing], items, readers.scorer)
    told = [one for one, is_said in zip(standing, borne_out, strict=True) if not is_said]
    return [_passage_conflict(one, items, sure) for one, sure in [*told, *added]]


def _conflict_chances(pairs: Sequence[Pair], items: Sequence[Evidence], readers: Readers) -> list[float | None]:
    """What the conflict network says of each pair; None for one of which a side is no prose or cannot be read."""
    texts = [
        _headed(pair, items)
        if all(is_prose(one.text) and not is_record(items[one.passage].text) for one in (pair.first, pair.second))
        else None
        for pair in pairs
    ]
    known = iter(readers.conflicts.probabilities([text for text in texts if text is not None]))
    return [next(known) if text is not None else None for text in texts]


def _headed(pair: Pair, items: Sequence[Evidence]) -> tuple[str, str]:
    """Both sentences, each with the title of its passage before it."""
    one, other = pair.first, pair.second
    return with_heading(items[one.passage], one.text), with_heading(items[other.passage], other.text)


def _supported_by_other(pairs: Sequence[Pair], items: Sequence[Evidence], scorer: PairScorer) -> list[bool]:
    """For each pair, whether the text around one sentence supports the other one rather than contradicting it.

    A sentence that seems to say something else by itself often does not in its context: the sentence before it names
    who is meant. This is not asked if a sentence has no context, nor of two sentences that differ in values and share
    none: a network reads over a number too easily for that.
    """
    asked: list[list[tuple[str, str]]] = []
    for pair in pairs:
        asked.append([])
        if pair.differs == "value" and not pair.first.values & pair.second.values:
            continue
        for claim, other in ((pair.first, pair.second), (pair.second, pair.first)):
            around = _around(items[other.passage], other).text
            if around.strip() != other.text.strip():
                asked[-1].append((around, claim.text))
    known = score_fitting([one for some in asked for one in some], scorer)
    read = [[known[one] for one in some if one in known] for some in asked]
    return [any(scores[0] > scores[2] for scores in some) for some in read]


def _contradiction(pair: PairReading) -> float:
    return pair.signals["contra_low"] + pair.signals["contra_high"]


def _both_ways(pair: PairReading) -> bool:
    """Whether the network is sure of a contradiction in both directions."""
    return _contradiction(pair) >= BOTH_WAYS and pair.pair.shared >= SHARED_BOTH_WAYS


def _on_question(pair: Pair, asked: frozenset[str]) -> bool:
    """Whether both sentences have enough of the question's words."""
    return bool(asked) and all(
        len(asked & set(one.stems)) >= OF_QUESTION * len(asked) for one in (pair.first, pair.second)
    )


def _against(judged: Judged, *, other_subject: bool) -> float:
    """How sure a judgement is that the other source contradicts the claim; 0 if it found no contradiction.

    The two sides of a conflict have one subject; a plain contradiction may be about another subject.
    """
    if judged.conflict is not None:
        return max(span.score for span in judged.conflict)
    if judged.verdict is Verdict.CONTRADICTED and judged.judgement is not None and not other_subject:
        return judged.judgement.contradiction
    return 0.0


def _beside(pair: Pair, items: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The two sentences, each with its neighbours, as two sources."""
    return tuple(_around(items[one.passage], one) for one in (pair.first, pair.second))


def _around(item: Evidence, one: Statement) -> Evidence:
    if is_record(item.text):
        return item
    spans = split_sentences(item.text)
    at = next((n for n, span in enumerate(spans) if span.start == one.start), 0)
    near = spans[max(0, at - 1) : at + 2]
    text = item.text[near[0].start : near[-1].end] if near else one.text
    return item.model_copy(update={"text": text if len(text) <= 3 * LONGEST else one.text, "metadata": {}})


def _name_other_subjects(pair: Pair, items: Sequence[Evidence]) -> bool:
    """Whether the two sentences name different subjects: the hours of two libraries are no conflict."""
    texts = [f"{items[one.passage].title or ''}\n{one.text}" for one in (pair.first, pair.second)]
    return names_another_subject(pair.first.text, texts[0], texts[1], pair.second.text) and names_another_subject(
        pair.second.text, texts[1], texts[0], pair.first.text
    )


def _passage_conflict(pair: PairReading, items: Sequence[Evidence], sure: float) -> PassageConflict:
    one, other = pair.pair.first, pair.pair.second
    if items[one.passage].id > items[other.passage].id:
        one, other = other, one
    return PassageConflict(
        first=items[one.passage].id,
        second=items[other.passage].id,
        first_text=one.text,
        first_start=one.start,
        second_text=other.text,
        second_start=other.start,
        score=round(sure, 4),
        found_by="exact" if pair.exact else "network",
    )


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
