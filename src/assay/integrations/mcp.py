"""An MCP server that offers `check` and `check_run` as tools with structured output; `assay mcp` runs it.

The tools change nothing: they report what the gate decides on an answer or on a run, and why. `say` is the text that
may be given in place of an answer that does not pass. An input that cannot be read is a tool error with a message
for the model; a check that fails in any other way is an error too, never a pass.

The extra `mcp` installs what this needs; tested with mcp 2.3.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from assay._version import __version__
from assay.errors import AssayError
from assay.guard import Guard
from assay.guard.request import stakes_of
from assay.integrations.run_gate import missing
from assay.policy import answer_of
from assay.schema import HallucinationReport, Stakes
from assay.wire import require_stakes

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations
except ImportError as error:
    raise missing("mcp", error) from error

__all__ = ["CallFinding", "CheckResult", "ClaimFinding", "mcp_server"]

_WHAT = (
    "Checks answers for what their evidence supports. Before you give an answer that rests on documents or on tool "
    "results, call `check` with the answer and the passages, or `check_run` with the transcript. Give the answer only "
    "if `action` is `emit`; otherwise correct what the findings name, or give `say` instead."
)
_EVIDENCE = "The passages, as texts or as objects with `text` and where known `id` and `source`."
_Passages = Annotated[list[str | dict[str, Any]] | None, Field(description=_EVIDENCE)]
_Stakes = Annotated[
    Literal["low", "medium", "high"] | None,
    Field(description="How much depends on the answer: not less than what the server is set to, the default."),
]
_Full = Annotated[bool, Field(description="Whether to give the whole report as well.")]


class ClaimFinding(BaseModel):
    """What was found of one claim of the answer."""

    text: str
    verdict: str = Field(description="supported, contradicted, unsupported, not_checkable or unchecked")
    score: float | None = Field(description="how far the evidence supports it, from 0 to 1")
    issues: list[str] = Field(description="what is wrong with it, in sentences")
    evidence: list[str] = Field(description="the ids of the passages that cover it")


class CallFinding(BaseModel):
    """What was found of one tool call of the run."""

    tool: str
    status: str = Field(description="accepted, rejected or unchecked")
    errors: list[str]


class CheckResult(BaseModel):
    """What the gate decides of an answer, and why."""

    action: Literal["emit", "revise", "block", "escalate"]
    overall_score: float | None = Field(description="the gating score; none where there was nothing to check")
    say: str = Field(description="the answer if it passes, otherwise what may be said in its place")
    reasons: list[str]
    claims: list[ClaimFinding]
    calls: list[CallFinding]
    report: dict[str, Any] | None = Field(default=None, description="the whole report, where it was asked for")


def mcp_server(guard: Guard, *, name: str = "assay", stakes: Stakes | str = Stakes.MEDIUM) -> Any:
    """The server: an `mcp.server.mcpserver.MCPServer`, to be run on a transport or mounted.

    Args:
        guard: what checks.
        name: how the server calls itself.
        stakes: how much depends on answers; a call may raise them, not lower them.

    Raises:
        InputError: there are no such stakes.
    """
    least = stakes_of(stakes)
    server = MCPServer(name, instructions=_WHAT, version=__version__)
    hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False)

    @server.tool(annotations=hints, title="Check an answer against its evidence")
    async def check(
        answer: Annotated[str, Field(description="The answer, word for word.")],
        evidence: _Passages = None,
        question: Annotated[str | None, Field(description="What it answers.")] = None,
        stakes: _Stakes = None,
        full_report: _Full = False,
    ) -> CheckResult:
        """Says of each claim of an answer whether the evidence supports it, and whether the answer may be given."""
        try:
            found = await guard.acheck(answer, evidence or (), question=question, stakes=_in_force(stakes, least))
        except AssayError as error:
            raise ToolError(str(error)) from error
        return _result(found, full_report)

    @server.tool(annotations=hints, title="Check an agent run")
    async def check_run(
        transcript: Annotated[
            list[dict[str, Any]] | dict[str, Any],
            Field(description="Messages, items or spans, or a request with its messages and tools."),
        ],
        tools: Annotated[
            list[dict[str, Any]] | None, Field(description="Declarations that the transcript does not carry.")
        ] = None,
        evidence: _Passages = None,
        stakes: _Stakes = None,
        full_report: _Full = False,
    ) -> CheckResult:
        """Checks every tool call of a run, and its final answer against what the run has seen.

        Reads OpenAI chat messages and Responses items, Anthropic messages, OpenTelemetry GenAI spans and MCP calls.
        """
        try:
            found = await guard.acheck_run(
                transcript, tools=tools or (), evidence=evidence or (), stakes=_in_force(stakes, least)
            )
        except AssayError as error:
            raise ToolError(str(error)) from error
        return _result(found, full_report)

    return server


def _in_force(asked: str | None, least: Stakes) -> Stakes:
    return require_stakes(None if asked is None else Stakes(asked), least)


def _result(report: HallucinationReport, full: bool) -> CheckResult:
    return CheckResult(
        action=report.action.value,
        overall_score=report.overall_score,
        say=answer_of(report),
        reasons=list(report.decision.reasons),
        claims=[
            ClaimFinding(
                text=claim.text,
                verdict=claim.verdict.value,
                score=claim.score,
                issues=[issue.message for issue in claim.issues],
                evidence=list(dict.fromkeys(span.evidence_id for span in claim.evidence_spans)),
            )
            for claim in report.claims
        ],
        calls=[
            CallFinding(tool=call.tool, status=call.status, errors=list(call.errors))
            for call in report.tool_call_validations
        ],
        report=report.model_dump(mode="json") if full else None,
    )
