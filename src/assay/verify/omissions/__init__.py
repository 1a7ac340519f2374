"""What an answer leaves out of its evidence, and whether the evidence mentions the question at all."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.omissions.denied_information import refuting_clause as refuting_clause
    from assay.verify.omissions.detection import AnswerClaim as AnswerClaim
    from assay.verify.omissions.detection import find_omissions as find_omissions
    from assay.verify.omissions.judge_review import PROMPT as PROMPT
    from assay.verify.omissions.judge_review import review_omissions as review_omissions
    from assay.verify.omissions.relevance import find_irrelevant as find_irrelevant
    from assay.verify.omissions.relevance import unmentioned_parts as unmentioned_parts
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".denied_information": ("refuting_clause",),
            ".detection": ("AnswerClaim", "find_omissions"),
            ".judge_review": ("PROMPT", "review_omissions"),
            ".relevance": ("find_irrelevant", "unmentioned_parts"),
        },
        renamed={"Stated": "AnswerClaim", "untold_parts": "unmentioned_parts"},
    )
