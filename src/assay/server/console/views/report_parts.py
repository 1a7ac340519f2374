"""Parts of a report besides its claims: omissions, abstention, generation, knowledge sources and the judge."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from assay.errors import InputError
from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import HallucinationReport, SourceUse
from assay.schema.report_parts import ConfidenceSignal, Generation, Omission, StatementReport, VerificationQuestion
from assay.server.console.parts import Column, badge, details, facts, line, meter, number, panel, shorten, table

_MOST_ROWS: Final = 100
"""The most entries that one part shows."""
_LONGEST_TEXT: Final = 4_000
"""The most characters of one text that a part shows."""
_JUDGED: Final = {
    "confirmed": ("confirmed by the judge", "bad"),
    "denied": ("denied by the judge", "good"),
    "doubted": ("doubted by the judge", "quiet"),
    "unchecked": ("the judge could not be read", "doubt"),
}
_OUTCOMES: Final = {"kept": "good", "flagged": "doubt", "removed": "bad", "rejected": "bad", "quarantined": "bad"}
_CHAIN: Final = {"consistent": "good", "contradicted": "bad", "unconfirmed": "doubt", "unanswered": "doubt"}


def omissions_view(report: HallucinationReport) -> Markup | None:
    """Conditions that the evidence sets and the output leaves out, quoted from the evidence."""
    if not report.omissions:
        return None
    return panel("Left out of the output", [_omission(one) for one in report.omissions[:_MOST_ROWS]])


def _omission(omission: Omission) -> Markup:
    judged = badge(*_JUDGED[omission.judged]) if omission.judged in _JUDGED else None
    start = omission.evidence.start - omission.statement.start
    text = omission.statement.text
    inside = start >= 0 and text[start : start + len(omission.evidence.text)] == omission.evidence.text
    before, after = (text[:start], text[start + len(omission.evidence.text) :]) if inside else ("", "")
    return tag(
        "article",
        tag(
            "header",
            badge(omission.kind, "doubt"),
            judged,
            tag("span", f"confidence {number(omission.confidence)}", class_="soft"),
        ),
        foreign(omission.message[:_LONGEST_TEXT], "p", class_="said"),
        tag(
            "figure",
            tag("figcaption", foreign(shorten(omission.evidence.evidence_id, 120), "b")),
            tag(
                "blockquote",
                before[-600:],
                foreign(omission.evidence.text[:_LONGEST_TEXT], "mark"),
                after[:600],
                class_="text",
                dir="auto",
            ),
            class_="quote",
        ),
        class_="card",
    )


def abstention_view(report: HallucinationReport) -> Markup | None:
    """The decision whether to answer at all, if the policy asks for one."""
    abstention = report.abstention
    if abstention is None:
        return None
    tone = {"RESPOND": "good", "PARTIAL_WITH_CAVEATS": "doubt", "ABSTAIN": "bad"}[abstention.outcome.value]
    pairs: list[tuple[str, Child]] = [
        ("Outcome", badge(abstention.outcome.value.lower().replace("_", " "), tone)),
        ("Reason", foreign(shorten(abstention.reason.replace("_", " "), 120))),
        ("Confidence", group(number(abstention.confidence), " ", meter(abstention.confidence))),
        ("Calibrated", "yes" if abstention.calibrated else "no"),
    ]
    fired = [
        tag("li", f"{one.trigger.value.replace('_', ' ')}: {number(one.value)} against {number(one.threshold)}")
        for one in abstention.triggers
    ]
    columns = (Column("Signal"), Column("Value", "num"), Column("Weight", "num"), Column("Note", "wide"))

    def row(signal: ConfidenceSignal) -> list[Child]:
        why = line(signal.missing) if signal.missing else ""
        return [foreign(signal.name.replace("_", " ")), number(signal.value), number(signal.weight), why]

    signals = table("Signals of confidence", columns, map(row, abstention.signals))
    shown = details(f"{len(abstention.signals)} signals", signals) if abstention.signals else None
    return panel("Answer or not", facts(pairs), tag("ul", fired, class_="reasons") if fired else None, shown)


def generation_view(report: HallucinationReport) -> Markup | None:
    """How the output was generated, if assay generated it."""
    generation = report.generation
    if generation is None:
        return None
    pairs: list[tuple[str, Child]] = [
        ("Model", foreign(shorten(generation.model, 80))),
        ("Answers asked for", str(generation.attempts)),
        ("Stopped", generation.stopped.replace("_", " ")),
        ("Ungrounded at first", number(generation.ungrounded)),
        ("Cost over one answer", "–" if generation.relative_cost is None else f"{generation.relative_cost:.1f} ×"),
    ]
    missing = tag("p", "It said that the evidence does not answer: ", line(generation.missing), class_="note quiet")
    return panel(
        "How it was generated",
        facts(pairs),
        missing if generation.missing else None,
        _statements(generation),
        _chain(generation),
    )


def _statements(generation: Generation) -> Markup | None:
    if not generation.statements:
        return None
    columns = (Column("Statement", "wide"), Column("Outcome"), Column("Sources"), Column("Why", "wide"))

    def row(statement: StatementReport) -> list[Child]:
        return [
            line(statement.text),
            badge(statement.outcome, _OUTCOMES[statement.outcome]),
            line(", ".join(statement.sources), 80),
            line("; ".join(statement.reasons)) if statement.reasons else "",
        ]

    shown = table("Statements that the model made", columns, map(row, generation.statements[:_MOST_ROWS]))
    return details(f"{len(generation.statements)} statements", shown)


def _chain(generation: Generation) -> Markup | None:
    if not generation.chain:
        return None
    columns = (Column("Question", "wide"), Column("Answer", "wide"), Column("Outcome"), Column("Score", "num"))

    def row(question: VerificationQuestion) -> list[Child]:
        return [
            line(question.question),
            line(question.answer),
            badge(question.outcome, _CHAIN.get(question.outcome, "bad")),
            number(question.score),
        ]

    return details(
        f"{len(generation.chain)} questions of verification",
        table("Questions of verification", columns, map(row, generation.chain[:_MOST_ROWS])),
    )


def knowledge_view(report: HallucinationReport) -> Markup | None:
    """What knowledge sources contributed, if any was asked about a claim."""
    knowledge = report.knowledge
    if knowledge is None:
        return None
    columns = (
        Column("Source", "wide"),
        Column("Kind"),
        Column("Authority"),
        Column("Asked", "num"),
        Column("Answered", "num"),
        Column("From memory", "num"),
        Column("Failed", "num"),
        Column("Not asked", "num"),
    )

    def row(source: SourceUse) -> list[Child]:
        counts = (source.asked, source.answered, source.remembered, source.failed, source.skipped)
        return [line(source.source), source.kind, source.authority, *(str(count) for count in counts)]

    pairs: list[tuple[str, Child]] = [
        ("Claims", str(knowledge.chosen)),
        ("Verified", str(knowledge.verified)),
        ("Refuted", str(knowledge.refuted)),
        ("Unverifiable", str(knowledge.unverifiable)),
    ]
    return panel(
        "Knowledge", facts(pairs), table("Sources of knowledge", columns, map(row, knowledge.sources[:_MOST_ROWS]))
    )


_STATUS: Final = {"answered": "good", "nothing": "quiet", "failed": "doubt", "skipped": "quiet"}


def source_answers_view(answers: Sequence[Mapping[str, Any]]) -> Markup | None:
    """The query to each knowledge source, when it was asked, how long it took and the whole answer.

    Args:
        answers: the stored answers, in the form of `assay.knowledge.Outcome`.
    """
    if not answers:
        return None
    shown = [_source_answer(one) for one in answers[:_MOST_ROWS]]
    more = tag("p", f"and {len(answers) - _MOST_ROWS:,} more", class_="soft") if len(answers) > _MOST_ROWS else None
    return panel("What sources said", shown, more)


def _source_answer(answer: Mapping[str, Any]) -> Markup:
    from assay.knowledge import Outcome

    try:
        outcome = Outcome.from_json(answer)
    except InputError as error:  # the stored answer was changed, or another version wrote it
        return tag("article", badge("unreadable", "bad"), " ", foreign(str(error)[:400]), class_="card")
    took = f"{outcome.at}, {outcome.elapsed_ms:.0f} ms" + (
        "" if outcome.age_s is None else f", known for {outcome.age_s:.0f} s"
    )
    queries = [
        tag("li", tag("code", foreign(shorten("; ".join(f"{name}: {value}" for name, value in line.items()), 1_000))))
        for line in outcome.found.asked
    ]
    passages = [
        tag("li", foreign(passage.text[:_LONGEST_TEXT], "q"), tag("cite", foreign(shorten(passage.id, 200))))
        for passage in outcome.found.passages
    ]
    counted = f"{len(passages)} {'passage' if len(passages) == 1 else 'passages'}"
    digest = None if outcome.digest is None else tag("p", "SHA-256 ", tag("code", outcome.digest), class_="soft small")
    return tag(
        "article",
        tag(
            "header",
            badge(outcome.status, _STATUS.get(outcome.status, "quiet")),
            " ",
            foreign(shorten(outcome.source, 120), "b"),
            tag("span", f" {took}", class_="soft"),
        ),
        None if outcome.reason is None else foreign(outcome.reason[:1_000], "p"),
        details("Asked", tag("ul", queries, class_="plain")) if queries else None,
        details(counted, tag("ul", passages, class_="plain passages"), digest) if passages else None,
        class_="card",
    )


def judge_view(report: HallucinationReport) -> Markup | None:
    """What the judge contributed, if the policy has one."""
    judge = report.judge
    if judge is None:
        return None
    pairs: list[tuple[str, Child]] = [
        ("Model", foreign(shorten(judge.model or "none at hand", 80))),
        ("Asked about", f"{judge.chosen} claims"),
        ("Answered", str(judge.answered)),
        ("Changed", str(judge.changed)),
    ]
    return panel("Judge", facts(pairs))
