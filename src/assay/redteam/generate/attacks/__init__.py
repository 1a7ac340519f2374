"""The rules that write attacks, one module for each category.

The name and module of a rule seed its random choices: renaming either changes every suite that is generated.
"""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Final

from assay.redteam.cases import Case, Category
from assay.redteam.generate.attacks import (
    authority_impersonation,
    citation_manipulation,
    compositional,
    constraint_contradiction,
    context_poisoning,
    entity_substitution,
    format_coercion,
    knowledge_boundary,
    scale_stress,
    temporal_confusion,
)
from assay.redteam.generate.corpus import Corpus

Rule = Callable[[Corpus, Random], Iterator[Case]]
"""Writes the cases that one rule finds in a corpus, in an order that depends on the random generator alone."""

RULES: Final[Mapping[Category, tuple[Rule, ...]]] = {
    Category.KNOWLEDGE_BOUNDARY: knowledge_boundary.RULES,
    Category.ENTITY_SUBSTITUTION: entity_substitution.RULES,
    Category.TEMPORAL_CONFUSION: temporal_confusion.RULES,
    Category.CONTEXT_POISONING: context_poisoning.RULES,
    Category.CITATION_MANIPULATION: citation_manipulation.RULES,
    Category.FORMAT_COERCION: format_coercion.RULES,
    Category.CONSTRAINT_CONTRADICTION: constraint_contradiction.RULES,
    Category.AUTHORITY_IMPERSONATION: authority_impersonation.RULES,
    Category.SCALE_STRESS: scale_stress.RULES,
    Category.COMPOSITIONAL: compositional.RULES,
}
"""The rules of each category. Cases are taken from them in turn, so that no single rule fills a category."""
