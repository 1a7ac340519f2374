"""A comparison of two runs as text: the changed figures, then the rows that flipped, regressions first."""

from collections.abc import Iterator, Sequence
from typing import Final

from assay.cli.formats.eval_cases import VERDICTS, score_text
from assay.cli.terminal import Line, one_line
from assay.evaluation import difference_text, figure_text
from assay.evaluation.figures import FIGURES, Comparison, Flip

MOST: Final = 20
"""The most rows of each kind that are shown."""
_STYLE: Final = {True: "good", False: "bad", None: "faint"}


def comparison_text(comparison: Comparison) -> Iterator[Line]:
    """The lines of a comparison."""
    head = f"{comparison.rows:,} labelled rows in both runs, {comparison.wrong:,} of them wrong"
    yield Line(((head, "strong"),))
    yield Line(((f"{one_line(comparison.first, 100)}  →  {one_line(comparison.second, 100)}", "faint"),))
    for count, name in ((comparison.only_first, comparison.first), (comparison.only_second, comparison.second)):
        if count:
            yield Line(((f"{count:,} rows are only in {one_line(name, 100)} and are left out", "doubt"),))
    yield Line()
    yield Line(((f"{'Figure':<38} {'first':>7} {'second':>7}  {'change (paired 95% interval)':<30}", "strong"),))
    for name, change in comparison.changes.items():
        both = f"{figure_text(change.first):>7} {figure_text(change.second):>7}"
        cells = f"{FIGURES[name]:<38} {both}  {difference_text(change.difference):<30}"
        yield Line(((cells, ""), (f" {VERDICTS[change.better]}", _STYLE[change.better])))
    yield from _flips("Regressions: right before, wrong now", comparison.regressions, "bad")
    yield from _flips("Fixes: wrong before, right now", comparison.fixes, "good")


def _flips(title: str, flips: Sequence[Flip], style: str) -> Iterator[Line]:
    yield Line()
    yield Line(((f"{title}: {len(flips):,}", "strong"),))
    for flip in flips[:MOST]:
        before, after = score_text(flip.score_before), score_text(flip.score_after)
        facts = f"{flip.before} {before} → {flip.after} {after}, labelled {flip.label}"
        yield Line(((f"{one_line(flip.set, 40)}/{one_line(flip.id, 40)}  ", "strong"), (facts, style)), indent=2)
        yield Line(((one_line(flip.text, 300), ""),), indent=4)
    if len(flips) > MOST:
        yield Line(((f"… and {len(flips) - MOST:,} more; --format json lists all", "faint"),), indent=2)
