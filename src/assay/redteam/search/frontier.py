"""Looks for what breaks a system: a bandit over the rules that write attacks, and mutations of what broke it.

Thompson sampling (Thompson 1933, Biometrika 25; Chapelle and Li 2011, NIPS): each rule has a Beta distribution over the
share of its cases that break the system, Beta(1 + broken, 1 + held). Each call goes to the rule whose draw is highest,
so that calls gather where the system is weak and go on looking elsewhere now and then. A rule whose cases differ in
depth (steps of a chain, place in a long context) is one arm for each depth.
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
from assay.redteam.search.aiming import Aim, Changed, aim_at
from assay.redteam.search.mutations import mutated
from assay.redteam.targets import Target
from assay.schema import Evidence

BATCH: Final = 8
"""Calls between two looks at what came of them."""
MUTATES: Final = 0.4
"""How often a call of a rule that has broken the system goes to a mutation of what broke it."""
TRIED: Final = 50
"""Cases of a rule that are looked at for one that is new and sound."""
LOOKED_THROUGH: Final = 400
"""Cases of a rule that are looked through for those about a document that was changed."""
_DEPTHS: Final = ("steps", "depth")
"""Parameters of a case by which a rule is split into arms."""


@dataclass(slots=True)
class Arm:
    """One rule, or one depth of it, and what it has come to."""

    name: str
    category: Category
    cases: Iterator[Case]
    head_start: int = 0
    """Broken cases that it is credited with because of what was changed."""
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
    on_answer: Callable[[Answer], None] | None = None,
    changes: Sequence[Changed] = (),
    version: str = "",
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
        options: concurrency, rate and the budget in seconds (of this process), tokens and money (of the record).
        on_answer: is called with each answer as it comes.
        changes: what was changed in the system lately: categories that it touches and documents that it names come
            first.
        version: the version of the target, as its owner declares it.

    Raises:
        InputError: the corpus gives no attacks, the budget allows no call, or the record is of another search, target
            or version.
    """
    if calls < 1:
        raise InputError(f"expected at least one call, got {calls}")
    options = options or RunOptions()
    until = None if options.most_seconds is None else time.monotonic() + options.most_seconds
    corpus = Corpus(evidence)
    aim = aim_at(changes, corpus)
    arms = [
        arm for category, rules in RULES.items() for rule in rules for arm in _arms(corpus, category, rule, seed, aim)
    ]
    rng = Random(f"search/{seed}")  # noqa: S311 choices of a test, no secret
    passages = tuple(corpus.passages())
    asked: list[Case] = []
    judged: list[Judgement] = []
    broken: dict[str, list[Case]] = {}
    with RunLog(record, f"search/{seed}", target.name, version) as log:
        while len(asked) < calls:
            batch = _batch(arms, broken, passages, {one.id for one in asked}, rng, min(BATCH, calls - len(asked)))
            if not batch:
                break
            seconds = None if until is None else max(0.0, until - time.monotonic())
            within = replace(options, trial=1, most_calls=None, most_seconds=seconds)
            spent = run_cases([case for case, _ in batch], target, log, within, on_answer)
            answers = {case: answer for (case, _), answer in log.answers.items()}
            batch = [(case, arm) for case, arm in batch if case.id in answers]
            cases = [case for case, _ in batch]
            for (case, arm), one in zip(batch, judge_answers(cases, answers, guard), strict=True):
                asked.append(case)
                judged.append(one)
                _count(one, case, arm, broken)
            if spent.left:
                break
    if not asked:
        raise InputError(_nothing(arms))
    return Found(tuple(asked), tuple(judged), tuple(arms))


def _count(one: Judgement, case: Case, arm: Arm, broken: dict[str, list[Case]]) -> None:
    if one.outcome is Outcome.FAILED:
        arm.broken += 1
        broken.setdefault(arm.name, []).append(case)
    elif one.outcome is Outcome.PASSED:
        arm.held += 1


def _nothing(arms: Sequence[Arm]) -> str:
    """Why nothing was asked."""
    if any(not arm.spent for arm in arms):
        return "the budget of seconds, tokens or money allows no call"
    return "no attack can be written from these documents: expected figures, dates or names in them"


def _arms(corpus: Corpus, category: Category, rule: Rule, seed: int, aim: Aim) -> Iterator[Arm]:
    """A rule as one arm, or as one for each depth that its first cases have."""
    depths = dict.fromkeys(_depth_of(case) for case in islice(_drawn(corpus, rule, seed, Aim()), TRIED)) or {"": None}
    for depth in depths:
        name = f"{category.value}.{rule.__name__}{depth}"
        yield Arm(name, category, _of_depth(_drawn(corpus, rule, seed, aim), depth), aim.head_start(category))


def _of_depth(cases: Iterator[Case], depth: str) -> Iterator[Case]:
    return (case for case in cases if _depth_of(case) == depth)


def _depth_of(case: Case) -> str:
    return next((f" {name} {case.parameters[name]}" for name in _DEPTHS if name in case.parameters), "")


def _drawn(corpus: Corpus, rule: Rule, seed: int, aim: Aim) -> Iterator[Case]:
    """The sound cases of one rule, those about documents that were changed first."""
    written = (
        case
        for case in rule(corpus, Random(f"{seed}/{rule.__module__}/{rule.__name__}"))  # noqa: S311 no secret
        if case.plausibility >= LEAST_PLAUSIBLE and not lint((case,))
    )
    if not aim.documents:
        return written
    first = list(islice(written, LOOKED_THROUGH))
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
    taken = set(seen)
    while len(batch) < wanted:
        live = [arm for arm in arms if not arm.spent]
        if not live:
            break
        arm = max(live, key=lambda one: rng.betavariate(1 + one.head_start + one.broken, 1 + one.held))
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
