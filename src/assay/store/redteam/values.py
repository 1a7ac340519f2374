"""Rows of the red team: what became of a run, of each of its cases, and of what was proposed for the approved suite."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

MOST_CASES: Final = 20_000
"""Cases of one run."""
MOST_LISTED: Final = 500
"""Rows of one list."""
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
    """The digest of what judged."""
    source: str
    """How it came here: `command`, `api` or `schedule`."""
    ars: float | None
    """None where no case was judged."""
    low: float | None
    high: float | None
    cases: int
    passed: int
    failed: int
    unjudged: int
    flaky: int
    """Cases that passed in one trial and failed in another; they are among those that failed."""
    body: Mapping[str, Any] = field(default_factory=dict)
    """`categories`: by name, `ars`, `low`, `high`, `cases`, `passed` and `unjudged`; `dimensions`: their means;
    `comparison`: how it stands to its baselines, where it has any."""
    target_version: str | None = None
    schedule: str | None = None
    due: int | None = None
    """The moment for which the schedule had it run."""
    actor: str | None = None
    regressed: bool | None = None
    """None where it was compared to nothing."""
    weight: float | None = None
    """What each case that failed spends of the error budget, in wrong outputs."""
    recorded: int = 0


@dataclass(frozen=True, slots=True)
class AttackCase:
    """What became of one case of a run."""

    case_id: str
    category: str
    outcome: str
    match: float | None
    flaky: bool
    rule: str | None
    told: Mapping[str, Any] | None = None
    """The conversation and what was judged of it, each text cut; none of cases that passed."""
    position: int = 0


@dataclass(frozen=True, slots=True)
class ProposedCase:
    """A case that broke a system, and whether it goes into the approved suite."""

    id: str
    category: str
    target: str
    match: float | None
    rule: str | None
    flaky: bool
    body: Mapping[str, Any]
    """`case`: as it was proposed, `approved`: as it was let in, `answer`: what the target said, `trials`."""
    run: str | None = None
    """The run that it broke."""
    state: str = OPEN
    created: int = 0
    decided: int | None = None
    decider: str | None = None
    """The name of the person who decided."""
    actor: str | None = None
    reason: str | None = None
    kept: str | None = None
    """The id that it has in the approved suite."""
    version: int = 1


_HALVES: Final = re.compile("[\ud800-\udfff]")


def packable(value: Any) -> Any:
    """A JSON value that can be packed: halves of surrogate pairs become U+FFFD. All else stays as it is, so that the id
    of a case is still that of its content."""
    match value:
        case str():
            return _HALVES.sub("\N{REPLACEMENT CHARACTER}", value)
        case list() | tuple():
            return [packable(one) for one in value]
        case Mapping():
            return {packable(str(name)): packable(one) for name, one in value.items()}
        case _:
            return value
