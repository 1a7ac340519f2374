"""Which claims are worth a judge: those of which the other tiers are not sure, by what they say themselves.

| reason | what it looks at |
|---|---|
| unsure | none of support, contradiction and neither reaches 0.9 |
| tiers_differ | one tier supports the claim and the other against it |
| several_sources | what supports it was put together from several sources: multi-hop |
| inference | the claim concludes from something |
| undecided | the evidence mentions it, and neither says it nor denies it: where implicit contradiction hides |
"""

from __future__ import annotations

from typing import Final

from assay.schema import ClaimKind, Verdict
from assay.verify.exact import ExactResult
from assay.verify.network.combination import Judgement
from assay.verify.network.entailment import EntailmentResult

SURE: Final = 0.9
"""From this probability of one of the three on, a claim is no case for a judge by itself."""
RELATED: Final = 0.5
"""From this share of its words in one premise on, the evidence mentions a claim."""
SETTLED: Final = 0.8
"""A contradiction of the exact tier this sure needs no judge, who could not change it."""
SPEAKS_FOR: Final = 0.8
"""From this entailment on the network supports a claim."""


def weaknesses(
    kind: ClaimKind, verdict: Verdict, judgement: Judgement, exact: ExactResult, read: EntailmentResult
) -> tuple[str, ...]:
    """Why a claim is worth a judge; empty where it is not.

    Args:
        kind: what sort of statement it is.
        verdict: that of the tiers together.
        judgement: their probabilities.
        exact: what the exact tier found.
        read: what the network read.
    """
    against = max((f.confidence for f in exact.findings if f.effect == "contradicts"), default=0.0)
    if against >= SETTLED or exact.signals.get("verbatim", 0.0) >= 1:
        return ()
    neither = 1 - judgement.support - judgement.contradiction
    missing = max((f.confidence for f in exact.findings if f.effect == "missing"), default=0.0)
    supported = verdict is Verdict.SUPPORTED
    reasons = {
        "unsure": max(judgement.support, judgement.contradiction, neither) < SURE,
        "tiers_differ": max(against, missing if read.entailment >= SPEAKS_FOR else 0.0) >= 1 - SURE
        and (supported or read.entailment >= SPEAKS_FOR),
        "several_sources": supported and _put_together(read),
        "inference": kind is ClaimKind.INFERENTIAL,
        "undecided": verdict is Verdict.UNSUPPORTED and read.signals.get("related", 0.0) >= RELATED,
    }
    return tuple(name for name, holds in reasons.items() if holds)


def _put_together(read: EntailmentResult) -> bool:
    """Whether only a text put together from several sources supports it."""
    alone = (j.entailment for j in read.judgements if len(j.premise.evidence_ids) == 1)
    behind = read.best_support
    return behind is not None and len(behind.premise.evidence_ids) > 1 and max(alone, default=0.0) < SPEAKS_FOR
