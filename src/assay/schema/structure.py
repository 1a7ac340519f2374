"""What a structured output is held to beside its JSON Schema: rules over fields, references, what is a claim."""

from typing import Literal, Self

from pydantic import Field, StrictBool, model_validator

from assay.schema.base import Value

KEYWORD = "x-assay"
"""The keyword under which a JSON Schema may carry a `Structure`; validators pass over it."""
_TWO = frozenset({"order", "sum", "count", "member", "equal"})


class FieldRule(Value):
    """A rule that JSON Schema cannot state. Fields are named by JSON Pointers in which `*` stands for any one key or
    index; a `*` of `to` stands for what the same `*` of `of` stands for."""

    rule: Literal["order", "sum", "count", "unique", "member", "equal"]
    """`order`: the first number, date or text is at most the second. `sum`: the numbers add up to the second. `count`:
    there are as many as the second says. `unique`: no two are equal. `member`: each is one of the second. `equal`: both
    are the same."""
    of: str
    """The field or fields that the rule is about."""
    to: str | None = None
    """What they are checked against; none for `unique`."""
    tolerance: float = Field(default=0.005, ge=0)
    """By how much a sum may differ, since cents are rounded."""

    @model_validator(mode="after")
    def _has_both_sides(self) -> Self:
        if (self.rule in _TWO) != (self.to is not None):
            needs = "needs a field to compare with (to)" if self.rule in _TWO else "has no second side (to)"
            raise ValueError(f"the rule {self.rule} {needs}")
        return self


class CitedField(Value):
    """A statement inside of a document and the field that names its sources."""

    statement: str
    """The pointer of the statement, as in `/claims/*/statement`."""
    sources: str
    """The pointer of an evidence id, or of a list of them, as in `/claims/*/source_refs`."""


class Structure(Value):
    """How a structured output is checked beside its schema."""

    leaves: StrictBool = True
    """Whether each value of the document is a claim that is checked against the evidence."""
    skip: tuple[str, ...] = ()
    """Pointers of values that are no claims about the evidence, such as a confidence or a label; what stands inside of
    them is skipped too."""
    references: tuple[str, ...] = ()
    """Pointers of values that have to be ids of the evidence."""
    cited: tuple[CitedField, ...] = ()
    """Statements that their sources have to support."""
    rules: tuple[FieldRule, ...] = ()
