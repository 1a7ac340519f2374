"""What a report holds beside claims: what was left out, whether to answer at all, how the output was made, its cost."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from assay.errors import InputError
from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import HallucinationReport, SourceUse
from assay.schema.report_parts import ConfidenceSignal, Generation, Omission, StatementReport, VerificationQuestion
from assay.server.console.parts import Column, badge, details, facts, line, meter, number, panel, shorten, table

_MOST: Final = 100
_LONGEST: Final = 4_000
_JUDGED: Final = {
    "confirmed": ("confirmed by the judge", "bad"),
    "denied": ("denied by the judge", "good"),
    "doubted": ("doubted by the judge", "quiet"),
    "unchecked": ("the judge could not be read", "doubt"),
}
_OUTCOMES: Final = {"kept": "good", "flagged": "doubt", "removed": "bad", "rejected": "bad", "quarantined": "bad"}
_CHAIN: Final = {"consistent": "good", "contradicted": "bad", "unconfirmed": "doubt", "unanswered": "doubt"}


def omissions_view(report: HallucinationReport) -> Markup | None:
    """Conditions of the evidence that the output leaves out, in the words of the evidence."""
    if not report.omissions:
        return None
    return panel("Left out of the output", [_omission(one) for one in report.omissions[:_MOST]])


def _omission(one: Omission) -> Markup:
    judged = badge(*_JUDGED[one.judged]) if one.judged in _JUDGED else None
    start = one.evidence.start - one.statement.start
    text = one.statement.text
    inside = start >= 0 and text[start : start + len(one.evidence.text)] == one.evidence.text
    before, after = (text[:start], text[start + len(one.evidence.text) :]) if inside else ("", "")
    return tag(
        "article",
        tag(
            "header", badge(one.kind, "doubt"), judged, tag("span", f"sure to {number(one.confidence)}", class_="soft")
        ),
        foreign(one.message[:_LONGEST], "p", class_="said"),
        tag(
            "figure",
            tag("figcaption", foreign(shorten(one.evidence.evidence_id, 120), "b")),
            tag(
                "blockquote",
                before[-600:],
                foreign(one.evidence.text[:_LONGEST], "mark"),
                after[:600],
                class_="text",
                dir="auto",
            ),
            class_="quote",
        ),
        class_="card",
    )


def abstention_view(report: HallucinationReport) -> Markup | None:
    """Whether to give the output, where that was asked."""
    found = report.abstention
    if found is None:
        return None
    tone = {"RESPOND": "good", "PARTIAL_WITH_CAVEATS": "doubt", "ABSTAIN": "bad"}[found.outcome.value]
    pairs: list[tuple[str, Child]] = [
        ("Outcome", badge(found.outcome.value.lower().replace("_", " "), tone)),
        ("Reason", foreign(shorten(found.reason.replace("_", " "), 120))),
        ("Confidence", group(number(found.confidence), " ", meter(found.confidence))),
        ("Calibrated", "yes" if found.calibrated else "no"),
    ]
    fired = [
        tag("li", f"{one.trigger.value.replace('_', ' ')}: {number(one.value)} against {number(one.threshold)}")
        for one in found.triggers
    ]
    columns = (Column("Signal"), Column("Value", "num"), Column("Weight", "num"), Column("Note", "wide"))

    def row(one: ConfidenceSignal) -> list[Child]:
        why = line(one.missing) if one.missing else ""
        return [foreign(one.name.replace("_", " ")), number(one.value), number(one.weight), why]

    signals = table("Signals of confidence", columns, map(row, found.signals))
    shown = details(f"{len(found.signals)} signals", signals) if found.signals else None
    return panel("Answer or not", facts(pairs), tag("ul", fired, class_="reasons") if fired else None, shown)


def generation_view(report: HallucinationReport) -> Markup | None:
    """How the output was made, where it was generated under control."""
    made = report.generation
    if made is None:
        return None
    pairs: list[tuple[str, Child]] = [
        ("Model", foreign(shorten(made.model, 80))),
        ("Answers asked for", str(made.attempts)),
        ("Stopped", made.stopped.replace("_", " ")),
        ("Ungrounded at first", number(made.ungrounded)),
        ("Cost over one answer", "–" if made.relative_cost is None else f"{made.relative_cost:.1f} ×"),
    ]
    missing = tag("p", "It said that the evidence does not answer: ", line(made.missing), class_="note quiet")
    return panel(
        "How it was generated", facts(pairs), missing if made.missing else None, _statements(made), _chain(made)
    )


def _statements(made: Generation) -> Markup | None:
    if not made.statements:
        return None
    columns = (Column("Statement", "wide"), Column("Outcome"), Column("Sources"), Column("Why", "wide"))

    def row(one: StatementReport) -> list[Child]:
        return [
            line(one.text),
            badge(one.outcome, _OUTCOMES[one.outcome]),
            line(", ".join(one.sources), 80),
            line("; ".join(one.reasons)) if one.reasons else "",
        ]

    shown = table("Statements that the model made", columns, map(row, made.statements[:_MOST]))
    return details(f"{len(made.statements)} statements", shown)


def _chain(made: Generation) -> Markup | None:
    if not made.chain:
        return None
    columns = (Column("Question", "wide"), Column("Answer", "wide"), Column("Outcome"), Column("Score", "num"))

    def row(one: VerificationQuestion) -> list[Child]:
        return [
            line(one.question),
            line(one.answer),
            badge(one.outcome, _CHAIN.get(one.outcome, "bad")),
            number(one.score),
        ]

    return details(
        f"{len(made.chain)} questions of verification",
        table("Questions of verification", columns, map(row, made.chain[:_MOST])),
    )


def knowledge_view(report: HallucinationReport) -> Markup | None:
    """The part of sources of knowledge, where any claim was put to them."""
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

    def row(one: SourceUse) -> list[Child]:
        counts = (one.asked, one.answered, one.remembered, one.failed, one.skipped)
        return [line(one.source), one.kind, one.authority, *(str(count) for count in counts)]

    pairs: list[tuple[str, Child]] = [
        ("Claims", str(knowledge.chosen)),
        ("Verified", str(knowledge.verified)),
        ("Refuted", str(knowledge.refuted)),
        ("Unverifiable", str(knowledge.unverifiable)),
    ]
    return panel("Knowledge", facts(pairs), table("Sources of knowledge", columns, map(row, knowledge.sources[:_MOST])))


_STATUS: Final = {"answered": "good", "nothing": "quiet", "failed": "doubt", "skipped": "quiet"}


def source_answers_view(answers: Sequence[Mapping[str, Any]]) -> Markup | None:
    """What each source was asked, when, how long it took and all that came back, as the record has it.

    Args:
        answers: out of the record.
    """
    if not answers:
        return None
    shown = [_source_answer(one) for one in answers[:_MOST]]
    more = tag("p", f"and {len(answers) - _MOST:,} more", class_="soft") if len(answers) > _MOST else None
    return panel("What sources said", shown, more)


def _source_answer(answer: Mapping[str, Any]) -> Markup:
    from assay.knowledge import Outcome

    try:
        one = Outcome.from_json(answer)
    except InputError as error:  # the record was changed, or is of another version
        return tag("article", badge("unreadable", "bad"), " ", foreign(str(error)[:400]), class_="card")
    took = f"{one.at}, {one.elapsed_ms:.0f} ms" + ("" if one.age_s is None else f", known for {one.age_s:.0f} s")
    asked = [
        tag("li", tag("code", foreign(shorten("; ".join(f"{name}: {value}" for name, value in line.items()), 1_000))))
        for line in one.found.asked
    ]
    said = [
        tag("li", foreign(passage.text[:_LONGEST], "q"), tag("cite", foreign(shorten(passage.id, 200))))
        for passage in one.found.passages
    ]
    many = f"{len(said)} {'passage' if len(said) == 1 else 'passages'}"
    digest = None if one.digest is None else tag("p", "SHA-256 ", tag("code", one.digest), class_="soft small")
    return tag(
        "article",
        tag(
            "header",
            badge(one.status, _STATUS.get(one.status, "quiet")),
            " ",
            foreign(shorten(one.source, 120), "b"),
            tag("span", f" {took}", class_="soft"),
        ),
        None if one.reason is None else foreign(one.reason[:1_000], "p"),
        details("Asked", tag("ul", asked, class_="plain")) if asked else None,
        details(many, tag("ul", said, class_="plain passages"), digest) if said else None,
        class_="card",
    )


def judge_view(report: HallucinationReport) -> Markup | None:
    """The judge's part, where the policy has one."""
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
