"""Evaluation of data sets: from rows to verdicts, figures and a report, with baselines that a verifier has to beat."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.evaluation.compared_page import comparison_page as comparison_page
    from assay.evaluation.report_page import difference_text as difference_text
    from assay.evaluation.report_page import eval_page as eval_page
    from assay.evaluation.report_page import figure_text as figure_text
    from assay.evaluation.report_page import interval_text as interval_text
    from assay.evaluation.report_page import margins as margins
    from assay.evaluation.report_page import slice_tables as slice_tables
    from assay.evaluation.report_page import three_way as three_way
    from assay.evaluation.runner import EvaluationTask as EvaluationTask
    from assay.evaluation.runner import evaluate as evaluate
    from assay.evaluation.runner import result_of_answer as result_of_answer
    from assay.evaluation.runner import result_of_claim as result_of_claim
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".compared_page": ("comparison_page",),
            ".report_page": (
                "eval_page",
                "interval_text",
                "margins",
                "difference_text",
                "slice_tables",
                "three_way",
                "figure_text",
            ),
            ".runner": ("EvaluationTask", "evaluate", "result_of_answer", "result_of_claim"),
        },
        renamed={
            "Evaluating": "EvaluationTask",
            "interval": "interval_text",
            "of_answer": "result_of_answer",
            "of_claim": "result_of_claim",
            "signed": "difference_text",
            "words": "figure_text",
        },
    )
