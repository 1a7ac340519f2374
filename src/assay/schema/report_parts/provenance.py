"""Where an argument of a tool call comes from (docs/concepts.md#agent-runs)."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from assay.schema.base import Value
from assay.schema.claim import Span


class SourceKind(StrEnum):
    """Who said what an argument is traced to."""

    USER = "user"
    """The user's own words."""
    TOOL = "tool"
    """The result of an earlier call of the run."""
    SYSTEM = "system"
    """The system prompt."""
    PASSAGE = "passage"
    """A retrieved passage, or a document that was handed in."""
    CALL = "call"
    """An earlier call of the run that was accepted: what it named itself, such as a file that it created."""
    ALLOWLIST = "allowlist"
    """What the tool's rule allows whoever says it."""
    DECLARATION = "declaration"
    """The tool's own declaration: a default, a constant or one of an enumeration."""
    CLOCK = "clock"
    """The time that the caller gave as now."""


class EntityKind(StrEnum):
    """What sort of reference an argument holds."""

    URL = "url"
    EMAIL = "email"
    HANDLE = "handle"
    """A name with an at sign before it, or an argument that is called a handle or a user name."""
    IDENTIFIER = "identifier"
    """A code, a hash, a UUID, a version, a telephone number, or an argument that is called an id."""
    PATH = "path"
    NUMBER = "number"
    DATE = "date"
    """A date, a time of day or both."""
    UNIT = "unit"
    """A unit of measurement or a currency."""
    NAME = "name"
    """A value that names something in plain words; traced, but rejected only where a rule says so."""
    TEXT = "text"
    """Words without a reference in them."""
    FLAG = "flag"
    """True, false or null: a choice, not a reference."""


class TraceStatus(StrEnum):
    """How far an entity could be followed back."""

    TRACED = "traced"
    """It is in a source as it is, up to case, spacing and Unicode form."""
    DERIVED = "derived"
    """It follows from what is in sources; `how` says how."""
    DECLARED = "declared"
    """The tool's declaration or the rule's allowlist offers it."""
    CHOSEN = "chosen"
    """It refers to nothing: a flag, a plain word, a page size."""
    UNTRACED = "untraced"
    """No source holds it and nothing known leads to it."""
    SKIPPED = "skipped"
    """A rule says that it is not to be traced."""


class ArgumentProvenance(Value):
    """One entity of one argument and where it comes from."""

    path: str
    """The JSON Pointer of the argument."""
    value: str | int | float | bool | None
    """The entity as the argument has it."""
    kind: EntityKind
    status: TraceStatus
    span: Span | None = None
    """The entity's characters within the argument's text, where it is only a part of it."""
    source: SourceKind | None = None
    source_id: str | None = None
    """Which of the run's texts it is in."""
    source_span: Span | None = None
    """Where in that text."""
    source_text: str | None = None
    """The words that are there."""
    how: str = ""
    """How it follows, in words."""


class CallAttempt(Value):
    """One rejected attempt at a tool call, kept for the run's log."""

    number: int = Field(ge=1)
    """1 for the first attempt."""
    tool: str
    arguments: dict[str, Any] | str
    """The arguments as they came: the text itself where it was no object."""
    reasons: tuple[str, ...]
