"""The summary of an evaluation as lines of text."""

from collections.abc import Iterator, Sequence
from typing import Final

from assay.cli.terminal import Line, one_line
from assay.evaluation import difference_text, figure_text, interval_text, margins, slice_tables, three_way
from assay.evaluation.figures import FIGURES, Figure, Figures, Rates, Share, Summary

_SHORT: Final = {
    "balanced_accuracy": "bal.acc",
    "f1": "F1",
    "auroc": "AUROC",
    "auprc": "AUPRC",
    "fpr": "FPR",
    "fnr": "FNR",
    "ece": "ECE",
    "contradiction_auroc": "C/U AUROC",
    "span_f1": "span F1",
}
_NAME: Final = 34
"""Characters of a row's name."""
_CELL: Final = 10
"""Characters of a figure with half the width of its interval."""


def eval_text(summary: Summary) -> Iterator[Line]:
    """The lines: overall with intervals, then tables by system, set and slice with half the width of the intervals."""
    overall = summary.overall
    yield Line(((f"{overall.rows:,} labelled rows, {overall.wrong:,} wrong, {len(summary.sets)} sets", "strong"),))
    if summary.unlabelled:
        yield Line(((f"{summary.unlabelled:,} rows without a label are left out", "doubt"),))
    if overall.not_judged:
        yield Line(((f"{overall.not_judged:,} rows could not be judged and count as flagged", "doubt"),))
    for name, label in FIGURES.items():
        figure = overall.figures.get(name)
        if figure is not None and figure.value is not None:
            small = interval_text(figure)
            yield Line(((f"{label:<38} ", ""), (figure_text(figure), "strong"), (f"  {small}", "faint")), indent=2)
    yield from _gates(summary)
    if summary.systems:
        yield from _table("Beside the baselines", summary.systems)
        yield from _margins(summary)
        yield from _by_set(summary)
    for note in summary.notes:
        yield Line((("- " + one_line(note), "faint"),), indent=2)
    yield from _table("By set", summary.sets)
    yield from _three_way(summary.sets)
    for way, slices in slice_tables(summary):
        yield from _table(f"By {one_line(way, 60)}", slices)


def _gates(summary: Summary) -> Iterator[Line]:
    """The rates of each policy's gate, and by set those of the policy that judged."""
    if not summary.gates:
        return
    yield Line()
    head = f"{'The gate':<{_NAME}} {'honest emitted':>26} {'wrong stopped':>26}  actions"
    yield Line(((head, "strong"),))
    for gate in summary.gates:
        yield _gate(gate.policy, gate.overall)
        if gate.policy == summary.identity.get("policy") and len(gate.sets) > 1:
            for set_rates in gate.sets:
                yield _gate(f"  {set_rates.name}", set_rates)


def _gate(name: str, rates: Rates) -> Line:
    actions = ", ".join(f"{count:,} {action}" for action, count in rates.actions.items())
    cells = f"{_share(rates.honest_emitted):>26} {_share(rates.wrong_stopped):>26}"
    return Line(((f"{one_line(name, _NAME):<{_NAME}} {cells}  {actions}", ""),))


def _share(share: Share) -> str:
    """A share with its interval and counts, such as `0.82 (0.75-0.88) 120`."""
    if share.value is None or share.low is None or share.high is None:
        return "–"
    return f"{share.value:.3f} ({share.low:.2f}-{share.high:.2f}) {share.of:,}"


def _table(title: str, figures_listed: Sequence[Figures]) -> Iterator[Line]:
    if not figures_listed:
        return
    shown = [name for name in _SHORT if any(figure_text(f.figures.get(name)) != "–" for f in figures_listed)]
    head = f"{title:<{_NAME}} {'rows':>7} {'wrong':>7}" + "".join(f" {_SHORT[name]:>{_CELL}}" for name in shown)
    yield Line()
    yield Line(((head, "strong"),))
    for figures in figures_listed:
        cells = "".join(f" {_cell(figures.figures.get(name)):>{_CELL}}" for name in shown)
        name = one_line(figures.name, _NAME)
        yield Line(((f"{name:<{_NAME}} {figures.rows:>7,} {figures.wrong:>7,}{cells}", ""),))


def _cell(figure: Figure | None) -> str:
    """A figure and half the width of its interval, such as `0.812±.014`."""
    if figure is None or figure.low is None or figure.high is None:
        return figure_text(figure)
    return f"{figure_text(figure)}±{(figure.high - figure.low) / 2:.3f}".replace("±0.", "±.")


def _three_way(sets: Sequence[Figures]) -> Iterator[Line]:
    told_apart = three_way(sets)
    if not told_apart:
        return
    yield Line()
    head = f"{'Contradicted against unsupported':<{_NAME}} {'contradicted':>12} {'unsupported':>12} {'AUROC':>{_CELL}}"
    yield Line(((head, "strong"),))
    for figures in told_apart:
        counts = f"{figures.contradicted:>12,} {figures.unsupported:>12,}"
        cell = _cell(figures.figures["contradiction_auroc"])
        yield Line(((f"{one_line(figures.name, _NAME):<{_NAME}} {counts} {cell:>{_CELL}}", ""),))


def _margins(summary: Summary) -> Iterator[Line]:
    yield Line()
    head = f"{'Balanced accuracy above the best':<{_NAME}} {'baseline':<18} {'by':>26}"
    yield Line(((head, "strong"),))
    for name, best, figure in margins(summary):
        yield Line(((f"{one_line(name, _NAME):<{_NAME}} {one_line(best, 18):<18} {difference_text(figure):>26}", ""),))


def _by_set(summary: Summary) -> Iterator[Line]:
    names = [figure_by_system.name for figure_by_system in summary.systems]
    for figure, rows in summary.systems_by_set.items():
        yield Line()
        yield Line(((f"{FIGURES[figure]:<{_NAME}}" + "".join(f" {name:>17}" for name in names), "strong"),))
        for name, figure_by_system in rows.items():
            cells = "".join(f" {_cell(figure_by_system.get(system)):>17}" for system in names)
            yield Line(((f"{one_line(name, _NAME):<{_NAME}}{cells}", ""),))
