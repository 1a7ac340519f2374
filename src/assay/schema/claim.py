"""A claim as the text layer finds it, before anything is known of its truth."""

from typing import Self

from pydantic import Field, model_validator

from assay.schema.base import Value
from assay.schema.verdict import ClaimKind


class Span(Value):
    """A half-open range of characters, counted in Unicode code points."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)

    @model_validator(mode="after")
    def _runs_forward(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"a span ends at or after its start: got start {self.start} and end {self.end}")
        return self


class ExtractedClaim(Value):
    """One checkable proposition of an output."""

    text: str = Field(min_length=1)
    """The proposition as a sentence of its own: elided subjects carried along, safe pronouns resolved."""
    span: Span
    """The characters of the output that it was read from, never more than one sentence."""
    sentence: Span
    """The sentence that it is in."""
    kind: ClaimKind
    checkable: bool
    """False for meta statements, abstentions, opinions and questions."""
    critical: tuple[str, ...] = ()
    """Why it is critical: any of `number`, `date`, `citation`, `entity`, `identifier`, `commitment`."""
    hedge: float = Field(default=0.0, ge=0, le=1)
    """How much the wording holds back: 0 is flat assertion, 1 is pure guess."""
    sentence_index: int = Field(default=0, ge=0)
    """The number of its sentence in the output."""
    whole: str | None = Field(default=None, min_length=1)
    """The statement that it was cut from, as a sentence of its own; none where nothing was cut. It is judged first, and
    its pieces only where the evidence does not support it."""
    before: str | None = Field(default=None, min_length=1)
    """The sentence before it, where the claim refers to something there that could not safely be put in."""
    path: str | None = None
    """The JSON Pointer of the value that it was read from, in a structured output."""
    cell: tuple[str, str] | None = None
    """Of a cell of a table what names its row, empty for a row without a name, and the head of its column."""
