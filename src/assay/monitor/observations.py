"""Observations of outputs: the values of their metrics, and the dimensions they are grouped by."""

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
"""The metrics, for all of which less is better, and whether a value is 0 or 1 (`rate`) or anything between (`score`):
an output with a contradicted or unsupported claim; one minus the support of the output; one minus faithfulness; one
minus the FActScore; an output that was not emitted; one with a fabricated citation; one for which no evidence was
found; a labelled row that the gate decided wrongly (right and withheld, or wrong and emitted)."""

CADENCES: Final = ("judge", "golden")
"""Observations made outside of the request path: outputs that a judge checked again, and rows of the golden set. They
count in series of their own and nowhere else."""
DIMENSIONS: Final = ("all", "agent", "route", "model", "category", "stakes", *CADENCES)
"""The dimensions by which series are kept: all outputs of a tenant, the caller, the route, the model that wrote the
output, the category of its errors, its stakes; and the cadences."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The observation of one output."""

    id: str
    """The id of its report."""
    at: int
    """When it was recorded, in microseconds since 1970."""
    values: Mapping[str, float]
    """The values in [0, 1] by metric, without metrics that could not be observed."""
    belongs: Mapping[str, str] = field(default_factory=dict)
    """Its name in each dimension, except `all` and `category`."""
    categories: tuple[str, ...] = ()
    """The categories of its errors."""
    probability: float = 1.0
    """The probability with which it was sampled."""
    sampled: bool = True
    """Whether it was sampled; the values of unsampled outputs do not count."""
    cadence: str = ""
    """One of `CADENCES`; empty for a check in the request path."""

    def value(self, metric: str) -> float | None:
        """The value of a metric; none where it was not observed or the output not sampled."""
        return self.values.get(metric) if self.sampled else None


@dataclass(frozen=True, slots=True, order=True)
class Series:
    """A series of observations: one metric for one name of a dimension."""

    dimension: str
    name: str
    """The name within the dimension; empty for `all`."""
    metric: str

    @property
    def key(self) -> str:
        """Its key, which `of_key` parses."""
        return f"{self.metric}|{self.dimension}|{self.name}"

    @classmethod
    def of_key(cls, key: str) -> "Series":
        """The series of a key."""
        metric, dimension, name = key.split("|", 2)
        return cls(dimension, name, metric)

    def value(self, one: Observation) -> float | None:
        """The value of an observation in this series; none where it does not belong to it."""
        if one.cadence != (self.dimension if self.dimension in CADENCES else ""):
            return None
        if one.cadence:
            return one.value(self.metric)
        if self.dimension == "category":
            # A category is a rate among all outputs: outputs without it count as 0.
            return None if one.value(self.metric) is None else float(self.name in one.categories)
        if self.dimension != "all" and one.belongs.get(self.dimension) != self.name:
            return None
        return one.value(self.metric)


def series_of(one: Observation, metrics: Mapping[str, tuple[str, ...]]) -> Iterator[Series]:
    """The series that an observation belongs to.

    Args:
        one: the observation.
        metrics: the dimensions that have series, by metric.
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
