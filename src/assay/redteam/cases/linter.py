"""Linting a suite: finds cases that no answer can pass or fail for the reason they are meant to test."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from assay.redteam.cases.duplicates import near_duplicates
from assay.redteam.cases.values import ANSWERABLE, Behavior, Case

LEAST_PLAUSIBLE: Final = 0.5
"""The least plausibility: the generator drops cases below it and the linter reports them."""


class Problem(NamedTuple):
    """One thing that is wrong with a case."""

    case: str
    code: str
    message: str


def lint(cases: Sequence[Case]) -> tuple[Problem, ...]:
    """The problems of the cases, in their order; near-duplicates last.

    >>> lint(())
    ()
    """
    problems = [problem for case in cases for problem in _problems_of(case)]
    problems += [
        Problem(second.id, "case.duplicate", f"says nearly the same as {first.id}; leave one out")
        for first, second in near_duplicates(cases)
    ]
    return tuple(problems)


def _problems_of(case: Case) -> Iterator[Problem]:
    if case.expected_behavior in ANSWERABLE and not (case.ground_truth or "").strip():
        yield Problem(case.id, "truth.missing", f"{case.expected_behavior} needs a ground truth to be judged by")
    if case.expected_behavior in ANSWERABLE - {Behavior.LEAVE_EMPTY} and not case.accepted:
        yield Problem(case.id, "truth.no_value", "needs a value in `accepted` by which a right answer is recognised")
    if case.expected_behavior is Behavior.LEAVE_EMPTY and not any(value is None for value in case.fields.values()):
        yield Problem(case.id, "fields.none_missing", "needs a field that the evidence does not fill")
    if set(case.accepted) & set(case.planted):
        yield Problem(case.id, "truth.is_planted", "the same value is right and planted")
    if case.expected_behavior in ANSWERABLE and not case.evidence:
        yield Problem(case.id, "evidence.missing", "needs evidence to be judged by")
    if case.expected_behavior is Behavior.DETECT_CONTRADICTION and len(case.context) + len(case.turns) < 2:
        yield Problem(case.id, "context.no_contradiction", "needs two passages that can contradict each other")
    ids = [passage.id for passage in case.context]
    if len(ids) != len(set(ids)):
        yield Problem(case.id, "context.same_ids", "two passages of the context have one id")
    if case.plausibility < LEAST_PLAUSIBLE:
        yield Problem(case.id, "prompt.implausible", f"nobody asks this way ({case.plausibility:.2f})")
