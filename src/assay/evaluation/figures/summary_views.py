"""The summary of an evaluation as a few lines of text, as HTML for a notebook, and as a data frame."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from assay.evaluation.figures.metrics import FIGURES, Figure, Figures
from assay.harmless import one_line
from assay.reporting import Markup, foreign, group, tag
from assay.schema.views import frame_of

if TYPE_CHECKING:
    from assay.evaluation.figures.summary import Summary

MOST_SETS: Final = 30
"""Sets shown in a notebook; the rest are counted."""
_SHOWN: Final = ("balanced_accuracy", "f1", "auroc", "fpr", "fnr", "ece")
"""The figures that a short view shows."""


def summary_lines(summary: "Summary") -> list[str]:
    """At most ten lines: the rows, and the figures with their intervals."""
    overall = summary.overall
    judge = f"{summary.identity.get('verifier', '?')}, policy {summary.identity.get('policy', '?')}"
    lines = [f"{overall.rows:,} labelled rows, {overall.wrong:,} wrong, {len(summary.sets)} sets ({judge})"]
    lines += [f"  {FIGURES[name]:<26} {_figure_text(overall.figures.get(name))}" for name in _SHOWN]
    for gate in summary.gates:
        if gate.policy == summary.identity.get("policy"):
            honest, wrong = gate.overall.honest_emitted, gate.overall.wrong_stopped
            lines.append(
                f"  gate: {honest.count} of {honest.of} honest emitted, {wrong.count} of {wrong.of} wrong stopped"
            )
    if overall.not_judged:
        lines.append(f"  {overall.not_judged:,} rows could not be judged and count as flagged")
    return [one_line(line, 160) if not line.startswith(" ") else "  " + one_line(line, 158) for line in lines]


def _figure_text(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "–" if figure is None or figure.undefined is None else f"– ({figure.undefined})"
    between = "" if figure.low is None or figure.high is None else f" ({figure.low:.3f} to {figure.high:.3f})"
    return f"{figure.value:.3f}{between}"


def summary_html(summary: "Summary") -> str:
    """A table of the figures over all rows and of each set; foreign text is escaped."""
    first = "text-align:left"
    head = tag("tr", tag("th", "", style=first), tag("th", "rows"), (tag("th", FIGURES[name]) for name in _SHOWN))
    shown = [summary.overall, *summary.sets[:MOST_SETS]]
    body = [
        tag(
            "tr",
            tag("th", foreign(figures.name), style=first),
            tag("td", f"{figures.rows:,}"),
            (tag("td", _figure_text(figures.figures.get(name)), style="white-space:nowrap") for name in _SHOWN),
        )
        for figures in shown
    ]
    more = len(summary.sets) - MOST_SETS
    judge = f"{summary.identity.get('verifier', '?')}, policy {summary.identity.get('policy', '?')}"
    about = tag("div", f"{summary.overall.rows:,} labelled rows, {summary.overall.wrong:,} wrong; ", foreign(judge))
    parts: list[Markup] = [about, tag("table", tag("thead", head), tag("tbody", body))]
    if more > 0:
        parts.append(tag("div", f"… and {more} more sets: summary.to_dataframe()"))
    return group(*parts).html


_COLUMNS: Final = (
    "way",
    "name",
    "rows",
    "wrong",
    "not_judged",
    *(f"{name}{part}" for name in FIGURES for part in ("", "_low", "_high")),
)


def summary_frame(summary: "Summary", library: str | None = None) -> Any:
    """One row for all rows, for each set and for each slice; see `frame_of`."""
    return frame_of(list(_rows(summary)), _COLUMNS, library)


def _rows(summary: "Summary") -> Iterator[dict[str, Any]]:
    yield _row("all", summary.overall)
    for figures in summary.sets:
        yield _row("set", figures)
    for way, slices in summary.slices.items():
        for figures in slices:
            yield _row(way, figures)


def _row(way: str, figures: Figures) -> dict[str, Any]:
    row: dict[str, Any] = {
        "way": way,
        "name": figures.name,
        "rows": figures.rows,
        "wrong": figures.wrong,
        "not_judged": figures.not_judged,
    }
    for name in FIGURES:
        figure = figures.figures.get(name, Figure(None))
        row |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
    return row
