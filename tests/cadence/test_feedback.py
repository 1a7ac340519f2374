"""What users say: as rows, as scores that are held against it, and as an alert of the verifier's calibration."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from tests.monitor.recording import Clock, bad_record, good_record
from tests.monitor.test_commands import run, told
from tests.store.reviewing import ANN, held, reject

from assay.errors import StoreError
from assay.evaluation.rows import parse_row
from assay.server.cadence.calibration_alert import KEY, tell_calibration
from assay.server.monitoring.service import Monitor
from assay.store.alerts import AlertState, list_alerts
from assay.store.db import Store
from assay.store.db import tables as _tables
from assay.store.records import give_feedback
from assay.store.reviews import Reviews, rows_by, user_scores

TENANT = "default"


def rows_of(store: Store, source: str) -> list[dict[str, Any]]:
    with store.reading(TENANT) as connection:
        return list(rows_by(source, connection, TENANT))


def test_what_users_say_becomes_rows_that_evaluation_reads(url: str) -> None:
    with Store(url) as store:
        first, second, third = good_record(), bad_record(), good_record("Partners get 9 weeks.")
        for record in (first, second, third):
            store.record(record)
        give_feedback(store, first.id, "wrong", author="u1")
        give_feedback(store, first.id, "right", author="u1")  # the last word of an author counts
        give_feedback(store, second.id, "wrong", author="u1", claim=0)
        give_feedback(store, third.id, "wrong", author="u1")
        give_feedback(store, third.id, "right", author="u2")  # even: nothing is known
        rows = {row["id"]: row for row in rows_of(store, "feedback")}
        assert {id_: row["label"] for id_, row in rows.items()} == {
            first.id: "supported",
            f"{second.id}.0": "not_supported",
        }
        assert {row["set"] for row in rows.values()} == {"feedback"}
        for row in rows.values():
            assert parse_row(row, "here", "x").label == row["label"]
        assert rows_of(store, "reviews") == []
        with store.reading(TENANT) as connection:
            assert user_scores(connection, TENANT) == [(0.97, 1.0)]
        with pytest.raises(StoreError, match="reviews, feedback, all"):
            rows_of(store, "rumours")


def test_where_a_reviewer_has_decided_users_are_not_asked_again(url: str) -> None:
    with Store(url) as store:
        record = held()
        store.record(record)
        give_feedback(store, record.id, "right", author="u1")
        assert [row["label"] for row in rows_of(store, "feedback")] == ["supported"]
        Reviews(store).decide(TENANT, record.id, ANN, reject())
        assert rows_of(store, "feedback") == []
        assert [row["label"] for row in rows_of(store, "all")] == ["not_supported"]


def test_rows_of_feedback_are_exported_by_the_command(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        record = good_record()
        store.record(record)
        give_feedback(store, record.id, "wrong", author="u1")
    text = run("review", "export", "--database", tmp_path / "x.db", "--source", "feedback").stdout
    assert json.loads(text)["label"] == "not_supported"
    assert run("review", "export", "--database", tmp_path / "x.db").stdout == ""


def test_scores_that_reviewers_contradict_raise_an_alert_of_their_own_until_another_verifier_judges(
    tmp_path: Path,
) -> None:
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        for _ in range(60):
            record = held()
            store.record(record)
            Reviews(store).decide(TENANT, record.id, ANN, reject())
        with store.engine.begin() as connection:
            connection.execute(update(_tables.reports).values(score=0.02))
        assert not tell_calibration(store, TENANT)  # they said so
        with store.engine.begin() as connection:
            connection.execute(update(_tables.reports).values(score=0.95))
        assert tell_calibration(store, TENANT)
        with store.reading(TENANT) as connection:
            open_ = {one.key for one in list_alerts(connection, TENANT, store.now(), (AlertState.OPEN,))}
        assert KEY in open_
        assert Monitor(store).status(TENANT)["calibration"]["alarm"]
        with store.engine.begin() as connection:
            connection.execute(update(_tables.reports).values(verifier="c" * 64))
        store.record(good_record())
        assert not tell_calibration(store, TENANT)
        with store.reading(TENANT) as connection:
            assert KEY not in {one.key for one in list_alerts(connection, TENANT, store.now(), (AlertState.OPEN,))}


def test_the_golden_set_is_checked_by_the_command_and_a_run_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cadence.golden_set import guard_of, write_rows

    import assay.cli.monitoring.golden as command

    monkeypatch.setattr(command, "_guard", lambda policy: guard_of(policy or "general"))
    write_rows(tmp_path / "g.jsonl", 40)
    Store(str(tmp_path / "x.db")).close()
    settings = tmp_path / "monitor.yaml"
    settings.write_text("golden: {rows: g.jsonl}\n")
    base = ("monitor", "golden", "--database", tmp_path / "x.db", "--settings", settings)
    first = told(*base)
    assert (first["rows"], first["checked"], first["means"]["misjudged"], first["regressed"]) == (40, 40, 0.0, [])
    assert "not worse than the reference" in run(*base).stdout
    worse = tmp_path / "worse.yaml"
    worse.write_text("version: 1\npolicy: {preset: general, emit_threshold: 1.0}\n")
    found = run(*base, "--policy", worse, status=1).stdout
    assert "WORSE in misjudged" in found
    assert run("budget", "check", "--database", tmp_path / "x.db", status=1).stdout.count("GOLDEN SET IS WORSE") == 1
    id_ = found.split()[1].rstrip(":")
    run(*base, "--accept", id_, status=2)
    run(*base, "--accept", id_, "--as", "ann")
    run("budget", "check", "--database", tmp_path / "x.db")
    run("monitor", "golden", "--database", tmp_path / "x.db", status=2)
    turn = run("monitor", "run", "--database", tmp_path / "x.db", "--settings", settings)
    assert "outputs observed" in turn.stdout
    assert "golden: due" in run("monitor", "status", "--database", tmp_path / "x.db").stdout
