"""`assay serve` as its users run it: a process of its own, stopped by a signal, with workers that may die."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.server.test_api import BODY

from assay.cli.operations.serve import startable_settings
from assay.cli.options.serve import ServerOptions
from assay.errors import PolicyError
from assay.server.settings import Mode, ServerSettings, parse_settings


def options(**more: Any) -> ServerOptions:
    return ServerOptions(**more)


@contextmanager
def serve(*arguments: str) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    """The command on a free port, ready to answer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "assay", "serve", "--port", str(port), *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        _until_ready(port, process)
        yield port, process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _until_ready(port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(1200):
        assert process.poll() is None, process.stderr.read() if process.stderr else b""
        try:
            if ask(port, "GET", "/readyz")[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError("the server did not become ready")


def ask(port: int, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(
            method, path, json.dumps(body) if body is not None else None, {"content-type": "application/json"}
        )
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_the_embedded_default_checks_without_anything_else_and_stops_cleanly() -> None:
    with serve() as (port, process):
        status, report = ask(port, "POST", "/v1/check", BODY)
        assert (status, report["action"]) == (200, "block")
        status, error = ask(port, "POST", "/v1/chat/completions", {"model": "m", "messages": []})
        assert status == 404
        assert "--upstream" in error["error"]["message"]
    assert process.returncode in (0, -signal.SIGTERM)


def test_a_connection_that_says_nothing_is_kept_for_as_long_as_the_gateway_file_says(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text("limits: {keep_alive_s: 1}\n", encoding="utf-8")
    with serve("--gateway", str(file)) as (port, _), socket.create_connection(("127.0.0.1", port), 60) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        answer = connection.recv(65_536)
        begun = time.monotonic()
        while more := connection.recv(65_536):
            answer += more
        assert answer.startswith(b"HTTP/1.1 200")
        assert time.monotonic() - begun > 0.5


def cmdline(pid: str) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in /proc")
def test_a_worker_that_is_killed_is_replaced_and_the_others_go_on() -> None:
    with serve("--workers", "2") as (port, process):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        workers = [int(child) for child in children if b"resource_tracker" not in cmdline(child)]
        os.kill(workers[0], signal.SIGKILL)
        answered = 0
        for _ in range(400):
            # The connection may be the killed worker's: that is an error, never a wrong answer.
            with suppress(OSError, http.client.HTTPException):
                answered += ask(port, "POST", "/v1/check", BODY)[1]["action"] == "block"
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            if answered >= 5 and str(workers[0]) not in children and len(children) >= 2:
                break
        assert answered >= 5


def test_another_address_without_keys_ends_with_the_status_of_misuse() -> None:
    command = [sys.executable, "-m", "assay", "serve", "--host", "0.0.0.0"]  # noqa: S104 must be refused
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "assay keys create" in done.stderr


def test_the_command_line_names_upstreams_and_a_mode() -> None:
    told = startable_settings(options(upstream=("http://a.example/v1", "lab=http://b.example"), mode="shadow"), {})
    assert [(upstream.name, upstream.root) for upstream in told.upstreams] == [
        ("default", "http://a.example"),
        ("lab", "http://b.example"),
    ]
    assert {told.route(name).mode for name in ("chat_completions", "messages")} == {Mode.SHADOW}


@pytest.mark.parametrize(
    "wrong",
    [{"mode": "sleep"}, {"upstream": ("ftp://a",)}, {"policy": "nonesuch"}, {"host": "0.0.0.0"}],  # noqa: S104
)
def test_a_command_line_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        startable_settings(options(**wrong), {})


def test_a_gateway_file_names_upstreams_routes_and_limits(tmp_path: Path) -> None:
    path = tmp_path / "gateway.yaml"
    path.write_text(
        "upstreams:\n  main: {url: 'http://a.example', key_env: LAB_KEY, key_header: x-api-key}\n"
        "routes:\n  messages: {mode: annotate, policy: rag, upstream: main, policies: [rag]}\n  responses: shadow\n"
        "limits: {check_s: 5}\n"
    )
    told = startable_settings(options(gateway=path), {"LAB_KEY": "s3cret"})
    assert told.upstreams[0].key == "s3cret"
    assert "s3cret" not in repr(told)
    assert told.route("messages").policies == ("rag",)
    assert told.route("responses").mode is Mode.SHADOW
    assert told.route("chat_completions").mode is Mode.ENFORCE
    assert told.limits.check_s == 5


@pytest.mark.parametrize(
    "wrong",
    [
        {"colour": 1},
        {"version": 2},
        {"upstreams": {"a": {}}},
        {"upstreams": {"a": {"url": "http://x", "key_env": "NO"}}},
        {"routes": {"chat": "enforce"}},
        {"routes": {"messages": {"mode": "sleep"}}},
        {"routes": {"messages": {"x": 1}}},
        {"routes": {"messages": {"upstream": "none"}}},
        {"limits": {"check_s": -1}},
        {"limits": {"x": 1}},
        {"limits": []},
    ],
)
def test_a_gateway_file_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        parse_settings(wrong, {}, ServerSettings())


def test_the_gateway_file_of_the_readme_is_read(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    file = tmp_path / "gateway.yaml"
    file.write_text(readme.split("```yaml\n# gateway.yaml\n", 1)[1].split("```", 1)[0], encoding="utf-8")
    made = startable_settings(options(gateway=file), {"MODELS_KEY": "k1", "JUDGE_KEY": "k2"})
    assert [upstream.name for upstream in made.upstreams] == ["main", "lab"]
    assert made.route("chat_completions").revise == "block"
    assert made.judge is not None
    assert made.judge.key == "k2"
