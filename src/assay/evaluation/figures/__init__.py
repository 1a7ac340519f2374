"""The figures of an evaluation with their intervals, and those of simple baselines."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.evaluation.figures.comparison import Comparison as Comparison
    from assay.evaluation.figures.comparison import Flip as Flip
    from assay.evaluation.figures.comparison import compare as compare
    from assay.evaluation.figures.error_list import worst_errors as worst_errors
    from assay.evaluation.figures.gate_rates import Rates as Rates
    from assay.evaluation.figures.gate_rates import Share as Share
    from assay.evaluation.figures.metrics import FIGURES as FIGURES
    from assay.evaluation.figures.metrics import Figure as Figure
    from assay.evaluation.figures.metrics import Figures as Figures
    from assay.evaluation.figures.sentence_embedding import SentenceEmbedder as SentenceEmbedder
    from assay.evaluation.figures.summary import Summary as Summary
    from assay.evaluation.figures.summary import summarise as summarise
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".comparison": ("Comparison", "Flip", "compare"),
            ".error_list": ("worst_errors",),
            ".gate_rates": ("Rates", "Share"),
            ".metrics": ("FIGURES", "Figure", "Figures"),
            ".sentence_embedding": ("SentenceEmbedder",),
            ".summary": ("Summary", "summarise"),
        },
    )
