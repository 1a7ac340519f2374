"""Assembling the report: the findings about a draft are put in order, the policy decides, and the report is built."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.guard.check.citations import Attachments, attach, citation_issue, end_citations
from assay.guard.check.draft import Draft
from assay.guard.check.evidence_index import PreparedEvidence
from assay.guard.check.report.claim_reports import claim_report, with_doubts
from assay.guard.check.report.coverage import coverage_of
from assay.guard.check.report.gate_input import gate_input
from assay.guard.check.report.metrics import metrics_of
from assay.guard.check.report.root_causes import with_causes
from assay.guard.check.report.unanswered_parts import with_silence_notice
from assay.guard.check.verdicts import Judged, unjudged
from assay.guard.conflicts.superseded_sources import out_of_use_notes
from assay.guard.request import CheckRequest, day_of, structure_of
from assay.policy import Policy, decide, escalation_of, labels_for
from assay.schema import (
    Category,
    CitationReport,
    ClaimReport,
    Conflict,
    Coverage,
    Evidence,
    ExtractedClaim,
    HallucinationReport,
    Identity,
    Issue,
    Metric,
    Retrieval,
    Timing,
)
from assay.schema.report_parts import digests_of
from assay.verify.documents import hidden_issues


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings about an output, in the parts that the gate and the report read."""

    claims: tuple[ClaimReport, ...]
    citations: tuple[CitationReport, ...]
    attachments: Attachments
    """Which citations belong to which claim."""
    coverage: Coverage
    metrics: Mapping[str, Metric]
    conflicts: tuple[Conflict, ...]


def report_of(
    draft: Draft, judged: Sequence[Judged], policy: Policy, verifier: Identity, spent: float
) -> HallucinationReport:
    """The report on a draft, with the policy's decision.

    Args:
        draft: the draft of the check, with the findings of every verifier.
        judged: the judgements of its jobs, in order.
        policy: the policy that decides.
        verifier: identifies what a score depends on.
        spent: the seconds that the tiers took.
    """
    found = _findings(draft, judged, policy)
    decision, overall = decide(
        policy, gate_input(draft, found.claims, found.citations, found.coverage, len(found.conflicts), found.metrics)
    )
    document = draft.request.schema is not None or draft.request.structure is not None
    decision = with_silence_notice(decision, draft.untold, draft.text, document=document)
    claims = with_doubts(found.claims, decision, policy)
    stages = {name: seconds * 1000 for name, seconds in {"judging": spent, **draft.stages}.items()}
    report = HallucinationReport(
        run_id=draft.request.run_id or _run_id(draft, policy, verifier),
        output=draft.text,
        question=draft.question,
        categories=_categories(draft, claims, found.citations),
        stakes=draft.stakes,
        claims=claims,
        issues=_loose_issues(draft, claims, found.attachments),
        tool_call_validations=draft.run.findings.validations if draft.run else (),
        consistency_probes=draft.probing.probes,
        omissions=draft.judge_stage.omissions if draft.judge_stage else (),
        judge=draft.judge_stage.report if draft.judge_stage else None,
        knowledge=draft.verification.report,
        citations=found.citations,
        retrieval=_retrieval(draft, judged, found.conflicts),
        coverage=found.coverage,
        untold=draft.untold,
        metrics=found.metrics,
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
    return _with_abstention(report, draft, policy)


def _findings(draft: Draft, judged: Sequence[Judged], policy: Policy) -> Findings:
    of_claims, of_citations = draft.results(judged, policy), judged[draft.judged_claims :]
    citations = end_citations(draft.citing, of_citations, draft.claims, of_claims, policy)
    attachments = attach(draft.claims, citations)
    claims = _claims(draft, of_claims, attachments, policy)
    statements = list(zip(draft.claims, claims, strict=True))
    coverage = coverage_of(draft.text, draft.read, statements, draft.evidence.characters, draft.evidence.unread)
    metrics = metrics_of(
        claims,
        citations,
        coverage,
        policy,
        draft.stakes,
        unread=len(draft.text[draft.read :].strip()),
        self_consistency=draft.probing.agreement,
        accurate=draft.verification.accuracy,
    )
    return Findings(claims, citations, attachments, _noted(coverage, draft), metrics, _conflicts(draft, of_claims))


def _noted(coverage: Coverage, draft: Draft) -> Coverage:
    """The coverage with notes on what was read, and on parts of the question that no passage mentions."""
    if draft.run is not None:
        coverage = draft.run.with_notes(coverage)
    untold = (f"The question asks about “{part}”; no passage has a word of it." for part in draft.untold)
    outdated = out_of_use_notes(draft.out_of_use) if draft.out_of_use else ()
    notes = (*outdated, *untold, *draft.reasoning.notes)
    return coverage.model_copy(update={"reasons": (*coverage.reasons, *notes)}) if notes else coverage


def _with_abstention(report: HallucinationReport, draft: Draft, policy: Policy) -> HallucinationReport:
    """The report with the decision whether to answer at all, if the policy has settings for it."""
    if policy.abstention is None:
        return report
    from assay.guard.check.report.abstention import with_abstention

    return with_abstention(
        report, policy.abstention, draft.evidence_items, today=day_of(draft.request), entropy=draft.request.entropy
    )


def _loose_issues(draft: Draft, claims: Sequence[ClaimReport], attachments: Attachments) -> tuple[Issue, ...]:
    """The issues that belong to no claim."""
    return (
        *([draft.irrelevant] if draft.irrelevant else ()),
        *draft.structural,
        *_citation_issues(attachments.loose),
        *draft.reasoning.loose,
        *_omitted(draft, claims),
        *hidden_issues(draft.text),
    )


def _omitted(draft: Draft, claims: Sequence[ClaimReport]) -> tuple[Issue, ...]:
    if draft.judge_stage is None:
        return ()
    return draft.judge_stage.issues([issue for claim in claims for issue in claim.issues])


def _categories(
    draft: Draft, claims: Sequence[ClaimReport], citations: Sequence[CitationReport]
) -> tuple[Category, ...]:
    """The categories of all findings, in the order of the enumeration."""
    found = {claim.category for claim in claims}
    if draft.structural:
        found.add(Category.STRUCTURAL)
    if draft.reasoning.loose_faults:
        found.add(Category.LOGICAL)
    if draft.judge_stage is not None and draft.judge_stage.omissions:
        found.add(Category.COMPLETENESS)
    if any(citation.status == "fabricated" for citation in citations):
        found.add(Category.ATTRIBUTION)
    return tuple(category for category in Category if category in found)


def _in_order(evidence: PreparedEvidence) -> list[Evidence]:
    """The evidence in the order in which it was given: a passage's place tells whether it may have been overlooked."""
    by_id = {item.id: item for item in evidence.evidence}
    return [by_id[name] for name in evidence.given_order]


def _given(draft: Draft) -> list[Evidence]:
    """All evidence that the check was given, including what the retrieval gate dropped: the digest covers all of it."""
    dropped = {one.id for one in draft.request.screening.dropped} if draft.request.screening is not None else set()
    return [*_in_order(draft.evidence), *(item for item in draft.request.given or () if item.id in dropped)]


def _claims(
    draft: Draft, judged: Sequence[Judged], attachments: Attachments, policy: Policy
) -> tuple[ClaimReport, ...]:
    """The reports on all extracted claims; claims beyond the limit are unchecked."""
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
                *_citation_issues(attachments.at_claim.get(place, ())),
                *draft.reasoning.at_claim.get(place, ()),
                *(draft.run.issues_at(claim, of_claim) if draft.run else ()),
                *([_without_citation(claim)] if (claim.span.start, claim.text) in uncited else ()),
            ),
            structural=claim.path in broken,
        )
        for place, (claim, of_claim) in enumerate(found)
    )


def _uncited(draft: Draft, policy: Policy) -> set[tuple[int, str]]:
    """The starts and texts of claims that lack a citation although the policy requires one."""
    if policy.citations not in {"require", "strict"}:
        return set()
    lacking = draft.citing.uncited(draft.checkable)
    return {(claim.span.start, claim.text) for claim in lacking}


def _without_citation(claim: ExtractedClaim) -> Issue:
    message = "No source is cited for this, and the policy requires one. Cite the passage that it rests on."
    return Issue(code="citation.missing", message=message, span=claim.span, path=claim.path)


def _conflicts(draft: Draft, judged: Sequence[Judged]) -> tuple[Conflict, ...]:
    checkable = draft.checkable[: draft.judged_claims]
    return tuple(
        Conflict(claim=claim.text, supporting=found.conflict[0], contradicting=found.conflict[1])
        for claim, found in zip(checkable, judged, strict=True)
        if found.conflict is not None
    )


def _citation_issues(citations: Sequence[CitationReport]) -> tuple[Issue, ...]:
    """The issues of those citations that fail."""
    return tuple(issue for citation in citations if (issue := citation_issue(citation)) is not None)


def _retrieval(draft: Draft, judged: Sequence[Judged], conflicts: tuple[Conflict, ...]) -> Retrieval:
    windows = len(draft.evidence.windows.windows)
    return Retrieval(
        evidence=len(draft.evidence.evidence),
        windows=windows,
        pairs=sum(one.entailment.judged for one in judged),
        pairs_possible=windows * len(draft.jobs),
        conflicts=conflicts,
    )


def _optional_parts(request: CheckRequest) -> Iterator[str]:
    """What a run depends on only if its request states it."""
    if request.structure is not None:
        yield repr(structure_of(request))
    if request.as_of is not None:
        yield f"as of {day_of(request)}"
    if request.entropy is not None:
        yield f"entropy {float(request.entropy)!r}"


def _run_id(draft: Draft, policy: Policy, verifier: Identity) -> str:
    """A name for the run, derived from everything that the report depends on."""
    state = hashlib.sha256()
    request = draft.request
    parts = (
        draft.text,
        draft.question,
        draft.stakes,
        request.task,
        request.claim_free,
        request.revisions_failed,
        repr(request.schema),
        repr(draft.citing.objects),
        policy.digest,
        verifier.digest,
        draft.read,
        draft.judged_claims,
        draft.evidence.characters,
        [item.evidence_id for item in draft.citing.resolved],
    )
    for part in (*parts, *_optional_parts(request), *(item.model_dump_json() for item in draft.evidence.evidence)):
        piece = repr(part).encode()
        state.update(len(piece).to_bytes(8, "big") + piece)
    return f"run_{state.hexdigest()[:32]}"
