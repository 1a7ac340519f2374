"""Runs: asks a target the cases of a suite and records every call."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.runs.log import Answer as Answer
    from assay.redteam.runs.log import Record as Record
    from assay.redteam.runs.log import RunLog as RunLog
    from assay.redteam.runs.log import Tokens as Tokens
    from assay.redteam.runs.log import read_record as read_record
    from assay.redteam.runs.runner import RunOptions as RunOptions
    from assay.redteam.runs.runner import RunUsage as RunUsage
    from assay.redteam.runs.runner import run_cases as run_cases
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".log": ("Answer", "Record", "RunLog", "Tokens", "read_record"),
            ".runner": ("RunOptions", "RunUsage", "run_cases"),
        },
        renamed={
            "Spent": "RunUsage",
        },
    )
