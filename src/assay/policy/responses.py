"""Fallback responses: what a reader gets in place of a withheld output, with the reason and what to do next.

A text states in general terms what failed and reveals no internals (docs/concepts.md#thresholds): no scores,
thresholds, prompts, models or passages. "I can't help with that" is not enough: a reader learns why, and what to do.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from enum import IntEnum
from typing import Final

from assay.policy.routes import Route
from assay.schema import Action, HallucinationReport, Verdict
from assay.schema.report_parts import decided


class Cause(IntEnum):
    """The kind of a finding; causes with smaller numbers come first in the texts for readers."""

    EMPTY = 1
    """There is no output."""
    FABRICATED = 2
    """A citation names a source that does not exist."""
    CONFLICT = 3
    """Sources disagree."""
    CONTRADICTION = 4
    """The evidence says otherwise."""
    CITATION = 5
    """A citation does not hold."""
    NO_EVIDENCE = 6
    """There is nothing to test claims against."""
    GAP = 7
    """Routing table: the documents hardly mention it."""
    CLOSEST = 8
    """Routing table: the documents support it weakly."""
    UNSUPPORTED = 9
    """An important claim, or too many claims, have no support."""
    STRUCTURE = 10
    """A structured output breaks its schema."""
    TOOLS = 11
    """A tool call failed validation."""
    UNCHECKED = 12
    """Something was not checked."""
    NO_CLAIMS = 13
    """Nothing to check was found."""
    UNCITED = 14
    """A claim without a citation, under a policy that requires them."""
    DIVERGED = 15
    """The model disagreed with itself."""
    WEAK = 16
    """Support below the threshold."""
    PARTIAL = 17
    """Routing table: partial support, to be disclosed."""
    SEVERITY = 18
    """A claim of critical severity."""
    RISK = 19
    """The stakes are high for the confidence in the output."""
    EXHAUSTED = 20
    """Revisions have failed too often."""
    RUN = 21
    """The agent run behind it has not ended, or could not be read or checked in full."""
    LOGIC = 22
    """It contradicts itself: a wrong sum, order or conclusion, or two statements that exclude each other."""
    OMISSION = 23
    """It omits a qualification of the evidence."""


_ASK_AGAIN = "Ask a narrower question, or add documents that cover it."
_READ_SOURCES = "Please read the sources themselves, or ask someone who is responsible for the subject."
_TRY_AGAIN = "Please try again; if it happens again, tell the operator of this service."

_TEXTS: dict[Cause, tuple[str, str]] = {
    Cause.EMPTY: ("No answer was produced.", _TRY_AGAIN),
    Cause.FABRICATED: ("It cited a source that could not be found.", _READ_SOURCES),
    Cause.CONFLICT: (
        "The available sources contradict each other on this, so no single answer is given.",
        "Please compare the sources and ask the people who maintain them which one is right.",
    ),
    Cause.CONTRADICTION: ("Part of it does not agree with the available documents.", _READ_SOURCES),
    Cause.CITATION: ("A source that it cited does not say what it was cited for.", _READ_SOURCES),
    Cause.NO_EVIDENCE: ("There were no documents to check it against.", _ASK_AGAIN),
    Cause.GAP: ("The available documents do not cover this question.", _ASK_AGAIN),
    Cause.CLOSEST: (
        "This question could not be fully answered from available documents.",
        "Please look at the closest sources, or ask someone who is responsible for the subject.",
    ),
    Cause.UNSUPPORTED: ("The available documents do not support an important part of it.", _ASK_AGAIN),
    Cause.STRUCTURE: ("It did not have the form that was asked for.", _TRY_AGAIN),
    Cause.TOOLS: ("It rested on an action that could not be carried out as written.", _TRY_AGAIN),
    Cause.UNCHECKED: ("Not all of it could be checked.", "Please try again with a shorter question or document."),
    Cause.NO_CLAIMS: ("Nothing in it could be checked.", "Ask a question that the available documents can answer."),
    Cause.UNCITED: ("Part of it named no source.", _ASK_AGAIN),
    Cause.DIVERGED: ("Asking the same question again gave a different answer.", _READ_SOURCES),
    Cause.WEAK: ("The available documents support it only weakly.", _ASK_AGAIN),
    Cause.PARTIAL: ("The available documents support it only in part.", _ASK_AGAIN),
    Cause.SEVERITY: ("An error in it could do serious harm.", _READ_SOURCES),
    Cause.RISK: ("Too much depends on it for the support that there is.", _READ_SOURCES),
    Cause.EXHAUSTED: ("Attempts to correct it did not succeed.", _ASK_AGAIN),
    Cause.LOGIC: ("Its own reasoning does not hold together.", _READ_SOURCES),
    Cause.OMISSION: ("It left out something that matters.", _READ_SOURCES),
    Cause.RUN: ("The work behind it had not ended or could not be checked in full.", _TRY_AGAIN),
}

_REASONS_SHOWN = 2
"""How many reasons a refusal names; more of them would hide the advice on what to do next."""


def refusal(causes: AbstractSet[Cause], action: Action) -> str:
    """The text in place of a blocked or escalated output.

    >>> refusal({Cause.GAP}, Action.BLOCK)
    'This answer was withheld. The available documents do not cover this question. \
Ask a narrower question, or add documents that cover it.'
    """
    first = sorted(causes)[:_REASONS_SHOWN]
    why = " ".join(_TEXTS[cause][0] for cause in first)
    if action is Action.ESCALATE:
        return f"This answer is withheld until a person has reviewed it. {why}".rstrip()
    what_next = _TEXTS[first[0]][1] if first else _TRY_AGAIN
    return " ".join(part for part in ("This answer was withheld.", why, what_next) if part)


_CITATION_CAUSES = {"fabricated": Cause.FABRICATED, "unchecked": Cause.UNCHECKED, "verified": None}
_VERDICT_CAUSES = {
    Verdict.CONTRADICTED: Cause.CONTRADICTION,
    Verdict.UNSUPPORTED: Cause.UNSUPPORTED,
    Verdict.UNCHECKED: Cause.UNCHECKED,
}


def fallback_response(report: HallucinationReport) -> str:
    """The response in place of an output that is not released in any form: why, and what to do next.

    It is the decision's own text where it has one. For an output that should be revised and is not, the text follows
    from the findings. A disclosure that accompanies a released output is not used: alone it would not be an answer.
    """
    decision = report.decision
    if decision.response is not None and decision.action in (Action.BLOCK, Action.ESCALATE):
        return decision.response
    return refusal(_causes(report), Action.BLOCK)


def _causes(report: HallucinationReport) -> set[Cause]:
    causes = {_VERDICT_CAUSES.get(claim.verdict) for claim in report.claims}
    causes |= {_CITATION_CAUSES.get(citation.status, Cause.CITATION) for citation in report.citations}
    if not report.output.strip():
        causes.add(Cause.EMPTY)
    if any(issue.code.startswith("structure.") for issue in report.issues):
        causes.add(Cause.STRUCTURE)
    if any(validation.status != "accepted" and validation.executed for validation in report.tool_call_validations):
        causes.add(Cause.TOOLS)
    return {cause for cause in causes if cause is not None} or {Cause.WEAK}


def disclosure() -> str:
    """The text that accompanies an answer that is served although only part of it is supported."""
    return (
        "Please note: the available documents support this answer only in part. "
        "Check what matters to you against the sources before you rely on it."
    )


_PARTS_NAMED: Final = 5
"""The most parts of a question that a notice names."""
_LONGEST_PART: Final = 60
"""The most characters of a part that a notice quotes."""


def silence_notice(parts: Sequence[str]) -> str:
    """The notice about parts of a question that neither the evidence nor the answer mentions.

    >>> silence_notice(["mothers", "fathers"])
    'The available documents say nothing of “mothers”, “fathers”.'
    """
    named = ", ".join(f"“{part[:_LONGEST_PART]}”" for part in parts[:_PARTS_NAMED])
    return f"The available documents say nothing of {named}."


def disclosure_of(report: HallucinationReport) -> str | None:
    """The disclosure that follows the output of a report where it is released; None if there is nothing to disclose.

    An emitted output may have one; an output that may only be served with a disclosure always has one.
    """
    decision = report.decision
    served = decision.action is Action.REVISE and decision.route == Route.SERVE_WITH_DISCLOSURE
    return decision.response if served or decision.action is Action.EMIT else None


def answer_of(report: HallucinationReport) -> str:
    """What a reader gets: the output, followed by its disclosure if there is one, or else the fallback response."""
    disclosure = disclosure_of(report)
    if disclosure is not None:
        return f"{report.output}\n\n{disclosure}"
    return report.output if report.action is Action.EMIT else fallback_response(report)


def without_disclosure(report: HallucinationReport) -> HallucinationReport:
    """The report of an output that is emitted without its disclosure: a person's words, or text beside tool calls.

    The parts of the question that nothing answers remain in `untold`.
    """
    if report.action is not Action.EMIT or report.decision.response is None:
        return report
    return decided(report, {"decision": report.decision.model_copy(update={"response": None})})
