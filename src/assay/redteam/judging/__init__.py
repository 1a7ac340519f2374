"""Judging answers: readers of what they do, rules, the verifier, and adjudication of unsure judgements."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.judging.adjudication import SecondLook as SecondLook
    from assay.redteam.judging.adjudication import second_look as second_look
    from assay.redteam.judging.judge import ChunkJudge as ChunkJudge
    from assay.redteam.judging.judge import ChunkJudgeFactory as ChunkJudgeFactory
    from assay.redteam.judging.judge import judge_answers as judge_answers
    from assay.redteam.judging.verdicts import PASS_THRESHOLD as PASS_THRESHOLD
    from assay.redteam.judging.verdicts import Dimension as Dimension
    from assay.redteam.judging.verdicts import Judgement as Judgement
    from assay.redteam.judging.verdicts import Outcome as Outcome
    from assay.redteam.judging.verdicts import Score as Score
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".judge": ("ChunkJudge", "ChunkJudgeFactory", "judge_answers"),
            ".adjudication": ("SecondLook", "second_look"),
            ".verdicts": ("PASS_THRESHOLD", "Dimension", "Judgement", "Outcome", "Score"),
        },
        renamed={
            "Judged": "ChunkJudge",
            "JudgingAnswers": "ChunkJudgeFactory",
            "PASSES": "PASS_THRESHOLD",
        },
    )
