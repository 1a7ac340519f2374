"""Jobs and what the tiers say of them together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.guard.conflicts import (
    clause_around,
    closest_sources,
    is_record,
    on_one_matter,
    same_subject,
    says_of_it,
    speaks_of_it,
    with_their_name,
)
from assay.guard.data_values import without_unstated
from assay.guard.prepared import PreparedEvidence
from assay.guard.reading import understood
from assay.guard.widening import widened
from assay.guard.wordings import in_own_words, restates, wordings
from assay.models.interface import PairScorer
from assay.schema import Evidence, EvidenceSpan, Verdict
from assay.schema.judging import ClaimJudgement
from assay.schema.outside import OutsideWord
from assay.schema.premise import ClaimCandidates
from assay.text.code_names import forbids, place_of, setting_of
from assay.text.sentences import split_sentences
from assay.verify import document_fields
from assay.verify.combine import Combination, Judgement, at_prior
from assay.verify.document_fields import FieldMatch
from assay.verify.entailment import EntailmentResult, judge
from assay.verify.entailment import Judgement as Reading
from assay.verify.exact import ExactResult
from assay.verify.exact.compare_records.told import told_field, told_sentence
from assay.verify.exact.findings import ExactFinding
from assay.verify.told_clause import told_clause

SURE = 0.8
"""From this confidence on, what the exact tier found bounds the score by itself: of the rows on which it is so sure of
a contradiction, 96% are not supported (138 held-out rows, record 2), and it names the very words. Below it, findings
count only as the fitted combination weighs them."""
TELLING = 0.5
"""From this probability of the network on a passage is shown as contradicting."""
PIECE_COST = 0.1
"""Probability that a premise of one piece may lack against one with a piece more, and still be shown in its place."""
AGAINST, SURELY_AGAINST = 0.7, 0.9
"""From here on a passage of prose that says half of a claim contradicts it, and one that says a third."""
SAYS_A_THIRD, SAYS_HALF = 0.3, 0.5
"""The least share of a claim that another source has to say too, but for what is wrong, to contradict it."""
SAYS_NEARLY_ALL = 0.8
"""The share of a claim from which a sentence with another value says it otherwise, however doubtful the value."""
DIFFERS = 0.3
"""The confidence from which what the exact tier finds in another source speaks for a disagreement."""
DOUBTED, DISPUTED, TELLING_ALONE = 0.2, 0.35, 0.6
"""From here on a source that speaks of what another one states contradicts it: where it has another value for all that
its clause is about, where the network does not call it unrelated, and in any case. The network, used to judging a claim
by all there is, is seldom surer of a source that says something else of the same matter in other words."""
UNRELATED = 0.1
"""The most that the network may call a passage neutral for it to be about the claim's matter."""
OF_IT = 0.2
"""The least share of what a passage says that the claim says too, for the two to be of one matter."""
RESTATED = 0.7
"""The share of a claim that its source has to say for it to be a restatement. What is put together or worked out from
a source shares less with it, and the network doubts such claims beside every other source."""
CLASH = 0.9
"""The confidence of a clash of two opposite words from which a source disagrees, whatever the network says of it."""
WRONG = 0.5
"""The probability from which a word counts as wrong beside a passage."""
MOST_SPANS = 4
"""Evidence spans that a claim shows at most."""


_Key = tuple[str, str | None, str | None, bytes, bool, bool, FieldMatch | None, str | None]


@dataclass(frozen=True, slots=True)
class Job:
    """One claim to be held against one body of evidence."""

    claim: str
    evidence: PreparedEvidence
    question: str | None = None
    whole: str | None = None
    """The statement that the claim was cut from, where it is a piece of one."""
    denies: bool = False
    """Whether it says of the evidence that it does not tell something."""
    named: bool = False
    """Whether it is nothing but a name out of code, which the evidence has or has not."""
    field: FieldMatch | None = None
    """Of a document's value the field of the evidence that it is compared with, where that is a document too."""
    before: str | None = None
    """The sentence before it, where the claim refers to something in it."""
    value: str | None = None
    """The value that it gives, where it is a field of a document or a cell of a table."""

    @property
    def key(self) -> _Key:
        """What the judgement depends on: equal jobs are judged once."""
        return (
            self.claim,
            self.question,
            self.before,
            self.evidence.key,
            self.denies,
            self.named,
            self.field,
            self.value,
        )

    def differs(self, source: str) -> bool:
        """Whether the exact tier finds that a source, by itself, has something else in the place of what is claimed."""
        item = next(one for one in self.evidence.evidence if one.id == source)
        found = self.evidence.exact_of(item, self.claim, self.question).findings
        return any(one.effect == "contradicts" and one.confidence >= DIFFERS for one in found)

    @property
    def hypothesis(self) -> str:
        """The claim as the network reads it: with its question where it is a short answer, or what it refers to."""
        return f"{self.before} {self.claim}" if self.before else understood(self.claim, self.question).text

    @property
    def offset(self) -> int:
        """Where the claim begins in that."""
        return len(self.before) + 1 if self.before else understood(self.claim, self.question).at


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
    outside: tuple[OutsideWord, ...] = ()
    """What sources outside of the evidence say of it, where any was asked (docs/adr/0035)."""

    @property
    def support(self) -> float:
        """The probability of support; 0 where the claim could not be checked."""
        return self.judgement.support if self.judgement is not None else 0.0

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
    prior: float | None = None
    """The share of supported claims in use; none leaves probabilities at that of the rows they were fitted on."""
    corrects: bool = True
    """Whether the probabilities that are told are those in use; without it only the verdict goes by them."""


def judge_jobs(
    jobs: Sequence[Job], scorer: PairScorer, combination: Combination, thresholds: Thresholds, windows: int | None
) -> list[Judged]:
    """Judge all jobs, pieces of a statement only where the whole of it is not supported.

    A piece says less than its statement, so that what supports the statement supports the piece; and a cut can make of
    a true statement a piece that is not. So a supported whole speaks for all its pieces, and of another its pieces say
    which part is wrong.

    Args:
        jobs: the claims, each with its evidence.
        scorer: the network.
        combination: turns the signals of both tiers into probabilities.
        thresholds: from which probability on a verdict is given.
        windows: how many windows of evidence the network reads for each claim; None for all.
    """
    asked = [wordings(job) for job in jobs]
    found = iter(_whole_first([one for group in asked for one in group], scorer, combination, thresholds, windows))
    return [
        in_own_words(job, group, [next(found) for _ in group]) if group else unjudged(NOT_UNDERSTOOD)
        for job, group in zip(jobs, asked, strict=True)
    ]


NOT_UNDERSTOOD = "it says yes or no, and what was asked could not be made a statement. Answer in a sentence."
"""Why a bare yes or no may be unchecked."""


def _whole_first(
    jobs: Sequence[Job], scorer: PairScorer, combination: Combination, thresholds: Thresholds, windows: int | None
) -> list[Judged]:
    """Judge all jobs as they are worded, pieces of a statement only where the whole of it is not supported."""
    wholes = [replace(job, claim=job.whole, whole=None) if job.whole else job for job in jobs]
    first = list({job.key: job for job in wholes}.values())
    known = _judge_all(first, scorer, combination, thresholds, windows)
    by_key = {job.key: judged for job, judged in zip(first, known, strict=True)}
    found = [by_key[job.key] for job in wholes]
    cut = [i for i, job in enumerate(jobs) if job.whole and found[i].verdict is not Verdict.SUPPORTED]
    of_pieces = _judge_all([jobs[i] for i in cut], scorer, combination, thresholds, windows)
    groups: dict[_Key, dict[int, Judged]] = {}
    for i, judged in zip(cut, of_pieces, strict=True):
        groups.setdefault(wholes[i].key, {})[i] = judged
    for key, pieces in groups.items():
        for i, judged in _answering(by_key[key], pieces).items():
            found[i] = judged
    return found


def _answering(whole: Judged, pieces: Mapping[int, Judged]) -> Mapping[int, Judged]:
    """The pieces of a statement that is not supported; where each of them is, the weakest answers for the whole.

    What is wrong may be what the cut took away: which of two things came first, or that one is the reason of the other.
    """
    if any(one.verdict is not Verdict.SUPPORTED for one in pieces.values()):
        return pieces
    weakest = min(pieces, key=lambda i: (pieces[i].support, i))
    own = pieces[weakest]
    return {**pieces, weakest: replace(whole, exact=own.exact, entailment=own.entailment)}


def _judge_all(
    jobs: Sequence[Job], scorer: PairScorer, combination: Combination, thresholds: Thresholds, windows: int | None
) -> list[Judged]:
    """Judge all jobs as they are in one pass of the network."""
    if not jobs:
        return []
    found = [job.evidence.exact(job.claim, job.question) for job in jobs]
    asked = [widened(job.hypothesis, job.claim, exact, job.offset) for job, exact in zip(jobs, found, strict=True)]
    candidates = [
        ClaimCandidates(one.text, job.evidence.premises(job.hypothesis, windows))
        for job, one in zip(jobs, asked, strict=True)
    ]
    read = [one.restored(result) for one, result in zip(asked, judge(candidates, scorer), strict=True)]
    same = _same_but_for_names(jobs, read, scorer, thresholds.conflict)
    return [
        _combine(job, exact, result, combination, thresholds, said)
        for job, exact, result, said in zip(jobs, found, read, same, strict=True)
    ]


def _same_but_for_names(
    jobs: Sequence[Job], read: Sequence[EntailmentResult], scorer: PairScorer, threshold: float
) -> list[frozenset[str]]:
    """For each job the contradicting passages that say what it claims of another name: they disagree on the name.

    Asked only where a passage of one source bears a claim out and one of another contradicts it.
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


def _combine(
    job: Job,
    exact: ExactResult,
    read: EntailmentResult,
    combination: Combination,
    thresholds: Thresholds,
    said: frozenset[str],
) -> Judged:
    """The judgement of one job; `said` are passages that say the same of another name."""
    signals = {**exact.signals, **read.signals, "evidence_size": job.evidence.size}
    if read.failed is not None:
        return Judged(Verdict.UNCHECKED, None, exact, read, signals, (), None, read.failed)
    if not job.evidence.readable:
        verdict = Verdict.SUPPORTED if job.denies else Verdict.UNSUPPORTED
        return Judged(verdict, Judgement(float(job.denies), 0.0), exact, read, signals, (), None)
    if job.field is not None:
        return compared(job, job.field, exact, read, signals)
    if job.named:
        return named(job, exact, read, signals)
    told = told_field(job.claim, job.evidence.index)
    if told is None and job.denies:
        told = told_sentence(job.claim, job.evidence.index) or told_clause(job.claim, job.evidence.index)
    if told is not None:
        return _told(told, exact, read, signals)
    may = same_subject(job.claim, job.evidence.evidence, said)
    disputed = exact.supporting and denied_elsewhere(read, exact, thresholds.conflict, may)
    fitted = combination.judge(signals)
    used = at_prior(fitted, combination.prior, thresholds.prior) if thresholds.prior is not None else fitted
    # What the exact tier is sure of was compared word by word: that does not hang on how many other claims are right.
    judgement = bounded_by_exact(used, exact, disputed=bool(disputed))
    if job.denies:
        judgement = of_silence(judgement)
    elif restates(exact, job.claim):
        judgement = of_restatement(judgement)
    if job.value is not None:
        judgement, exact = without_unstated(job.value, job.evidence, exact, judgement, len(job.claim))
    verdict = verdict_of(judgement, thresholds)
    if not thresholds.corrects:
        judgement = bounded_by_exact(fitted, exact, disputed=bool(disputed))
    spans = evidence_spans(verdict, judgement, read, exact)
    conflict = conflict_between(job.hypothesis, read, thresholds.conflict, may, job.differs)
    if conflict is None and verdict is Verdict.SUPPORTED and len(job.evidence.evidence) > 1 and not job.denies:
        conflict = conflicting_value(job, spans, may) or doubting_source(job, read, spans, may)
    return Judged(verdict, judgement, exact, read, signals, spans, conflict)


NAMED = 0.995
"""The support of a name in code that the evidence has, and one minus that of one that it lacks: it was looked up."""


def compared(
    job: Job, field: FieldMatch, exact: ExactResult, read: EntailmentResult, signals: dict[str, float]
) -> Judged:
    """The judgement of a document's value by the field of the evidence that has its name."""
    from assay.verify.tool_call.shown import shown  # numpy and jsonschema-rs: kept off the import of the package

    spans = (field.span,) if field.span is not None else ()
    if field.equal:
        equal = Judgement(document_fields.EQUAL, 0.0)
        working = () if not field.told else (
            ExactFinding("number.derived", f"It adds up: {field.told}.", 0, len(job.claim), None, "note", NAMED),
        )  # fmt: skip
        return Judged(Verdict.SUPPORTED, equal, replace(exact, findings=working), read, signals, spans, None)
    has = f"It adds up to {field.told}" if field.span is None else f"The evidence has {shown(field.span.text, 120)}"
    code = "record.total" if field.span is None else "record.mismatch"
    told = ExactFinding(
        code, f"{has}.", 0, len(job.claim), field.span, "contradicts", document_fields.SURE
    )  # fmt: skip
    others = [one for one in exact.findings if one.code != "record.mismatch"]
    result = replace(exact, findings=(told, *others))
    against = Judgement(round(1 - document_fields.SURE, 4), document_fields.SURE)
    return Judged(Verdict.CONTRADICTED, against, result, read, signals, spans, None)


def named(job: Job, exact: ExactResult, read: EntailmentResult, signals: dict[str, float]) -> Judged:
    """The judgement of a claim that is nothing but a name out of code: whether the evidence has it is looked up.

    A parameter with a value is looked up by its name; its value must be one that the sentence about it allows.
    """
    setting = setting_of(job.claim)
    for item in job.evidence.evidence:
        place = place_of(setting[0] if setting else job.claim, item.text)
        if place is not None and setting:
            sentence = next((s for s in split_sentences(item.text) if s.start <= place[0] < s.end), None)
            if sentence is not None and forbids(setting[1], item.text[sentence.start : sentence.end]):
                span = EvidenceSpan(
                    evidence_id=item.id, start=sentence.start, end=sentence.end,
                    text=item.text[sentence.start : sentence.end], relation="contradicts", score=NAMED,
                )  # fmt: skip
                message = f"The evidence does not allow {setting[1][:80]!r} for {setting[0][:80]!r}."
                told = ExactFinding("record.mismatch", message, 0, len(job.claim), span, "contradicts", NAMED)
                against = Judgement(round(1 - NAMED, 4), NAMED)
                result = replace(exact, findings=(told,))
                return Judged(Verdict.CONTRADICTED, against, result, read, signals, (span,), None)
        if place is not None:
            start, end = place
            span = EvidenceSpan(
                evidence_id=item.id, start=start, end=end, text=item.text[start:end], relation="supports", score=NAMED
            )
            return Judged(Verdict.SUPPORTED, Judgement(NAMED, 0.0), exact, read, signals, (span,), None)
    found = Judgement(round(1 - NAMED, 4), 0.0)
    return Judged(Verdict.UNSUPPORTED, found, exact, read, signals, exact.best[:1], None)


def _told(span: EvidenceSpan, exact: ExactResult, read: EntailmentResult, signals: dict[str, float]) -> Judged:
    """The judgement of a claim that the evidence does not tell what a field of a record does."""
    message = f'The evidence does tell: it has "{span.text[:80]}".'
    found = ExactFinding("record.told", message, 0, read.claim_length, span, "contradicts", NAMED)
    against = Judgement(round(1 - NAMED, 4), NAMED)
    result = replace(exact, findings=(found, *exact.findings))
    return Judged(Verdict.CONTRADICTED, against, result, read, signals, (span,), None)


_VALUES = frozenset({"number", "date", "time", "record", "identifier"})
"""Families of findings by which one source can contradict what another says: a value for a value."""


def conflicting_value(
    job: Job, spans: Sequence[EvidenceSpan], may: Callable[[str, str, str], bool]
) -> tuple[EvidenceSpan, EvidenceSpan] | None:
    """The passage behind a supported claim and a value of another source that it surely contradicts, if there is one.

    Beside all sources a value that one of them has counts as found; another source may have another one for the same.
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
            sure = found.code.split(".", 1)[0] in _VALUES and found.confidence >= SURE
            another = sure or _says_it_otherwise(job.claim, found, item)
            if (
                another
                and on_one_matter(job.claim, behind.text, item.text, here.start)
                and may(behind.evidence_id, item.id, here.text)
            ):
                return behind, here
    return None


def _says_it_otherwise(claim: str, found: ExactFinding, item: Evidence) -> bool:
    """Whether the sentence of a finding says nearly all of a claim but for what the finding names.

    Then even a doubtful finding tells of a disagreement: of 2,500 right claims beside several sources 4 met such a
    sentence of another source that was on one matter with them.
    """
    if found.confidence < DIFFERS or found.evidence is None:
        return False
    at = found.evidence.start
    sentence = next(
        (item.text[one.start : one.end] for one in split_sentences(item.text) if one.start <= at < one.end), ""
    )
    return speaks_of_it(claim, sentence, [(found.claim_start, found.claim_end)]) >= SAYS_NEARLY_ALL


def doubting_source(
    job: Job, read: EntailmentResult, spans: Sequence[EvidenceSpan], may: Callable[[str, str, str], bool]
) -> tuple[EvidenceSpan, EvidenceSpan] | None:
    """The passage behind a supported claim and one of another source that says something else, though less surely.

    Opposite words speak for a disagreement by themselves; another value does where the network doubts the claim beside
    that source and the clause of that value speaks of nothing else. Where the claim restates one source, the doubt of a
    source that speaks of the same is enough. Of 995 right claims of scenarios with several sources (batches d, e, g
    and j) one or two meet such a source.
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
        clash = any(found.code == "antonym.clash" and found.confidence >= CLASH for found in findings)
        text = others[source].text
        valued = one.contradiction >= DOUBTED and any(
            found.confidence >= TELLING
            and says_of_it(job.claim, clause_around(text, found.evidence.start)) >= SAYS_NEARLY_ALL
            for found in findings
            if found.evidence is not None
        )
        decided = one.neutral <= UNRELATED or one.contradiction >= TELLING_ALONE
        doubted = (
            restated
            and decided
            and one.contradiction >= DISPUTED
            and _share(job.hypothesis, read, one) >= SAYS_A_THIRD
            and says_of_it(job.claim, one.premise.text) >= OF_IT
        )
        here = _spans_of(one, "contradicts", one.contradiction)[0]
        if (clash or valued or doubted) and may(behind.evidence_id, source, here.text):
            return behind, here
    return None


def _share(hypothesis: str, read: EntailmentResult, one: Reading) -> float:
    """The share of a claim that a passage says, but for the words that are wrong beside it."""
    wrong = [place for place, p in zip(read.words, one.wrong, strict=False) if p >= WRONG]
    return speaks_of_it(hypothesis, " ".join(window.text for window in one.premise.windows), wrong)


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
    sure = [f for f in exact.findings if f.confidence >= SURE and f.effect != "note"]
    stated = exact.signals.get("supports_record", 0.0)
    if stated >= SURE and not sure and not disputed:
        contradiction = min(judgement.contradiction, 1 - stated)
        return Judgement(min(max(judgement.support, stated), 1 - contradiction), contradiction)
    contradiction = max([judgement.contradiction, *(f.confidence for f in sure if f.effect == "contradicts")])
    dropped = max((f.confidence for f in sure if f.code == "condition.dropped"), default=0.0)
    return Judgement(min(judgement.support, 1 - contradiction, 1 - dropped), contradiction)


RESTATING = 0.99
"""The least support of a claim that is a whole sentence of the evidence."""


def of_restatement(judgement: Judgement) -> Judgement:
    """The judgement of a claim that is a whole sentence of the evidence, whatever a network makes of it.

    Another source that says otherwise is a conflict, and is looked for beside it.
    """
    support = max(judgement.support, RESTATING)
    return Judgement(support, min(judgement.contradiction, round(1 - support, 12)))


def of_silence(judgement: Judgement) -> Judgement:
    """The judgement of a claim that the evidence does not tell something.

    It is right unless a passage does tell: evidence that says nothing of the matter, which leaves any other claim
    without support, is what bears this one out.
    """
    return Judgement(1 - judgement.contradiction, judgement.contradiction)


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

    Where the exact tier is sure of the very words that differ, they come before the network's passage; where it
    doubts them, behind it, and where it doubts them so that no reader is told of them, not at all.
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
    hypothesis: str,
    read: EntailmentResult,
    threshold: float,
    may: Callable[[str, str, str], bool],
    differs: Callable[[str], bool],
) -> tuple[EvidenceSpan, EvidenceSpan] | None:
    """A passage that supports the claim and one of another source that contradicts it, if there are such.

    How sure the network has to be of the contradiction hangs on how much of the claim the passage says besides.

    Args:
        hypothesis: the claim as it was read.
        read: what the network found.
        threshold: the least probability of contradiction by a record.
        may: whether two sources can conflict at all, by the supporting id, the other id and its passage.
        differs: whether the exact tier finds another value in a source, by its id.
    """

    def disagrees(reading: Reading) -> bool:
        share = _share(hypothesis, read, reading)
        if is_record(" ".join(window.text for window in reading.premise.windows)):
            return share >= SAYS_HALF and reading.contradiction >= threshold
        return share >= SAYS_A_THIRD and reading.contradiction >= (
            AGAINST if share >= SAYS_HALF or differs(min(reading.premise.evidence_ids)) else SURELY_AGAINST
        )

    alone = [one for one in read.judgements if len(one.premise.evidence_ids) == 1]
    speaking = [one for one in alone if one.contradiction < AGAINST or disagrees(one)]
    conflict = replace(read, judgements=tuple(speaking)).conflict(AGAINST, may)
    if conflict is None:
        return None
    supporting = _spans_of(conflict.supporting, "supports", conflict.supporting.entailment)[0]
    contradicting = _spans_of(conflict.contradicting, "contradicts", conflict.contradicting.contradiction)[0]
    return supporting, contradicting
