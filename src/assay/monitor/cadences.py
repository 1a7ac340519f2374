"""What is done beside the path, and when: turns of the charts, the judge over drawn outputs, the golden set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError
from assay.monitor.schedule import Every, When, read_seconds, read_when

MOST_AT_ONCE: Final = 1_000
"""Outputs that a judge may judge in one turn."""


class TimedStep(StrEnum):
    """A kind of timed work."""

    TURN = "turn"
    """Observations are drawn, charts moved on, changes noticed, alarms raised."""
    BUDGET = "budget"
    """The error budget is read, and its consequences put into force or out of it."""
    JUDGE = "judge"
    """A judge gets outputs that were drawn, or in which something was found."""
    GOLDEN = "golden"
    """The golden set is checked."""


@dataclass(frozen=True, slots=True)
class JudgeSampling:
    """Which outputs a judge judges again, outside the path.

    Raises:
        InputError: a number is out of range.
    """

    fraction: float = 0.01
    """The share of all outputs, drawn by their ids; inverse probabilities make up for it."""
    flagged: bool = True
    """Whether all outputs are judged in which the path found a claim contradicted or unsupported."""
    most: int = 20
    """Outputs in one turn."""
    within_s: int = 86_400
    """Older outputs are not judged any more."""
    tokens: int = 60_000
    """Tokens that one output may cost."""

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise InputError("expected the fraction of outputs that are sampled for the judge, above 0 and at most 1")
        if not (isinstance(self.most, int) and 1 <= self.most <= MOST_AT_ONCE) or self.within_s < 1 or self.tokens < 1:
            raise InputError(f"expected from 1 to {MOST_AT_ONCE} outputs for a judge in one turn, and numbers above 0")


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Rows with known answers that are checked again and again.

    Raises:
        InputError: a setting is not what it should be.
    """

    rows: Path
    """The file, as `assay eval` reads it."""
    tenant: str = "default"
    """Whose record the results belong to."""
    alpha: float = 0.01
    """How probable it may be, over all runs of a set together, that a regression is reported where there is none."""

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1 or not isinstance(self.tenant, str) or not self.tenant:
            raise InputError("expected the golden set with a level above 0 and below 1, and the name of a tenant")


@dataclass(frozen=True, slots=True)
class Cadences:
    """What is done, and when."""

    schedule: Mapping[TimedStep, When] = field(default_factory=dict)
    judge: JudgeSampling | None = None
    golden: GoldenSet | None = None

    @property
    def steps(self) -> tuple[TimedStep, ...]:
        """The steps that are done by a clock."""
        return tuple(step for step in TimedStep if step in self.schedule)


DEFAULTS: Final[Mapping[TimedStep, When]] = {
    TimedStep.TURN: Every(60),
    TimedStep.BUDGET: Every(60),
    TimedStep.JUDGE: Every(60),
    TimedStep.GOLDEN: read_when("0 2 * * *", "golden"),
}
"""When each step is due where nothing else is said."""


def read_cadences(schedule: object, judge: object, golden: object, folder: Path) -> Cadences:
    """Cadences out of the sections `schedule`, `judge` and `golden` of the settings.

    Args:
        schedule: by step a plan, or `off`.
        judge: which outputs a judge gets; nobody is asked without it.
        golden: the golden set; none without it.
        folder: where paths in the settings begin.

    Raises:
        InputError: a setting is unknown, or is not what it should be.
    """
    steps = _mapping(schedule, "schedule", {step.value for step in TimedStep})
    sampling = None if judge is None else _judge(_mapping(judge, "judge", set(_JUDGE)))
    rows = None if golden is None else _golden(_mapping(golden, "golden", {"rows", "tenant", "alpha"}), folder)
    plans: dict[TimedStep, When] = {}
    for step in TimedStep:
        absent = (step is TimedStep.JUDGE and sampling is None) or (step is TimedStep.GOLDEN and rows is None)
        said = steps.get(step.value)
        if absent and said is not None:
            raise InputError(f"the schedule names {step.value}, and there is no section {step.value} that says of what")
        # YAML reads the bare word `off` as false.
        if absent or said is False or said == "off":
            continue
        plans[step] = DEFAULTS[step] if said is None else read_when(said, f"schedule.{step.value}")
    return Cadences(plans, sampling, rows)


_JUDGE: Final = ("fraction", "flagged", "most", "within", "tokens")


def _judge(said: Mapping[str, Any]) -> JudgeSampling:
    given = dict(said)
    if "within" in given:
        given["within_s"] = read_seconds(given.pop("within"), "judge.within")
    try:
        return JudgeSampling(**given)
    except TypeError as error:
        raise InputError(f"judge: a setting has a value of another kind than it should have: {error}") from error


def _golden(said: Mapping[str, Any], folder: Path) -> GoldenSet:
    if not isinstance(said.get("rows"), str) or not said["rows"].strip():
        raise InputError("expected the golden set with `rows`: a file of JSON Lines as `assay eval` reads it")
    given = {name: value for name, value in said.items() if name != "rows"}
    try:
        return GoldenSet(folder / said["rows"], **given)
    except TypeError as error:
        raise InputError(f"golden: a setting has a value of another kind than it should have: {error}") from error


def _mapping(value: object, what: str, known: set[str]) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not set(value) <= known:
        got = ", ".join(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
        raise InputError(f"expected {what} with settings among {', '.join(sorted(known))}; got {ascii(got)[:100]}")
    return value
