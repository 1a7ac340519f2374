"""Aims a search at what was changed lately: which categories a kind of change touches, and which documents it names."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from assay.errors import InputError
from assay.redteam.cases import Case, Category
from assay.redteam.generate.corpus import Corpus

HEAD_START: Final = 2
"""Broken cases that a touched rule is credited with before the first call: as its Beta prior, it is soon outweighed."""
SHORTEST_NAME: Final = 4
"""Characters of a title or file name from which on it is looked for in the words of a change."""
_ABSTAINING: Final = frozenset({Category.KNOWLEDGE_BOUNDARY, Category.CITATION_MANIPULATION, Category.FORMAT_COERCION})
TOUCHES: Final[dict[str, frozenset[Category]]] = {
    "prompt": _ABSTAINING
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
    "policy": _ABSTAINING | {Category.AUTHORITY_IMPERSONATION, Category.CONTEXT_POISONING},
    "verifier": _ABSTAINING | {Category.ENTITY_SUBSTITUTION, Category.TEMPORAL_CONFUSION, Category.CONTEXT_POISONING},
    "code": frozenset(Category),
}
"""The categories that a change of a kind may break, by the kinds of the change log (`assay changes`): what decides
whether to abstain, what is retrieved, what tools give. A new model or new code may break all."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A change of the system under test.

    Raises:
        InputError: its kind is unknown.
    """

    kind: str
    """A key of `TOUCHES`."""
    words: str
    """What the change log says of it: its reference and its note. They are looked through for names of documents."""

    def __post_init__(self) -> None:
        if self.kind not in TOUCHES:
            raise InputError(f"expected a kind of change: {', '.join(TOUCHES)}; got {ascii(self.kind)[:40]}")


@dataclass(frozen=True, slots=True)
class Aim:
    """Where a search looks first."""

    categories: frozenset[Category] = frozenset()
    documents: frozenset[str] = frozenset()

    def head_start(self, category: Category) -> int:
        """The broken cases that a rule of a category is credited with."""
        return HEAD_START if category in self.categories else 0

    def is_about(self, case: Case) -> bool:
        """Whether a case was written from a document that was changed."""
        return not self.documents.isdisjoint(case.lineage.documents)


def aim_at(changes: Sequence[Changed], corpus: Corpus) -> Aim:
    """The categories that changes touch, and the documents that they name by title, path or file name."""
    categories = frozenset(one for change in changes for one in TOUCHES[change.kind])
    told = "\n".join(change.words for change in changes).casefold()
    named: set[str] = set()
    for document in corpus.documents:
        sources = {passage.source or passage.id for passage in document.passages}
        if any(_stands_in(name, told) for name in (document.title, *_file_names({document.id, *sources}))):
            named |= sources
    return Aim(categories, frozenset(named))


def _file_names(paths: Iterable[str]) -> Iterable[str]:
    for path in paths:
        yield path
        yield PurePosixPath(path).name
        yield PurePosixPath(path).stem


def _stands_in(name: str, text: str) -> bool:
    if len(name) < SHORTEST_NAME:
        return False
    return re.search(rf"(?<![\w-]){re.escape(name.casefold())}(?![\w-])", text) is not None
