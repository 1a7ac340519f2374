"""The examples of docs/integrations.md for agent frameworks run as they stand, with scripted models."""

import asyncio
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
MODULES = {
    "LangChain and LangGraph": "langgraph",
    "OpenAI Agents SDK": "agents",
    "PydanticAI": "pydantic_ai",
    "LlamaIndex": "llama_index.core",
    "MCP server": "mcp.server.mcpserver",
}
EXAMPLES = [
    (heading, body)
    for heading, section in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)
    for body in re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    if heading in MODULES
]
SAID = "Order W-17 is in Hamburg."


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """Synchronous runs of some frameworks take the thread's loop and leave it open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)


def model(heading: str) -> Any:
    """A model that looks the order up and says where it is."""
    if heading == "LangChain and LangGraph":
        from tests.integrations import test_langchain as langchain

        return langchain.model(langchain.calling("W-17"), SAID)
    if heading == "OpenAI Agents SDK":
        from tests.integrations import test_openai_agents as openai_agents

        return openai_agents.Scripted(openai_agents.calling("W-17"), SAID)
    if heading == "PydanticAI":
        from pydantic_ai.models.function import FunctionModel
        from tests.integrations import test_pydantic_ai as pydantic_ai

        return FunctionModel(pydantic_ai.Script(pydantic_ai.calling("W-17"), SAID))
    if heading == "LlamaIndex":
        from tests.integrations import test_llama_index as llama_index

        return llama_index.Script(llama_index.calling("W-17"), SAID).llm
    return None


def test_there_are_examples_of_each() -> None:
    assert {heading for heading, _ in EXAMPLES} == set(MODULES)


@pytest.mark.parametrize(("heading", "body"), EXAMPLES, ids=[heading for heading, _ in EXAMPLES])
def test_each_example_says_what_passed(heading: str, body: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(MODULES[heading], reason="needs the extra frameworks: pip install 'assay-ai[frameworks]'")
    chat = model(heading)
    if "as_query_engine" in body:  # an engine asks for the answer at once
        from tests.integrations.test_llama_index import Script

        chat = Script(SAID).llm
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the frameworks' own
        exec(compile(body, "docs/integrations.md", "exec"), {"__name__": "example", "model": chat})  # noqa: S102 our own
    said = capsys.readouterr().out
    assert SAID in said
    assert "withheld" not in said
