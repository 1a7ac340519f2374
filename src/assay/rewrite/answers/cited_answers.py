"""Answers with citations: the form that the model is asked for, how its reply is read, and the text made of it."""

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
"""The most statements of one answer; an answer with more is not accepted."""
LONGEST_STATEMENT: Final = 4_000
"""The most characters of one statement."""
FLAG: Final = "[unconfirmed]"
"""The mark after a statement that is kept although nothing confirms it. It is in brackets because words within the
sentence would become part of the claim, and the report would judge them too."""

_INLINE: Final = re.compile(r"\s{0,8}[\[(]\s{0,4}e\d{1,4}(?:\s{0,4}[,;]\s{0,4}e\d{1,4}){0,40}\s{0,4}[\])]")
_ALIAS: Final = re.compile(r"e\d{1,4}")
_ENDS: Final = ".!?。！？…"


def asked_schema(aliases: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of the answer that a model is asked for: only ids that it was shown can be cited."""
    source = {"type": "string", "enum": list(aliases)}
    statement = closed_object({"text": {"type": "string"}, "sources": {"type": "array", "items": source}})
    return closed_object({"statements": {"type": "array", "items": statement}, "missing": {"type": "string"}})


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object that has exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
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
"""The schema of what is accepted. It is a little wider than what is asked for, since not every endpoint enforces
schemas. An id that was not shown is ignored."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of an answer."""

    text: str
    """One line that ends with a punctuation mark."""
    sources: tuple[str, ...]
    """Ids of evidence."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The parsed answer of a model."""

    statements: tuple[Statement, ...]
    """The statements that cite a passage that was shown."""
    quarantined: tuple[Statement, ...] = ()
    """The statements that cite nothing (docs/concepts.md#grounded-generation: a null reference is quarantined)."""
    missing: str | None = None
    """The parts of the question that, according to the model, the evidence does not answer."""


def read_draft(choice: Choice, context: PromptContext) -> Draft:
    """Parses the answer of a model.

    Raises:
        AnswerError: the answer is declined, cut off, or of another form.
    """
    value = read_structured(choice, _READ)
    read = [_statement(one["text"], one.get("sources") or (), context) for one in value["statements"]]
    statements = list(dict.fromkeys(one for one in read if any(c.isalnum() for c in one.text)))
    missing = one_line(value.get("missing") or "")
    cited = tuple(one for one in statements if one.sources)
    return Draft(cited, tuple(one for one in statements if not one.sources), missing or None)


def _statement(text: str, cited: Sequence[str], context: PromptContext) -> Statement:
    """A statement with ids of evidence instead of aliases, including those that the model wrote into the text."""
    inline = [alias for mark in _INLINE.findall(text) for alias in _ALIAS.findall(mark)]
    passages = [context.by_alias(alias.strip().strip("[]")) for alias in (*cited, *inline)]
    sources = dict.fromkeys(passage.evidence.id for passage in passages if passage is not None)
    line = one_line(_INLINE.sub("", text))
    return Statement(line if line.endswith(tuple(_ENDS)) else f"{line}.", tuple(sources))


def one_line(text: str) -> str:
    """A text on one line, without control and format characters.

    >>> one_line("Two\\n weeks\\u202e.")
    'Two weeks.'
    """
    return " ".join("".join(" " if c.isspace() else c for c in text if _is_harmless(c)).split())


def _is_harmless(character: str) -> bool:
    # Joiners are needed for some scripts and for emoji; all other characters of these categories are invisible.
    return (
        character.isspace() or character in "\u200c\u200d" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}
    )


@dataclass(frozen=True, slots=True)
class Text:
    """An answer as prose."""

    text: str
    spans: tuple[Span, ...]
    """The place of each statement in it, citations included."""


def rendered(statements: Sequence[Statement], flagged: Collection[Statement] = ()) -> Text:
    """Statements as prose, each with its citations before its final punctuation mark.

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
