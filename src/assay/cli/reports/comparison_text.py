"""A comparison of two runs as lines of text: the changes, then the rows that flipped, regressions first."""

from collections.abc import Iterator, Sequence
from typing import Final

from assay.cli.formats.eval_cases import VERDICTS
from assay.cli.terminal import Line, one_line
from assay.evaluation import difference_text, figure_text
from assay.evaluation.figures import FIGURES, Comparison, Flip

MOST: Final = 20
"""Rows of each kind that are shown."""
_STYLE: Final = {True: "good", False: "bad", None: "faint"}


def comparison_text(found: Comparison) -> Iterator[Line]:
    """The lines."""
    head = f"{found.rows:,} labelled rows in both runs, {found.wrong:,} of them wrong"
    yield Line(((head, "strong"),))
    yield Line(((f"{one_line(found.first, 100)}  →  {one_line(found.second, 100)}", "faint"),))
    for count, name in ((found.only_first, found.first), (found.only_second, found.second)):
        if count:
            yield Line(((f"{count:,} rows are only in {one_line(name, 100)} and are left out", "doubt"),))
    yield Line()
    yield Line(((f"{'Figure':<38} {'first':>7} {'second':>7}  {'change (paired 95% interval)':<30}", "strong"),))
    for name, change in found.changes.items():
        both = f"{figure_text(change.first):>7} {figure_text(change.second):>7}"
        cells = f"{FIGURES[name]:<38} {both}  {difference_text(change.difference):<30}"
        yield Line(((cells, ""), (f" {VERDICTS[change.better]}", _STYLE[change.better])))
    yield from _flips("Regressions: right before, wrong now", found.regressions, "bad")
    yield from _flips("Fixes: wrong before, right now", found.fixes, "good")


def _flips(title: str, flips: Sequence[Flip], style: str) -> Iterator[Line]:
    yield Line()
    yield Line(((f"{title}: {len(flips):,}", "strong"),))
    for one in flips[:MOST]:
        facts = f"{one.before} {_score(one.score_before)} → {one.after} {_score(one.score_after)}, labelled {one.label}"
        yield Line(((f"{one_line(one.set, 40)}/{one_line(one.id, 40)}  ", "strong"), (facts, style)), indent=2)
        yield Line(((one_line(one.text, 300), ""),), indent=4)
    if len(flips) > MOST:
        yield Line(((f"… and {len(flips) - MOST:,} more; --format json lists all", "faint"),), indent=2)


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
