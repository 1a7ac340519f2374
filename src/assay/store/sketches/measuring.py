"""What one output adds to the sketches: metric, of what, hour, bin, and how much.

| metric | value of one output |
|---|---|
| `composite`, `faithfulness`, `factscore`, `attribution…`, `score` | as the report says; none where it is undefined |
| `withheld`, `fabricated`, `retrieval_null`, `unchecked` | 1 or 0 |
| `category.NAME` | 1 where something of the category was found |
| `relevance` | the relevance of the best passage that was kept, where passages were screened |
| `by_relevance` | the rate of claims without support, in the bin of that relevance |
| `corrected` | of what was served: 1 where a user called it wrong |
| `claim.right`, `claim.wrong`, `output.right`, `output.wrong` | the verifier's score of what people judged |
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from assay.schema import Category
from assay.store.sketches.standing import Standing
from assay.store.sketches.values import Cell, bin_of, in_units

DEFINITION: Final = 1
"""The version of what is in the sketches; where it grows, they are counted again."""

ALL: Final = ("all", "")
"""The series of all outputs."""
AGENT: Final = "agent"
"""The series of the outputs of one caller."""

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
CATEGORIES: Final = tuple(f"category.{one.value}" for one in Category)
RATES: Final = frozenset({WITHHELD, FABRICATED, RETRIEVAL_NULL, CORRECTED, "unchecked", *CATEGORIES})
"""The metrics of which each output has 1 or 0."""
_SCORES: Final = {
    COMPOSITE: "composite_hallucination_score",
    FAITHFULNESS: FAITHFULNESS,
    FACTSCORE: FACTSCORE,
    **{name: name for name in ATTRIBUTION},
}
_OF_AGENTS: Final = frozenset({COMPOSITE, FAITHFULNESS, WITHHELD, CORRECTED})
"""What is kept of each caller's outputs too."""

LONGEST_NAME: Final = 200


class Key(NamedTuple):
    """Where a value is counted."""

    metric: str
    kind: str
    name: str
    hour: int
    bin: int


class Adds:
    """What is to be added to the sketches; additions may be negative."""

    __slots__ = ("cells",)

    def __init__(self) -> None:
        self.cells: dict[Key, Cell] = {}

    def put(self, key: Key, value: float, times: int = 1) -> None:
        """Count a value, or with a negative number take it away again."""
        units = in_units(value)
        self.cells[key] = self.cells.get(key, Cell()) + Cell(times, times * units, times * units * units)


def measured(data: Mapping[str, Any], body: Mapping[str, Any] | None) -> Iterator[tuple[str, float, int]]:
    """What the gate's own decision says: metric, value, and bin.

    Args:
        data: the entry of the decision.
        body: the report; none where it was erased before it was counted, and then only the entry is.
    """
    citations = data.get("citations") or {}
    yield _rate(FABRICATED, bool(citations.get("fabricated")))
    yield _rate("unchecked", bool(data.get("unchecked_characters")))
    if body is None:
        yield _rate(WITHHELD, data.get("action") == "block")
        found = frozenset(data.get("categories") or ())
    else:
        labels = body.get("labels") or {}
        yield _rate(WITHHELD, labels.get("routing") == "WITHHOLD")
        found = frozenset(body.get("categories") or ())
        yield from _of_report(body)
    for category in Category:
        yield _rate(f"category.{category.value}", category.value in found)


def _of_report(body: Mapping[str, Any]) -> Iterator[tuple[str, float, int]]:
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
    known = [
        float(one["relevance"])
        for one in screening.get("passages") or ()
        if one.get("relevance") is not None and (not kept or one.get("id") in kept)
    ]
    return max(known, default=None)


def _rate(metric: str, happened: bool) -> tuple[str, float, int]:
    value = float(happened)
    return metric, value, bin_of(value)


def _value(metric: Any) -> float | None:
    value = metric.get("value") if isinstance(metric, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


def add_decision(adds: Adds, hour: int, agent: str | None, found: Iterable[tuple[str, float, int]]) -> None:
    """Count what the gate's decision on one output says."""
    for metric, value, at in found:
        for kind, name in _series(metric, agent):
            adds.put(Key(metric, kind, name, hour, at), value)


def add_standing(adds: Adds, hour: int, agent: str | None, before: Standing, after: Standing) -> None:
    """Count what people say of one output after an entry, in place of what they said before it."""
    for standing, times in ((before, -1), (after, 1)):
        if not standing.decided:
            continue
        if standing.served:
            value = float(standing.corrected)
            for kind, name in _series(CORRECTED, agent):
                adds.put(Key(CORRECTED, kind, name, hour, bin_of(value)), value, times)
        for what, score, right in standing.labelled():
            adds.put(Key(f"{what}.{'right' if right else 'wrong'}", *ALL, hour, bin_of(score)), score, times)


def _series(metric: str, agent: str | None) -> Iterator[tuple[str, str]]:
    yield ALL
    if agent is not None and metric in _OF_AGENTS:
        yield AGENT, agent[:LONGEST_NAME]
