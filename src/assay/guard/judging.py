"""Jobs and what the tiers say of them together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.guard.conflicts import same_subject
from assay.guard.prepared import PreparedEvidence
from assay.guard.widening import widened
from assay.models.interface import PairScorer
from assay.schema import EvidenceSpan, Verdict
from assay.schema.judging import ClaimJudgement
from assay.schema.premise import ClaimCandidates
from assay.text.fragments import is_fragment
from assay.verify.combine import Combination, Judgement
from assay.verify.entailment import EntailmentResult, judge
from assay.verify.entailment import Judgement as Reading
from assay.verify.exact import ExactResult

SURE = 0.8
"""From this confidence on, what the exact tier found bounds the score by itself: of the rows on which it is so sure of
a contradiction, 96% are not supported (138 held-out rows, record 2), and it names the very words. Below it, findings
count only as the fitted combination weighs them."""
TELLING = 0.5
"""From this probability of the network on a passage is shown as contradicting."""
PIECE_COST = 0.1
"""Probability that a premise of one piece may lack against one with a piece more, and still be shown in its place."""
MOST_SPANS = 4
"""Evidence spans that a claim shows at most."""


@dataclass(frozen=True, slots=True)
class Job:
    """One claim to be held against one body of evidence."""

    claim: str
    evidence: PreparedEvidence
    question: str | None = None

    @property
    def hypothesis(self) -> str:
        """The claim as the network reads it: a short answer together with its question."""
        if self.question and is_fragment(self.claim):
            return f"{self.question.strip()} {self.claim}"
        return self.claim


@dataclass(frozen=True, slots=True)
class Judged:
    """What the tiers found of one job."""

    verdict: Verdict
    judgement: Judgement | None
    """None where the claim could not be checked."""
    exact: ExactResult
    entailment: EntailmentResult
    signals: dict[str, float]
    spans: tuple[EvidenceSpan, ...]
    conflict: tuple[EvidenceSpan, EvidenceSpan] | None
    """A passage that supports the claim and one of another source that contradicts it."""
    failed: str | None = None
    """Why it could not be checked."""
    heard: ClaimJudgement | None = None
    """What a judge said of it, where one was to be asked."""

    @property
    def decided_by(self) -> str | None:
        """The tier whose word the verdict is: `exact`, `network` or `judge`; none where nothing was decided."""
        if self.heard is not None and self.heard.changed:
            return "judge"
        if self.failed is not None or self.judgement is None:
            return None
        sure = [f for f in self.exact.findings if f.confidence >= SURE]
        against = self.verdict is Verdict.CONTRADICTED and any(f.effect == "contradicts" for f in sure)
        dropped = self.verdict is Verdict.UNSUPPORTED and any(f.code == "condition.dropped" for f in sure)
        verbatim = self.exact.signals.get("verbatim", 0.0) >= 1
        stated = verbatim or self.exact.signals.get("supports_record", 0.0) >= SURE
        return "exact" if against or dropped or (stated and self.verdict is Verdict.SUPPORTED) else "network"


def unjudged(reason: str) -> Judged:
    """What is known of a claim that no tier was asked about."""
    return Judged(
        Verdict.UNCHECKED, None, ExactResult((), {}, ()), EntailmentResult(failed=reason), {}, (), None, reason
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which probability on a verdict is given, as the policy says."""

    support: float
    contradiction: float
    conflict: float = 0.8
    """Probability of the network from which a passage counts as one side of a conflict."""


def judge_jobs(
    jobs: Sequence[Job], scorer: PairScorer, combination: Combination, thresholds: Thresholds, windows: int | None
) -> list[Judged]:
    """Judge all jobs in one pass of the network.

    Args:
        jobs: the claims, each with its evidence.
        scorer: the network.
        combination: turns the signals of both tiers into probabilities.
        thresholds: from which probability on a verdict is given.
        windows: how many windows of evidence the network reads for each claim; None for all.
    """
    found = [job.evidence.exact(job.claim, job.question) for job in jobs]
    asked = [widened(job.hypothesis, job.claim, exact) for job, exact in zip(jobs, found, strict=True)]
    candidates = [
        ClaimCandidates(one.text, job.evidence.premises(job.hypothesis, windows))
        for job, one in zip(jobs, asked, strict=True)
    ]
    read = [one.restored(result) for one, result in zip(asked, judge(candidates, scorer), strict=True)]
    return [
        _combine(job, exact, result, combination, thresholds)
        for job, exact, result in zip(jobs, found, read, strict=True)
    ]


def _combine(
    job: Job, exact: ExactResult, read: EntailmentResult, combination: Combination, thresholds: Thresholds
) -> Judged:
    signals = {**exact.signals, **read.signals, "evidence_size": job.evidence.size}
    if read.failed is not None:
        return Judged(Verdict.UNCHECKED, None, exact, read, signals, (), None, read.failed)
    if not job.evidence.readable:
        return Judged(Verdict.UNSUPPORTED, Judgement(0.0, 0.0), exact, read, signals, (), None)
    may = same_subject(job.claim, job.evidence.evidence)
    disputed = exact.supporting and denied_elsewhere(read, exact, thresholds.conflict, may)
    judgement = bounded_by_exact(combination.judge(signals), exact, disputed=bool(disputed))
    verdict = verdict_of(judgement, thresholds)
    spans = evidence_spans(verdict, judgement, read, exact)
    return Judged(verdict, judgement, exact, read, signals, spans, conflict_between(read, thresholds.conflict, may))


def denied_elsewhere(
    read: EntailmentResult, exact: ExactResult, threshold: float, may: Callable[[str, str, str], bool]
) -> bool:
    """Whether the network finds a claim that a record states contradicted by a source that is not that record.

    A text assembled of the record and another source counts where the record by itself does not contradict: then what
    contradicts is the other.

    Args:
        read: what the network found.
        exact: with the values that state the claim.
        threshold: the least probability of contradiction.
        may: whether two sources can conflict at all, by the stating id, the other id and its passage.
    """
    stating = {span.evidence_id for span in exact.supporting}
    against = [one.premise for one in read.judgements if one.contradiction >= threshold]
    misread = any(stating.issuperset(premise.evidence_ids) for premise in against)
    return any(
        (stating.isdisjoint(premise.evidence_ids) or not misread)
        and any(may(mine, other, premise.text) for mine in stating for other in premise.evidence_ids - stating)
        for premise in against
    )


def bounded_by_exact(judgement: Judgement, exact: ExactResult, *, disputed: bool = False) -> Judgement:
    """The judgement within the bounds that the exact tier is sure of.

    A contradiction found with confidence c is at least that probable; a condition that was left out with confidence c
    leaves at most 1 - c for the claim as it stands. Where a record states all of the claim and nothing that is as sure
    speaks against it, support is at least that probable: networks read prose and not JSON. A claim that another source
    disputes is not raised.
    """
    sure = [f for f in exact.findings if f.confidence >= SURE]
    stated = exact.signals.get("supports_record", 0.0)
    if stated >= SURE and not sure and not disputed:
        contradiction = min(judgement.contradiction, 1 - stated)
        return Judgement(min(max(judgement.support, stated), 1 - contradiction), contradiction)
    contradiction = max([judgement.contradiction, *(f.confidence for f in sure if f.effect == "contradicts")])
    dropped = max((f.confidence for f in sure if f.code == "condition.dropped"), default=0.0)
    return Judgement(min(judgement.support, 1 - contradiction, 1 - dropped), contradiction)


def verdict_of(judgement: Judgement, thresholds: Thresholds) -> Verdict:
    """Contradiction is looked at before support."""
    if judgement.contradiction >= thresholds.contradiction:
        return Verdict.CONTRADICTED
    if judgement.support >= thresholds.support:
        return Verdict.SUPPORTED
    return Verdict.UNSUPPORTED


def evidence_spans(
    verdict: Verdict, judgement: Judgement, read: EntailmentResult, exact: ExactResult
) -> tuple[EvidenceSpan, ...]:
    """The passages that decide, the deciding one first, then sentences that are merely close.

    Where the exact tier names the very words that differ, they come before the network's passage.
    """
    found: list[EvidenceSpan] = []
    if verdict is Verdict.CONTRADICTED:
        sure = sorted(
            (f for f in exact.findings if f.effect == "contradicts" and f.evidence), key=lambda f: -f.confidence
        )
        found += [f.evidence.model_copy(update={"relation": "contradicts"}) for f in sure if f.evidence]
        against = _most_telling(read.judgements, lambda reading: reading.contradiction)
        if against is not None and against.contradiction >= TELLING:
            found += _spans_of(against, "contradicts", judgement.contradiction)
    if verdict is Verdict.SUPPORTED:
        found += exact.supporting
        behind = _most_telling(read.judgements, lambda reading: reading.entailment)
        found += _spans_of(behind, "supports", judgement.support) if behind is not None else []
    found += exact.best
    unique: dict[tuple[str, int, int], EvidenceSpan] = {}
    for span in found:
        unique.setdefault((span.evidence_id, span.start, span.end), span)
    return tuple(unique.values())[:MOST_SPANS]


def _most_telling(readings: Sequence[Reading], value: Callable[[Reading], float]) -> Reading | None:
    """The reading that says it most sharply: the highest value, held back for every further piece of its premise.

    A text put together from several sources cannot show a reader which of them it was.
    """
    return max(readings, key=lambda r: (value(r) - PIECE_COST * len(r.premise.windows), r.related), default=None)


def _spans_of(reading: Reading, relation: str, score: float) -> list[EvidenceSpan]:
    return [
        EvidenceSpan(evidence_id=w.evidence_id, start=w.start, end=w.end, text=w.text, relation=relation, score=score)
        for w in reading.premise.windows
    ]


def conflict_between(
    read: EntailmentResult, threshold: float, may: Callable[[str, str, str], bool]
) -> tuple[EvidenceSpan, EvidenceSpan] | None:
    """A passage that supports the claim and one of another source that contradicts it, if there are such."""
    conflict = read.conflict(threshold, may)
    if conflict is None:
        return None
    supporting = _spans_of(conflict.supporting, "supports", conflict.supporting.entailment)[0]
    contradicting = _spans_of(conflict.contradicting, "contradicts", conflict.contradicting.contradiction)[0]
    return supporting, contradicting
