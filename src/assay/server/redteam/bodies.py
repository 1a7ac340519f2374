"""The bodies of requests and responses of `/v1/redteam`."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from assay.server.patterns import SAYS_SOMETHING
from assay.store.records import moment_at
from assay.store.redteam import ERASED, AttackCase, AttackRun, ProposedCase

MOST: Final = 200
"""The most rows of one page."""
MOST_CASES: Final = 5_000
"""The most cases of one submitted run."""
RUN_ID: Final = "^[0-9a-f]{32}$"
CASE_ID: Final = "^rt-[0-9a-f]{16}$"
_EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(9999, 12, 30, tzinfo=UTC)


def _within_clock_range(moment: datetime) -> datetime:
    if not _EARLIEST <= moment <= _LATEST:
        raise ValueError("expected a moment between the years 1970 and 9999")
    return moment


OutcomeName = Literal["passed", "failed", "unjudged"]
StateName = Literal["open", "approved", "rejected"]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=SAYS_SOMETHING)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class _Out(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)


class DimensionScore(_Body):
    """One dimension of a judgement."""

    value: float = Field(ge=0, le=1)
    because: str = Field(default="", max_length=10_000)


class JudgedCase(_Body):
    """What became of one case, as a line of `judgements.jsonl` has it."""

    case: str = Field(pattern=CASE_ID)
    outcome: OutcomeName
    behavior_match: float | None = Field(default=None, ge=0, le=1)
    """None where it is unjudged; from 0.75 on it passed."""
    rule: str = Field(max_length=10_000)
    dimensions: dict[
        Literal["hallucination_avoidance", "abstention", "robustness", "graceful_degradation", "attack_detection"],
        DimensionScore,
    ] = Field(default_factory=dict)
    wrong_claims: list[str] = Field(default_factory=list, max_length=1_000)
    answer: str | None = Field(default=None, max_length=200_000)
    trials: int = Field(default=1, ge=1, le=1_000)
    flaky: bool = False
    unsure: bool = False


class AttackRunBody(_Body):
    """A run to be recorded: the suite and what became of each case. The scores are worked out here."""

    suite_name: Name
    target: Annotated[str, Field(min_length=1, max_length=500, pattern=SAYS_SOMETHING)]
    """What was attacked, without secrets."""
    target_version: Name | None = None
    verifier: str = Field(default="", max_length=200)
    """The digest of what judged."""
    at: Annotated[AwareDatetime, AfterValidator(_within_clock_range)] | None = None
    """When the run ended; now where it is left out."""
    cases: list[dict[str, Any]] = Field(min_length=1, max_length=MOST_CASES)
    """The cases, as lines of a suite have them (docs/redteam.md#suites)."""
    judgements: list[JudgedCase] = Field(min_length=1, max_length=MOST_CASES)
    """What became of each, in the same order."""
    propose: bool = False
    """Whether what failed is proposed for the approved suite."""


class AttackScore(_Out):
    """The score of some cases, with its 95% interval."""

    ars: float | None = None
    low: float | None = None
    high: float | None = None
    cases: int
    passed: int
    unjudged: int


class AttackRunLine(_Out):
    """One run in a list."""

    id: str
    at: datetime
    """When it ended."""
    suite: str
    """The digest of the suite's content, which is its version."""
    suite_name: str
    target: str
    target_version: str | None
    source: str
    """`command`, `api` or `schedule`."""
    schedule: str | None
    ars: float | None
    low: float | None
    high: float | None
    cases: int
    passed: int
    failed: int
    unjudged: int
    flaky: int
    regressed: bool | None
    """None where it was compared to nothing."""
    categories: dict[str, AttackScore]

    @classmethod
    def of(cls, run: AttackRun) -> Self:
        """Out of its row."""
        return cls.model_validate(
            {
                **{name: getattr(run, name) for name in cls.model_fields if name not in ("at", "categories")},
                "at": moment_at(run.at),
                "categories": run.body.get("categories") or {},
            }
        )


class AttackRunOut(AttackRunLine):
    """One run."""

    verifier: str
    dimensions: dict[str, float]
    comparisons: dict[str, dict[str, Any]]
    """How it stands to earlier runs, by their ids."""
    recorded: datetime
    weight: float | None
    """What each case that failed spends of the error budget, in wrong outputs."""
    erased: datetime | None
    """When its conversations were erased; none where they were not."""

    @classmethod
    def of(cls, run: AttackRun) -> Self:
        """Out of its row."""
        return cls.model_validate(
            {
                **AttackRunLine.of(run).model_dump(),
                "verifier": run.verifier,
                "dimensions": run.body.get("dimensions") or {},
                "comparisons": run.body.get("comparisons") or {},
                "recorded": moment_at(run.recorded),
                "weight": run.weight,
                "erased": moment_at(run.body[ERASED]) if ERASED in run.body else None,
            }
        )


class RecordedAttackRun(_Out):
    """What came of a run that was submitted."""

    run: AttackRunOut
    proposed: list[str]
    """The ids of the cases that were proposed."""


class ErasedConversations(_Out):
    """What was erased."""

    runs: list[str]
    """The ids; none where it was erased before."""


class AttackScheduleOut(_Out):
    """A schedule of the red team, as the server's `assay.yaml` has it."""

    name: str
    plan: str
    """`every 6h`, or a cron expression in UTC."""
    suite: str
    """The name of the file of the suite, or `approved`."""
    target: str
    """What is attacked, without what an address says behind its host and a command behind its program."""
    target_version: str | None
    categories: list[str]
    """The categories that are run; all where there are none."""
    propose: bool
    """Whether what failed is proposed for the approved suite."""
    budget: float
    """What each failed case spends of the error budget, in wrong outputs."""
    due: datetime
    """The latest moment of its plan."""
    made: bool
    """Whether the run for that moment is recorded."""
    last: AttackRunLine | None
    """Its latest run."""


class AttackSchedulesOut(_Out):
    """The schedules of a tenant."""

    items: list[AttackScheduleOut]


class AttackRunsOut(_Out):
    """Runs, the newest first."""

    items: list[AttackRunLine]
    next: str | None
    """The cursor of the next page."""


class AttackCaseOut(_Out):
    """What became of one case of a run."""

    position: int
    id: str
    category: str
    outcome: OutcomeName
    match: float | None
    flaky: bool
    rule: str | None
    told: dict[str, Any] | None
    """The conversation of a case that did not pass, each text cut to 4,000 characters."""

    @classmethod
    def of(cls, case: AttackCase) -> Self:
        """Out of its row."""
        return cls.model_validate(
            {
                "position": case.position,
                "id": case.case_id,
                "category": case.category,
                "outcome": case.outcome,
                "match": case.match,
                "flaky": case.flaky,
                "rule": case.rule,
                "told": case.told,
            }
        )


class AttackCasesOut(_Out):
    """Cases of a run, in order of its suite."""

    items: list[AttackCaseOut]
    next: int | None
    """The cursor of the next page."""


class ProposalLine(_Out):
    """One proposal in a list."""

    id: str
    state: StateName
    category: str
    target: str
    run: str | None
    match: float | None
    rule: str | None
    flaky: bool
    prompt: str
    created: datetime
    decided: datetime | None
    decider: str | None
    reason: str | None
    kept: str | None
    """The id that it has in the approved suite."""
    version: int

    @classmethod
    def of(cls, row: ProposedCase) -> Self:
        """Out of its row."""
        return cls.model_validate(_proposal_values(row))


class ProposalOut(ProposalLine):
    """One proposal."""

    case: dict[str, Any]
    """The case as it was proposed."""
    approved: dict[str, Any] | None
    """The case as it was let in."""
    answer: str | None
    """What the target said."""

    @classmethod
    def of(cls, row: ProposedCase) -> Self:
        """Out of its row."""
        body = row.body
        return cls.model_validate(
            {
                **_proposal_values(row),
                "case": body.get("case") or {},
                "approved": body.get("approved"),
                "answer": body.get("answer"),
            }
        )


def _proposal_values(row: ProposedCase) -> Mapping[str, Any]:
    case = row.body.get("approved") or row.body.get("case") or {}
    return {
        "id": row.id,
        "state": row.state,
        "category": row.category,
        "target": row.target,
        "run": row.run,
        "match": row.match,
        "rule": row.rule,
        "flaky": row.flaky,
        "prompt": str(case.get("prompt", ""))[:500],
        "created": moment_at(row.created),
        "decided": None if row.decided is None else moment_at(row.decided),
        "decider": row.decider,
        "reason": row.reason,
        "kept": row.kept,
        "version": row.version,
    }


class ProposalsOut(_Out):
    """Proposals, the newest first."""

    items: list[ProposalLine]
    next: str | None
    """The cursor of the next page."""
    counts: dict[str, int]
    """How many stand where."""
    suite: str
    """The version of the approved suite: the digest of its content."""


class ProposalDecision(_Body):
    """What a person decides on a proposal."""

    act: Literal["approve", "edit", "reject"]
    reason: Annotated[str, Field(min_length=1, max_length=10_000, pattern=SAYS_SOMETHING)]
    case: dict[str, Any] | None = None
    """For `edit`: the fields of the case that are to be others, such as `prompt`."""
