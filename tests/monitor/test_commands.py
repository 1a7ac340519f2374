"""The verbs of what changes over time, as they are typed."""

import json
import shlex
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select
from tests.monitor.recording import DAY, RING, TENANT, Clock, bad_record, good_record, plant, row_of
from tests.store.making import KEYS
from typer.testing import CliRunner, Result

from assay.cli.app import app
from assay.monitor import BudgetSettings, Consequence, SearchOptions
from assay.policy import PRESETS, preset
from assay.policy.order import at_least_as_strict
from assay.server.monitoring.budget import Budgeting
from assay.server.monitoring.overlay import overlay_of
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db import tables
from assay.store.db.column_values import micros
from assay.store.db.store import Store
from assay.store.reviews import Reviewer, Reviews, read_item, read_package

BEGIN = micros(DAY)


def run(*arguments: object, status: int = 0) -> Result:
    found = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert found.exit_code == status, found.output
    return found


def told(*arguments: object, status: int = 0) -> Any:
    return json.loads(run(*arguments, "--format", "json", status=status).stdout)


# Design


def test_a_design_tells_slack_threshold_and_both_run_lengths() -> None:
    found = told("monitor", "design", "--baseline", 0.05, "--shift", 0.03, "--false-alarm-every", 10_000)
    assert found["arl0"] >= 10_000
    assert 0 < found["slack"] < 0.03
    assert found["threshold"] > 0
    assert found["arl1"] == pytest.approx(417, rel=0.01)
    assert found["approximation"]["arl1"] == pytest.approx(found["threshold"] / (0.03 - found["slack"]))
    assert found["opposite"]["direction"] == "down"
    assert found["both_sides_arl0"] < found["arl0"]


def test_a_design_is_drawn_and_says_what_an_estimated_baseline_costs(tmp_path: Path) -> None:
    text = run(
        "monitor", "design", "--baseline", 0.05, "--shift", 0.03, "--false-alarm-every", 1_000, "--baseline-of", 2_000
    ).stdout
    assert "#####" in text
    assert "The baseline was estimated" in text
    scores = tmp_path / "scores.txt"
    scores.write_text("0.1\n0.2\n0.4\n" * 5, encoding="utf-8")
    found = told(
        "monitor",
        "design",
        "--baseline",
        0.2,
        "--shift",
        0.05,
        "--false-alarm-every",
        500,
        "--kind",
        "score",
        "--sample",
        scores,
    )
    assert found["arl1"] < found["arl0"]


def test_a_design_that_no_chart_has_is_misuse(tmp_path: Path) -> None:
    plain = ("monitor", "design", "--shift", 0.03, "--false-alarm-every", 100)
    run(*plain, "--baseline", 1.5, status=2)
    run(*plain, "--baseline", 0.05, "--spread", 0.1, status=2)
    bad = tmp_path / "bad.txt"
    bad.write_text("0.1\nmany\n", encoding="utf-8")
    assert "line 2" in run(*plain, "--baseline", 0.2, "--kind", "score", "--sample", bad, status=2).output


# Changes and turns


def test_changes_are_told_listed_and_known_again_by_their_id(tmp_path: Path) -> None:
    base = ("--database", tmp_path / "x.db")
    first = told(
        "changes", "add", *base, "--kind", "prompt", "--ref", "v7", "--at", "2026-03-01T12:00:00Z", "--id", "d-1"
    )
    assert first == {
        "id": "d-1",
        "kind": "prompt",
        "ref": "v7",
        "at": "2026-03-01T12:00:00Z",
        "note": "",
        "source": "told",
        "new": True,
    }
    assert not told("changes", "add", *base, "--kind", "prompt", "--ref", "v8", "--id", "d-1")["new"]
    run("changes", "add", *base, "--kind", "model", "--ref", "m-2", "--at", "2026-03-02")
    assert [one["ref"] for one in told("changes", "list", *base)["changes"]] == ["m-2", "v7"]
    assert [one["ref"] for one in told("changes", "list", *base, "--until", "2026-03-02")["changes"]] == ["v7"]
    assert "m-2" in run("changes", "list", *base).stdout
    for bad in (("--ref", "  "), ("--ref", "x", "--at", "noon"), ("--ref", "x", "--id", "a b")):
        run("changes", "add", *base, "--kind", "model", *bad, status=2)


def test_a_turn_exits_one_where_it_raises_an_alarm(tmp_path: Path) -> None:
    path, settings = tmp_path / "x.db", tmp_path / "monitor.yaml"
    settings.write_text(
        "watch: {shift: 0.1, baseline_observations: 300, false_alarm_every: 2000, metrics: {bad: [all]}}", "utf-8"
    )
    with Store(str(path), clock=Clock()) as store:
        plant(store, [(500, 0.05), (100, 0.6)], 2, BEGIN)
    base = ("--database", path, "--settings", settings)
    found = told("monitor", "run", *base, status=1)
    assert found["raised"] >= 1
    alarm = found["alarms"][-1]
    assert {"baseline", "rate", "statistic", "threshold", "worst", "actions", "cause"} <= set(alarm)
    assert told("monitor", "run", *base)["added"] == 0
    status = told("monitor", "status", *base)
    assert status["series"][0]["up"]["threshold"] > 0
    assert "ALARM" in run("monitor", "status", *base).stdout
    run("monitor", "acknowledge", alarm["id"], "--database", path, "--as", "ann")
    run("monitor", "acknowledge", "0" * 32, "--database", path, "--as", "ann", status=2)


@pytest.mark.parametrize(
    "text",
    ["watch: {shfit: 1}", "- a", "watch: {metrics: {bad: [planet]}}", "budget: {most: 7}", "a: [", "watch: {shift: x}"],
)
def test_settings_that_say_something_else_are_misuse(tmp_path: Path, text: str) -> None:
    settings = tmp_path / "monitor.yaml"
    settings.write_text(text, "utf-8")
    run("monitor", "run", "--database", tmp_path / "x.db", "--settings", settings, status=2)


# The budget


def spent(path: Path, rate: float, clock: Clock) -> None:
    with Store(str(path), clock=clock) as store, store.engine.begin() as connection:
        connection.execute(
            insert(tables.observations),
            [
                row_of(f"{number:032x}", micros(clock.now) - number * 1_000_000, float(number % 100 < rate * 100))
                for number in range(400)
            ],
        )


def test_a_spent_budget_freezes_deployments_until_it_is_no_more(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    path, clock = tmp_path / "x.db", Clock(datetime.now(UTC))
    spent(path, 0.2, clock)
    base = ("--database", path)
    found = told("budget", "check", *base, status=1)
    assert found["exhausted"]
    assert found["left"] == pytest.approx(400 * 0.05 - 80)
    assert found["consequences"]["deployment_freeze"]["active"]
    assert not found["consequences"]["more_sampling"]["active"]  # not switched on
    assert "SPENT" in run("budget", "check", *base, status=1).stdout
    again = told("budget", "check", *base, "--max", 0.9)
    assert not again["consequences"]["deployment_freeze"]["active"]
    told("budget", "check", *base, status=1)
    run("budget", "lift", "deployment_freeze", *base, "--as", "ann", "--reason", "rolled back")
    run("budget", "lift", "everything", *base, "--as", "ann", "--reason", "no", status=2)
    with Store(str(path)) as store, store.reading(TENANT) as connection:
        kinds = connection.execute(select(tables.audit_entries.c.kind)).scalars().all()
    assert kinds.count("budget") == 4


def test_too_few_outputs_and_none_spend_no_budget(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")):
        pass
    assert not told("budget", "check", "--database", tmp_path / "x.db")["broken"]


@pytest.mark.parametrize(
    "verb",
    [
        "budget check",
        "budget lift deployment_freeze --as ann --reason no",
        "monitor run",
        "monitor status",
        "monitor rescore",
        "monitor acknowledge a --as ann",
        "changes list",
        "review list",
    ],
)
def test_a_record_that_is_not_there_is_misuse_and_is_not_made(tmp_path: Path, verb: str) -> None:
    path = tmp_path / "misspelt.db"
    assert "there is none" in run(*verb.split(), "--database", path, status=2).output
    assert not path.exists()


def test_the_status_tells_moments_as_a_turn_does(tmp_path: Path) -> None:
    base = ("--database", tmp_path / "x.db")
    run("changes", "add", *base, "--kind", "code", "--ref", "c1")
    assert told("monitor", "run", *base)["until"] == told("monitor", "status", *base)["until"]


def test_an_investigation_is_opened_for_the_worst_output_and_can_be_decided(tmp_path: Path) -> None:
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        ids = []
        for record in (good_record(), bad_record()):
            clock.now += timedelta(seconds=1)
            store.record(record)
            ids.append(record.id)
        with store.engine.begin() as connection:
            connection.execute(
                insert(tables.observations),
                [row_of(id_, micros(clock.now), bad) for id_, bad in zip(ids, (0.0, 1.0), strict=True)],
            )
        switched = {one.value: True for one in Consequence}
        desk = Budgeting(store, BudgetSettings(least_outputs=1, consequences=switched))
        told_ = desk.settle(TENANT, "ann")
        assert told_["investigation"] == ids[1]
        assert desk.active(TENANT) == frozenset(switched)
        assert "investigation" not in desk.settle(TENANT, "ann")
        with store.reading(TENANT) as connection:
            item = read_item(connection, TENANT, ids[1])
            assert read_package(connection, TENANT, ids[1]) is not None
        assert item is not None
        Reviews(store).claim(TENANT, ids[1], Reviewer("ann"))
        make_checkpoint(store, KEYS, TENANT)
        with store.reading(TENANT) as connection:
            found = verify_contents(connection, TENANT, verify_log(connection, TENANT, RING))
        assert found.holds, found.findings


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_policy_with_consequences_is_never_looser(name: str) -> None:
    from assay.policy import Policy

    policy = preset(name)
    both = frozenset({Consequence.TIGHTENING.value, Consequence.ESCALATION.value})
    assert overlay_of(policy, frozenset(), BudgetSettings()) == policy.model_dump(mode="json")
    made = Policy.model_validate(overlay_of(policy, both, BudgetSettings()))
    assert at_least_as_strict(made, policy)
    assert made.emit_threshold > policy.emit_threshold or policy.emit_threshold >= 0.99
    assert made.escalation.threshold < policy.escalation.threshold or policy.escalation.threshold == 0


# Bisection

SYSTEM = """
import json, os, random, sys
index = int(os.environ["ASSAY_STATE_INDEX"])
assert len(json.loads(os.environ["ASSAY_STATE_CHANGES"])) == index
rows = [json.loads(line) for line in open(os.environ["ASSAY_ROWS"], encoding="utf-8")]
assert [json.loads(line) for line in sys.stdin] == rows
log = open(os.environ["LOG"], "a")
draw = random.Random(f"{index} {log.tell()}")
for row in rows:
    bad = draw.random() < (0.5 if index >= 3 else 0.1)
    print(json.dumps({"id": row["id"], "bad": bad}))
log.write(f"{index} {len(rows)}\\n")
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "system.py").write_text(SYSTEM, "utf-8")
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"id": "{n}", "question": "q{n}"}}\n' for n in range(30)), "utf-8")
    (tmp_path / "changes.jsonl").write_text(
        "".join(f'{{"kind": "code", "ref": "c{n}", "at": {n}}}\n' for n in range(1, 6)), "utf-8"
    )
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    return tmp_path


def bisecting(site: Path, command: str, *more: object, status: int = 1) -> Any:
    return told(
        "bisect",
        "--changes",
        site / "changes.jsonl",
        "--rows",
        site / "rows.jsonl",
        "--run",
        command,
        "--state",
        site / "state.jsonl",
        "--batch",
        150,
        "--shift",
        0.2,
        *more,
        status=status,
    )


def test_bisect_finds_the_change_and_goes_on_where_it_was_stopped(site: Path) -> None:
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(site / 'system.py'))}"
    found = bisecting(site, command)
    assert found["verdict"] == "found"
    assert [one["change"]["ref"] for one in found["causes"]] == ["c3"]
    assert found["causes"][0]["probability"] > 0.99
    assert found["sure"]
    runs = (site / "log").read_text().count("\n")
    state = (site / "state.jsonl").read_bytes()
    # What is known is not evaluated again; a line that was cut off is.
    assert bisecting(site, command) == found
    assert (site / "log").read_text().count("\n") == runs
    (site / "state.jsonl").write_bytes(state[:-20])
    again = bisecting(site, command)
    assert [one["change"]["ref"] for one in again["causes"]] == ["c3"]
    assert (site / "log").read_text().count("\n") == runs + 1
    # And the search can be taken up once more after that.
    assert bisecting(site, command) == again
    assert (site / "log").read_text().count("\n") == runs + 1
    # The state of another search is refused.
    bisecting_refused = run(
        "bisect",
        "--changes",
        site / "changes.jsonl",
        "--rows",
        site / "rows.jsonl",
        "--run",
        "other",
        "--state",
        site / "state.jsonl",
        status=2,
    )
    assert "other changes, rows, command" in bisecting_refused.output


def test_a_state_whose_first_line_was_cut_off_begins_anew_and_any_other_file_is_left_alone(site: Path) -> None:
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(site / 'system.py'))}"
    state = site / "state.jsonl"
    bisecting(site, command)
    whole = state.read_bytes()
    state.write_bytes(whole[:40])
    assert [one["change"]["ref"] for one in bisecting(site, command)["causes"]] == ["c3"]
    assert state.read_bytes().split(b"\n")[0] == whole.split(b"\n")[0]
    state.write_text("my notes", encoding="utf-8")
    refused = run(
        *("bisect", "--changes", site / "changes.jsonl", "--rows", site / "rows.jsonl", "--run", command),
        *("--state", state),
        status=2,
    )
    assert "not the state of a search" in refused.output
    assert state.read_text(encoding="utf-8") == "my notes"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("exit 3", "status 3"),
        ("echo nonsense", "no JSON"),
        ("echo 0.5", "a line for each of 150 rows"),
        ("yes 7 | head -150", "from 0 to 1"),
        ("sleep 60", "did not end within"),
    ],
)
def test_a_command_that_fails_decides_nothing(site: Path, command: str, why: str) -> None:
    result = run(
        "bisect",
        "--changes",
        site / "changes.jsonl",
        "--rows",
        site / "rows.jsonl",
        "--run",
        command,
        "--batch",
        150,
        "--state",
        site / "state.jsonl",
        "--timeout",
        1,
        status=2,
    )
    assert why in result.output
    assert not (site / "state.jsonl").exists()


def test_a_sign_that_ends_a_line_elsewhere_may_stand_in_changes_rows_and_what_the_command_writes(site: Path) -> None:
    rows = site / "rows.jsonl"
    rows.write_text(rows.read_text("utf-8").replace('"q', '"q\u2028'), "utf-8")
    changes = site / "changes.jsonl"
    changes.write_text(changes.read_text("utf-8").replace('"c3"', '"c\u20283"'), "utf-8")
    written = 'json.dumps({**row, "bad": bad}, ensure_ascii=False).encode() + b"\\n"'
    system = SYSTEM.replace('print(json.dumps({"id": row["id"], "bad": bad}))', f"sys.stdout.buffer.write({written})")
    assert written in system
    (site / "system.py").write_text(system, "utf-8")
    found = bisecting(site, f"{shlex.quote(sys.executable)} {shlex.quote(str(site / 'system.py'))}")
    assert [one["change"]["ref"] for one in found["causes"]] == ["c\u20283"]


def test_files_of_a_search_that_cannot_be_read_are_misuse(site: Path) -> None:
    (site / "latin.jsonl").write_bytes(b'{"ref": "caf\xe9"}')
    files = {"changes": site / "changes.jsonl", "rows": site / "rows.jsonl"}
    for name in files:
        for path, why in (("none.jsonl", "No such file"), ("latin.jsonl", "it is not UTF-8"), (".", "Is a directory")):
            named = {**files, name: site / path}
            given = [part for option, file in named.items() for part in (f"--{option}", file)]
            assert f"{named[name]}: cannot be read: {why}" in run("bisect", *given, "--run", "true", status=2).output


def test_options_of_a_search_that_make_no_sense_are_refused() -> None:
    from assay.errors import InputError

    for bad in ({"alpha": 0}, {"shift": 2}, {"good": 0.1}, {"good": 0.5, "bad": 0.1}, {"batch": 0}):
        with pytest.raises(InputError):
            SearchOptions(**bad)
