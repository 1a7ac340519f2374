"""The log of a server: JSON or text, one id a request, no secrets; over a real process and over any text."""

import http.client
import io
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import PolicyError
from assay.server.logs.lines import FORMAT, LEVEL, JsonLines, LogFormat, LogSettings, TextLines, log_settings
from assay.server.logs.redaction import LONGEST, redacted
from assay.server.logs.request_ids import current_id, request_id_of

SECRETS = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", min_size=16, max_size=60)


def written(form: logging.Formatter, message: str, *arguments: object, line: Any = None, error: Any = None) -> str:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(form)
    extra = {} if line is None else {"line": line}
    record = logging.getLogger("assay.test").makeRecord(
        "assay.test", logging.INFO, "f.py", 1, message, arguments, error, extra=extra
    )
    handler.emit(record)
    return out.getvalue()


# Secrets


@given(secret=SECRETS)
@pytest.mark.parametrize(
    "where",
    [
        "connect to postgresql://ann:{}@db.example:5432/assay failed",
        "http://ann:{}@proxy/x and more",
        "authorization: Bearer {}",
        "{{'Authorization': 'Bearer {}', 'accept': '*/*'}}",
        "[(b'authorization', b'Basic {}')]",
        "Authorization: {}",
        '{{"x-api-key": "{}", "model": "m"}}',
        "[(b'x-api-key', b'{}')]",
        "api_key={}&model=m",
        "OPENAI_API_KEY={}",
        "GET /console/setup?token={} HTTP/1.1",
        "password: '{}'",
        'client_secret = "{}"',
        "Cookie: {}",
        "the server said: bearer {} is not known",
        "incorrect key provided: sk-{}",
        "key assay_{} was refused",
        "POST https://models.example/v1/m:generate?key={}&alt=sse failed",
        "https://account.blob.example/c/b?sv=2024-11-04&sig={}",
        "https://bucket.example/o?X-Amz-Expires=60&X-Amz-Signature={}",
        "aws_secret_access_key={}",
        "secret_key: {}",
        "authToken={}",
        r"the body was {{\"access_token\": \"{}\"}}",
        "clone of https://{}@git.example/x failed",
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYD\n{}\n-----END PRIVATE KEY-----",
    ],
)
def test_a_secret_is_not_in_the_line_whatever_it_is(where: str, secret: str) -> None:
    said = written(JsonLines(), "%s", where.format(secret))
    assert secret not in said
    assert "***" in json.loads(said)["message"]
    assert secret not in written(TextLines(), where.format(secret).replace("%", "%%"))


@given(secret=SECRETS)
def test_fields_and_errors_lose_their_secrets_too(secret: str) -> None:
    more = {"api_key": secret, "token": [secret], "n": 1}
    line = {"event": "x", "reasons": [f"http://a:{secret}@b"], "more": more, "tokens": 12}
    said = json.loads(written(JsonLines(), "x", line=line))
    assert secret not in json.dumps(said)
    assert (said["more"]["n"], said["tokens"]) == (1, 12)
    try:
        raise ValueError(f"cannot reach postgresql://ann:{secret}@db")  # noqa: TRY301 an error that a library raises
    except ValueError:
        assert secret not in written(JsonLines(), "failed", error=sys.exc_info())


@pytest.mark.parametrize(
    "plain",
    [
        "worker 12 ended with status -9 after 3.1 s",
        "each worker loads the network for itself",
        "http://127.0.0.1:8080/console",
        "the token limit of 4096 was reached; 12 tokens are left",
        "ann@example.com asked at 12:30",
        "the key=value form of a line, and monkey=banana",
        "https://ann@example.com/x",
    ],
)
def test_what_is_no_secret_stays(plain: str) -> None:
    assert redacted(plain) == plain


@pytest.mark.parametrize(
    "part",
    [
        "://a:",
        "authorization: ",
        "token=",
        "bearer ",
        "x",
        "'",
        'api_key="',
        "sk-",
        "?key=",
        "a_",
        "://",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_hostile_text_takes_no_long_time(part: str) -> None:
    begun = time.process_time()
    said = redacted(part * 1_000_000)
    assert time.process_time() - begun < 2
    assert len(said) < 4 * LONGEST


# Forms


@given(message=st.text(), name=st.text(min_size=1, max_size=10), value=st.text())
def test_each_record_is_one_json_object_on_one_line(message: str, name: str, value: str) -> None:
    for said in (written(JsonLines(), "%s", message), written(JsonLines(), "x", line={name: value})):
        assert said.count("\n") == 1
        assert {"time", "level"} <= set(json.loads(said))


@given(message=st.text(), value=st.text())
def test_no_line_of_text_can_be_forged_by_what_is_logged(message: str, value: str) -> None:
    for said in (written(TextLines(), "%s", message), written(TextLines(), "x", line={"path": value})):
        first, *rest = said.removesuffix("\n").split("\n")
        assert first[:2] == "20"
        assert all(one.startswith("  ") for one in rest)
        assert all(one.isprintable() or one in "\n\t" for one in said)


def test_level_and_form_come_from_the_environment_and_are_checked() -> None:
    assert log_settings({}) == LogSettings("info", LogFormat.JSON)
    assert log_settings({LEVEL: "WARNING", FORMAT: "Text"}) == LogSettings("warning", LogFormat.TEXT)
    for wrong in ({LEVEL: "loud"}, {FORMAT: "xml"}):
        with pytest.raises(PolicyError, match=next(iter(wrong))):
            log_settings(wrong)


# Ids


@given(given_=st.lists(st.binary(max_size=80), max_size=3))
def test_an_id_is_short_and_plain_and_stays_the_same(given_: list[bytes]) -> None:
    scope = {"headers": [(b"x-request-id", one) for one in given_]}
    id_ = request_id_of(scope)
    assert id_.isascii()
    assert 8 <= len(id_) <= 64
    assert all(one.isalnum() or one in "._-" for one in id_)
    assert request_id_of(scope) == id_


def test_a_line_says_which_request_it_is_about() -> None:
    token = current_id.set("abcdef0123456789")
    try:
        assert json.loads(written(JsonLines(), "x"))["request_id"] == "abcdef0123456789"
        assert " [abcdef0123456789] " in written(TextLines(), "x")
    finally:
        current_id.reset(token)
    assert "request_id" not in json.loads(written(JsonLines(), "x"))


# A real process


class _Upstream(BaseHTTPRequestHandler):
    """Answers every completion with one sentence."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "Partners get 4 weeks of leave."}
        body = json.dumps(
            {
                "id": "c",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("x-request-id", "upstream-1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 named by the standard library
        """Says nothing."""


@contextmanager
def upstream() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Upstream)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def asked(port: int, headers: dict[str, str], path: str, body: Any = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
        response = connection.getresponse()
        response.read()
        return response
    finally:
        connection.close()


@contextmanager
def process(*arguments: str, **environ: str) -> Iterator[tuple[int, list[str]]]:
    """A server of its own, and the lines of its log once it has ended."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    running = subprocess.Popen(
        [sys.executable, "-m", "assay", "serve", "--port", str(port), *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environ},
    )
    lines: list[str] = []
    try:
        for _ in range(2400):
            assert running.poll() is None, running.communicate()
            try:
                if asked(port, {}, "/readyz").status == 200:
                    break
            except OSError:
                pass
            time.sleep(0.05)
        yield port, lines
    finally:
        running.send_signal(signal.SIGTERM)
        lines += running.communicate(timeout=120)[1].splitlines()


CHAT = {"model": "m", "messages": [{"role": "user", "content": "How long is partner leave?"}]}


def test_a_server_writes_json_with_ids_and_without_the_secrets_that_it_was_given() -> None:
    secret = "s3cretS3CRETs3cret"  # noqa: S105 none of anybody's
    headers = {"authorization": f"Bearer sk-{secret}", "cookie": f"a={secret}", "content-type": "application/json"}
    with upstream() as url, process("--upstream", url, ASSAY_LOG_LEVEL="debug") as (port, lines):
        named = asked(port, {**headers, "x-request-id": "from-the-proxy-1"}, "/v1/chat/completions", CHAT)
        made = asked(port, {**headers, "x-request-id": "two words"}, "/v1/chat/completions", CHAT)
        plain = asked(port, {}, "/healthz")
    assert named.getheader("x-assay-request-id") == "from-the-proxy-1"
    assert named.getheader("x-request-id") == "upstream-1"
    ids = [response.getheader("x-assay-request-id") or "" for response in (made, plain)]
    assert [len(id_) for id_ in ids] == [32, 32]
    read = [json.loads(line) for line in lines if line.startswith("{")]
    answers = {line["request_id"]: line for line in read if line.get("event") == "answer"}
    assert set(answers) == {"from-the-proxy-1", ids[0]}
    assert answers[ids[0]]["report_id"] == made.getheader("x-assay-report-id")
    assert secret not in "\n".join(lines)


def test_a_server_writes_text_at_the_level_that_it_is_told() -> None:
    quiet = {"ASSAY_LOG_LEVEL": "error", "ASSAY_LOG_FORMAT": "text"}
    with process(**quiet) as (port, lines):
        assert asked(port, {}, "/healthz").status == 200
    assert [line for line in lines if line.startswith("20")] == []


def test_a_server_does_not_start_with_a_level_that_is_none() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assay", "serve", "--port", "0"],
        env={**os.environ, LEVEL: "loud"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, "ASSAY_LOG_LEVEL" in done.stderr) == (2, True)
