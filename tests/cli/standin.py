"""A guard for tests of the command: it judges by a word in the sentence, so that every verdict can be had at will.

A sentence with FALSE is contradicted, with MAYBE unsupported, with BROKEN unchecked, with HELLO not checkable; any
other is supported. A bracketed number is a citation, verified where evidence has that id.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from typer.testing import Result

from assay.errors import InputError
from assay.policy import Policy, preset
from assay.schema import (
    Action,
    CitationReport,
    ClaimKind,
    ClaimReport,
    ClaimStatus,
    Coverage,
    Decision,
    Evidence,
    EvidenceSpan,
    HallucinationReport,
    Identity,
    Issue,
    Labels,
    Metric,
    Retrieval,
    Severity,
    SeverityLevel,
    Span,
    Stakes,
    Timing,
    Verdict,
)
from assay.schema.report_parts.digests import digests_of

Run = Callable[..., Result]
"""Runs the command: arguments in, what it wrote and its status out."""

_STATUS = {
    Verdict.SUPPORTED: ClaimStatus.PASS,
    Verdict.CONTRADICTED: ClaimStatus.BLOCK,
    Verdict.UNSUPPORTED: ClaimStatus.REVISE,
    Verdict.UNCHECKED: ClaimStatus.UNCHECKED,
    Verdict.NOT_CHECKABLE: ClaimStatus.NOT_CHECKABLE,
}
_SCORE = {Verdict.SUPPORTED: 0.97, Verdict.CONTRADICTED: 0.02, Verdict.UNSUPPORTED: 0.5}


def verdict_of(text: str) -> Verdict:
    for word, verdict in (
        ("FALSE", Verdict.CONTRADICTED),
        ("MAYBE", Verdict.UNSUPPORTED),
        ("BROKEN", Verdict.UNCHECKED),
        ("HELLO", Verdict.NOT_CHECKABLE),
    ):
        if word in text:
            return verdict
    return Verdict.SUPPORTED


def claim_report(text: str, span: Span, evidence: Sequence[Evidence], offset: int = 0) -> ClaimReport:
    verdict = verdict_of(text)
    score = _SCORE.get(verdict)
    relation = {Verdict.SUPPORTED: "supports", Verdict.CONTRADICTED: "contradicts"}.get(verdict, "related")
    spans = tuple(
        EvidenceSpan(
            evidence_id=piece.id,
            start=0,
            end=min(40, len(piece.text)),
            text=piece.text[:40],
            relation=relation,
            score=0.9,
        )
        for piece in evidence[:1]
    )
    at = text.find("FALSE")
    issues: tuple[Issue, ...] = ()
    if verdict is not Verdict.SUPPORTED and verdict is not Verdict.NOT_CHECKABLE:
        place = Span(start=offset + at, end=offset + at + 5) if at >= 0 else None
        issues = (
            Issue(
                code=f"claim.{verdict.value}",
                message=f"The evidence says otherwise of: {text}",
                span=place,
                evidence=spans[0] if spans else None,
            ),
        )
    bad = verdict in {Verdict.CONTRADICTED, Verdict.UNSUPPORTED}
    severity = Severity(
        score=0.71,
        level=SeverityLevel.HIGH,
        propagation_risk=0.5,
        undetectability=0.9,
        consequence=0.7,
        response="Quarantined.",
    )
    return ClaimReport(
        text=text.strip() or "(blank)",
        span=span,
        kind=ClaimKind.FACTUAL,
        critical=bad,
        critical_reasons=("number",) if bad else (),
        verdict=verdict,
        score=score,
        contradiction=None if score is None else round(1 - score, 2) if verdict is Verdict.CONTRADICTED else 0.01,
        status=_STATUS[verdict],
        evidence_spans=spans,
        severity=severity if bad else None,
        issues=issues,
        signals={"entail_max": score or 0.0, "strongest_contradiction": 0.9 if at >= 0 else 0.0},
    )


def citation_report(match: re.Match[str], ids: set[str]) -> CitationReport:
    known = match.group(1) in ids
    return CitationReport(
        marker=match.group(),
        span=Span(start=match.start(), end=match.end()),
        source_id=match.group(1),
        evidence_id=match.group(1) if known else None,
        exists=known,
        text_matches=True if known else None,
        entails=True if known else None,
        score=0.9 if known else None,
        status="verified" if known else "fabricated",
        message=f"{match.group(1)} {'supports the statement' if known else 'is not among the evidence'}",
    )


def report_of(answer: str, evidence: Sequence[Evidence] = (), question: str | None = None) -> HallucinationReport:
    claims = [
        claim_report(m.group(), Span(start=m.start(), end=m.end()), evidence, m.start())
        for m in re.finditer(r"\S[^.\n]*\.?", answer)
    ]
    verdicts = {claim.verdict for claim in claims}
    if verdicts & {Verdict.CONTRADICTED, Verdict.UNCHECKED} or not claims:
        action = Action.BLOCK
    else:
        action = Action.REVISE if Verdict.UNSUPPORTED in verdicts else Action.EMIT
    scores = [claim.score for claim in claims if claim.score is not None]
    length = len(answer)
    citations = tuple(citation_report(m, {e.id for e in evidence}) for m in re.finditer(r"\[([\w-]+)\]", answer))
    coverage = Coverage(characters=length, checked=length, not_checkable=0, unchecked=0)
    made = HallucinationReport(
        run_id="run-1",
        output=answer,
        question=question,
        stakes=Stakes.MEDIUM,
        claims=tuple(claims),
        citations=citations,
        retrieval=Retrieval(evidence=len(evidence), windows=len(evidence), pairs=1, pairs_possible=1),
        coverage=coverage,
        metrics={"faithfulness": Metric(value=0.5), "factscore": Metric(undefined="no claim was checked")},
        overall_score=min(scores, default=None),
        action=action,
        decision=Decision(
            action=action,
            route="serve" if action is Action.EMIT else "withhold_closest_sources",
            reasons=("The lowest score decides.",),
            response=None if action is Action.EMIT else "I cannot confirm this from the sources that I have.",
        ),
        labels=Labels(verdict="PASS", abstention="RESPOND", routing="SERVE", escalation="auto_approve"),
        policy=Identity(name="general", digest="a" * 64),
        verifier=Identity(name="stand-in", digest="b" * 64),
        timing=Timing(total_ms=1.0),
    )
    return made.model_copy(update={"digests": digests_of(made, evidence)})


class StandIn:
    """What the command uses of a guard."""

    def __init__(self, policy: str = "general") -> None:
        self.calls: list[tuple[str, tuple[Evidence, ...], dict[str, Any]]] = []
        self.judged = 0
        self._policy = policy

    @property
    def policy(self) -> Policy:
        return preset(self._policy)

    def under(self, policy: str) -> "StandIn":
        return StandIn(policy)

    @property
    def verifier(self) -> Identity:
        return Identity(name="stand-in", digest="b" * 64)

    def check(self, answer: str, evidence: Sequence[Evidence] = (), **options: Any) -> HallucinationReport:
        self.calls.append((answer, tuple(evidence), options))
        if not answer.strip():
            raise InputError("expected an answer with text in it, got an empty one")
        return report_of(answer, evidence, options.get("question"))

    def check_many(self, requests: Iterable[Mapping[str, Any]]) -> Iterator[HallucinationReport]:
        for request in requests:
            self.judged += 1
            yield report_of(request["answer"], request["evidence"], request["question"])

    def judge_claims(self, rows: Sequence[tuple[str, Sequence[Evidence], str | None]]) -> list[ClaimReport]:
        self.judged += len(rows)
        return [claim_report(text, Span(start=0, end=len(text)), evidence) for text, evidence, _ in rows]
