"""Two runs over the same rows as one self-contained page, side by side: figures, thresholds, sets, and what flipped."""

from collections.abc import Mapping, Sequence
from typing import Final

from assay.evaluation.figures.comparison import Change, Comparison, Flip
from assay.evaluation.figures.gate_rates import Share, share
from assay.evaluation.figures.metrics import FIGURES, Figure
from assay.evaluation.report_page import STYLE as EVALUATION
from assay.evaluation.report_page import interval, signed, words
from assay.evaluation.row_list import mark_legend, marked_text, passages
from assay.evaluation.rows.kept import KeptRow
from assay.evaluation.rows.results import Result
from assay.evaluation.threshold_panel import SCRIPT, System, threshold_panel
from assay.reporting import Child, Markup, foreign, page, scrolled, tag
from assay.schema import Evidence
from assay.stats import shown_score

MOST_FLIPS: Final = 200
"""Rows of each kind that are shown; the rest are counted."""
WORDS: Final[Mapping[bool | None, str]] = {True: "better", False: "worse", None: "within chance"}
"""What is said of a change."""

STYLE: Final = (
    EVALUATION
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
        first: what the first run said, by the digest of the row.
        second: the same of the second run.
        evidence: what the rows were held against, by digest, where it is at hand.
        threshold: what scores below it was flagged; the verdict decided without one.
    """
    shared = [row for row in rows if row.label is not None and row.digest in first and row.digest in second]
    names = ("first", "second")
    systems = [
        System(f"{name} run", [(row.wrong, results[row.digest].score) for row in shared])
        for name, results in zip(names, (first, second), strict=True)
    ]
    about = f"{found.rows:,} labelled rows in both runs, {found.wrong:,} of them wrong."
    left = [
        tag("p", f"{count:,} rows are only in the {name} run and are left out.", class_="soft")
        for count, name in zip((found.only_first, found.only_second), names, strict=True)
        if count
    ]
    sides = _Sides(first, second, evidence or {}, {row.digest: row for row in shared})
    return page(
        "assay: two runs side by side",
        STYLE,
        tag("header", tag("b", "assay"), foreign(f"{found.first} → {found.second}"), class_="brand"),
        tag(
            "main",
            tag("h1", "Two runs side by side"),
            tag("p", "First: ", foreign(found.first), "; second: ", foreign(found.second), ". ", about, class_="soft"),
            left,
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
            _cell(change.first),
            _cell(change.second),
            tag("td", signed(change.difference), class_="num"),
            tag("td", WORDS[change.better], class_=style[change.better]),
        )
        for name, change in changes.items()
    )
    return _table("Figures", head, body)


def _cell(figure: Figure) -> Markup:
    small = interval(figure)
    return tag("td", words(figure), tag("small", small) if small else None, class_="num")


def _share(found: Share) -> Markup:
    return _cell(Figure(found.value, found.low, found.high))


def _table(title: str, head: Markup, body: Child) -> Markup:
    table = tag("table", tag("thead", head), tag("tbody", body))
    return tag("section", tag("h2", title), scrolled(title, table))


def _sets(
    rows: Sequence[KeptRow], first: Mapping[str, Result], second: Mapping[str, Result], threshold: float | None
) -> Markup:
    """Of each set both rates of both runs."""
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
        own = [row for row in rows if row.set == name]
        cells = []
        for wrong in (False, True):
            chosen = [row for row in own if row.wrong == wrong]
            for results in (first, second):
                flagged = sum(_flagged(results[row.digest], threshold) for row in chosen)
                cells.append(_share(share(flagged if wrong else len(chosen) - flagged, len(chosen))))
        count = tag("td", f"{len(own):,}", class_="num")
        body.append(tag("tr", tag("th", foreign(name), scope="row"), count, cells))
    return _table("By set", head, body)


def _flagged(result: Result, threshold: float | None) -> bool:
    if threshold is None:
        return not result.supported
    return result.score is None or result.score < threshold


class _Sides:
    """Draws the rows that flipped, with what each run said of them."""

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
        shown = [self._row(one) for one in flips[:MOST_FLIPS]]
        more = f"{len(flips) - MOST_FLIPS:,} more are left out of this page." if len(flips) > MOST_FLIPS else None
        note = tag("p", more, class_="soft") if more else None
        return tag("section", tag("h2", f"{title}: {len(flips):,}"), mark_legend() if shown else None, shown, note)

    def _row(self, flip: Flip) -> Markup:
        row = self._rows[flip.digest]
        short = row.text if len(row.text) <= 160 else row.text[:159] + "…"
        moved = f"{_score(flip.score_before)} → {_score(flip.score_after)}"
        head = tag("summary", tag("span", moved, class_="num"), tag("span", flip.label), foreign(short, "span"))
        body: list[Child] = [tag("p", foreign(f"{row.set}/{row.id} · labelled {flip.label}"), class_="small soft")]
        if row.question is not None:
            body.append(tag("p", foreign(row.question)))
        sides = []
        for name, results in zip(("First run", "Second run"), self._results, strict=True):
            result = results[flip.digest]
            verdict = f"{name}: {result.verdict.replace('_', ' ')}, {_score(result.score)}"
            sides.append(tag("div", tag("h3", verdict), marked_text(row.text, result.spans, row.spans or ())))
        body.append(tag("div", sides, class_="sides"))
        body += passages(self._evidence.get(flip.digest, ()), row.text)
        return tag("details", head, tag("div", body), class_="row")


def _score(value: float | None) -> str:
    return "–" if value is None else shown_score(value)
