"""From a request to a draft with the jobs to be judged, and from what was judged to the report."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from assay.errors import VerifierError
from assay.guard.check.citations import (
    Attachments,
    Citing,
    Prepare,
    attach,
    begin_citations,
    citation_issue,
    end_citations,
)
from assay.guard.check.claim_reports import claim_report, with_doubts
from assay.guard.check.coverage import coverage_of
from assay.guard.check.evidence_index import Limits, PreparedEvidence
from assay.guard.check.llm_judge import JudgeStage
from assay.guard.check.logic_audit import Reasoning, reasoning_of
from assay.guard.check.metrics import metrics_of
from assay.guard.check.probes import Probing
from assay.guard.check.root_causes import with_causes
from assay.guard.check.unanswered_parts import telling
from assay.guard.check.verdicts import Job, Judged, unjudged
from assay.guard.claims.documents import document_of, fields_of
from assay.guard.claims.presuppositions import with_courtesies
from assay.guard.conflicts.source_conflicts import hidden_conflict
from assay.guard.conflicts.superseded_sources import GivenWay, gave_way, is_outdated, looks_back, superseded
from assay.guard.disclosing import without_disclosed
from assay.guard.request import CheckRequest, day_of, stakes_of, structure_of
from assay.guard.verifying import Verification
from assay.models import PairScorer
from assay.policy import ClaimSignal, GateInput, Policy, decide, escalation_of, is_logic_fault, labels_for
from assay.schema import (
    Category,
    CitationReport,
    ClaimKind,
    ClaimReport,
    Conflict,
    Coverage,
    Evidence,
    ExtractedClaim,
    HallucinationReport,
    Identity,
    Issue,
    Retrieval,
    Stakes,
    Timing,
    Verdict,
    coerce_text,
)
from assay.schema.report_parts import digests_of
from assay.text.claims import ClaimExtractor
from assay.text.sentences import blocks, is_code_name
from assay.verify.documents import hidden_issues
from assay.verify.omissions import find_irrelevant, untold_parts

if TYPE_CHECKING:  # what checks runs is loaded with the first run, not with the first answer
    from assay.guard.runs.context import RunContext
    from assay.models.chat import Meter


@dataclass(frozen=True, slots=True)
class Draft:
    """A check before the network has spoken."""

    request: CheckRequest
    text: str
    question: str | None
    stakes: Stakes
    read: int
    """Characters of the output from which claims were extracted."""
    evidence: PreparedEvidence
    claims: tuple[ExtractedClaim, ...]
    judged_claims: int
    """Checkable claims that are within the limit: the first so many."""
    citing: Citing
    structural: tuple[Issue, ...]
    jobs: tuple[Job, ...]
    """One for each judged claim, then those of the citations."""
    stages: Mapping[str, float]
    """Seconds by stage."""
    run: RunContext | None = None
    """The agent run that the output ends, where it ends one."""
    hearing: JudgeStage | None = None
    """What a judge said, and what was left out of the output; none where neither was looked for."""
    irrelevant: Issue | None = None
    """That no passage speaks of what was asked, where that is so."""
    untold: tuple[str, ...] = ()
    """What the question asks about beside other things and neither the evidence nor the output has a word of."""
    reasoning: Reasoning = field(default_factory=Reasoning)
    """What was found of the output by itself."""
    given_way: Mapping[str, GivenWay] = field(default_factory=dict)
    """The sources that gave way to others, and to which where that is known."""
    probing: Probing = field(default_factory=Probing)
    """What the model said when it was asked again."""
    verification: Verification = field(default_factory=Verification)
    """What sources of knowledge outside of the evidence said."""
    meter: Meter | None = None
    """The account of what this check asks a chat model; none where there is no model, or nothing to ask it for."""

    @property
    def evidence_items(self) -> tuple[Evidence, ...]:
        """What the claims are held against."""
        return tuple(self.evidence.evidence)

    def timed(self, stages: Mapping[str, float]) -> Draft:
        """The draft with the seconds that its stages took."""
        return replace(self, stages=stages)


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
    """Extract claims and citations and list what is to be judged.

    Raises:
        InputError: the question, the stakes, the schema or a citation object cannot be read.
        VerifierError: the extractor gave a claim that stands outside of the text.
    """
    question = coerce_text(request.question, "question") if request.question is not None else None
    read = min(len(text), limits.output_characters)
    stakes = stakes_of(request.stakes)
    form = document_of(request, text, read, evidence.given_order)
    claims = form.claims(text, extractor, question) if form else tuple(extractor.extract(text[:read], question))
    _require_within(claims, read, extractor.name)
    if run is not None:
        run, claims = run.placed(claims, text[:read])
    else:
        claims = with_courtesies(claims, evidence, question)
    checkable = [claim for claim in claims if claim.checkable][: limits.claims]
    cited = replace(request, citations=(*(request.citations or ()), *form.cited)) if form and form.cited else request
    citing = begin_citations(cited, text[:read], evidence, claims, policy, prepare, limits)
    structural = form.issues if form else _structural(text, request)
    given_way = superseded(evidence.evidence, day_of(request))
    fields = fields_of(text[:read], form, checkable, evidence)
    asked = question if run is None else run.asked(question)
    sources = _texts(evidence.evidence if run is None else run.retrieved(evidence.evidence))
    body = _bodies(evidence, given_way, run, prepare)
    jobs = [
        Job(
            claim.text,
            body(claim),
            question,
            claim.whole,
            denies=claim.kind is ClaimKind.ABSTENTION,
            named=claim.span != claim.sentence and is_code_name(claim.text),
            field=fields.get(at),
            before=claim.before,
            value=_value_of(claim, text),
            outdated=is_outdated(claim.text, evidence.evidence, given_way),
        )
        for at, claim in enumerate(checkable)
    ]
    return Draft(
        request=request, text=text, question=question, stakes=stakes, read=read, evidence=evidence,
        claims=claims, judged_claims=len(checkable), citing=citing, structural=structural,
        jobs=(*jobs, *citing.jobs), stages={}, run=run, given_way=given_way,
        untold=untold_parts(asked, sources, text[:read]),
        irrelevant=_irrelevant(policy, asked, sources, text[:read]) if checkable else None,
    )  # fmt: skip


def _value_of(claim: ExtractedClaim, text: str) -> str | None:
    """The value of a field of a document or of a cell of a table; none of a claim that is neither."""
    if claim.path is None and claim.cell is None:
        return None
    return text[claim.span.start : claim.span.end]


def _irrelevant(policy: Policy, question: str | None, sources: Sequence[str], text: str) -> Issue | None:
    if not policy.require_relevant_evidence or policy.abstention is not None:  # which has a trigger of its own
        return None
    return find_irrelevant(question, sources, text)


def _texts(evidence: Iterable[Evidence]) -> list[str]:
    return [f"{item.title or ''}\n{item.text}" for item in evidence]


def _bodies(
    evidence: PreparedEvidence, given_way: Mapping[str, GivenWay], run: RunContext | None, prepare: Prepare
) -> Callable[[ExtractedClaim], PreparedEvidence]:
    """What each claim is held against: all evidence but what gave way or cannot bear it out, and what a call did."""
    out_of_use = [item for item in evidence.evidence if item.id in given_way]
    made = {tuple((item.id, item.text) for item in evidence.evidence): evidence}

    def body(claim: ExtractedClaim) -> PreparedEvidence:
        pieces = list(evidence.evidence)
        if given_way and not looks_back(claim.text, out_of_use):
            pieces = [
                item for item in pieces if item.id not in given_way or not given_way[item.id].applies_to(claim.text)
            ]
        if run is not None:
            pieces = run.hearable(claim, pieces)
            if run.states_done(claim):
                pieces += run.actions.calls
            elif run.reports_failure(claim):
                pieces += run.actions.attempts
        key = tuple((item.id, item.text) for item in pieces)
        if key not in made:
            made[key] = prepare(pieces)
        return made[key]

    return body


def _require_within(claims: Sequence[ExtractedClaim], read: int, name: str) -> None:
    """A claim that stands nowhere would be counted as if characters of the output had been checked."""
    for claim in claims:
        inside = claim.sentence.start <= claim.span.start <= claim.span.end <= claim.sentence.end <= read
        if not inside:
            raise VerifierError(
                f"The claim extractor {name} gave a claim at characters {claim.span.start} to {claim.span.end} of the "
                f"sentence {claim.sentence.start} to {claim.sentence.end}; expected places within the {read} "
                "characters that it was given, the claim inside its sentence."
            )


def _structural(text: str, request: CheckRequest) -> tuple[Issue, ...]:
    """What is wrong with an output that is to be a document and cannot be read as one."""
    if request.schema is None and request.structure is None:
        return ()
    from assay.verify.documents import check_structure  # jsonschema-rs: kept off the import of the package

    return tuple(check_structure(text, True if request.schema is None else request.schema))


def hidden_from(draft: Draft, judged: Sequence[Judged]) -> list[Judged]:
    """What was found of the jobs, with the conflicts between passages that were known before and that claims hide."""
    known = draft.request.screening.conflicts if draft.request.screening is not None else ()
    found = list(judged)
    if not known:
        return found
    for place, (job, one) in enumerate(zip(draft.jobs[: draft.judged_claims], judged, strict=False)):
        conflict = hidden_conflict(job.claim, one, known)
        if conflict is not None:
            found[place] = replace(one, conflict=conflict)
    return found


def with_logic_audit(draft: Draft, judged: Sequence[Judged], policy: Policy, scorer: PairScorer) -> Draft:
    """The draft with what was found of the output by itself, beside all evidence."""
    places = (place for place, claim in enumerate(draft.claims) if claim.checkable)
    found = dict(zip(places, judged[: draft.judged_claims], strict=False))
    texts = [item.text for item in draft.evidence_items]
    reasoning = reasoning_of(draft.text[: draft.read], draft.claims, found, policy, scorer, texts)
    return replace(draft, reasoning=reasoning)


def finish(
    draft: Draft, judged: Sequence[Judged], policy: Policy, verifier: Identity, spent: float
) -> HallucinationReport:
    """The report of a draft, given what the tiers found of its jobs in order."""
    of_claims, of_citations = claim_results(draft, judged, policy), judged[draft.judged_claims :]
    citations = end_citations(draft.citing, of_citations, draft.claims, of_claims, policy)
    attachments = attach(draft.claims, citations)
    claims = _claims(draft, of_claims, attachments, policy)
    statements = list(zip(draft.claims, claims, strict=True))
    coverage = coverage_of(draft.text, draft.read, statements, draft.evidence.characters, draft.evidence.unread)
    metrics = metrics_of(
        claims, citations, coverage, policy, draft.stakes, unread=len(draft.text[draft.read :].strip()),
        self_consistency=draft.probing.agreement, accurate=draft.verification.accuracy,
    )  # fmt: skip
    if draft.run is not None:
        coverage = draft.run.told(coverage)
    if draft.given_way:
        coverage = coverage.model_copy(update={"reasons": (*coverage.reasons, *gave_way(draft.given_way))})
    if draft.untold:
        notes = (f"The question asks about “{part}”; no passage has a word of it." for part in draft.untold)
        coverage = coverage.model_copy(update={"reasons": (*coverage.reasons, *notes)})
    if draft.reasoning.notes:
        coverage = coverage.model_copy(update={"reasons": (*coverage.reasons, *draft.reasoning.notes)})
    conflicts = _conflicts(draft, of_claims)
    gate = _gate_input(draft, claims, citations, coverage, len(conflicts), metrics)
    decision, overall = decide(policy, gate)
    document = draft.request.schema is not None or draft.request.structure is not None
    decision = telling(decision, draft.untold, draft.text, document=document)
    claims = with_doubts(claims, decision, policy)
    stages = {name: seconds * 1000 for name, seconds in {"judging": spent, **draft.stages}.items()}
    report = HallucinationReport(
        run_id=draft.request.run_id or _run_id(draft, policy, verifier),
        output=draft.text,
        question=draft.question,
        categories=_categories(draft, claims, citations),
        stakes=draft.stakes,
        claims=claims,
        issues=(
            *([draft.irrelevant] if draft.irrelevant else ()),
            *draft.structural,
            *_issues(attachments.loose),
            *draft.reasoning.loose,
            *_omitted(draft, claims),
            *hidden_issues(draft.text),
        ),
        tool_call_validations=draft.run.findings.validations if draft.run else (),
        consistency_probes=draft.probing.probes,
        omissions=draft.hearing.omissions if draft.hearing else (),
        judge=draft.hearing.report if draft.hearing else None,
        knowledge=draft.verification.report,
        citations=citations,
        retrieval=_retrieval(draft, judged, conflicts),
        coverage=coverage,
        untold=draft.untold,
        metrics=metrics,
        overall_score=overall,
        action=decision.action,
        decision=decision,
        labels=labels_for(decision),
        escalation=escalation_of(policy, decision, draft.stakes, overall, claims),
        policy=Identity(name=policy.name, digest=policy.digest, overlays=policy.overlays),
        verifier=verifier,
        spending=draft.meter.spending if draft.meter is not None else (),
        screening=draft.request.screening,
        timing=Timing(total_ms=sum(stages.values()), stages_ms=stages),
    )
    report = report.model_copy(update={"digests": digests_of(report, _given(draft))})
    report = with_causes(report, _in_order(draft.evidence), day_of(draft.request))
    if policy.abstention is None:
        return report
    from assay.guard.check.abstention import with_abstention

    return with_abstention(
        report, policy.abstention, draft.evidence_items, today=day_of(draft.request), entropy=draft.request.entropy
    )


def _categories(
    draft: Draft, claims: Sequence[ClaimReport], citations: Sequence[CitationReport]
) -> tuple[Category, ...]:
    """The categories of all that was found, of a claim or of none, in the order of the enumeration."""
    found = {claim.category for claim in claims}
    if draft.structural:
        found.add(Category.STRUCTURAL)
    if draft.reasoning.loose_faults:
        found.add(Category.LOGICAL)
    if draft.hearing is not None and draft.hearing.omissions:
        found.add(Category.COMPLETENESS)
    if any(citation.status == "fabricated" for citation in citations):
        found.add(Category.ATTRIBUTION)
    return tuple(category for category in Category if category in found)


def _is_talk(draft: Draft) -> bool:
    """Whether an agent's answer is sentences that only keep a conversation going: thanks, wishes, questions back.

    Each of them has been recognised as such; a heading, a table or code may say more than its words do.
    """
    kinds = {claim.kind for claim in draft.claims}
    plain = all(block.kind in _SENTENCES for block in blocks(draft.text[: draft.read]))
    return bool(kinds) and kinds <= {ClaimKind.META, ClaimKind.ABSTENTION} and plain


_SENTENCES: Final = frozenset({"prose", "list_item"})
"""Blocks of a text that are sentences."""


def _in_order(evidence: PreparedEvidence) -> list[Evidence]:
    """The evidence as it was given: where a passage stood says whether it may have been overlooked."""
    by_id = {item.id: item for item in evidence.evidence}
    return [by_id[name] for name in evidence.given_order]


def _given(draft: Draft) -> list[Evidence]:
    """All evidence that the check was given, what the retrieval gate dropped included: a digest binds all of it."""
    dropped = {one.id for one in draft.request.screening.dropped} if draft.request.screening is not None else set()
    return [*_in_order(draft.evidence), *(item for item in draft.request.given or () if item.id in dropped)]


def claim_results(draft: Draft, judged: Sequence[Judged], policy: Policy) -> Sequence[Judged]:
    """What was found of the judged claims, with what a run's trace, a judge, outside sources and probes say of them."""
    if draft.verification.judged is not None:
        return draft.probing.settled(draft.verification.judged)
    if draft.hearing is not None and draft.hearing.judged is not None:
        return draft.probing.settled(draft.hearing.judged)
    checkable = [claim for claim in draft.claims if claim.checkable]
    of_claims = without_disclosed(checkable, judged[: draft.judged_claims], draft.text)
    if draft.run is None:
        return draft.probing.settled(of_claims)
    of_run = draft.run.settled(list(zip(checkable, of_claims, strict=False)), draft.evidence, policy.emit_threshold)
    return draft.probing.settled(of_run)


def _claims(
    draft: Draft, judged: Sequence[Judged], attachments: Attachments, policy: Policy
) -> tuple[ClaimReport, ...]:
    """The report of each extracted claim; those beyond the limit are unchecked."""
    broken = {issue.path for issue in draft.structural if issue.path is not None}
    left = iter(judged)
    uncited = _uncited(draft, policy)
    beyond = unjudged(f"the output has more than the {draft.judged_claims:,} claims that one check judges.")
    found = [(claim, next(left, beyond) if claim.checkable else None) for claim in draft.claims]
    return tuple(
        claim_report(
            claim,
            of_claim,
            draft.text,
            policy,
            draft.stakes,
            (
                *_issues(attachments.at_claim.get(place, ())),
                *draft.reasoning.at_claim.get(place, ()),
                *(draft.run.issues_at(claim, of_claim) if draft.run else ()),
                *([_without_citation(claim)] if (claim.span.start, claim.text) in uncited else ()),
            ),
            structural=claim.path in broken,
        )
        for place, (claim, of_claim) in enumerate(found)
    )


def _uncited(draft: Draft, policy: Policy) -> set[tuple[int, str]]:
    """Start and text of the claims that lack a citation which the policy requires."""
    if policy.citations not in {"require", "strict"}:
        return set()
    lacking = draft.citing.uncited([claim for claim in draft.claims if claim.checkable])
    return {(claim.span.start, claim.text) for claim in lacking}


def _without_citation(claim: ExtractedClaim) -> Issue:
    message = "No source is cited for this, and the policy requires one. Cite the passage that it rests on."
    return Issue(code="citation.missing", message=message, span=claim.span, path=claim.path)


def _gate_input(
    draft: Draft,
    claims: Sequence[ClaimReport],
    citations: Sequence[CitationReport],
    coverage: Coverage,
    conflicts: int,
    metrics: Mapping[str, object],
) -> GateInput:
    statuses = [citation.status for citation in citations]
    checkable = [claim for claim in draft.claims if claim.checkable]
    run = draft.run
    spoken = [claim for claim in draft.claims if claim.kind is not ClaimKind.META]
    return GateInput(
        claims=tuple(_signal(claim) for claim in claims),
        citations_fabricated=statuses.count("fabricated"),
        citations_failed=sum(statuses.count(s) for s in ("misquoted", "misattributed", "non_entailing")),
        claims_uncited=len(draft.citing.uncited(checkable)),
        citations_unchecked=statuses.count("unchecked"),
        conflicts=conflicts,
        unchecked_characters=coverage.unchecked,
        evidence_unread_characters=draft.evidence.unread,
        hidden=len(hidden_issues(draft.text)),
        structural_issues=len(draft.structural),
        rejected_tool_calls=run.findings.rejected if run else 0,
        diverged_probes=draft.probing.diverged,
        declared_claim_free=draft.request.claim_free,
        task=draft.request.task,
        stakes=draft.stakes,
        revisions_failed=draft.request.revisions_failed,
        faithfulness=_value(metrics, "faithfulness"),
        factscore=_value(metrics, "factscore"),
        has_evidence=draft.evidence.readable or bool(draft.verification.verified),
        irrelevant_evidence=draft.irrelevant is not None,
        omissions=draft.hearing.left_out if draft.hearing else 0,
        unjudged=sum(map(_unjudged, claims)),
        abstention_only=(bool(spoken) and all(claim.kind is ClaimKind.ABSTENTION for claim in spoken))
        or (run is not None and _is_talk(draft)),
        empty=not draft.text.strip(),
        run_faults=(*(run.faults if run else ()), *draft.probing.faults),
        logic_faults=draft.reasoning.loose_faults,
    )


def _omitted(draft: Draft, claims: Sequence[ClaimReport]) -> tuple[Issue, ...]:
    if draft.hearing is None:
        return ()
    return draft.hearing.issues([issue for claim in claims for issue in claim.issues])


def _unjudged(claim: ClaimReport) -> bool:
    told = claim.judgement
    return told is not None and told.outcome == "unchecked" and claim.verdict is Verdict.SUPPORTED


def _value(metrics: Mapping[str, object], name: str) -> float | None:
    return getattr(metrics[name], "value", None)


def _signal(claim: ClaimReport) -> ClaimSignal:
    return ClaimSignal(
        score=claim.score,
        verdict=claim.verdict,
        critical=claim.critical,
        severity=claim.severity.score if claim.severity else None,
        contradiction=claim.contradiction,
        fabricated_citation=any(issue.code == "citation.fabricated" for issue in claim.issues),
        logic_fault=any(map(is_logic_fault, claim.issues)),
        part_of=claim.part_of,
    )


def _conflicts(draft: Draft, judged: Sequence[Judged]) -> tuple[Conflict, ...]:
    checkable = [claim for claim in draft.claims if claim.checkable][: draft.judged_claims]
    return tuple(
        Conflict(claim=claim.text, supporting=found.conflict[0], contradicting=found.conflict[1])
        for claim, found in zip(checkable, judged, strict=True)
        if found.conflict is not None
    )


def _issues(citations: Sequence[CitationReport]) -> tuple[Issue, ...]:
    """What the failing ones among citations are reported as."""
    return tuple(issue for citation in citations if (issue := citation_issue(citation)) is not None)


def _retrieval(draft: Draft, judged: Sequence[Judged], conflicts: tuple[Conflict, ...]) -> Retrieval:
    windows = len(draft.evidence.windows.windows)
    return Retrieval(
        evidence=len(draft.evidence.evidence), windows=windows, pairs=sum(one.entailment.judged for one in judged),
        pairs_possible=windows * len(draft.jobs), conflicts=conflicts,
    )  # fmt: skip


def _run_id(draft: Draft, policy: Policy, verifier: Identity) -> str:
    """A name derived from everything that the report depends on."""
    state = hashlib.sha256()
    request = draft.request
    parts = (
        draft.text, draft.question, draft.stakes, request.task, request.claim_free, request.revisions_failed,
        repr(request.schema), repr(draft.citing.objects), policy.digest, verifier.digest, draft.read,
        draft.judged_claims, draft.evidence.characters, [item.evidence_id for item in draft.citing.resolved],
    )  # fmt: skip
    structure = [] if request.structure is None else [repr(structure_of(request))]
    extra = [*structure, *([] if request.as_of is None else [f"as of {day_of(request)}"])]
    extra += [] if request.entropy is None else [f"entropy {float(request.entropy)!r}"]
    for part in (*parts, *extra, *(item.model_dump_json() for item in draft.evidence.evidence)):
        piece = repr(part).encode()
        state.update(len(piece).to_bytes(8, "big") + piece)
    return f"run_{state.hexdigest()[:32]}"
