"""The report of a check as one self-contained HTML file, usable with a mouse, a keyboard or on paper.

The claims are marked in the answer; each mark links to the claim's card with the deciding words of the evidence, and
back. The page needs no script and fetches nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from assay.cli.knowledge_lines import knowledge_words
from assay.cli.reports import html_parts
from assay.cli.reports.html_style import CHECK
from assay.cli.reports.judge_words import judge_words
from assay.cli.reports.text_report import coverage_words, number
from assay.policy import disclosure_of
from assay.reporting import (
    GRAVITY,
    SIGNS,
    WORDS,
    Markup,
    Piece,
    deciding_spans,
    direction,
    foreign,
    group,
    page,
    pieces,
    tag,
)
from assay.schema import (
    Action,
    CitationReport,
    ClaimReport,
    Evidence,
    EvidenceSpan,
    HallucinationReport,
    Issue,
    Verdict,
)
from assay.schema.report_parts import CauseReport

_MOST_WHOLE: Final = 900
"""Evidence of up to so many characters is shown whole around the deciding words."""
_CONTEXT_CHARACTERS: Final = 260
"""Characters shown on either side of the deciding words of a longer one."""

_TONE: Final = {
    Verdict.SUPPORTED: "good",
    Verdict.CONTRADICTED: "bad",
    Verdict.UNSUPPORTED: "doubt",
    Verdict.UNCHECKED: "bad",
    Verdict.NOT_CHECKABLE: "soft",
}
_ACTION_TONE: Final = {Action.EMIT: "good", Action.REVISE: "doubt", Action.BLOCK: "bad", Action.ESCALATE: "bad"}
_ACTION_WORDS: Final = {
    Action.EMIT: "Emit: it may go downstream",
    Action.REVISE: "Revise: it goes back with the findings",
    Action.BLOCK: "Block: it is withheld",
    Action.ESCALATE: "Escalate: a person decides",
}


def html_report(name: str, report: HallucinationReport, evidence: Sequence[Evidence] = ()) -> str:
    """One report as a page.

    Args:
        name: the name of the answer, for the heading.
        report: its report.
        evidence: its evidence, to show the deciding words in context.
    """
    texts = {piece.id: piece for piece in evidence}
    return page(
        f"{report.action.value}: {name}",
        CHECK,
        tag("div", tag("b", "assay"), foreign(name), class_="brand"),
        tag(
            "main",
            _decision(report),
            tag("div", _answer_column(report), _claims_column(report, texts), class_="columns"),
            html_parts.sections(report),
            _citations(report.citations),
            _metrics(report),
        ),
        _footer(report),
    )


def _decision(report: HallucinationReport) -> Markup:
    decision = report.decision
    cover = report.coverage
    facts = [
        ("score", group(number(report.overall_score), _bar(report.overall_score))),
        ("route", foreign(decision.route.replace("_", " "))),
        ("stakes", report.stakes.value),
        ("claims", str(len(report.claims))),
        ("verdict", report.labels.verdict),
    ]
    reasons: list[Markup] = [tag("li", foreign(reason)) for reason in decision.reasons]
    reasons += [tag("li", "Coverage: ", foreign(reason)) for reason in cover.reasons]
    reasons += [
        tag("li", f"Characters {p.span.start}–{p.span.end} unchecked: ", foreign(p.reason)) for p in cover.parts
    ]
    return tag(
        "section",
        tag("h1", tag("span", _ACTION_WORDS[report.action], class_=_ACTION_TONE[report.action])),
        _question(report.question),
        tag("dl", (tag("div", tag("dt", word), tag("dd", value)) for word, value in facts), class_="facts"),
        tag("ul", reasons) if reasons else None,
        tag("p", coverage_words(report), class_="small " + ("soft" if cover.complete else "bad")),
        _response(report),
        class_=f"decision {report.action.value}",
    )


def _question(question: str | None) -> Markup | None:
    return None if question is None else tag("p", tag("span", "Question ", class_="soft"), foreign(question))


def _response(report: HallucinationReport) -> Markup | None:
    response = report.decision.response
    if response is None:
        return None
    words = "Fallback response" if disclosure_of(report) is None else "Added for the reader"
    return tag("div", tag("div", words, class_="soft small"), foreign(response), class_="instead")


def _bar(value: float | None) -> Markup | None:
    if value is None:
        return None
    return tag(
        "svg",
        tag("rect", class_="track", width=60, height=6, rx=3),
        tag("rect", class_="fill", width=round(60 * value, 1), height=6, rx=3),
        class_="bar",
        width=60,
        height=6,
        aria_hidden="true",
    )


# The answer


def _answer_column(report: HallucinationReport) -> Markup:
    legend = (
        tag("span", tag("span", f"{SIGNS[v]} {WORDS[v]}", class_=f"piece {v.value}"), dir="ltr")
        for v in GRAVITY
        if any(claim.verdict is v for claim in report.claims)
    )
    marked = (_piece(piece, report.claims) for piece in pieces(report))
    return tag(
        "section",
        tag("h2", "Answer", id="answer"),
        tag("div", marked, class_="answer", dir=direction(report.output)),
        tag("div", legend, class_="legend"),
        class_="left",
    )


def _piece(piece: Piece, claims: Sequence[ClaimReport]) -> Markup:
    """A piece of the answer: its words link to their citation or gravest claim, the sign at a claim's end to it."""
    to_citation = None if piece.citation is None else f"#citation-{piece.citation + 1}"
    if piece.verdict is None:
        return foreign(piece.text, "a", href=to_citation) if to_citation is not None else foreign(piece.text)
    gravest = min(piece.claims, key=lambda index: GRAVITY.index(claims[index].verdict))
    style = f"piece {piece.verdict.value}" + (" here" if piece.offending else "")
    return group(
        foreign(piece.text, "a", class_=style, href=to_citation or f"#claim-{gravest + 1}"),
        (_sign(index, claims[index].verdict) for index in piece.ending),
    )


def _sign(index: int, verdict: Verdict) -> Markup:
    label = f"claim {index + 1}, {WORDS[verdict]}"
    words = f"{SIGNS[verdict]}{index + 1}"
    style = f"sign {_TONE[verdict]}"
    target = f"#claim-{index + 1}"
    return tag("a", words, class_=style, href=target, id=f"at-{index + 1}", aria_label=label, dir="ltr")


# The claims


def _claims_column(report: HallucinationReport, texts: Mapping[str, Evidence]) -> Markup:
    causes = {one.claim: one for one in report.causes if one.claim is not None}
    cards = (_card(index, claim, texts, causes.get(index)) for index, claim in enumerate(report.claims))
    of_issue = {(one.code, one.path): one for one in report.causes if one.claim is None}
    general = (
        tag("ul", (_issue(issue, of_issue.get((issue.code, issue.path))) for issue in report.issues))
        if report.issues
        else None
    )
    return tag(
        "section",
        None if general is None else group(tag("h2", "Findings on the whole"), general),
        tag("h2", "Claims and evidence"),
        cards if report.claims else tag("p", "No claim was found.", class_="soft"),
    )


def _card(index: int, claim: ClaimReport, texts: Mapping[str, Evidence], cause: CauseReport | None) -> Markup:
    sign = f"{SIGNS[claim.verdict]} {index + 1} {WORDS[claim.verdict]}"
    facts = list(_claim_facts(claim))
    return tag(
        "article",
        tag(
            "header",
            tag("b", sign, class_=_TONE[claim.verdict]),
            tag("span", f"support {number(claim.score)}", _bar(claim.score)),
            None if claim.contradiction is None else tag("span", f"contradiction {number(claim.contradiction)}"),
            tag("a", "in the answer", href=f"#at-{index + 1}", class_="back"),
        ),
        foreign(claim.text, "p", class_="said"),
        tag("p", " · ".join(facts), class_="small soft") if facts else None,
        tag("ul", (_issue(issue) for issue in claim.issues)) if claim.issues else None,
        html_parts.suggestions(claim),
        (_quote(span, texts.get(span.evidence_id)) for span in deciding_spans(claim)),
        html_parts.judgement(claim.judgement),
        html_parts.external(claim.external),
        html_parts.causes(cause),
        class_="claim",
        id=f"claim-{index + 1}",
        tabindex=-1,
    )


def _claim_facts(claim: ClaimReport) -> Iterator[str]:
    if claim.severity is not None:
        yield f"severity {claim.severity.level.value} ({number(claim.severity.score)})"
    if claim.category is not None:
        yield claim.category.value + (f", {claim.origin.value}" if claim.origin is not None else "")
    if claim.critical:
        yield "critical: " + ", ".join(claim.critical_reasons) if claim.critical_reasons else "critical"
    if claim.conflict:
        yield "sources disagree"
    if claim.decided_by == "judge":
        yield "decided by the judge"
    if claim.decided_by == "knowledge":
        yield "decided by knowledge outside of the evidence"
    if claim.hedge >= 0.5:
        yield "hedged"


def _issue(issue: Issue, cause: CauseReport | None = None) -> Markup:
    where = None if issue.path is None else group(" at ", tag("code", foreign(issue.path)))
    return tag("li", foreign(issue.message), " ", tag("code", issue.code), where, html_parts.causes(cause))


@dataclass(frozen=True, slots=True)
class _Cut:
    before: str
    words: str
    after: str


def _quote(span: EvidenceSpan, evidence: Evidence | None) -> Markup:
    cut = _cut_out(span, evidence)
    about = [] if evidence is None else [evidence.title, evidence.source, evidence.version]
    return tag(
        "figure",
        tag(
            "figcaption",
            tag("b", "[", foreign(span.evidence_id), "]"),
            f" {span.relation} {number(span.score)}",
            ([" · ", foreign(word)] for word in about if word),
        ),
        tag("blockquote", cut.before, foreign(cut.words, "mark"), cut.after, dir="auto"),
    )


def _cut_out(span: EvidenceSpan, evidence: Evidence | None) -> _Cut:
    """The deciding words in context; without it if the evidence is missing or has other words there."""
    text = "" if evidence is None else evidence.text
    if text[span.start : span.end] != span.text:
        return _Cut("", span.text, "")
    first, last = (
        (0, len(text))
        if len(text) <= _MOST_WHOLE
        else (span.start - _CONTEXT_CHARACTERS, span.end + _CONTEXT_CHARACTERS)
    )
    before = ("…" if first > 0 else "") + text[max(first, 0) : span.start]
    return _Cut(before, span.text, text[span.end : last] + ("…" if last < len(text) else ""))


# The rest


def _citations(citations: Sequence[CitationReport]) -> Markup | None:
    if not citations:
        return None
    head = tag("tr", (tag("th", word, scope="col") for word in ("Citation", "Source", "Status", "What was found")))
    return tag(
        "section",
        tag("h2", "Citations"),
        tag(
            "div",
            tag("table", tag("thead", head), tag("tbody", map(_citation, range(1, 1 << 31), citations))),
            class_="scroll",
        ),
    )


def _citation(index: int, citation: CitationReport) -> Markup:
    good = citation.status == "verified"
    sign = "✓" if good else "!" if citation.status == "unchecked" else "✗"
    status = tag("span", f"{sign} {citation.status.replace('_', ' ')}", class_="good" if good else "bad")
    found = citation.evidence_id if citation.evidence_id is not None else "none"
    cells = (foreign(citation.marker), foreign(found), status, foreign(citation.message))
    return tag("tr", (tag("td", cell) for cell in cells), id=f"citation-{index}")


def _metrics(report: HallucinationReport) -> Markup | None:
    if not report.metrics:
        return None
    rows = (
        tag(
            "tr",
            tag("th", name.replace("_", " "), scope="row"),
            tag("td", number(metric.value), class_="num"),
            tag("td", metric.undefined or "", class_="soft"),
        )
        for name, metric in report.metrics.items()
    )
    return tag("section", tag("h2", "Metrics"), tag("div", tag("table", tag("tbody", rows)), class_="scroll"))


def _footer(report: HallucinationReport) -> Markup:
    parts = (
        f"policy {report.policy.name} ({report.policy.digest[:12]})",
        f"verifier {report.verifier.name} ({report.verifier.digest[:12]})",
        f"run {report.run_id}",
        f"{report.retrieval.pairs} pairs of claim and passage, {report.timing.total_ms:.0f} ms",
        *(() if report.judge is None else (f"judge: {judge_words(report)}",)),
        *(() if report.knowledge is None else (f"knowledge: {knowledge_words(report)}",)),
    )
    return tag("footer", " · ".join(parts))


# Several reports


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the index: the name of the answer, its report, and the file of the report."""

    name: str
    report: HallucinationReport
    file: str


def html_index(entries: Sequence[Entry]) -> str:
    """A page that lists several reports with links."""
    head = tag("tr", (tag("th", word, scope="col") for word in ("Answer", "Action", "Score", "Findings")))
    findings = sum(entry.report.action is not Action.EMIT for entry in entries)
    return page(
        "assay: reports",
        CHECK,
        tag("div", tag("b", "assay"), class_="brand"),
        tag(
            "main",
            tag("h1", f"{len(entries)} answers checked, {findings} with findings"),
            tag("div", tag("table", tag("thead", head), tag("tbody", map(_entry, entries))), class_="scroll"),
        ),
    )


def _entry(entry: Entry) -> Markup:
    report = entry.report
    bad = {Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.UNCHECKED}
    count = sum(claim.verdict in bad for claim in report.claims) + len(report.issues)
    return tag(
        "tr",
        tag("td", tag("a", foreign(entry.name), href=entry.file)),
        tag("td", tag("b", report.action.value, class_=_ACTION_TONE[report.action])),
        tag("td", number(report.overall_score)),
        tag("td", str(count)),
    )
