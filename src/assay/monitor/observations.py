"""What is observed of each output: numbers, and what the output belongs to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

METRICS: Final[Mapping[str, str]] = {
    "bad": "rate",
    "score": "score",
    "unfaithful": "score",
    "unfactual": "score",
    "withheld": "rate",
    "fabricated": "rate",
    "unretrieved": "rate",
    "misjudged": "rate",
}
"""The metrics, each falling where things get better, and whether a value is 0 or 1 (`rate`) or between (`score`): an
output with a claim that is contradicted or unsupported; one minus the support of the output; one minus faithfulness;
one minus the FACTScore; an output that was not emitted; one with a fabricated citation; one for which no evidence was
found; a labelled row that the gate decided wrongly (right and withheld, or wrong and emitted)."""

CADENCES: Final = ("judge", "golden")
"""What is observed beside the path: outputs that a judge judged again, and rows of the golden set. They count in series
of their own and in nothing else."""
DIMENSIONS: Final = ("all", "agent", "route", "model", "category", "stakes", *CADENCES)
"""What series are kept by: everything of a tenant together, who asked, by which way it came, which model wrote it, the
category of what is wrong in it, what hangs on it; and the cadences beside the path."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What was observed of one output."""

    id: str
    """Of the report."""
    at: int
    """When it was recorded, in microseconds since 1970."""
    values: Mapping[str, float]
    """By metric, in [0, 1]; what could not be observed is left out."""
    belongs: Mapping[str, str] = field(default_factory=dict)
    """By dimension but `all` and `category`."""
    categories: tuple[str, ...] = ()
    """The categories of what is wrong in it."""
    probability: float = 1.0
    """With which it was drawn."""
    sampled: bool = True
    """Whether it was drawn; one that was not has no values that count."""
    cadence: str = ""
    """One of `CADENCES`; empty for an output as it was checked in the path."""

    def value(self, metric: str) -> float | None:
        """The value of a metric; none where it was not observed."""
        return self.values.get(metric) if self.sampled else None


@dataclass(frozen=True, slots=True, order=True)
class Series:
    """One line of observations."""

    dimension: str
    name: str
    """Which one of the dimension; empty for `all`."""
    metric: str

    @property
    def key(self) -> str:
        """A name for it, which `of_key` reads again."""
        return f"{self.metric}|{self.dimension}|{self.name}"

    @classmethod
    def of_key(cls, key: str) -> "Series":
        """The series of a name."""
        metric, dimension, name = key.split("|", 2)
        return cls(dimension, name, metric)

    def value(self, one: Observation) -> float | None:
        """What an observation says in this series; none where it is not of it."""
        if one.cadence != (self.dimension if self.dimension in CADENCES else ""):
            return None
        if one.cadence:
            return one.value(self.metric)
        if self.dimension == "category":
            # A rate among all outputs: those without it count as 0.
            return None if one.value(self.metric) is None else float(self.name in one.categories)
        if self.dimension != "all" and one.belongs.get(self.dimension) != self.name:
            return None
        return one.value(self.metric)


def series_of(one: Observation, metrics: Mapping[str, tuple[str, ...]]) -> Iterator[Series]:
    """The series that an observation makes known, of those that are watched.

    Args:
        one: the observation.
        metrics: the dimensions that are watched, by metric.
    """
    for metric, dimensions in metrics.items():
        if one.value(metric) is None:
            continue
        for dimension in dimensions:
            if one.cadence or dimension in CADENCES:
                if dimension == one.cadence:
                    yield Series(dimension, "", metric)
            elif dimension == "all":
                yield Series("all", "", metric)
            elif dimension == "category":
                yield from (Series("category", name, metric) for name in one.categories)
            elif (name := one.belongs.get(dimension)) is not None:
                yield Series(dimension, name, metric)
