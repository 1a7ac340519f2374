"""Parts of the HTML report beside claims and citations: what to write instead, why a claim failed, what was done.

Each part is left out where there is nothing to tell.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from assay.cli.knowledge_lines import external_words, word_line
from assay.cli.reports.repair_words import repair_words
from assay.cli.reports.text_report import escalation_words, number
from assay.policy import TIERS
from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import (
    ClaimReport,
    ConsistencyProbe,
    EvidenceSpan,
    External,
    HallucinationReport,
    Revision,
    Suggestion,
    TextChange,
    ToolCallValidation,
)
from assay.schema.report_parts import (
    Abstention,
    ArgumentProvenance,
    CauseEstimate,
    CauseReport,
    ClaimJudgement,
    Escalated,
    Spending,
)

_SHOWN: Final = 240
"""Characters of foreign text that one cell of a table shows."""
_QUESTIONS: Final = ("found", "not contradicted", "citations", "conditions kept", "values")
"""The judge's five questions, in a word or two each."""
_OUTCOMES: Final = {
    "better": "kept",
    "no_better": "rolled back",
    "unchanged": "unchanged",
    "repeated": "said before",
    "refused": "refused",
    "unreadable": "unreadable",
    "not_asked": "not asked",
}
_VERDICT_TONE: Final = {"PASS": "good", "FAIL": "bad", "UNCERTAIN": "doubt"}
_STATUS_TONE: Final = {"accepted": "good", "rejected": "bad", "unchecked": "bad"}


# On a claim


def suggestions(claim: ClaimReport) -> Markup | None:
    """What the evidence would have in place of the claim's wrong values."""
    if not claim.suggestions:
        return None
    return tag("ul", (tag("li", _suggestion(one)) for one in claim.suggestions), class_="suggest")


def _suggestion(one: Suggestion) -> Markup:
    source = tag("span", " [", foreign(one.evidence.evidence_id), "]", class_="soft")
    return group("Suggested: ", _before(one.before), " → ", _after(one.after), source)


def causes(cause: CauseReport | None) -> Markup | None:
    """Where a finding is likely to come from: each cause with its share, what supports it, and the noisy-or."""
    if cause is None:
        return None
    head = f"Likely causes (together {cause.probability:.0%}, by noisy-or)"
    return group(
        tag("p", head, class_="small soft"),
        tag("ul", (tag("li", _estimate(one)) for one in cause.estimates), class_="small causes"),
    )


def _estimate(one: CauseEstimate) -> Markup:
    return group(
        tag("b", one.cause.value.replace("_", " ")),
        tag("span", f" {one.share:.0%}", class_="num", title=_weights(one)),
        ": ",
        foreign(one.reason),
        (_words(span) for span in one.spans),
    )


def _weights(one: CauseEstimate) -> str:
    return f"P(cause) {one.presence:.2f}, P(hallucination | cause) {one.effect:.2f}"


def _words(span: EvidenceSpan) -> Markup:
    return tag("span", " [", foreign(span.evidence_id), "] ", foreign(_short(span.text), "q"), class_="soft")


def judgement(judgement_of_claim: ClaimJudgement | None) -> Markup | None:
    """The judge's five answers on a claim."""
    if judgement_of_claim is None:
        return None
    head = f"The judge: {judgement_of_claim.outcome.replace('_', ' ')}"
    if judgement_of_claim.changed:
        head += f" (it was {judgement_of_claim.before.value.replace('_', ' ')})"
    rows = (
        tag(
            "li",
            f"{answer.question}. {_QUESTIONS[answer.question - 1]}: ",
            tag("span", answer.verdict, class_=_VERDICT_TONE.get(answer.verdict)),
            [" ", foreign(answer.justification)] if answer.justification else None,
            [" Does not count: ", foreign(answer.void), "."] if answer.void is not None else None,
        )
        for answer in judgement_of_claim.answers
    )
    reason = None if judgement_of_claim.answers else tag("p", foreign(judgement_of_claim.reason), class_="small")
    return group(
        tag("p", head, class_="small soft"),
        reason,
        tag("ul", rows, class_="small") if judgement_of_claim.answers else None,
    )


def external(result: External | None) -> Markup | None:
    """What sources of knowledge say of a claim, each with its words."""
    if result is None:
        return None
    rows = (
        tag(
            "li",
            foreign(word_line(word)),
            None if word.passage is None else group(": ", foreign(_short(word.passage), "q")),
            None if word.place is None else tag("span", " [", foreign(word.place), "]", class_="soft"),
        )
        for word in result.words
    )
    head = group(external_words(result), ". ", foreign(result.message))
    return group(tag("p", head, class_="small soft"), tag("ul", rows, class_="small") if result.words else None)


# On the whole


def history(revision: Revision | None) -> Markup | None:
    """How a repair went: each attempt with its outcome, and the difference between the first and the last version."""
    if revision is None or (revision.converged and not revision.attempts):
        return None
    attempts = (
        tag(
            "li",
            tag("b", _OUTCOMES.get(one.outcome, one.outcome)),
            ": ",
            foreign(one.reason),
            tag("span", _counts(one.failed_claims, one.overall_score, one.restored), class_="soft"),
            _changes(one.changes),
        )
        for one in revision.attempts
    )
    tone = "good" if revision.converged else "bad"
    return tag(
        "section",
        tag("h2", "Repair"),
        tag("p", tag("span", repair_words(revision), class_=tone)),
        tag("ol", attempts) if revision.attempts else None,
        _difference(revision.original, revision.changes),
    )


def _counts(failed: int | None, score: float | None, restored: int) -> str:
    facts = [] if failed is None else [f"{failed} finding{'' if failed == 1 else 's'} left", f"score {number(score)}"]
    facts += [f"{restored} sentence{'' if restored == 1 else 's'} put back"] if restored else []
    return f" ({', '.join(facts)})" if facts else ""


def _changes(changes: Sequence[TextChange]) -> Markup | None:
    if not changes:
        return None
    return tag("ul", (tag("li", _before(one.before), " → ", _after(one.after)) for one in changes), class_="small")


def _difference(original: str, changes: Sequence[TextChange]) -> Markup | None:
    """The first version with what was taken out struck through and what was put in underlined."""
    if not changes:
        return None
    parts: list[Child] = []
    at = 0
    for one in changes:
        parts.append(original[at : one.start])
        parts.append(tag("del", one.before) if one.before else None)
        parts.append(tag("ins", one.after) if one.after else None)
        at = one.end
    parts.append(original[at:])
    return group(
        tag("p", "From the first version to this one", class_="small soft"),
        tag("div", parts, class_="answer diff", dir="auto"),
    )


def _before(text: str) -> Markup:
    return foreign(_short(text), "del") if text else tag("span", "(nothing)", class_="soft")


def _after(text: str) -> Markup:
    return foreign(_short(text), "ins") if text else tag("span", "(nothing)", class_="soft")


def answering(made: Abstention | None) -> Markup | None:
    """Whether to answer: the outcome, the confidence with its signals, what fired, the weak claims and what to do."""
    if made is None:
        return None
    kind = "probability" if made.calibrated else "confidence, not fitted"
    words = f"{made.outcome.value.replace('_', ' ')} ({made.reason.replace('_', ' ')}), {kind} "
    sure = "unknown" if made.confidence is None else number(made.confidence)
    rows = (
        (one.name.replace("_", " "), number(one.value), number(one.weight), one.missing or "") for one in made.signals
    )
    fired = (
        tag("li", f"{one.trigger.value.replace('_', ' ')}: {one.value:.3g} against {one.threshold:.3g}")
        for one in made.triggers
    )
    caveats = (tag("li", foreign(one.claim), f" ({number(one.confidence)})") for one in made.caveats)
    advice = (action.replace("_", " ") for action in made.suggested_actions)
    return tag(
        "section",
        tag("h2", "Whether to answer"),
        tag("p", tag("b", words + sure, class_="good" if made.outcome.value == "RESPOND" else "doubt")),
        tag("ul", fired) if made.triggers else None,
        _table(("Signal", "Value", "Weight", ""), rows) if made.signals else None,
        group(tag("h3", "Weak claims"), tag("ul", caveats)) if made.caveats else None,
        tag("p", "Next: ", ", ".join(advice)) if made.suggested_actions else None,
        tag("div", tag("div", "What would be said", class_="soft small"), foreign(made.response), class_="instead")
        if made.response
        else None,
    )


def escalation(found: Escalated | None) -> Markup | None:
    """Who has to look and how soon, in the table of all tiers and levels."""
    if found is None:
        return None
    rows = (
        (
            tag("b", f"→ {row.tier.value}") if row.tier is found.tier else row.tier.value if row.tier else "none",
            row.level.replace("_", " "),
            row.reviewer,
            row.latency,
            "goes out" if row.released else "is held",
        )
        for row in TIERS
    )
    return tag(
        "section",
        tag("h2", "Review by a person"),
        tag("p", f"{escalation_words(found)}."),
        _table(("Tier", "Level", "Who", "How soon", "Until then"), rows),
    )


def probes(found: Sequence[ConsistencyProbe]) -> Markup | None:
    """What the model said when it was asked again."""
    if not found:
        return None
    rows = (
        (foreign(one.claim), number(one.agreement), [tag("p", foreign(_short(said))) for said in one.probe_answers])
        for one in found
    )
    return tag("section", tag("h2", "Asked again"), _table(("Claim", "Agreement", "Answers"), rows))


def calls(found: Sequence[ToolCallValidation]) -> Markup | None:
    """The tool calls of a run, each with what is wrong and where its arguments come from."""
    if not found:
        return None
    rows = (
        (
            foreign(one.tool),
            tag("span", one.status, class_=_STATUS_TONE.get(one.status)),
            [tag("p", foreign(_short(error))) for error in one.errors],
            [tag("p", _argument(entry)) for entry in one.provenance],
        )
        for one in found
    )
    return tag("section", tag("h2", "Tool calls"), _table(("Tool", "Status", "What was found", "Arguments"), rows))


def _argument(entry: ArgumentProvenance) -> Markup:
    origin = f" {entry.status.value.replace('_', ' ')}" + (f", {entry.source.value}" if entry.source else "")
    where = None if entry.source_id is None else group(" [", foreign(entry.source_id), "]")
    return group(tag("code", foreign(entry.path)), " ", foreign(_short(str(entry.value))), origin, where)


def spending(found: Sequence[Spending]) -> Markup | None:
    """What asking chat models cost."""
    if not found:
        return None
    rows = (
        (
            one.purpose.replace("_", " "),
            foreign(one.model),
            f"{one.calls}",
            f"{one.prompt_tokens:,}",
            f"{one.completion_tokens:,}" + (" (estimated)" if one.estimated else ""),
            "–" if one.cost is None else f"{one.cost:.4f} {one.currency}",
        )
        for one in found
    )
    return tag(
        "section",
        tag("h2", "Spent on models"),
        _table(("For", "Model", "Calls", "Tokens in", "Tokens out", "Cost"), rows),
    )


def sections(report: HallucinationReport) -> Iterator[Markup | None]:
    """All parts on the whole, in the order in which a reader asks for them."""
    yield escalation(report.escalation)
    yield history(report.revision)
    yield answering(report.abstention)
    yield probes(report.consistency_probes)
    yield calls(report.tool_call_validations)
    yield spending(report.spending)


def _table(heads: Sequence[str], rows: Iterable[Sequence[Child]]) -> Markup:
    head = tag("tr", (tag("th", word, scope="col") for word in heads))
    body = (tag("tr", (tag("td", cell) for cell in row)) for row in rows)
    return tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="scroll")


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
