"""The Vercel AI SDK through the gateway: what passes arrives as it was said, what does not never does."""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.server.gateway_site import site
from tests.server.upstream_script import (
    Answer,
    chat_chunk,
    chat_completion,
    chat_stream,
    json_answer,
    message,
    message_events,
    stream_answer,
)

HERE = Path(__file__).parent / "vercel"
PACKAGES = Path(os.environ.get("ASSAY_AI_SDK", "")) / "node_modules"
REQUIRED = os.environ.get("ASSAY_AI_SDK_REQUIRED") == "yes"
EVIDENCE = "Partners are entitled to 2 weeks of leave. Leave is paid in full. Order W-1743 belongs to Anna."
TRUE = "Partners are entitled to 2 weeks of leave. Leave is paid in full."
FALSE = "Leave is paid in full. Partners are entitled to 4 weeks of leave."
ASKED = "Cancel order W-1743. How long is leave?"


@pytest.fixture(autouse=True)
def _packages(tmp_path: Path) -> None:
    """The script beside the packages: Node looks for them from where a script stands."""
    if shutil.which("node") is None or not os.environ.get("ASSAY_AI_SDK") or not PACKAGES.is_dir():
        assert not REQUIRED, "Node or the packages of the AI SDK are not installed"
        pytest.skip("no AI SDK here: make test-ai-sdk")
    shutil.copy(HERE / "ask.mjs", tmp_path / "ask.mjs")
    (tmp_path / "node_modules").symlink_to(PACKAGES, target_is_directory=True)


async def ask(folder: Path, url: str, provider: str, way: str) -> dict[str, Any]:
    asked = {"url": url, "provider": provider, "way": way, "system": EVIDENCE, "prompt": ASKED}
    process = await asyncio.create_subprocess_exec(
        "node",
        str(folder / "ask.mjs"),
        json.dumps(asked),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "AI_SDK_LOG_WARNINGS": "false"},
    )
    out, err = await asyncio.wait_for(process.communicate(), 90)
    assert process.returncode == 0, err.decode()
    found: dict[str, Any] = json.loads(out.decode().splitlines()[-1])
    return found


def told(folder: Path, provider: str, way: str, *answers: Answer) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        async with site() as here:
            here.upstream.script(*answers)
            return await ask(folder, here.url, provider, way)

    return asyncio.run(run())


def said(provider: str, way: str, text: str) -> Answer:
    if provider == "anthropic":
        blocks = [{"type": "text", "text": text}]
        return json_answer(message(text)) if way == "generate" else stream_answer(message_events(blocks))
    return json_answer(chat_completion(text)) if way == "generate" else stream_answer(chat_stream(text))


def calls(way: str, order: str) -> Answer:
    function = {"name": "cancel", "arguments": json.dumps({"order_id": order})}
    call = {"id": "c1", "type": "function", "function": function}
    if way == "generate":
        return json_answer(chat_completion(None, tool_calls=[call]))
    first = {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **call}]}
    return stream_answer([chat_chunk(first), chat_chunk({}, "tool_calls"), b"data: [DONE]\n\n"])


providers = pytest.mark.parametrize("provider", ["openai", "anthropic"])
ways = pytest.mark.parametrize("way", ["generate", "stream"])


@providers
@ways
def test_an_answer_that_passes_arrives_as_it_was_said(tmp_path: Path, provider: str, way: str) -> None:
    found = told(tmp_path, provider, way, said(provider, way, TRUE))
    assert (found["text"], found["finish"], found["error"]) == (TRUE, "stop", None)


@providers
@ways
def test_a_wrong_answer_never_arrives(tmp_path: Path, provider: str, way: str) -> None:
    found = told(tmp_path, provider, way, said(provider, way, FALSE))
    assert "4 weeks" not in found["text"]
    assert found["finish"] == "content-filter"


@ways
def test_a_call_that_the_run_bears_out_is_executed_and_an_invented_one_is_not(tmp_path: Path, way: str) -> None:
    done = told(tmp_path, "openai", way, calls(way, "W-1743"), said("openai", way, "Order W-1743 has been cancelled."))
    assert (done["executed"], done["text"]) == (["W-1743"], "Order W-1743 has been cancelled.")
    (tmp_path / "again").mkdir()
    assert told(tmp_path, "openai", way, calls(way, "X-1"), said("openai", way, TRUE))["executed"] == []
