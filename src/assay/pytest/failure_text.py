"""The message of a failed assertion: which claim fails, which of its words, and which passages speak against it."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from assay.cli.terminal import Line, clean, one_line
from assay.schema import HallucinationReport, Verdict
from assay.schema.views import SIGNS, WORDS, Problem
from assay.stats import shown_score

MOST_PASSAGES: Final = 2
"""Passages shown of one claim."""
QUOTE_CHARACTERS: Final = 300
"""Characters of a passage that are shown."""
MOST_PROBLEMS: Final = 20
"""Problems shown of one answer; the rest are counted."""

_ANSI: Final = {
    "strong": "1",
    "faint": "2",
    "good": "32",
    "bad": "1;31",
    "doubt": "33",
    "bad here": "1;4;31",
    "doubt here": "1;4;33",
    "good here": "4;32",
}
"""SGR parameters (ECMA-48) of the styles."""


def failure_lines(report: HallucinationReport, problems: Sequence[Problem], accepted: int) -> Iterator[Line]:
    """The lines of one failure; the first one sums it up, for pytest's short list of failures.

    Args:
        report: the report of the answer.
        problems: those that are not accepted, the gravest first.
        accepted: how many further problems the snapshot accepts.
    """
    yield Line(((_headline(report, problems, accepted), "strong"),))
    if report.question is not None:
        yield Line((("question  ", "faint"), (one_line(report.question, 200), "")), indent=2)
    for problem in problems[:MOST_PROBLEMS]:
        yield from _problem(report, problem)
    if len(problems) > MOST_PROBLEMS:
        yield Line(((f"… and {len(problems) - MOST_PROBLEMS} more", "faint"),), indent=2)


def _headline(report: HallucinationReport, problems: Sequence[Problem], accepted: int) -> str:
    failing = sum(problem.number is not None for problem in problems)
    others = len(problems) - failing
    parts = []
    if failing:
        verb = "is" if failing == 1 else "are"
        parts.append(f"{failing} of {len(report.claims)} claims {verb} not supported")
    if others:
        parts.append(f"{others} other {'finding' if others == 1 else 'findings'}")
    score = "" if report.overall_score is None else f", score {shown_score(report.overall_score)}"
    accepted_note = f"; {accepted} accepted" if accepted else ""
    return (
        f"{', '.join(parts)} (policy {one_line(report.policy.name, 60)}: {report.action.value}{score}{accepted_note})"
    )


def _problem(report: HallucinationReport, problem: Problem) -> Iterator[Line]:
    if problem.number is None or problem.span is None:
        name = f"{problem.kind.replace('_', ' ')}  {one_line(problem.text, 200)}".rstrip()
        yield Line((("✗  ", "bad"), (name, "strong")), indent=2)
    else:
        verdict = Verdict(problem.kind)
        style = "doubt" if verdict is Verdict.UNSUPPORTED else "bad"
        score = "" if problem.score is None else f", score {shown_score(problem.score)}"
        facts = f"claim {problem.number}: {WORDS[verdict]}{score}"
        yield Line(((f"{SIGNS[verdict]}  ", style), (facts, style)), indent=2)
        yield Line((("claim    ", "faint"), *_marked(report.output, problem.span, problem.wrong, style)), indent=5)
        if problem.wrong:
            words = ", ".join(f"“{one_line(report.output[start:end], 120)}”" for start, end in problem.wrong)
            yield Line((("words    ", "faint"), (words, style)), indent=5)
    for message, code in problem.messages:
        shown = f"  ({code})" if code else ""
        yield Line((("why      ", "faint"), (one_line(message), ""), (shown, "faint")), indent=5)
    for passage in problem.passages[:MOST_PASSAGES]:
        quote = f"“{one_line(passage.text, QUOTE_CHARACTERS)}”"
        yield Line((("passage  ", "faint"), (f"[{one_line(passage.evidence_id, 80)}] ", "strong"), (quote, "")), 5)


def _marked(
    output: str, span: tuple[int, int], wrong_spans: Sequence[tuple[int, int]], style: str
) -> Iterator[tuple[str, str]]:
    """The claim as it stands in the answer, as text with styles; its wrong words have a style of their own."""
    position, end = span
    for wrong_start, wrong_end in wrong_spans:
        if wrong_start < position:
            continue
        yield _collapse_whitespace(output[position:wrong_start]), ""
        yield _collapse_whitespace(output[wrong_start:wrong_end]), f"{style} here"
        position = wrong_end
    yield _collapse_whitespace(output[position:end]), ""


def _collapse_whitespace(text: str) -> str:
    """Text on one line, each run of white space as one blank, also at both ends."""
    return re.sub(r"\s+", " ", clean(text))


def coloured(parts: Sequence[tuple[str, str]]) -> str:
    """Text with the escape sequences of its styles, each ended at once.

    >>> coloured([("4 weeks", "bad"), (" of leave", "")])
    '\\x1b[1;31m4 weeks\\x1b[0m of leave'
    """
    return "".join(f"\x1b[{_ANSI[style]}m{text}\x1b[0m" if style and text else text for text, style in parts)
