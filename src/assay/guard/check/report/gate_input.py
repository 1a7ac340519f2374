"""The gate's input: the numbers and verdicts of one check, without its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from assay.guard.check.draft import Draft
from assay.policy import GateInput, signal_of
from assay.schema import CitationReport, ClaimKind, ClaimReport, Coverage, Metric, Verdict
from assay.text.sentences import blocks
from assay.verify.documents import hidden_issues

_FAILED: Final = ("misquoted", "misattributed", "non_entailing")
"""The statuses of citations whose source exists but does not support the claim."""
_SENTENCES: Final = frozenset({"prose", "list_item"})
"""The kinds of blocks of a text that are sentences."""


def gate_input(
    draft: Draft,
    claims: Sequence[ClaimReport],
    citations: Sequence[CitationReport],
    coverage: Coverage,
    conflicts: int,
    metrics: Mapping[str, Metric],
) -> GateInput:
    """Everything that the gate decides on.

    Args:
        draft: the draft of the check.
        claims: the reports on the claims.
        citations: the reports on the citations.
        coverage: which characters were checked.
        conflicts: how many claims one source supports and another contradicts.
        metrics: the metrics by name.
    """
    statuses = [citation.status for citation in citations]
    run = draft.run
    return GateInput(
        claims=tuple(map(signal_of, claims)),
        citations_fabricated=statuses.count("fabricated"),
        citations_failed=sum(map(statuses.count, _FAILED)),
        claims_uncited=len(draft.citing.uncited(draft.checkable)),
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
        faithfulness=metrics["faithfulness"].value,
        factscore=metrics["factscore"].value,
        has_evidence=draft.evidence.readable or bool(draft.verification.verified),
        irrelevant_evidence=draft.irrelevant is not None,
        omissions=draft.judge_stage.left_out if draft.judge_stage else 0,
        unjudged=sum(map(_is_unjudged, claims)),
        abstention_only=_abstains(draft) or (run is not None and _is_talk(draft)),
        empty=not draft.text.strip(),
        run_faults=(*(run.faults if run else ()), *draft.probing.faults),
        logic_faults=draft.reasoning.loose_faults,
    )


def _is_unjudged(claim: ClaimReport) -> bool:
    judgement = claim.judgement
    return judgement is not None and judgement.outcome == "unchecked" and claim.verdict is Verdict.SUPPORTED


def _abstains(draft: Draft) -> bool:
    """Whether an output says nothing but that there is no answer."""
    statements = [claim for claim in draft.claims if claim.kind is not ClaimKind.META]
    return bool(statements) and all(claim.kind is ClaimKind.ABSTENTION for claim in statements)


def _is_talk(draft: Draft) -> bool:
    """Whether an agent's answer only keeps the conversation going: thanks, wishes, questions back.

    It must be sentences, each recognised as such: a heading, a table or code may say more than its words do.
    """
    kinds = {claim.kind for claim in draft.claims}
    plain = all(block.kind in _SENTENCES for block in blocks(draft.text[: draft.read]))
    return bool(kinds) and kinds <= {ClaimKind.META, ClaimKind.ABSTENTION} and plain
