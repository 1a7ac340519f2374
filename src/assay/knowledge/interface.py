"""The seam to whoever else knows: one question to one source, and what came back.

A source gets an `Inquiry` that holds nothing but what its scope lets it see, binds it to a statement, a request or a
query that the operator wrote, and gives passages. What it may not do is compose a statement from text. See
docs/knowledge.md.
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
"""How much of a claim a source may see: its names, numbers and dates; its content words besides; or all of it."""


class Deadline:
    """A moment until which something has to be done."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """So many seconds from now."""
        self._clock = clock
        self._end = clock() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left, 0 or more."""
        return max(0.0, self._end - self._clock())

    def require(self) -> float:
        """Seconds that are left.

        Raises:
            SourceError: none are.
        """
        left = self.left
        if left <= 0:
            raise SourceError("it did not answer in time")
        return left


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is asked about one claim, taken from it by rules (`assay.knowledge.formulating`)."""

    entities: tuple[str, ...] = ()
    """Names, identifiers and subjects as the claim has them, the likeliest first."""
    numbers: tuple[str, ...] = ()
    """Its numbers as plain decimals, such as `59.99`."""
    years: tuple[int, ...] = ()
    dates: tuple[date, ...] = ()
    terms: tuple[str, ...] = ()
    """Its content words in order, its predicate among them."""
    claim: str = ""
    """All of it."""

    def limited(self, sends: Sends) -> Inquiry:
        """The part of it that a source may see."""
        if sends == "claim":
            return self
        return replace(self, claim="", terms=self.terms if sends == "terms" else ())

    def as_json(self) -> dict[str, object]:
        """As a JSON value, without what is empty."""
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
    """A piece of what a source said."""

    id: str
    """Where in the source it stands: a file with a place, a statement with a row, an address."""
    text: str
    title: str | None = None
    link: str | None = None
    version: str | None = None
    effective_date: date | None = None
    expiry_date: date | None = None
    credibility: float | None = None
    """How far whoever wrote it is to be believed, in [0, 1], where a source has pieces of several authors."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a source said."""

    passages: tuple[Passage, ...] = ()
    asked: tuple[Mapping[str, object], ...] = ()
    """Each statement, request or query that was asked, as what the operator calls it with the values that were bound;
    empty where the inquiry has nothing to ask with."""
    size: int = 0
    """Bytes or characters that came back."""
    notes: tuple[str, ...] = ()
    """What was left out of it, as sentences."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is taken from one answer of a source."""

    response_bytes: int = 1_000_000
    """A larger response is a failure and no answer."""
    passages: int = 8
    """Passages that are judged; the first so many."""
    passage_characters: int = 4_000
    """Characters of one passage; what lies behind is cut off."""
    statements: int = 6
    """Executions of one statement for one claim, over the values that it can be bound to."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose text may go to a source, and how much of it."""

    tenants: tuple[str, ...] | None = None
    """The tenants; none is all of them."""
    sends: Sends = "entities"

    def allows(self, tenant: str) -> bool:
        """Whether text of a tenant may go there."""
        return self.tenants is None or tenant in self.tenants


@dataclass(frozen=True, slots=True)
class Profile:
    """How a source is treated, whatever its kind."""

    name: str
    """As reports call it."""
    kind: str
    authority: Authority
    latency_s: float
    """How long an answer is expected to take; a source that would not answer within the budget is not asked."""
    timeout_s: float
    """How long an answer may take."""
    scope: Scope = field(default_factory=Scope)
    limits: Limits = field(default_factory=Limits)
    authoritative: bool = True
    """Whether its word counts as ground truth; that of any other is shown and decides nothing."""
    complete: bool = False
    """Whether what it does not have is not so."""
    about: frozenset[str] = frozenset()
    """Stems of which a claim has to have one for the source to be asked; empty for any claim."""
    cache_s: float = 300.0
    """Seconds for which an answer is good; 0 keeps none."""
    per_minute: int | None = None
    """Questions in a minute at most."""
    at_once: int = 4
    """Questions under way at once at most."""
    failures: int = 3
    """Failures in a row after which it is left alone for a while."""
    rest_s: float = 30.0
    """For how long."""

    @property
    def rank(self) -> int:
        """0 for the highest authority."""
        return AUTHORITIES.index(self.authority)


class Source(Protocol):
    """Somebody who may know."""

    @property
    def digest(self) -> str:
        """Identifies everything that an answer depends on but the source's own content; no secret goes into it."""
        ...

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> Found:
        """What the source has on an inquiry. Called from several threads at once.

        Raises:
            SourceError: it could not be asked, or what it said cannot be used.
        """
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


def cut(passages: Sequence[Passage], limits: Limits) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    """The passages within the limits, and what was left out."""
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
