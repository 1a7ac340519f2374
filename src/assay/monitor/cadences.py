"""The timed work of a monitor and its plans: turns of the charts, the budget, the judge, the golden set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError
from assay.monitor.schedule import Every, When, read_seconds, read_when
from assay.monitor.sections import mapping_of, require_known, section_of

MOST_AT_ONCE: Final = 1_000
"""The most outputs that a judge may judge in one turn."""


class TimedStep(StrEnum):
    """A kind of timed work."""

    TURN = "turn"
    """New observations are sampled, changes are detected, charts advance and raise alarms."""
    BUDGET = "budget"
    """The error budget is computed, and its consequences come into force or are lifted."""
    JUDGE = "judge"
    """A judge checks outputs that were sampled or flagged."""
    GOLDEN = "golden"
    """The golden set is checked."""


@dataclass(frozen=True, slots=True)
class JudgeSampling:
    """Which outputs a judge checks again, outside of the request path.

    Raises:
        InputError: a number is out of range.
    """

    fraction: float = 0.01
    """The share of all outputs, sampled by their ids; rates are corrected by inverse probabilities."""
    flagged: bool = True
    """Whether every output with a contradicted or unsupported claim is judged as well."""
    most: int = 20
    """The most outputs of one turn."""
    within_s: int = 86_400
    """The greatest age of an output that is judged, in seconds."""
    tokens: int = 60_000
    """The most tokens that the judgement of one output may cost."""

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise InputError("expected the fraction of outputs that are sampled for the judge, above 0 and at most 1")
        if not isinstance(self.flagged, bool):
            raise InputError(f"expected flagged as true or false, got {ascii(self.flagged)[:40]}")
        if not (isinstance(self.most, int) and 1 <= self.most <= MOST_AT_ONCE) or self.within_s < 1 or self.tokens < 1:
            raise InputError(f"expected from 1 to {MOST_AT_ONCE} outputs for a judge in one turn, and numbers above 0")


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Rows with known answers that are checked repeatedly.

    Raises:
        InputError: a setting is invalid.
    """

    rows: Path
    """The file, in the form that `assay eval` reads."""
    tenant: str = "default"
    """The tenant whose record the results belong to."""
    alpha: float = 0.01
    """The probability of reporting a regression where there is none, over all runs of a set together."""

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1 or not isinstance(self.tenant, str) or not self.tenant:
            raise InputError("expected the golden set with a level above 0 and below 1, and the name of a tenant")


@dataclass(frozen=True, slots=True)
class Cadences:
    """The timed work and its plans."""

    schedule: Mapping[TimedStep, When] = field(default_factory=dict)
    """The plan of each step that is switched on."""
    judge: JudgeSampling | None = None
    golden: GoldenSet | None = None

    @property
    def steps(self) -> tuple[TimedStep, ...]:
        """The steps that have a plan."""
        return tuple(step for step in TimedStep if step in self.schedule)


DEFAULTS: Final[Mapping[TimedStep, When]] = {
    TimedStep.TURN: Every(60),
    TimedStep.BUDGET: Every(60),
    TimedStep.JUDGE: Every(60),
    TimedStep.GOLDEN: read_when("0 2 * * *", "golden"),
}
"""The default plan of each step."""


def read_cadences(schedule: object, judge: object, golden: object, folder: Path) -> Cadences:
    """Reads the sections `schedule`, `judge` and `golden` of the settings.

    Args:
        schedule: by step a plan, or `off`.
        judge: which outputs a judge checks; without it no judge is asked.
        golden: the golden set; without it none is checked.
        folder: the folder that relative paths refer to.

    Raises:
        InputError: a setting is unknown or invalid.
    """
    steps = mapping_of(schedule, "schedule")
    require_known(steps, {step.value for step in TimedStep}, "steps of schedule")
    sampling = None if judge is None else _judge(mapping_of(judge, "judge"))
    rows = None if golden is None else _golden(mapping_of(golden, "golden"), folder)
    plans: dict[TimedStep, When] = {}
    for step in TimedStep:
        absent = (step is TimedStep.JUDGE and sampling is None) or (step is TimedStep.GOLDEN and rows is None)
        plan = steps.get(step.value)
        if absent and plan is not None:
            raise InputError(f"the schedule names {step.value}, and there is no section {step.value} that says of what")
        # YAML reads the bare word `off` as false.
        if absent or plan is False or plan == "off":
            continue
        plans[step] = DEFAULTS[step] if plan is None else read_when(plan, f"schedule.{step.value}")
    return Cadences(plans, sampling, rows)


def _judge(section: Mapping[str, Any]) -> JudgeSampling:
    require_known(section, {"fraction", "flagged", "most", "within", "tokens"}, "settings of judge")
    values = dict(section)
    if "within" in values:
        values["within_s"] = read_seconds(values.pop("within"), "judge.within")
    return section_of(JudgeSampling, values, "judge")


def _golden(section: Mapping[str, Any], folder: Path) -> GoldenSet:
    if not isinstance(section.get("rows"), str) or not section["rows"].strip():
        raise InputError("expected the golden set with `rows`: a file of JSON Lines as `assay eval` reads it")
    return section_of(GoldenSet, {**section, "rows": folder / section["rows"]}, "golden")
