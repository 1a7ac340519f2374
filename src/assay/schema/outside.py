"""What a source outside of the evidence says of one claim: the seam to whoever asks one."""

from typing import Literal, Self

from pydantic import Field, model_validator

from assay.schema.base import Value


class OutsideWord(Value):
    """The answer of one outside source about one claim.

    A verifier that asks a source (a knowledge base, a register, a search) says one of these for each claim and source.
    A source that could not be asked says nothing: that is an issue of its own and no word.
    """

    source: str = Field(min_length=1)
    """The name of the source, as people know it."""
    relation: Literal["entails", "denies", "silent"]
    """Whether what it says entails the claim, denies it, or does neither."""
    confidence: float = Field(ge=0, le=1)
    """How surely, as a probability."""
    authoritative: bool = False
    """Whether the operator takes it as ground truth. The word of any other source is shown and attributes nothing."""
    complete: bool = False
    """Whether what it does not have is not so, as in a register of all companies; then its silence denies."""
    words: str = ""
    """What it says, in its own words."""

    @model_validator(mode="after")
    def _only_ground_truth_is_complete(self) -> Self:
        if self.complete and not self.authoritative:
            raise ValueError(f"only an authoritative source can be complete: {self.source} is not")
        return self
