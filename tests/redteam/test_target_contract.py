"""What every target has to do, whatever it is: the same tests for each, over the real thing."""

import asyncio
import importlib.util
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.redteam.test_cases import PASSAGE, case
from tests.server.gateway_site import site
from tests.server.upstream_script import Answer

from assay.errors import InputError
from assay.redteam.cases import Turn, suite_digest
from assay.redteam.runs import RunLog, RunOptions, run_cases
from assay.redteam.targets import Target, TargetError, load_target, reply_of, request_of
from assay.redteam.targets.templates import Template, at_pointer

TURNS = (Turn(role="user", content="Hello there"), Turn(role="assistant", content="Good morning"))
SYSTEM = """
import json, time
def said(prompt, turns, context):
    if "please fail" in prompt:
        raise RuntimeError("the model is down")
    if "please hang" in prompt:
        time.sleep(30)
    if "please write" in prompt:
        return "x" * 300_000
    return json.dumps({"prompt": prompt, "turns": turns, "context": [one["text"] for one in context]})
"""
FUNCTION = SYSTEM + "def answer(case): return said(case['prompt'], case['turns'], case['context'])\n"
COMMAND = SYSTEM + (
    "import sys\ncase = json.load(sys.stdin)\n"
    "print(json.dumps({'answer': said(case['prompt'], case['turns'], case['context'])}))\n"
)
MCP = (
    SYSTEM
    + '''
from typing import Any
from mcp.server.mcpserver import MCPServer
server = MCPServer("system")
@server.tool()
def ask(question: str, turns: list[dict[str, Any]], context: list[dict[str, Any]]) -> str:
    """Answers."""
    return said(question, turns, context)
@server.tool()
def structured(question: str, turns: list[dict[str, Any]], context: list[dict[str, Any]]) -> dict[str, Any]:
    """Answers in a field."""
    return {"data": [{"answer": said(question, turns, context)}]}
if __name__ == "__main__":
    import sys
    if "--port" in sys.argv:
        server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[-1]))
    else:
        server.run()
'''
)
LANGCHAIN = (
    SYSTEM
    + """
from langchain_core.runnables import RunnableLambda
from langchain_core.messages import AIMessage
ROLES = {"human": "user", "ai": "assistant"}
def _of_messages(messages):
    talk = [one for one in messages if one.type != "system"]
    turns = [{"role": ROLES[one.type], "content": one.content} for one in talk]
    passages = [{"text": one.content.rpartition("]\\n")[2]} for one in messages if one.type == "system"]
    return AIMessage(said(turns[-1]["content"], turns[:-1], passages),
                     usage_metadata={"input_tokens": 7, "output_tokens": 3, "total_tokens": 10})
model = RunnableLambda(_of_messages)
def agent():
    from langgraph.graph import START, MessagesState, StateGraph
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [_of_messages(state["messages"])]})
    graph.add_edge(START, "model")
    return graph.compile()
chain = RunnableLambda(lambda given: {"answer": said(given["question"], given["history"], given["documents"])})
"""
)


class Service(BaseHTTPRequestHandler):
    """A service over HTTP with a form of its own, and one with the form of chat completions."""

    said: ClassVar[Any]
    seen: ClassVar[list[dict[str, str]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        Service.seen.append(dict(self.headers))
        try:
            if self.path == "/ask":
                text = self.said(body["input"]["question"], body["input"]["history"], body["input"]["documents"])
                value: object = {"data": [{"answer": text}], "usage": {"in": 11, "out": 5}}
            else:
                turns = [one for one in body["messages"] if one["role"] != "system"]
                system = [{"text": one["content"].rpartition("]\n")[2]} for one in body["messages"][: -len(turns)]]
                text = self.said(turns[-1]["content"], turns[:-1], system)
                value = {
                    "choices": [{"message": {"role": "assistant", "content": text}}],
                    "usage": {"prompt_tokens": 11, "completion_tokens": 5},
                }
            status, data = 200, json.dumps(value).encode()
        except RuntimeError as error:
            status, data = 418, str(error).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name of the base class
        """Says nothing."""


@contextmanager
def service() -> Iterator[str]:
    names: dict[str, Any] = {}
    exec(SYSTEM, names)  # noqa: S102 the text above
    Service.said, Service.seen = staticmethod(names["said"]), []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


HTTP_FILE = """
kind: http
name: helpdesk
url: {url}/ask
headers: {{X-Key: "Bearer ${{HELPDESK_KEY}}"}}
body:
  input: {{question: "{{prompt}}", history: "{{turns}}", documents: "{{context}}"}}
answer: /data/-1/answer
tokens_in: /usage/in
tokens_out: /usage/out
"""
ARGUMENTS = '{question: "{prompt}", turns: "{turns}", context: "{context}"}'
TIMEOUT_S: Final = 60.0


class Contract:
    """The tests; each target below gives `made`, a function that makes it with a timeout."""

    def asked(self, made: Any, prompt: str, timeout_s: float = TIMEOUT_S, **fields: Any) -> str:
        return reply_of(made(timeout_s).ask(request_of(case(prompt, **fields)))).text

    def test_it_is_sent_the_prompt_the_turns_and_the_context(self, made: Any) -> None:
        told = json.loads(self.asked(made, "How long? “{turns}” {{x}} \N{SNOWMAN}", turns=TURNS, context=(PASSAGE,)))
        assert told["prompt"] == "How long? “{turns}” {{x}} \N{SNOWMAN}"
        assert [(one["role"], one["content"]) for one in told["turns"]] == [(t.role, t.content) for t in TURNS]
        assert told["context"] == [PASSAGE.text]

    def test_a_failure_of_the_system_is_a_failure_of_the_target(self, made: Any) -> None:
        with pytest.raises(TargetError):
            self.asked(made, "please fail")

    def test_the_next_request_after_a_failure_is_answered(self, made: Any) -> None:
        target = made(TIMEOUT_S)
        with pytest.raises(TargetError):
            target.ask(request_of(case("please fail")))
        assert json.loads(reply_of(target.ask(request_of(case("How long?")))).text)["prompt"] == "How long?"

    def test_a_system_that_hangs_is_not_waited_for(self, made: Any) -> None:
        with pytest.raises(TargetError, match=r"no (whole )?answer|reached"):
            self.asked(made, "please hang", self.hanging_s)

    hanging_s: ClassVar[float] = 1.0

    def test_an_answer_beyond_the_limit_is_a_failure(self, made: Any) -> None:
        with pytest.raises(TargetError, match=r"at most|more than"):
            self.asked(made, "please write very much")

    def test_it_may_be_asked_by_several_threads_at_once_and_all_is_recorded(self, made: Any, tmp_path: Path) -> None:
        cases = [case(f"Question {number}?") for number in range(6)]
        target: Target = made(TIMEOUT_S)
        with RunLog(tmp_path / "run.jsonl", suite_digest(cases), target.name) as log:
            run_cases(cases, target, log, RunOptions(concurrency=3))
            answers = [log.answers[one.id, 1] for one in cases]
        assert all(answer.error is None for answer in answers), answers
        assert [json.loads(answer.text or "")["prompt"] for answer in answers] == [one.prompt for one in cases]
        lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()[1:]]
        assert {line["request"]["prompt"] for line in lines if line["event"] == "begun"} == {c.prompt for c in cases}
        assert sum(line["event"] == "answered" for line in lines) == 6

    def test_its_name_in_records_has_no_secret(self, made: Any) -> None:
        assert "s3cret" not in made(TIMEOUT_S).name


def loaded(name: str, **environ: str) -> Any:
    return lambda timeout_s: load_target(name, "small", timeout_s, {"OPENAI_API_KEY": "s3cret", **environ})


class TestPythonFunction(Contract):
    @pytest.fixture
    def made(self, tmp_path: Path) -> Any:
        (tmp_path / "function_system.py").write_text(FUNCTION, encoding="utf-8")
        return loaded(f"python:{tmp_path / 'function_system.py'}:answer")


class TestCommand(Contract):
    @pytest.fixture
    def made(self, tmp_path: Path) -> Any:
        (tmp_path / "command_system.py").write_text(COMMAND, encoding="utf-8")
        return loaded(f"command:{sys.executable} {tmp_path / 'command_system.py'} --key s3cret")


class TestChatEndpoint(Contract):
    @pytest.fixture
    def made(self) -> Iterator[Any]:
        with service() as url:
            yield loaded(f"{url}/v1")

    def test_tokens_are_those_that_the_endpoint_counts(self, made: Any) -> None:
        reply = reply_of(made(TIMEOUT_S).ask(request_of(case("How long?"))))
        assert (reply.tokens_in, reply.tokens_out) == (11, 5)


class TestHttpTemplate(Contract):
    @pytest.fixture
    def made(self, tmp_path: Path) -> Iterator[Any]:
        with service() as url:
            (tmp_path / "target.yaml").write_text(HTTP_FILE.format(url=url), encoding="utf-8")
            yield loaded(f"file:{tmp_path / 'target.yaml'}", HELPDESK_KEY="s3cret")

    def test_headers_come_from_the_environment_and_tokens_from_pointers(self, made: Any) -> None:
        reply = reply_of(made(TIMEOUT_S).ask(request_of(case("How long?"))))
        assert (reply.tokens_in, reply.tokens_out) == (11, 5)
        assert Service.seen[-1]["X-Key"] == "Bearer s3cret"


needs_mcp = pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="needs mcp: pip install 'assay-ai[mcp]'")


@needs_mcp
class TestMcpOnStandardInput(Contract):
    hanging_s: ClassVar[float] = 8.0

    @pytest.fixture
    def made(self, tmp_path: Path) -> Iterator[Any]:
        (tmp_path / "mcp_system.py").write_text(MCP, encoding="utf-8")
        told = {"kind": "mcp", "command": [sys.executable, str(tmp_path / "mcp_system.py")], "tool": "ask"}
        (tmp_path / "target.yaml").write_text(f"{json.dumps(told)[:-1]}, arguments: {ARGUMENTS}}}", encoding="utf-8")
        made_targets: list[Any] = []

        def make(timeout_s: float) -> Any:
            made_targets.append(load_target(f"file:{tmp_path / 'target.yaml'}", None, timeout_s, {}))
            return made_targets[-1]

        yield make
        for one in made_targets:
            one.close()

    def test_a_server_that_died_is_started_anew(self, made: Any, tmp_path: Path) -> None:
        text = MCP.replace(
            'if "please fail" in prompt:', 'if "please die" in prompt:\n        import os; os._exit(3)\n    if False:'
        )
        (tmp_path / "mcp_system.py").write_text(text, encoding="utf-8")
        target = made(60.0)
        with pytest.raises(TargetError):
            target.ask(request_of(case("please die")))
        assert "How long?" in reply_of(target.ask(request_of(case("How long?")))).text

    def test_a_pointer_goes_into_json_that_is_given_as_text(self, made: Any, tmp_path: Path) -> None:
        told = {"kind": "mcp", "command": [sys.executable, str(tmp_path / "mcp_system.py")], "tool": "ask"}
        text = f"{json.dumps({**told, 'answer': '/prompt'})[:-1]}, arguments: {ARGUMENTS}}}"
        (tmp_path / "target.yaml").write_text(text, encoding="utf-8")
        assert reply_of(made(60.0).ask(request_of(case("How long?")))).text == "How long?"
        (tmp_path / "target.yaml").write_text(text.replace("/prompt", "/missing"), encoding="utf-8")
        with pytest.raises(TargetError, match="nothing at /missing"):
            made(60.0).ask(request_of(case("How long?")))


@needs_mcp
class TestMcpOverHttp(Contract):
    hanging_s: ClassVar[float] = 4.0

    @pytest.fixture
    def made(self, tmp_path: Path) -> Iterator[Any]:
        (tmp_path / "mcp_system.py").write_text(MCP, encoding="utf-8")
        command = [sys.executable, str(tmp_path / "mcp_system.py"), "--port", str(free_port())]
        made_targets: list[Any] = []
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                found = (re.search(r"http://127\.0\.0\.1:\d+", line) for line in process.stderr)
                url = next(one.group() for one in found if one)
                drained = threading.Thread(target=process.stderr.read, daemon=True)
                drained.start()
                told = f"kind: mcp, url: '{url}/mcp', tool: structured, answer: /data/0/answer"
                (tmp_path / "target.yaml").write_text(f"{{{told}, arguments: {ARGUMENTS}}}", encoding="utf-8")

                def make(timeout_s: float) -> Any:
                    made_targets.append(load_target(f"file:{tmp_path / 'target.yaml'}", None, timeout_s, {}))
                    return made_targets[-1]

                yield make
            finally:
                for one in made_targets:
                    one.close()
                process.kill()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


needs_langchain = pytest.mark.skipif(
    importlib.util.find_spec("langchain_core") is None, reason="needs LangChain: pip install 'assay-ai[langchain]'"
)


@needs_langchain
class TestLangChainWithMessages(Contract):
    @pytest.fixture
    def made(self, tmp_path: Path) -> Any:
        (tmp_path / "chain_system.py").write_text(LANGCHAIN, encoding="utf-8")
        return loaded(f"langchain:{tmp_path / 'chain_system.py'}:model")

    def test_tokens_are_those_of_the_message(self, made: Any) -> None:
        reply = reply_of(made(TIMEOUT_S).ask(request_of(case("How long?"))))
        assert (reply.tokens_in, reply.tokens_out) == (7, 3)


@pytest.mark.skipif(
    importlib.util.find_spec("langgraph") is None, reason="needs LangGraph: pip install 'assay-ai[langchain]'"
)
class TestAgentOfLangGraph(Contract):
    """A compiled graph, which a function makes, and which takes a state with messages."""

    @pytest.fixture
    def made(self, tmp_path: Path) -> Any:
        (tmp_path / "chain_system.py").write_text(LANGCHAIN, encoding="utf-8")
        return loaded(f"langchain:{tmp_path / 'chain_system.py'}:agent")


@needs_langchain
class TestLangChainWithADeclaredInput(Contract):
    @pytest.fixture
    def made(self, tmp_path: Path) -> Any:
        (tmp_path / "chain_system.py").write_text(LANGCHAIN, encoding="utf-8")
        declared = f"kind: langchain\nrunnable: {tmp_path / 'chain_system.py'}:chain\nanswer: /answer\n"
        places = '{question: "{prompt}", history: "{turns}", documents: "{context}"}'
        (tmp_path / "target.yaml").write_text(f"{declared}input: {places}\n", encoding="utf-8")
        return loaded(f"file:{tmp_path / 'target.yaml'}")


@pytest.mark.parametrize(("weeks", "passes"), [(6, True), (9, False)])
def test_the_gateway_of_assay_is_a_target_and_withholds_what_is_not_borne_out(weeks: int, passes: bool) -> None:
    async def scene() -> str:
        async with site() as place:
            told = {"role": "assistant", "content": f"Partners receive {weeks} weeks of leave."}
            place.upstream.script(
                Answer(json.dumps({"choices": [{"index": 0, "message": told, "finish_reason": "stop"}]}).encode())
            )
            target = load_target(f"{place.url}/v1", "scripted", TIMEOUT_S, {})
            asked = request_of(case("How long is the leave?", turns=TURNS, context=(PASSAGE,)))
            return reply_of(await asyncio.to_thread(target.ask, asked)).text

    said = asyncio.run(scene())
    assert (f"{weeks} weeks" in said) is passes


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kind: http\nurl: http://x/\nbody: {q: hello}", "needs a place"),
        ("kind: http\nurl: http://x/\nbody: {q: '{question}'}", "no place {question}"),
        ("kind: http\nurl: http://x/\nbody: {q: 'Say {messages}'}", "has to stand alone"),
        ("kind: http\nurl: http://x/\nbody: '{prompt}'\nanswer: data", "JSON Pointer"),
        ("kind: http\nurl: http://u:p@x/\nbody: '{prompt}'", "password"),
        ("kind: http\nurl: file:///etc/passwd\nbody: '{prompt}'", "expected the address"),
        ("kind: http\nurl: http://x/\nbody: '{prompt}'\nheaders: {A: '${NOT_SET_HERE}'}", "NOT_SET_HERE is not set"),
        ("kind: http\nurl: http://x/\nbody: '{prompt}'\nheaders: {A: \"${BAD}\"}", "no request can carry"),
        ("kind: http\nurl: http://x/\nbody: '{prompt}'\nextra: 1", "Extra inputs"),
        ("kind: mcp\ntool: ask\narguments: {q: '{prompt}'}", "either a command or a url"),
        ("kind: telnet", "expected a target"),
        ("[1", "expected YAML"),
        ("!!python/object/apply:os.system [ls]", "expected YAML"),
    ],
)
def test_what_is_no_declaration_is_refused_with_a_sentence(text: str, told: str, tmp_path: Path) -> None:
    if "kind: mcp" in text and importlib.util.find_spec("mcp") is None:
        pytest.skip("needs mcp")
    path = tmp_path / "target.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(told)):
        load_target(f"file:{path}", None, 5.0, {"BAD": "x\r\nHost: elsewhere"})


def test_turns_without_a_place_leave_a_case_unjudged_in_place_of_asking_another(tmp_path: Path) -> None:
    path = tmp_path / "target.yaml"
    path.write_text("kind: http\nurl: http://127.0.0.1:9/\nbody: {q: '{prompt}'}", encoding="utf-8")
    with pytest.raises(TargetError, match="takes no earlier turns"):
        load_target(f"file:{path}", None, 5.0, {}).ask(request_of(case("How long?", turns=TURNS)))


def test_another_template_is_another_target(tmp_path: Path) -> None:
    names = set()
    for place in ("q", "question"):
        path = tmp_path / "target.yaml"
        path.write_text(f"kind: http\nurl: http://x/\nbody: {{{place}: '{{prompt}}'}}", encoding="utf-8")
        names.add(load_target(f"file:{path}", None, 5.0, {}).name)
    assert len(names) == 2


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_what_is_put_into_a_place_is_never_read_for_places(tree: Any) -> None:
    template = Template({"asked": "{prompt}", "said": "<{prompt}>", "kept": [1, None]}, "here")
    prompt = json.dumps(tree) + "{turns}{context}"
    filled = template.filled({"id": "a", "prompt": prompt, "turns": [], "context": []}, [], "here")
    assert filled == {"asked": prompt, "said": f"<{prompt}>", "kept": [1, None]}


@given(st.dictionaries(st.text(min_size=1), st.integers(), min_size=1))
def test_a_pointer_finds_every_member(value: dict[str, int]) -> None:
    for name, member in value.items():
        escaped = name.replace("~", "~0").replace("/", "~1")
        assert at_pointer({"a": [value]}, f"/a/0/{escaped}") == member
        assert at_pointer({"a": [value]}, f"/a/-1/{escaped}") == member


@pytest.mark.parametrize(
    "begins",
    [
        b"HTTP/1.1 200 OK\r\nx: ",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n",
        b'HTTP/1.1 200 OK\r\n\r\n{"choices": [{"message": {"content": "6 weeks"}}]}',
    ],
    ids=["in its head", "in a body of a known length", "after what could be the whole body"],
)
def test_a_server_that_sends_a_byte_now_and_then_is_not_waited_for(begins: bytes) -> None:
    """Each byte comes in time; the whole does not, for more than an hour."""
    listening = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        client, _ = listening.accept()
        with client, suppress(OSError):
            client.sendall(begins)
            for _ in range(40_000):
                client.sendall(b" ")
                time.sleep(0.1)

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    begun = time.monotonic()
    with listening, pytest.raises(TargetError, match=r"no (whole )?answer"):
        load_target(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", None, 1.0, {}).ask(
            request_of(case("How long?"))
        )
    assert time.monotonic() - begun < 5


def test_a_response_that_breaks_off_is_no_answer(tmp_path: Path) -> None:
    """Of a service whose response is plain text nothing else would tell."""
    listening = socket.create_server(("127.0.0.1", 0))

    def breaks_off() -> None:
        client, _ = listening.accept()
        with client:
            client.recv(65_536)
            client.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nIt is 6 weeks, but")
            client.shutdown(socket.SHUT_WR)
            # What of the request is unread when a socket is closed makes the end a reset, which is another story.
            while client.recv(65_536):
                pass

    threading.Thread(target=breaks_off, daemon=True).start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    (tmp_path / "target.yaml").write_text(f"kind: http\nurl: {url}\nbody: {{q: '{{prompt}}'}}", encoding="utf-8")
    with listening, pytest.raises(TargetError, match="broke off"):
        load_target(f"file:{tmp_path / 'target.yaml'}", None, TIMEOUT_S, {}).ask(request_of(case("How long?")))


def test_a_command_that_writes_without_end_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid))\n"
        "while True: sys.stdout.write('x' * 65536)\n",
        encoding="utf-8",
    )
    with pytest.raises(TargetError, match="wrote more than"):
        load_target(f"command:{sys.executable} {script}", None, 60.0, {}).ask(request_of(case("How long?")))
    child = int((tmp_path / "child").read_text())
    until = time.monotonic() + 10
    while is_alive(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_alive(child)


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_that_reads_nothing_may_answer_all_the_same() -> None:
    context = tuple(PASSAGE.model_copy(update={"id": str(at), "text": "x" * 100_000}) for at in range(20))
    target = load_target(f"command:{sys.executable} -c \"print('Six weeks.')\"", None, TIMEOUT_S, {})
    assert reply_of(target.ask(request_of(case("How long?", context=context)))).text == "Six weeks."
