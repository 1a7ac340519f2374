"""Scores as people are shown them, the same wherever they stand."""

from assay.harmless import shown_score

__all__ = ["shown_score"]
