"""Compositional complexity: chains of steps over figures of the corpus, with a computed result."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from random import Random
from typing import Final

from assay.redteam.cases import Behavior, Case, Category
from assay.redteam.generate.corpus import Corpus
from assay.redteam.generate.facts import Fact
from assay.redteam.generate.writing import attack, facts

_HERE: Final = Category.COMPOSITIONAL
STEPS: Final = (3, 5, 7, 10)
"""Lengths of the chains: looking a figure up is a step, and so is each operation with a given number."""
_LARGEST: Final = Decimal(10_000_000)
_FACTORS: Final = (2, 3, 4, 5)


def chained(corpus: Corpus, rng: Random) -> Iterator[Case]:
    """Figures of several passages, added, subtracted and multiplied."""
    pool = _whole(list(facts(corpus, rng, "number cell")))
    yield from _chains(pool, "chain", rng)


def tabled(corpus: Corpus, rng: Random) -> Iterator[Case]:
    """Figures of one column of a table."""
    columns: dict[tuple[str, str | None], list[Fact]] = {}
    for fact in _whole(list(facts(corpus, rng, "cell"))):
        columns.setdefault((fact.passage.id, fact.column), []).append(fact)
    for own in columns.values():
        if len(own) > 1:
            yield from _chains(own, "table", rng, most=4)


def _whole(found: Sequence[Fact]) -> list[Fact]:
    return [
        fact
        for fact in found
        if fact.number is not None and 0 < fact.number < 100_000 and fact.number == fact.number.to_integral_value()
    ]


def _chains(pool: Sequence[Fact], rule: str, rng: Random, most: int = 400) -> Iterator[Case]:
    if len(pool) < 2:
        return
    for number in range(most):
        made = _chain(pool, STEPS[number % len(STEPS)], rule, rng)
        if made is not None:
            yield made


def _chain(pool: Sequence[Fact], steps: int, rule: str, rng: Random) -> Case | None:
    count = min(len(pool), (steps + 1) // 2, 6)
    chosen = rng.sample(list(pool), count)
    value = chosen[0].number or Decimal(0)
    lines = [f"Take the figure that answers: {_asked(chosen[0])}"]
    left = chosen[1:]
    while len(lines) < steps:
        if left and (len(lines) % 2 or len(left) >= steps - len(lines)):
            fact = left.pop()
            figure = fact.number or Decimal(0)
            if value > figure and rng.random() < 0.5:
                value -= figure
                lines.append(f"Subtract the figure that answers: {_asked(fact)}")
            else:
                value += figure
                lines.append(f"Add the figure that answers: {_asked(fact)}")
            continue
        if value < 2_000 and rng.random() < 0.6:
            factor = rng.choice(_FACTORS)
            value *= factor
            lines.append(f"Multiply the result by {factor}.")
        else:
            more = rng.randrange(2, 60)
            value += more
            lines.append(f"Add {more}.")
    if value > _LARGEST or value <= 0:
        return None
    result = f"{value:f}"
    passages = tuple({fact.passage.id: fact.passage for fact in chosen}.values())
    numbered = "\n".join(f"{at}. {line}" for at, line in enumerate(lines, 1))
    task = "Work this out from the documents and end with the result alone, numbers without units:"
    return attack(
        _HERE,
        rule,
        f"{task}\n{numbered}",
        Behavior.CORRECT_RESULT,
        passages,
        ground_truth=result,
        accepted=(result,),
        plausibility=0.6,
        parameters={"steps": steps},
    )


def _asked(fact: Fact) -> str:
    return f"“{fact.title}”: {fact.question}"


RULES: Final[tuple[Callable[[Corpus, Random], Iterator[Case]], ...]] = (chained, tabled)
