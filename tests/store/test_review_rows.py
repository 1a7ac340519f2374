"""Reviewers' decisions as labelled rows: what evaluation and calibration read; and `assay review` itself."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scorers import Steady
from tests.store.reviewing import ANN, TENANT, Clock, escalating, held, reject
from train.rows import load_training_sets, mix
from typer.testing import CliRunner, Result

from assay.cli import calibrate as calibrate_verb
from assay.cli.app import app
from assay.cli.operations import review as review_verb
from assay.evaluation.rows.reading import parse_row, read_rows
from assay.guard import Guard
from assay.policy import Policy, preset
from assay.policy.calibration.strictness import loosest
from assay.policy.escalation import approved
from assay.schema import Verdict
from assay.schema.coerce import coerce_evidence
from assay.schema.escalation import ReviewAct
from assay.store.db.store import Store
from assay.store.records.erasure import erase_evidence
from assay.store.records.interface import CheckRecord
from assay.store.reviews.actions import ReviewDecision
from assay.store.reviews.deadlines import sweep_deadlines
from assay.store.reviews.queue import Reviews
from assay.store.reviews.training_rows import changed_spans, labelled_rows
from assay.testing import FakeScorer

Run = Callable[..., Result]


def rows_of(store: Store) -> list[dict[str, Any]]:
    with store.reading(TENANT) as connection:
        return list(labelled_rows(connection, TENANT))


def test_each_kind_of_decision_has_its_rows(url: str) -> None:
    with Store(url) as store:
        queue = Reviews(store)
        first, second, third, fourth = (held() for _ in range(4))
        for record in (first, second, third, fourth):
            store.record(record)
        queue.decide(TENANT, first.id, ANN, ReviewDecision(ReviewAct.APPROVE, "It holds.", approved(first.report)))
        queue.decide(TENANT, second.id, ANN, reject(claims={0: Verdict.CONTRADICTED}))
        edited = held("Partners get 2 weeks of leave.").report
        queue.decide(TENANT, third.id, ANN, ReviewDecision(ReviewAct.EDIT, "It is 2.", approved(edited)))
        rows = rows_of(store)
    assert [(row["id"].removesuffix(".edited")[-4:], row.get("label"), row.get("spans")) for row in rows] == [
        (first.id[-4:], "supported", None),
        (second.id[-4:], "not_supported", None),
        (rows[2]["id"][-4:], "contradicted", None),
        (third.id[-4:], "supported", None),
        (third.id[-4:], "not_supported", [[13, 14]]),
    ]
    parsed = [parse_row(row, "here", "there") for row in rows]
    assert [row.set for row in parsed] == ["reviews"] * 5
    assert parsed[0].evidence[0].id == "hr-2"
    assert parsed[2].whole


def test_a_decision_on_what_lost_its_evidence_is_no_row_though_another_run_has_the_same(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        queue = Reviews(store)
        first, second = held(), held()
        for record in (first, second):
            store.record(record)
            queue.decide(
                TENANT, record.id, ANN, ReviewDecision(ReviewAct.APPROVE, "It holds.", approved(record.report))
            )
        erase_evidence(store, [first.id], "retention", TENANT)
        assert [row["id"] for row in rows_of(store)] == [second.id]


def test_a_decision_on_the_run_of_an_agent_is_no_row(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        record = replace(held(), kind="run")
        store.record(record)
        verdicts = ReviewDecision(ReviewAct.APPROVE, "It holds.", approved(record.report))
        Reviews(store).decide(TENANT, record.id, ANN, verdicts)
        assert rows_of(store) == []


def test_what_expired_says_nothing(tmp_path: Path) -> None:
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        store.record(held(policy=escalating(sync_overdue="reject")))
        clock.go(hours=1)
        assert sweep_deadlines(Reviews(store)).settled == 1
        assert rows_of(store) == []


texts = st.text(st.sampled_from("ab 1.\u00e9\U0001f600\n"), max_size=40)


@given(before=texts, after=texts)
def test_changed_spans_lie_in_the_text_in_order_and_apart(before: str, after: str) -> None:
    spans = changed_spans(before, after)
    places = [0, *(place for span in spans for place in span), len(before)]
    assert places == sorted(places)
    assert all(start < end for start, end in spans)
    if before == after:
        assert spans == []
    parse_row({"id": "x", "evidence": [], "answer": before + "|", "spans": spans}, "here", "there")


# The command


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "assay.db"


@pytest.fixture
def run(database: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    def guards() -> Callable[[str | None], Guard]:
        return lambda name: Guard(preset(name or "support-desk"), scorer=FakeScorer())

    def open_loosest(policy: Policy, model: Path | None) -> Guard:
        return Guard(loosest(policy), scorer=FakeScorer())

    monkeypatch.setattr(review_verb, "_guards_by_policy", guards)
    monkeypatch.setattr(calibrate_verb, "open_loosest", open_loosest)

    def invoke(*arguments: object, stdin: str | None = None) -> Result:
        named = [] if arguments[0] != "review" else ["--database", str(database)]
        return CliRunner().invoke(app, [*map(str, arguments), *named], input=stdin, catch_exceptions=False)

    return invoke


def checked(store: Store, number: int) -> CheckRecord:
    """An output that the guard itself escalated: its support is weak, and `support-desk` asks a person."""
    evidence = coerce_evidence([f"Team {number} is entitled to {number + 2} weeks of leave."])
    answer = "Everybody may be absent for a while."
    report = Guard("support-desk", scorer=Steady(0.08)).check(answer, evidence, stakes="high")
    assert report.action.value == "escalate"
    asked = {"answer": answer, "question": None, "stakes": "high", "task": "qa"}
    record = CheckRecord(report, asked, evidence, preset("support-desk"))
    store.record(record)
    return record


def test_an_item_is_listed_shown_claimed_given_back_and_decided(run: Run, database: Path) -> None:
    with Store(str(database)) as store:
        record = checked(store, 1)
    listed = run("review", "list")
    assert record.id in listed.output
    shown = run("review", "show", record.id)
    assert "Everybody may be absent for a while." in shown.output
    tier = json.loads(run("review", "show", record.id, "--format", "json").stdout)["package"]["tier"]
    assert tier in {"sync", "async"}
    assert f" {tier} " in listed.output
    assert "ann has it until" in run("review", "claim", record.id, "--as", "ann").output
    refused = run("review", "claim", record.id, "--as", "bob")
    assert (refused.exit_code, "ann has the item" in refused.output) == (2, True)
    assert run("review", "release", record.id, "--as", "ann").exit_code == 0
    stale = run("review", "decide", record.id, "reject", "--as", "bob", "--reason", "No.", "--version", "1")
    assert stale.exit_code == 2
    done = run("review", "decide", record.id, "reject", "--as", "bob", "--reason", "No.", "--version", "3")
    assert (done.exit_code, "rejected; version 4" in done.output) == (0, True)
    assert "nothing waits" in run("review", "list").output
    assert record.id in run("review", "list", "--all", "--format", "json").stdout
    assert "0 deadlines settled" in run("review", "sweep").output


def test_words_of_a_reviewer_cannot_drive_the_terminal_of_another(run: Run, database: Path) -> None:
    with Store(str(database)) as store:
        record = checked(store, 1)
    reason = "No.\x1b]0;owned\x07\n2026-01-01 00:00 ann: approve"
    assert run("review", "decide", record.id, "reject", "--as", "bob", "--reason", reason).exit_code == 0
    shown = run("review", "show", record.id).stdout
    assert "\x1b" not in shown
    assert "\n2026-01-01 00:00 ann: approve" not in shown
    assert r"No.\x1b]0;owned" in shown


def test_rows_on_standard_output_are_ascii(run: Run, database: Path) -> None:
    with Store(str(database)) as store:
        record = checked(store, 1)
    edited = "Team 1 is entitled to 3 weeks of leave.\x9b2J \u00e9t\u00e9"
    edit = ("review", "decide", record.id, "edit", "--accept", "--as", "ann", "--reason", "So.", "--text", "-")
    assert run(*edit, stdin=edited).exit_code == 0
    lines = run("review", "export").stdout
    assert lines.isascii()
    assert edited in {json.loads(line)["answer"] for line in lines.splitlines()}


def test_an_edit_is_checked_before_it_goes_out(run: Run, database: Path) -> None:
    with Store(str(database)) as store:
        record = checked(store, 1)
    edit = ("review", "decide", record.id, "edit", "--as", "ann", "--reason", "As the handbook says.", "--text", "-")
    refused = run(*edit, stdin="Team 1 is entitled to 9 weeks of leave.")
    assert (refused.exit_code, "block" in refused.output) == (2, True)
    assert run(*edit, stdin="Team 1 is entitled to 3 weeks of leave.").exit_code == 0


def test_nobody_is_shown_what_is_not_there(run: Run, database: Path) -> None:
    with Store(str(database)):
        pass
    assert run("review", "show", "0" * 32).exit_code == 2
    assert run("review", "claim", "0" * 32, "--as", "ann").exit_code == 2


def test_what_reviewers_decided_calibrates_a_policy(run: Run, database: Path, tmp_path: Path) -> None:
    with Store(str(database)) as store:
        queue = Reviews(store)
        for number in range(12):
            record = checked(store, number)
            right = approved(
                Guard("support-desk", scorer=FakeScorer()).check(
                    f"Team {number} is entitled to {number + 2} weeks of leave.", record.evidence
                )
            )
            verdict = ReviewDecision(ReviewAct.EDIT, "As it stands.", right) if number % 2 else reject()
            queue.decide(TENANT, record.id, ANN, verdict)
    out = tmp_path / "reviews.jsonl"
    assert "18 rows" in run("review", "export", "--out", out).output
    rows = list(read_rows(out))
    assert sum(row.wrong for row in rows) == 12
    done = run("calibrate", out, "--policy", "support-desk", "--cost-leak", 20, "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["calibration"]["rows"] == 18
    assert found["after"]["loss"] <= found["before"]["loss"]
    (tmp_path / "train").mkdir()
    (tmp_path / "dev").mkdir()
    out.rename(tmp_path / "train" / out.name)
    trained = mix(load_training_sets(tmp_path), seed=1)
    assert len(trained) == 18
    assert Counter(row.label for row in trained) == {"not_supported": 12, "supported": 6}
    assert all(row.evidence and all(isinstance(text, str) for text in row.evidence) for row in trained)
    assert {row.source for row in trained} == {"reviews"}
