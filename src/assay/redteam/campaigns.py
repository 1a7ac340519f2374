"""A campaign: one run of a suite against a target, recorded, judged and scored; failed cases may be asked again."""

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from assay.errors import InputError
from assay.evaluation.rows import write_file
from assay.guard import Guard
from assay.redteam.cases import Case, read_suite, suite_digest, suite_text
from assay.redteam.judging import ChunkJudge, Judgement, Outcome, judge_answers
from assay.redteam.judging.decisions import Decision, add_decision, as_decided, digest_of, read_decisions, require_texts
from assay.redteam.runs import Answer, RunLog, RunOptions, RunUsage, run_cases
from assay.redteam.scores import Scorecard, read_card, rescore, score
from assay.redteam.targets import Target

RECORD: Final = "run.jsonl"
"""The file of calls in the folder of a campaign."""
JUDGEMENTS: Final = "judgements.jsonl"
"""The file of judgements, one a line in the order of the suite."""
SUITE: Final = "suite.jsonl"
"""The file of the cases that were run."""
SUMMARY: Final = "summary.json"
"""The file of the scorecard."""


Adjudicator = Callable[[Sequence[Case], Sequence[Judgement]], Sequence[Judgement]]
"""Settles judgements that are unsure: takes the suite and its judgements, returns the judgements in the same order."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """The result of a run."""

    cases: tuple[Case, ...]
    judgements: tuple[Judgement, ...]
    """One for each case, in the order of the suite."""
    card: Scorecard
    spent: RunUsage
    """The calls and tokens that it took."""


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
    judged: ChunkJudge | None = None,
    again: Adjudicator | None = None,
    only: Collection[str] | None = None,
) -> Campaign:
    """Runs, judges and scores a suite. Answers that the folder already holds are reused.

    Args:
        cases: the suite.
        target: the system under test.
        guard: the guard that judges the answers.
        folder: where the record, the judgements and the summary are kept.
        options: concurrency, rate and budget of the run, including its reruns.
        reruns: how often a failed case is asked again. The score stays that of the first trial, since repeating only
            failures would raise it; a case that passes in a later trial is marked flaky.
        version: the version of the target, as its owner declares it.
        on_answer: called with each answer as it arrives.
        judged: judges in place of the guard; see `judge_answers`.
        again: settles judgements that are unsure (`assay.redteam.judging.adjudication`). Decisions that people made on
            answers of this folder (`decide`) take precedence.
        only: the ids of the cases that may be asked; by default all. The others count as left, for a later run.

    Raises:
        InputError: the folder belongs to another suite, target or version, or cannot be written to.
    """
    options = options or RunOptions()
    digest = suite_digest(cases)
    deadline = None if options.most_seconds is None else time.monotonic() + options.most_seconds
    with RunLog(folder / RECORD, digest, target.name, version) as log:
        to_ask = [case for case in cases if only is None or case.id in only]
        spent = run_cases(to_ask, target, log, options, on_answer)
        spent = replace(spent, left=spent.left + len(cases) - len(to_ask))
        first_answers = {case: answer for (case, trial), answer in log.answers.items() if trial == 1}
        judgements = _adjudicated(
            cases, list(judge_answers(cases, first_answers, guard, judged)), read_decisions(folder), again
        )
        for trial in range(2, 2 + reruns):
            failed_at = [
                at
                for at, judgement in enumerate(judgements)
                if judgement.outcome is Outcome.FAILED and not judgement.flaky
            ]
            retried = [cases[at] for at in failed_at]
            calls_left = None if options.most_calls is None else max(0, options.most_calls - spent.calls)
            seconds_left = None if deadline is None else max(0.0, deadline - time.monotonic())
            trial_options = replace(options, trial=trial, most_calls=calls_left, most_seconds=seconds_left)
            trial_usage = run_cases(retried, target, log, trial_options, on_answer)
            spent = replace(trial_usage, calls=spent.calls + trial_usage.calls, kept=spent.kept, left=spent.left)
            answers = {case: answer for (case, number), answer in log.answers.items() if number == trial}
            for at, judgement in zip(failed_at, judge_answers(retried, answers, guard, judged), strict=True):
                trials = judgements[at].trials + (judgement.outcome is not Outcome.UNJUDGED)
                flaky = judgement.outcome is Outcome.PASSED
                judgements[at] = judgements[at].model_copy(update={"trials": trials, "flaky": flaky})
    card = keep(folder, cases, judgements, target, guard, version)
    return Campaign(tuple(cases), tuple(judgements), card, spent)


def _adjudicated(
    cases: Sequence[Case],
    judgements: Sequence[Judgement],
    decisions: Sequence[Decision],
    adjudicate: Adjudicator | None,
) -> list[Judgement]:
    decided = [as_decided(judgement, decisions) for judgement in judgements]
    return list(decided if adjudicate is None else adjudicate(cases, decided))


def keep(
    folder: Path,
    cases: Sequence[Case],
    judgements: Sequence[Judgement],
    target: Target,
    guard: Guard,
    version: str = "",
) -> Scorecard:
    """Scores judgements and writes the suite, the judgements and the summary into a folder.

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
    _write_results(folder, judgements, card)
    return card


def _write_results(folder: Path, judgements: Sequence[Judgement], card: Scorecard) -> None:
    write_file(folder / JUDGEMENTS, "".join(judgement.model_dump_json() + "\n" for judgement in judgements))
    write_file(folder / SUMMARY, json.dumps(card.model_dump(mode="json"), indent=1) + "\n")


def decide(folder: Path, case: str, match: float, by: str, reason: str, now: datetime) -> Scorecard:
    """Records a person's decision on one answer of a run and recomputes the scores.

    Args:
        folder: the folder of the run.
        case: the id of the case.
        match: how closely the answer does what was expected, in [0, 1].
        by: the name of the person who decides, at most 200 characters.
        reason: why, at most 2,000 characters.
        now: the current time, with its time zone.

    Raises:
        InputError: the folder cannot be read, there is no such case or no answer to it, the match is out of range, the
            name is blank, or the name or the reason is too long or not Unicode text.
    """
    require_texts(by, reason)
    if not 0 <= match <= 1:
        raise InputError(f"expected a match in [0, 1], got {match}")
    cases, judgements = read_campaign(folder)
    answer = next((judgement.answer for judgement in judgements if judgement.case == case), None)
    if answer is None:
        raise InputError(f"{folder}: expected a case that was answered, got {case!r}")
    try:
        summary = (folder / SUMMARY).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{folder / SUMMARY}: cannot be read as the summary of a run: {error}") from error
    previous_card = read_card(summary, str(folder / SUMMARY))
    decided_at = now.astimezone(UTC).isoformat(timespec="seconds")
    decision = Decision(case=case, answer=digest_of(answer), behavior_match=match, by=by, reason=reason, at=decided_at)
    add_decision(folder, decision)
    decided = [as_decided(judgement, (decision,)) if judgement.case == case else judgement for judgement in judgements]
    card = rescore(previous_card, cases, decided)
    _write_results(folder, decided, card)
    return card


def read_campaign(folder: Path) -> tuple[tuple[Case, ...], tuple[Judgement, ...]]:
    """Reads the suite and the judgements of a campaign that has ended.

    Raises:
        InputError: the folder holds no campaign, or is damaged.
    """
    cases = read_suite(folder / SUITE)
    try:
        # Not `splitlines`: a JSON string may contain U+2028 and other line separators unescaped.
        lines = (folder / JUDGEMENTS).read_text(encoding="utf-8").split("\n")
        judgements = tuple(Judgement.model_validate_json(line) for line in lines if line.strip())
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / JUDGEMENTS}: cannot be read as the judgements of a run: {error}") from error
    if [judgement.case for judgement in judgements] != [case.id for case in cases]:
        raise InputError(f"{folder}: the judgements are not of the suite beside them; run it again")
    return cases, judgements
