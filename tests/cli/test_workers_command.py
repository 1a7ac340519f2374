"""`--engine` and `--workers` of eval, calibrate, rescore and redteam: what is written has the bytes of no workers."""

import json
import os
import sys
from pathlib import Path

import pytest
from tests.batch.scripted import record, write_lines
from tests.store.making import EVIDENCE
from typer.testing import CliRunner

from assay import Guard
from assay.cli.app import app
from assay.store.db.store import Store
from assay.store.records.interface import CheckRecord

RAY = pytest.mark.skipif(
    os.environ.get("ASSAY_RAY") != "required",
    reason="Ray pulls 80 MB: `make test-slow` tests it with ASSAY_RAY=required",
)
ENGINES = pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=RAY)])


def run(*arguments: object, status: int = 0) -> str:
    done = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == status, done.output
    return done.stdout


def files(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


@ENGINES
def test_an_evaluation_by_workers_writes_the_same_bytes(tmp_path: Path, engine: str) -> None:
    answers = [record(n, claim=None) for n in range(70)]
    claims = [
        {"id": f"c{n}", "evidence": [f"It has {n} rooms."], "claim": f"It has {n + n % 2} rooms."} for n in range(9)
    ]
    for one in answers:
        del one["claim"]
    rows = write_lines(tmp_path / "rows.jsonl", [*answers, *claims])
    plain = run("eval", rows, "--out", tmp_path / "alone", "--format", "json")
    by_workers = run("eval", rows, "--out", tmp_path / "many", "--format", "json", "--engine", engine, "--workers", 2)
    assert by_workers == plain
    assert files(tmp_path / "many") == files(tmp_path / "alone")


@ENGINES
def test_a_calibration_by_workers_writes_the_same_bytes(tmp_path: Path, engine: str) -> None:
    labelled = [
        {**record(n), "id": n, "answer": f"Partners get {2 + n % 3} weeks of paid leave in year {n}."}
        for n in range(40)
    ]
    rows = write_lines(tmp_path / "rows.jsonl", labelled)
    told = {}
    for name, more in (("alone", ()), ("many", ("--engine", engine, "--workers", 2))):
        made = ("--results", tmp_path / f"{name}.jsonl", "--out", tmp_path / f"{name}.yaml", "--format", "json")
        told[name] = run("calibrate", rows, *made, *more)
    assert told["many"] == told["alone"]
    assert (tmp_path / "many.jsonl").read_bytes() == (tmp_path / "alone.jsonl").read_bytes()
    assert (tmp_path / "many.yaml").read_bytes() == (tmp_path / "alone.yaml").read_bytes()


@ENGINES
def test_an_estimated_prior_is_the_same_by_workers(tmp_path: Path, engine: str) -> None:
    rows = write_lines(tmp_path / "rows.jsonl", [record(n) for n in range(40)])
    plain = ("calibrate", rows, "--prior", "--format", "json")
    assert run(*plain, "--engine", engine, "--workers", 2) == run(*plain)


@ENGINES
def test_outputs_judged_again_by_workers_come_to_the_same_in_the_same_order(tmp_path: Path, engine: str) -> None:
    guard = Guard("general")
    with Store(str(tmp_path / "x.db")) as store:
        for weeks in (2, 9, 2, 4, 7, 2):
            answer = f"Partners are entitled to {weeks} weeks of leave."
            store.record(CheckRecord(guard.check(answer, EVIDENCE), {"answer": answer}, EVIDENCE, guard.policy))
    plain = ("monitor", "rescore", "--database", tmp_path / "x.db", "--policy", "creative", "--format", "json")
    alone = run(*plain, "--out", tmp_path / "alone.jsonl", status=1)
    many = run(*plain, "--out", tmp_path / "many.jsonl", "--engine", engine, "--workers", 2, status=1)
    assert many == alone
    assert (tmp_path / "many.jsonl").read_bytes() == (tmp_path / "alone.jsonl").read_bytes()
    assert json.loads(alone)["judged"] == 6


@ENGINES
def test_a_campaign_judged_by_workers_leaves_the_same_files(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = Path(__file__).resolve().parents[2] / "examples" / "redteam" / "wiki"
    suite = tmp_path / "suite.jsonl"
    run("redteam", "generate", "--evidence", documents, "--out", suite, "--per-category", 2)
    (tmp_path / "answering_nothing.py").write_text("def answer(case):\n    return 'It was 1987, said Ada Lovelace.'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    target = ("--target", "python:answering_nothing:answer", "--format", "json", "--concurrency", 1)
    alone = run("redteam", "run", suite, *target, "--out", tmp_path / "alone")
    many = run("redteam", "run", suite, *target, "--out", tmp_path / "many", "--engine", engine, "--workers", 2)
    sys.modules.pop("answering_nothing", None)
    assert many == alone
    of_one, of_many = files(tmp_path / "alone"), files(tmp_path / "many")
    del of_one["run.jsonl"], of_many["run.jsonl"]  # how long the target took stands in it
    assert of_many == of_one


def test_an_address_without_ray_is_misuse(tmp_path: Path) -> None:
    rows = write_lines(tmp_path / "rows.jsonl", [record(1)])
    run("eval", rows, "--address", "x:1", status=2)
    run("eval", rows, "--workers", 1, "--address", "x:1", status=2)
