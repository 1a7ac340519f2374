"""The interface of what extracts claims from a text: rules today, a chat model or anything else later."""

from typing import Protocol

from assay.schema import ExtractedClaim


class ClaimExtractor(Protocol):
    """Splits an output into atomic claims."""

    @property
    def name(self) -> str:
        """A name with a version, recorded in the report's verifier identity."""
        ...

    def extract(self, text: str, question: str | None = None) -> list[ExtractedClaim]:
        """All statements of the text in reading order, checkable or not; their spans are slices of the text.

        Every letter and digit of the text is in the sentence span of some statement.
        """
        ...
