"""Runs of the red team, their cases, and proposals for the approved suite as values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

MOST_CASES: Final = 20_000
"""The most cases of one run."""
MOST_LISTED: Final = 500
"""The most rows of one list."""
OPEN: Final = "open"
APPROVED: Final = "approved"
REJECTED: Final = "rejected"


@dataclass(frozen=True, slots=True)
class AttackRun:
    """One run of a suite against a target."""

    id: str
    at: int
    """When it ended, in microseconds since 1970."""
    suite: str
    """The digest of the suite's content."""
    suite_name: str
    target: str
    verifier: str
    """The digest of the verifier."""
    source: str
    """How it was recorded: by `command`, `api` or `schedule`."""
    ars: float | None
    """The adversarial robustness score; None if no case was judged."""
    low: float | None
    high: float | None
    """The interval of the score."""
    cases: int
    passed: int
    failed: int
    unjudged: int
    flaky: int
    """The number of cases that passed in one trial and failed in another; `failed` includes them."""
    body: Mapping[str, Any] = field(default_factory=dict)
    """`categories`: by name, `ars`, `low`, `high`, `cases`, `passed` and `unjudged`; `dimensions`: their means;
    `comparison`: the comparison with its baselines, if it has any."""
    target_version: str | None = None
    schedule: str | None = None
    due: int | None = None
    """The moment for which it was scheduled."""
    actor: str | None = None
    regressed: bool | None = None
    """Whether it is a regression; None if it was not compared."""
    weight: float | None = None
    """What each failed case spends of the error budget, in wrong outputs."""
    recorded: int = 0
    """When it was recorded, in microseconds since 1970."""


@dataclass(frozen=True, slots=True)
class AttackCase:
    """The result of one case of a run."""

    case_id: str
    category: str
    outcome: str
    match: float | None
    flaky: bool
    rule: str | None
    told: Mapping[str, Any] | None = None
    """The conversation and the judgement, with long texts cut; None for cases that passed."""
    position: int = 0


@dataclass(frozen=True, slots=True)
class ProposedCase:
    """A case that broke a system, proposed for the approved suite."""

    id: str
    category: str
    target: str
    match: float | None
    rule: str | None
    flaky: bool
    body: Mapping[str, Any]
    """`case`: the proposed case; `approved`: the approved case; `answer`: the answer of the target; `trials`."""
    run: str | None = None
    """The id of the run in which it broke the system."""
    state: str = OPEN
    created: int = 0
    decided: int | None = None
    decider: str | None = None
    """The name of the person who decided."""
    actor: str | None = None
    reason: str | None = None
    kept: str | None = None
    """The id of the approved case in the suite."""
    version: int = 1


_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def packable(value: Any) -> Any:
    """A JSON value that can be packed: lone surrogates become U+FFFD. All else is unchanged, so that the id of a case
    still follows from its content."""
    match value:
        case str():
            return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", value)
        case list() | tuple():
            return [packable(item) for item in value]
        case Mapping():
            return {packable(str(name)): packable(item) for name, item in value.items()}
        case _:
            return value
