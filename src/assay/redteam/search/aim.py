"""Aims a search at recent changes: the categories that a kind of change affects, and the documents that it names."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from assay.errors import InputError
from assay.redteam.cases import Case, Category
from assay.redteam.generate.corpus import Corpus

HEAD_START: Final = 2
"""The broken cases that a rule of an affected category is credited with in its Beta prior; soon outweighed by calls."""
SHORTEST_NAME: Final = 4
"""The least characters of a title or file name that is looked for in the text of a change."""
_ABSTENTION_CATEGORIES: Final = frozenset(
    {Category.KNOWLEDGE_BOUNDARY, Category.CITATION_MANIPULATION, Category.FORMAT_COERCION}
)
CATEGORIES_BY_KIND: Final[dict[str, frozenset[Category]]] = {
    "prompt": _ABSTENTION_CATEGORIES
    | {Category.AUTHORITY_IMPERSONATION, Category.CONTEXT_POISONING, Category.CONSTRAINT_CONTRADICTION},
    "model": frozenset(Category),
    "index": frozenset(
        {
            Category.KNOWLEDGE_BOUNDARY,
            Category.ENTITY_SUBSTITUTION,
            Category.TEMPORAL_CONFUSION,
            Category.CITATION_MANIPULATION,
            Category.SCALE_STRESS,
        }
    ),
    "tools": frozenset({Category.CONTEXT_POISONING, Category.KNOWLEDGE_BOUNDARY, Category.COMPOSITIONAL}),
    "policy": _ABSTENTION_CATEGORIES | {Category.AUTHORITY_IMPERSONATION, Category.CONTEXT_POISONING},
    "verifier": _ABSTENTION_CATEGORIES
    | {Category.ENTITY_SUBSTITUTION, Category.TEMPORAL_CONFUSION, Category.CONTEXT_POISONING},
    "code": frozenset(Category),
}
"""The categories that a change may break, by its kind in the change log (`assay changes`): abstention, retrieval, or
tool results. A new model or new code may break all of them."""


@dataclass(frozen=True, slots=True)
class RecentChange:
    """A recent change of the system under test.

    Raises:
        InputError: its kind is unknown.
    """

    kind: str
    """A key of `CATEGORIES_BY_KIND`."""
    words: str
    """Its reference and note in the change log, which are searched for names of documents."""

    def __post_init__(self) -> None:
        if self.kind not in CATEGORIES_BY_KIND:
            raise InputError(f"expected a kind of change: {', '.join(CATEGORIES_BY_KIND)}; got {ascii(self.kind)[:40]}")


@dataclass(frozen=True, slots=True)
class Aim:
    """Where a search starts."""

    categories: frozenset[Category] = frozenset()
    """Categories that changes affect."""
    documents: frozenset[str] = frozenset()
    """Sources of documents that changes name."""

    def head_start(self, category: Category) -> int:
        """The broken cases that the rules of a category are credited with."""
        return HEAD_START if category in self.categories else 0

    def is_about(self, case: Case) -> bool:
        """Whether a case was written from a changed document."""
        return not self.documents.isdisjoint(case.lineage.documents)


def aim_at(changes: Sequence[RecentChange], corpus: Corpus) -> Aim:
    """The categories that changes affect, and the documents that they name by title, path or file name."""
    categories = frozenset(one for change in changes for one in CATEGORIES_BY_KIND[change.kind])
    changes_text = "\n".join(change.words for change in changes).casefold()
    named: set[str] = set()
    for document in corpus.documents:
        sources = {passage.source or passage.id for passage in document.passages}
        if any(_is_named_in(name, changes_text) for name in (document.title, *_file_names({document.id, *sources}))):
            named |= sources
    return Aim(categories, frozenset(named))


def _file_names(paths: Iterable[str]) -> Iterable[str]:
    for path in paths:
        yield path
        yield PurePosixPath(path).name
        yield PurePosixPath(path).stem


def _is_named_in(name: str, text: str) -> bool:
    if len(name) < SHORTEST_NAME:
        return False
    return re.search(rf"(?<![\w-]){re.escape(name.casefold())}(?![\w-])", text) is not None
