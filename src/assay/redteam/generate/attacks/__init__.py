"""The rules that write attacks, a module for each category."""

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
"""What a corpus gives by one rule, in an order that follows from the generator alone."""

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
"""The rules of each category; cases are taken from them in turn, so that no rule fills a category alone."""
