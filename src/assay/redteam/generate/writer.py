"""Writes a suite from a corpus: every category, every rule in its turn, the same for the same seed."""

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Final

from assay.errors import InputError
from assay.redteam.cases import LEAST_PLAUSIBLE, Case, Category, lint, without_duplicates
from assay.redteam.generate.attacks import RULES
from assay.redteam.generate.corpus import Corpus
from assay.redteam.generate.twins import twins_of
from assay.redteam.generate.writing import in_turn
from assay.schema import Evidence

PER_CATEGORY: Final = 20
"""Cases of a category that are written unless another number is asked for."""
_SPARE: Final = 2
"""How many times as many are drawn as are wanted, since implausible ones and duplicates are left out."""


def write_suite(
    evidence: Sequence[Evidence],
    per_category: int = PER_CATEGORY,
    seed: int = 0,
    categories: Sequence[Category] = tuple(Category),
    *,
    twins: bool = False,
) -> tuple[Case, ...]:
    """Attacks on a system that answers from these documents, in all categories.

    No model is asked and no clock is read: the same documents, number and seed give the same suite.

    Args:
        evidence: the corpus; each piece is one document.
        per_category: how many cases of each category at most; a small corpus may give fewer.
        seed: what the choices of the rules follow from.
        categories: those to write.
        twins: whether each attack is followed by an honest request of its shape, where the corpus gives one.

    Raises:
        InputError: there is no text, or nothing in it that a rule can use.
    """
    if per_category < 1:
        raise InputError(f"expected at least one case per category, got {per_category}")
    corpus = Corpus(evidence)
    found = [case for category in categories for case in _of(corpus, category, per_category, seed)]
    if not found:
        raise InputError(
            "no attack can be written from these documents: expected sentences or tables with figures, dates or names"
        )
    return (*found, *(_seeded(case, seed) for case in twins_of(found, corpus, seed))) if twins else tuple(found)


def _of(corpus: Corpus, category: Category, wanted: int, seed: int) -> Sequence[Case]:
    drawn = list(islice(_sound(corpus, category, seed), wanted * _SPARE))
    kept = without_duplicates(drawn)[:wanted]
    return [_seeded(case, seed) for case in kept]


def _sound(corpus: Corpus, category: Category, seed: int) -> Iterator[Case]:
    """The cases of a category that are plausible and that the linter finds nothing wrong with."""
    streams = [rule(corpus, Random(f"{seed}/{category}/{rule.__name__}")) for rule in RULES[category]]  # noqa: S311
    seen: set[str] = set()
    for case in in_turn(streams):
        if case.plausibility >= LEAST_PLAUSIBLE and case.id not in seen and not lint((case,)):
            seen.add(case.id)
            yield case


def _seeded(case: Case, seed: int) -> Case:
    return case.model_copy(update={"lineage": case.lineage.model_copy(update={"seed": seed})})
