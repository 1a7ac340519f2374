"""The command over the database of a server: what it records, proposes, decides and runs by a schedule."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.redteam.scripted_bot import CASES, WRONG, reset
from typer.testing import CliRunner

from assay.cli.app import app
from assay.redteam.cases import suite_text
from assay.store.db import Store
from assay.store.redteam import list_proposals, list_runs, read_cases

TARGET = "python:tests.redteam.scripted_bot:answer"


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    reset()
    for name in ("ASSAY_DATABASE_URL", "ASSAY_CONFIG", "ASSAY_REVIEWER"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "static.jsonl"
    path.write_text(suite_text(CASES[:8]), encoding="utf-8")
    return path


def invoke(*words: str, environ: dict[str, str] | None = None) -> Any:
    return CliRunner().invoke(app, ["redteam", *words], env=environ)


def test_a_run_is_recorded_proposed_and_decided_on_by_name(tmp_path: Path, suite: Path) -> None:
    database = str(tmp_path / "runs.db")
    WRONG.add(CASES[1].id)
    done = invoke("run", str(suite), "--target", TARGET, "--target-version", "v7", "--propose", "--database", database)
    assert done.exit_code == 0, done.output
    assert "recorded as" in done.stderr
    with Store(database) as store, store.reading("default") as connection:
        (run,) = list_runs(connection, "default")
        assert (run.suite_name, run.target_version, run.failed, run.source) == ("static", "v7", 1, "command")
        assert [one.told is not None for one in read_cases(connection, "default", run.id)] == [
            at == 1 for at in range(8)
        ]
    listed = json.loads(invoke("review", "--database", database, "--format", "json").stdout)
    assert [(one["id"], one["state"]) for one in listed["proposals"]] == [(CASES[1].id, "open")]
    nobody = invoke("review", "--database", database, "--approve", CASES[1].id)
    assert (nobody.exit_code, "--by" in nobody.stderr) == (2, True)
    done = invoke("review", "--database", database, "--approve", CASES[1].id, "--by", "Ann Lee", "--reason", "Seen.")
    assert "approved by Ann Lee" in done.stdout
    again = invoke("review", "--database", database, "--reject", CASES[1].id, "--by", "Bob")
    assert again.exit_code == 2
    with Store(database) as store, store.reading("default") as connection:
        (row,) = list_proposals(connection, "default")
    assert (row.state, row.decider, row.reason, row.actor) == ("approved", "Ann Lee", "Seen.", "command")


def test_the_configured_database_is_taken_and_one_that_cannot_be_opened_costs_no_call(
    tmp_path: Path, suite: Path
) -> None:
    from tests.redteam.scripted_bot import CALLS

    environ = {"ASSAY_DATABASE_URL": str(tmp_path / "runs.db")}
    assert invoke("run", str(suite), "--target", TARGET, environ=environ).exit_code == 0
    with Store(environ["ASSAY_DATABASE_URL"]) as store, store.reading("default") as connection:
        assert len(list_runs(connection, "default")) == 1
    CALLS.clear()
    damaged = tmp_path / "damaged.db"
    damaged.write_text("no database " * 500, encoding="utf-8")
    lost = invoke("run", str(suite), "--target", TARGET, "--database", str(damaged))
    assert (lost.exit_code, CALLS.total()) == (2, 0)
    assert invoke("run", str(suite), "--target", TARGET, "--propose").exit_code == 2


def test_a_ledger_or_a_database_is_named_and_not_both(tmp_path: Path) -> None:
    for words in (["review"], ["review", "ledger.jsonl", "--database", "x.db"], ["promote", str(tmp_path)]):
        done = invoke(*words)
        assert (done.exit_code, "one of them" in done.stderr) == (2, True)


@pytest.mark.parametrize("text", ["{", "[1]", "7"])
def test_an_edited_case_that_is_none_is_misuse(tmp_path: Path, text: str) -> None:
    database, case = str(tmp_path / "runs.db"), tmp_path / "case.json"
    Store(database).close()
    case.write_text(text, encoding="utf-8")
    done = invoke("review", "--database", database, "--edit", "x", "--case", str(case), "--by", "ann", "--reason", "r")
    assert (done.exit_code, "expected" in done.stderr) == (2, True)


def test_failures_of_a_folder_are_proposed_in_the_database(tmp_path: Path, suite: Path) -> None:
    WRONG.add(CASES[2].id)
    database, out = str(tmp_path / "runs.db"), str(tmp_path / "out")
    assert invoke("run", str(suite), "--target", TARGET, "--out", out).exit_code == 0
    Store(database).close()
    done = invoke("promote", out, "--database", database, "--format", "json")
    assert json.loads(done.stdout) == {"proposed": [CASES[2].id]}
    assert json.loads(invoke("promote", out, "--database", database, "--format", "json").stdout) == {"proposed": []}


def test_watch_makes_what_is_due_and_says_with_its_status_what_came_of_it(tmp_path: Path, suite: Path) -> None:
    config = tmp_path / "assay.yaml"
    config.write_text(
        "version: 1\npolicy: general\nredteam:\n  schedules:\n"
        f"    - {{name: nightly, suite: static.jsonl, target: '{TARGET}', every: 1d}}\n",
        encoding="utf-8",
    )
    words = ["watch", "--database", str(tmp_path / "runs.db"), "--config", str(config), "--once", "--format", "json"]
    done = invoke(*words)
    told = json.loads(done.stdout)
    assert (done.exit_code, told["schedule"], told["run"]["ars"]) == (0, "nightly", 1.0)
    assert invoke(*words).stdout == ""
    config.write_text("version: 1\npolicy: general\n", encoding="utf-8")
    assert invoke(*words).exit_code == 2
    config.write_text(
        "version: 1\npolicy: general\nredteam:\n  schedules:\n"
        f"    - {{name: lost, suite: gone.jsonl, target: '{TARGET}', every: 1d}}\n",
        encoding="utf-8",
    )
    assert invoke(*words).exit_code == 1
