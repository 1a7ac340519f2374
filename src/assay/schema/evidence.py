"""Evidence: what may support a claim, and the pieces of it that a verifier reads."""

from dataclasses import dataclass
from datetime import date
from typing import Self

from pydantic import Field, model_validator

from assay.schema.base import Value


class Evidence(Value):
    """A passage, tool result, user statement or knowledge-base entry."""

    id: str = Field(min_length=1)
    """The name that citations use; unique within one check."""
    text: str
    """What it says."""
    source: str | None = None
    """Where it comes from: a document's name, a URL, a tool."""
    title: str | None = None
    """The document's title; read as part of the evidence."""
    version: str | None = None
    """The document's version."""
    effective_date: date | None = None
    """The day from which it holds; read as part of the evidence."""
    expiry_date: date | None = None
    """The day on which it ceases to hold."""
    metadata: dict[str, str | int | float | bool | None] = Field(default_factory=dict)
    """Anything else the caller knows; carried along, never interpreted."""


@dataclass(frozen=True, slots=True)
class Window:
    """A consecutive piece of one evidence text, short enough for the network to read whole."""

    evidence_id: str
    start: int
    """Index of its first character in the evidence text."""
    end: int
    """Index after its last character."""
    text: str
    """The piece itself: `evidence.text[start:end]`."""


class EvidenceSpan(Value):
    """The part of one evidence text that decides about a claim."""

    evidence_id: str
    start: int = Field(ge=0)
    """Index of the first character, in Unicode code points."""
    end: int = Field(ge=0)
    """Index after the last character."""
    text: str
    """The words themselves."""
    relation: str = Field(pattern="^(supports|contradicts|related)$")
    """What it does to the claim."""
    score: float = Field(ge=0, le=1)
    """How strongly, as a probability."""

    @model_validator(mode="after")
    def _is_as_long_as_its_text(self) -> Self:
        if self.end - self.start != len(self.text):
            raise ValueError(
                f"an evidence span is as long as its text: got {self.start} to {self.end} "
                f"for {len(self.text)} characters"
            )
        return self
