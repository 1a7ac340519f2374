"""The report of an evaluation as one self-contained page: figures, baselines, curves, sets and slices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from assay.evaluation.figures.gate_rates import Rates, Share
from assay.evaluation.figures.metrics import FIGURES, Figure, Figures
from assay.evaluation.figures.slice_rates import SliceRates, slice_rates
from assay.evaluation.figures.summary import LEAST_DIAGRAM, LEAST_SLICE, Bins, Summary
from assay.evaluation.row_list import STYLE as ROWS
from assay.evaluation.row_list import JudgedRow, judged_rows, row_sections
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.evaluation.rows.slices import CLAIM_TYPES
from assay.evaluation.threshold_panel import SCRIPT, SystemScores, threshold_panel
from assay.evaluation.threshold_panel import STYLE as PANEL
from assay.reporting import BASE, Child, Markup, curve, foreign, page, reliability, scrolled, tag

STYLE: Final = (
    BASE
    + ROWS
    + PANEL
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
.small-plots{grid-template-columns:repeat(auto-fill,minmax(12rem,1fr))}
.plot{width:100%;max-width:22rem;height:auto}.grid{stroke:var(--line);stroke-width:.6}
.tick{font-size:10px;fill:var(--soft)}.axis{font-size:11px;fill:var(--ink)}
.curve{fill:none;stroke:var(--accent);stroke-width:2}.thin{stroke-width:1}
.guide{fill:none;stroke:var(--soft);stroke-dasharray:4 4}.mark{fill:var(--accent);fill-opacity:.75}
ul{padding-left:1.2rem}
@media print{section{break-inside:avoid}}
"""
)
"""The style sheet of the page."""

_OPTIONAL_COLUMNS: Final = ("contradiction_auroc", "span_f1")
"""Columns that are left out of a table if no row of it has a value."""
_HEADLINE_FIGURES: Final = ("balanced_accuracy", "f1", "auroc", "auprc", "fpr", "fnr", "ece", "span_f1")
_TABLE_FIGURES: Final = ("balanced_accuracy", "f1", "auroc", "auprc", "fpr", "fnr", "ece")


def eval_page(
    summary: Summary,
    rows: Sequence[Row] = (),
    results: Sequence[Result] = (),
    slice_keys: Sequence[str] = (),
) -> str:
    """The page of one evaluation.

    Args:
        summary: the figures.
        rows: the rows, which the page lists.
        results: one for each row.
        slice_keys: names in `meta` to slice by.
    """
    judged = judged_rows(rows, results, summary.threshold)
    rates_by_slice = slice_rates(rows, results, summary.threshold, slice_keys)
    overall = summary.overall
    flag_rule = (
        "the verdict decides" if summary.threshold is None else f"flagged below a score of {summary.threshold:g}"
    )
    introduction = (
        f"{overall.rows:,} labelled rows in {len(summary.sets)} sets, {overall.wrong:,} of them wrong; {flag_rule}."
    )
    left_out = [f"{summary.unlabelled:,} rows without a label are left out."] if summary.unlabelled else []
    left_out += (
        [f"{overall.not_judged:,} rows could not be judged; they count as flagged."] if overall.not_judged else []
    )
    return page(
        "assay: evaluation",
        STYLE,
        tag("header", tag("b", "assay"), foreign(summary.identity.get("verifier", "")), class_="brand"),
        tag(
            "main",
            tag("h1", "Evaluation"),
            tag("p", introduction, class_="soft"),
            (tag("p", note) for note in left_out),
            _headline(overall),
            _gates(summary),
            threshold_panel(_system_scores(judged, summary), summary.threshold),
            _systems(summary),
            _plots(summary),
            _table("By set", "Set", summary.sets),
            _three_way(summary.sets),
            (_table(f"By {way}", way.capitalize(), figures) for way, figures in slice_tables(summary)),
            (_diagrams(way, figures) for way, figures in summary.reliability.items()),
            _slice_rate_tables(rates_by_slice),
            row_sections(judged) if judged else (),
        ),
        _footer(summary),
        script=SCRIPT,
    )


def _system_scores(judged: Sequence[JudgedRow], summary: Summary) -> list[SystemScores]:
    """The scores that the threshold panel shows: support, and for outputs the overall score under each policy."""
    systems = [SystemScores("support", [(judged_row.row.wrong, judged_row.result.score) for judged_row in judged])]
    for gate in summary.gates:
        scores = [
            (judged_row.row.wrong, judged_row.result.gates[gate.policy][1])
            for judged_row in judged
            if gate.policy in judged_row.result.gates
        ]
        systems.append(SystemScores(f"policy {gate.policy}", scores))
    return systems


def _headline(overall: Figures) -> Markup:
    shown = [(name, overall.figures[name]) for name in _HEADLINE_FIGURES if name in overall.figures]
    cells = (
        tag("div", tag("dt", FIGURES[name]), tag("dd", figure_text(figure), tag("small", interval_text(figure))))
        for name, figure in shown
        if figure.value is not None
    )
    return tag("dl", cells, class_="head")


def _gates(summary: Summary) -> Child:
    """The gate of each policy on outputs: its two rates, its actions, and the trade-off between the rates."""
    if not summary.gates:
        return ()
    body: list[Child] = []
    for gate in summary.gates:
        is_own = gate.policy == summary.identity.get("policy")
        body.append(_gate_row(gate.policy, gate.overall, "ours" if is_own else None))
        if is_own and len(gate.sets) > 1:
            body += [_gate_row(f"on {set_rates.name}", set_rates, None) for set_rates in gate.sets]
    head = _head(("Policy", "Honest emitted", "Wrong stopped", "Honest", "Wrong", "Actions"))
    curves = (
        curve(
            f"The gate under {gate.policy}",
            "What other thresholds of its score would do: up and to the right is better.",
            ("wrong outputs stopped", "honest outputs emitted"),
            [(stopped, emitted) for _, emitted, stopped in gate.curve],
            ((0, 1), (1, 0)),
        )
        for gate in summary.gates
        if gate.curve
    )
    return (table_section("The gate", head, body), tag("div", curves, class_="plots"))


def _gate_row(name: str, rates: Rates, style: str | None) -> Markup:
    actions = ", ".join(f"{count:,} {action}" for action, count in rates.actions.items())
    return tag(
        "tr",
        tag("th", foreign(name), scope="row"),
        share_cell(rates.honest_emitted),
        share_cell(rates.wrong_stopped),
        tag("td", f"{rates.honest_emitted.of:,}", class_="num"),
        tag("td", f"{rates.wrong_stopped.of:,}", class_="num"),
        tag("td", actions, class_="num"),
        class_=style,
    )


def share_cell(share: Share) -> Markup:
    """A table cell with a share and its interval."""
    figure = Figure(share.value, share.low, share.high)
    small = interval_text(figure)
    return tag("td", figure_text(figure), tag("small", small) if small else None, class_="num")


def figure_text(figure: Figure | None) -> str:
    """A figure with three decimals, or a dash.

    >>> figure_text(Figure(0.5)), figure_text(None)
    ('0.500', '–')
    """
    return "–" if figure is None or figure.value is None else f"{figure.value:.3f}"


def interval_text(figure: Figure | None) -> str:
    """The interval of a figure, or nothing.

    >>> interval_text(Figure(0.5, 0.4, 0.6))
    '0.400 to 0.600'
    """
    if figure is None or figure.low is None or figure.high is None:
        return ""
    return f"{figure.low:.3f} to {figure.high:.3f}"


def figure_cell(figure: Figure | None) -> Markup:
    """A table cell with a figure and its interval; an undefined one has the reason as its title."""
    small = interval_text(figure)
    why = figure.undefined if figure is not None else None
    return tag("td", figure_text(figure), tag("small", small) if small else None, class_="num", title=why)


def _head(cells: Iterable[str]) -> Markup:
    first, *others = cells
    return tag("tr", tag("th", first, scope="col"), (tag("th", cell, scope="col", class_="num") for cell in others))


def table_section(title: str, head: Markup, body: Child) -> Markup:
    """A section with a heading and a table that scrolls where it is wide."""
    return tag(
        "section",
        tag("h2", title),
        scrolled(title, tag("table", tag("thead", head), tag("tbody", body))),
    )


def slice_tables(summary: Summary) -> list[tuple[str, list[Figures]]]:
    """The slices as tables with their titles: one for each way of slicing, and one for all ways by what claims contain.

    A way with a single slice of all rows is left out.
    """
    tables: dict[str, list[Figures]] = {}
    for way, figures_of_way in summary.slices.items():
        if way in CLAIM_TYPES:
            renamed = [replace(figures, name=f"{figures.name} {way}") for figures in figures_of_way]
            tables.setdefault("claim type", []).extend(renamed)
        elif len(figures_of_way) != 1 or figures_of_way[0].rows != summary.overall.rows:
            tables[way] = list(figures_of_way)
    return [(way, figures_of_way) for way, figures_of_way in tables.items() if figures_of_way]


def three_way(sets: Sequence[Figures]) -> list[Figures]:
    """The sets with both contradicted and unsupported rows, those first in which the two are distinguished worst."""
    told_apart = [figures for figures in sets if _defined(figures.figures.get("contradiction_auroc"))]
    return sorted(told_apart, key=lambda figures: (figures.figures["contradiction_auroc"].value or 0.0, figures.name))


def _three_way(sets: Sequence[Figures]) -> Markup | None:
    sets_told_apart = three_way(sets)
    if not sets_told_apart:
        return None
    rows = (
        tag(
            "tr",
            tag("th", foreign(figures.name), scope="row"),
            (tag("td", f"{count:,}", class_="num") for count in (figures.contradicted, figures.unsupported)),
            figure_cell(figures.figures["contradiction_auroc"]),
        )
        for figures in sets_told_apart
    )
    return table_section(
        "Contradicted against unsupported", _head(("Set", "contradicted", "unsupported", "AUROC")), rows
    )


def _slice_rate_tables(rates_by_way: Mapping[str, Sequence[SliceRates]]) -> list[Markup]:
    """Tables of the shares of each slice: judged rightly, missed, and wrongly flagged."""
    sections = []
    for way, rates in rates_by_way.items():
        head = _head((way.capitalize(), "rows", "judged rightly", "wrong missed", "right flagged"))
        body = [
            tag(
                "tr",
                tag("th", foreign(rates_of_slice.name), scope="row"),
                tag("td", f"{rates_of_slice.right.of:,}", class_="num"),
                (share_cell(part) for part in (rates_of_slice.right, rates_of_slice.missed, rates_of_slice.alarms)),
            )
            for rates_of_slice in rates
        ]
        sections.append(table_section(f"Shares by {way}", head, body))
    return sections


def _diagrams(way: str, bins_by_slice: Mapping[str, Bins]) -> Markup | None:
    """The reliability diagrams of one way of slicing, side by side."""
    if not bins_by_slice:
        return None
    plots = (
        reliability(bins, foreign(name), f"{sum(count for *_, count in bins):,} rows")
        for name, bins in bins_by_slice.items()
    )
    return tag("section", tag("h2", f"Reliability by {way}"), tag("div", plots, class_="plots small-plots"))


def _table(title: str, first: str, figures_listed: Sequence[Figures]) -> Markup | None:
    if not figures_listed:
        return None
    shown = [
        *_TABLE_FIGURES,
        *(name for name in _OPTIONAL_COLUMNS if any(_defined(f.figures.get(name)) for f in figures_listed)),
    ]
    head = _head((first, "rows", "wrong", *(FIGURES[name] for name in shown)))
    return table_section(title, head, [_row(figures, shown) for figures in figures_listed])


def _defined(figure: Figure | None) -> bool:
    return figure is not None and figure.value is not None


def _row(figures: Figures, shown: Sequence[str], style: str | None = None) -> Markup:
    counts = (tag("td", f"{count:,}", class_="num") for count in (figures.rows, figures.wrong))
    cells = (figure_cell(figures.figures.get(name)) for name in shown)
    return tag("tr", tag("th", foreign(figures.name), scope="row"), counts, cells, class_=style)


def _systems(summary: Summary) -> list[Markup]:
    """The guard and the baselines: over all rows, then figure by figure for each set."""
    notes_listed = [tag("li", foreign(note)) for note in summary.notes]
    notes = [tag("ul", notes_listed, class_="small soft")] if notes_listed else []
    if not summary.systems:
        return notes
    columns = _TABLE_FIGURES
    head = _head(("System", "rows", "wrong", *(FIGURES[name] for name in columns)))
    body = [_row(figures, columns, "ours" if index == 0 else None) for index, figures in enumerate(summary.systems)]
    names = [figures.name for figures in summary.systems]
    by_set = (
        table_section(
            f"{FIGURES[figure][:1].upper()}{FIGURES[figure][1:]} by set, beside the baselines",
            _head(("Set", *names)),
            [_set_row(name, names, figures) for name, figures in rows.items()],
        )
        for figure, rows in summary.systems_by_set.items()
    )
    return [table_section("Beside the baselines", head, body), *notes, _margins(summary), *by_set]


def margins(summary: Summary) -> list[tuple[str, str, Figure]]:
    """Each set with its best baseline and the guard's lead over it in balanced accuracy, the smallest lead first."""
    defined = [(name, best, figure) for name, (best, figure) in summary.margins.items() if figure.value is not None]
    return sorted(defined, key=lambda item: (item[2].value or 0.0, item[0]))


def difference_text(figure: Figure) -> str:
    """A difference with its sign and interval.

    >>> difference_text(Figure(0.05, -0.01, 0.11))
    '+0.050 (-0.010 to +0.110)'
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return figure_text(figure)
    return f"{figure.value:+.3f} ({figure.low:+.3f} to {figure.high:+.3f})"


def _margins(summary: Summary) -> Markup:
    rows = (
        tag(
            "tr",
            tag("th", foreign(name), scope="row"),
            tag("td", best),
            tag("td", difference_text(figure), class_="num"),
        )
        for name, best, figure in margins(summary)
    )
    head = tag(
        "tr",
        tag("th", "Set", scope="col"),
        tag("th", "best baseline", scope="col"),
        tag("th", "balanced accuracy above it", scope="col", class_="num"),
    )
    return table_section("Ahead of the best baseline", head, rows)


def _set_row(name: str, systems: Sequence[str], figure_by_system: Mapping[str, Figure]) -> Markup:
    return tag(
        "tr", tag("th", foreign(name), scope="row"), (figure_cell(figure_by_system.get(system)) for system in systems)
    )


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
        "bootstraps over documents, and Wilson's where every resample says the same, and for shares by slice (by rows: "
        "where many share a document they are too narrow). Figures of slices of fewer than "
        f"{LEAST_SLICE} rows are left out, and of fewer than {LEAST_DIAGRAM} among the diagrams."
    )
    return tag("footer", tag("p", method), tag("p", facts))
