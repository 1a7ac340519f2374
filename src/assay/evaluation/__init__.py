"""Evaluation of data sets: from rows to verdicts, figures and a report, with baselines that a verifier has to beat."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.evaluation.compared_page import comparison_page as comparison_page
    from assay.evaluation.report_page import eval_page as eval_page
    from assay.evaluation.report_page import interval as interval
    from assay.evaluation.report_page import margins as margins
    from assay.evaluation.report_page import signed as signed
    from assay.evaluation.report_page import slice_tables as slice_tables
    from assay.evaluation.report_page import three_way as three_way
    from assay.evaluation.report_page import words as words
    from assay.evaluation.runner import Evaluating as Evaluating
    from assay.evaluation.runner import evaluate as evaluate
    from assay.evaluation.runner import of_answer as of_answer
    from assay.evaluation.runner import of_claim as of_claim
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".compared_page": ("comparison_page",),
            ".report_page": ("eval_page", "interval", "margins", "signed", "slice_tables", "three_way", "words"),
            ".runner": ("Evaluating", "evaluate", "of_answer", "of_claim"),
        },
    )
