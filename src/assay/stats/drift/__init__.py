"""Statistics of change over time: CUSUM charts with exact run lengths, confidence sequences, the places where a mean
rises, rates from samples, error budgets. Numpy is loaded with the first name that needs it.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.stats.drift.budget import WORKBOOK as WORKBOOK
    from assay.stats.drift.budget import Budget as Budget
    from assay.stats.drift.budget import BurnRule as BurnRule
    from assay.stats.drift.budget import WindowTotals as WindowTotals
    from assay.stats.drift.budget import burn_rate as burn_rate
    from assay.stats.drift.budget import burns_too_fast as burns_too_fast
    from assay.stats.drift.budget import error_budget as error_budget
    from assay.stats.drift.budget import hours_left as hours_left
    from assay.stats.drift.cusum import AfterAlarm as AfterAlarm
    from assay.stats.drift.cusum import Chart as Chart
    from assay.stats.drift.cusum import ChartRun as ChartRun
    from assay.stats.drift.cusum import Crossing as Crossing
    from assay.stats.drift.cusum import Direction as Direction
    from assay.stats.drift.cusum import Sum as Sum
    from assay.stats.drift.cusum import run_chart as run_chart
    from assay.stats.drift.cusum import sums as sums
    from assay.stats.drift.design import Approximation as Approximation
    from assay.stats.drift.design import Design as Design
    from assay.stats.drift.design import both_sides as both_sides
    from assay.stats.drift.design import design_chart as design_chart
    from assay.stats.drift.design import siegmund as siegmund
    from assay.stats.drift.lattice import Lattice as Lattice
    from assay.stats.drift.lattice import bernoulli as bernoulli
    from assay.stats.drift.lattice import beta as beta
    from assay.stats.drift.lattice import empirical as empirical
    from assay.stats.drift.lattice import tilted as tilted
    from assay.stats.drift.onset import onset_index as onset_index
    from assay.stats.drift.onset import onset_probabilities as onset_probabilities
    from assay.stats.drift.onset import weight_of as weight_of
    from assay.stats.drift.reviewed_scores import CalibrationDrift as CalibrationDrift
    from assay.stats.drift.reviewed_scores import calibration_drift as calibration_drift
    from assay.stats.drift.run_length import mean_run_length as mean_run_length
    from assay.stats.drift.sequences import Difference as Difference
    from assay.stats.drift.sequences import MeanSequence as MeanSequence
    from assay.stats.drift.sequences import difference as difference
    from assay.stats.drift.sequences import mean_sequence as mean_sequence
    from assay.stats.drift.simulation import simulated_run_lengths as simulated_run_lengths
    from assay.stats.drift.steps import Evaluations as Evaluations
    from assay.stats.drift.steps import Posterior as Posterior
    from assay.stats.drift.steps import RiseHypotheses as RiseHypotheses
    from assay.stats.drift.steps import evaluations as evaluations
    from assay.stats.drift.steps import expected_information as expected_information
    from assay.stats.drift.steps import posterior as posterior
    from assay.stats.drift.steps import precision as precision
    from assay.stats.drift.steps import sizes_of as sizes_of
    from assay.stats.drift.weighting import WeightedRate as WeightedRate
    from assay.stats.drift.weighting import weighted_rate as weighted_rate
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".budget": (
                "Budget",
                "BurnRule",
                "WindowTotals",
                "WORKBOOK",
                "burn_rate",
                "burns_too_fast",
                "error_budget",
                "hours_left",
            ),
            ".cusum": (
                "AfterAlarm",
                "Chart",
                "Crossing",
                "Direction",
                "ChartRun",
                "Sum",
                "run_chart",
                "sums",
            ),
            ".design": (
                "Approximation",
                "Design",
                "both_sides",
                "design_chart",
                "siegmund",
            ),
            ".lattice": (
                "Lattice",
                "bernoulli",
                "beta",
                "empirical",
                "tilted",
            ),
            ".onset": (
                "onset_probabilities",
                "onset_index",
                "weight_of",
            ),
            ".reviewed_scores": (
                "CalibrationDrift",
                "calibration_drift",
            ),
            ".run_length": ("mean_run_length",),
            ".sequences": (
                "Difference",
                "MeanSequence",
                "difference",
                "mean_sequence",
            ),
            ".simulation": ("simulated_run_lengths",),
            ".steps": (
                "Posterior",
                "Evaluations",
                "RiseHypotheses",
                "posterior",
                "evaluations",
                "expected_information",
                "precision",
                "sizes_of",
            ),
            ".weighting": (
                "WeightedRate",
                "weighted_rate",
            ),
        },
        renamed={
            "Spent": "WindowTotals",
            "likelihoods": "onset_probabilities",
            "passed": "run_chart",
            "Stretch": "ChartRun",
            "Believed": "Posterior",
            "believed": "posterior",
            "Places": "RiseHypotheses",
            "gains": "expected_information",
        },
    )
