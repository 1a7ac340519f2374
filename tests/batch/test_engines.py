"""What every engine keeps to: each piece ends once, and a worker that dies is replaced."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.batch.scripted import record

from assay.batch.engines import Died, Done, open_engine
from assay.batch.engines.processes import ProcessEngine
from assay.batch.engines.ray_actors import gpus_per_actor
from assay.batch.values import BatchWork, Piece, RawRow
from assay.errors import InputError, MissingPackageError, VerifierError
from assay.testing import FakeScorer

RAY = pytest.mark.skipif(
    os.environ.get("ASSAY_RAY") != "required",
    reason="Ray pulls 80 MB: `make test-slow` tests it with ASSAY_RAY=required",
)


def piece(number: int, rows: int = 2) -> Piece:
    lines = (RawRow("a.jsonl", n, "a", "line", json.dumps(record(n))) for n in range(1, rows + 1))
    return Piece(number, 0, tuple(lines))


@pytest.fixture(params=["local", pytest.param("ray", marks=RAY)])
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    made = open_engine(request.param, BatchWork("general"), workers=2)
    try:
        yield made
    finally:
        made.close()


def test_all_pieces_end_once_with_a_result_for_each_row(engine: Any) -> None:
    assert engine.capacity == 2
    waiting = [piece(n, 1 + n) for n in range(5)]
    seen: dict[int, int] = {}
    out = 0
    while waiting or out:
        while waiting and out < engine.capacity:
            engine.submit(waiting.pop())
            out += 1
        ended = engine.wait()
        out -= 1
        assert isinstance(ended, Done)
        assert [one.position for one in ended.results] == [row.position for row in ended.piece.rows]
        seen[ended.piece.partition] = len(ended.results)
    assert seen == {0: 1, 1: 2, 2: 3, 3: 4, 4: 5}


def test_a_defect_is_told_of_the_piece_and_the_worker_goes_on(engine: Any) -> None:
    bad = Piece(7, 0, (RawRow("a.parquet", 1, "a", "columns", None),))  # no reader gives such a row
    engine.submit(bad)
    ended = engine.wait()
    assert isinstance(ended, Died)
    assert "a defect in assay" in ended.reason
    engine.submit(piece(1))
    assert isinstance(engine.wait(), Done)


def test_closing_twice_is_closing_once(engine: Any) -> None:
    engine.submit(piece(0))
    engine.close()
    engine.close()


def test_a_process_that_is_killed_is_replaced_and_its_piece_is_told() -> None:
    engine = ProcessEngine(BatchWork("general"), 1)
    try:
        engine.submit(piece(0))
        assert isinstance(engine.wait(), Done)
        os.kill(engine.pids[0], signal.SIGSTOP)  # so that it cannot have finished
        engine.submit(piece(1, 5))
        killed = engine.pids[0]
        os.kill(killed, signal.SIGKILL)
        ended = engine.wait()
        assert isinstance(ended, Died)
        assert (ended.piece.partition, "SIGKILL" in ended.reason) == (1, True)
        engine.submit(piece(1, 5))
        assert isinstance(engine.wait(), Done)
        assert engine.pids[0] != killed
    finally:
        engine.close()


def test_processes_share_the_pages_of_one_network() -> None:
    """What a worker has for itself is far less than the network and its tables."""
    engine = ProcessEngine(BatchWork("general"), 2)
    try:
        for number in range(2):
            engine.submit(piece(number))
        for _ in range(2):
            engine.wait()
        for pid in engine.pids:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
            told = dict(line.split(":", 1) for line in lines if ":" in line)
            own = int(told["Private_Dirty"].split()[0])
            every = int(told["Rss"].split()[0])
            assert own < 0.7 * every
    finally:
        engine.close()


def test_no_process_is_left_behind() -> None:
    engine = ProcessEngine(BatchWork("general"), 2)
    pids = engine.pids
    engine.close()
    until = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_policy_that_is_not_there_is_an_error_of_the_engine() -> None:
    engine = open_engine("local", BatchWork("no-such-policy"), workers=1)
    try:
        with pytest.raises(VerifierError, match="no-such-policy"):
            engine.wait()
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("spark", {}, "expected one of local, ray"),
        ("local", {"workers": 0}, "at least 1"),
        ("local", {"address": "x:1"}, "needs --engine ray"),
    ],
)
def test_an_engine_that_cannot_be_is_refused(name: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_engine(name, BatchWork(), **more)


def test_without_ray_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingPackageError, match=r"assay-ai\[ray\]"):
        open_engine("ray", BatchWork(), workers=1)


@pytest.mark.parametrize(("workers", "gpus", "each"), [(1, 1, 1.0), (2, 8, 1.0), (4, 2, 0.5), (3, 2, 0.5), (5, 1, 0.2)])
def test_actors_share_the_gpus_of_a_cluster(workers: int, gpus: int, each: float) -> None:
    on_gpu = BatchWork("general", environ={"ASSAY_RUNTIME": "cuda"})
    assert gpus_per_actor(on_gpu, workers, gpus) == pytest.approx(each)
    assert gpus_per_actor(BatchWork("general"), workers, gpus) == 0


def test_a_network_on_a_gpu_is_refused_by_a_cluster_without_one() -> None:
    with pytest.raises(VerifierError, match="has no GPU"):
        gpus_per_actor(BatchWork(environ={"ASSAY_RUNTIME": "cuda"}), 2, 0)


@RAY
def test_an_actor_for_a_gpu_begins_where_one_is_and_says_why_it_cannot_use_it() -> None:
    """Ray believes what it is told of GPUs: the actor is placed, and finds a graph where weights are needed."""
    import ray

    ray.init(address="local", num_cpus=2, num_gpus=1, include_dashboard=False, log_to_driver=False)
    try:
        with pytest.raises(VerifierError, match="runs PyTorch weights"):
            open_engine("ray", BatchWork("general", environ={"ASSAY_RUNTIME": "cuda"}), workers=2)
    finally:
        ray.shutdown()


@pytest.mark.skipif("forkserver" not in multiprocessing.get_all_start_methods(), reason="needs a fork server")
def test_no_module_of_the_working_folder_is_run_by_the_fork_server(tmp_path: Path) -> None:
    """The rows may lie in the working folder, and somebody else may have filled it."""
    rows, runs = tmp_path / "rows", tmp_path / "bin"
    rows.mkdir()
    runs.mkdir()
    (rows / "multiprocessing.py").write_text("open('owned', 'w').close()\n")
    script = (
        "from assay.batch.engines.processes import _context\n"
        "from assay.batch.values import BatchWork\n"
        "if __name__ == '__main__':\n"
        "    process = _context(BatchWork('general')).Process(target=print)\n"
        "    process.start()\n"
        "    process.join()\n"
        "    print(process.exitcode)\n"
    )
    (runs / "run.py").write_text(script)
    done = subprocess.run(
        [sys.executable, str(runs / "run.py")],
        cwd=rows,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)},
    )
    assert not (rows / "owned").exists()
    assert done.stdout.split()[-1] == "0", done.stderr


def printed_after_preloading(program: str) -> list[str]:
    """What a program prints in a process of which the module that preloads networks takes the settings."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={**os.environ, "ASSAY_BATCH_PRELOAD": "1:"},
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    return done.stdout.split()


def test_the_fork_server_loads_both_networks_so_that_workers_share_them() -> None:
    program = (
        "import assay.batch.engines.preloaded\n"
        "from assay.models.conflicts import network\n"
        "loaded = list(network._LOADED)\n"
        "network.EmbeddedConflicts().probabilities([('It is open.', 'It is shut.')])\n"
        "print(loaded, list(network._LOADED))\n"
    )
    assert printed_after_preloading(program) == ["[1]", "[1]"]


def test_a_batch_goes_on_where_the_conflict_network_cannot_be_loaded() -> None:
    program = (
        "import assay.models.conflicts.network as network\n"
        "from assay.errors import ModelError\n"
        "def broken(*_, **__):\n"
        "    raise ModelError('conflicts.onnx: altered')\n"
        "network.read_conflict_network = broken\n"
        "import assay.batch.engines.preloaded\n"
        "print(list(network._LOADED))\n"
    )
    assert printed_after_preloading(program) == ["[]"]


def test_a_worker_of_a_batch_reads_conflicts_with_as_many_threads_as_it_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from assay.models.conflicts import network

    loaded: dict[int, object] = {}
    monkeypatch.setattr(network, "_LOADED", loaded)
    monkeypatch.setattr(network, "read_conflict_network", lambda _, threads: network.ConflictNetwork(FakeScorer()))
    judge = BatchWork(policy="general", threads=3).begin(FakeScorer())
    assert isinstance(judge, partial)
    judge.args[0]._parts.conflicts.load()
    assert list(loaded) == [3]
