"""The examples of docs/agents.md run as they stand, with scripted models."""

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
MODULES = {
    "CrewAI": ("crewai", "crewai"),
    "Google ADK": ("google.adk", "google-adk"),
    "smolagents": ("smolagents", "smolagents"),
    "Microsoft Agent Framework": ("agent_framework", "agent-framework"),
    "Strands Agents": ("strands", "strands"),
    "LangGraph": ("langgraph", "langchain"),
}
EXAMPLES = {
    heading: body
    for heading, section in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)
    for body in re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    if heading in MODULES
}
SAID = "Order W-17 is in Hamburg."


def model(heading: str) -> Any:
    """A model that looks the order up and says where it is."""
    if heading == "CrewAI":
        from tests.integrations import test_crewai as crewai

        return crewai.Scripted(model="s", said=[crewai.order("W-17"), crewai.answer(SAID)], asked=[])
    if heading == "Google ADK":
        from tests.integrations import test_google_adk as google_adk

        return google_adk.Scripted(model="m", said=[google_adk.order("W-17"), SAID], asked=[])
    if heading == "smolagents":
        from tests.integrations import test_smolagents as smolagents

        return smolagents.Scripted(f'<code>\nget_order("W-17")\nfinal_answer("{SAID}")\n</code>')
    if heading == "Microsoft Agent Framework":
        from tests.integrations import test_agent_framework as agent_framework

        return agent_framework.Scripted(agent_framework.order("W-17"), SAID)
    if heading == "Strands Agents":
        from tests.integrations import test_strands as strands

        return strands.Scripted(strands.order("W-17"), SAID)
    return None


def test_there_are_examples_of_each() -> None:
    assert set(EXAMPLES) == set(MODULES)


@pytest.mark.parametrize("heading", EXAMPLES)
def test_each_example_says_what_passed(
    heading: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, extra = MODULES[heading]
    pytest.importorskip(module, reason=f"needs the extra {extra}: pip install 'assay-ai[{extra}]'")
    for name in ("CREWAI_DISABLE_TELEMETRY", "OTEL_SDK_DISABLED", "CREWAI_DISABLE_TRACKING", "CREWAI_TESTING"):
        monkeypatch.setenv(name, "true")
    chat = model(heading)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the frameworks' own
        path = tmp_path / "example.py"  # smolagents reads the source of tools
        path.write_text(EXAMPLES[heading], encoding="utf-8")
        exec(compile(EXAMPLES[heading], str(path), "exec"), {"__name__": "example", "model": chat})  # noqa: S102 our own
    said = capsys.readouterr().out
    assert SAID in said
    assert "withheld" not in said
