"""Judging the record again: what would change, what cannot be judged, and where it goes on."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.monitor.test_commands import run, told
from tests.store.making import EVIDENCE

from assay import config
from assay.guard import Guard
from assay.policy import preset
from assay.store.db.store import Store
from assay.store.records.erasure import erase_runs
from assay.store.records.interface import CheckRecord
from assay.testing import FakeScorer

TRUE = "Partners are entitled to 2 weeks of leave."


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def scorer_of(model: Any, environ: Any) -> FakeScorer:
        return FakeScorer()

    monkeypatch.setattr(config, "scorer_of", scorer_of)
    guard, path = Guard(preset("general"), scorer=FakeScorer()), tmp_path / "x.db"
    with Store(str(path)) as store:
        ids = []
        for answer in (TRUE, "Partners get 9 weeks of sabbatical.", TRUE):
            made = CheckRecord(guard.check(answer, EVIDENCE), {"answer": answer}, EVIDENCE, guard.policy)
            store.record(made)
            ids.append(made.id)
        erase_runs(store, ids[2:], "request", "default")
    return path


def test_under_the_policy_that_decided_nothing_changes(record: Path) -> None:
    found = told("monitor", "rescore", "--database", record)
    assert (found["judged"], found["changed"], found["other_verifier"]) == (2, 0, 0)
    assert found["skipped"] == {"its content was erased": 1}


def test_another_policy_shows_which_decisions_would_change_and_goes_on(record: Path, tmp_path: Path) -> None:
    out = tmp_path / "again.jsonl"
    plain = ("monitor", "rescore", "--database", record, "--policy", "creative", "--out", out)
    found = told(*plain, status=1)
    moves = {(one["then"], one["now"]): one["count"] for one in found["moves"]}
    assert moves == {("revise", "emit"): 1, ("emit", "emit"): 1}, found  # the second by another route
    # What is known is not judged again, and a line that was cut off is.
    lines = out.read_text().splitlines()
    out.write_text("\n".join([lines[0], lines[1][:20]]), "utf-8")
    assert told(*plain, status=1)["moves"] == found["moves"]
    assert "decisions would change" in run(*plain, status=1).stdout
    assert all(json.loads(line)["id"] for line in out.read_text().splitlines() if line.endswith("}"))


def test_results_that_were_kept_under_one_policy_are_none_of_another(record: Path, tmp_path: Path) -> None:
    out = tmp_path / "again.jsonl"
    plain = ("monitor", "rescore", "--database", record, "--out", out)
    assert told(*plain, "--policy", "creative", status=1)["changed"] == 2
    assert told(*plain)["changed"] == 0
    assert told(*plain, "--policy", "creative", status=1)["changed"] == 2
