"""Scores: the adversarial robustness score with intervals, comparisons of runs, and the false positives of a suite."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.scores.comparison import ALPHA as ALPHA
    from assay.redteam.scores.comparison import DELTA as DELTA
    from assay.redteam.scores.comparison import Comparison as Comparison
    from assay.redteam.scores.comparison import compare as compare
    from assay.redteam.scores.comparison import read_card as read_card
    from assay.redteam.scores.false_positives import GoodSystems as GoodSystems
    from assay.redteam.scores.false_positives import failing_most as failing_most
    from assay.redteam.scores.false_positives import good_systems as good_systems
    from assay.redteam.scores.false_positives import keep_good_systems as keep_good_systems
    from assay.redteam.scores.false_positives import known_good_systems as known_good_systems
    from assay.redteam.scores.scorecards import Mean as Mean
    from assay.redteam.scores.scorecards import Result as Result
    from assay.redteam.scores.scorecards import Scorecard as Scorecard
    from assay.redteam.scores.scorecards import rescore as rescore
    from assay.redteam.scores.scorecards import score as score
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".comparison": ("ALPHA", "DELTA", "Comparison", "compare", "read_card"),
            ".false_positives": (
                "GoodSystems",
                "failing_most",
                "good_systems",
                "keep_good_systems",
                "known_good_systems",
            ),
            ".scorecards": ("Mean", "Result", "Scorecard", "rescore", "score"),
        },
    )
