"""Where the answer of a LangChain runnable stands may be declared: what a pointer into its output leads to."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from tests.redteam.test_cases import case

from assay.redteam.targets import TargetError, load_target, reply_of, request_of

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("langchain_core") is None, reason="needs LangChain: pip install 'assay-ai[langchain]'"
)
ANSWERS = """
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
class Odd:
    def __str__(self): raise RuntimeError("no words")
blocks = [{"type": "text", "text": "6 "}, {"type": "text", "text": "weeks"}]
found = {"text": "6 weeks", "message": AIMessage("6 weeks"), "blocks": AIMessage(blocks), "list": ["6", "weeks"],
         "object": {"weeks": 6, "of": AIMessage}, "none": None, "odd": [Odd()]}
chain = RunnableLambda(lambda given: {"messages": [None, found[given["question"]]]})
"""


@pytest.fixture
def pointed(tmp_path: Path) -> Any:
    (tmp_path / "pointed_system.py").write_text(ANSWERS, encoding="utf-8")
    declared = f"kind: langchain\nrunnable: {tmp_path / 'pointed_system.py'}:chain\nanswer: /messages/-1\n"
    (tmp_path / "target.yaml").write_text(declared + "input: {question: '{prompt}'}\n", encoding="utf-8")
    return load_target(f"file:{tmp_path / 'target.yaml'}", None, 60.0, {})


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("text", "6 weeks"),
        ("message", "6 weeks"),
        ("blocks", "6 weeks"),
        ("list", '["6", "weeks"]'),
        ("object", '{"weeks": 6, "of": "<class \'langchain_core.messages.ai.AIMessage\'>"}'),
    ],
)
def test_a_pointer_into_the_output_of_a_runnable_may_lead_to_a_message(pointed: Any, kind: str, answer: str) -> None:
    assert reply_of(pointed.ask(request_of(case(kind)))).text == answer


@pytest.mark.parametrize(("kind", "told"), [("none", "nothing at /messages/-1"), ("odd", "neither text nor JSON")])
def test_a_pointer_to_what_has_no_text_is_a_failure_of_the_target(pointed: Any, kind: str, told: str) -> None:
    with pytest.raises(TargetError, match=told):
        pointed.ask(request_of(case(kind)))
