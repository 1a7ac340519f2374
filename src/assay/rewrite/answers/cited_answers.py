"""Answers with citations: the form that is asked for, what a model made of it, and the text that comes of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.models.chat import Choice, read_structured
from assay.rewrite.answers.evidence_selection import PromptContext
from assay.schema import Span

MOST_STATEMENTS: Final = 200
"""Statements of one answer that are read; of more the answer is not what was asked for."""
LONGEST_STATEMENT: Final = 4_000
"""Characters of one statement."""
FLAG: Final = "[unconfirmed]"
"""What follows a statement that is kept though nothing confirms it. In brackets, as a mark: words in the sentence
would be part of the claim, and the report would say what is wrong with them instead of with the claim."""

_INLINE: Final = re.compile(r"\s{0,8}[\[(]\s{0,4}e\d{1,4}(?:\s{0,4}[,;]\s{0,4}e\d{1,4}){0,40}\s{0,4}[\])]")
_ALIAS: Final = re.compile(r"e\d{1,4}")
_ENDS: Final = ".!?。！？…"


def asked_schema(aliases: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema that a model is asked to answer in: only ids that it was shown can be cited."""
    return _schema({"type": "string", "enum": list(aliases)})


def _schema(source: dict[str, Any]) -> dict[str, Any]:
    statement = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "sources": {"type": "array", "items": source}},
        "required": ["text", "sources"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"statements": {"type": "array", "items": statement}, "missing": {"type": "string"}},
        "required": ["statements", "missing"],
        "additionalProperties": False,
    }


_READ: Final = {
    "type": "object",
    "properties": {
        "statements": {
            "type": "array",
            "maxItems": MOST_STATEMENTS,
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "maxLength": LONGEST_STATEMENT},
                    "sources": {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": 40},
                },
                "required": ["text"],
            },
        },
        "missing": {"type": ["string", "null"], "maxLength": LONGEST_STATEMENT},
    },
    "required": ["statements"],
}
"""What is read: a little more than what is asked for, for endpoints that hold models to no schema. An id that was not
shown counts as none."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of an answer."""

    text: str
    """One line, ending in a mark of its end."""
    sources: tuple[str, ...]
    """Ids of evidence."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer as it was read."""

    statements: tuple[Statement, ...]
    """Those that cite something that was shown."""
    quarantined: tuple[Statement, ...] = ()
    """Those that cite nothing (docs/concepts.md#grounded-generation: a null reference is quarantined)."""
    missing: str | None = None
    """What the model says that the evidence does not answer."""


def read_draft(choice: Choice, context: PromptContext) -> Draft:
    """The statements of an answer.

    Raises:
        AnswerError: the answer is declined, cut off, or of another form.
    """
    value = read_structured(choice, _READ)
    made = [_statement(one["text"], one.get("sources") or (), context) for one in value["statements"]]
    made = list(dict.fromkeys(one for one in made if any(c.isalnum() for c in one.text)))
    missing = one_line(value.get("missing") or "")
    return Draft(
        tuple(one for one in made if one.sources), tuple(one for one in made if not one.sources), missing or None
    )


def _statement(text: str, cited: Sequence[str], context: PromptContext) -> Statement:
    """A statement with the ids of evidence in the place of aliases, also of those that were written into the text."""
    inline = [alias for mark in _INLINE.findall(text) for alias in _ALIAS.findall(mark)]
    passages = [context.by_alias(alias.strip().strip("[]")) for alias in (*cited, *inline)]
    sources = dict.fromkeys(passage.evidence.id for passage in passages if passage is not None)
    line = one_line(_INLINE.sub("", text))
    return Statement(line if line.endswith(tuple(_ENDS)) else f"{line}.", tuple(sources))


def one_line(text: str) -> str:
    """A text on one line, without characters that steer a reader.

    >>> one_line("Two\\n weeks\\u202e.")
    'Two weeks.'
    """
    return " ".join("".join(" " if c.isspace() else c for c in text if _is_harmless(c)).split())


def _is_harmless(character: str) -> bool:
    # Joiners make letters of some scripts and emoji; whatever else is of these kinds is seen by no reader.
    return (
        character.isspace() or character in "\u200c\u200d" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}
    )


@dataclass(frozen=True, slots=True)
class Text:
    """An answer as readers get it."""

    text: str
    spans: tuple[Span, ...]
    """Where each statement is in it, its citations included."""


def rendered(statements: Sequence[Statement], flagged: Collection[Statement] = ()) -> Text:
    """Statements as prose, each with its citations before its end mark.

    >>> rendered([Statement("Leave lasts 2 weeks.", ("hr-2",)), Statement("It is paid!", ("hr-2", "hr-3"))]).text
    'Leave lasts 2 weeks [hr-2]. It is paid [hr-2] [hr-3]!'
    """
    written: list[str] = []
    spans: list[Span] = []
    at = 0
    for statement in statements:
        body, end = statement.text[:-1], statement.text[-1]
        marks = " ".join(f"[{source}]" for source in statement.sources)
        flag = f" {FLAG}" if statement in flagged else ""
        line = f"{body}{flag} {marks}{end}" if marks else f"{body}{flag}{end}"
        written.append(line)
        spans.append(Span(start=at, end=at + len(line)))
        at += len(line) + 1
    return Text(" ".join(written), tuple(spans))
