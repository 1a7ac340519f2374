"""A report in a notebook: the answer with its claims marked, and each problem to open.

Everything foreign goes through `escape`; styles are written on the elements, since notebooks drop style sheets, and
work on light and on dark pages. No script, image or link is made.
"""

from collections.abc import Iterator
from typing import Final

from assay.harmless import escape, shown_score
from assay.schema.report import HallucinationReport
from assay.schema.verdict import Action, Verdict
from assay.schema.views.lines import report_sentence
from assay.schema.views.marks import GRAVITY, SIGNS, WORDS
from assay.schema.views.problems import Problem, problems_of

MOST: Final = 50
"""Problems shown; the rest are counted."""
LONGEST: Final = 20_000
"""Characters of an answer that are shown."""
_WASH: Final = {
    Verdict.SUPPORTED: "rgba(28,107,60,.14)",
    Verdict.CONTRADICTED: "rgba(200,30,30,.22)",
    Verdict.UNSUPPORTED: "rgba(200,130,0,.22)",
    Verdict.UNCHECKED: "rgba(200,30,30,.22)",
}
_COLOUR: Final = {Action.EMIT: "#1c6b3c", Action.REVISE: "#8a5300", Action.BLOCK: "#a61b1b", Action.ESCALATE: "#a61b1b"}


def notebook_html(report: HallucinationReport) -> str:
    """The report as a piece of HTML."""
    score = "" if report.overall_score is None else f" · score {shown_score(report.overall_score)}"
    badge = _tag("b", escape(report.action.value.upper()), f"color:{_COLOUR[report.action]}")
    head = _tag("div", f"{badge}{escape(f'{score} · policy {report.policy.name}')}")
    asked = "" if report.question is None else _tag("div", escape(report.question), "opacity:.7")
    problems = problems_of(report)
    listed = "".join(_problem(one) for one in problems[:MOST])
    if len(problems) > MOST:
        listed += _tag("div", f"… and {len(problems) - MOST} more")
    reasons = " ".join(report.decision.reasons)
    because = _tag("div", escape(reasons), "opacity:.7;font-size:.9em;margin-top:.4em") if reasons else ""
    style = "border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:.7em 1em;max-width:60em"
    return _tag("div", head + asked + _answer(report) + listed + because, style, title=report_sentence(report))


def _tag(name: str, inner: str, style: str = "", *, title: str = "") -> str:
    """An element around finished HTML."""
    attributes = (f' style="{style}"' if style else "") + (f' title="{escape(title)}"' if title else "")
    return f"<{name}{attributes}>{inner}</{name}>"


def _answer(report: HallucinationReport) -> str:
    shown = "".join(_pieces(report))
    if len(report.output) > LONGEST:
        shown += _tag("i", f"… {len(report.output) - LONGEST:,} characters more")
    return _tag("div", shown, "white-space:pre-wrap;overflow-wrap:anywhere;margin:.5em 0", title="")


def _pieces(report: HallucinationReport) -> Iterator[str]:
    """The answer cut at the borders of its claims and of the wrong words in them."""
    length = min(len(report.output), LONGEST)
    verdicts: list[Verdict | None] = [None] * length
    wrong = [False] * length
    for claim in sorted(report.claims, key=lambda one: -GRAVITY.index(one.verdict)):
        for at in range(claim.span.start, min(claim.span.end, length)):
            verdicts[at] = claim.verdict
        for span in claim.wrong_spans:
            wrong[span.start : min(span.end, length)] = [True] * max(0, min(span.end, length) - span.start)
    start = 0
    for at in range(1, length + 1):
        if at == length or (verdicts[at], wrong[at]) != (verdicts[start], wrong[start]):
            text, verdict = escape(report.output[start:at]), verdicts[start]
            wash = None if verdict is None else _WASH.get(verdict)
            if verdict is None or wash is None:
                yield text
            else:
                under = ";text-decoration:underline;font-weight:600" if wrong[start] else ""
                yield _tag("span", text, f"background:{wash}{under}", title=WORDS[verdict])
            start = at


def _problem(problem: Problem) -> str:
    if problem.number is None:
        name = f"✗ {problem.kind.replace('_', ' ')} {problem.text}"
    else:
        verdict = Verdict(problem.kind)
        score = "" if problem.score is None else f", score {shown_score(problem.score)}"
        name = f"{SIGNS[verdict]} {problem.number} {WORDS[verdict]}{score}: {problem.text}"
    inner = "".join(_tag("li", f"{escape(message)} {_code(code)}") for message, code in problem.messages)
    inner += "".join(
        _tag("li", f"{_tag('b', escape(f'[{one.evidence_id}]'))} {_tag('q', escape(one.text[:600]))}")
        for one in problem.passages[:3]
    )
    return _tag("details", _tag("summary", escape(name)) + _tag("ul", inner, "margin:.2em 0"))


def _code(code: str) -> str:
    return _tag("code", escape(code)) if code else ""
