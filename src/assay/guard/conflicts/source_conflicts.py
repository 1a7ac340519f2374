"""Conflicts: a claim that one source supports and another contradicts.

They are found in five ways: another source surely has another value (`conflicting_value`); the network finds a passage
contradicting (`conflict_between`); it doubts the claim beside a passage (`doubting_source`); another source supports
something else (`with_disagreements`); a sentence, read both ways, cannot be right together with the supporting one
(`with_mutual_contradictions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.errors import VerifierError
from assay.guard.conflicts.both_ways import SentencePair, load_both_ways, read_both_ways, sentence_pairs
from assay.guard.conflicts.compatibility import without_compatible
from assay.guard.conflicts.disagreement import (
    MOST_SOURCES,
    Disagreement,
    Other,
    OtherSourceResult,
    ask_other_sources,
    load_disagreement,
    others_of,
)
from assay.guard.conflicts.source_matching import (
    claim_share_in_passage,
    clause_around,
    closest_sources,
    is_record,
    may_deny,
    on_one_matter,
    passage_share_in_claim,
    same_subject,
    states_disagreement,
    with_their_name,
)
from assay.guard.conflicts.stances import clashes
from assay.models import ConflictScorer, PairScorer
from assay.schema import ClaimCandidates, Evidence, EvidenceSpan, PassageConflict, Verdict
from assay.text.citations import find_pointers
from assay.text.sentences import split_sentences
from assay.verify.exact import ExactFinding, ExactResult
from assay.verify.network import EntailmentResult, judge
from assay.verify.network import PremiseScores as Reading

if TYPE_CHECKING:
    from assay.guard.check.verdicts import Job, Judged

SURE = 0.8
"""The confidence from which a source surely has another value."""
AGAINST, SURELY_AGAINST = 0.7, 0.9
"""The probabilities from which prose contradicts a claim: of a passage that says half of it, and one that says a
third."""
SAYS_A_THIRD, SAYS_HALF = 0.3, 0.5
"""The lowest shares of a claim that another source must say too, except for what is wrong, to contradict it."""
SAYS_NEARLY_ALL = 0.8
"""The share of a claim from which a sentence with another value disagrees with it, however doubtful the value."""
DIFFERS = 0.3
"""The confidence from which a finding of the exact tier in another source supports a disagreement."""
DOUBTED, DISPUTED, TELLING_ALONE = 0.2, 0.35, 0.6
"""The probabilities of contradiction from which a source on the same matter contradicts: if it has another value for
all that its clause is about; if the network does not call it unrelated; and in any case. They are low because the
network was trained to judge a claim by all evidence, and is seldom surer of a source that words the matter
differently."""
UNRELATED = 0.1
"""The highest neutral probability of a passage that is about the claim's matter."""
OF_IT = 0.2
"""The lowest share of a passage that the claim must say too for both to be of one matter."""
RESTATED = 0.7
"""The share of a claim that its source must say for the claim to be a restatement. A claim that is put together or
worked out from a source shares less with it, and the network doubts such claims beside every other source."""
TELLING = 0.5
"""The confidence from which a value shows a disagreement if its clause says nothing beyond the claim."""
CLASH = 0.9
"""The confidence of a clash of two opposite words from which a source disagrees, whatever the network says."""
WRONG = 0.5
"""The probability from which a word counts as wrong beside a passage."""


def same_but_for_names(
    jobs: Sequence[Job], read: Sequence[EntailmentResult], scorer: PairScorer, threshold: float
) -> list[frozenset[str]]:
    """For each job, the contradicting passages that say the same of another name: they disagree about the name.

    The network is asked only if a passage of one source supports the claim and a passage of another contradicts it.
    """
    asked: list[tuple[int, str, ClaimCandidates]] = []
    for at, (job, result) in enumerate(zip(jobs, read, strict=True)):
        alone = [one for one in result.judgements if len(one.premise.evidence_ids) == 1]
        if max((one.entailment for one in alone), default=0.0) < threshold:
            continue
        for one in alone:
            if one.contradiction >= threshold:
                asked += [
                    (at, one.premise.text, ClaimCandidates(swapped, (one.premise,)))
                    for swapped in with_their_name(job.claim, one.premise.text)
                ]
    said: list[set[str]] = [set() for _ in jobs]
    for (at, text, _), result in zip(asked, judge([one for _, _, one in asked], scorer) if asked else (), strict=True):
        if result.entailment >= 1 - result.entailment:
            said[at].add(text)
    return [frozenset(one) for one in said]


VALUES = frozenset({"number", "date", "time", "record", "identifier"})
"""Families of findings that set one value against another."""


def conflicting_value(
    job: Job, spans: Sequence[EvidenceSpan], may_conflict: Callable[[str, str, str], bool]
) -> tuple[EvidenceSpan, EvidenceSpan] | None:
    """The passage that supports a claim, and a value of another source that surely contradicts the claim.

    Checked against all sources together, a value counts as found if one source has it. Another source, checked by
    itself, may have another value for the same thing.
    """
    behind = next((span for span in spans if span.relation == "supports"), None)
    if behind is None:
        return None
    stating = {span.evidence_id for span in spans if span.relation == "supports"}
    others = [item for item in job.evidence.evidence if item.id not in stating]
    for item in closest_sources(job.claim, others):
        for found in job.evidence.exact_of(item, job.claim, job.question).findings:
            if found.effect != "contradicts" or found.evidence is None:
                continue
            here = found.evidence.model_copy(update={"relation": "contradicts"})
            if (
                _is_another_value(job.claim, found, item)
                and on_one_matter(job.claim, behind.text, item.text, here.start)
                and may_conflict(behind.evidence_id, item.id, here.text)
            ):
                return behind, here
    return None


def _is_another_value(claim: str, found: ExactFinding, item: Evidence) -> bool:
    """Whether a source surely has another value for what a claim states."""
    sure = found.code.split(".", 1)[0] in VALUES and found.confidence >= SURE
    return sure or _says_nearly_all_of_it(claim, found, item)


def _says_nearly_all_of_it(claim: str, found: ExactFinding, item: Evidence) -> bool:
    """Whether the sentence of a finding says nearly all of a claim except for what the finding marks.

    Then even a doubtful finding shows a disagreement: of 2,500 right claims beside several sources, 4 met such a
    sentence on the same matter in another source.
    """
    if found.confidence < DIFFERS or found.evidence is None:
        return False
    at = found.evidence.start
    sentence = next(
        (item.text[one.start : one.end] for one in split_sentences(item.text) if one.start <= at < one.end), ""
    )
    return claim_share_in_passage(claim, sentence, [(found.claim_start, found.claim_end)]) >= SAYS_NEARLY_ALL


def doubting_source(
    job: Job, read: EntailmentResult, spans: Sequence[EvidenceSpan], may_conflict: Callable[[str, str, str], bool]
) -> tuple[EvidenceSpan, EvidenceSpan] | None:
    """The passage that supports a claim, and one of another source that says something else, though less surely.

    Opposite words and opposite stances are enough by themselves. Another value is enough if the network doubts the
    claim beside that source and the clause of the value mentions nothing else. If the claim restates one source, it is
    enough that the network doubts it beside a source that mentions the same. Of 995 right claims of scenarios with
    several sources (batches d, e, g and j) one or two meet such a source; of 1,086 right claims of 19 batches none
    meets an opposite stance.
    """
    behind = next((span for span in spans if span.relation == "supports"), None)
    if behind is None:
        return None
    stating = {span.evidence_id for span in spans if span.relation == "supports"}
    alone = [one for one in read.judgements if len(one.premise.evidence_ids) == 1]
    restated = any(
        one.premise.evidence_ids <= stating
        and one.entailment >= RESTATED
        and _share(job.hypothesis, read, one) >= RESTATED
        for one in alone
    )
    others = {item.id: item for item in job.evidence.evidence}
    for one in sorted(alone, key=lambda r: -r.contradiction):
        source = min(one.premise.evidence_ids)
        if source in stating:
            continue
        findings = [
            found
            for found in job.evidence.exact_of(others[source], job.claim, job.question).findings
            if found.effect == "contradicts" and found.evidence is not None
        ]
        clash = any(found.code == "antonym.clash" and found.confidence >= CLASH for found in findings) or any(
            clashes(job.claim, clause) for clause in _clauses(one.premise.text)
        )
        text = others[source].text
        valued = one.contradiction >= DOUBTED and any(
            found.confidence >= TELLING
            and passage_share_in_claim(job.claim, clause_around(text, found.evidence.start)) >= SAYS_NEARLY_ALL
            for found in findings
            if found.evidence is not None
        )
        decided = one.neutral <= UNRELATED or one.contradiction >= TELLING_ALONE
        doubted = (
            restated
            and may_deny(job.hypothesis, one.premise.text)
            and decided
            and one.contradiction >= DISPUTED
            and _share(job.hypothesis, read, one) >= SAYS_A_THIRD
            and passage_share_in_claim(job.claim, one.premise.text) >= OF_IT
        )
        here = span_of(one, "contradicts", one.contradiction)
        if (clash or valued or doubted) and may_conflict(behind.evidence_id, source, here.text):
            return behind, here
    return None


def _clauses(passage: str) -> Iterator[str]:
    """The sentences of a passage, cut at semicolons."""
    for one in split_sentences(passage):
        yield from passage[one.start : one.end].split(";")


def _share(hypothesis: str, read: EntailmentResult, one: Reading) -> float:
    """The share of a claim that a passage says too, not counting the words that are wrong beside it."""
    wrong = [place for place, p in zip(read.words, one.wrong, strict=False) if p >= WRONG]
    return claim_share_in_passage(hypothesis, " ".join(window.text for window in one.premise.windows), wrong)


def denied_elsewhere(
    read: EntailmentResult, exact: ExactResult, threshold: float, may_conflict: Callable[[str, str, str], bool]
) -> bool:
    """Whether the network finds a claim that a record states contradicted by another source than that record.

    A premise put together of the record and another source counts if the record by itself does not contradict.

    Args:
        read: the network's result.
        exact: the exact tier's result, with the values that state the claim.
        threshold: the lowest probability of contradiction.
        may_conflict: whether two sources can conflict at all, by the stating id, the other id and its passage.
    """
    stating = {span.evidence_id for span in exact.supporting}
    against = [one.premise for one in read.judgements if one.contradiction >= threshold]
    misread = any(stating.issuperset(premise.evidence_ids) for premise in against)
    return any(
        (stating.isdisjoint(premise.evidence_ids) or not misread)
        and any(may_conflict(mine, other, premise.text) for mine in stating for other in premise.evidence_ids - stating)
        for premise in against
    )


def conflict_between(
    hypothesis: str,
    read: EntailmentResult,
    threshold: float,
    may_conflict: Callable[[str, str, str], bool],
    differs: Callable[[str], bool],
) -> tuple[EvidenceSpan, EvidenceSpan] | None:
    """A passage that supports the claim and one of another source that contradicts it, if there are such.

    How sure the network must be of the contradiction depends on how much of the claim the passage says otherwise.

    Args:
        hypothesis: the claim as it was read.
        read: the network's result.
        threshold: the lowest probability of contradiction by a record.
        may_conflict: whether two sources can conflict at all, by the supporting id, the other id and its passage.
        differs: whether the exact tier finds another value in a source, by its id.
    """

    def disagrees(reading: Reading) -> bool:
        share = _share(hypothesis, read, reading)
        said = " ".join(window.text for window in reading.premise.windows)
        if is_record(said):
            return share >= SAYS_HALF and reading.contradiction >= threshold and may_deny(hypothesis, said)
        return share >= SAYS_A_THIRD and reading.contradiction >= (
            AGAINST if share >= SAYS_HALF or differs(min(reading.premise.evidence_ids)) else SURELY_AGAINST
        )

    alone = [one for one in read.judgements if len(one.premise.evidence_ids) == 1]
    speaking = [one for one in alone if one.contradiction < AGAINST or disagrees(one)]
    conflict = replace(read, judgements=tuple(speaking)).conflict(AGAINST, may_conflict)
    if conflict is None:
        return None
    supporting = span_of(conflict.supporting, "supports", conflict.supporting.entailment)
    contradicting = span_of(conflict.contradicting, "contradicts", conflict.contradicting.contradiction)
    return supporting, contradicting


def hidden_conflict(
    claim: str, judged: Judged, known: Sequence[PassageConflict]
) -> tuple[EvidenceSpan, EvidenceSpan] | None:
    """The two sides of a known conflict, if a supported claim follows one side without mentioning the other.

    Args:
        claim: the claim.
        judged: its judgement.
        known: the conflicts between passages that the screening found.
    """
    if judged.conflict is not None or judged.verdict is not Verdict.SUPPORTED:
        return None
    for one in known:
        sides = (
            (one.first, one.first_start, one.first_text),
            (one.second, one.second_start, one.second_text),
        )
        for mine, theirs in (sides, sides[::-1]):
            followed = any(
                span.relation == "supports"
                and span.evidence_id == mine[0]
                and span.start < mine[1] + len(mine[2])
                and mine[1] < span.end
                for span in judged.spans
            )
            if (
                followed
                and passage_share_in_claim(mine[2], claim) >= OF_IT
                and not states_disagreement(claim, mine[2], theirs[2])
            ):
                return _place(mine, "supports", one.score), _place(theirs, "contradicts", one.score)
    return None


def _place(side: tuple[str, int, str], relation: str, score: float) -> EvidenceSpan:
    name, start, text = side
    return EvidenceSpan(evidence_id=name, start=start, end=start + len(text), text=text, relation=relation, score=score)


def with_disagreements(
    jobs: Sequence[Job], judged: Sequence[Judged], scorer: PairScorer, conflicts: ConflictScorer
) -> list[Judged]:
    """The judgements of jobs, with the conflicts that show only when other sources are asked what they support.

    At most `MOST_SOURCES` other sources are asked, about claims that are supported and not in conflict yet. Conflicts
    whose two sides can both be right, by the conflict network, are left out, however they were found.
    """
    model = load_disagreement()
    asked = [
        (place, other)
        for place, (job, one) in enumerate(zip(jobs, judged, strict=True))
        for other in [found for found in _others(job, one) if model.asks(found)][:MOST_SOURCES]
    ]
    found = list(judged)
    for (place, _), reading in zip(
        asked, ask_other_sources([other for _, other in asked], scorer) if asked else (), strict=True
    ):
        if reading.failed is not None:
            found[place] = found[place].as_unchecked(reading.failed)
        elif found[place].conflict is None and _disagrees(model, reading) and _of_one_subject(jobs[place], reading):
            found[place] = replace(found[place], conflict=_shown(reading.other))
    return without_compatible(jobs, with_mutual_contradictions(jobs, found, scorer), conflicts)


def _disagrees(model: Disagreement, reading: OtherSourceResult) -> bool:
    """Whether another source disagrees."""
    other = reading.other
    return model.disagrees(reading) and (other.differs >= DIFFERS or may_deny(other.claim, other.reading.premise.text))


def with_mutual_contradictions(jobs: Sequence[Job], judged: Sequence[Judged], scorer: PairScorer) -> list[Judged]:
    """The judgements of jobs, with the conflicts between sentences that contradict each other in both directions.

    Sentences of at most `MOST_SOURCES` other sources are read, for claims that are supported and not in conflict yet.
    If the network fails, the claims count as unchecked.
    """
    if not scorer.three_way:
        return list(judged)
    model = load_both_ways()
    read: list[tuple[int, Other, SentencePair]] = []
    for place, (job, one) in enumerate(zip(jobs, judged, strict=True)):
        near = [other for other in _others(job, one) if other.reading.neutral <= model.most_neutral]
        for other in near[:MOST_SOURCES]:
            pairs = sentence_pairs(other.claim, _own_text(other.own), _own_text(other.reading))
            read += [(place, other, pair) for pair in pairs]
    found = list(judged)
    try:
        signals = read_both_ways([pair for _, _, pair in read], scorer)
    except VerifierError as error:
        for place in {place for place, _, _ in read}:
            found[place] = found[place].as_unchecked(str(error))
        return found
    for (place, other, pair), signal in zip(read, signals, strict=True):
        if found[place].conflict is not None or signal is None:
            continue
        job = jobs[place]
        may_conflict = same_subject(job.claim, job.evidence.evidence)
        if model.disagree(signal) and may_conflict(min(other.own.premise.evidence_ids), other.source, pair.other):
            found[place] = replace(found[place], conflict=_shown(other))
    return found


def _own_text(reading: Reading) -> str:
    """The source's own text, without the title in front."""
    return "\n".join(window.text for window in reading.premise.windows)


def _others(job: Job, judged: Judged) -> Iterator[Other]:
    """The other sources that may be asked about a job; none if it needs no asking or itself says that they disagree."""
    if judged.verdict is not Verdict.SUPPORTED or judged.conflict is not None or len(job.evidence.evidence) < 2:
        return
    if job.abstains or job.is_name or job.field is not None or find_pointers(job.claim):
        return  # only the passage with that number can support or deny what it says
    claim = job.claim if job.before else job.hypothesis
    stating = frozenset(span.evidence_id for span in judged.exact.supporting)
    for other in others_of(claim, judged.entailment, stating):
        if not states_disagreement(claim, other.own.premise.text, other.reading.premise.text):
            yield replace(other, differs=_differs(job, other.source)) if other.exchanged else other


def _differs(job: Job, source: str) -> float:
    """How sure the exact tier is that a source by itself has another value than the claim; 0 if it finds none."""
    item = next(one for one in job.evidence.evidence if one.id == source)
    found = job.evidence.exact_of(item, job.claim, job.question).findings
    against = (one for one in found if one.effect == "contradicts" and one.code.split(".", 1)[0] in VALUES)
    return max((one.confidence for one in against), default=0.0)


def _of_one_subject(job: Job, reading: OtherSourceResult) -> bool:
    other = reading.other
    said = frozenset({other.reading.premise.text} if reading.exchanged else ())
    may_conflict = same_subject(job.claim, job.evidence.evidence, said)
    return may_conflict(min(other.own.premise.evidence_ids), other.source, other.reading.premise.text)


def _shown(other: Other) -> tuple[EvidenceSpan, EvidenceSpan]:
    return (
        span_of(other.own, "supports", other.own.entailment),
        span_of(other.reading, "contradicts", other.reading.contradiction),
    )


def span_of(reading: Reading, relation: str, score: float) -> EvidenceSpan:
    """The first window of a reading's premise, as an evidence span."""
    w = reading.premise.windows[0]
    return EvidenceSpan(
        evidence_id=w.evidence_id, start=w.start, end=w.end, text=w.text, relation=relation, score=score
    )
