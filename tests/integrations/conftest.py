"""Frameworks that a machine may lack: their tests are left out with a reason, or fail where all are to be there."""

import importlib
import os

FRAMEWORKS = (
    "langchain",
    "langgraph",
    "agents",
    "pydantic_ai",
    "llama_index.core",
    "haystack",
    "dspy",
    "mcp.server.mcpserver",
)

ONE_BY_ONE = {
    "crewai": "crewai",
    "google-adk": "google.adk",
    "smolagents": "smolagents",
    "agent-framework": "agent_framework",
    "strands": "strands",
    "langfuse": "langfuse",
    "phoenix": "phoenix.client",
}
"""By their extra, those that have environments of their own (`make test-agents`)."""

asked = os.environ.get("ASSAY_FRAMEWORKS", "")
if asked == "required":  # `make test-slow` installs all and lets none be skipped
    for framework in FRAMEWORKS:
        importlib.import_module(framework)
else:  # nothing that is named is skipped
    for name in filter(None, asked.split(",")):
        importlib.import_module(ONE_BY_ONE[name])
