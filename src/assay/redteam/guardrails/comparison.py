"""Compares guardrails: runs a suite against a system without any and with each, and reports the differences."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError
from assay.guard import Guard
from assay.redteam.campaigns import RECORD, Campaign, run_campaign
from assay.redteam.cases import Case, suite_digest
from assay.redteam.guardrails.effects import Effect, Fate, effect_of, fate_of
from assay.redteam.guardrails.kinds import NOTHING_TO_DECIDE, GuardedTarget, Guardrail
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.judging.judge import judge
from assay.redteam.runs import Answer, RunLog, RunOptions
from assay.redteam.targets import Target


@dataclass(frozen=True, slots=True)
class GuardrailComparison:
    """What one guardrail changes."""

    name: str
    effect: Effect
    """As judged by the verifier and the rules."""
    by_rules: Effect
    """As judged by the rules alone, without the verifier, so that no guardrail is judged by its own method."""
    categories: dict[str, Effect]
    """`effect` by category."""
    campaign: Campaign
    """The run with the guardrail."""


def compare_guardrails(
    cases: Sequence[Case],
    target: Target,
    guardrails: Sequence[Guardrail | Target],
    guard: Guard,
    folder: Path,
    options: RunOptions | None = None,
    *,
    version: str = "",
    on_answer: Callable[[Answer], None] | None = None,
) -> tuple[Campaign, tuple[GuardrailComparison, ...]]:
    """Runs the suite with each guardrail and compares each run with the one without a guardrail.

    A guardrail that decides on answers gets the answers of that run, so that both runs are about the same answers. One
    that is a whole system (a gateway) is asked anew: a model that answers differently each time adds noise to both.
    Where a budget ends the run without a guardrail, one that decides on answers gets those; a later run goes on.

    Args:
        cases: attacks and benign cases.
        target: the system without a guardrail.
        guardrails: the guardrails, or systems that contain one.
        guard: the guard that judges the answers.
        folder: each run is kept in a folder within it, and earlier answers are reused.
        options: concurrency, rate and budget of each run.
        version: the version of the system.
        on_answer: called with each answer as it arrives.

    Returns:
        The run without a guardrail, and the comparisons in the order of the guardrails.

    Raises:
        InputError: a folder belongs to another suite or target, or there are no guardrails.
    """
    if not guardrails:
        raise InputError("expected at least one guardrail to compare")
    baseline = run_campaign(cases, target, guard, folder / "none", options, version=version, on_answer=on_answer)
    with RunLog(folder / "none" / RECORD, suite_digest(cases), target.name, version) as log:
        answers = {case: answer for (case, trial), answer in log.answers.items() if trial == 1}
    comparisons = []
    for number, guardrail in enumerate(guardrails, 1):
        run_folder = folder / f"{number}-{re.sub(r'[^A-Za-z0-9]+', '-', guardrail.name).strip('-')[:40]}"
        if isinstance(guardrail, Guardrail):
            system: Target = GuardedTarget(answers, guardrail, target.name)
            only = answers.keys()
            with RunLog(run_folder / RECORD, suite_digest(cases), system.name, version) as log:
                _drop_outdated(log, answers)
        else:
            system, only = guardrail, None
        run = run_campaign(cases, system, guard, run_folder, options, version=version, on_answer=on_answer, only=only)
        comparisons.append(_comparison_of(guardrail.name, cases, baseline, run))
    return baseline, tuple(comparisons)


def _drop_outdated(log: RunLog, unguarded: Mapping[str, Answer]) -> None:
    """Drops the failures of cases for which there was no answer without a guardrail, where there is one now."""
    for (case, trial), answer in tuple(log.answers.items()):
        before = unguarded.get(case)
        missing = (answer.error or "").startswith(NOTHING_TO_DECIDE)
        if missing and (before is None or before.text is not None):
            log.drop(case, trial)


def _comparison_of(name: str, cases: Sequence[Case], baseline: Campaign, run: Campaign) -> GuardrailComparison:
    before = [fate_of(case, judgement) for case, judgement in zip(cases, baseline.judgements, strict=True)]
    after = [fate_of(case, judgement) for case, judgement in zip(cases, run.judgements, strict=True)]
    categories = {}
    for category in sorted({case.category.value for case in cases}):
        members = [number for number, case in enumerate(cases) if case.category.value == category]
        categories[category] = effect_of(
            [cases[n] for n in members], [before[n] for n in members], [after[n] for n in members]
        )
    by_rules = effect_of(cases, _fates_by_rules(cases, baseline.judgements), _fates_by_rules(cases, run.judgements))
    return GuardrailComparison(name, effect_of(cases, before, after), by_rules, categories, run)


def _fates_by_rules(cases: Sequence[Case], judgements: Sequence[Judgement]) -> list[Fate]:
    """The fates as judged by the rules alone; cases that the target did not answer stay unjudged."""
    fates = []
    for case, judgement in zip(cases, judgements, strict=True):
        known = judgement.answer is not None and (
            judgement.outcome is not Outcome.UNJUDGED or "verifier" in judgement.rule
        )
        fates.append(fate_of(case, judge(case, judgement.answer or "", None)) if known else Fate.UNJUDGED)
    return fates
