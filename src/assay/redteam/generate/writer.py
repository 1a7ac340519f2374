"""Writes a suite from a corpus: the rules of each category in turn, deterministic for a given seed."""

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Final

from assay.errors import InputError
from assay.redteam.cases import LEAST_PLAUSIBLE, Case, Category, lint, without_duplicates
from assay.redteam.generate.attacks import RULES
from assay.redteam.generate.building_blocks import round_robin
from assay.redteam.generate.corpus import Corpus
from assay.redteam.generate.twins import twins_of
from assay.schema import Evidence

PER_CATEGORY: Final = 20
"""The default number of cases of each category."""
_OVERDRAW: Final = 2
"""How many times as many cases are drawn as are needed, since duplicates are dropped."""


def write_suite(
    evidence: Sequence[Evidence],
    per_category: int = PER_CATEGORY,
    seed: int = 0,
    categories: Sequence[Category] = tuple(Category),
    *,
    twins: bool = False,
) -> tuple[Case, ...]:
    """Writes attacks on a system that answers from these documents.

    No model and no clock is involved: the same documents, number and seed give the same suite.

    Args:
        evidence: the corpus; each piece is one document.
        per_category: the most cases of each category; a small corpus may give fewer.
        seed: determines the choices of the rules.
        categories: the categories to write.
        twins: whether to add, for each attack, an honest request of its shape where the corpus allows one.

    Raises:
        InputError: the number is below 1, or the documents have no text or nothing that a rule can use.
    """
    if per_category < 1:
        raise InputError(f"expected at least one case per category, got {per_category}")
    corpus = Corpus(evidence)
    cases = [case for category in categories for case in _category_cases(corpus, category, per_category, seed)]
    if not cases:
        raise InputError(
            "no attack can be written from these documents: expected sentences or tables with figures, dates or names"
        )
    return (*cases, *(_seeded(case, seed) for case in twins_of(cases, corpus, seed))) if twins else tuple(cases)


def _category_cases(corpus: Corpus, category: Category, count: int, seed: int) -> Sequence[Case]:
    drawn = list(islice(_sound_cases(corpus, category, seed), count * _OVERDRAW))
    kept = without_duplicates(drawn)[:count]
    return [_seeded(case, seed) for case in kept]


def _sound_cases(corpus: Corpus, category: Category, seed: int) -> Iterator[Case]:
    """The cases of a category that are plausible and that the linter accepts."""
    streams = [rule(corpus, Random(f"{seed}/{category}/{rule.__name__}")) for rule in RULES[category]]  # noqa: S311
    seen_ids: set[str] = set()
    for case in round_robin(streams):
        if case.plausibility >= LEAST_PLAUSIBLE and case.id not in seen_ids and not lint((case,)):
            seen_ids.add(case.id)
            yield case


def _seeded(case: Case, seed: int) -> Case:
    return case.model_copy(update={"lineage": case.lineage.model_copy(update={"seed": seed})})
