"""Judging jobs: both tiers judge each claim, and what they find is combined into one verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.guard.check.evidence_index import PreparedEvidence
from assay.guard.claims.context import claim_in_context
from assay.guard.claims.date_ranges import expand_dates
from assay.guard.claims.document_values import without_unstated
from assay.guard.claims.unread_languages import why_unread
from assay.guard.claims.wordings import merged_wordings, restates, wordings
from assay.guard.conflicts.source_conflicts import (
    DIFFERS,
    conflict_between,
    conflicting_value,
    denied_elsewhere,
    doubting_source,
    same_but_for_names,
    with_disagreements,
)
from assay.guard.conflicts.source_matching import same_subject
from assay.models import ConflictScorer, PairScorer
from assay.schema import ClaimCandidates, EvidenceSpan, External, OutsideWord, Verdict
from assay.schema.report_parts import ClaimJudgement
from assay.text.sentences import find_code_name, forbids, parse_setting, split_sentences
from assay.verify.documents import FieldMatch
from assay.verify.documents import fields as document_fields
from assay.verify.exact import ExactFinding, ExactResult, refuting_field, refuting_sentence
from assay.verify.network import Combination, EntailmentResult, Judgement, judge
from assay.verify.network import PremiseScores as Reading
from assay.verify.omissions import refuting_clause

SURE = 0.8
"""The confidence from which a finding of the exact tier bounds the score by itself. Of the rows on which it is so sure
of a contradiction, 96% are not supported (138 held-out rows, record 2), and it names the very words. Below it, findings
count only as the fitted combination weighs them."""
TELLING = 0.5
"""The network's probability from which a passage is shown as contradicting."""
PIECE_COST = 0.1
"""How much less probable a premise may be than one with one window more, and still be shown in its place."""
MOST_SPANS = 4
"""Evidence spans that a claim shows at most."""


_Key = tuple[str, str | None, str | None, bytes, bool, bool, FieldMatch | None, str | None, bool]


@dataclass(frozen=True, slots=True)
class Job:
    """One claim to be checked against one body of evidence."""

    claim: str
    evidence: PreparedEvidence
    question: str | None = None
    whole: str | None = None
    """The statement that the claim was cut from, where it is a piece of one."""
    abstains: bool = False
    """Whether the claim says that the evidence does not tell something."""
    is_name: bool = False
    """Whether the claim is nothing but a name out of code, which is looked up in the evidence."""
    field: FieldMatch | None = None
    """For a value of a document: the field of the evidence that it is compared with, where that is a document too."""
    before: str | None = None
    """The sentence before the claim, where the claim refers to something in it."""
    value: str | None = None
    """The value that the claim gives, where it is a field of a document or a cell of a table."""
    outdated: bool = False
    """Whether the claim has a value that only a source which is out of use has."""

    @property
    def key(self) -> _Key:
        """Everything that the judgement depends on; jobs with equal keys are judged once."""
        return (
            self.claim,
            self.question,
            self.before,
            self.evidence.key,
            self.abstains,
            self.is_name,
            self.field,
            self.value,
            self.outdated,
        )

    def differs(self, source: str) -> bool:
        """Whether the exact tier finds that this source, taken by itself, has something other than the claim says."""
        item = next(one for one in self.evidence.evidence if one.id == source)
        found = self.evidence.exact_of(item, self.claim, self.question).findings
        return any(one.effect == "contradicts" and one.confidence >= DIFFERS for one in found)

    @property
    def hypothesis(self) -> str:
        """The claim as the network reads it: with its question if it is a short answer, or with what it refers to."""
        return f"{self.before} {self.claim}" if self.before else claim_in_context(self.claim, self.question).text

    @property
    def offset(self) -> int:
        """Where the claim begins in the hypothesis."""
        return len(self.before) + 1 if self.before else claim_in_context(self.claim, self.question).at


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgement of one job by the tiers, and by a judge and sources of knowledge where they were asked."""

    verdict: Verdict
    judgement: Judgement | None
    """None where the claim could not be checked."""
    exact: ExactResult
    entailment: EntailmentResult
    signals: dict[str, float]
    spans: tuple[EvidenceSpan, ...]
    conflict: tuple[EvidenceSpan, EvidenceSpan] | None
    """A passage that supports the claim, and one of another source that contradicts it."""
    failed: str | None = None
    """Why the claim could not be checked."""
    unread: bool = False
    """Whether it failed because the network does not read its language; a judge may."""
    by_judge: ClaimJudgement | None = None
    """The word of the judge, where one was to be asked."""
    outside: tuple[OutsideWord, ...] = ()
    """The words of sources outside of the evidence, where any was asked (docs/adr/0035)."""
    external: External | None = None
    """The result of external verification, where the policy has it done."""

    def as_unchecked(self, failed: str) -> "Judged":
        """The judgement if it is not known whether another source disagrees."""
        return replace(self, verdict=Verdict.UNCHECKED, judgement=None, spans=(), conflict=None, failed=failed)

    @property
    def support(self) -> float:
        """The probability of support; 0 if the claim could not be checked."""
        return self.judgement.support if self.judgement is not None else 0.0

    @property
    def decided_by(self) -> str | None:
        """What decided the verdict: `exact`, `network`, `judge` or `knowledge`; None if nothing was decided."""
        if self.external is not None and self.external.changed:
            return "knowledge"
        if self.by_judge is not None and self.by_judge.changed:
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
    """The judgement of a claim that no tier has judged."""
    return Judged(
        Verdict.UNCHECKED, None, ExactResult((), {}, ()), EntailmentResult(failed=reason), {}, (), None, reason
    )


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The probabilities from which a verdict is given. The policy sets all of them except `conflict`."""

    support: float
    contradiction: float
    conflict: float = 0.8
    """The network's probability from which a passage counts as one side of a conflict."""
    prior: float | None = None
    """The share of supported claims in use. None leaves probabilities as they were fitted."""
    corrects: bool = True
    """Whether the reported probabilities are corrected to that share as well, or the verdict alone."""


@dataclass(frozen=True, slots=True)
class JudgingModels:
    """What claims are judged with."""

    scorer: PairScorer
    """The network that judges pairs of premise and claim."""
    conflicts: ConflictScorer
    """The network that tells whether two passages of two sources cannot both be right."""
    combination: Combination
    """Turns the signals of both tiers into probabilities."""


def judge_jobs(jobs: Sequence[Job], models: JudgingModels, thresholds: Thresholds, windows: int | None) -> list[Judged]:
    """Judges all jobs; the pieces of a statement only if the statement as a whole is not supported.

    A piece says less than its statement, so what supports the statement supports the piece; and cutting can turn a true
    statement into an untrue piece. So a supported whole supports all its pieces. If the whole is not supported, its
    pieces show which part is wrong.

    Args:
        jobs: the claims, each with its evidence.
        models: what the claims are judged with.
        thresholds: the probabilities from which a verdict is given.
        windows: how many windows of evidence the network reads for each claim; None for all.
    """
    asked = [wordings(job) for job in jobs]
    found = iter(_whole_first([one for group in asked for one in group], models, thresholds, windows))
    return [
        merged_wordings(job, group, [next(found) for _ in group]) if group else unjudged(NOT_UNDERSTOOD)
        for job, group in zip(jobs, asked, strict=True)
    ]


NOT_UNDERSTOOD = "it says yes or no, and what was asked could not be made a statement. Answer in a sentence."
"""Why a bare yes or no may be unchecked."""


def _whole_first(
    jobs: Sequence[Job], models: JudgingModels, thresholds: Thresholds, windows: int | None
) -> list[Judged]:
    """Judges all jobs as they are worded; the pieces of a statement only if the whole is not supported."""
    wholes = [replace(job, claim=job.whole, whole=None) if job.whole else job for job in jobs]
    first = list({job.key: job for job in wholes}.values())
    known = _judge_all(first, models, thresholds, windows)
    by_key = {job.key: judged for job, judged in zip(first, known, strict=True)}
    found = [by_key[job.key] for job in wholes]
    cut = [i for i, job in enumerate(jobs) if job.whole and found[i].verdict is not Verdict.SUPPORTED]
    of_pieces = _judge_all([jobs[i] for i in cut], models, thresholds, windows)
    groups: dict[_Key, dict[int, Judged]] = {}
    for i, judged in zip(cut, of_pieces, strict=True):
        groups.setdefault(wholes[i].key, {})[i] = judged
    for key, pieces in groups.items():
        for i, judged in _answering(by_key[key], pieces).items():
            found[i] = judged
    return found


def _answering(whole: Judged, pieces: Mapping[int, Judged]) -> Mapping[int, Judged]:
    """The pieces of a statement that is not supported; if every piece is, the weakest takes the judgement of the whole.

    What is wrong may be what cutting took away: which of two things came first, or that one is the reason of the other.
    """
    if any(one.verdict is not Verdict.SUPPORTED for one in pieces.values()):
        return pieces
    weakest = min(pieces, key=lambda i: (pieces[i].support, i))
    own = pieces[weakest]
    return {**pieces, weakest: replace(whole, exact=own.exact, entailment=own.entailment)}


def _judge_all(jobs: Sequence[Job], models: JudgingModels, thresholds: Thresholds, windows: int | None) -> list[Judged]:
    """Judges all jobs as they are, in one pass of the network."""
    if not jobs:
        return []
    found = [job.evidence.exact(job.claim, job.question) for job in jobs]
    asked = [expand_dates(job.hypothesis, job.claim, exact, job.offset) for job, exact in zip(jobs, found, strict=True)]
    candidates = [
        ClaimCandidates(one.text, job.evidence.premises(job.hypothesis, windows))
        for job, one in zip(jobs, asked, strict=True)
    ]
    read = [one.restored(result) for one, result in zip(asked, judge(candidates, models.scorer), strict=True)]
    same = same_but_for_names(jobs, read, models.scorer, thresholds.conflict)
    judged = [
        _combine(job, exact, result, models.combination, thresholds, said)
        for job, exact, result, said in zip(jobs, found, read, same, strict=True)
    ]
    return with_disagreements(jobs, judged, models.scorer, models.conflicts)


def _combine(
    job: Job,
    exact: ExactResult,
    read: EntailmentResult,
    combination: Combination,
    thresholds: Thresholds,
    said: frozenset[str],
) -> Judged:
    """Combines what both tiers found of one job; `said` are passages that say the same of another name."""
    signals = {**exact.signals, **read.signals, "evidence_size": job.evidence.size}
    if read.failed is not None:
        return Judged(Verdict.UNCHECKED, None, exact, read, signals, (), None, read.failed)
    if not job.evidence.readable:
        verdict = Verdict.SUPPORTED if job.abstains else Verdict.UNSUPPORTED
        return Judged(verdict, Judgement(float(job.abstains), 0.0), exact, read, signals, (), None)
    if job.field is not None:
        return judged_by_field(job, job.field, exact, read, signals)
    if job.is_name:
        return judged_by_name(job, exact, read, signals)
    refuting = refuting_field(job.claim, job.evidence.index)
    if refuting is None and job.abstains:
        refuting = refuting_sentence(job.claim, job.evidence.index) or refuting_clause(job.claim, job.evidence.index)
    if refuting is not None:
        return _refuted_by_record(refuting, exact, read, signals)
    lost = why_unread(job.claim, job.evidence.languages, (item.text for item in job.evidence.evidence))
    if lost is not None and not compared_by_words(exact, job.claim):
        return Judged(Verdict.UNCHECKED, None, exact, read, signals, (), None, lost, unread=True)
    may_conflict = same_subject(job.claim, job.evidence.evidence, said)
    disputed = exact.supporting and denied_elsewhere(read, exact, thresholds.conflict, may_conflict)
    fitted = combination.judge(signals)
    used = combination.in_use(fitted, thresholds.prior, signals) if thresholds.prior is not None else fitted
    # What the exact tier is sure of was compared word by word: that does not depend on how many other claims are right.
    judgement = bounded_by_exact(used, exact, disputed=bool(disputed))
    if job.abstains:
        judgement = judgement_of_silence(judgement)
    elif restates(exact, job.claim):
        judgement = judgement_of_restatement(judgement)
    if job.value is not None:
        judgement, exact = without_unstated(job.value, job.evidence, exact, judgement, len(job.claim))
    verdict = verdict_of(judgement, thresholds)
    if not thresholds.corrects:
        judgement = bounded_by_exact(fitted, exact, disputed=bool(disputed))
    if job.outdated and verdict is Verdict.SUPPORTED:
        verdict, judgement = Verdict.UNSUPPORTED, replace(judgement, support=min(judgement.support, OUTDATED))
    spans = evidence_spans(verdict, judgement, read, exact)
    conflict = conflict_between(job.hypothesis, read, thresholds.conflict, may_conflict, job.differs)
    if conflict is None and verdict is Verdict.SUPPORTED and len(job.evidence.evidence) > 1 and not job.abstains:
        conflict = conflicting_value(job, spans, may_conflict) or doubting_source(job, read, spans, may_conflict)
    return Judged(verdict, judgement, exact, read, signals, spans, conflict)


def compared_by_words(exact: ExactResult, claim: str) -> bool:
    """Whether the exact tier settles a claim by itself: it is sure of a contradiction, or has found its words."""
    stated = exact.signals.get("supports_record", 0.0) >= SURE or exact.signals.get("verbatim", 0.0) >= 1
    against = any(one.effect == "contradicts" and one.confidence >= SURE for one in exact.findings)
    return stated or against or restates(exact, claim)


NAMED = 0.995
"""The support of a name out of code that the evidence has; one minus it is that of a name that the evidence lacks."""


def judged_by_field(
    job: Job, field: FieldMatch, exact: ExactResult, read: EntailmentResult, signals: dict[str, float]
) -> Judged:
    """The judgement of a document's value by the field of the evidence with the same name."""
    from assay.verify.tools import as_quote  # numpy and jsonschema-rs: kept off the import of the package

    spans = (field.span,) if field.span is not None else ()
    if field.equal:
        equal = Judgement(document_fields.EQUAL, 0.0)
        working = (
            ()
            if not field.expected
            else (
                ExactFinding(
                    "number.derived", f"It adds up: {field.expected}.", 0, len(job.claim), None, "note", NAMED
                ),
            )
        )
        return Judged(Verdict.SUPPORTED, equal, replace(exact, findings=working), read, signals, spans, None)
    has = (
        f"It adds up to {field.expected}"
        if field.span is None
        else f"The evidence has {as_quote(field.span.text, 120)}"
    )
    code = "record.total" if field.span is None else "record.mismatch"
    finding = ExactFinding(code, f"{has}.", 0, len(job.claim), field.span, "contradicts", document_fields.SURE)
    others = [one for one in exact.findings if one.code != "record.mismatch"]
    result = replace(exact, findings=(finding, *others))
    against = Judgement(round(1 - document_fields.SURE, 4), document_fields.SURE)
    return Judged(Verdict.CONTRADICTED, against, result, read, signals, spans, None)


def judged_by_name(job: Job, exact: ExactResult, read: EntailmentResult, signals: dict[str, float]) -> Judged:
    """The judgement of a claim that is nothing but a name out of code, which is looked up in the evidence.

    A parameter with a value is looked up by its name; the sentence about it must allow the value.
    """
    setting = parse_setting(job.claim)
    for item in job.evidence.evidence:
        place = find_code_name(setting[0] if setting else job.claim, item.text)
        if place is not None and setting:
            sentence = next((s for s in split_sentences(item.text) if s.start <= place[0] < s.end), None)
            if sentence is not None and forbids(setting[1], item.text[sentence.start : sentence.end]):
                span = EvidenceSpan(
                    evidence_id=item.id,
                    start=sentence.start,
                    end=sentence.end,
                    text=item.text[sentence.start : sentence.end],
                    relation="contradicts",
                    score=NAMED,
                )
                message = f"The evidence does not allow {setting[1][:80]!r} for {setting[0][:80]!r}."
                finding = ExactFinding("record.mismatch", message, 0, len(job.claim), span, "contradicts", NAMED)
                against = Judgement(round(1 - NAMED, 4), NAMED)
                result = replace(exact, findings=(finding,))
                return Judged(Verdict.CONTRADICTED, against, result, read, signals, (span,), None)
        if place is not None:
            start, end = place
            span = EvidenceSpan(
                evidence_id=item.id, start=start, end=end, text=item.text[start:end], relation="supports", score=NAMED
            )
            return Judged(Verdict.SUPPORTED, Judgement(NAMED, 0.0), exact, read, signals, (span,), None)
    found = Judgement(round(1 - NAMED, 4), 0.0)
    return Judged(Verdict.UNSUPPORTED, found, exact, read, signals, exact.best[:1], None)


def _refuted_by_record(
    span: EvidenceSpan, exact: ExactResult, read: EntailmentResult, signals: dict[str, float]
) -> Judged:
    """The judgement of a claim that the evidence does not tell something, which a record of it does tell."""
    message = f'The evidence does tell: it has "{span.text[:80]}".'
    found = ExactFinding("record.told", message, 0, read.claim_length, span, "contradicts", NAMED)
    against = Judgement(round(1 - NAMED, 4), NAMED)
    result = replace(exact, findings=(found, *exact.findings))
    return Judged(Verdict.CONTRADICTED, against, result, read, signals, (span,), None)


def bounded_by_exact(judgement: Judgement, exact: ExactResult, *, disputed: bool = False) -> Judgement:
    """Bounds a judgement by what the exact tier is sure of.

    A contradiction found with confidence c is at least that probable. A condition left out with confidence c leaves at
    most 1 - c for the claim as it stands. If a record states all of the claim and nothing as sure contradicts it,
    support is at least that probable, because networks read prose and not JSON; unless another source disputes it.
    """
    sure = [f for f in exact.findings if f.confidence >= SURE and f.effect != "note"]
    stated = exact.signals.get("supports_record", 0.0)
    if stated >= SURE and not sure and not disputed:
        contradiction = min(judgement.contradiction, 1 - stated)
        return Judgement(min(max(judgement.support, stated), 1 - contradiction), contradiction)
    contradiction = max([judgement.contradiction, *(f.confidence for f in sure if f.effect == "contradicts")])
    dropped = max((f.confidence for f in sure if f.code == "condition.dropped"), default=0.0)
    return Judgement(min(judgement.support, 1 - contradiction, 1 - dropped), contradiction)


OUTDATED = 0.5
"""The highest support of a claim with a value that only a source which is out of use has."""
RESTATING = 0.99
"""The lowest support of a claim that is a whole sentence of the evidence."""


def judgement_of_restatement(judgement: Judgement) -> Judgement:
    """The judgement of a claim that is a whole sentence of the evidence, whatever the network made of it.

    If another source says otherwise, that is a conflict, which is looked for separately.
    """
    support = max(judgement.support, RESTATING)
    return Judgement(support, min(judgement.contradiction, round(1 - support, 12)))


def judgement_of_silence(judgement: Judgement) -> Judgement:
    """The judgement of a claim that the evidence does not tell something.

    Such a claim is right unless a passage does tell it. Evidence that does not mention the matter leaves any other
    claim without support; it is what confirms this one.
    """
    return Judgement(1 - judgement.contradiction, judgement.contradiction)


def verdict_of(judgement: Judgement, thresholds: Thresholds) -> Verdict:
    """The verdict of a judgement; contradiction comes before support."""
    if judgement.contradiction >= thresholds.contradiction:
        return Verdict.CONTRADICTED
    if judgement.support >= thresholds.support:
        return Verdict.SUPPORTED
    return Verdict.UNSUPPORTED


def evidence_spans(
    verdict: Verdict, judgement: Judgement, read: EntailmentResult, exact: ExactResult
) -> tuple[EvidenceSpan, ...]:
    """The passages to show: the one that decides first, then sentences that are merely close.

    Words of which the exact tier is sure that they differ come before the network's passage, those of which it is less
    sure behind it, and those too doubtful to be reported not at all.
    """
    found: list[EvidenceSpan] = []
    if verdict is Verdict.CONTRADICTED:
        differing = sorted(
            (f for f in exact.findings if f.effect == "contradicts" and f.evidence and f.confidence >= DIFFERS),
            key=lambda f: -f.confidence,
        )
        found += [f.evidence.model_copy(update={"relation": "contradicts"}) for f in differing if f.evidence]
        against = _most_telling(read.judgements, lambda reading: reading.contradiction)
        if against is not None and against.contradiction >= TELLING:
            sure = len([f for f in differing if f.confidence >= SURE])
            found[sure:sure] = _spans_of(against, "contradicts", judgement.contradiction)
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
    """The reading with the highest value, less a cost for every window of its premise.

    A premise put together from several windows cannot show a reader which of them decided.
    """
    return max(readings, key=lambda r: (value(r) - PIECE_COST * len(r.premise.windows), r.related), default=None)


def _spans_of(reading: Reading, relation: str, score: float) -> list[EvidenceSpan]:
    return [
        EvidenceSpan(evidence_id=w.evidence_id, start=w.start, end=w.end, text=w.text, relation=relation, score=score)
        for w in reading.premise.windows
    ]
