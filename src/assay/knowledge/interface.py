"""The interface of external sources: one inquiry to one source, and its answer.

A source receives an `Inquiry` with only what its scope allows, binds it to a statement, a request or a query that the
operator wrote, and returns passages. It must not compose a statement from text. See docs/knowledge.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final, Literal, Protocol

from assay.errors import SourceError

Authority = Literal["organisation", "database", "api", "public", "web"]
"""The five priorities: curated knowledge of the organisation, structured databases and graphs, authoritative APIs,
curated public knowledge bases, and web search."""
AUTHORITIES: Final[tuple[Authority, ...]] = ("organisation", "database", "api", "public", "web")
"""From the highest to the lowest."""
Sends = Literal["entities", "terms", "claim"]
"""How much of a claim a source may see: its names, numbers and dates; also its content words; or the whole claim."""


class Deadline:
    """A moment by which something must be done."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Set the deadline to `seconds` from now."""
        self._clock = clock
        self._end = clock() + seconds

    @property
    def left(self) -> float:
        """The seconds left, 0 or more."""
        return max(0.0, self._end - self._clock())

    def require(self) -> float:
        """The seconds left.

        Raises:
            SourceError: the deadline has passed.
        """
        left = self.left
        if left <= 0:
            raise SourceError("it did not answer in time")
        return left


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is asked about one claim, derived from it by rules (`assay.knowledge.inquiries`)."""

    entities: tuple[str, ...] = ()
    """Names, identifiers and subjects as written in the claim, the most likely first."""
    numbers: tuple[str, ...] = ()
    """Its numbers as plain decimals, such as `59.99`."""
    years: tuple[int, ...] = ()
    dates: tuple[date, ...] = ()
    terms: tuple[str, ...] = ()
    """Its content words in order, including its predicate."""
    claim: str = ""
    """The whole claim."""

    def limited(self, sends: Sends) -> Inquiry:
        """The part of the inquiry that a source may see."""
        if sends == "claim":
            return self
        return replace(self, claim="", terms=self.terms if sends == "terms" else ())

    def as_json(self) -> dict[str, object]:
        """The inquiry as a JSON value, without empty fields."""
        body = {
            "entities": list(self.entities),
            "numbers": list(self.numbers),
            "years": list(self.years),
            "dates": [day.isoformat() for day in self.dates],
            "terms": list(self.terms),
            "claim": self.claim,
        }
        return {name: value for name, value in body.items() if value}


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a source's answer."""

    id: str
    """Its place in the source: the path of a file, a statement with a row, an address."""
    text: str
    title: str | None = None
    link: str | None = None
    version: str | None = None
    effective_date: date | None = None
    expiry_date: date | None = None
    credibility: float | None = None
    """The credibility of its author, in [0, 1], if the source has passages of several authors."""


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """The answer of a source to one inquiry."""

    passages: tuple[Passage, ...] = ()
    asked: tuple[Mapping[str, object], ...] = ()
    """Each statement, request or query that was sent, as the operator wrote it, with the values that were bound; empty
    where the inquiry has no value for a parameter."""
    size: int = 0
    """Bytes or characters received."""
    notes: tuple[str, ...] = ()
    """Sentences on what was left out."""
    partial: bool = False
    """Whether a part of the source could not be read, so that an answer without passages does not show an absence."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one answer of a source."""

    response_bytes: int = 1_000_000
    """A larger response is a failure and not an answer."""
    passages: int = 8
    """The first so many passages are judged."""
    passage_characters: int = 4_000
    """Characters of one passage; the rest is cut off."""
    statements: int = 6
    """The most executions of one statement for one claim, with different values."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose text may be sent to a source, and how much of it."""

    tenants: tuple[str, ...] | None = None
    """The tenants whose text may be sent; none allows all."""
    sends: Sends = "entities"

    def allows(self, tenant: str) -> bool:
        """Whether text of a tenant may be sent."""
        return self.tenants is None or tenant in self.tenants


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings of a source that do not depend on its kind."""

    name: str
    """Its name in reports."""
    kind: str
    authority: Authority
    latency_s: float
    """Seconds that an answer is expected to take; a source that would not answer within the budget is not asked."""
    timeout_s: float
    """Seconds that an answer may take."""
    scope: Scope = field(default_factory=Scope)
    limits: Limits = field(default_factory=Limits)
    authoritative: bool = True
    """Whether its answers count as ground truth; other answers are shown but decide nothing."""
    complete: bool = False
    """Whether a claim is false if the source does not have it."""
    about: frozenset[str] = frozenset()
    """Stems; the source is only asked about claims with at least one of them, or about any claim if empty."""
    cache_s: float = 300.0
    """Seconds for which an answer is cached; 0 caches none."""
    per_minute: int | None = None
    """The most questions per minute."""
    at_once: int = 4
    """The most questions in progress at once."""
    failures: int = 3
    """Consecutive failures after which the source is not asked for `rest_s`."""
    rest_s: float = 30.0
    """Seconds."""

    @property
    def rank(self) -> int:
        """0 for the highest authority."""
        return AUTHORITIES.index(self.authority)


class Source(Protocol):
    """An external source of knowledge."""

    @property
    def digest(self) -> str:
        """Identifies all that an answer depends on except the source's own content; contains no secret."""
        ...

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> SourceAnswer:
        """The source's answer to an inquiry. Called from several threads at once.

        Raises:
            SourceError: it could not be asked, or its answer cannot be used.
        """
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...


def cut(passages: Sequence[Passage], limits: Limits) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    """The passages within the limits, and sentences on what was left out."""
    kept, notes = [], []
    for one in passages[: limits.passages]:
        if len(one.text) > limits.passage_characters:
            notes.append(f"{one.id} was cut after {limits.passage_characters:,} characters.")
            one = replace(one, text=one.text[: limits.passage_characters])  # noqa: PLW2901
        if one.text.strip():
            kept.append(one)
    if len(passages) > limits.passages:
        notes.append(f"{len(passages) - limits.passages} further passages were left out.")
    return tuple(kept), tuple(notes)
