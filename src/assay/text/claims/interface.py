"""What finds claims in a text: rules now, a chat model or anything else in their place later."""

from typing import Protocol

from assay.schema import ExtractedClaim


class ClaimExtractor(Protocol):
    """Splits an output into atomic claims."""

    @property
    def name(self) -> str:
        """A name with a version, recorded in the report's verifier identity."""
        ...

    def extract(self, text: str, question: str | None = None) -> list[ExtractedClaim]:
        """All statements of the text in reading order, checkable or not; spans slice back to the text.

        Every character that is a letter or a digit belongs to some statement's sentence span.
        """
        ...
