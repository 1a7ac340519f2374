"""The increments of one output to the sketches: metric, series, hour, bin and value.

| metric | value of one output |
|---|---|
| `composite`, `faithfulness`, `factscore`, `attribution…`, `score` | as in the report; none if it is undefined |
| `withheld`, `fabricated`, `retrieval_null`, `unchecked` | 1 or 0 |
| `category.NAME` | 1 if the category was found, else 0 |
| `relevance` | the relevance of the best passage that was kept, if passages were screened |
| `by_relevance` | the rate of unsupported claims, in the bin of that relevance |
| `corrected` | for served outputs: 1 if a user called it wrong, else 0 |
| `claim.right`, `claim.wrong`, `output.right`, `output.wrong` | the verifier's score of what people judged so |
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from assay.schema import Category
from assay.store.sketches.output_state import OutputState
from assay.store.sketches.values import Cell, bin_of, in_units

DEFINITION: Final = 1
"""The version of the definition of sketches; when it grows, they are counted again."""

ALL: Final = ("all", "")
"""Kind and name of the series of all outputs."""
AGENT: Final = "agent"
"""The kind of the series of one caller's outputs."""

COMPOSITE: Final = "composite"
FAITHFULNESS: Final = "faithfulness"
FACTSCORE: Final = "factscore"
WITHHELD: Final = "withheld"
FABRICATED: Final = "fabricated"
RETRIEVAL_NULL: Final = "retrieval_null"
CORRECTED: Final = "corrected"
RELEVANCE: Final = "relevance"
BY_RELEVANCE: Final = "by_relevance"
ATTRIBUTION: Final = (
    "attribution_precision",
    "attribution_existence",
    "attribution_accuracy",
    "attribution_entailment",
)
CATEGORIES: Final = tuple(f"category.{category.value}" for category in Category)
RATES: Final = frozenset({WITHHELD, FABRICATED, RETRIEVAL_NULL, CORRECTED, "unchecked", *CATEGORIES})
"""The metrics whose values are 1 or 0."""
_SCORES: Final = {
    COMPOSITE: "composite_hallucination_score",
    FAITHFULNESS: FAITHFULNESS,
    FACTSCORE: FACTSCORE,
    **{name: name for name in ATTRIBUTION},
}
_OF_AGENTS: Final = frozenset({COMPOSITE, FAITHFULNESS, WITHHELD, CORRECTED})
"""The metrics that are also counted for each caller."""

LONGEST_NAME: Final = 200
"""The most characters of a caller's name."""


class Key(NamedTuple):
    """The cell in which a value is counted."""

    metric: str
    kind: str
    name: str
    hour: int
    bin: int


class Increments:
    """Increments to the cells of sketches; they may be negative."""

    __slots__ = ("cells",)

    def __init__(self) -> None:
        self.cells: dict[Key, Cell] = {}

    def put(self, key: Key, value: float, times: int = 1) -> None:
        """Count a value; with a negative number, remove it."""
        units = in_units(value)
        self.cells[key] = self.cells.get(key, Cell()) + Cell(times, times * units, times * units * units)


def measurements(data: Mapping[str, Any], body: Mapping[str, Any] | None) -> Iterator[tuple[str, float, int]]:
    """The measurements of an output from the gate's decision: metric, value and bin.

    Args:
        data: the log entry of the decision.
        body: the report; None if it was erased before it was counted, and then only the entry is used.
    """
    citations = data.get("citations") or {}
    yield _rate(FABRICATED, bool(citations.get("fabricated")))
    yield _rate("unchecked", bool(data.get("unchecked_characters")))
    if body is None:
        yield _rate(WITHHELD, data.get("action") == "block")
        categories = frozenset(data.get("categories") or ())
    else:
        labels = body.get("labels") or {}
        yield _rate(WITHHELD, labels.get("routing") == "WITHHOLD")
        categories = frozenset(body.get("categories") or ())
        yield from _report_measurements(body)
    for category in Category:
        yield _rate(f"category.{category.value}", category.value in categories)


def _report_measurements(body: Mapping[str, Any]) -> Iterator[tuple[str, float, int]]:
    metrics = body.get("metrics") or {}
    for metric, name in _SCORES.items():
        if (value := _value(metrics.get(name))) is not None:
            yield metric, value, bin_of(value)
    score = body.get("overall_score")
    if isinstance(score, int | float):
        yield "score", float(score), bin_of(score)
    screening = body.get("screening")
    retrieved = (body.get("retrieval") or {}).get("evidence", 0)
    kept = retrieved if screening is None else len(screening.get("kept") or ())
    yield _rate(RETRIEVAL_NULL, not kept)
    best = _best_relevance(screening)
    if best is None:
        return
    yield RELEVANCE, best, bin_of(best)
    unsupported = _value(metrics.get("hallucination_rate"))
    if unsupported is not None:
        yield BY_RELEVANCE, unsupported, bin_of(best)


def _best_relevance(screening: Mapping[str, Any] | None) -> float | None:
    if screening is None:
        return None
    kept = frozenset(screening.get("kept") or ())
    relevances = [
        float(passage["relevance"])
        for passage in screening.get("passages") or ()
        if passage.get("relevance") is not None and (not kept or passage.get("id") in kept)
    ]
    return max(relevances, default=None)


def _rate(metric: str, happened: bool) -> tuple[str, float, int]:
    value = float(happened)
    return metric, value, bin_of(value)


def _value(metric: Any) -> float | None:
    value = metric.get("value") if isinstance(metric, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


def add_decision(
    increments: Increments, hour: int, agent: str | None, measured: Iterable[tuple[str, float, int]]
) -> None:
    """Count the measurements of one output."""
    for metric, value, bin_ in measured:
        for kind, name in _series(metric, agent):
            increments.put(Key(metric, kind, name, hour, bin_), value)


def add_state_change(
    increments: Increments, hour: int, agent: str | None, before: OutputState, after: OutputState
) -> None:
    """Count people's judgements of one output after an entry, in place of those before it."""
    for state, times in ((before, -1), (after, 1)):
        if not state.decided:
            continue
        if state.served:
            value = float(state.corrected)
            for kind, name in _series(CORRECTED, agent):
                increments.put(Key(CORRECTED, kind, name, hour, bin_of(value)), value, times)
        for what, score, right in state.labelled():
            increments.put(Key(f"{what}.{'right' if right else 'wrong'}", *ALL, hour, bin_of(score)), score, times)


def _series(metric: str, agent: str | None) -> Iterator[tuple[str, str]]:
    yield ALL
    if agent is not None and metric in _OF_AGENTS:
        yield AGENT, agent[:LONGEST_NAME]
