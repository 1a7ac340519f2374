"""The tutorials do what they say: their blocks run in order, in one folder, with the ports of this run."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

TUTORIALS = sorted((Path(__file__).parent.parent / "docs/tutorials").glob("*.md"))
PORTS = ("8080", "9000")
"""Where servers of the tutorials listen."""
FILE, EXITS = re.compile(r"# file: (\S+)\n"), re.compile(r"\s+# exits (\d+)$")


def blocks(page: Path) -> list[tuple[str, str]]:
    """The language and the text of each block."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def free_port() -> str:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def answers(port: str) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) == 0


class Reader:
    """Somebody who types what a page says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = {port: free_port() for port in PORTS}
        self.names: dict[str, object] = {}
        self.running: list[subprocess.Popen[bytes]] = []
        here = str(Path(sys.executable).parent)
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")},
            "PATH": f"{here}{os.pathsep}{os.environ['PATH']}",
            "ASSAY_URL": "",
        }

    def own(self, text: str) -> str:
        for port, mine in self.ports.items():
            text = text.replace(f":{port}", f":{mine}").replace(f'"127.0.0.1", {port}', f'"127.0.0.1", {mine}')
        return text

    def python(self, text: str) -> None:
        text = self.own(text)
        named = FILE.match(text)
        if named:
            (self.folder / named[1]).write_text(text, encoding="utf-8")
            return
        exec(compile(text, "tutorial", "exec"), self.names)  # noqa: S102 what the page has its reader run

    def sh(self, text: str) -> None:
        for line in map(self.own, text.splitlines()):
            if line.startswith("pip install"):
                continue
            if line.endswith(" &"):
                self.start(line.removesuffix(" &"))
                continue
            wanted = int(found[1]) if (found := EXITS.search(line)) else 0
            done = subprocess.run(
                ["sh", "-c", EXITS.sub("", line)],
                cwd=self.folder,
                env=self.environ,
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
            assert done.returncode == wanted, f"{line}\n{done.stdout}{done.stderr}"

    def start(self, line: str) -> None:
        port = self.ports["9000"] if line.startswith("python") else self.ports["8080"]
        command = f"exec {line} --port {port}" if line.startswith("assay serve") else f"exec {line}"
        self.running.append(
            subprocess.Popen(["sh", "-c", command], cwd=self.folder, env=self.environ, stderr=subprocess.DEVNULL)
        )
        until = time.monotonic() + 60
        while not answers(port):
            assert time.monotonic() < until, f"{line} does not answer"
            assert self.running[-1].poll() is None, f"{line} ended"
            time.sleep(0.1)

    def leave(self) -> None:
        for process in self.running:
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            process.wait(30)


@contextmanager
def reader(folder: Path) -> Iterator[Reader]:
    made = Reader(folder)
    try:
        yield made
    finally:
        made.leave()


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_blocks_of_a_tutorial_run_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSAY_DATABASE_URL", raising=False)
    found = blocks(page)
    assert {language for language, _ in found} <= {"python", "sh", "text"}, "every other block has to be run as well"
    with reader(tmp_path) as here:
        for language, text in found:
            if language != "text":
                getattr(here, language)(text)
