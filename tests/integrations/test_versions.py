"""docs/agents.md names, for each adapter, the version of the package that its tests ran with."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
ADAPTED = [
    *("openai", "anthropic", "langchain", "openai-agents", "pydantic-ai", "llama-index", "haystack", "dspy", "crewai"),
    *("google-adk", "smolagents", "agent-framework", "strands", "litellm", "mcp", "langfuse", "phoenix", "inspect-ai"),
    *("deepeval", "ragas", "mlflow"),
]
"""The extras that stand for a tool which has an adapter."""
ROW = re.compile(r"^\| ([^|]+) \| ([\d., ]+) \| ([^|]+) \|$", re.MULTILINE)


def listed() -> dict[str, tuple[str, str]]:
    """Version and tests of each package of the table."""
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8").partition("## Versions")[2]
    return {
        name.split(" (")[0]: (version, tests)
        for names, versions, tests in ROW.findall(text)
        for name, version in zip(names.split(", "), versions.split(", "), strict=True)
    }


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@pytest.mark.parametrize("extra", ADAPTED)
def test_every_adapter_has_the_version_that_it_was_tested_with(extra: str) -> None:
    package, _, least = EXTRAS[extra][0].partition(">=")
    name = re.sub(r"\[.*\]|-skinny", "", package)
    version, _ = listed()[name]
    assert number(version) >= number(least)[: len(number(version))]


def test_every_adapter_of_a_tool_belongs_to_an_extra_of_the_list() -> None:
    folder = ROOT / "src" / "assay" / "integrations"
    ours = {"__init__", "run_gate", "screening", "opentelemetry", "promptfoo", "langgraph"}
    names = {path.stem for room in (folder, folder / "evaluators", folder / "agents") for path in room.glob("*.py")}
    tools = {name.replace("_", "-") for name in names - ours if not name.startswith("_")}
    assert tools & set(EXTRAS) <= set(ADAPTED)


@pytest.mark.parametrize("name", sorted(listed()))
def test_the_tests_that_a_row_names_exist(name: str) -> None:
    _, tests = listed()[name]
    for path in re.findall(r"`(tests/[^`]+)`", tests):
        assert (ROOT / path).exists(), path
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([^`]+)`", tests):
        assert re.search(rf"(?m)^{target}:", makefile), target
