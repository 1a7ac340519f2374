"""Thresholds fitted on labelled rows, with their guarantees."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.evaluation.calibrate.abstention import AbstentionFit as AbstentionFit
    from assay.evaluation.calibrate.prior import PriorTask as PriorTask
    from assay.evaluation.calibrate.prior import prior_of as prior_of
    from assay.evaluation.calibrate.prior import recorded_requests as recorded_requests
    from assay.evaluation.calibrate.report_page import calibration_page as calibration_page
    from assay.evaluation.calibrate.report_page import headline as headline
    from assay.evaluation.calibrate.report_page import share_text as share_text
    from assay.evaluation.calibrate.report_page import shown_points as shown_points
    from assay.evaluation.calibrate.thresholds import DEFAULT_COSTS as DEFAULT_COSTS
    from assay.evaluation.calibrate.thresholds import CalibrationTask as CalibrationTask
    from assay.evaluation.calibrate.thresholds import Fit as Fit
    from assay.evaluation.calibrate.thresholds import FitGoal as FitGoal
    from assay.evaluation.calibrate.thresholds import calibration_key as calibration_key
    from assay.evaluation.calibrate.thresholds import fit as fit
    from assay.evaluation.calibrate.thresholds import judge_rows as judge_rows
    from assay.evaluation.calibrate.thresholds import labelled_rows as labelled_rows
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".abstention": ("AbstentionFit",),
            ".prior": ("PriorTask", "prior_of", "recorded_requests"),
            ".report_page": ("calibration_page", "headline", "share_text", "shown_points"),
            ".thresholds": (
                "DEFAULT_COSTS",
                "CalibrationTask",
                "Fit",
                "FitGoal",
                "fit",
                "judge_rows",
                "calibration_key",
                "labelled_rows",
            ),
        },
        renamed={
            "Calibrating": "CalibrationTask",
            "EstimatingPrior": "PriorTask",
            "Wish": "FitGoal",
            "judge": "judge_rows",
            "key_of": "calibration_key",
            "labelled": "labelled_rows",
            "recorded": "recorded_requests",
            "share": "share_text",
        },
    )
