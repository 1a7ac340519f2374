"""An adapter without its framework says what to install; the package itself needs none of them."""

import subprocess
import sys

import pytest

from assay.integrations.run_gate import in_words

ADAPTERS = {
    "langchain": "langchain",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "llama_index": "llama_index",
    "haystack": "haystack",
    "mcp": "mcp",
    "agents.crewai": "crewai",
    "agents.google_adk": "google.adk",
    "agents.smolagents": "smolagents",
    "agents.agent_framework": "agent_framework",
    "agents.strands": "strands",
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_without_its_framework_names_the_extra(adapter: str) -> None:
    code = f"import sys; sys.modules[{ADAPTERS[adapter]!r}] = None; import assay.integrations.{adapter}"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "MissingPackageError" in found.stderr
    assert f"pip install 'assay-ai[{adapter.removeprefix('agents.').replace('_', '-')}]'" in found.stderr


def test_the_command_says_so_as_well() -> None:
    code = "import sys; sys.modules['mcp'] = None; sys.argv = ['assay', 'mcp']; from assay.cli import main; main()"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "pip install 'assay-ai[mcp]'" in found.stderr


def test_no_framework_is_loaded_with_the_package() -> None:
    code = f"import sys, assay, assay.integrations.run_gate; print(set({list(ADAPTERS.values())!r}) & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_a_structured_answer_in_words_keeps_sentences_and_names_values() -> None:
    said = in_words({"answer": "It is here.", "items": [{"unit_price": 3.5}, {"unit_price": 4}], "none": None})
    assert said == "It is here.\nitems unit price: 3.5\nitems unit price: 4"
    assert in_words("As it is.") == "As it is."
    assert in_words(object()).startswith("<object")
