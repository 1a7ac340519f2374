"""Statistics as pure functions of numbers: metrics, calibration, intervals, thresholds and their guarantees.

`assay.stats.metrics` needs only the standard library; modules that import numpy, such as `classification` and
`calibration`, are loaded on first use.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.stats.agreement import FieldAgreement as FieldAgreement
    from assay.stats.agreement import FieldVote as FieldVote
    from assay.stats.agreement import samples_wanted as samples_wanted
    from assay.stats.agreement import vote_fields as vote_fields
    from assay.stats.calibration import Bin as Bin
    from assay.stats.calibration import adaptive_reliability as adaptive_reliability
    from assay.stats.calibration import ece as ece
    from assay.stats.calibration import log_loss as log_loss
    from assay.stats.causes import effective_attention as effective_attention
    from assay.stats.causes import noisy_or as noisy_or
    from assay.stats.causes import shares as shares
    from assay.stats.classification import choose_threshold as choose_threshold
    from assay.stats.confidence import SIGNALS as SIGNALS
    from assay.stats.confidence import WEIGHTS as WEIGHTS
    from assay.stats.confidence import ConfidenceModel as ConfidenceModel
    from assay.stats.confidence import fit_confidence as fit_confidence
    from assay.stats.confidence import normalised_entropy as normalised_entropy
    from assay.stats.confidence_weights import fit_weights as fit_weights
    from assay.stats.costs import Choice as Choice
    from assay.stats.costs import Costs as Costs
    from assay.stats.costs import Outcome as Outcome
    from assay.stats.costs import TradeOff as TradeOff
    from assay.stats.costs import answer_thresholds as answer_thresholds
    from assay.stats.costs import cheapest as cheapest
    from assay.stats.costs import counted as counted
    from assay.stats.costs import trade_off as trade_off
    from assay.stats.costs import weights_of as weights_of
    from assay.stats.intervals import wilson as wilson
    from assay.stats.joint import joint_support as joint_support
    from assay.stats.metrics import answer_support as answer_support
    from assay.stats.prior import PriorEstimate as PriorEstimate
    from assay.stats.prior import estimate_prior as estimate_prior
    from assay.stats.risk import Guarantee as Guarantee
    from assay.stats.risk import Method as Method
    from assay.stats.risk import conformal_risk_control as conformal_risk_control
    from assay.stats.risk import learn_then_test as learn_then_test
    from assay.stats.risk import upper_bound as upper_bound
    from assay.stats.shown import shown_score as shown_score
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".agreement": ("FieldAgreement", "FieldVote", "samples_wanted", "vote_fields"),
            ".calibration": ("Bin", "adaptive_reliability", "ece", "log_loss"),
            ".causes": ("effective_attention", "noisy_or", "shares"),
            ".classification": ("choose_threshold",),
            ".confidence": ("ConfidenceModel", "SIGNALS", "WEIGHTS", "fit_confidence", "normalised_entropy"),
            ".confidence_weights": ("fit_weights",),
            ".costs": (
                "Choice",
                "Costs",
                "Outcome",
                "TradeOff",
                "answer_thresholds",
                "cheapest",
                "counted",
                "trade_off",
                "weights_of",
            ),
            ".intervals": ("wilson",),
            ".joint": ("joint_support",),
            ".metrics": ("answer_support",),
            ".prior": ("PriorEstimate", "estimate_prior"),
            ".risk": ("Guarantee", "Method", "conformal_risk_control", "learn_then_test", "upper_bound"),
            ".shown": ("shown_score",),
        },
    )
