"""The retrieval gate as a part of the policy: which passages may be evidence, before anything is generated or checked.

    policy:
      preset: rag
      screen:
        minimum_relevance: 0.2

Without the block `Guard.screen` uses these defaults, and generation and checks use all given evidence.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from assay.schema import Value

Probability = Annotated[float, Field(ge=0, le=1)]


class ScreenPolicy(Value):
    """What the retrieval gate drops, and when it signals low confidence (docs/screen.md)."""

    minimum_relevance: Probability = 0.1
    """The calibrated relevance below which a passage is dropped. At the default this affects 2 to 3 of 100 relevant
    passages of held-out documents (docs/screen.md); at 0 none."""
    confident_relevance: Probability = 0.5
    """The relevance that the best passage has to reach for the signal `retrieve`. At least `minimum_relevance`."""
    language: Literal["question", "any"] = "question"
    """Whether a passage has to be in the language of the question, where both languages are recognised."""
    injections: Literal["drop", "keep"] = "drop"
    """Whether a passage that gives instructions to the reading model is dropped."""
    versions: Literal["drop", "keep"] = "drop"
    """Whether a passage that is not in force on the day is dropped: expired, not yet in force, or superseded."""
    duplicates: Literal["drop", "keep"] = "drop"
    """Whether a passage that repeats another one is dropped."""
    conflicts: bool = True
    """Whether the kept passages are checked against each other."""
    low_confidence: Literal["answer", "refuse"] = "answer"
    """How generation treats the signal `low_confidence`: it answers, with the reservation in its prompt, or refuses."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.confident_relevance < self.minimum_relevance:
            raise PydanticCustomError(
                "contradiction",
                "{reason}",
                {
                    "reason": "confident_relevance must be at least minimum_relevance, got "
                    f"{self.confident_relevance:g} and {self.minimum_relevance:g}",
                    "fields": ["confident_relevance", "minimum_relevance"],
                },
            )
        return self
