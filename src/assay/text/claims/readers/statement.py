"""A statement as a reader finds it, and the context that one sentence gives the next."""

import re
from dataclasses import dataclass, field

from assay.schema import ClaimKind
from assay.text.lexicon.tokens import Token
from assay.text.sentences.tables import Row


@dataclass(slots=True)
class TextContext:
    """What is known of the sentences before the one that is read."""

    previous_tokens: list[Token] = field(default_factory=list)
    """The words of the sentence before."""
    previous_text: str = ""
    """That sentence as text; empty where it is too long to be read together with the next one."""
    previous_is_question: bool = False
    subject_tokens: list[Token] = field(default_factory=list)
    """The subject of that sentence, its own pronoun resolved."""
    intro: str = ""
    """The line that introduces the current list."""
    header: Row | None = None
    """The head of the current table."""
    block: str = ""
    """The kind of block that the sentence before is in."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a text; offsets are those of the whole text."""

    text: str
    start: int
    end: int
    kind: ClaimKind
    checkable: bool
    value: str = ""
    """The part that can be wrong, if not the whole text: the cell of a table row without its column name."""
    whole: str | None = None
    """The statement that it was cut from."""
    before: str | None = None
    """The sentence before it, if it refers to that."""
    cell: tuple[str, str] | None = None
    """The row and the column of a table cell."""


def sentence_case(text: str, ended: bool) -> str:
    """The text as a sentence: with a capital first letter, identifiers apart, and with a full stop if `ended`."""
    first = text[:1].upper() if text[:1].islower() and not re.match(r"\w*[A-Z\d_]|https?:|www\.", text) else text[:1]
    return first + text[1:] + ("." if ended and text[-1:] not in ".!?:" else "")
