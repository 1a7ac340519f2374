"""Checks of agent runs: tool calls, claimed actions, and the evidence that a run contains."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.guard.runs.evidence import DEFAULT_SOURCES as DEFAULT_SOURCES
    from assay.guard.runs.evidence import SOURCES as SOURCES
    from assay.guard.runs.evidence import question_of as question_of
    from assay.guard.runs.evidence import run_evidence as run_evidence
    from assay.guard.runs.tool_calls import ToolLike as ToolLike
    from assay.guard.runs.tool_calls import is_cut_off as is_cut_off
    from assay.guard.runs.tool_calls import read_tools as read_tools
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".evidence": ("DEFAULT_SOURCES", "SOURCES", "question_of", "run_evidence"),
            ".tool_calls": ("ToolLike", "is_cut_off", "read_tools"),
        },
    )
