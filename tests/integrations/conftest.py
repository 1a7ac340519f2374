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

if os.environ.get("ASSAY_FRAMEWORKS") == "required":  # `make test-slow` installs all and lets none be skipped
    for framework in FRAMEWORKS:
        importlib.import_module(framework)
