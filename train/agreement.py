"""How far two ways to run one network agree on labelled rows, set by set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from train.rows import Row


@dataclass(frozen=True)
class SetAgreement:
    """One set, judged twice."""

    name: str
    rows: int
    before: float
    """Balanced accuracy of "supported" by the first way, 0 to 1."""
    after: float
    """The same by the second."""
    flipped: float
    """The share of pairs on another side of 0.5."""
    moved: float
    """The mean over pairs of the largest move of a probability."""


def balanced(said: NDArray[np.bool_], supported: NDArray[np.bool_]) -> float:
    """Balanced accuracy of "supported"; where only one class is there, the share of it that is found."""
    parts = [part.mean() for part in (said[supported], ~said[~supported]) if part.size]
    return float(np.mean(parts)) if parts else float("nan")


def by_set(first: NDArray[np.float64], second: NDArray[np.float64], rows: Sequence[Row]) -> list[SetAgreement]:
    """Each set by itself, in the order of their names.

    A difference of a few rows is chance: `flipped` says how many pairs it can come from at all.
    """
    lines = []
    for name in sorted({row.source for row in rows}):
        chosen = np.array([row.source == name for row in rows])
        supported = np.array([row.label == "supported" for row in rows])[chosen]
        one, other = first[chosen], second[chosen]
        before, after = one[:, 0] >= 0.5, other[:, 0] >= 0.5
        lines.append(
            SetAgreement(
                name=name,
                rows=len(before),
                before=balanced(before, supported),
                after=balanced(after, supported),
                flipped=float((before != after).mean()),
                moved=float(np.abs(one - other).max(axis=1).mean()),
            )
        )
    return lines


def right_where_apart(first: NDArray[np.float64], second: NDArray[np.float64], rows: Sequence[Row]) -> tuple[int, int]:
    """Of the pairs that lie on two sides of 0.5: how many the first way has right, and how many the second."""
    supported = np.array([row.label == "supported" for row in rows])
    one, other = first[:, 0] >= 0.5, second[:, 0] >= 0.5
    apart = one != other
    return int((one == supported)[apart].sum()), int((other == supported)[apart].sum())


def summary(first: NDArray[np.float64], second: NDArray[np.float64]) -> list[str]:
    """How often the likeliest label is the same, and how far probabilities move."""
    moved = np.abs(first - second).max(axis=1)
    agree = float((first.argmax(1) == second.argmax(1)).mean())
    return [
        f"{len(first)} pairs: labels agree on {agree:.2%}",
        f"probabilities move by {moved.mean():.4f} on average, {moved.max():.3f} at most",
    ]


def table(lines: Sequence[SetAgreement], first: str, second: str) -> list[str]:
    """A Markdown table of the sets, and their mean, each set weighing the same."""
    before, after = (float(np.mean(values)) for values in ([o.before for o in lines], [o.after for o in lines]))
    return [
        f"| set | rows | balanced {first} | {second} | lost | other side of 0.5 | mean move |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {line.name} | {line.rows} | {line.before:.3f} | {line.after:.3f} | {line.before - line.after:+.3f} | "
            f"{line.flipped:.1%} | {line.moved:.4f} |"
            for line in lines
        ),
        f"| mean | {sum(line.rows for line in lines)} | {before:.3f} | {after:.3f} | {before - after:+.3f} | | |",
    ]
