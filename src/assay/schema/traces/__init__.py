"""Reads the transcripts of agents: five wire formats, one normal form.

| name | what |
|---|---|
| `openai_chat` | OpenAI chat completions: messages, requests, responses |
| `openai_responses` | OpenAI Responses: items, requests, responses |
| `anthropic_messages` | Anthropic messages: messages, requests, responses |
| `otel_genai` | OpenTelemetry GenAI spans |
| `mcp` | MCP tool calls over JSON-RPC |
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.schema.traces.any_format import FORMATS as FORMATS
    from assay.schema.traces.any_format import read_run as read_run
    from assay.schema.traces.any_format import read_steps as read_steps
    from assay.schema.traces.otel.spans import spans_by_trace as spans_by_trace
    from assay.schema.traces.tools import read_tool as read_tool
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".any_format": ("FORMATS", "read_run", "read_steps"),
            ".otel.spans": ("spans_by_trace",),
            ".tools": ("read_tool",),
        },
    )
