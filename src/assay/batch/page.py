"""The report of an evaluation as one self-contained page: figures, baselines, curves, sets and slices."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from assay.batch.html import Child, Markup, foreign, page, tag
from assay.batch.plot import curve, reliability
from assay.batch.style import BASE
from assay.batch.summary import FIGURES, Figure, Figures, Summary

STYLE: Final = (
    BASE
    + """
.head{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:1rem 1.6rem;margin:1.2rem 0}
.head div{border-top:2px solid var(--accent);padding-top:.4rem}.head dt{font-size:.8125rem;color:var(--soft)}
.head dl,.head dd{margin:0}.head dd{font-size:1.5rem;font-variant-numeric:tabular-nums;line-height:1.3}
.head dd small{display:block;font-size:.8125rem;color:var(--soft)}
th.num{white-space:normal;min-width:4.5rem;vertical-align:bottom}
td.num small{display:block;color:var(--soft);font-size:.75rem;white-space:nowrap}
tr.ours th,tr.ours td{font-weight:650}tbody th{color:var(--ink);font-weight:500}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:1.5rem}
figure{margin:0}figcaption{font-size:.8125rem;color:var(--soft);margin-top:.3rem}
.plot{width:100%;max-width:22rem;height:auto}.grid{stroke:var(--line);stroke-width:.6}
.tick{font-size:10px;fill:var(--soft)}.axis{font-size:11px;fill:var(--ink)}
.curve{fill:none;stroke:var(--accent);stroke-width:2}.thin{stroke-width:1}
.guide{fill:none;stroke:var(--soft);stroke-dasharray:4 4}.mark{fill:var(--accent);fill-opacity:.75}
ul{padding-left:1.2rem}
@media print{section{break-inside:avoid}}
"""
)
"""The style sheet of the page."""

_HEADLINE: Final = ("balanced_accuracy", "f1", "auroc", "auprc", "fpr", "fnr", "ece", "span_f1")
_COLUMNS: Final = ("balanced_accuracy", "f1", "auroc", "auprc", "fpr", "fnr", "ece")


def eval_page(summary: Summary) -> str:
    """The page of one evaluation."""
    overall = summary.overall
    decided = "the verdict decides" if summary.threshold is None else f"flagged below a score of {summary.threshold:g}"
    about = f"{overall.rows:,} labelled rows in {len(summary.sets)} sets, {overall.wrong:,} of them wrong; {decided}."
    left = [f"{summary.unlabelled:,} rows without a label are left out."] if summary.unlabelled else []
    left += [f"{overall.not_judged:,} rows could not be judged; they count as flagged."] if overall.not_judged else []
    return page(
        "assay: evaluation",
        STYLE,
        tag("div", tag("b", "assay"), foreign(summary.identity.get("verifier", "")), class_="brand"),
        tag(
            "main",
            tag("h1", "Evaluation"),
            tag("p", about, class_="soft"),
            (tag("p", words) for words in left),
            _headline(overall),
            _systems(summary),
            _plots(summary),
            _table("By set", "Set", summary.sets, extra=("contradiction_auroc", "span_f1")),
            (_table(f"By {way}", way, found) for way, found in summary.slices.items()),
        ),
        _footer(summary),
    )


def _headline(overall: Figures) -> Markup:
    shown = [(name, overall.figures[name]) for name in _HEADLINE if name in overall.figures]
    cells = (
        tag("div", tag("dt", FIGURES[name]), tag("dd", words(figure), tag("small", interval(figure))))
        for name, figure in shown
        if figure.value is not None
    )
    return tag("dl", cells, class_="head")


def words(figure: Figure | None) -> str:
    """A figure with three decimals, or a dash.

    >>> words(Figure(0.5)), words(None)
    ('0.500', '–')
    """
    return "–" if figure is None or figure.value is None else f"{figure.value:.3f}"


def interval(figure: Figure | None) -> str:
    """The interval of a figure, or nothing.

    >>> interval(Figure(0.5, 0.4, 0.6))
    '0.400 to 0.600'
    """
    if figure is None or figure.low is None or figure.high is None:
        return ""
    return f"{figure.low:.3f} to {figure.high:.3f}"


def _cell(figure: Figure | None) -> Markup:
    small = interval(figure)
    why = figure.undefined if figure is not None else None
    return tag("td", words(figure), tag("small", small) if small else None, class_="num", title=why)


def _head(cells: Iterable[str]) -> Markup:
    first, *others = cells
    return tag("tr", tag("th", first, scope="col"), (tag("th", cell, scope="col", class_="num") for cell in others))


def _section(title: str, head: Markup, body: Child) -> Markup:
    return tag(
        "section",
        tag("h2", title),
        tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="scroll"),
    )


def _table(title: str, first: str, found: Sequence[Figures], extra: Sequence[str] = ()) -> Markup | None:
    if not found:
        return None
    shown = [*_COLUMNS, *(name for name in extra if any(_defined(f.figures.get(name)) for f in found))]
    head = _head((first, "rows", "wrong", *(FIGURES[name] for name in shown)))
    return _section(title, head, [_row(figures, shown) for figures in found])


def _defined(figure: Figure | None) -> bool:
    return figure is not None and figure.value is not None


def _row(found: Figures, shown: Sequence[str], style: str | None = None) -> Markup:
    counts = (tag("td", f"{count:,}", class_="num") for count in (found.rows, found.wrong))
    cells = (_cell(found.figures.get(name)) for name in shown)
    return tag("tr", tag("th", foreign(found.name), scope="row"), counts, cells, class_=style)


def _systems(summary: Summary) -> list[Markup]:
    """The guard beside the baselines: over all rows, then balanced accuracy by set."""
    listed = [tag("li", foreign(note)) for note in summary.notes]
    notes = [tag("ul", listed, class_="small soft")] if listed else []
    if not summary.systems:
        return notes
    shown = _COLUMNS
    head = _head(("System", "rows", "wrong", *(FIGURES[name] for name in shown)))
    body = [_row(found, shown, "ours" if index == 0 else None) for index, found in enumerate(summary.systems)]
    names = [found.name for found in summary.systems]
    by_set = [_set_row(name, names, found) for name, found in summary.systems_by_set.items()]
    return [
        _section("Beside the baselines", head, body),
        *notes,
        _section("Balanced accuracy by set", _head(("Set", *names)), by_set),
    ]


def _set_row(name: str, systems: Sequence[str], found: Mapping[str, Figure]) -> Markup:
    return tag("tr", tag("th", foreign(name), scope="row"), (_cell(found.get(system)) for system in systems))


def _plots(summary: Summary) -> Markup | None:
    curves = summary.curves
    if not curves.roc:
        return None
    share = summary.overall.wrong / summary.overall.rows
    roc = curve(
        "ROC.",
        "The dashed line is chance.",
        ("false positive rate", "true positive rate"),
        curves.roc,
        [(0, 0), (1, 1)],
    )
    precision = curve(
        "Precision and recall of wrong.",
        "The dashed line is the share of wrong rows.",
        ("recall", "precision"),
        curves.pr,
        [(0, share), (1, share)],
    )
    plots = tag("div", roc, precision, reliability(curves.reliability), class_="plots")
    return tag("section", tag("h2", "Curves"), plots)


def _footer(summary: Summary) -> Markup:
    facts = " · ".join(f"{name} {value}" for name, value in summary.identity.items())
    method = (
        "Wrong is every row whose label is not supported; it is the positive class. Intervals are 95% percentile "
        "bootstraps over documents."
    )
    return tag("footer", tag("p", method), tag("p", facts))
