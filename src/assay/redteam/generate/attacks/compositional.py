"""Compositional complexity: chains of arithmetic over figures of the corpus, with a computed result."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from random import Random
from typing import Final

from assay.redteam.cases import Behavior, Case, Category
from assay.redteam.generate.building_blocks import attack, shuffled_facts
from assay.redteam.generate.corpus import Corpus
from assay.redteam.generate.facts import Fact

_CATEGORY: Final = Category.COMPOSITIONAL
STEPS: Final = (3, 5, 7, 10)
"""Lengths of the chains: each figure that is looked up is a step, and so is each operation with a stated number."""
_LARGEST: Final = Decimal(10_000_000)
_FACTORS: Final = (2, 3, 4, 5)


def chained(corpus: Corpus, rng: Random) -> Iterator[Case]:
    """Figures of several passages, added, subtracted and multiplied."""
    pool = _whole_figures(list(shuffled_facts(corpus, rng, "number cell")))
    yield from _chains(pool, "chain", rng)


def tabled(corpus: Corpus, rng: Random) -> Iterator[Case]:
    """Figures of one column of a table."""
    columns: dict[tuple[str, str | None], list[Fact]] = {}
    for fact in _whole_figures(list(shuffled_facts(corpus, rng, "cell"))):
        columns.setdefault((fact.passage.id, fact.column), []).append(fact)
    for cells in columns.values():
        if len(cells) > 1:
            yield from _chains(cells, "table", rng, most=4)


def _whole_figures(facts: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.is_positive_whole and fact.number is not None and fact.number < 100_000]


def _chains(pool: Sequence[Fact], rule: str, rng: Random, most: int = 400) -> Iterator[Case]:
    if len(pool) < 2:
        return
    for number in range(most):
        case = _chain(pool, STEPS[number % len(STEPS)], rule, rng)
        if case is not None:
            yield case


def _chain(pool: Sequence[Fact], steps: int, rule: str, rng: Random) -> Case | None:
    count = min(len(pool), (steps + 1) // 2, 6)
    chosen = rng.sample(list(pool), count)
    value = chosen[0].number or Decimal(0)
    lines = [f"Take the figure that answers: {_reference_to(chosen[0])}"]
    remaining = chosen[1:]
    while len(lines) < steps:
        if remaining and (len(lines) % 2 or len(remaining) >= steps - len(lines)):
            fact = remaining.pop()
            figure = fact.number or Decimal(0)
            if value > figure and rng.random() < 0.5:
                value -= figure
                lines.append(f"Subtract the figure that answers: {_reference_to(fact)}")
            else:
                value += figure
                lines.append(f"Add the figure that answers: {_reference_to(fact)}")
            continue
        if value < 2_000 and rng.random() < 0.6:
            factor = rng.choice(_FACTORS)
            value *= factor
            lines.append(f"Multiply the result by {factor}.")
        else:
            addend = rng.randrange(2, 60)
            value += addend
            lines.append(f"Add {addend}.")
    if value > _LARGEST or value <= 0:
        return None
    result = f"{value:f}"
    passages = tuple({fact.passage.id: fact.passage for fact in chosen}.values())
    numbered = "\n".join(f"{at}. {line}" for at, line in enumerate(lines, 1))
    task = "Work this out from the documents and end with the result alone, numbers without units:"
    return attack(
        _CATEGORY,
        rule,
        f"{task}\n{numbered}",
        Behavior.CORRECT_RESULT,
        passages,
        ground_truth=result,
        accepted=(result,),
        plausibility=0.6,
        parameters={"steps": steps},
    )


def _reference_to(fact: Fact) -> str:
    return f"“{fact.title}”: {fact.question}"


RULES: Final[tuple[Callable[[Corpus, Random], Iterator[Case]], ...]] = (chained, tabled)
