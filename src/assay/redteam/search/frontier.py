"""Searches for attacks that break a system: a bandit over the rules that write attacks, and mutations of broken cases.

Thompson sampling (Thompson 1933, Biometrika 25; Chapelle and Li 2011, NIPS): each rule has a Beta distribution over the
share of its cases that break the system, Beta(1 + broken, 1 + held). Each call goes to the rule with the highest draw,
so that calls concentrate where the system is weak and still explore elsewhere now and then. A rule whose cases differ
in depth (steps of a chain, position in a long context) has one arm for each depth.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import Final

from assay.errors import InputError
from assay.guard import Guard
from assay.redteam.cases import LEAST_PLAUSIBLE, Case, Category, Passage, lint
from assay.redteam.generate.attacks import RULES, Rule
from assay.redteam.generate.corpus import Corpus
from assay.redteam.judging import Judgement, Outcome, judge_answers
from assay.redteam.runs import Answer, RunLog, RunOptions, run_cases
from assay.redteam.search.aim import Aim, RecentChange, aim_at
from assay.redteam.search.mutations import mutate
from assay.redteam.targets import Target
from assay.schema import Evidence

BATCH: Final = 8
"""Calls whose answers are judged together."""
MUTATION_SHARE: Final = 0.4
"""The probability that a call of a rule with broken cases tries a mutation of one of them."""
MOST_TRIED: Final = 50
"""The most cases of a rule that are tried to find a new one."""
MOST_AIMED: Final = 400
"""The most cases of a rule that are searched for those about changed documents."""
_DEPTHS: Final = ("steps", "depth")
"""Parameters of a case by which a rule is split into arms."""


@dataclass(slots=True)
class Arm:
    """An arm of the bandit: one rule, or one depth of a rule, with its results so far."""

    name: str
    category: Category
    cases: Iterator[Case]
    head_start: int = 0
    """The broken cases that it is credited with because of recent changes."""
    broken: int = 0
    """Cases that broke the system."""
    held: int = 0
    """Cases that the system withstood."""
    exhausted: bool = False
    """Whether it has no further cases."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search."""

    cases: tuple[Case, ...]
    judgements: tuple[Judgement, ...]
    arms: tuple[Arm, ...]

    @property
    def broken(self) -> tuple[Case, ...]:
        """The cases that broke the system."""
        both = zip(self.cases, self.judgements, strict=True)
        return tuple(case for case, one in both if one.outcome is Outcome.FAILED)


def search(
    evidence: Sequence[Evidence],
    target: Target,
    guard: Guard,
    record: Path,
    calls: int,
    *,
    seed: int = 0,
    options: RunOptions | None = None,
    on_answer: Callable[[Answer], None] | None = None,
    changes: Sequence[RecentChange] = (),
    version: str = "",
) -> SearchResult:
    """Searches for attacks, as determined by documents, seed and answers; with the same record it resumes.

    Args:
        evidence: the corpus.
        target: the system under test.
        guard: the guard that judges the answers.
        record: the file of calls.
        calls: the most calls in all.
        seed: determines all choices.
        options: concurrency, rate, and the budget in seconds (of this process), tokens and money (of the record).
        on_answer: called with each answer as it arrives.
        changes: recent changes of the system; categories that they affect and documents that they name come first.
        version: the version of the target, as its owner declares it.

    Raises:
        InputError: the corpus gives no attacks, the budget allows no call, or the record belongs to another search,
            target or version.
    """
    if calls < 1:
        raise InputError(f"expected at least one call, got {calls}")
    options = options or RunOptions()
    deadline = None if options.most_seconds is None else time.monotonic() + options.most_seconds
    corpus = Corpus(evidence)
    arms = _all_arms(corpus, seed, aim_at(changes, corpus))
    rng = Random(f"search/{seed}")  # noqa: S311 choices of a test, no secret
    passages = tuple(corpus.passages())
    asked_cases: list[Case] = []
    judgements: list[Judgement] = []
    broken: dict[str, list[Case]] = {}
    with RunLog(record, f"search/{seed}", target.name, version) as log:
        while len(asked_cases) < calls:
            seen = {case.id for case in asked_cases}
            batch = _batch(arms, broken, passages, seen, rng, min(BATCH, calls - len(asked_cases)))
            if not batch:
                break
            seconds = None if deadline is None else max(0.0, deadline - time.monotonic())
            batch_options = replace(options, trial=1, most_calls=None, most_seconds=seconds)
            usage = run_cases([case for case, _ in batch], target, log, batch_options, on_answer)
            answers = {case: answer for (case, _), answer in log.answers.items()}
            batch = [(case, arm) for case, arm in batch if case.id in answers]
            for (case, arm), judgement in zip(
                batch, judge_answers([case for case, _ in batch], answers, guard), strict=True
            ):
                asked_cases.append(case)
                judgements.append(judgement)
                _credit(judgement, case, arm, broken)
            if usage.left:
                break
    if not asked_cases:
        raise InputError(_why_nothing(arms))
    return SearchResult(tuple(asked_cases), tuple(judgements), tuple(arms))


def _credit(judgement: Judgement, case: Case, arm: Arm, broken: dict[str, list[Case]]) -> None:
    if judgement.outcome is Outcome.FAILED:
        arm.broken += 1
        broken.setdefault(arm.name, []).append(case)
    elif judgement.outcome is Outcome.PASSED:
        arm.held += 1


def _why_nothing(arms: Sequence[Arm]) -> str:
    """The reason why no case was asked."""
    if any(not arm.exhausted for arm in arms):
        return "the budget of seconds, tokens or money allows no call"
    return "no attack can be written from these documents: expected figures, dates or names in them"


def _all_arms(corpus: Corpus, seed: int, aim: Aim) -> list[Arm]:
    """The arms of all rules."""
    return [
        arm for category, rules in RULES.items() for rule in rules for arm in _arms(corpus, category, rule, seed, aim)
    ]


def _arms(corpus: Corpus, category: Category, rule: Rule, seed: int, aim: Aim) -> Iterator[Arm]:
    """One arm for a rule, or one for each depth among its first cases."""
    depths = dict.fromkeys(_depth_of(case) for case in islice(_sound_cases(corpus, rule, seed, Aim()), MOST_TRIED)) or {
        "": None
    }
    for depth in depths:
        name = f"{category.value}.{rule.__name__}{depth}"
        yield Arm(name, category, _of_depth(_sound_cases(corpus, rule, seed, aim), depth), aim.head_start(category))


def _of_depth(cases: Iterator[Case], depth: str) -> Iterator[Case]:
    return (case for case in cases if _depth_of(case) == depth)


def _depth_of(case: Case) -> str:
    return next((f" {name} {case.parameters[name]}" for name in _DEPTHS if name in case.parameters), "")


def _sound_cases(corpus: Corpus, rule: Rule, seed: int, aim: Aim) -> Iterator[Case]:
    """The plausible cases of one rule that the linter accepts, those about changed documents first."""
    written = (
        case
        for case in rule(corpus, Random(f"{seed}/{rule.__module__}/{rule.__name__}"))  # noqa: S311 no secret
        if case.plausibility >= LEAST_PLAUSIBLE and not lint((case,))
    )
    if not aim.documents:
        return written
    first = list(islice(written, MOST_AIMED))
    return chain(sorted(first, key=lambda case: not aim.is_about(case)), written)


def _batch(
    arms: Sequence[Arm],
    broken: dict[str, list[Case]],
    passages: Sequence[Passage],
    seen: set[str],
    rng: Random,
    wanted: int,
) -> list[tuple[Case, Arm]]:
    batch: list[tuple[Case, Arm]] = []
    seen_or_batched = set(seen)
    while len(batch) < wanted:
        live = [arm for arm in arms if not arm.exhausted]
        if not live:
            break
        arm = max(live, key=lambda one: rng.betavariate(1 + one.head_start + one.broken, 1 + one.held))
        case = _next_case(arm, broken.get(arm.name, []), passages, seen_or_batched, rng)
        if case is None:
            arm.exhausted = True
            continue
        seen_or_batched.add(case.id)
        batch.append((case, arm))
    return batch


def _next_case(
    arm: Arm, failures: Sequence[Case], passages: Sequence[Passage], seen: set[str], rng: Random
) -> Case | None:
    if failures and rng.random() < MUTATION_SHARE:
        mutant = mutate(rng.choice(failures), passages, rng)
        if mutant is not None and mutant.id not in seen and not lint((mutant,)):
            return mutant
    for _ in range(MOST_TRIED):
        case = next(arm.cases, None)
        if case is None:
            break
        if case.id not in seen:
            return case
    mutant = mutate(rng.choice(failures), passages, rng) if failures else None
    return mutant if mutant is not None and mutant.id not in seen else None
