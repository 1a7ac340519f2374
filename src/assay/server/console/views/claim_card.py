"""The card of one claim: its verdict, the findings, and the passages that decide about it."""

from collections.abc import Iterator, Mapping
from typing import Final

from assay.reporting import (
    WORDS,
    Markup,
    deciding_spans,
    foreign,
    group,
    tag,
)
from assay.schema import (
    ClaimReport,
    Evidence,
    External,
    Issue,
    SourceWord,
    Suggestion,
)
from assay.schema.report_parts import Cause, CauseReport, ClaimJudgement
from assay.server.console.parts import (
    badge,
    code,
    details,
    meter,
    number,
    shorten,
    verdict_badge,
)
from assay.server.console.views.quotations import LONGEST_QUOTE, quotes

MOST_PARTS: Final = 50
"""Findings, causes, probes and the like that one list shows."""
_MOST_SPANS: Final = 12
"""Deciding passages that a card shows."""


def claim_card(
    at: int,
    claim: ClaimReport,
    evidence: Mapping[str, Evidence],
    feedback: Markup | None = None,
    cause: CauseReport | None = None,
) -> Markup:
    """The card of one claim.

    Args:
        at: its position in the report.
        claim: the claim.
        evidence: the evidence by its id, as far as it is still stored.
        feedback: what to show at the end of the card, such as a form.
        cause: the likely root cause of its findings.
    """
    facts = list(_claim_facts(claim))
    spans = list(deciding_spans(claim))
    return tag(
        "article",
        tag(
            "header",
            tag("h3", f"Claim {at + 1}"),
            verdict_badge(claim.verdict),
            _measure("support", claim.score, "good"),
            _measure("contradiction", claim.contradiction, "bad"),
            tag("a", "in the output", href=f"#at-{at + 1}", class_="back"),
        ),
        foreign(claim.text[:LONGEST_QUOTE], "p", class_="said"),
        tag("p", " · ".join(facts), class_="told") if facts else None,
        tag("ul", (issue_view(issue) for issue in claim.issues[:MOST_PARTS]), class_="issues")
        if claim.issues
        else None,
        quotes(spans[:_MOST_SPANS], evidence),
        None if spans else tag("p", "No passage of the evidence decides about it.", class_="soft"),
        [_suggested(one) for one in claim.suggestions[:8]],
        _judged(claim.judgement),
        _looked_up(claim.external),
        cause_view(cause),
        feedback,
        class_="card",
        id=f"claim-{at + 1}",
        data_claim=at + 1,
        tabindex=-1,
    )


def cause_view(cause: CauseReport | None) -> Markup | None:
    """The likely root cause of a finding, and the other causes that were considered."""
    if cause is None:
        return None
    first, *others = cause.estimates
    rest = (
        tag("li", tag("b", words_of(one.cause)), f" {number(one.share)} ", foreign(one.reason[:1_000]))
        for one in others[:8]
    )
    return tag(
        "div",
        tag(
            "p",
            tag("span", "Likely cause: ", class_="soft"),
            tag("b", words_of(first.cause)),
            f" {number(first.share)}. ",
            foreign(first.reason[:1_000]),
        ),
        details(f"Other causes weighed: {len(others)}", tag("ul", rest, class_="plainlist")) if others else None,
        class_="cause",
    )


def words_of(cause: Cause) -> str:
    """The name of a cause in words."""
    return cause.value.replace("_", " ")


def _suggested(suggestion: Suggestion) -> Markup:
    """A value of the evidence that could replace the claim's; it is a suggestion that nothing has applied."""
    return tag(
        "p",
        tag("span", "The evidence gives ", class_="soft"),
        tag("del", foreign(shorten(suggestion.before, 200))),
        " ",
        tag("ins", foreign(shorten(suggestion.after, 200))),
        tag("span", " from ", class_="soft"),
        foreign(shorten(suggestion.evidence.evidence_id, 80)),
        class_="suggested",
    )


def _judged(judgement: ClaimJudgement | None) -> Markup | None:
    if judgement is None:
        return None
    answers = (
        tag(
            "li",
            badge(answer.verdict.lower(), _ANSWERS[answer.verdict]),
            " ",
            foreign(answer.justification[:1_000]),
            tag("small", " does not count: ", foreign(answer.void)) if answer.void else None,
        )
        for answer in judgement.answers
    )
    words = f"The judge: {judgement.outcome.replace('_', ' ')}"
    return details(
        words + (f", was {WORDS[judgement.before]}" if judgement.changed else ""),
        tag("p", foreign(judgement.reason[:1_000])),
        tag("ol", answers, class_="plainlist"),
    )


def _looked_up(external: External | None) -> Markup | None:
    """What knowledge sources say about a claim: the query to each, when it was asked, how long it took, the answer."""
    if external is None:
        return None
    words = f"Knowledge: {external.status}" + (f", was {WORDS[external.before]}" if external.changed else "")
    rows = (
        tag(
            "li",
            badge(word.says, _SAYS[word.says]),
            " ",
            foreign(word.source),
            f" ({word.authority}) ",
            None if word.passage is None else foreign(word.passage[:1_000], "q"),
            None if word.reason is None else foreign(word.reason[:500]),
            tag("small", " ", foreign(_asked(word))),
        )
        for word in external.words[:MOST_PARTS]
    )
    return details(words, tag("p", foreign(external.message[:1_000])), tag("ul", rows, class_="plainlist"))


def _asked(word: SourceWord) -> str:
    """The query to a source, when it was asked and how long it took, on one line."""
    values = [str(value) for query in word.asked for name, value in query.items() if name in _QUERY_VALUES]
    asked = f"asked with {', '.join(dict.fromkeys(values))}; " if values else ""
    age = "" if word.age_s is None else f", known for {word.age_s:.0f} s"
    digest = "" if word.digest is None else f", SHA-256 {word.digest[:12]}"
    return shorten(f"{asked}{word.at}, {word.elapsed_ms:.0f} ms{age}{digest}", 400)


_QUERY_VALUES: Final = frozenset({"entity", "number", "year", "date", "terms", "claim", "search"})
"""The members of a query that hold values of the claim."""
_SAYS: Final = {
    "verifies": "good",
    "refutes": "bad",
    "neither": "quiet",
    "nothing": "quiet",
    "failed": "doubt",
    "skipped": "quiet",
}
_ANSWERS: Final = {"PASS": "good", "FAIL": "bad", "UNCERTAIN": "doubt"}


def _measure(words: str, value: float | None, tone: str) -> Markup | None:
    return None if value is None else tag("span", f"{words} {number(value)}", meter(value, tone), class_="measure")


def _claim_facts(claim: ClaimReport) -> Iterator[str]:
    if claim.severity is not None:
        yield f"severity {claim.severity.level.value} {number(claim.severity.score)}"
    if claim.category is not None:
        yield claim.category.value + (f", {claim.origin.value}" if claim.origin is not None else "")
    if claim.critical:
        yield "critical" + (f" ({', '.join(claim.critical_reasons)})" if claim.critical_reasons else "")
    if claim.conflict:
        yield "sources disagree"
    if claim.hedge >= 0.5:
        yield "hedged"
    if claim.decided_by is not None:
        yield f"decided by the {claim.decided_by} tier"


def issue_view(issue: Issue) -> Markup:
    """One finding as an item of a list."""
    path = None if issue.path is None else group(" at ", code(shorten(issue.path, 200)))
    return tag("li", foreign(issue.message[:LONGEST_QUOTE]), " ", tag("code", issue.code), path)
