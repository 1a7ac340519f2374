"""Judged rows, figures and comparisons as cases.

Without limits every wrongly judged row fails. With limits only these decide, and the rows are listed as notes, because
no verifier is right on all rows.
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
"""The two rates of the policy's gate, over whole outputs."""
KNOWN: Final = frozenset({*FIGURES, *GATE})
"""The metrics that limits of an evaluation may name."""
KNOWN_COMPARED: Final = frozenset({*FIGURES, *(f"{name}.change" for name in FIGURES)})
"""The metrics that limits of a comparison may name: figures of the second run, and their changes."""
_QUOTE: Final = 400


def values_of(summary: Summary) -> dict[str, float | None]:
    """The values of the metrics that limits may name."""
    values: dict[str, float | None] = dict.fromkeys(KNOWN)
    values |= {name: figure.value for name, figure in summary.overall.figures.items()}
    for gate in summary.gates:
        if gate.policy == summary.identity.get("policy"):
            values |= {name: getattr(gate.overall, name).value for name in GATE}
    return values


def cases_of(
    rows: Sequence[Row],
    results: Sequence[Result],
    threshold: float | None,
    limits: Sequence[Limit],
    summary: Summary,
) -> list[Case]:
    """The cases of an evaluation: one for each labelled row, and one for each limit."""
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
    """The values of the metrics that limits of a comparison may name."""
    values: dict[str, float | None] = dict.fromkeys(KNOWN_COMPARED)
    for name, change in comparison.changes.items():
        values[name] = change.second.value
        values[f"{name}.change"] = change.difference.value
    return values


def compared_cases(comparison: Comparison, limits: Sequence[Limit]) -> list[Case]:
    """One case for each row that flipped, regressions first, and one for each limit."""
    flips = [*_flips(comparison.regressions, fails=not limits), *_flips(comparison.fixes, fails=False, fixed=True)]
    return [*flips, *limit_cases(limits, {comparison.second: compared_values(comparison)})]


def _flips(flips: Sequence[Flip], *, fails: bool, fixed: bool = False) -> Iterator[Case]:
    for flip in flips:
        place = None if flip.place is None else Place(file_name(flip.place[0]), flip.place[1])
        before, after = score_text(flip.score_before), score_text(flip.score_after)
        headline = f"{flip.before} {before} → {flip.after} {after}; labelled {flip.label}"
        change = "is right now" if fixed else "was right and is wrong now"
        level: Level = "error" if fails else "note"
        finding = Finding(
            "eval.fixed" if fixed else "eval.regression",
            level,
            f"{flip.set}/{flip.id} {change}: {headline}",
            place,
            flip.text,
        )
        yield Case(
            f"{flip.set}/{flip.id}",
            "fixes" if fixed else "regressions",
            passed=not fails,
            headline=headline,
            findings=(finding,),
            place=place,
        )


def score_text(value: float | None) -> str:
    """A score with two decimals, or a dash."""
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
"""The wording of a change: better, worse, or within chance."""
