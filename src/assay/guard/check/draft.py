"""The state of a check before the decision: the claims of an output, the jobs to judge, and what was found so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.errors import VerifierError
from assay.guard.check.citations import Citing, Prepare, begin_citations
from assay.guard.check.evidence_index import Limits, PreparedEvidence
from assay.guard.check.llm_judge import JudgeStage
from assay.guard.check.logic_audit import Reasoning
from assay.guard.check.probes import Probing
from assay.guard.check.verdicts import Job, Judged
from assay.guard.claims.disclosed_conflicts import without_disclosed_conflicts
from assay.guard.claims.documents import document_of, fields_of
from assay.guard.claims.planted_orders import reports_orders, without_orders
from assay.guard.claims.presuppositions import with_courtesies
from assay.guard.conflicts.source_conflicts import hidden_conflict
from assay.guard.conflicts.superseded_sources import OutOfUse, is_outdated, looks_back, superseded
from assay.guard.external_verification import Verification
from assay.guard.request import CheckRequest, day_of, stakes_of
from assay.policy import Policy
from assay.schema import ClaimKind, Evidence, ExtractedClaim, Issue, Stakes, coerce_text
from assay.text.claims import ClaimExtractor
from assay.text.sentences import is_code_name
from assay.verify.omissions import find_irrelevant, unmentioned_parts

if TYPE_CHECKING:  # what checks runs is loaded with the first run, not with the first answer
    from assay.guard.runs.context import RunContext
    from assay.models.chat import Meter


@dataclass(frozen=True, slots=True)
class Draft:
    """A check in progress: claims, jobs, and the findings of the verifiers so far."""

    request: CheckRequest
    text: str
    question: str | None
    stakes: Stakes
    read: int
    """The number of characters of the output from which claims were extracted."""
    evidence: PreparedEvidence
    claims: tuple[ExtractedClaim, ...]
    judged_claims: int
    """The number of checkable claims within the limit; these are the first ones."""
    citing: Citing
    structural: tuple[Issue, ...]
    jobs: tuple[Job, ...]
    """One for each judged claim, then those of the citations."""
    stages: Mapping[str, float]
    """The duration of each stage, in seconds."""
    run: RunContext | None = None
    """The agent run whose final answer the output is, if there is one."""
    judge_stage: JudgeStage | None = None
    """The results of a judge, and the omissions of the output; None if neither was looked for."""
    irrelevant: Issue | None = None
    """The issue that no passage mentions what was asked, where that is the case."""
    untold: tuple[str, ...] = ()
    """The parts of the question that neither the evidence nor the output mentions."""
    reasoning: Reasoning = field(default_factory=Reasoning)
    """The audit of the output's own logic."""
    out_of_use: Mapping[str, OutOfUse] = field(default_factory=dict)
    """The sources that are out of use, by id, with the reason and the replacement where it is known."""
    probing: Probing = field(default_factory=Probing)
    """The results of asking the model again."""
    verification: Verification = field(default_factory=Verification)
    """The results of looking claims up in sources of knowledge."""
    meter: Meter | None = None
    """The account of this check's requests to a chat model; None if no model is needed or available."""
    consulted: Mapping[str, Any] | None = None
    """All questions to sources of knowledge and their answers, as a JSON value; None if none was asked."""

    @property
    def evidence_items(self) -> tuple[Evidence, ...]:
        """The evidence that the claims are checked against."""
        return tuple(self.evidence.evidence)

    @property
    def checkable(self) -> list[ExtractedClaim]:
        """The claims that state something; the first `judged_claims` of them are judged."""
        return [claim for claim in self.claims if claim.checkable]

    def timed(self, **seconds: float) -> Draft:
        """The draft with the durations of further stages, in seconds."""
        return replace(self, stages={**self.stages, **seconds})

    def results(self, judged: Sequence[Judged], policy: Policy) -> Sequence[Judged]:
        """The judgements of the claims: those of the tiers, corrected by the run, the judge, sources and probes."""
        if self.verification.judged is not None:
            return self.probing.settled(self.verification.judged)
        if self.judge_stage is not None and self.judge_stage.judged is not None:
            return self.probing.settled(self.judge_stage.judged)
        of_claims = without_disclosed_conflicts(self.checkable, judged[: self.judged_claims], self.text)
        if self.run is None:
            return self.probing.settled(of_claims)
        pairs = list(zip(self.checkable, of_claims, strict=False))
        return self.probing.settled(self.run.settled(pairs, self.evidence, policy.emit_threshold))

    def of_claims(self, judged: Sequence[Judged], policy: Policy) -> list[tuple[ExtractedClaim, Judged]]:
        """Each judged claim with its judgement."""
        return list(zip(self.checkable, self.results(judged, policy), strict=False))

    def done(self, claims: Sequence[tuple[ExtractedClaim, Judged]]) -> frozenset[int]:
        """The places of claims that state what a tool call of the run did, which is not a matter of evidence."""
        return frozenset(at for at, (claim, _) in enumerate(claims) if self.run and self.run.states_done(claim))


def draft_of(
    request: CheckRequest,
    text: str,
    evidence: PreparedEvidence,
    extractor: ClaimExtractor,
    limits: Limits,
    policy: Policy,
    prepare: Prepare,
    run: RunContext | None = None,
) -> Draft:
    """Extracts claims and citations and creates the jobs to judge.

    Raises:
        InputError: the question, the stakes, the schema or a citation object cannot be read.
        VerifierError: the extractor returned a claim outside of the text.
    """
    question = coerce_text(request.question, "question") if request.question is not None else None
    read = min(len(text), limits.output_characters)
    stakes = stakes_of(request.stakes)
    form = document_of(request, text, read, evidence.given_order)
    claims = form.claims(text, extractor, question) if form else tuple(extractor.extract(text[:read], question))
    _require_within(claims, read, extractor.name)
    if run is not None:
        run, claims = run.with_actions(claims, text[:read])
    else:
        claims = with_courtesies(claims, evidence, question)
    checkable = [claim for claim in claims if claim.checkable][: limits.claims]
    cited = replace(request, citations=(*(request.citations or ()), *form.cited)) if form and form.cited else request
    citing = begin_citations(cited, text[:read], evidence, claims, policy, prepare, limits)
    structural = form.issues if form else _structural(text, request)
    out_of_use = superseded(evidence.evidence, day_of(request))
    fields = fields_of(text[:read], form, checkable, evidence)
    asked = question if run is None else run.user_questions(question)
    sources = _texts(evidence.evidence if run is None else run.without_user_words(evidence.evidence))
    body = _bodies(evidence, out_of_use, run, prepare)
    jobs = [
        Job(
            claim.text,
            body(claim),
            question if run is None else run.question_answered(claim, question),
            claim.whole,
            abstains=claim.kind is ClaimKind.ABSTENTION,
            is_name=claim.span != claim.sentence and is_code_name(claim.text),
            field=fields.get(at),
            before=claim.before,
            value=_value_of(claim, text),
            outdated=is_outdated(claim.text, evidence.evidence, out_of_use),
        )
        for at, claim in enumerate(checkable)
    ]
    return Draft(
        request=request,
        text=text,
        question=question,
        stakes=stakes,
        read=read,
        evidence=evidence,
        claims=claims,
        judged_claims=len(checkable),
        citing=citing,
        structural=structural,
        jobs=(*jobs, *citing.jobs),
        stages={},
        run=run,
        out_of_use=out_of_use,
        untold=unmentioned_parts(asked, sources, text[:read]),
        irrelevant=_irrelevant(policy, asked, sources, text[:read]) if checkable else None,
    )


def _value_of(claim: ExtractedClaim, text: str) -> str | None:
    """The value of a document's field or of a table's cell; none for a claim that is neither."""
    if claim.path is None and claim.cell is None:
        return None
    return text[claim.span.start : claim.span.end]


def _irrelevant(policy: Policy, question: str | None, sources: Sequence[str], text: str) -> Issue | None:
    if not policy.require_relevant_evidence or policy.abstention is not None:  # abstention has its own trigger for this
        return None
    return find_irrelevant(question, sources, text)


def _texts(evidence: Iterable[Evidence]) -> list[str]:
    return [f"{item.title or ''}\n{item.text}" for item in evidence]


def _of_run(run: RunContext, claim: ExtractedClaim, pieces: Sequence[Evidence]) -> list[Evidence]:
    """The evidence that may support a claim in a run, with the tool calls where the claim states what they did."""
    admissible = run.admissible(claim, pieces)
    if run.states_done(claim):
        return [*admissible, *run.actions.calls]
    if run.reports_failure(claim):
        return [*admissible, *run.actions.attempts]
    return admissible


def _bodies(
    evidence: PreparedEvidence, out_of_use: Mapping[str, OutOfUse], run: RunContext | None, prepare: Prepare
) -> Callable[[ExtractedClaim], PreparedEvidence]:
    """The evidence that each claim is checked against: all of it except sources out of use, orders to a model and what
    cannot support the claim, plus the tool calls where it states what they did."""
    unused_items = [item for item in evidence.evidence if item.id in out_of_use]
    prepared = {tuple((item.id, item.text) for item in evidence.evidence): evidence}
    orderless = without_orders(evidence.evidence)

    def body(claim: ExtractedClaim) -> PreparedEvidence:
        pieces = list(evidence.evidence) if reports_orders(claim.text) else list(orderless)
        if out_of_use and not looks_back(claim.text, unused_items):
            pieces = [
                item for item in pieces if item.id not in out_of_use or not out_of_use[item.id].applies_to(claim.text)
            ]
        if run is not None:
            pieces = _of_run(run, claim, pieces)
        key = tuple((item.id, item.text) for item in pieces)
        if key not in prepared:
            prepared[key] = prepare(pieces)
        return prepared[key]

    return body


def _require_within(claims: Sequence[ExtractedClaim], read: int, name: str) -> None:
    """Refuses claims outside of the text, which would make characters of the output count as checked."""
    for claim in claims:
        inside = claim.sentence.start <= claim.span.start <= claim.span.end <= claim.sentence.end <= read
        if not inside:
            raise VerifierError(
                f"The claim extractor {name} gave a claim at characters {claim.span.start} to {claim.span.end} of the "
                f"sentence {claim.sentence.start} to {claim.sentence.end}; expected places within the {read} "
                "characters that it was given, the claim inside its sentence."
            )


def _structural(text: str, request: CheckRequest) -> tuple[Issue, ...]:
    """The structural issues of an output that should be a document and cannot be read as one."""
    if request.schema is None and request.structure is None:
        return ()
    from assay.verify.documents import check_structure  # jsonschema-rs is loaded on first use only

    return tuple(check_structure(text, True if request.schema is None else request.schema))


def with_known_conflicts(draft: Draft, judged: Sequence[Judged]) -> list[Judged]:
    """The judgements of the jobs, with the conflicts between passages that screening found and that claims hide."""
    known = draft.request.screening.conflicts if draft.request.screening is not None else ()
    result = list(judged)
    if not known:
        return result
    for place, (job, one) in enumerate(zip(draft.jobs[: draft.judged_claims], judged, strict=False)):
        conflict = hidden_conflict(job.claim, one, known)
        if conflict is not None:
            result[place] = replace(one, conflict=conflict)
    return result
