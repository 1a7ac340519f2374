"""A campaign: a suite against a target, recorded, judged and scored; failures asked again where that is wanted."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from assay.errors import InputError
from assay.evaluation.rows import write_file
from assay.guard import Guard
from assay.redteam.cases import Case, read_suite, suite_digest, suite_text
from assay.redteam.judging import Judged, Judgement, Outcome, judge_answers
from assay.redteam.runs import Answer, RunLog, RunOptions, Spent, run_cases
from assay.redteam.scores import Scorecard, score
from assay.redteam.targets import Target

RECORD: Final = "run.jsonl"
"""The record of calls, in the folder of a campaign."""
JUDGEMENTS: Final = "judgements.jsonl"
SUITE: Final = "suite.jsonl"
SUMMARY: Final = "summary.json"


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
    told: Callable[[Answer], None] | None = None,
    judged: Judged | None = None,
) -> Campaign:
    """Runs, judges and scores a suite; what the folder already holds of the same suite and target is not run again.

    Args:
        cases: the suite.
        target: the system under test.
        guard: what judges.
        folder: where the record, the judgements and the summary are kept.
        options: concurrency, rate and budget of the run.
        reruns: how many more times a case that failed is asked. The score stays that of the first trial, since asking
            only failures again would raise it; a case that passes in another trial is marked flaky.
        version: the version of the target, as its owner declares it.
        told: hears of each answer as it comes.
        judged: who judges in place of the guard; see `judge_answers`.

    Raises:
        InputError: the folder is of another suite, target or version, or cannot be written to.
    """
    options = options or RunOptions()
    digest = suite_digest(cases)
    with RunLog(folder / RECORD, digest, target.name, version) as log:
        spent = run_cases(cases, target, log, options, told)
        first = {case: answer for (case, trial), answer in log.answers.items() if trial == 1}
        judgements = list(judge_answers(cases, first, guard, judged))
        for trial in range(2, 2 + reruns):
            failed = [at for at, one in enumerate(judgements) if one.outcome is Outcome.FAILED and not one.flaky]
            again = [cases[at] for at in failed]
            left = None if options.most_calls is None else max(0, options.most_calls - spent.calls)
            more = run_cases(again, target, log, replace(options, trial=trial, most_calls=left), told)
            spent = replace(more, calls=spent.calls + more.calls, kept=spent.kept, left=spent.left)
            answers = {case: answer for (case, number), answer in log.answers.items() if number == trial}
            for at, one in zip(failed, judge_answers(again, answers, guard, judged), strict=True):
                asked = judgements[at].trials + (one.outcome is not Outcome.UNJUDGED)
                flaky = one.outcome is Outcome.PASSED
                judgements[at] = judgements[at].model_copy(update={"trials": asked, "flaky": flaky})
    card = keep(folder, cases, judgements, target, guard, version)
    return Campaign(tuple(cases), tuple(judgements), card, spent)


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
    write_file(folder / JUDGEMENTS, "".join(one.model_dump_json() + "\n" for one in judgements))
    write_file(folder / SUMMARY, json.dumps(card.model_dump(mode="json"), indent=1) + "\n")
    return card


def read_campaign(folder: Path) -> tuple[tuple[Case, ...], tuple[Judgement, ...]]:
    """The suite and the judgements of a campaign that has ended.

    Raises:
        InputError: the folder is none of a campaign, or is damaged.
    """
    cases = read_suite(folder / SUITE)
    try:
        lines = (folder / JUDGEMENTS).read_text(encoding="utf-8").splitlines()
        judgements = tuple(Judgement.model_validate_json(line) for line in lines)
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / JUDGEMENTS}: cannot be read as the judgements of a run: {error}") from error
    if [one.case for one in judgements] != [case.id for case in cases]:
        raise InputError(f"{folder}: the judgements are not of the suite beside them; run it again")
    return cases, judgements
