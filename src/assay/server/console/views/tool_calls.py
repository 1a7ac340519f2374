"""The tool calls of an agent run, with the origin of each argument."""

import json
from collections.abc import Iterable
from typing import Final

from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import HallucinationReport, ToolCallValidation
from assay.schema.report_parts import ArgumentProvenance, TraceStatus
from assay.server.console.parts import Column, badge, code, details, line, panel, shorten, table
from assay.server.console.views.claim_card import MOST_PARTS, issue_view

_ORIGIN_TONES: Final = {
    TraceStatus.TRACED: ("good", "✓"),
    TraceStatus.DERIVED: ("good", "≈"),
    TraceStatus.DECLARED: ("good", "§"),
    TraceStatus.CHOSEN: ("quiet", "·"),
    TraceStatus.UNTRACED: ("bad", "✗"),
    TraceStatus.SKIPPED: ("quiet", "–"),
}
_STATUS_TONES: Final = {"accepted": ("good", "✓"), "rejected": ("bad", "✗"), "unchecked": ("bad", "!")}
_MOST_CALLS: Final = 200
_COLUMNS: Final = (Column("Argument"), Column("Value"), Column("Origin"), Column("Found in", "wide"))


def tools_view(report: HallucinationReport) -> Markup | None:
    """All tool calls in their order; `None` if there are none."""
    calls = report.tool_call_validations
    if not calls:
        return None
    refused = sum(call.status != "accepted" for call in calls)
    words = f"{refused} of {len(calls)} not accepted" if refused else f"{len(calls)} accepted"
    rest = len(calls) - _MOST_CALLS
    return panel(
        "Tool calls",
        [_call(at, call) for at, call in enumerate(calls[:_MOST_CALLS])],
        tag("p", f"{rest:,} more calls are in the report itself.", class_="soft") if rest > 0 else None,
        actions=tag("span", words, class_="bad" if refused else "soft"),
    )


def _call(at: int, call: ToolCallValidation) -> Markup:
    tone, sign = _STATUS_TONES[call.status]
    execution = {True: "executed", False: "not executed or failed", None: "checked before it was executed"}[
        call.executed
    ]
    place = f"step {call.step} · " if call.step is not None else ""
    head = tag(
        "header",
        tag("h3", foreign(shorten(call.tool, 120))),
        badge(call.status, tone, sign),
        tag("span", place + execution, class_="soft"),
    )
    issues = [issue_view(issue) for issue in call.issues[:MOST_PARTS]]
    issues = issues or [tag("li", foreign(message)) for message in call.errors[:MOST_PARTS]]
    origins = None
    if call.provenance:
        origins = table(
            f"Origin of the arguments of call {at + 1}", _COLUMNS, map(_origin, call.provenance[:MOST_PARTS])
        )
    return tag(
        "article",
        head,
        tag("ul", issues, class_="issues") if issues else None,
        origins,
        details("Arguments as sent", _json(call.args)),
        _attempts(call),
        class_="card call",
        id=f"call-{at + 1}",
    )


def _origin(argument: ArgumentProvenance) -> list[Child]:
    tone, sign = _ORIGIN_TONES[argument.status]
    value = json.dumps(argument.value, ensure_ascii=False) if not isinstance(argument.value, str) else argument.value
    return [
        code(shorten(argument.path or "/", 80)),
        group(line(value, 120), tag("small", f" {argument.kind.value}")),
        badge(argument.status.value, tone, sign),
        _found_in(argument),
    ]


def _found_in(argument: ArgumentProvenance) -> Child:
    parts: list[Child] = []
    if argument.source is not None:
        parts.append(tag("span", argument.source.value, class_="soft"))
    if argument.source_id:
        parts += [" ", code(shorten(argument.source_id, 60))]
    if argument.source_text:
        parts += [" ", tag("q", foreign(shorten(argument.source_text, 200)))]
    if argument.how:
        parts += [" ", foreign(shorten(argument.how, 200), class_="soft")]
    return parts or tag("span", "no source holds it" if argument.status is TraceStatus.UNTRACED else "–", class_="soft")


def _attempts(call: ToolCallValidation) -> Markup | None:
    if not call.attempts:
        return None
    shown: Iterable[Markup] = (
        tag(
            "li",
            foreign(shorten(one.tool, 80), "b"),
            " ",
            foreign(shorten("; ".join(one.reasons), 400)),
            _json(one.arguments),
        )
        for one in call.attempts[:MOST_PARTS]
    )
    return details(f"{len(call.attempts)} rejected before", tag("ol", shown, class_="plainlist"))


def _json(value: object) -> Markup:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    cut = text[:8_000] + (" …" if len(text) > 8_000 else "")
    return tag("pre", tag("code", foreign(cut)), tabindex=0)
