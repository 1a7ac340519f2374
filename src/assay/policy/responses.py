"""What a person reads in place of a withheld output: why, and what to do next.

A text says in general terms what failed and reveals no internals (docs/concepts.md#thresholds): no scores, thresholds,
prompts, models or passages. "I can't help with that" would not be enough: a reader learns why, and what to do.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from enum import IntEnum
from typing import Final

from assay.policy.routes import Route
from assay.schema import Action, HallucinationReport, Verdict
from assay.schema.report_parts import decided


class Cause(IntEnum):
    """What kind of finding it is; the smaller comes first in what people read."""

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
    """Support below what is asked for."""
    PARTIAL = 17
    """Routing table: partial support, to be disclosed."""
    SEVERITY = 18
    """A claim of critical severity."""
    RISK = 19
    """Much depends on an output of which little is certain."""
    EXHAUSTED = 20
    """Revisions have failed too often."""
    RUN = 21
    """The agent run behind it has not ended, or could not be read or checked in full."""
    LOGIC = 22
    """It is at odds with itself: a sum, an order, a conclusion, a contradiction."""
    OMISSION = 23
    """It leaves out what the evidence makes a condition."""


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
"""How many reasons a refusal names; more would bury what to do next."""


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


_OF_CITATIONS = {"fabricated": Cause.FABRICATED, "unchecked": Cause.UNCHECKED, "verified": None}
_OF_VERDICTS = {
    Verdict.CONTRADICTED: Cause.CONTRADICTION,
    Verdict.UNSUPPORTED: Cause.UNSUPPORTED,
    Verdict.UNCHECKED: Cause.UNCHECKED,
}


def fallback_response(report: HallucinationReport) -> str:
    """What to answer where the output of a report goes out in no form: why, and what to do next.

    The decision's own text where it has one; for an output that would be revised and is not, one by what was found.
    Disclosures beside an output that goes out are left out here: alone it would be no answer.
    """
    decision = report.decision
    if decision.response is not None and decision.action in (Action.BLOCK, Action.ESCALATE):
        return decision.response
    return refusal(_causes(report), Action.BLOCK)


def _causes(report: HallucinationReport) -> set[Cause]:
    found = {_OF_VERDICTS.get(claim.verdict) for claim in report.claims}
    found |= {_OF_CITATIONS.get(citation.status, Cause.CITATION) for citation in report.citations}
    if not report.output.strip():
        found.add(Cause.EMPTY)
    if any(issue.code.startswith("structure.") for issue in report.issues):
        found.add(Cause.STRUCTURE)
    if any(validation.status != "accepted" and validation.executed for validation in report.tool_call_validations):
        found.add(Cause.TOOLS)
    return {cause for cause in found if cause is not None} or {Cause.WEAK}


def disclosure() -> str:
    """The text that goes with an answer that is served although it is supported only in part."""
    return (
        "Please note: the available documents support this answer only in part. "
        "Check what matters to you against the sources before you rely on it."
    )


_PARTS_NAMED: Final = 5
"""Parts of a question that are named, each with so many characters at most."""
_LONGEST_PART: Final = 60


def silence_notice(parts: Sequence[str]) -> str:
    """The notice about parts of a question that neither the evidence nor the answer mentions.

    >>> silence_notice(["mothers", "fathers"])
    'The available documents say nothing of “mothers”, “fathers”.'
    """
    named = ", ".join(f"“{part[:_LONGEST_PART]}”" for part in parts[:_PARTS_NAMED])
    return f"The available documents say nothing of {named}."


def disclosure_of(report: HallucinationReport) -> str | None:
    """The disclosure after the output of a report, where that goes out; none where there is nothing to tell.

    It follows an output that is emitted, and one that may only be served with a disclosure is served with it.
    """
    decision = report.decision
    served = decision.action is Action.REVISE and decision.route == Route.SERVE_WITH_DISCLOSURE
    return decision.response if served or decision.action is Action.EMIT else None


def answer_of(report: HallucinationReport) -> str:
    """What a reader gets of a report: the output with its disclosure, or the fallback response."""
    disclosure = disclosure_of(report)
    if disclosure is not None:
        return f"{report.output}\n\n{disclosure}"
    return report.output if report.action is Action.EMIT else fallback_response(report)


def without_disclosure(report: HallucinationReport) -> HallucinationReport:
    """The report of an output that is emitted by itself: words of a person, or words beside calls that go on.

    What nothing tells of still is in `untold`.
    """
    if report.action is not Action.EMIT or report.decision.response is None:
        return report
    return decided(report, {"decision": report.decision.model_copy(update={"response": None})})
