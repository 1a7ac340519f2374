"""Stage 1 of docs/concepts.md#agent-runs: tool calls are checked before they are executed, and what an answer claims to
have done after.

Pure functions over values: nothing is fetched, executed or stored here.
"""

from assay.verify.tool_call.actions import (
    ActionStanding,
    ClaimedAction,
    Grade,
    call_outcomes,
    claimed_actions,
    reads_only,
)
from assay.verify.tool_call.attempts import AttemptLog
from assay.verify.tool_call.check import CallCheck, CallStatus, Toolbox, check_call
from assay.verify.tool_call.declare import standard_schema, tool_from_function, tools_from_openapi
from assay.verify.tool_call.feedback import feedback
from assay.verify.tool_call.outcomes import Failure, failure_of
from assay.verify.tool_call.rules import ArgumentRule, Rules, ToolRule, Tracing
from assay.verify.tool_call.runs import ToolReport, check_actions, check_tools, source_of, sources_before
from assay.verify.tool_call.sources import Sources, SourceText
from assay.verify.tool_call.validators import ValidatorCache

__all__ = [
    "ActionStanding", "ArgumentRule", "AttemptLog", "CallCheck", "CallStatus", "ClaimedAction", "Failure", "Grade",
    "Rules", "SourceText", "Sources", "ToolReport", "ToolRule", "Toolbox", "Tracing", "ValidatorCache", "call_outcomes",
    "check_actions", "check_call", "check_tools", "claimed_actions", "failure_of", "feedback", "reads_only",
    "source_of", "sources_before", "standard_schema", "tool_from_function", "tools_from_openapi",
]  # fmt: skip
