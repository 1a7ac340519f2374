"""Compares two sets of decisions on the same runs: both rates with intervals, and the runs whose action differs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assay.schema import Action
from assay.stats import wilson
from assay.store.datasets import DatasetRow, Label, Outcome, rates_of


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95 % interval (Wilson)."""

    count: int
    of: int
    rate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Side:
    """The two rates of one side."""

    honest_emitted: Rate
    wrong_stopped: Rate


@dataclass(frozen=True, slots=True)
class Flipped:
    """A run whose action differs."""

    run: str
    label: Label | None
    before: str
    after: str

    @property
    def regression(self) -> bool | None:
        """Whether, by its label, the earlier decision was right and the later one is wrong; false for the reverse; none
        without a label, or where both release it or both withhold it."""
        let_out = self.before == Action.EMIT.value, self.after == Action.EMIT.value
        if self.label is None or let_out[0] == let_out[1]:
            return None
        return let_out[0] if self.label is Label.RIGHT else let_out[1]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two sides."""

    compared: int
    """Runs that both sides decided on."""
    left_out: int
    """Outcomes of the later side that are not compared, because one of the sides made no decision."""
    before: Side
    after: Side
    flipped: tuple[Flipped, ...]
    """Regressions first, then gains, then those without a label."""

    def as_json(self) -> dict[str, Any]:
        """The comparison as JSON values."""
        flipped = [{**asdict(one), "regression": one.regression} for one in self.flipped]
        return {**asdict(self), "flipped": flipped}


def compare(
    rows: Sequence[DatasetRow], after: Mapping[str, Outcome], before: Mapping[str, Outcome] | None = None
) -> Comparison:
    """Compare an experiment's decisions with the recorded ones, or with those of another experiment.

    Args:
        rows: the rows of the dataset, with their labels.
        after: the experiment's outcomes, by run.
        before: the outcomes of another experiment; by default the recorded actions.
    """
    labels = {row.run: row.label for row in rows}
    pairs = pairs_of(rows, after, before)
    flipped = [
        Flipped(run, labels.get(run), first, second) for run, (first, second) in pairs.items() if first != second
    ]
    order = {True: 0, False: 1, None: 2}
    return Comparison(
        compared=len(pairs),
        left_out=len(after) - len(pairs),
        before=_side(labels, {run: first for run, (first, _) in pairs.items()}),
        after=_side(labels, {run: second for run, (_, second) in pairs.items()}),
        flipped=tuple(sorted(flipped, key=lambda one: (order[one.regression], one.run))),
    )


def pairs_of(
    rows: Sequence[DatasetRow], after: Mapping[str, Outcome], before: Mapping[str, Outcome] | None = None
) -> dict[str, tuple[str, str]]:
    """The actions of both sides on each run that both decided on; the arguments are those of `compare`."""
    earlier: dict[str, str | None] = {row.run: row.action for row in rows}
    if before is not None:
        earlier = {run: one.action for run, one in before.items()}
    pairs = ((run, earlier.get(run), one.action) for run, one in after.items())
    return {run: (first, second) for run, first, second in pairs if first is not None and second is not None}


def _side(labels: Mapping[str, Label | None], actions: Mapping[str, str]) -> Side:
    found = rates_of(labels, actions)
    return Side(_rate(found.emitted, found.right), _rate(found.stopped, found.wrong))


def _rate(count: int, of: int) -> Rate:
    if not of:
        return Rate(count, of, None, None, None)
    low, high = wilson(count, of)
    return Rate(count, of, count / of, low, high)
