"""Sections of a report below its answer: findings on the whole, coverage, citations, probes, metrics, evidence."""

from collections.abc import Sequence
from typing import Final

from assay.reporting import (
    Child,
    Markup,
    foreign,
    group,
    tag,
)
from assay.schema import (
    CitationReport,
    Evidence,
    HallucinationReport,
)
from assay.server.console.charts import split_bar
from assay.server.console.parts import (
    Column,
    badge,
    details,
    facts,
    line,
    meter,
    note,
    number,
    panel,
    shorten,
    table,
)
from assay.server.console.views.claim_card import MOST_PARTS, cause_view, issue_view

MOST_CHARACTERS: Final = 120_000
"""The most characters of an output that a page shows; the rest is in the report itself."""
MOST_CLAIMS: Final = 300
"""The most claims that have a card on a page; the gravest come first."""


def findings_view(report: HallucinationReport) -> Markup | None:
    """Findings that belong to no single claim."""
    if not report.issues:
        return None
    causes = [cause_view(one) for one in report.causes[:MOST_PARTS] if one.claim is None]
    return panel(
        "Findings on the whole", tag("ul", map(issue_view, report.issues[:MOST_PARTS]), class_="issues"), causes
    )


def coverage_view(report: HallucinationReport) -> Markup:
    """How much of the output and of the evidence was checked."""
    coverage = report.coverage
    parts = [
        ("checked", coverage.checked, "good"),
        ("not checkable", coverage.not_checkable, "quiet"),
        ("unchecked", coverage.unchecked, "bad"),
    ]
    pairs: list[tuple[str, Child]] = [
        ("Characters checked", f"{coverage.checked:,} of {coverage.characters:,}"),
        ("Not checkable", f"{coverage.not_checkable:,}"),
        ("Unchecked", tag("span", f"{coverage.unchecked:,}", class_="bad" if coverage.unchecked else None)),
        ("Evidence read", f"{coverage.evidence_read:,} of {coverage.evidence_characters:,}"),
        ("Pairs judged", f"{report.retrieval.pairs:,}"),
    ]
    reasons = [tag("li", foreign(reason)) for reason in coverage.reasons[:MOST_PARTS]]
    reasons += [
        tag(
            "li",
            tag("q", foreign(shorten(report.output[one.span.start : one.span.end], 160))),
            " ",
            foreign(one.reason),
        )
        for one in coverage.parts[:MOST_PARTS]
    ]
    return panel(
        "Coverage",
        split_bar(parts, "Characters of the output by what was done with them"),
        facts(pairs),
        tag("ul", reasons, class_="reasons") if reasons else None,
    )


def citations_view(citations: Sequence[CitationReport]) -> Markup | None:
    """The citations of the output, each with its status."""
    if not citations:
        return None
    columns = (Column("Citation"), Column("Source"), Column("Status"), Column("What was found", "wide"))
    rows = (
        [line(one.marker, 80), line(one.evidence_id, 80), _status(one.status), line(one.message)]
        for one in citations[:MOST_CLAIMS]
    )
    return panel("Citations", table("Citations", columns, rows))


def _status(status: str) -> Markup:
    good = status == "verified"
    sign = "✓" if good else "!" if status == "unchecked" else "✗"
    return badge(status.replace("_", " "), "good" if good else "bad", sign)


def probes_view(report: HallucinationReport) -> Markup | None:
    """The model's answers when it was asked again about critical claims."""
    if not report.consistency_probes:
        return None
    columns = (Column("Claim"), Column("Agreement", "num"), Column("Asked again", "wide"))
    rows = (
        [
            line(one.claim),
            group(number(one.agreement), " ", meter(one.agreement)),
            tag("ol", (tag("li", line(answer)) for answer in one.probe_answers[:12]), class_="plainlist"),
        ]
        for one in report.consistency_probes[:MOST_PARTS]
    )
    return panel("Asked again", table("Consistency probes", columns, rows))


def metrics_view(report: HallucinationReport) -> Markup | None:
    """The metrics of the output; an undefined one shows the reason."""
    if not report.metrics:
        return None
    rows = (
        [
            name.replace("_", " "),
            group(number(one.value), " ", meter(one.value)),
            line(one.undefined) if one.undefined else "",
        ]
        for name, one in report.metrics.items()
    )
    shown = table("Metrics", (Column("Metric"), Column("Value", "num"), Column("Note", "wide")), rows)
    return panel(None, details(f"All {len(report.metrics)} metrics", shown))


def evidence_view(evidence: Sequence[tuple[str, str, Evidence | None]], *, run: bool = False) -> Markup | None:
    """All evidence that a check was given.

    Args:
        evidence: the id, the digest and the content of each piece; without content where it was erased.
        run: whether an agent run was checked, which is evidence itself: it may come without any other.
    """
    if not evidence and run:
        return None
    if not evidence:
        return panel("Evidence", note("doubt", "The check was given no evidence."))
    cards = (
        details(
            group(foreign(shorten(name, 120), "b"), " ", tag("span", _about(one), class_="soft")),
            tag("p", "Its content was erased.", class_="soft")
            if one is None
            else foreign(one.text[: MOST_CHARACTERS // 4], "blockquote", class_="text"),
        )
        for name, _, one in evidence[:MOST_CLAIMS]
    )
    more = len(evidence) - MOST_CLAIMS
    rest = note("quiet", f"{more:,} more pieces are not shown.") if more > 0 else None
    return panel(f"Evidence ({len(evidence):,})", cards, rest)


def _about(evidence: Evidence | None) -> Child:
    if evidence is None:
        return "erased"
    facts = [shorten(one, 80) for one in (evidence.title, evidence.source, evidence.version) if one]
    dates = [f"from {evidence.effective_date}"] if evidence.effective_date is not None else []
    dates += [f"until {evidence.expiry_date}"] if evidence.expiry_date is not None else []
    return foreign(" · ".join([*facts, *dates, f"{len(evidence.text):,} characters"]))
