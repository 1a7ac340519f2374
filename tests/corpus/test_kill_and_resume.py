"""A check that is killed goes on where it was, and one that is interrupted says so and ends its processes."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs signals")


def command(folder: Path, state: Path) -> list[str]:
    return [
        sys.executable,
        "-m",
        "assay",
        "corpus",
        "check",
        str(folder),
        "--state",
        str(state),
        "--format",
        "json",
        "--as-of",
        "2026-06-01",
        "--no-contradictions",
    ]


def make(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        filler = " ".join(f"Room {number * 7 + place} has a door of its own beside the stairs." for place in range(12))
        (folder / f"{number:04}.md").write_text(f"# House {number}\n\n{filler}", encoding="utf-8")


def known(state: Path) -> int:
    try:
        with closing(sqlite3.connect(state, timeout=5)) as opened:
            return int(opened.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.Error:
        return 0


def stopped(folder: Path, state: Path, sign: signal.Signals, *, once_read: bool) -> "subprocess.CompletedProcess[str]":
    """Starts a check and stops it once it has written what it read of some files, more than one transaction."""
    process = subprocess.Popen(command(folder, state), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and process.poll() is None:
        wal = state.with_name(state.name + "-wal")
        if wal.exists() and wal.stat().st_size > (1_600_000 if once_read else 0):
            break
        time.sleep(0.02)
    process.send_signal(sign)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.mark.slow
def test_a_killed_check_goes_on_and_reads_no_file_twice(tmp_path: Path) -> None:
    folder, state = tmp_path / "docs", tmp_path / "state.sqlite"
    make(folder, 400)
    killed = stopped(folder, state, signal.SIGKILL, once_read=True)
    assert killed.returncode == -signal.SIGKILL
    kept = known(state)
    assert 0 < kept < 400
    done = subprocess.run(command(folder, state), capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    report = json.loads(done.stdout)
    assert done.returncode == 0, report["counts"]
    assert report["files"]["unchanged"] == kept
    assert report["files"]["read"] == 400 - kept
    with closing(sqlite3.connect(state)) as opened:
        assert opened.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


@pytest.mark.slow
def test_an_interrupt_ends_the_check_with_its_own_status_and_without_a_trace(tmp_path: Path) -> None:
    folder, state = tmp_path / "docs", tmp_path / "state.sqlite"
    make(folder, 400)
    ended = stopped(folder, state, signal.SIGINT, once_read=True)
    assert ended.returncode == 130
    assert "what is finished is kept" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert known(state) > 0
