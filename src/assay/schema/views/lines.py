"""A report in at most ten lines, in one sentence, and its reasons."""

from collections.abc import Iterator, Sequence
from typing import Final

from assay.harmless import one_line, shown_score
from assay.schema.report import HallucinationReport
from assay.schema.verdict import Verdict
from assay.schema.views.marks import SIGNS, WORDS
from assay.schema.views.problems import Problem, problems_of

LINES: Final = 10
"""Lines of a report at most."""
_WIDE: Final = 160
"""Characters of a line at most."""
_ORDER: Final = (Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.UNCHECKED, Verdict.NOT_CHECKABLE)


def report_lines(report: HallucinationReport) -> list[str]:
    """At most `LINES` lines for people: the decision, what was checked, and what is wrong, the gravest first."""
    head = [_headline(report)]
    if report.question is not None:
        head.append(f"question: {report.question}")
    head.append(f"claims: {_counts(report)}")
    foot = []
    if not report.coverage.complete:
        cover = report.coverage
        foot.append(f"coverage: {cover.unchecked:,} of {cover.characters:,} characters could not be checked")
    if report.decision.reasons:
        foot.append(f"because: {' '.join(report.decision.reasons)}")
    problems = problems_of(report)
    room = LINES - len(head) - len(foot)
    shown = problems if len(problems) <= room else problems[: room - 1]
    body = [_problem(report, one) for one in shown]
    if len(shown) < len(problems):
        body.append(f"… and {len(problems) - len(shown)} more: report.reasons")
    return [one_line(line, _WIDE) for line in (*head, *body, *foot)]


def _headline(report: HallucinationReport) -> str:
    score = "" if report.overall_score is None else f" · score {shown_score(report.overall_score)}"
    route = report.decision.route.replace("_", " ")
    return f"{report.action.value.upper()}{score} · policy {report.policy.name} ({route})"


def _counts(report: HallucinationReport) -> str:
    verdicts = [claim.verdict for claim in report.claims]
    found = [f"{verdicts.count(one)} {WORDS[one]}" for one in _ORDER if one in verdicts]
    return f"{len(verdicts)}, {', '.join(found)}" if found else "none"


def _problem(report: HallucinationReport, problem: Problem) -> str:
    message = problem.messages[0][0] if problem.messages else ""
    if problem.number is None:
        return f"✗ {problem.kind.replace('_', ' ')} {problem.text}: {message}"
    sign = SIGNS[Verdict(problem.kind)]
    words = ", ".join(f"“{report.output[start:end]}”" for start, end in problem.wrong)
    where = f" [{problem.passages[0].evidence_id}]" if problem.passages else ""
    return f"{sign}{problem.number} {one_line(problem.text, 70)} · {words + ': ' if words else ''}{message}{where}"


def report_sentence(report: HallucinationReport) -> str:
    """The report in one sentence.

    It names the decision, how many claims are supported, and the gravest problem.
    """
    checkable = [claim for claim in report.claims if claim.verdict is not Verdict.NOT_CHECKABLE]
    good = sum(claim.verdict is Verdict.SUPPORTED for claim in checkable)
    head = f"{report.action.value.upper()} under {one_line(report.policy.name, 60)}: "
    head += f"{good} of {len(checkable)} checkable claims supported" if checkable else "no checkable claim"
    problems = problems_of(report)
    if not problems:
        return head + "."
    return f"{head}; {one_line(_problem(report, problems[0]), 300)}"


def report_reasons(report: HallucinationReport) -> tuple[str, ...]:
    """Why the gate decided so, then what is wrong, each as a sentence, each once."""
    reasons: dict[str, None] = dict.fromkeys(report.decision.reasons)
    for problem in problems_of(report):
        reasons.update(dict.fromkeys(_sentences(problem)))
    return tuple(reasons)


def _sentences(problem: Problem) -> Iterator[str]:
    name = problem.text if problem.number is not None else ""
    for message, _ in _or_kind(problem):
        yield f"{name}: {message}" if name else message


def _or_kind(problem: Problem) -> Sequence[tuple[str, str]]:
    return problem.messages or ((WORDS[Verdict(problem.kind)], ""),)
