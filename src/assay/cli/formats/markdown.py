"""GitHub-flavoured Markdown for a job's summary or a comment: a table of what failed, and each finding to open.

Foreign text is escaped so that it can be neither markup, nor a link, nor a mention, nor a cell of the table.
"""

import re
from collections.abc import Iterator
from typing import Final

from assay.cli.formats.cases import Case, Finding, Outcome
from assay.cli.terminal import one_line

MOST: Final = 50
"""The most failed cases that are shown; the rest are counted, since GitHub limits a summary to a megabyte."""
_SIGNS: Final = {"error": "❌", "warning": "⚠️", "note": "ℹ️"}
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$^=:/&])")
_ESCAPED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def markdown(outcome: Outcome) -> str:
    """The outcome as Markdown."""
    return "\n".join(_lines(outcome)) + "\n"


def escaped(text: str, limit: int | None = None) -> str:
    r"""Foreign text on one line, escaped so that it has no meaning in Markdown.

    >>> escaped("| <b>@everyone</b> [x](http://e.org)")
    '\\| &lt;b&gt;@\u200beveryone&lt;\\/b&gt; \\[x\\]\\(http\\:\\/\\/e\\.org\\)'
    """
    escaped_text = _MARKUP.sub(lambda match: _ESCAPED.get(match[1], "\\" + match[1]), one_line(text, limit))
    return escaped_text.replace("@", "@\N{ZERO WIDTH SPACE}")


def _lines(outcome: Outcome) -> Iterator[str]:
    failed = outcome.failed
    sign = "❌" if failed else "✅"
    yield f"## {sign} {escaped(outcome.title)}: {len(failed)} of {len(outcome.cases)} failed"
    for note in outcome.notes:
        yield ""
        yield note
    shown = [*failed, *(case for case in outcome.cases if case.passed and case.group == "limits")][:MOST]
    if shown:
        yield ""
        yield "| | what | result |"
        yield "|---|---|---|"
        for case in shown:
            yield f"| {'✅' if case.passed else '❌'} | {escaped(case.name, 120)} | {escaped(case.headline, 300)} |"
    if len(failed) > MOST:
        yield ""
        yield f"… and {len(failed) - MOST} more."
    for case in failed[:MOST]:
        if case.findings:
            yield from _details(case)


def _details(case: Case) -> Iterator[str]:
    yield ""
    yield f"<details><summary>{_summary(case.name)}</summary>"
    yield ""
    for finding in case.findings:
        yield from _finding(finding)
    yield ""
    yield "</details>"


def _summary(text: str) -> str:
    """Foreign text on one line, escaped for HTML."""
    escaped_text = one_line(text, 120)
    for character, escape in _ESCAPED.items():
        escaped_text = escaped_text.replace(character, escape)
    return escaped_text.replace("@", "@\N{ZERO WIDTH SPACE}")


def _finding(finding: Finding) -> Iterator[str]:
    where = "" if finding.place is None else f", line {finding.place.line}"
    yield f"- {_SIGNS[finding.level]} {escaped(finding.message)} (`{finding.code}`{where})"
    if finding.claim:
        words = f"; wrong words: **{escaped(finding.words, 200)}**" if finding.words else ""
        yield f"  - claim: {escaped(finding.claim, 400)}{words}"
    for one in finding.passages[:2]:
        yield f"  - passage \\[{escaped(one.evidence_id, 80)}\\]: {escaped(one.text, 400)}"
