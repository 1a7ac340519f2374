"""Parts of the HTML report besides claims and citations: suggestions, causes, judgements, repair, abstention, costs.

A part is left out if the report has nothing for it.
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

_MOST_CHARACTERS: Final = 240
"""The most characters of foreign text that a table cell shows."""
_JUDGE_QUESTIONS: Final = ("found", "not contradicted", "citations", "conditions kept", "values")
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
    """The values of the evidence that are suggested in place of the claim's wrong ones."""
    if not claim.suggestions:
        return None
    return tag("ul", (tag("li", _suggestion(one)) for one in claim.suggestions), class_="suggest")


def _suggestion(suggestion: Suggestion) -> Markup:
    source = tag("span", " [", foreign(suggestion.evidence.evidence_id), "]", class_="soft")
    return group("Suggested: ", _before(suggestion.before), " → ", _after(suggestion.after), source)


def causes(cause: CauseReport | None) -> Markup | None:
    """The likely causes of a finding, each with its share and passages, and their combined probability (noisy-or)."""
    if cause is None:
        return None
    head = f"Likely causes (together {cause.probability:.0%}, by noisy-or)"
    return group(
        tag("p", head, class_="small soft"),
        tag("ul", (tag("li", _estimate(one)) for one in cause.estimates), class_="small causes"),
    )


def _estimate(estimate: CauseEstimate) -> Markup:
    return group(
        tag("b", estimate.cause.value.replace("_", " ")),
        tag("span", f" {estimate.share:.0%}", class_="num", title=_weights(estimate)),
        ": ",
        foreign(estimate.reason),
        (_cited_words(span) for span in estimate.spans),
    )


def _weights(estimate: CauseEstimate) -> str:
    return f"P(cause) {estimate.presence:.2f}, P(hallucination | cause) {estimate.effect:.2f}"


def _cited_words(span: EvidenceSpan) -> Markup:
    return tag("span", " [", foreign(span.evidence_id), "] ", foreign(_short(span.text), "q"), class_="soft")


def judgement(claim_judgement: ClaimJudgement | None) -> Markup | None:
    """The judge's five answers on a claim."""
    if claim_judgement is None:
        return None
    head = f"The judge: {claim_judgement.outcome.replace('_', ' ')}"
    if claim_judgement.changed:
        head += f" (it was {claim_judgement.before.value.replace('_', ' ')})"
    rows = (
        tag(
            "li",
            f"{answer.question}. {_JUDGE_QUESTIONS[answer.question - 1]}: ",
            tag("span", answer.verdict, class_=_VERDICT_TONE.get(answer.verdict)),
            [" ", foreign(answer.justification)] if answer.justification else None,
            [" Does not count: ", foreign(answer.void), "."] if answer.void is not None else None,
        )
        for answer in claim_judgement.answers
    )
    reason = None if claim_judgement.answers else tag("p", foreign(claim_judgement.reason), class_="small")
    return group(
        tag("p", head, class_="small soft"),
        reason,
        tag("ul", rows, class_="small") if claim_judgement.answers else None,
    )


def external(result: External | None) -> Markup | None:
    """The results of knowledge sources on a claim, with their passages."""
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


def repair(revision: Revision | None) -> Markup | None:
    """The course of a repair: each attempt with its outcome, and the difference of the first and the last version."""
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
    """The first version with deletions struck through and insertions underlined."""
    if not changes:
        return None
    parts: list[Child] = []
    position = 0
    for change in changes:
        parts.append(original[position : change.start])
        parts.append(tag("del", change.before) if change.before else None)
        parts.append(tag("ins", change.after) if change.after else None)
        position = change.end
    parts.append(original[position:])
    return group(
        tag("p", "From the first version to this one", class_="small soft"),
        tag("div", parts, class_="answer diff", dir="auto"),
    )


def _before(text: str) -> Markup:
    return foreign(_short(text), "del") if text else tag("span", "(nothing)", class_="soft")


def _after(text: str) -> Markup:
    return foreign(_short(text), "ins") if text else tag("span", "(nothing)", class_="soft")


def abstention(decision: Abstention | None) -> Markup | None:
    """Whether to answer: the outcome, the confidence with its signals, triggers, weak claims and suggested actions."""
    if decision is None:
        return None
    kind = "probability" if decision.calibrated else "confidence, not fitted"
    words = f"{decision.outcome.value.replace('_', ' ')} ({decision.reason.replace('_', ' ')}), {kind} "
    sure = "unknown" if decision.confidence is None else number(decision.confidence)
    rows = (
        (one.name.replace("_", " "), number(one.value), number(one.weight), one.missing or "")
        for one in decision.signals
    )
    fired = (
        tag("li", f"{one.trigger.value.replace('_', ' ')}: {one.value:.3g} against {one.threshold:.3g}")
        for one in decision.triggers
    )
    caveats = (tag("li", foreign(one.claim), f" ({number(one.confidence)})") for one in decision.caveats)
    advice = (action.replace("_", " ") for action in decision.suggested_actions)
    return tag(
        "section",
        tag("h2", "Whether to answer"),
        tag("p", tag("b", words + sure, class_="good" if decision.outcome.value == "RESPOND" else "doubt")),
        tag("ul", fired) if decision.triggers else None,
        _table(("Signal", "Value", "Weight", ""), rows) if decision.signals else None,
        group(tag("h3", "Weak claims"), tag("ul", caveats)) if decision.caveats else None,
        tag("p", "Next: ", ", ".join(advice)) if decision.suggested_actions else None,
        tag("div", tag("div", "What would be said", class_="soft small"), foreign(decision.response), class_="instead")
        if decision.response
        else None,
    )


def escalation(escalated: Escalated | None) -> Markup | None:
    """Who has to review and how soon, in the table of all tiers and levels."""
    if escalated is None:
        return None
    rows = (
        (
            tag("b", f"→ {row.tier.value}") if row.tier is escalated.tier else row.tier.value if row.tier else "none",
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
        tag("p", f"{escalation_words(escalated)}."),
        _table(("Tier", "Level", "Who", "How soon", "Until then"), rows),
    )


def probes(probe_results: Sequence[ConsistencyProbe]) -> Markup | None:
    """The answers of the model when it was asked again."""
    if not probe_results:
        return None
    rows = (
        (
            foreign(probe.claim),
            number(probe.agreement),
            [tag("p", foreign(_short(said))) for said in probe.probe_answers],
        )
        for probe in probe_results
    )
    return tag("section", tag("h2", "Asked again"), _table(("Claim", "Agreement", "Answers"), rows))


def calls(validations: Sequence[ToolCallValidation]) -> Markup | None:
    """The tool calls of a run, each with its errors and the provenance of its arguments."""
    if not validations:
        return None
    rows = (
        (
            foreign(validation.tool),
            tag("span", validation.status, class_=_STATUS_TONE.get(validation.status)),
            [tag("p", foreign(_short(error))) for error in validation.errors],
            [tag("p", _argument(entry)) for entry in validation.provenance],
        )
        for validation in validations
    )
    return tag("section", tag("h2", "Tool calls"), _table(("Tool", "Status", "What was found", "Arguments"), rows))


def _argument(entry: ArgumentProvenance) -> Markup:
    origin = f" {entry.status.value.replace('_', ' ')}" + (f", {entry.source.value}" if entry.source else "")
    where = None if entry.source_id is None else group(" [", foreign(entry.source_id), "]")
    return group(tag("code", foreign(entry.path)), " ", foreign(_short(str(entry.value))), origin, where)


def spending(entries: Sequence[Spending]) -> Markup | None:
    """The cost of calls of chat models."""
    if not entries:
        return None
    rows = (
        (
            entry.purpose.replace("_", " "),
            foreign(entry.model),
            f"{entry.calls}",
            f"{entry.prompt_tokens:,}",
            f"{entry.completion_tokens:,}" + (" (estimated)" if entry.estimated else ""),
            "–" if entry.cost is None else f"{entry.cost:.4f} {entry.currency}",
        )
        for entry in entries
    )
    return tag(
        "section",
        tag("h2", "Spent on models"),
        _table(("For", "Model", "Calls", "Tokens in", "Tokens out", "Cost"), rows),
    )


def sections(report: HallucinationReport) -> Iterator[Markup | None]:
    """The parts on the whole report, the most important first."""
    yield escalation(report.escalation)
    yield repair(report.revision)
    yield abstention(report.abstention)
    yield probes(report.consistency_probes)
    yield calls(report.tool_call_validations)
    yield spending(report.spending)


def _table(heads: Sequence[str], rows: Iterable[Sequence[Child]]) -> Markup:
    head = tag("tr", (tag("th", word, scope="col") for word in heads))
    body = (tag("tr", (tag("td", cell) for cell in row)) for row in rows)
    return tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="scroll")


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
