"""The report of a check as text: the decision, the answer with its claims marked, then the findings with reasons."""

from collections.abc import Iterator, Sequence
from typing import Final

from assay.cli.knowledge_lines import knowledge_lines
from assay.cli.reports.judge_words import judge_lines
from assay.cli.reports.repair_words import confidence_lines, repair_lines
from assay.cli.terminal import Line, clean, one_line
from assay.policy import disclosure_of
from assay.policy.calibration import standing_of
from assay.reporting import GRAVITY, SIGNS, WORDS, Piece, pieces
from assay.schema import Action, CitationReport, ClaimReport, EvidenceSpan, HallucinationReport, Issue, Verdict
from assay.schema.report_parts import CauseReport, Escalated
from assay.stats import shown_score

_QUOTE: Final = 400
"""The most characters of a quoted passage that are shown."""

_SECOND_CAUSE_SHARE: Final = 0.25
"""The share from which a second cause is shown."""
_STYLE: Final = {
    Verdict.SUPPORTED: "good",
    Verdict.CONTRADICTED: "bad",
    Verdict.UNSUPPORTED: "doubt",
    Verdict.UNCHECKED: "bad",
    Verdict.NOT_CHECKABLE: "",
}
_RESPONSE_HEADINGS: Final = {
    True: ("Told      ", "a disclosure for its reader, after the text"),
    False: ("Instead   ", "what would be answered in its place"),
}
"""The heading of the response of a decision, by whether it is a disclosure after the output."""
_ACTION_STYLE: Final = {Action.EMIT: "good", Action.REVISE: "doubt", Action.BLOCK: "bad", Action.ESCALATE: "bad"}


def number(value: float | None) -> str:
    """A score with two decimals, or a dash where there is none.

    >>> number(0.5), number(None)
    ('0.50', '–')
    """
    return "–" if value is None else shown_score(value)


def text_report(name: str, report: HallucinationReport) -> Iterator[Line]:
    """The lines of one report.

    Args:
        name: the name of the answer, for the heading.
        report: its report.
    """
    yield from _head(name, report)
    yield Line()
    yield from _answer(report)
    yield from _findings(report)
    yield from _citations(report.citations)
    yield from judge_lines(report)
    yield from knowledge_lines(report)
    yield from _summary(report)
    yield from confidence_lines(report)
    yield from repair_lines(report)


def _head(name: str, report: HallucinationReport) -> Iterator[Line]:
    action = report.action
    yield Line(
        (
            (action.value.upper(), _ACTION_STYLE[action]),
            (f"  score {number(report.overall_score)}", "strong"),
            (f"  {one_line(name)}", "faint"),
        )
    )
    if report.question is not None:
        yield Line((("question  ", "faint"), (one_line(report.question), "")))


def _answer(report: HallucinationReport) -> Iterator[Line]:
    """The answer line by line; each piece of a claim is in braces, with the sign and the numbers of its claims."""
    parts: list[tuple[str, str]] = []
    open_claims: tuple[int, ...] = ()
    for piece in pieces(report):
        if piece.claims != open_claims:
            _close(parts, open_claims)
            if piece.claims and piece.verdict is not None:
                numbers = ",".join(str(index + 1) for index in piece.claims)
                parts.append((f"{{{SIGNS[piece.verdict]}{numbers} ", _STYLE[piece.verdict]))
            open_claims = piece.claims
        parts.append((piece.text, _piece_style(piece)))
    _close(parts, open_claims)
    for line in _split_lines(parts):
        yield Line(line, indent=2, gutter=True)
    yield Line((("  " + "   ".join(f"{SIGNS[v]} {WORDS[v]}" for v in GRAVITY), "faint"),))
    yield Line()


def _close(parts: list[tuple[str, str]], open_claims: tuple[int, ...]) -> None:
    """Closes the brace before the white space at the end of the claim."""
    if open_claims:
        text, style = parts.pop()
        kept = text.rstrip()
        parts.extend([(kept, style), ("}", style.removesuffix(" here")), (text[len(kept) :], "")])


def _piece_style(piece: Piece) -> str:
    style = _STYLE[piece.verdict] if piece.verdict is not None else ""
    return f"{style} here" if piece.offending and style else style


def _split_lines(parts: Sequence[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], ...]]:
    line: list[tuple[str, str]] = []
    for text, style in parts:
        first, *others = clean(text).split("\n")
        line.append((first, style))
        for other in others:
            yield tuple(line)
            line = [(other, style)]
    yield tuple(line)


def _findings(report: HallucinationReport) -> Iterator[Line]:
    flagged = [
        (index, claim)
        for index, claim in enumerate(report.claims)
        if claim.verdict in {Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.UNCHECKED} or claim.issues
    ]
    flagged.sort(key=lambda item: (GRAVITY.index(item[1].verdict), item[0]))
    total = len(flagged) + len(report.issues)
    yield Line(((f"Findings: {total}" if total else "No findings", "strong"),))
    causes = {one.claim: one for one in report.causes if one.claim is not None}
    for index, claim in flagged:
        yield from _finding(index, claim)
        if index in causes:
            yield Line((("cause  ", "faint"), (cause_words(causes[index]), "")), indent=6)
    general = {(one.code, one.path): one for one in report.causes if one.claim is None}
    for issue in report.issues:
        yield _why(issue, 2)
        if issue.evidence is not None:
            yield _quote(issue.evidence, 2)
        if (issue.code, issue.path) in general:
            yield Line((("cause  ", "faint"), (cause_words(general[issue.code, issue.path]), "")), indent=2)
    yield Line()


def _finding(index: int, claim: ClaimReport) -> Iterator[Line]:
    facts = [WORDS[claim.verdict], f"score {number(claim.score)}"]
    if claim.severity is not None:
        facts.append(f"severity {claim.severity.level.value} {number(claim.severity.score)}")
    if claim.category is not None:
        facts.append(claim.category.value + (f", {claim.origin.value}" if claim.origin is not None else ""))
    if claim.critical:
        facts.append("critical: " + ", ".join(claim.critical_reasons) if claim.critical_reasons else "critical")
    if claim.conflict:
        facts.append("sources disagree")
    if claim.decided_by == "judge":
        facts.append("decided by the judge")
    if claim.decided_by == "knowledge":
        facts.append("decided by knowledge outside of the evidence")
    style = _STYLE[claim.verdict]
    yield Line(((f"{SIGNS[claim.verdict]}{index + 1}  ", style), (one_line(claim.text), "strong")), indent=2)
    yield Line(((one_line(" · ".join(facts)), style),), indent=6)
    spans_shown: set[tuple[str, int, int]] = set()
    for issue in claim.issues:
        yield _why(issue, 6)
        if issue.evidence is not None and _key(issue.evidence) not in spans_shown:
            spans_shown.add(_key(issue.evidence))
            yield _quote(issue.evidence, 6)
    for one in claim.suggestions:
        words = f"“{one_line(one.before, 120)}” → “{one_line(one.after, 120)}”"
        yield Line(
            (("suggest  ", "faint"), (words, "good"), (f"  [{one_line(one.evidence.evidence_id, 80)}]", "faint")), 6
        )
    for span in claim.evidence_spans:
        # A merely related passage is shown only if no other passage is.
        if _key(span) not in spans_shown and not (spans_shown and span.relation == "related"):
            spans_shown.add(_key(span))
            yield _quote(span, 6)


def cause_words(cause: CauseReport) -> str:
    """The likely cause of a finding in one line, and the second one if its share is large enough."""
    lines = [
        f"{one.cause.value.replace('_', ' ')} {one.share:.0%}: {one_line(one.reason)}"
        for one in cause.estimates[:2]
        if one is cause.estimates[0] or one.share >= _SECOND_CAUSE_SHARE
    ]
    return " \u00b7 ".join(lines)


def _key(span: EvidenceSpan) -> tuple[str, int, int]:
    return span.evidence_id, span.start, span.end


def _why(issue: Issue, indent: int) -> Line:
    where = f" at {one_line(issue.path)}" if issue.path is not None else ""
    code = f"  ({issue.code}{where})"
    return Line((("why  ", "faint"), (one_line(issue.message), ""), (code, "faint")), indent=indent)


def _quote(span: EvidenceSpan, indent: int) -> Line:
    return Line(
        (
            (f"[{one_line(span.evidence_id, 80)}] ", "strong"),
            (f"{span.relation} {number(span.score)}: ", "faint"),
            (f"“{one_line(span.text, _QUOTE)}”", ""),
        ),
        indent=indent,
    )


def _citations(citations: Sequence[CitationReport]) -> Iterator[Line]:
    if not citations:
        return
    yield Line(((f"Citations: {len(citations)}", "strong"),))
    rows = [(one_line(c.marker, 40), c.status.replace("_", " "), one_line(c.message)) for c in citations]
    width = max(len(marker) for marker, _, _ in rows)
    for citation, (marker, status, message) in zip(citations, rows, strict=True):
        good = citation.status == "verified"
        style = "good" if good else "bad"
        sign = "✓" if good else "!" if citation.status == "unchecked" else "✗"
        yield Line(((f"{sign} {marker:<{width}}  ", style), (f"{status:<13}  ", style), (message, "")), indent=2)
    yield Line()


def _summary(report: HallucinationReport) -> Iterator[Line]:
    cover = report.coverage
    yield Line((("Coverage  ", "strong"), (coverage_words(report), "" if cover.complete else "bad")))
    for reason in (*cover.reasons, *(f"{part.span.start}–{part.span.end}: {part.reason}" for part in cover.parts)):
        yield Line((("- " + one_line(reason), ""),), indent=2)
    decision = report.decision
    route = one_line(decision.route).replace("_", " ")
    yield Line((("Decision  ", "strong"), (decision.action.value, _ACTION_STYLE[decision.action]), (f" ({route})", "")))
    for reason in decision.reasons:
        yield Line((("- " + one_line(reason), ""),), indent=2)
    standing = standing_of(report.policy.digest, report.verifier.digest)
    if standing is not None:
        notes = f"{report.policy.name} {standing.words} (docs/thresholds.md)"
        yield Line((("- " + one_line(notes), "faint"),), indent=2)
    if report.escalation is not None:
        yield Line((("Review    ", "strong"), (escalation_words(report.escalation), "doubt")))
    if decision.response is not None:
        word, why = _RESPONSE_HEADINGS[disclosure_of(report) is not None]
        yield Line(((word, "strong"), (why, "faint")))
        for text in clean(decision.response).split("\n"):
            yield Line(((text, ""),), indent=2, gutter=True)
    who = f"policy {one_line(report.policy.name, 60)}, verifier {one_line(report.verifier.name, 60)}"
    yield Line(((f"{who}, {report.timing.total_ms:.0f} ms, run {one_line(report.run_id, 60)}", "faint"),))


def escalation_words(escalated: Escalated) -> str:
    """How soon a person has to review and why, in one line.

    >>> from assay.schema.report_parts.tier import Tier
    >>> escalation_words(Escalated(tier=Tier.SYNC, level="require_approval", risk=0.63, stakes_weight=0.75,
    ...                            confidence=0.16, minutes=15))
    'sync (require approval): risk 0.63 = stakes 0.75 × (1 - confidence 0.16), 15 minutes to decide'
    """
    sure = "unknown" if escalated.confidence is None else f"{escalated.confidence:.2f}"
    return (
        f"{escalated.tier.value} ({escalated.level.replace('_', ' ')}): risk {escalated.risk:.2f} = stakes "
        f"{escalated.stakes_weight:.2f} × (1 - confidence {sure}), {escalated.minutes:g} minutes to decide"
    )


def coverage_words(report: HallucinationReport) -> str:
    """How much of the answer and of the evidence was checked, in one sentence."""
    cover = report.coverage
    words = (
        f"{cover.checked:,} of {cover.characters:,} characters checked, {cover.not_checkable:,} not checkable, "
        f"{cover.unchecked:,} unchecked; {cover.evidence_read:,} of {cover.evidence_characters:,} of the evidence read"
    )
    return words + ("; declared or found free of claims" if cover.claim_free else "")
