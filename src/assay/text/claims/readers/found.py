"""A statement in the making, and what one sentence leaves for the next ones of its text."""

import re
from dataclasses import dataclass, field

from assay.schema import ClaimKind
from assay.text.lexicon.tokens import Token
from assay.text.sentences.tables import Row


@dataclass(slots=True)
class Memory:
    """What one sentence leaves for the next ones of the same text."""

    previous: list[Token] = field(default_factory=list)
    said: str = ""
    """What the sentence before said."""
    asked: bool = False
    """Whether that was a question."""
    subject: list[Token] = field(default_factory=list)
    intro: str = ""
    header: Row | None = None
    block: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """One statement in the making: offsets are those of the whole text."""

    text: str
    start: int
    end: int
    kind: ClaimKind
    checkable: bool
    value: str = ""
    """The part that can be wrong, where that is not the whole text: a table row's cell without its column names."""
    whole: str | None = None
    """The statement that it was cut from."""
    before: str | None = None
    """The sentence before it, where it refers to that."""
    cell: tuple[str, str] | None = None
    """Of a cell of a table its row and its column."""


def sentence_case(text: str, ended: bool) -> str:
    """The text as a sentence: with a capital first letter, but for identifiers, and a full stop where it has ended."""
    first = text[:1].upper() if text[:1].islower() and not re.match(r"\w*[A-Z\d_]|https?:|www\.", text) else text[:1]
    return first + text[1:] + ("." if ended and text[-1:] not in ".!?:" else "")
