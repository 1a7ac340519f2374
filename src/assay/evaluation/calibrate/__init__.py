"""Thresholds fitted on labelled rows, with their guarantees."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.evaluation.calibrate.abstention import AbstentionFit as AbstentionFit
    from assay.evaluation.calibrate.prior import EstimatingPrior as EstimatingPrior
    from assay.evaluation.calibrate.prior import prior_of as prior_of
    from assay.evaluation.calibrate.prior import recorded as recorded
    from assay.evaluation.calibrate.report_page import calibration_page as calibration_page
    from assay.evaluation.calibrate.report_page import headline as headline
    from assay.evaluation.calibrate.report_page import share as share
    from assay.evaluation.calibrate.report_page import shown_points as shown_points
    from assay.evaluation.calibrate.thresholds import DEFAULT_COSTS as DEFAULT_COSTS
    from assay.evaluation.calibrate.thresholds import Calibrating as Calibrating
    from assay.evaluation.calibrate.thresholds import Fit as Fit
    from assay.evaluation.calibrate.thresholds import Wish as Wish
    from assay.evaluation.calibrate.thresholds import fit as fit
    from assay.evaluation.calibrate.thresholds import judge as judge
    from assay.evaluation.calibrate.thresholds import key_of as key_of
    from assay.evaluation.calibrate.thresholds import labelled as labelled
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".abstention": ("AbstentionFit",),
            ".prior": ("EstimatingPrior", "prior_of", "recorded"),
            ".report_page": ("calibration_page", "headline", "share", "shown_points"),
            ".thresholds": ("DEFAULT_COSTS", "Calibrating", "Fit", "Wish", "fit", "judge", "key_of", "labelled"),
        },
    )
