"""A run for people and build servers: plain text, Markdown, JUnit.

What targets and documents say is foreign text: it is quoted on one line, and every sign with a meaning is escaped.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from assay.redteam.cases import Case
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.scores import Comparison, Scorecard

SHOWN: Final = 20
"""Cases that are listed at most in a text or a page of Markdown."""
_LONGEST: Final = 160
_CONTROL: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u061c\u2060-\u206f\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Characters that steer a terminal or a reader, or that XML cannot hold."""
_ATTACHMENT: Final = re.compile(r"\[(?=\s*\[\s*ATTACHMENT)", re.IGNORECASE)
"""What GitLab and Jenkins take for the path of a file to be shown beside a case of JUnit."""


def plain(text: str, longest: int = _LONGEST) -> str:
    r"""Foreign text on one line without anything that steers.

    >>> plain("a\x1b[31m\nb")
    'a\ufffd[31m b'
    """
    flat = _ATTACHMENT.sub("[ ", " ".join(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text).split()))
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def shown(value: float | None) -> str:
    """A score as a figure; a dash where there is none."""
    return "–" if value is None else f"{value:.3f}"


def text_report(card: Scorecard, comparison: Comparison | None) -> str:
    """The run in a few lines."""
    return "\n".join(_text(card, comparison)) + "\n"


def _text(card: Scorecard, comparison: Comparison | None) -> Iterator[str]:
    yield f"ARS {shown(card.ars)}  (95% interval {shown(card.low)} to {shown(card.high)}) over {card.cases} cases"
    yield f"{card.passed} passed, {card.cases - card.passed - card.unjudged} failed, {card.unjudged} unjudged"
    if card.flaky:
        yield f"{card.flaky} are flaky: they passed in some trials and failed in others"
    yield ""
    for name, one in card.categories.items():
        interval = f"{shown(one.low)} to {shown(one.high)}"
        unjudged = f", {one.unjudged} unjudged" if one.unjudged else ""
        yield f"  {name:<26}{shown(one.ars)}  {interval}  {one.passed}/{one.cases} passed{unjudged}"
    if card.dimensions:
        yield ""
        yield "  " + "  ".join(f"{name} {value:.3f}" for name, value in card.dimensions.items())
    if comparison is not None:
        yield ""
        yield from compared(comparison)


def compared(comparison: Comparison) -> Iterator[str]:
    """The comparison in lines: what has regressed, and the cases that broke."""
    verdict = "REGRESSED" if comparison.regressed else "no regression"
    rule = f"drop above {comparison.delta:g}, Holm-corrected p below {comparison.alpha:g}"
    yield f"Against the baseline: {verdict} ({rule})"
    for one in comparison.changes:
        mark = "!" if one.regressed else " "
        few = "" if one.tested else "  (too few to test: counted by its size)"
        yield f"{mark} {one.group:<26}{one.before:.3f} -> {one.after:.3f}  p {one.p:.4f}  {one.pairs} cases{few}"
    counted = f"{len(comparison.broken)} broke, {len(comparison.mended)} were mended"
    yield f"{counted}, {comparison.added} new, {comparison.gone} gone"
    for case in comparison.broken:
        yield f"  {case.id}  {case.category}  {case.before:.2f} -> {shown(case.after)}  {plain(case.rule)}"


def markdown(
    card: Scorecard, cases: Sequence[Case], judgements: Sequence[Judgement], comparison: Comparison | None
) -> str:
    """The run as a page of Markdown, for a pull request."""
    return "\n".join(_markdown(card, cases, judgements, comparison)) + "\n"


def _markdown(
    card: Scorecard, cases: Sequence[Case], judgements: Sequence[Judgement], comparison: Comparison | None
) -> Iterator[str]:
    yield "# Red team"
    yield ""
    yield f"**ARS {shown(card.ars)}** (95% interval {shown(card.low)} to {shown(card.high)}), {card.cases} cases: "
    flaky = f", {card.flaky} flaky" if card.flaky else ""
    yield f"{card.passed} passed, {card.cases - card.passed - card.unjudged} failed, {card.unjudged} unjudged{flaky}."
    yield ""
    yield "| Category | ARS | 95% interval | Passed | Unjudged |"
    yield "|---|---|---|---|---|"
    for name, mean in card.categories.items():
        interval = f"{shown(mean.low)} to {shown(mean.high)}"
        yield f"| {name} | {shown(mean.ars)} | {interval} | {mean.passed} of {mean.cases} | {mean.unjudged} |"
    if comparison is not None:
        yield from ("", "## Against the baseline", "", "```")
        yield from (line.replace("`", "'") for line in compared(comparison))
        yield "```"
    failed = [(case, one) for case, one in zip(cases, judgements, strict=True) if one.outcome is not Outcome.PASSED]
    if failed:
        yield from ("", f"## Not passed ({len(failed)})", "")
        yield "| Case | Category | Match | Rule | Prompt | Answer |"
        yield "|---|---|---|---|---|---|"
        for case, one in failed[:SHOWN]:
            rule = f"{one.rule} (flaky)" if one.flaky else one.rule
            row = (case.id, case.category.value, shown(one.behavior_match), rule, case.prompt, one.answer or "")
            yield "| " + " | ".join(cell(value) for value in row) + " |"
        if len(failed) > SHOWN:
            yield ""
            yield f"and {len(failed) - SHOWN} more."


def cell(text: str) -> str:
    r"""Foreign text in a cell: no sign of it is Markdown or HTML.

    >>> cell("<b>|[x](y)")
    '&lt;b&gt;\\|\\[x\\](y)'
    """
    made = re.sub(r"([\\`*_{}\[\]#|!~])", r"\\\1", escape(plain(text))).replace("://", "&#58;//")
    # GitHub makes a link of `www.` by itself, and looks for mentions in what was rendered, entities and all.
    return re.sub(r"(?i)\b(www)\.", r"\1&#46;", made).replace("@", "@\N{ZERO WIDTH SPACE}")


def junit(card: Scorecard, cases: Sequence[Case], judgements: Sequence[Judgement]) -> str:
    """The run as JUnit XML: a suite for each category, a test for each case; what is unjudged is an error."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    failures = card.cases - card.passed - card.unjudged
    lines.append(
        f'<testsuites name="assay redteam" tests="{card.cases}" failures="{failures}" errors="{card.unjudged}">'
    )
    both = list(zip(cases, judgements, strict=True))
    for name, mean in card.categories.items():
        failed = mean.cases - mean.passed - mean.unjudged
        lines.append(f'  <testsuite name="{name}" tests="{mean.cases}" failures="{failed}" errors="{mean.unjudged}">')
        lines += [_test(case, one) for case, one in both if case.category.value == name]
        lines.append("  </testsuite>")
    return "\n".join((*lines, "</testsuites>")) + "\n"


def _test(case: Case, one: Judgement) -> str:
    head = f"    <testcase classname={_attribute(case.lineage.rule)} name={_attribute(case.id)}"
    if one.outcome is Outcome.PASSED:
        return head + "/>"
    kind = "error" if one.outcome is Outcome.UNJUDGED else "failure"
    flaky = f"; flaky: passed in another of {one.trials} trials" if one.flaky else ""
    summary = f"expected {case.expected_behavior.value}; match {shown(one.behavior_match)}: {one.rule}{flaky}"
    body = f"prompt: {plain(case.prompt, 1_000)}\nanswer: {plain(one.answer or '', 1_000)}"
    return f"{head}><{kind} message={_attribute(summary)}>{escape(body)}</{kind}></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(plain(text, 500))
