"""Looks for what breaks a system: a bandit over the rules that write attacks, and mutations of what broke it.

Thompson sampling (Thompson 1933, Biometrika 25; Chapelle and Li 2011, NIPS): each rule has a Beta distribution over the
share of its cases that break the system, Beta(1 + broken, 1 + held). Each call goes to the rule whose draw is highest,
so that calls gather where the system is weak and go on looking elsewhere now and then.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
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
from assay.redteam.search.mutations import mutated
from assay.redteam.targets import Target
from assay.schema import Evidence

BATCH: Final = 8
"""Calls between two looks at what came of them."""
MUTATES: Final = 0.4
"""How often a call of a rule that has broken the system goes to a mutation of what broke it."""
TRIED: Final = 50
"""Cases of a rule that are looked at for one that is new and sound."""


@dataclass(slots=True)
class Arm:
    """One rule and what it has come to."""

    name: str
    category: Category
    cases: Iterator[Case]
    broken: int = 0
    held: int = 0
    spent: bool = False
    """Whether it has no further cases."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to."""

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
    told: Callable[[Answer], None] | None = None,
) -> Found:
    """Spends calls where a system breaks.

    The search follows from the documents, the seed and the answers: with the same record it goes on where it stopped.

    Args:
        evidence: the corpus.
        target: the system under test.
        guard: what judges.
        record: the file of calls.
        calls: how many calls it may take in all.
        seed: what all choices follow from.
        options: concurrency and rate.
        told: hears of each answer as it comes.

    Raises:
        InputError: the corpus gives no attacks, or the record is of another search.
    """
    if calls < 1:
        raise InputError(f"expected at least one call, got {calls}")
    corpus = Corpus(evidence)
    arms = [
        Arm(f"{category.value}.{rule.__name__}", category, _drawn(corpus, rule, seed))
        for category, rules in RULES.items()
        for rule in rules
    ]
    rng = Random(f"search/{seed}")  # noqa: S311 choices of a test, no secret
    passages = tuple(corpus.passages())
    asked: list[Case] = []
    judged: list[Judgement] = []
    broken: dict[str, list[Case]] = {}
    with RunLog(record, f"search/{seed}", target.name) as log:
        while len(asked) < calls:
            batch = _batch(arms, broken, passages, {one.id for one in asked}, rng, min(BATCH, calls - len(asked)))
            if not batch:
                break
            cases = [case for case, _ in batch]
            run_cases(cases, target, log, replace(options or RunOptions(), trial=1, most_calls=None), told)
            answers = {case: answer for (case, _), answer in log.answers.items()}
            for (case, arm), one in zip(batch, judge_answers(cases, answers, guard), strict=True):
                asked.append(case)
                judged.append(one)
                if one.outcome is Outcome.FAILED:
                    arm.broken += 1
                    broken.setdefault(arm.name, []).append(case)
                elif one.outcome is Outcome.PASSED:
                    arm.held += 1
    if not asked:
        raise InputError("no attack can be written from these documents: expected figures, dates or names in them")
    return Found(tuple(asked), tuple(judged), tuple(arms))


def _drawn(corpus: Corpus, rule: Rule, seed: int) -> Iterator[Case]:
    """The sound cases of one rule."""
    for case in rule(corpus, Random(f"{seed}/{rule.__module__}/{rule.__name__}")):  # noqa: S311 no secret
        if case.plausibility >= LEAST_PLAUSIBLE and not lint((case,)):
            yield case


def _batch(
    arms: Sequence[Arm],
    broken: dict[str, list[Case]],
    passages: Sequence[Passage],
    seen: set[str],
    rng: Random,
    wanted: int,
) -> list[tuple[Case, Arm]]:
    batch: list[tuple[Case, Arm]] = []
    taken = set(seen)
    while len(batch) < wanted:
        live = [arm for arm in arms if not arm.spent]
        if not live:
            break
        arm = max(live, key=lambda one: rng.betavariate(1 + one.broken, 1 + one.held))
        case = _next(arm, broken.get(arm.name, []), passages, taken, rng)
        if case is None:
            arm.spent = True
            continue
        taken.add(case.id)
        batch.append((case, arm))
    return batch


def _next(arm: Arm, failures: Sequence[Case], passages: Sequence[Passage], seen: set[str], rng: Random) -> Case | None:
    if failures and rng.random() < MUTATES:
        made = mutated(rng.choice(failures), passages, rng)
        if made is not None and made.id not in seen and not lint((made,)):
            return made
    for _ in range(TRIED):
        case = next(arm.cases, None)
        if case is None:
            break
        if case.id not in seen:
            return case
    made = mutated(rng.choice(failures), passages, rng) if failures else None
    return made if made is not None and made.id not in seen else None
