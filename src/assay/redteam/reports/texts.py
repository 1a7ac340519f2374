"""A run for people and build servers: plain text, Markdown, JUnit.

Text from targets and documents is hostile: it is put on one line, and every character with a meaning is escaped.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from assay.redteam.cases import Case
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.scores import Comparison, Scorecard

SHOWN: Final = 20
"""The most cases that a page of Markdown lists."""
_LONGEST: Final = 160
"""The default limit of characters of a text on one line."""
_CONTROL: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u061c\u2060-\u206f\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Characters that control a terminal or the direction of text, or that XML cannot contain."""
_ATTACHMENT: Final = re.compile(r"\[(?=\s*\[\s*ATTACHMENT)", re.IGNORECASE)
"""What GitLab and Jenkins interpret as the path of a file to be attached to a JUnit case."""


def plain(text: str, longest: int = _LONGEST) -> str:
    r"""Hostile text on one line, without control characters and cut to a length.

    >>> plain("a\x1b[31m\nb")
    'a\ufffd[31m b'
    """
    flat = _ATTACHMENT.sub("[ ", " ".join(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text).split()))
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def figure(value: float | None) -> str:
    """A score to three decimal places; a dash for none."""
    return "–" if value is None else f"{value:.3f}"


def text_report(card: Scorecard, comparison: Comparison | None) -> str:
    """The run as plain text."""
    return "\n".join(_text(card, comparison)) + "\n"


def _text(card: Scorecard, comparison: Comparison | None) -> Iterator[str]:
    yield f"ARS {figure(card.ars)}  (95% interval {figure(card.low)} to {figure(card.high)}) over {card.cases} cases"
    yield f"{card.passed} passed, {card.cases - card.passed - card.unjudged} failed, {card.unjudged} unjudged"
    if card.flaky:
        yield f"{card.flaky} are flaky: they passed in some trials and failed in others"
    yield ""
    for name, mean in card.categories.items():
        interval = f"{figure(mean.low)} to {figure(mean.high)}"
        unjudged = f", {mean.unjudged} unjudged" if mean.unjudged else ""
        yield f"  {name:<26}{figure(mean.ars)}  {interval}  {mean.passed}/{mean.cases} passed{unjudged}"
    if card.dimensions:
        yield ""
        yield "  " + "  ".join(f"{name} {value:.3f}" for name, value in card.dimensions.items())
    if comparison is not None:
        yield ""
        yield from comparison_lines(comparison)


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """The comparison as lines: the groups that regressed, and the cases that broke."""
    verdict = "REGRESSED" if comparison.regressed else "no regression"
    rule = f"drop above {comparison.delta:g}, Holm-corrected p below {comparison.alpha:g}"
    yield f"Against the baseline: {verdict} ({rule})"
    for change in comparison.changes:
        mark = "!" if change.regressed else " "
        few = "" if change.tested else "  (too few to test: counted by its size)"
        means = f"{change.before:.3f} -> {change.after:.3f}"
        yield f"{mark} {change.group:<26}{means}  p {change.p:.4f}  {change.pairs} cases{few}"
    counted = f"{len(comparison.broken)} broke, {len(comparison.mended)} were mended"
    yield f"{counted}, {comparison.added} new, {comparison.gone} gone"
    for case in comparison.broken:
        yield f"  {case.id}  {case.category}  {case.before:.2f} -> {figure(case.after)}  {plain(case.rule)}"


def markdown(
    card: Scorecard, cases: Sequence[Case], judgements: Sequence[Judgement], comparison: Comparison | None
) -> str:
    """The run as Markdown, for a pull request."""
    return "\n".join(_markdown(card, cases, judgements, comparison)) + "\n"


def _markdown(
    card: Scorecard, cases: Sequence[Case], judgements: Sequence[Judgement], comparison: Comparison | None
) -> Iterator[str]:
    yield "# Red team"
    yield ""
    yield f"**ARS {figure(card.ars)}** (95% interval {figure(card.low)} to {figure(card.high)}), {card.cases} cases: "
    flaky = f", {card.flaky} flaky" if card.flaky else ""
    yield f"{card.passed} passed, {card.cases - card.passed - card.unjudged} failed, {card.unjudged} unjudged{flaky}."
    yield ""
    yield "| Category | ARS | 95% interval | Passed | Unjudged |"
    yield "|---|---|---|---|---|"
    for name, mean in card.categories.items():
        interval = f"{figure(mean.low)} to {figure(mean.high)}"
        yield f"| {name} | {figure(mean.ars)} | {interval} | {mean.passed} of {mean.cases} | {mean.unjudged} |"
    if comparison is not None:
        yield from ("", "## Against the baseline", "", "```")
        yield from (line.replace("`", "'") for line in comparison_lines(comparison))
        yield "```"
    failed = [
        (case, judgement)
        for case, judgement in zip(cases, judgements, strict=True)
        if judgement.outcome is not Outcome.PASSED
    ]
    if failed:
        yield from ("", f"## Not passed ({len(failed)})", "")
        yield "| Case | Category | Match | Rule | Prompt | Answer |"
        yield "|---|---|---|---|---|---|"
        for case, judgement in failed[:SHOWN]:
            rule = f"{judgement.rule} (flaky)" if judgement.flaky else judgement.rule
            row = (
                case.id,
                case.category.value,
                figure(judgement.behavior_match),
                rule,
                case.prompt,
                judgement.answer or "",
            )
            yield "| " + " | ".join(cell(value) for value in row) + " |"
        if len(failed) > SHOWN:
            yield ""
            yield f"and {len(failed) - SHOWN} more."


def cell(text: str) -> str:
    r"""Hostile text in a table cell, with all Markdown and HTML escaped.

    >>> cell("<b>|[x](y)")
    '&lt;b&gt;\\|\\[x\\](y)'
    """
    escaped = re.sub(r"([\\`*_{}\[\]#|!~])", r"\\\1", escape(plain(text))).replace("://", "&#58;//")
    # GitHub turns a bare `www.` into a link, and looks for mentions in the rendered text, after entities are resolved.
    return re.sub(r"(?i)\b(www)\.", r"\1&#46;", escaped).replace("@", "@\N{ZERO WIDTH SPACE}")


def junit(card: Scorecard, cases: Sequence[Case], judgements: Sequence[Judgement]) -> str:
    """The run as JUnit XML: a suite for each category and a test for each case; unjudged cases are errors."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    failures = card.cases - card.passed - card.unjudged
    lines.append(
        f'<testsuites name="assay redteam" tests="{card.cases}" failures="{failures}" errors="{card.unjudged}">'
    )
    pairs = list(zip(cases, judgements, strict=True))
    for name, mean in card.categories.items():
        failed = mean.cases - mean.passed - mean.unjudged
        lines.append(f'  <testsuite name="{name}" tests="{mean.cases}" failures="{failed}" errors="{mean.unjudged}">')
        lines += [_test(case, judgement) for case, judgement in pairs if case.category.value == name]
        lines.append("  </testsuite>")
    return "\n".join((*lines, "</testsuites>")) + "\n"


def _test(case: Case, judgement: Judgement) -> str:
    head = f"    <testcase classname={_attribute(case.lineage.rule)} name={_attribute(case.id)}"
    if judgement.outcome is Outcome.PASSED:
        return head + "/>"
    kind = "error" if judgement.outcome is Outcome.UNJUDGED else "failure"
    flaky = f"; flaky: passed in another of {judgement.trials} trials" if judgement.flaky else ""
    summary = (
        f"expected {case.expected_behavior.value}; match {figure(judgement.behavior_match)}: {judgement.rule}{flaky}"
    )
    body = f"prompt: {plain(case.prompt, 1_000)}\nanswer: {plain(judgement.answer or '', 1_000)}"
    return f"{head}><{kind} message={_attribute(summary)}>{escape(body)}</{kind}></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(plain(text, 500))
