"""`assay batch` as a process: killed at any moment and started again, it ends with the same bytes."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from tests.batch.scripted import record, write_lines


def command(rows: Path, out: Path, *more: str) -> list[str]:
    options = ["--out", str(out), "--workers", "2", "--partition-rows", "5", "--format", "json", *more]
    return [sys.executable, "-m", "assay", "batch", str(rows), *options]


def run(rows: Path, out: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command(rows, out, *more), capture_output=True, text=True, check=False, timeout=300)


def parts(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((out / "parts").glob("*.parquet"))}


def results(out: Path) -> list[dict[str, Any]]:
    return [row for path in sorted((out / "parts").glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


def test_rows_are_checked_and_summed_up_and_bad_ones_set_aside(tmp_path: Path) -> None:
    rows = write_lines(tmp_path / "rows.jsonl", [*(record(n) for n in range(12)), "{no json"])
    done = run(rows, tmp_path / "out")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert (told["rows"], told["checked"], told["rejected"]) == (13, 12, 1)
    assert told["labelled"] == {"honest": 6, "honest_emitted": 6, "wrong": 6, "wrong_stopped": 6}
    rejected = json.loads((tmp_path / "out" / "rejected.jsonl").read_text())
    assert (rejected["position"], "not valid JSON" in rejected["reason"]) == (13, True)
    again = run(rows, tmp_path / "out")
    assert (again.returncode, again.stdout) == (1, done.stdout)


def test_another_policy_needs_another_folder(tmp_path: Path) -> None:
    rows = write_lines(tmp_path / "rows.jsonl", [record(1)])
    assert run(rows, tmp_path / "out").returncode == 0
    refused = run(rows, tmp_path / "out", "--policy", "rag")
    assert refused.returncode == 2
    assert "another batch" in refused.stderr


def test_other_knowledge_needs_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, config = write_lines(tmp_path / "rows.jsonl", [record(1)]), tmp_path / "config.yaml"
    monkeypatch.setenv("ASSAY_CONFIG", str(config))
    source = "{name: handbook, kind: files, path: ., authority: organisation}"
    config.write_text(f"version: 1\npolicy: general\nknowledge: [{source}]\n", encoding="utf-8")
    assert run(rows, tmp_path / "out").returncode == 0
    config.write_text("version: 1\npolicy: general\n", encoding="utf-8")
    refused = run(rows, tmp_path / "out")
    assert refused.returncode == 2
    assert "another batch (knowledge_digest differ)" in refused.stderr


def test_text_that_no_encoding_can_write_is_escaped_and_takes_no_row_with_it(tmp_path: Path) -> None:
    rows = write_lines(tmp_path / os.fsdecode(b"rows\xff.jsonl"), [record(1), record(2, id="\ud83d"), "{no json"])
    done = run(rows, tmp_path / "out")
    assert done.returncode == 1, done.stderr
    found = results(tmp_path / "out")
    assert [(one["id"], one["status"]) for one in found] == [
        ("r1", "checked"),
        (r"\ud83d", "checked"),
        (None, "rejected"),
    ]
    assert {one["set"] for one in found} == {r"rows\udcff"}
    assert r"rows\udcff.jsonl, line 3: not valid JSON" in found[2]["reason"]
    assert run(rows, tmp_path / "out").returncode == 1


def test_the_driver_and_workers_killed_at_random_lose_and_repeat_nothing(tmp_path: Path) -> None:
    rows = write_lines(tmp_path / "rows.jsonl", [record(n) for n in range(60)])
    assert run(rows, tmp_path / "calm").returncode == 0
    rng, out = random.Random(5), tmp_path / "wild"
    for kill in range(6):
        with subprocess.Popen(command(rows, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
            until = time.monotonic() + rng.uniform(0.5, 5)
            while time.monotonic() < until and driver.poll() is None:
                if kill % 2:
                    for pid in _children(driver.pid):
                        if rng.random() < 0.05:
                            _kill(pid)
                time.sleep(0.05)
            _kill(driver.pid)
    done = run(rows, out)
    assert done.returncode == 0, done.stderr
    assert parts(out) == parts(tmp_path / "calm")
    assert [one["id"] for one in results(out)] == [f"r{n}" for n in range(60)]


def _children(pid: int) -> list[int]:
    """The processes below a driver: the fork server, and the workers below that."""
    found: list[int] = []
    try:
        direct = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return found
    for child in map(int, direct):
        found += [child, *_children(child)]
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@pytest.mark.skipif(os.environ.get("ASSAY_RAY") != "required", reason="Ray pulls 80 MB: run by `make test-slow`")
def test_ray_gives_the_same_bytes(tmp_path: Path) -> None:
    rows = write_lines(tmp_path / "rows.jsonl", [record(n) for n in range(23)])
    assert run(rows, tmp_path / "local").returncode == 0
    done = run(rows, tmp_path / "ray", "--engine", "ray")
    assert done.returncode == 0, done.stderr
    assert parts(tmp_path / "ray") == parts(tmp_path / "local")


def test_an_interrupt_keeps_what_is_finished(tmp_path: Path) -> None:
    rows = write_lines(tmp_path / "rows.jsonl", [record(n) for n in range(12_000)])
    out = tmp_path / "out"
    with subprocess.Popen(
        command(rows, out), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as driver:
        until = time.monotonic() + 120
        while not parts(out) and time.monotonic() < until:
            time.sleep(0.1)
        os.killpg(driver.pid, signal.SIGINT)
        _, told = driver.communicate(timeout=60)
    assert driver.returncode == 130, told
    assert "what is finished is kept" in told
    assert 0 < len(parts(out)) < 2_400


@pytest.mark.parametrize("given", [["--engine", "spark"], ["--workers", "0"], []])
def test_a_command_that_cannot_be_says_why(given: list[str], tmp_path: Path) -> None:
    done = run(tmp_path / "none.jsonl", tmp_path / "out", *given)
    assert done.returncode == 2
    assert done.stderr.strip()
