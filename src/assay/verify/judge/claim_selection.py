"""Selects the claims for the judge: those that the other tiers are not sure of.

| reason | condition |
|---|---|
| unsure | none of support, contradiction and neither reaches 0.9 |
| tiers_differ | one tier supports the claim and another is against it |
| several_sources | only a text assembled from several sources supports it: multi-hop |
| inference | the claim is a conclusion |
| undecided | the evidence mentions its subject without supporting or denying it: a possible implicit contradiction |
"""

from __future__ import annotations

from typing import Final

from assay.schema import ClaimKind, Verdict
from assay.verify.exact import ExactResult
from assay.verify.network.combination import Judgement
from assay.verify.network.entailment import EntailmentResult

SURE: Final = 0.9
"""The least probability of support, contradiction or neither with which a claim is not `unsure`."""
RELATED: Final = 0.5
"""The least share of a claim's words in one premise with which the evidence mentions its subject."""
SETTLED: Final = 0.8
"""The least confidence of a contradiction of the exact tier that needs no judge, since a judge could not change it."""
SUPPORTED: Final = 0.8
"""The least entailment with which the network supports a claim."""


def reasons_to_judge(
    kind: ClaimKind, verdict: Verdict, judgement: Judgement, exact: ExactResult, read: EntailmentResult
) -> tuple[str, ...]:
    """The reasons to put a claim to the judge; empty where there are none.

    Args:
        kind: the kind of the claim.
        verdict: the combined verdict of the tiers.
        judgement: the combined probabilities.
        exact: the result of the exact tier.
        read: the result of the network.
    """
    against = max((f.confidence for f in exact.findings if f.effect == "contradicts"), default=0.0)
    if against >= SETTLED or exact.signals.get("verbatim", 0.0) >= 1:
        return ()
    neither = 1 - judgement.support - judgement.contradiction
    missing = max((f.confidence for f in exact.findings if f.effect == "missing"), default=0.0)
    supported = verdict is Verdict.SUPPORTED
    reasons = {
        "unsure": max(judgement.support, judgement.contradiction, neither) < SURE,
        "tiers_differ": max(against, missing if read.entailment >= SUPPORTED else 0.0) >= 1 - SURE
        and (supported or read.entailment >= SUPPORTED),
        "several_sources": supported and _assembled_only(read),
        "inference": kind is ClaimKind.INFERENTIAL,
        "undecided": verdict is Verdict.UNSUPPORTED and read.signals.get("related", 0.0) >= RELATED,
    }
    return tuple(name for name, holds in reasons.items() if holds)


def _assembled_only(read: EntailmentResult) -> bool:
    """Whether only a text assembled from several sources supports the claim."""
    single = (j.entailment for j in read.judgements if len(j.premise.evidence_ids) == 1)
    best = read.best_support
    return best is not None and len(best.premise.evidence_ids) > 1 and max(single, default=0.0) < SUPPORTED
