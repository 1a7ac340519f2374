"""A campaign: a suite against a target, recorded, judged and scored; failures asked again where that is wanted."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from assay.errors import InputError
from assay.evaluation.rows import write_file
from assay.guard import Guard
from assay.redteam.cases import Case, read_suite, suite_digest, suite_text
from assay.redteam.judging import Judged, Judgement, Outcome, judge_answers
from assay.redteam.judging.decisions import Decision, add_decision, as_decided, digest_of, read_decisions, require_texts
from assay.redteam.runs import Answer, RunLog, RunOptions, Spent, run_cases
from assay.redteam.scores import Scorecard, read_card, rescore, score
from assay.redteam.targets import Target

RECORD: Final = "run.jsonl"
"""The record of calls, in the folder of a campaign."""
JUDGEMENTS: Final = "judgements.jsonl"
SUITE: Final = "suite.jsonl"
SUMMARY: Final = "summary.json"


Again = Callable[[Sequence[Case], Sequence[Judgement]], Sequence[Judgement]]
"""Looks again at the judgements of a suite that are not sure."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """What came of it."""

    cases: tuple[Case, ...]
    judgements: tuple[Judgement, ...]
    card: Scorecard
    spent: Spent


def run_campaign(
    cases: Sequence[Case],
    target: Target,
    guard: Guard,
    folder: Path,
    options: RunOptions | None = None,
    *,
    reruns: int = 0,
    version: str = "",
    on_answer: Callable[[Answer], None] | None = None,
    judged: Judged | None = None,
    again: Again | None = None,
) -> Campaign:
    """Runs, judges and scores a suite; what the folder already holds of the same suite and target is not run again.

    Args:
        cases: the suite.
        target: the system under test.
        guard: what judges.
        folder: where the record, the judgements and the summary are kept.
        options: concurrency, rate and budget of the run, its reruns among it.
        reruns: how many more times a case that failed is asked. The score stays that of the first trial, since asking
            only failures again would raise it; a case that passes in another trial is marked flaky.
        version: the version of the target, as its owner declares it.
        on_answer: is called with each answer as it comes.
        judged: who judges in place of the guard; see `judge_answers`.
        again: looks again at judgements that are not sure (`assay.redteam.judging.adjudication`). What people decided
            of answers of this folder stands before it (`decide`).

    Raises:
        InputError: the folder is of another suite, target or version, or cannot be written to.
    """
    options = options or RunOptions()
    digest = suite_digest(cases)
    until = None if options.most_seconds is None else time.monotonic() + options.most_seconds
    with RunLog(folder / RECORD, digest, target.name, version) as log:
        spent = run_cases(cases, target, log, options, on_answer)
        first = {case: answer for (case, trial), answer in log.answers.items() if trial == 1}
        judgements = _settled(cases, list(judge_answers(cases, first, guard, judged)), read_decisions(folder), again)
        for trial in range(2, 2 + reruns):
            failed = [at for at, one in enumerate(judgements) if one.outcome is Outcome.FAILED and not one.flaky]
            repeated = [cases[at] for at in failed]
            left = None if options.most_calls is None else max(0, options.most_calls - spent.calls)
            seconds = None if until is None else max(0.0, until - time.monotonic())
            within = replace(options, trial=trial, most_calls=left, most_seconds=seconds)
            more = run_cases(repeated, target, log, within, on_answer)
            spent = replace(more, calls=spent.calls + more.calls, kept=spent.kept, left=spent.left)
            answers = {case: answer for (case, number), answer in log.answers.items() if number == trial}
            for at, one in zip(failed, judge_answers(repeated, answers, guard, judged), strict=True):
                asked = judgements[at].trials + (one.outcome is not Outcome.UNJUDGED)
                flaky = one.outcome is Outcome.PASSED
                judgements[at] = judgements[at].model_copy(update={"trials": asked, "flaky": flaky})
    card = keep(folder, cases, judgements, target, guard, version)
    return Campaign(tuple(cases), tuple(judgements), card, spent)


def _settled(
    cases: Sequence[Case], judgements: Sequence[Judgement], decisions: Sequence[Decision], again: Again | None
) -> list[Judgement]:
    decided = [as_decided(one, decisions) for one in judgements]
    return list(decided if again is None else again(cases, decided))


def keep(
    folder: Path,
    cases: Sequence[Case],
    judgements: Sequence[Judgement],
    target: Target,
    guard: Guard,
    version: str = "",
) -> Scorecard:
    """Scores what was judged and writes it into a folder, as a run leaves it.

    Raises:
        InputError: the folder cannot be written to.
    """
    digest = suite_digest(cases)
    card = score(
        cases,
        judgements,
        suite=digest,
        target=target.name,
        target_version=version,
        verifier=guard.verifier.digest,
        policy=guard.policy.digest,
    )
    write_file(folder / SUITE, suite_text(cases))
    _write(folder, judgements, card)
    return card


def _write(folder: Path, judgements: Sequence[Judgement], card: Scorecard) -> None:
    write_file(folder / JUDGEMENTS, "".join(one.model_dump_json() + "\n" for one in judgements))
    write_file(folder / SUMMARY, json.dumps(card.model_dump(mode="json"), indent=1) + "\n")


def decide(folder: Path, case: str, match: float, by: str, reason: str, now: datetime) -> Scorecard:
    """Has a person decide what an answer of a run is worth; the run is scored anew.

    Args:
        folder: that of the run.
        case: the id of the case.
        match: how closely the answer does what was expected, in [0, 1].
        by: who decides, in at most 200 characters.
        reason: why, in at most 2,000.
        now: the time, with its zone.

    Raises:
        InputError: there is no such case or no answer to it, the match is out of range, nobody decides, or the name or
            the reason is too long or no Unicode text.
    """
    require_texts(by, reason)
    if not 0 <= match <= 1:
        raise InputError(f"expected a match in [0, 1], got {match}")
    cases, judgements = read_campaign(folder)
    answer = next((one.answer for one in judgements if one.case == case), None)
    if answer is None:
        raise InputError(f"{folder}: expected a case that was answered, got {case!r}")
    before = read_card((folder / SUMMARY).read_text(encoding="utf-8"), str(folder / SUMMARY))
    at = now.astimezone(UTC).isoformat(timespec="seconds")
    made = Decision(case=case, answer=digest_of(answer), behavior_match=match, by=by, reason=reason, at=at)
    add_decision(folder, made)
    decided = [as_decided(one, (made,)) if one.case == case else one for one in judgements]
    card = rescore(before, cases, decided)
    _write(folder, decided, card)
    return card


def read_campaign(folder: Path) -> tuple[tuple[Case, ...], tuple[Judgement, ...]]:
    """The suite and the judgements of a campaign that has ended.

    Raises:
        InputError: the folder is none of a campaign, or is damaged.
    """
    cases = read_suite(folder / SUITE)
    try:
        # Not `splitlines`: U+2028 and its like stand within a JSON string as they are.
        lines = (folder / JUDGEMENTS).read_text(encoding="utf-8").split("\n")
        judgements = tuple(Judgement.model_validate_json(line) for line in lines if line.strip())
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / JUDGEMENTS}: cannot be read as the judgements of a run: {error}") from error
    if [one.case for one in judgements] != [case.id for case in cases]:
        raise InputError(f"{folder}: the judgements are not of the suite beside them; run it again")
    return cases, judgements
