"""Single claims, judged as given: for evaluation, for testing the verifier, and for texts that are already split."""

from collections.abc import Sequence

from assay.errors import InputError
from assay.guard.check.evidence_index import PreparedEvidence
from assay.guard.check.report.claim_reports import claim_report
from assay.guard.check.tiers import Tiers
from assay.guard.check.verdicts import Job
from assay.guard.request import EvidenceLike
from assay.policy import Policy
from assay.schema import (
    ClaimKind,
    ClaimReport,
    Evidence,
    ExtractedClaim,
    Span,
    Stakes,
    coerce_evidence,
    coerce_text,
)
from assay.text.claims import critical_reasons, hedge_score

CLAIMS_PER_CALL = 512
"""The number of single claims that are judged in one call of the network."""

ClaimRow = tuple[str, EvidenceLike, str | None]
"""Claim, evidence and the question that it answers, if any."""


def judge_single_claims(rows: Sequence[ClaimRow], tiers: Tiers, policy: Policy) -> list[ClaimReport]:
    """One report for each row, in order; see `Guard.judge_claims`.

    Raises:
        InputError: a claim is blank, or an argument cannot be read.
    """
    claims = [whole_claim(coerce_text(claim, "claim")) for claim, _, _ in rows]
    jobs: list[Job] = []
    last: tuple[tuple[Evidence, ...], PreparedEvidence] | None = None
    for claim, (_, evidence, question) in zip(claims, rows, strict=True):
        items = coerce_evidence(evidence)
        if last is None or last[0] != items:
            last = (items, tiers.prepare(items))
        jobs.append(Job(claim.text, last[1], question))
    uncorrected = tiers.uncorrected()
    judged = [
        one
        for begin in range(0, len(jobs), CLAIMS_PER_CALL)
        for one in uncorrected.judge(jobs[begin : begin + CLAIMS_PER_CALL])
    ]
    return [
        claim_report(claim, one, claim.text, policy, Stakes.MEDIUM) for claim, one in zip(claims, judged, strict=True)
    ]


def whole_claim(text: str) -> ExtractedClaim:
    """A text as one checkable claim, whatever it says.

    Raises:
        InputError: the text is blank.
    """
    if not text.strip():
        raise InputError("A claim must say something; got a blank text.")
    span = Span(start=0, end=len(text))
    return ExtractedClaim(
        text=text,
        span=span,
        sentence=span,
        kind=ClaimKind.FACTUAL,
        checkable=True,
        critical=critical_reasons(text, text),
        hedge=hedge_score(text),
    )
