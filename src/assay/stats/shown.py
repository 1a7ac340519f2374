"""The form in which people are shown scores, the same everywhere."""

from assay.harmless import shown_score

__all__ = ["shown_score"]
