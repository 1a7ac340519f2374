"""Targets: functions, commands and endpoints, each over the real thing."""

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.redteam.test_cases import PASSAGE, case

from assay.errors import InputError
from assay.redteam.cases import Turn
from assay.redteam.targets import Reply, TargetError, load_target, reply_of, request_of
from assay.redteam.targets.chat_endpoint import completion_of

REQUEST = request_of(
    case(
        "How long?",
        turns=(Turn(role="user", content="Hi"), Turn(role="assistant", content="Hello")),
        context=(PASSAGE,),
    )
)


def target(name: str, timeout: float = 20.0, **environ: str) -> Any:
    return load_target(name, None, timeout, environ)


def test_a_request_says_nothing_of_what_is_expected() -> None:
    assert set(REQUEST) == {"id", "prompt", "turns", "context"}
    assert REQUEST["turns"] == [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    assert REQUEST["context"][0]["text"] == PASSAGE.text


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "my_system_under_test.py").write_text(
        """
import time
from assay.redteam.targets import Reply
def answer(case): return f"{case['id']}: {case['prompt']}"
async def later(case): return "later"
def number(case): return 3
def fails(case): raise RuntimeError("no \\x1b[31m model")
def leaves(case): raise SystemExit(1)
def hangs(case): time.sleep(5)
def empty(case): return Reply(None)
def endless(case): return Reply("x" * 300_000)
def counts(case): return Reply("lone \\ud800", tokens_in="3", tokens_out=7)
class Agent:
    @staticmethod
    def run(case): return "agent"
""",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one != str(tmp_path)])
    yield "my_system_under_test"
    sys.modules.pop("my_system_under_test", None)


def test_a_function_of_the_working_directory_is_called(module: str) -> None:
    assert target(f"python:{module}:answer").ask(REQUEST) == f"{REQUEST['id']}: How long?"


def test_coroutines_methods_and_files_are_targets_too(module: str) -> None:
    assert target(f"python:{module}:later").ask(REQUEST) == "later"
    assert target(f"python:{module}:Agent.run").ask(REQUEST) == "agent"
    assert target(f"python:{module}.py:later").ask(REQUEST) == "later"


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("number", "expected text, got int"),
        ("fails", "RuntimeError: no"),
        ("leaves", "SystemExit"),
        ("empty", "expected text, got NoneType"),
        ("endless", "at most 200,000 characters"),
    ],
)
def test_a_function_that_fails_is_a_failure_of_the_target(module: str, function: str, told: str) -> None:
    with pytest.raises(TargetError, match=told):
        target(f"python:{module}:{function}").ask(REQUEST)


def test_of_the_token_counts_of_a_function_those_that_are_none_are_left_out(module: str) -> None:
    assert target(f"python:{module}:counts").ask(REQUEST) == Reply("lone ?", None, 7)


def test_a_function_that_hangs_is_not_waited_for(module: str) -> None:
    with pytest.raises(TargetError, match=r"within 0\.2 seconds"):
        target(f"python:{module}:hangs", 0.2).ask(REQUEST)


@pytest.mark.parametrize(
    "name",
    [
        "python:",
        "python:json",
        "python:no_such_module_here:f",
        "python:json:no_such",
        "command:",
        "command:'x",
        "ftp://x/y",
        "https://user:secret@host/v1",
        "something",
        "http://",
    ],
)
def test_what_is_no_target_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        target(name)


ECHO = "import json,sys; case=json.load(sys.stdin); print(json.dumps({'answer': case['prompt'].upper()}))"


def test_a_command_takes_json_and_gives_json() -> None:
    assert target(f'command:{sys.executable} -c "{ECHO}"').ask(REQUEST) == "HOW LONG?"


def test_a_command_may_give_text() -> None:
    assert target(f"command:{sys.executable} -c \"print('Six weeks.')\"").ask(REQUEST) == "Six weeks."


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("import sys; sys.stderr.write('broken'); sys.exit(4)", "status 4: broken"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "not UTF-8"),
        ("import time; time.sleep(20)", "within 1 seconds"),
    ],
)
def test_a_command_that_fails_is_a_failure_of_the_target(script: str, told: str) -> None:
    with pytest.raises(TargetError, match=told):
        target(f'command:{sys.executable} -c "{script}"', 1.0).ask(REQUEST)


def test_a_command_that_is_not_there_is_a_failure_and_its_arguments_are_in_no_record() -> None:
    made = target("command:no-such-program --key secret")
    assert "secret" not in made.name
    with pytest.raises(TargetError, match="cannot be started"):
        made.ask(REQUEST)


def test_a_prompt_never_becomes_a_part_of_a_command(tmp_path: Path) -> None:
    hostile = dict(REQUEST, prompt=f"'; touch {tmp_path / 'made'}; $(touch {tmp_path / 'made'})")
    target(f'command:{sys.executable} -c "{ECHO}"').ask(hostile)
    assert not (tmp_path / "made").exists()


class Endpoint(BaseHTTPRequestHandler):
    """A chat endpoint that answers as its script says."""

    script: ClassVar[list[tuple[int, object]]] = []
    seen: ClassVar[list[tuple[str, dict[str, str], Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.seen.append((self.path, dict(self.headers), body))
        status, value = self.script.pop(0)
        data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        if status == 429:
            self.send_header("retry-after", "0")
        if status == 302:
            self.send_header("location", "/elsewhere")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name of the base class
        """Says nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.script, Endpoint.seen = [], []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def completion(content: object, **message: object) -> dict[str, object]:
    return {"choices": [{"message": {"role": "assistant", "content": content, **message}}]}


def test_an_endpoint_is_asked_in_the_form_of_chat_completions(endpoint: str) -> None:
    Endpoint.script = [(200, completion("6 weeks"))]
    said = reply_of(load_target(f"{endpoint}/v1", "small", 5, {"OPENAI_API_KEY": "k-1"}).ask(REQUEST)).text
    path, headers, body = Endpoint.seen[0]
    assert said == "6 weeks"
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer k-1"
    assert body["model"] == "small"
    assert [one["role"] for one in body["messages"]] == ["system", "user", "assistant", "user"]
    assert PASSAGE.text in body["messages"][0]["content"]
    assert body["messages"][-1]["content"] == "How long?"


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_the_address_may_be_short_or_whole(endpoint: str, path: str) -> None:
    Endpoint.script = [(200, completion("yes"))]
    assert target(endpoint + path).ask(REQUEST).text == "yes"
    assert Endpoint.seen[0][0] == "/v1/chat/completions"
    assert "Authorization" not in Endpoint.seen[0][1]


@pytest.mark.parametrize("address", ["http://[::1", "http://desk:port/v1", "http://desk:99999"])
def test_an_address_that_cannot_be_parsed_is_refused_with_the_reason(address: str) -> None:
    with pytest.raises(InputError, match="http"):
        target(address)


@pytest.mark.parametrize(
    "address",
    ["http://ann:s3cret@[::1", "http://ann:s3cret", "http://ann:s3cret@ho\u2100st/", "http://ann:s3cret@desk/v1"],
)
def test_the_refusal_of_an_address_does_not_repeat_a_password_in_it(address: str) -> None:
    with pytest.raises(InputError) as refused:
        target(address)
    assert "s3cret" not in f"{refused.value}{refused.value.__cause__ or ''}"


def test_a_busy_endpoint_is_asked_again(endpoint: str) -> None:
    Endpoint.script = [(429, {}), (200, completion("yes"))]
    assert target(endpoint).ask(REQUEST).text == "yes"


def test_a_refusal_is_an_answer(endpoint: str) -> None:
    Endpoint.script = [(200, completion(None, refusal="I cannot."))]
    assert target(endpoint).ask(REQUEST).text == "I cannot."


@pytest.mark.parametrize(
    "reply",
    [
        (401, {"error": "no"}),
        (302, ""),
        (200, "no json"),
        (200, {}),
        (200, {"choices": []}),
        (200, completion(None)),
        (200, completion(7)),
        (200, [1]),
    ],
)
def test_what_is_no_answer_is_a_failure_and_redirects_are_not_followed(
    endpoint: str, reply: tuple[int, object]
) -> None:
    Endpoint.script = [reply]
    with pytest.raises(TargetError):
        target(endpoint).ask(REQUEST)
    assert len(Endpoint.seen) == 1


def test_an_endpoint_that_is_not_there_is_a_failure() -> None:
    with pytest.raises(TargetError, match="cannot be reached"):
        target("http://127.0.0.1:9").ask(REQUEST)


def test_an_answer_that_nests_too_deep_ends_no_run(endpoint: str) -> None:
    deep = "[" * 150_000
    script = f"import sys; sys.stdout.write('[' * {len(deep)})"
    assert target(f'command:{sys.executable} -c "{script}"').ask(REQUEST) == deep
    with pytest.raises(TargetError, match="expected a chat completion"):
        completion_of(deep.encode(), "here")
