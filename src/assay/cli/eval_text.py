"""The summary of an evaluation as lines of text."""

from collections.abc import Iterator, Sequence
from typing import Final

from assay.batch.page import interval, words
from assay.batch.summary import FIGURES, Figures, Summary
from assay.cli.terminal import Line, one_line

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


def eval_text(summary: Summary) -> Iterator[Line]:
    """The lines: overall with intervals, then tables by system, set and slice."""
    overall = summary.overall
    yield Line(((f"{overall.rows:,} labelled rows, {overall.wrong:,} wrong, {len(summary.sets)} sets", "strong"),))
    if summary.unlabelled:
        yield Line(((f"{summary.unlabelled:,} rows without a label are left out", "doubt"),))
    if overall.not_judged:
        yield Line(((f"{overall.not_judged:,} rows could not be judged and count as flagged", "doubt"),))
    for name, label in FIGURES.items():
        figure = overall.figures.get(name)
        if figure is not None and figure.value is not None:
            small = interval(figure)
            yield Line(((f"{label:<38} ", ""), (words(figure), "strong"), (f"  {small}", "faint")), indent=2)
    if summary.systems:
        yield from _table("Beside the baselines", summary.systems)
        yield from _by_set(summary)
    for note in summary.notes:
        yield Line((("- " + one_line(note), "faint"),), indent=2)
    yield from _table("By set", summary.sets)
    for way, found in summary.slices.items():
        yield from _table(f"By {one_line(way, 60)}", found)


def _table(title: str, found: Sequence[Figures]) -> Iterator[Line]:
    if not found:
        return
    shown = [name for name in _SHORT if any(words(f.figures.get(name)) != "–" for f in found)]
    head = f"{title:<{_NAME}} {'rows':>7} {'wrong':>7}" + "".join(f" {_SHORT[name]:>9}" for name in shown)
    yield Line()
    yield Line(((head, "strong"),))
    for figures in found:
        cells = "".join(f" {words(figures.figures.get(name)):>9}" for name in shown)
        name = one_line(figures.name, _NAME)
        yield Line(((f"{name:<{_NAME}} {figures.rows:>7,} {figures.wrong:>7,}{cells}", ""),))


def _by_set(summary: Summary) -> Iterator[Line]:
    names = [found.name for found in summary.systems]
    yield Line()
    yield Line(((f"{'Balanced accuracy':<{_NAME}}" + "".join(f" {name:>17}" for name in names), "strong"),))
    for name, found in summary.systems_by_set.items():
        cells = "".join(f" {words(found.get(system)):>17}" for system in names)
        yield Line(((f"{one_line(name, _NAME):<{_NAME}}{cells}", ""),))
