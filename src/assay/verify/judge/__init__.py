"""The judge: a chat model answers closed questions about claims that the other tiers are not sure of."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.judge.answers import JudgeAnswers as JudgeAnswers
    from assay.verify.judge.claim_selection import reasons_to_judge as reasons_to_judge
    from assay.verify.judge.llm_judge import PROMPT as PROMPT
    from assay.verify.judge.llm_judge import JudgedStatement as JudgedStatement
    from assay.verify.judge.llm_judge import JudgeOptions as JudgeOptions
    from assay.verify.judge.llm_judge import JudgeResults as JudgeResults
    from assay.verify.judge.llm_judge import ask_judge as ask_judge
    from assay.verify.judge.outcomes import ClaimState as ClaimState
    from assay.verify.judge.outcomes import Outcome as Outcome
    from assay.verify.judge.outcomes import apply_outcome as apply_outcome
    from assay.verify.judge.outcomes import support_barrier as support_barrier
    from assay.verify.judge.quotes import Source as Source
    from assay.verify.judge.quotes import locate_quote as locate_quote
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".answers": ("JudgeAnswers",),
            ".claim_selection": ("reasons_to_judge",),
            ".llm_judge": ("JudgeOptions", "JudgeResults", "JudgedStatement", "PROMPT", "ask_judge"),
            ".outcomes": ("Outcome", "ClaimState", "apply_outcome", "support_barrier"),
            ".quotes": ("Source", "locate_quote"),
        },
        renamed={
            "Standing": "ClaimState",
            "barred": "support_barrier",
            "settled": "apply_outcome",
            "weaknesses": "reasons_to_judge",
        },
    )
