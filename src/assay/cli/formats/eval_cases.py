"""Judged rows, figures and comparisons as cases.

A row that was judged wrongly fails where nothing else says what is to fail. Where limits are given they decide, and
the rows are listed as notes: no verifier is right on all rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from assay.cli.formats.cases import Case, Finding, Level, Passage, Place, file_name
from assay.cli.formats.limits import Limit, limit_cases
from assay.cli.formats.markdown import escaped
from assay.evaluation import difference_text, figure_text
from assay.evaluation.figures import FIGURES, Comparison, Flip, Summary
from assay.evaluation.rows import Result, Row

GATE: Final = ("honest_emitted", "wrong_stopped")
"""The two rates of the policy that judged, of whole outputs."""
KNOWN: Final = frozenset({*FIGURES, *GATE})
"""What limits of an evaluation may name."""
KNOWN_COMPARED: Final = frozenset({*FIGURES, *(f"{name}.change" for name in FIGURES)})
"""The same of a comparison: figures of the second run, and how far they moved."""
_QUOTE: Final = 400


def values_of(summary: Summary) -> dict[str, float | None]:
    """The values that limits ask about."""
    found: dict[str, float | None] = dict.fromkeys(KNOWN)
    found |= {name: figure.value for name, figure in summary.overall.figures.items()}
    for gate in summary.gates:
        if gate.policy == summary.identity.get("policy"):
            found |= {name: getattr(gate.overall, name).value for name in GATE}
    return found


def cases_of(
    rows: Sequence[Row],
    results: Sequence[Result],
    threshold: float | None,
    limits: Sequence[Limit],
    summary: Summary,
) -> list[Case]:
    """The cases of an evaluation: one of each labelled row, and one of each limit."""
    judged = [
        _row_case(row, result, threshold, fails=not limits)
        for row, result in zip(rows, results, strict=True)
        if row.label is not None
    ]
    return [*judged, *limit_cases(limits, {"all rows": values_of(summary)})]


def _row_case(row: Row, result: Result, threshold: float | None, *, fails: bool) -> Case:
    broken = result.score is None
    flagged = not result.supported if threshold is None else result.score is None or result.score < threshold
    right = flagged == row.wrong and not broken
    score = "no score" if result.score is None else f"score {result.score:.2f}"
    headline = f"{result.verdict}, {score}; labelled {row.label}"
    place = None if row.place is None else Place(file_name(row.place[0]), row.place[1])
    findings: tuple[Finding, ...] = ()
    if not right:
        kind = "could not be judged" if broken else "a false alarm" if flagged else "missed"
        level: Level = "note" if not fails else "error" if broken or not flagged else "warning"
        evidence = tuple(Passage(piece.id, piece.text[:_QUOTE], piece.source) for piece in row.evidence[:2])
        message = f"{row.set}/{row.id} is {kind}: {headline}"
        findings = (
            Finding(
                f"eval.{'unjudged' if broken else 'false_alarm' if flagged else 'missed'}",
                level,
                message,
                place,
                row.text,
                passages=evidence,
            ),
        )
    return Case(
        f"{row.set}/{row.id}",
        row.set,
        passed=right or not fails,
        headline=headline,
        findings=findings,
        place=place,
        broken=broken and fails,
        properties={"assay.verdict": result.verdict, "assay.label": row.label or ""},
    )


def notes_of(summary: Summary) -> tuple[str, ...]:
    """The figures of an evaluation as a table in Markdown."""
    head = f"{summary.overall.rows:,} labelled rows, {summary.overall.wrong:,} of them wrong."
    lines = ["| figure | value | 95% interval |", "|---|---|---|"]
    for name, label in FIGURES.items():
        figure = summary.overall.figures.get(name)
        if figure is not None and figure.value is not None:
            between = "" if figure.low is None else f"{figure.low:.3f} to {figure.high:.3f}"
            lines.append(f"| {label} | {figure_text(figure)} | {between} |")
    return head, "\n".join(lines)


# Comparisons


def compared_values(comparison: Comparison) -> dict[str, float | None]:
    """The values that limits of a comparison ask about."""
    found: dict[str, float | None] = dict.fromkeys(KNOWN_COMPARED)
    for name, change in comparison.changes.items():
        found[name] = change.second.value
        found[f"{name}.change"] = change.difference.value
    return found


def compared_cases(comparison: Comparison, limits: Sequence[Limit]) -> list[Case]:
    """One case of each row that flipped, regressions first, and one of each limit."""
    flips = [*_flips(comparison.regressions, fails=not limits), *_flips(comparison.fixes, fails=False, fixed=True)]
    return [*flips, *limit_cases(limits, {comparison.second: compared_values(comparison)})]


def _flips(flips: Sequence[Flip], *, fails: bool, fixed: bool = False) -> Iterator[Case]:
    for one in flips:
        place = None if one.place is None else Place(file_name(one.place[0]), one.place[1])
        headline = (
            f"{one.before} {_score(one.score_before)} → {one.after} {_score(one.score_after)}; labelled {one.label}"
        )
        what = "is right now" if fixed else "was right and is wrong now"
        level: Level = "error" if fails else "note"
        finding = Finding(
            "eval.fixed" if fixed else "eval.regression",
            level,
            f"{one.set}/{one.id} {what}: {headline}",
            place,
            one.text,
        )
        yield Case(
            f"{one.set}/{one.id}",
            "fixes" if fixed else "regressions",
            passed=not fails,
            headline=headline,
            findings=(finding,),
            place=place,
        )


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def compared_notes(comparison: Comparison) -> tuple[str, ...]:
    """The changes of the figures as a table in Markdown."""
    head = (
        f"{comparison.rows:,} labelled rows in both: {len(comparison.regressions):,} regressions, "
        f"{len(comparison.fixes):,} fixes. {escaped(comparison.first)} → {escaped(comparison.second)}."
    )
    lines = ["| figure | first | second | change (95% interval, paired) | |", "|---|---|---|---|---|"]
    for name, change in comparison.changes.items():
        cells = (
            FIGURES[name],
            figure_text(change.first),
            figure_text(change.second),
            difference_text(change.difference),
        )
        lines.append(f"| {' | '.join(cells)} | {VERDICTS[change.better]} |")
    return head, "\n".join(lines)


VERDICTS: Final[Mapping[bool | None, str]] = {True: "better", False: "worse", None: "within chance"}
"""What is said of a change."""
