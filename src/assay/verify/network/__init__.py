"""The network tier: entailment by the cross-encoder, and the combination of all tiers' signals."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.network.combination import Combination as Combination
    from assay.verify.network.combination import Judgement as Judgement
    from assay.verify.network.combination import LogisticModel as LogisticModel
    from assay.verify.network.combination import at_prior as at_prior
    from assay.verify.network.combination import load_combination as load_combination
    from assay.verify.network.combination import logit as logit
    from assay.verify.network.combination import sigmoid as sigmoid
    from assay.verify.network.entailment import EntailmentResult as EntailmentResult
    from assay.verify.network.entailment import PremiseScores as PremiseScores
    from assay.verify.network.entailment import judge as judge
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".combination": (
                "Combination",
                "Judgement",
                "LogisticModel",
                "at_prior",
                "load_combination",
                "logit",
                "sigmoid",
            ),
            ".entailment": ("EntailmentResult", "PremiseScores", "judge"),
        },
    )
