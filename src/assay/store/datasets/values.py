"""Datasets, their rows and experiments as values, and how large they may be."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from assay.errors import DatasetError
from assay.store.records.recording import storable
from assay.store.records.row_evidence import NoRow

MOST_ROWS: Final = 1_000
"""Runs of one dataset. Each change binds all of its rows anew (docs/adr/0109)."""
MOST_DATASETS: Final = 500
"""Datasets of one tenant."""
MOST_VIEWS: Final = 30
"""Views that one person may keep of one list."""
MOST_EXPERIMENTS: Final = 200
"""Experiments on one dataset."""
LONGEST_NAME: Final = 100
"""Characters of a name."""
LONGEST_QUERY: Final = 2_000
"""Characters of what a saved view keeps of an address."""


class Label(StrEnum):
    """What a person says of an output: the truth that a gate is measured against."""

    RIGHT = "right"
    """The evidence supports everything in it: a gate should emit it."""
    WRONG = "wrong"
    """Something in it is not: a gate should stop it."""


class ExperimentState(StrEnum):
    """Where an experiment stands."""

    RUNNING = "running"
    """Some of its runs are still to be checked."""
    DONE = "done"
    """All were checked, or could not be."""
    STOPPED = "stopped"
    """A person ended it; what was checked until then stays."""
    FAILED = "failed"
    """It cannot go on: its policy is not known any more."""


class Fault(StrEnum):
    """Why a run could not be checked again."""

    ERASED = "erased"
    """Its content, or its evidence, was erased."""
    UNREPEATABLE = "unrepeatable"
    """It cannot be checked again as text: it is a record of calls alone, or nothing could be checked then."""
    FAILED = "failed"
    """The check failed."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A set of recorded runs under a name."""

    id: str
    name: str
    created: datetime
    maker: str | None
    rows: int
    labelled: int
    """How many of them have a label."""


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """One run of a dataset, and what was decided when it was recorded."""

    run: str
    added: datetime
    adder: str | None
    label: Label | None
    wrong_claims: tuple[int, ...]
    """The positions of the claims that a person found wrong."""
    labelled: datetime | None
    labeller: str | None
    action: str | None
    """The gate's action when it was recorded; none where the run is gone."""
    score: float | None
    question: str | None
    """The beginning of its question."""
    erased: bool
    evidence_erased: bool = False
    """Whether its evidence was erased."""
    kind: str | None = None
    """The kind of its record, such as `run` for the run of an agent."""

    @property
    def no_row(self) -> NoRow | None:
        """Why no export has it, as far as that is known without reading it."""
        if self.erased:
            return NoRow.ERASED
        if self.kind == "run":
            return NoRow.AGENT_RUN
        return NoRow.EVIDENCE_ERASED if self.evidence_erased else None

    @property
    def gone(self) -> bool:
        """Whether it, or its evidence, was erased: it can neither be judged by a person nor checked again."""
        return self.erased or self.evidence_erased


@dataclass(frozen=True, slots=True)
class Experiment:
    """A dataset that was checked again."""

    id: str
    dataset: str
    name: str
    created: datetime
    maker: str | None
    state: ExperimentState
    policy: str
    """The name of a preset, or the digest of a policy that decided here."""
    policy_name: str
    judge: str
    """`policy`: the judge is asked as the policy says; `all`: of every claim."""
    verifier: str | None
    """The name and digest of the verifier that judged; none before the first check."""
    count: int
    """Runs that are to be checked."""
    finished: datetime | None
    done: int = 0
    """Runs that were, or could not be."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one run in an experiment."""

    run: str
    action: str | None = None
    route: str | None = None
    score: float | None = None
    verdicts: tuple[str, ...] = ()
    """Those of its claims, in order."""
    fault: Fault | None = None
    """Why there is nothing of it."""


def checked_name(name: str) -> str:
    """A name as it is stored.

    Raises:
        DatasetError: it is empty or too long.
    """
    made = " ".join(storable(name).split())
    if not made or len(made) > LONGEST_NAME:
        raise DatasetError(f"expected a name of 1 to {LONGEST_NAME} characters, got {len(made)}", "refused")
    return made


def places_of(text: str | None) -> tuple[int, ...]:
    """Positions out of a column.

    >>> places_of("0 2 11"), places_of(None)
    ((0, 2, 11), ())
    """
    return tuple(int(one) for one in (text or "").split() if one.isascii() and one.isdigit())


@dataclass(frozen=True, slots=True)
class Rates:
    """The two rates that a gate is judged by, over the labelled rows of a dataset."""

    right: int
    """Outputs that a person called right and that were decided on."""
    emitted: int
    """Those of them that were emitted."""
    wrong: int
    """Outputs that a person called wrong and that were decided on."""
    stopped: int
    """Those of them that were not emitted."""


def rates_of(labels: Mapping[str, Label | None], actions: Mapping[str, str | None] | Mapping[str, str]) -> Rates:
    """The two rates of decisions on runs.

    Args:
        labels: what a person says of each run.
        actions: the action on each; runs without one are left out.

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
