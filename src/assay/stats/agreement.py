"""Agreement of structured samples, field by field, and how many samples to draw (docs/concepts.md#self-consistency)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from assay.errors import InputError

LOW_RISK: Final = 0.1
"""Below this probability of a hallucination one sample is enough."""
MEDIUM_RISK: Final = 0.4
"""From this probability on five are drawn, below it three."""


@dataclass(frozen=True, slots=True)
class FieldVote:
    """The vote of the samples on one field."""

    path: str
    """The JSON Pointer of the field."""
    value: Any
    """The majority value; none where no value has a majority."""
    share: float
    """The share of the samples with the most common value; absence counts as a value of its own."""
    agreement: float | None
    """The share of pairs of samples that agree; none for fewer than two samples."""
    decided: bool
    """Whether at least ceil(k / 2) of k samples have that value and no other value is as common."""
    absent: bool = False
    """Whether the majority has no such field."""


@dataclass(frozen=True, slots=True)
class FieldAgreement:
    """The votes of the samples on all fields."""

    fields: tuple[FieldVote, ...]
    """In the order of their pointers."""
    score: float | None
    """SC_structured: the mean of the fields' agreement; none without fields or for fewer than two samples."""

    @property
    def undecided(self) -> tuple[str, ...]:
        """The fields without a majority, which are to be flagged as high risk."""
        return tuple(vote.path for vote in self.fields if not vote.decided)


def samples_wanted(risk: float, low: float = LOW_RISK, medium: float = MEDIUM_RISK) -> int:
    """The number of samples to draw: 1 below `low`, 3 below `medium`, else 5 (docs/concepts.md#self-consistency).

    Args:
        risk: the estimated probability of a hallucination, in [0, 1].
        low: theta_low.
        medium: theta_med.

    Raises:
        InputError: a number is not in [0, 1], or the two are in the wrong order.

    >>> [samples_wanted(risk) for risk in (0.05, 0.1, 0.4)]
    [1, 3, 5]
    """
    if not 0 <= low <= medium <= 1 or not 0 <= risk <= 1:
        raise InputError(f"expected a risk in [0, 1] and 0 <= low <= medium <= 1, got {risk}, {low} and {medium}")
    return 1 if risk < low else 3 if risk < medium else 5


def vote_fields(documents: Sequence[Any]) -> FieldAgreement:
    """The majority value of each field over JSON documents, and how far the documents agree.

    A field is a leaf: a string, number, boolean, null, or an empty list or object. `1` and `true` are different, as are
    `1` and `"1"`; `1` and `1.0` are equal.

    Raises:
        InputError: there is no document.

    >>> found = vote_fields([{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 1, "b": "z"}])
    >>> [(vote.path, vote.value, vote.decided) for vote in found.fields], found.score
    ([('/a', 1, True), ('/b', None, False)], 0.5)
    """
    if not documents:
        raise InputError("expected at least one document, got none")
    leaves = [dict(_leaves(document)) for document in documents]
    paths = sorted({path for one in leaves for path in one})
    votes = tuple(_vote(path, [one.get(path, _ABSENT) for one in leaves]) for path in paths)
    known = [vote.agreement for vote in votes if vote.agreement is not None]
    return FieldAgreement(votes, sum(known) / len(known) if known else None)


class _Absent:
    """The value of a field that a document does not have."""


_ABSENT: Final = _Absent()


def _vote(path: str, values: Sequence[Any]) -> FieldVote:
    keys = [_key(value) for value in values]
    counts: dict[Hashable, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    most = max(counts.values())
    winners = [key for key, count in counts.items() if count == most]
    decided = len(winners) == 1 and most >= -(-len(values) // 2)
    value = values[keys.index(winners[0])]
    pairs = [first == second for first, second in combinations(keys, 2)]
    agreement = sum(pairs) / len(pairs) if pairs else None
    absent = decided and value is _ABSENT
    majority = value if decided and not absent else None
    return FieldVote(path, majority, most / len(values), agreement, decided, absent)


def _key(value: Any) -> Hashable:
    if isinstance(value, bool | None | _Absent):
        return (type(value).__name__, value)
    if isinstance(value, int | float):
        return ("number", value)
    return (type(value).__name__, repr(value))


def _leaves(document: Any) -> list[tuple[str, Any]]:
    """The leaves with their pointers, found without recursion, so that deep nesting does no harm."""
    found: list[tuple[str, Any]] = []
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        path, value = waiting.pop()
        children: list[tuple[Any, Any]] = []
        if isinstance(value, Mapping):
            children = list(value.items())
        elif isinstance(value, list | tuple):
            children = list(enumerate(value))
        if not children:
            found.append((path, value))
        waiting += [(f"{path}/{_escaped(str(name))}", child) for name, child in children]
    return found


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
