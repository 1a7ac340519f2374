"""Two runs over the same rows as one self-contained page: figures, thresholds, sets, and the rows that flipped."""

from collections.abc import Mapping, Sequence
from typing import Final

from assay.evaluation.figures.comparison import Change, Comparison, Flip
from assay.evaluation.figures.gate_rates import share
from assay.evaluation.figures.metrics import FIGURES
from assay.evaluation.figures.slice_rates import is_flagged
from assay.evaluation.report_page import STYLE as EVALUATION_STYLE
from assay.evaluation.report_page import difference_text, figure_cell, share_cell, table_section
from assay.evaluation.row_list import listed_section, mark_legend, marked_text, passages, score_text, summary_text
from assay.evaluation.rows.kept_rows import KeptRow
from assay.evaluation.rows.results import Result
from assay.evaluation.threshold_panel import SCRIPT, SystemScores, threshold_panel
from assay.reporting import Child, Markup, foreign, page, tag
from assay.schema import Evidence

MOST_FLIPS: Final = 200
"""Rows of each kind that are shown; the rest are counted."""
CHANGE_WORDS: Final[Mapping[bool | None, str]] = {True: "better", False: "worse", None: "within chance"}
"""The wording of a change: better, worse, or within chance."""

STYLE: Final = (
    EVALUATION_STYLE
    + """
.brand bdi{min-width:0;overflow-wrap:anywhere}
.sides>div{min-width:0}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(16rem,1fr));gap:.2rem 1.5rem}
@media(min-width:40.01rem){details.row>summary{grid-template-columns:7.5rem 7.5rem minmax(0,1fr)}}
.sides h3{margin:.3rem 0 0;font-size:.875rem;font-weight:600;color:var(--soft)}
"""
)


def comparison_page(
    found: Comparison,
    rows: Sequence[KeptRow],
    first: Mapping[str, Result],
    second: Mapping[str, Result],
    *,
    evidence: Mapping[str, Sequence[Evidence]] | None = None,
    threshold: float | None = None,
) -> str:
    """The page of a comparison.

    Args:
        found: the figures and the rows that flipped.
        rows: the rows of both runs.
        first: the results of the first run by the digest of the row.
        second: those of the second run.
        evidence: the evidence of the rows by their digest, where it is available.
        threshold: rows that score below it are flagged; without one the verdict decides.
    """
    shared = [row for row in rows if row.label is not None and row.digest in first and row.digest in second]
    names = ("first", "second")
    systems = [
        SystemScores(f"{name} run", [(row.wrong, results[row.digest].score) for row in shared])
        for name, results in zip(names, (first, second), strict=True)
    ]
    introduction = f"{found.rows:,} labelled rows in both runs, {found.wrong:,} of them wrong."
    left_out = [
        tag("p", f"{count:,} rows are only in the {name} run and are left out.", class_="soft")
        for count, name in zip((found.only_first, found.only_second), names, strict=True)
        if count
    ]
    sides = _FlipRows(first, second, evidence or {}, {row.digest: row for row in shared})
    return page(
        "assay: two runs side by side",
        STYLE,
        tag("header", tag("b", "assay"), foreign(f"{found.first} → {found.second}"), class_="brand"),
        tag(
            "main",
            tag("h1", "Two runs side by side"),
            tag(
                "p",
                "First: ",
                foreign(found.first),
                "; second: ",
                foreign(found.second),
                ". ",
                introduction,
                class_="soft",
            ),
            left_out,
            _figures(found.changes),
            threshold_panel(systems, threshold),
            _sets(shared, first, second, threshold),
            sides.section("Regressions: right before, wrong now", found.regressions),
            sides.section("Fixes: wrong before, right now", found.fixes),
        ),
        tag(
            "footer",
            tag(
                "p",
                "Intervals of changes are 95% paired bootstraps over documents; those of shares are Wilson's. A change "
                "whose interval holds 0 is within chance.",
            ),
        ),
        script=SCRIPT,
    )


def _figures(changes: Mapping[str, Change]) -> Markup:
    head = tag(
        "tr",
        tag("th", "Figure", scope="col"),
        (tag("th", name, scope="col", class_="num") for name in ("first", "second", "change")),
        tag("th", "", scope="col"),
    )
    style = {True: "good", False: "bad", None: "soft"}
    body = (
        tag(
            "tr",
            tag("th", FIGURES[name], scope="row"),
            figure_cell(change.first),
            figure_cell(change.second),
            tag("td", difference_text(change.difference), class_="num"),
            tag("td", CHANGE_WORDS[change.better], class_=style[change.better]),
        )
        for name, change in changes.items()
    )
    return table_section("Figures", head, body)


def _sets(
    rows: Sequence[KeptRow], first: Mapping[str, Result], second: Mapping[str, Result], threshold: float | None
) -> Markup:
    """A table of sets with both rates of both runs."""
    names = sorted({row.set for row in rows})
    columns = ("right passed, first", "second", "wrong flagged, first", "second")
    head = tag(
        "tr",
        tag("th", "Set", scope="col"),
        tag("th", "rows", scope="col", class_="num"),
        (tag("th", name, scope="col", class_="num") for name in columns),
    )
    body = []
    for name in names:
        rows_of_set = [row for row in rows if row.set == name]
        cells = []
        for wrong in (False, True):
            rows_of_class = [row for row in rows_of_set if row.wrong == wrong]
            for results in (first, second):
                flagged = sum(is_flagged(results[row.digest], threshold) for row in rows_of_class)
                cells.append(share_cell(share(flagged if wrong else len(rows_of_class) - flagged, len(rows_of_class))))
        count = tag("td", f"{len(rows_of_set):,}", class_="num")
        body.append(tag("tr", tag("th", foreign(name), scope="row"), count, cells))
    return table_section("By set", head, body)


class _FlipRows:
    """Draws the rows that flipped, with the result of each run."""

    def __init__(
        self,
        first: Mapping[str, Result],
        second: Mapping[str, Result],
        evidence: Mapping[str, Sequence[Evidence]],
        rows: Mapping[str, KeptRow],
    ) -> None:
        self._results = (first, second)
        self._evidence = evidence
        self._rows = rows

    def section(self, title: str, flips: Sequence[Flip]) -> Markup:
        """The rows of one kind, the largest move first."""
        return listed_section(title, [self._row(one) for one in flips[:MOST_FLIPS]], len(flips), mark_legend())

    def _row(self, flip: Flip) -> Markup:
        row = self._rows[flip.digest]
        moved = f"{score_text(flip.score_before)} → {score_text(flip.score_after)}"
        head = tag(
            "summary",
            tag("span", moved, class_="num"),
            tag("span", flip.label),
            foreign(summary_text(row.text), "span"),
        )
        body: list[Child] = [tag("p", foreign(f"{row.set}/{row.id} · labelled {flip.label}"), class_="small soft")]
        if row.question is not None:
            body.append(tag("p", foreign(row.question)))
        sides = []
        for name, results in zip(("First run", "Second run"), self._results, strict=True):
            result = results[flip.digest]
            verdict = f"{name}: {result.verdict.replace('_', ' ')}, {score_text(result.score)}"
            sides.append(tag("div", tag("h3", verdict), marked_text(row.text, result.spans, row.spans or ())))
        body.append(tag("div", sides, class_="sides"))
        body += passages(self._evidence.get(flip.digest, ()), row.text)
        return tag("details", head, tag("div", body), class_="row")
