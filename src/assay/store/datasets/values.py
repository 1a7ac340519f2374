"""Datasets, their rows and experiments as values, and how large they may be."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from assay.errors import DatasetError
from assay.store.db.column_values import storable
from assay.store.records.row_evidence import NoRow

MOST_ROWS: Final = 1_000
"""The most runs of one dataset. Each change binds all of its rows anew (docs/adr/0109)."""
MOST_DATASETS: Final = 500
"""The most datasets of one tenant."""
MOST_VIEWS: Final = 30
"""The most views of one list that a user may save."""
MOST_EXPERIMENTS: Final = 200
"""The most experiments on one dataset."""
LONGEST_NAME: Final = 100
"""The most characters of a name."""
LONGEST_QUERY: Final = 2_000
"""The most characters of the query string of a saved view."""


class Label(StrEnum):
    """A person's judgement of an output: the ground truth that a gate is measured against."""

    RIGHT = "right"
    """The evidence supports everything in it: a gate should emit it."""
    WRONG = "wrong"
    """The evidence does not support something in it: a gate should stop it."""


class ExperimentState(StrEnum):
    """The state of an experiment."""

    RUNNING = "running"
    """Some of its runs are still to be checked."""
    DONE = "done"
    """All were checked, or could not be."""
    STOPPED = "stopped"
    """A person stopped it; outcomes so far are kept."""
    FAILED = "failed"
    """It cannot continue: its policy is no longer known."""


class Fault(StrEnum):
    """Why a run could not be checked again."""

    ERASED = "erased"
    """Its content or its evidence was erased."""
    UNREPEATABLE = "unrepeatable"
    """It has no text to check again: it has only tool calls, or nothing could be checked at the time."""
    FAILED = "failed"
    """The check failed."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named set of recorded runs."""

    id: str
    name: str
    created: datetime
    maker: str | None
    rows: int
    labelled: int
    """The number of rows with a label."""


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A run in a dataset, with the decision when it was recorded."""

    run: str
    added: datetime
    adder: str | None
    label: Label | None
    wrong_claims: tuple[int, ...]
    """The positions of the claims that a person labelled wrong."""
    labelled: datetime | None
    labeller: str | None
    action: str | None
    """The gate's action when it was recorded; None if the run does not exist."""
    score: float | None
    question: str | None
    """The beginning of its question."""
    erased: bool
    evidence_erased: bool = False
    """Whether its evidence was erased."""
    kind: str | None = None
    """The kind of its record, such as `run` for an agent run."""

    @property
    def no_row(self) -> NoRow | None:
        """Why exports leave it out, as far as that is known without reading its record; None if they may have it."""
        if self.erased:
            return NoRow.ERASED
        if self.kind == "run":
            return NoRow.AGENT_RUN
        return NoRow.EVIDENCE_ERASED if self.evidence_erased else None

    @property
    def gone(self) -> bool:
        """Whether it or its evidence was erased, so that it can neither be labelled nor checked again."""
        return self.erased or self.evidence_erased


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment: a dataset that is checked again."""

    id: str
    dataset: str
    name: str
    created: datetime
    maker: str | None
    state: ExperimentState
    policy: str
    """The name of a preset, or the digest of a policy under which the gate decided."""
    policy_name: str
    judge: str
    """`policy`: claims are put to the judge as the policy says; `all`: every claim is."""
    verifier: str | None
    """The name and digest of the verifier; None before the first check."""
    count: int
    """The number of its runs."""
    finished: datetime | None
    done: int = 0
    """The number of runs that were checked or could not be."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one run in an experiment."""

    run: str
    action: str | None = None
    route: str | None = None
    score: float | None = None
    verdicts: tuple[str, ...] = ()
    """The verdicts of its claims, in order."""
    fault: Fault | None = None
    """Why it could not be checked."""


def checked_name(name: str) -> str:
    """A name as it is stored: with single spaces.

    Raises:
        DatasetError: it is empty or too long.
    """
    stored = " ".join(storable(name).split())
    if not stored or len(stored) > LONGEST_NAME:
        raise DatasetError(f"expected a name of 1 to {LONGEST_NAME} characters, got {len(stored)}", "refused")
    return stored


def parse_positions(text: str | None) -> tuple[int, ...]:
    """The positions in a column, separated by spaces.

    >>> parse_positions("0 2 11"), parse_positions(None)
    ((0, 2, 11), ())
    """
    return tuple(int(word) for word in (text or "").split() if word.isascii() and word.isdigit())


@dataclass(frozen=True, slots=True)
class Rates:
    """The counts behind a gate's two rates, over the labelled rows of a dataset."""

    right: int
    """Outputs labelled right that have a decision."""
    emitted: int
    """The number of those that were emitted."""
    wrong: int
    """Outputs labelled wrong that have a decision."""
    stopped: int
    """The number of those that were not emitted."""


def rates_of(labels: Mapping[str, Label | None], actions: Mapping[str, str | None] | Mapping[str, str]) -> Rates:
    """Count the decisions on labelled runs.

    Args:
        labels: the label of each run.
        actions: the action on each run; runs without one are left out.

    >>> rates_of({"a": Label.RIGHT, "b": Label.WRONG, "c": None}, {"a": "emit", "b": "emit", "c": "block"})
    Rates(right=1, emitted=1, wrong=1, stopped=0)
    """
    decided = {run: action for run, action in actions.items() if action is not None}
    right = [run for run, label in labels.items() if label is Label.RIGHT and run in decided]
    wrong = [run for run, label in labels.items() if label is Label.WRONG and run in decided]
    return Rates(
        len(right),
        sum(decided[run] == "emit" for run in right),
        len(wrong),
        sum(decided[run] != "emit" for run in wrong),
    )
