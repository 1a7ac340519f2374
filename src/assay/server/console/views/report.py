"""A report on a page: the decision with its reasons, and the output with its claims marked."""

from collections.abc import Mapping, Sequence
from typing import Final

from assay.policy import disclosure_of
from assay.reporting import (
    GRAVITY,
    SIGNS,
    WORDS,
    Child,
    Markup,
    foreign,
    group,
    tag,
)
from assay.schema import (
    Action,
    ClaimReport,
    Evidence,
    HallucinationReport,
)
from assay.server.console.parts import (
    VERDICT_TONES,
    action_badge,
    empty_state,
    facts,
    meter,
    millis,
    note,
    number,
    shorten,
)
from assay.server.console.views.answer_text import TextView, marked_text
from assay.server.console.views.claim_card import MOST_PARTS, claim_card
from assay.server.console.views.quotations import LONGEST_QUOTE
from assay.server.console.views.report_sections import MOST_CLAIMS

_FEWEST_LISTED: Final = 2
"""The fewest claims that get a list."""

_ACTION_MEANINGS: Final = {
    Action.EMIT: "The output may go downstream.",
    Action.REVISE: "The output goes back to its author with the findings.",
    Action.BLOCK: "Blocked. A fallback response was returned.",
    Action.ESCALATE: "The output waits until a person has decided.",
}


# The decision


def decision_view(report: HallucinationReport) -> Markup:
    """The decision of the gate, its reasons and the text that takes the place of the output."""
    decision = report.decision
    pairs: list[tuple[str, Child]] = [
        ("Score", group(number(report.overall_score), " ", meter(report.overall_score))),
        ("Route", foreign(decision.route.replace("_", " "))),
        ("Stakes", report.stakes.value),
        ("Label", report.labels.verdict),
        ("Policy", group(foreign(shorten(report.policy.name, 60)), " ", tag("code", report.policy.digest[:8]))),
        ("Time", millis(report.timing.total_ms)),
        ("Verifier", group(foreign(shorten(report.verifier.name, 60)), " ", tag("code", report.verifier.digest[:8]))),
    ]
    escalation = report.escalation
    if escalation is not None:
        pairs.insert(3, ("Review", f"{escalation.tier.value}, risk {number(escalation.risk)}"))
    reasons = [tag("li", foreign(reason)) for reason in decision.reasons[:MOST_PARTS]]
    return tag(
        "section",
        tag("p", action_badge(report.action), tag("b", _ACTION_MEANINGS[report.action]), class_="verdict"),
        tag("ul", reasons, class_="reasons") if reasons else None,
        facts(pairs),
        _response_view(report),
        class_=f"decision is-{report.action.value}",
        aria_label="Decision",
    )


def _response_view(report: HallucinationReport) -> Markup | None:
    response = report.decision.response
    if response is None:
        return None
    text = foreign(response[:LONGEST_QUOTE], "blockquote", class_="text")
    title = "Fallback response" if disclosure_of(report) is None else "Added for the reader"
    return tag("div", tag("h2", title), text, class_="instead")


# The answer and its claims


def answer_view(
    report: HallucinationReport,
    evidence: Mapping[str, Evidence],
    feedback: Mapping[int, Markup],
    question: str | None = None,
    below: Child = None,
    view: TextView | None = None,
) -> Markup:
    """The output with its claims marked, next to the cards of the claims.

    Args:
        report: the report.
        evidence: the evidence by its id, as far as it is still stored.
        feedback: what to show at the end of the card of a claim, by the position of the claim.
        question: the question, unless the page shows it elsewhere.
        below: what to show below the output, or below the cards on a narrow screen.
        view: how to show the text of the output; as it was written by default.
    """
    cards = claim_order(report)[:MOST_CLAIMS]
    return tag(
        "div",
        tag(
            "section",
            tag("h2", "Output", id="output"),
            _question(question),
            marked_text(report, set(cards), view or TextView()),
            _legend(report),
            _claim_list(report, cards),
            class_="output",
        ),
        _inspector(report, cards, evidence, feedback),
        tag("div", below, class_="below-output") if below is not None else None,
        class_="reading",
    )


def _claim_list(report: HallucinationReport, cards: Sequence[int]) -> Markup | None:
    """A line for each claim that has a card, the gravest first; `None` for a single claim."""
    if len(cards) < _FEWEST_LISTED:
        return None
    rows = (_claim_line(at, report.claims[at]) for at in cards)
    return tag("ol", rows, class_="claim-list", aria_label="Claims, the gravest first")


def _claim_line(at: int, claim: ClaimReport) -> Markup:
    verdict = claim.verdict
    sign = tag("span", f"{SIGNS[verdict]}{at + 1}", class_=f"sign {VERDICT_TONES[verdict]}", aria_hidden="true")
    label = tag("span", f"Claim {at + 1}, {WORDS[verdict]}: ", class_="hidden")
    score = tag("span", number(claim.score), class_="num soft")
    words = foreign(shorten(claim.text, 200), class_="words")
    return tag("li", tag("a", sign, label, words, score, href=f"#claim-{at + 1}", data_claims=at + 1))


def claim_order(report: HallucinationReport) -> list[int]:
    """The positions of the claims, the gravest first."""
    claims = report.claims
    return sorted(range(len(claims)), key=lambda at: (GRAVITY.index(claims[at].verdict), -_weight(claims[at]), at))


def _weight(claim: ClaimReport) -> float:
    return claim.severity.score if claim.severity is not None else 0.0


def _question(question: str | None) -> Markup | None:
    if question is None:
        return None
    return tag("p", tag("span", "Question", class_="label"), foreign(question[:LONGEST_QUOTE]), class_="question")


def _legend(report: HallucinationReport) -> Markup | None:
    verdicts = [one for one in GRAVITY if any(claim.verdict is one for claim in report.claims)]
    entries = (tag("li", tag("span", f"{SIGNS[one]} {WORDS[one]}", class_=f"piece {one.value}")) for one in verdicts)
    return tag("ul", entries, class_="marks", aria_label="What the marks mean") if verdicts else None


def _inspector(
    report: HallucinationReport, cards: Sequence[int], evidence: Mapping[str, Evidence], feedback: Mapping[int, Markup]
) -> Markup:
    if not report.claims:
        why = "; ".join(report.coverage.reasons) or "Nothing in the output is a checkable statement."
        body: Child = empty_state("No claim was found", foreign(why))
    else:
        causes = {one.claim: one for one in report.causes if one.claim is not None}
        body = [claim_card(at, report.claims[at], evidence, feedback.get(at), causes.get(at)) for at in cards]
    more = len(report.claims) - len(cards)
    rest = note("quiet", f"{more:,} more claims are in the report itself.") if more > 0 else None
    return tag(
        "section", tag("h2", "Claims and evidence", id="claims"), body, rest, class_="inspector", data_inspector=True
    )
