"""Stage 1 of docs/concepts.md#agent-runs: checks tool calls before they are executed, and afterwards the actions that
an answer claims.

Pure functions over values: nothing is fetched, executed or stored here.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.tools.action_claims import ActionStatus as ActionStatus
    from assay.verify.tools.action_claims import CallOutcome as CallOutcome
    from assay.verify.tools.action_claims import ClaimedAction as ClaimedAction
    from assay.verify.tools.action_claims import Grade as Grade
    from assay.verify.tools.action_claims import call_outcomes as call_outcomes
    from assay.verify.tools.action_claims import claimed_actions as claimed_actions
    from assay.verify.tools.action_claims import reads_only as reads_only
    from assay.verify.tools.call_check import CallCheck as CallCheck
    from assay.verify.tools.call_check import CallStatus as CallStatus
    from assay.verify.tools.call_check import Toolbox as Toolbox
    from assay.verify.tools.call_check import check_call as check_call
    from assay.verify.tools.declarations import standard_schema as standard_schema
    from assay.verify.tools.declarations import tool_from_function as tool_from_function
    from assay.verify.tools.declarations import tools_from_openapi as tools_from_openapi
    from assay.verify.tools.failures import Failure as Failure
    from assay.verify.tools.failures import failure_of as failure_of
    from assay.verify.tools.quoting import as_quote as as_quote
    from assay.verify.tools.rejection_feedback import feedback as feedback
    from assay.verify.tools.retries import MOST_RETRIES as MOST_RETRIES
    from assay.verify.tools.retries import AttemptLog as AttemptLog
    from assay.verify.tools.run_check import ToolReport as ToolReport
    from assay.verify.tools.run_check import check_actions as check_actions
    from assay.verify.tools.run_check import check_tools as check_tools
    from assay.verify.tools.run_check import named_by as named_by
    from assay.verify.tools.run_check import source_of as source_of
    from assay.verify.tools.run_check import sources_before as sources_before
    from assay.verify.tools.schema_validators import ValidatorCache as ValidatorCache
    from assay.verify.tools.tracing.argument_entities import name_words as name_words
    from assay.verify.tools.tracing.sources import Sources as Sources
    from assay.verify.tools.tracing.sources import SourceText as SourceText
    from assay.verify.tools.tracing_rules import ArgumentRule as ArgumentRule
    from assay.verify.tools.tracing_rules import Rules as Rules
    from assay.verify.tools.tracing_rules import ToolRule as ToolRule
    from assay.verify.tools.tracing_rules import Tracing as Tracing
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".action_claims": (
                "ActionStatus",
                "CallOutcome",
                "ClaimedAction",
                "Grade",
                "call_outcomes",
                "claimed_actions",
                "reads_only",
            ),
            ".call_check": ("CallCheck", "CallStatus", "Toolbox", "check_call"),
            ".declarations": ("standard_schema", "tool_from_function", "tools_from_openapi"),
            ".failures": ("Failure", "failure_of"),
            ".quoting": ("as_quote",),
            ".rejection_feedback": ("feedback",),
            ".retries": ("AttemptLog", "MOST_RETRIES"),
            ".run_check": ("ToolReport", "check_actions", "check_tools", "named_by", "source_of", "sources_before"),
            ".schema_validators": ("ValidatorCache",),
            ".tracing.argument_entities": ("name_words",),
            ".tracing.sources": ("SourceText", "Sources"),
            ".tracing_rules": ("ArgumentRule", "Rules", "ToolRule", "Tracing"),
        },
        renamed={"ActionStanding": "ActionStatus"},
    )
