"""Reads the transcripts of agents: five wire formats, one normal form.

| name | what |
|---|---|
| `openai_chat` | OpenAI chat completions: messages, requests, responses |
| `openai_responses` | OpenAI Responses: items, requests, responses |
| `anthropic_messages` | Anthropic messages: messages, requests, responses |
| `otel_genai` | OpenTelemetry GenAI spans |
| `mcp` | MCP tool calls over JSON-RPC |
"""

from assay.schema.run_formats.read import FORMATS, read_run, read_steps

__all__ = ["FORMATS", "read_run", "read_steps"]
