"""The input of the gate: numbers and verdicts about one output, without its text."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from assay.errors import InputError
from assay.schema import ClaimReport, Issue, Stakes, Verdict

_COUNTS = (
    "citations_fabricated",
    "citations_failed",
    "claims_uncited",
    "citations_unchecked",
    "conflicts",
    "unchecked_characters",
    "evidence_unread_characters",
    "structural_issues",
    "rejected_tool_calls",
    "diverged_probes",
    "revisions_failed",
    "logic_faults",
    "omissions",
    "unjudged",
    "hidden",
)


@dataclass(frozen=True, slots=True)
class ClaimSignal:
    """What the gate reads about one claim.

    Raises:
        InputError: a number is not in [0, 1]; NaN would compare as if the claim had passed.
    """

    score: float | None
    """The calibrated probability of support; None if the claim was not or could not be checked."""
    verdict: Verdict
    critical: bool
    """Whether it contains a number, a date, a citation, a name, an identifier or a commitment."""
    severity: float | None
    """sev(c) of docs/concepts.md#severity; None if nothing was found against it."""
    contradiction: float | None = None
    """The calibrated probability of contradiction."""
    fabricated_citation: bool = False
    """Whether it cites a source that does not exist."""
    logic_fault: bool = False
    """Whether the output's own reasoning is faulty in this claim, whatever the evidence says."""
    part_of: int | None = None
    """The number of the statement that it was cut from; all claims cut from one statement count once in `joint`."""

    def __post_init__(self) -> None:
        for name in ("score", "severity", "contradiction"):
            _require_probability(name, getattr(self, name))

    @property
    def checkable(self) -> bool:
        """Whether it states something that evidence can support."""
        return self.verdict is not Verdict.NOT_CHECKABLE

    @property
    def unchecked(self) -> bool:
        """Whether it should have been checked and was not: without a score no verdict counts as a check."""
        return self.checkable and (self.verdict is Verdict.UNCHECKED or self.score is None)


@dataclass(frozen=True, slots=True)
class GateInput:
    """Everything that the gate decides on. No field that counts against an output has a default.

    Raises:
        InputError: a count is negative or a metric is not in [0, 1].
    """

    claims: tuple[ClaimSignal, ...]
    citations_fabricated: int
    """Citations of sources that do not exist."""
    citations_failed: int
    """Citations that are misquoted, misattributed or do not entail their statement."""
    claims_uncited: int
    """Checkable claims without a citation; matters where the policy requires one."""
    citations_unchecked: int
    """Citations that could not be checked."""
    conflicts: int
    """Claims that one source supports and another contradicts."""
    unchecked_characters: int
    """Characters of the output that no verdict covers."""
    evidence_unread_characters: int
    """Characters of the evidence that were not read."""
    structural_issues: int
    """Violations of a schema, type, pattern or range in a structured output."""
    rejected_tool_calls: int
    """Tool calls of the final turn that failed validation."""
    diverged_probes: int
    """Critical claims on which the model disagreed with itself."""
    declared_claim_free: bool
    """Whether the caller declared that the output contains no claims."""
    task: str
    """The kind of task, such as `qa` or `creative`; unknown ones are held to evidence."""
    stakes: Stakes
    revisions_failed: int
    """How many revisions of this output have failed already."""
    faithfulness: float | None
    """The mean probability of support; None if undefined."""
    factscore: float | None
    """The share of supported atomic facts; None if undefined."""
    has_evidence: bool
    """Whether any evidence contains text."""
    abstention_only: bool
    """Whether the output has statements and all of them are abstentions, or greetings and the like."""
    empty: bool = False
    """Whether the output is empty or white space: never emitted, whatever was declared."""
    run_faults: tuple[str, ...] = ()
    """Why the agent run behind the output cannot be relied on, one sentence each: it has not ended, it could not be
    read in full, a call could not be checked, claims could not be probed. Empty where there is no such reason."""
    logic_faults: int = 0
    """Faults of reasoning outside of claims."""
    irrelevant_evidence: bool = False
    """Whether no passage mentions what was asked, and the output answers something else."""
    hidden: int = 0
    """Places where a reader sees another text than the one that was checked."""
    omissions: int = 0
    """Conditions, exceptions, deadlines and limits of the evidence that the output leaves out."""
    unjudged: int = 0
    """Supported claims that a judge should have judged and for which it gave no usable answer."""

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 0:
                raise InputError(f"expected {name} to be 0 or more, got {getattr(self, name)}")
        _require_probability("faithfulness", self.faithfulness)
        _require_probability("factscore", self.factscore)


FABRICATED: Final = "citation.fabricated"
"""The code of a citation of a source that does not exist."""
LOGIC_HINTS: Final = frozenset({"logic.unsupported_step"})
"""Findings about reasoning that are shown but decide nothing, because a quarter of the steps so reported are sound."""


def is_logic_fault(issue: Issue) -> bool:
    """Whether an issue is a fault of the output's own reasoning, rather than a hint or something else.

    >>> is_logic_fault(Issue(code="logic.arithmetic", message="2 + 2 is 4."))
    True
    """
    return is_logic_code(issue.code)


def is_logic_code(code: str) -> bool:
    """As `is_logic_fault`, for the code of an issue."""
    return code.startswith("logic.") and code not in LOGIC_HINTS


def claim_signal(
    *,
    score: float | None,
    verdict: Verdict,
    critical: bool,
    severity: float | None,
    contradiction: float | None,
    codes: Collection[str],
    part_of: int | None,
) -> ClaimSignal:
    """The signal of a claim. Checks, calibration and redecisions all build it here, and no parameter has a default, so
    that none of them can omit a signal that is added later.

    Args:
        score: the probability of support.
        verdict: the verdict of the claim.
        critical: whether it contains a number, a date, a name and the like.
        severity: sev(c), where something was found against it.
        contradiction: the probability of contradiction.
        codes: the codes of its issues.
        part_of: the number of the statement that it was cut from.
    """
    return ClaimSignal(
        score=score,
        verdict=verdict,
        critical=critical,
        severity=severity,
        contradiction=contradiction,
        fabricated_citation=FABRICATED in codes,
        logic_fault=any(map(is_logic_code, codes)),
        part_of=part_of,
    )


def signal_of(claim: ClaimReport) -> ClaimSignal:
    """The signal of a claim in a report."""
    return claim_signal(
        score=claim.score,
        verdict=claim.verdict,
        critical=claim.critical,
        severity=claim.severity.score if claim.severity else None,
        contradiction=claim.contradiction,
        codes=[issue.code for issue in claim.issues],
        part_of=claim.part_of,
    )


def _require_probability(name: str, value: float | None) -> None:
    if value is not None and not 0 <= value <= 1:
        raise InputError(f"expected {name} to be a number from 0 to 1 or none, got {value}")
