"""Alarms as people see them: what shifted, by how much, how certain that is, the probable cause, and what to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from assay.monitor.attribution import Attribution
from assay.monitor.charts import RaisedAlarm

WORST: Final = 5
"""The most outputs that an alarm names."""


class AlarmState(StrEnum):
    """The state of an alarm."""

    OPEN = "open"
    """Nobody has acknowledged it."""
    ACKNOWLEDGED = "acknowledged"
    """A person has seen it."""
    WITHDRAWN = "withdrawn"
    """Late observations show that it was not an alarm."""


ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "bad": (
        "Inspect retrieval quality: do the worst outputs have the evidence that they need?",
        "Check prompts for drift against the last version that was good.",
        "Verify the version of the model that answers.",
        "Review how fresh the index of evidence is.",
    ),
    "score": (
        "Read the worst outputs claim by claim.",
        "Check prompts and the version of the model.",
    ),
    "unfaithful": (
        "Compare retrieved passages with what answers say.",
        "Check prompts for drift.",
    ),
    "unfactual": (
        "Read the unsupported claims of the worst outputs.",
        "Verify the version of the model.",
    ),
    "withheld": (
        "Look for a gap in the corpus: `assay review` and the unanswered questions of the console.",
        "Compare with what another policy would decide before thresholds are moved.",
    ),
    "fabricated": (
        "Open an incident: no fabricated citation may reach a reader.",
        "Check what sources the index names.",
    ),
    "unretrieved": (
        "Rebuild or refresh the index.",
        "Look for topics that the corpus lacks.",
    ),
    "misjudged": (
        "See which rows of the golden set are decided otherwise than before: `assay monitor golden`.",
        "Was the policy or the verifier changed? Go back to the one before, or accept the run if the change was meant.",
    ),
}
"""The recommended actions for a rise of each metric, in their order."""
FALLING: Final = (
    "Things look better than the baseline: see whether the system improved or the checks stopped seeing.",
    "Estimate the baseline anew if it is to stay so.",
)
"""The recommended actions where a metric falls."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm with its probable cause and recommended actions."""

    id: str
    """Derived from the observation that raised it, so that recomputing an alarm gives the same id."""
    raised: RaisedAlarm
    rate: Mapping[str, Any]
    """The rate since the shift began, with its interval (`assay.monitor.charts.rate_of`)."""
    worst: tuple[str, ...]
    """The worst outputs since then, by the ids of their reports."""
    attribution: Attribution
    actions: tuple[str, ...]

    def wire(self) -> dict[str, Any]:
        """As a JSON value."""
        raised, attribution = self.raised, self.attribution
        means = attribution.means
        return {
            "id": self.id,
            "series": {
                "metric": raised.series.metric,
                "dimension": raised.series.dimension,
                "name": raised.series.name,
            },
            "direction": raised.direction.value,
            "at": raised.at,
            "observation": raised.observation,
            "onset": attribution.onset,
            "baseline": raised.chart.baseline,
            "rate": dict(self.rate),
            "statistic": raised.statistic,
            "threshold": raised.chart.threshold,
            "run": raised.run,
            "arl0": raised.arl0,
            "arl1": raised.arl1,
            "arl0_range": None if raised.arl0_range is None else list(raised.arl0_range),
            "regression": {
                "sure": attribution.regression,
                "before": number_or_none(means.before),
                "after": number_or_none(means.after),
                "low": means.low,
                "high": means.high,
            },
            "cause": None
            if attribution.cause is None
            else {**attribution.cause.change.wire(), "probability": attribution.cause.probability},
            "others": [{**one.change.wire(), "probability": one.probability} for one in attribution.others],
            "worst": list(self.worst),
            "actions": list(self.actions),
        }


def alarm_of(raised: RaisedAlarm, rate: Mapping[str, Any], worst: tuple[str, ...], attribution: Attribution) -> Alarm:
    """Combines what a chart raised with its rate, worst outputs and probable cause."""
    actions = ACTIONS.get(raised.series.metric, ()) if raised.direction.value == "up" else FALLING
    return Alarm(alarm_id(raised), raised, rate, worst[:WORST], attribution, actions)


def alarm_id(raised: RaisedAlarm) -> str:
    """The id of an alarm: 32 hexadecimal digits, derived from the series, the direction and the observation."""
    identity = f"{raised.series.key}\x00{raised.direction.value}\x00{raised.at}\x00{raised.observation}"
    return sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def number_or_none(value: float) -> float | None:
    """The value; none where it is NaN, such as the mean of no values."""
    return None if value != value else value
