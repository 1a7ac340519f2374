"""What keeps an answer from being called supported, one value for each thing that a developer has to look at."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from assay.schema.evidence import EvidenceSpan
from assay.schema.report import ClaimReport, HallucinationReport
from assay.schema.verdict import Action, Verdict
from assay.schema.views.marks import GRAVITY, deciding_spans

FAILING: Final = frozenset({Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.UNCHECKED})
"""The verdicts with which a claim is not supported."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One claim that is not supported, or one finding that belongs to no claim."""

    kind: str
    """The verdict of the claim, `citation` with its status, or the code of the finding."""
    text: str
    """The claim, the citation or the place, as it is named."""
    messages: tuple[tuple[str, str], ...]
    """What was found, as sentences, each with its code."""
    number: int | None = None
    """The number of the claim among those of the answer, from 1."""
    span: tuple[int, int] | None = None
    """The claim's characters in the answer."""
    wrong: tuple[tuple[int, int], ...] = ()
    """The wrong words within them."""
    score: float | None = None
    passages: tuple[EvidenceSpan, ...] = ()


def problems_of(report: HallucinationReport) -> list[Problem]:
    """All problems, the gravest first: claims, then citations, then findings that belong to no claim.

    An answer that the gate does not emit has at least one.
    """
    claims = [(number, claim) for number, claim in enumerate(report.claims, 1) if claim.verdict in FAILING]
    claims.sort(key=lambda item: (GRAVITY.index(item[1].verdict), item[0]))
    found = [_of_claim(number, claim) for number, claim in claims]
    found += _of_citations(report)
    found += [
        Problem(
            issue.code,
            issue.path or "",
            ((issue.message, issue.code),),
            passages=() if issue.evidence is None else (issue.evidence,),
        )
        for issue in report.issues
    ]
    if not found and report.action is not Action.EMIT:
        reasons = report.decision.reasons or ("The policy does not let it out.",)
        found.append(Problem(report.action.value, "", tuple((reason, "") for reason in reasons)))
    return found


def _of_claim(number: int, claim: ClaimReport) -> Problem:
    marked = claim.wrong_spans or tuple(issue.span for issue in claim.issues if issue.span is not None)
    wrong = sorted({(max(s.start, claim.span.start), min(s.end, claim.span.end)) for s in marked})
    return Problem(
        kind=claim.verdict.value,
        text=claim.text,
        messages=tuple((issue.message, issue.code) for issue in claim.issues),
        number=number,
        span=(claim.span.start, claim.span.end),
        wrong=tuple((start, end) for start, end in wrong if start < end),
        score=claim.score,
        passages=tuple(_widest(deciding_spans(claim))),
    )


def _widest(spans: Iterable[EvidenceSpan]) -> list[EvidenceSpan]:
    """Without those that lie within another one."""
    listed = list(spans)
    return [one for one in listed if not any(_within(one, other) for other in listed)]


def _within(one: EvidenceSpan, other: EvidenceSpan) -> bool:
    same = one.evidence_id == other.evidence_id
    return (
        same and other.start <= one.start and one.end <= other.end and (one.end - one.start) < other.end - other.start
    )


def _of_citations(report: HallucinationReport) -> Iterator[Problem]:
    messages = {issue.message for claim in report.claims for issue in claim.issues}
    for one in report.citations:
        if one.status != "verified" and one.message not in messages:
            yield Problem(f"citation {one.status}", one.marker, ((one.message, f"citation.{one.status}"),))
