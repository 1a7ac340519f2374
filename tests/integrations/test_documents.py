"""The examples of docs/integrations.md for the official clients and for streams run as they stand."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.client_site import upstream
from tests.server.upstream_script import (
    Answer,
    chat_completion,
    chat_stream,
    json_answer,
    message_events,
    stream_answer,
)

DOCUMENT = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
EXAMPLES = [
    (heading, body)
    for heading, section in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", DOCUMENT, re.DOTALL | re.MULTILINE)
    for body in re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    if heading in ("OpenAI", "Anthropic", "Streams of text")
]
TRUE = "Partners are entitled to 2 weeks of leave."


def _answer(heading: str, body: str) -> Answer:
    if heading == "Anthropic":
        return stream_answer(message_events([{"type": "text", "text": TRUE}]))
    if heading == "Streams of text":
        return stream_answer(chat_stream(TRUE))
    return json_answer(chat_completion(TRUE))


def test_there_are_examples_of_each() -> None:
    assert {heading for heading, _ in EXAMPLES} == {"OpenAI", "Anthropic", "Streams of text"}


@pytest.mark.parametrize(("heading", "body"), EXAMPLES, ids=[heading for heading, _ in EXAMPLES])
def test_each_example_runs(
    heading: str, body: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with upstream(_answer(heading, body)) as here:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{here.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", here.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        names: dict[str, Any] = {"__name__": "example"}
        exec(compile(body, "docs/integrations.md", "exec"), names)  # noqa: S102 the project's own
        if "client" in names:  # left to the collector, its connection would be closed within another test
            names["client"].close()
    said = capsys.readouterr().out
    assert "withheld" not in said
    assert "emit" in said or "True" in said or TRUE in said
