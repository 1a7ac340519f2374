"""The guardrail in a real LiteLLM proxy in front of a scripted upstream, asked by the official client."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.client_site import CALL, CHAT, FALSE, INVENTED, TRUE, upstream
from tests.server.upstream_script import Answer, chat_chunk, chat_completion, chat_stream, json_answer, stream_answer

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # or it is fetched when it is imported
pytest.importorskip("litellm", reason="needs the extra litellm: pip install 'assay-ai[litellm]'")
pytest.importorskip("fastapi_sso", reason="needs LiteLLM's proxy, which others that bring LiteLLM leave out")

from openai import OpenAI

KEY = "sk-" + "0123456789abcdef" * 4
CONFIG = """
model_list:
  - model_name: model-1
    litellm_params: {model: openai/model-1, api_base: URL/v1, api_key: k}
guardrails:
  - guardrail_name: assay
    litellm_params:
      guardrail: assay.integrations.litellm.AssayGuardrail
      mode: [pre_call, post_call]
      default_on: true
      policy: general
litellm_settings: {num_retries: 0, drop_params: true}
"""


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def proxy(folder: Path, *answers: Answer) -> Iterator[tuple[OpenAI, Any]]:
    """The proxy as a process, with a client of its own and the upstream behind it."""
    with upstream(*answers) as here:
        (folder / "config.yaml").write_text(CONFIG.replace("URL", here.url), encoding="utf-8")
        port = free_port()
        environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "LITELLM_"))},
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MASTER_KEY": KEY,
            "NO_DOCS": "True",
        }
        command = Path(sys.executable).with_name("litellm")
        asked = [str(command), "--config", str(folder / "config.yaml"), "--host", "127.0.0.1", "--port", str(port)]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(asked, cwd=folder, env=environ, stdout=log, stderr=log)
        try:
            until = time.monotonic() + 120
            while not _answers(port):
                assert process.poll() is None, (folder / "log").read_text()[-3_000:]
                assert time.monotonic() < until, "the proxy does not answer"
                time.sleep(0.2)
            here.script(*answers)  # the proxy has asked for models meanwhile
            yield OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=KEY, max_retries=0, timeout=60), here
        finally:
            process.terminate()
            process.wait(30)


def _answers(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def calls(*made: dict[str, Any]) -> Answer:
    return json_answer(chat_completion(None, tool_calls=list(made)))


def test_what_passes_a_proxy_is_what_was_checked(tmp_path: Path) -> None:
    script = [json_answer(chat_completion(text)) for text in (TRUE, FALSE, TRUE, TRUE)]
    with proxy(tmp_path, *script, calls(CALL), calls(INVENTED)) as (client, here):
        right = client.chat.completions.create(**CHAT)
        assert (right.choices[0].message.content, right.choices[0].finish_reason) == (TRUE, "stop")
        wrong = client.chat.completions.create(**CHAT)
        assert wrong.choices[0].finish_reason == "content_filter"
        assert "4 weeks" not in str(wrong.choices)
        plain = {"model": "model-1", "messages": CHAT["messages"][1:]}
        given = client.chat.completions.create(
            **plain, extra_body={"assay": {"evidence": ["Partners are entitled to 3 weeks of leave."]}}
        )
        assert given.choices[0].finish_reason == "content_filter", "the evidence is that of the member `assay`"
        assert all("assay" not in request.json() for request in here.asked)
        loosened = client.chat.completions.create(**plain, extra_body={"assay": {"policy": "creative"}})
        assert loosened.choices[0].finish_reason == "content_filter", "a caller cannot name a policy"
        done = client.chat.completions.create(**CHAT).choices[0].message.tool_calls
        assert done is not None
        assert json.loads(done[0].function.arguments) == {"order_id": "W-1743"}
        assert client.chat.completions.create(**CHAT).choices[0].message.tool_calls is None


def test_a_stream_comes_after_it_was_checked(tmp_path: Path) -> None:
    first = {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **CALL}]}
    invented = [chat_chunk(first), chat_chunk({}, "tool_calls"), b"data: [DONE]\n\n"]
    script = [stream_answer(chat_stream(TRUE)), stream_answer(chat_stream(FALSE)), stream_answer(invented)]
    with proxy(tmp_path, *script) as (client, _):
        assert said(client) == (TRUE, "stop", [])
        text, finish, _calls = said(client)
        assert "4 weeks" not in text
        assert finish == "content_filter"
        assert said(client)[2] == ["W-1743"]


def said(client: OpenAI) -> tuple[str, str | None, list[str]]:
    text, finish, arguments = "", None, []
    for piece in client.chat.completions.create(**CHAT, stream=True):
        for choice in piece.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            arguments += [json.loads(call.function.arguments)["order_id"] for call in choice.delta.tool_calls or ()]
    return text, finish, arguments
