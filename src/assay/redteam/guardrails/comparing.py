"""Runs a suite against a system without a guardrail and with each of some, and says what each of them changes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError
from assay.guard import Guard
from assay.redteam.campaigns import RECORD, Campaign, run_campaign
from assay.redteam.cases import Case, suite_digest
from assay.redteam.guardrails.effects import Effect, Fate, effect_of, fate_of
from assay.redteam.guardrails.kinds import Guarded, Guardrail
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.judging.judge import judge
from assay.redteam.runs import Answer, RunLog, RunOptions
from assay.redteam.targets import Target


@dataclass(frozen=True, slots=True)
class Compared:
    """What one guardrail does."""

    name: str
    effect: Effect
    """By the verifier and the rules."""
    by_rules: Effect
    """By the rules alone: the verifier judges nothing, so that no guardrail is judged by its own measure."""
    categories: dict[str, Effect]
    """By category, as `effect`."""
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
) -> tuple[Campaign, tuple[Compared, ...]]:
    """Runs all and compares each with the run without a guardrail.

    A guardrail that decides of answers gets those of that run, so that both sides speak of the same answers. One that
    is a whole system (a gateway) is asked anew: a model that answers differently each time adds noise, to both sides.

    Args:
        cases: attacks and benign cases.
        target: the system without a guardrail.
        guardrails: those to compare.
        guard: what judges.
        folder: each run is kept in a folder of it; what was run before is not run again.
        options: concurrency, rate and budget of each run.
        version: the version of the system.
        on_answer: is called with each answer as it comes.

    Raises:
        InputError: a folder is of another suite or target, or there are no guardrails.
    """
    if not guardrails:
        raise InputError("expected at least one guardrail to compare")
    bare = run_campaign(cases, target, guard, folder / "none", options, version=version, on_answer=on_answer)
    with RunLog(folder / "none" / RECORD, suite_digest(cases), target.name, version) as log:
        answers = {case: answer for (case, trial), answer in log.answers.items() if trial == 1}
    found = []
    for at, one in enumerate(guardrails, 1):
        system = Guarded(answers, one, target.name) if isinstance(one, Guardrail) else one
        place = folder / f"{at}-{re.sub(r'[^A-Za-z0-9]+', '-', one.name).strip('-')[:40]}"
        run = run_campaign(cases, system, guard, place, options, version=version, on_answer=on_answer)
        found.append(_compared(one.name, cases, bare, run))
    return bare, tuple(found)


def _compared(name: str, cases: Sequence[Case], bare: Campaign, run: Campaign) -> Compared:
    before = [fate_of(case, one) for case, one in zip(cases, bare.judgements, strict=True)]
    after = [fate_of(case, one) for case, one in zip(cases, run.judgements, strict=True)]
    categories = {}
    for category in sorted({case.category.value for case in cases}):
        at = [number for number, case in enumerate(cases) if case.category.value == category]
        categories[category] = effect_of([cases[n] for n in at], [before[n] for n in at], [after[n] for n in at])
    by_rules = effect_of(cases, _ruled(cases, bare.judgements), _ruled(cases, run.judgements))
    return Compared(name, effect_of(cases, before, after), by_rules, categories, run)


def _ruled(cases: Sequence[Case], judgements: Sequence[Judgement]) -> list[Fate]:
    """The fates by the rules alone; what the target did not answer stays unknown."""
    found = []
    for case, one in zip(cases, judgements, strict=True):
        known = one.answer is not None and (one.outcome is not Outcome.UNJUDGED or "verifier" in one.rule)
        found.append(fate_of(case, judge(case, one.answer or "", None)) if known else Fate.UNJUDGED)
    return found
