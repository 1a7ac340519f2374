"""`assay audit` through typer's runner, over a store that a guard with a stand-in network filled."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from typer.testing import CliRunner, Result

from assay.cli.app import app
from assay.errors import InputError
from assay.guard import Guard
from assay.policy import preset
from assay.receipt import KeyStore
from assay.schema.coerce import coerce_evidence
from assay.server.audit.replay import content_of_bundle, replay
from assay.store.audit import standalone
from assay.store.db.engine import make_engine
from assay.store.db.store import Store
from assay.store.records.interface import CheckRecord
from assay.testing import FakeScorer

Run = Callable[..., Result]
POLICY = preset("rag")
EVIDENCE = coerce_evidence(
    [
        {"id": "hr-2", "text": "Partners are entitled to 2 weeks of paid leave.", "effective_date": "2026-01-01"},
        {"id": "hr-3", "text": "Leave is requested in the portal.", "metadata": {"page": 3, "share": 1.0}},
    ]
)
TRANSCRIPT = [
    {"role": "user", "content": "Where is order A-17?"},
    {
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "find_order", "arguments": '{"order": "A-17"}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "Order A-17 is in Hamburg."},
    {"role": "assistant", "content": "Order A-17 is in Hamburg."},
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "find_order",
            "parameters": {
                "type": "object",
                "properties": {"order": {"type": "string"}},
                "required": ["order"],
            },
        },
    }
]


class Another(FakeScorer):
    """Another verifier: its name is all that differs."""

    @property
    def digest(self) -> str:
        return "f" * 64


def guard_of(policy: Any = POLICY, **more: Any) -> Guard:
    return Guard(policy, scorer=FakeScorer(), **more)


def recorded_check(store: Store, answer: str, **asked: Any) -> str:
    guard = guard_of()
    report = guard.check(answer, EVIDENCE, **asked)
    return store.record(CheckRecord(report, {"answer": answer, **asked}, EVIDENCE, guard.policy)).id


def recorded_run(store: Store) -> str:
    guard = guard_of()
    asked = {"run": TRANSCRIPT, "tools": TOOLS, "stakes": "high"}
    report = guard.check_run(TRANSCRIPT, tools=TOOLS, stakes="high")
    return store.record(CheckRecord(report, asked, (), guard.policy, kind="run")).id


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a verb of `audit` over the database of the test."""
    monkeypatch.setenv("ASSAY_DATABASE_URL", str(tmp_path / "x.db"))
    monkeypatch.setenv("ASSAY_RECEIPT_KEYS", str(tmp_path / "keys"))
    monkeypatch.setattr("assay.config.Guard", lambda policy, **_: guard_of(policy))

    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(app, ["audit", *map(str, arguments)], catch_exceptions=False)

    return invoke


@pytest.fixture
def ids(tmp_path: Path) -> dict[str, str]:
    from datetime import UTC, datetime

    KeyStore(tmp_path / "keys").create(datetime.now(UTC))
    with Store(str(tmp_path / "x.db")) as store:
        return {
            "check": recorded_check(store, "Partners get 4 weeks of leave [hr-2].", question="How long is leave?"),
            "run": recorded_run(store),
            "other": recorded_check(store, "Leave is requested in the portal.", stakes="low"),
        }


def test_a_log_is_signed_anchored_and_verified(run: Run, ids: dict[str, str], tmp_path: Path) -> None:
    anchor = tmp_path / "elsewhere.txt"
    signed = run("checkpoint", "--anchor", anchor)
    assert signed.exit_code == 0
    assert signed.stdout.strip() == anchor.read_text(encoding="utf-8").strip()
    found = run("verify", "--checkpoint", anchor)
    assert (found.exit_code, "holds: the log" in found.stdout, "content of 3 runs" in found.stdout) == (0, True, True)
    as_json = json.loads(run("verify", "--format", "json", "--log-only").stdout)
    assert (as_json["holds"], as_json["size"], as_json["runs"]) == (True, 3, 0)


def test_without_a_checkpoint_from_outside_it_says_so_before_anything_else(
    run: Run, ids: dict[str, str], tmp_path: Path
) -> None:
    first = run("verify").stdout.splitlines()
    assert first[0].startswith("CAUTION: no checkpoint from outside")
    assert "holds" not in "".join(first)
    assert next(iter(json.loads(run("verify", "--format", "json").stdout))) == "caution"
    # One that covers a part says how much.
    run("checkpoint", "--anchor", tmp_path / "elsewhere.txt")
    with Store(str(tmp_path / "x.db")) as store:
        recorded_check(store, "Leave is requested in the portal.")
    found = run("verify", "--checkpoint", tmp_path / "elsewhere.txt").stdout
    assert found.startswith("CAUTION: a checkpoint from outside covers the first 3 of 4 entries")
    assert "\nholds: the log" in found
    run("checkpoint", "--anchor", tmp_path / "elsewhere.txt")
    assert run("verify", "--checkpoint", tmp_path / "elsewhere.txt").stdout.startswith("holds: the log")


def test_what_does_not_hold_without_a_checkpoint_from_outside_begins_with_it_too(
    run: Run, ids: dict[str, str], tmp_path: Path
) -> None:
    engine = make_engine(str(tmp_path / "x.db"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE reports SET score = 0.123"))
    engine.dispose()
    lines = run("verify").stdout.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["CAUTION", "does not hold"]


def test_what_a_verification_left_is_where_the_next_one_begins(run: Run, ids: dict[str, str], tmp_path: Path) -> None:
    state = tmp_path / "elsewhere" / "state.json"
    assert "content of 3 runs\n" in run("verify", "--state", state).stdout
    with Store(str(tmp_path / "x.db")) as store:
        recorded_check(store, "Leave is requested in the portal.")
    found = run("verify", "--state", state)
    assert (found.exit_code, "new or changed since entry 3" in found.stdout) == (0, True)
    assert json.loads(run("verify", "--state", state, "--format", "json").stdout)["since"] == 4
    left = state.read_bytes()
    engine = make_engine(str(tmp_path / "x.db"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE reports SET score = 0.123"))
    engine.dispose()
    assert run("verify", "--state", state).exit_code == 1
    # What does not hold leaves nothing to begin with.
    assert state.read_bytes() == left
    state.write_text("{}")
    assert run("verify", "--state", state).exit_code == 2
    state.write_bytes(b"\xff")
    assert run("verify", "--state", state).exit_code == 2


def test_an_export_has_all_of_the_log_or_says_what_it_leaves_out(
    run: Run, ids: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, ring = tmp_path / "b.jsonl", str(tmp_path / "keys" / "ring.json")
    run("checkpoint")
    with Store(str(tmp_path / "x.db")) as store:
        last = recorded_check(store, "Leave is requested in the portal.")
    assert run("export", "--out", out, "--partial").exit_code == 0
    head, *entries = out.read_text(encoding="utf-8").splitlines()
    assert (json.loads(head)["partial"], len(entries)) == ({"entries": 3, "of": 4}, 3)
    lines = out.read_text(encoding="utf-8").splitlines(keepends=True)
    said = standalone.verify_bundle(lines, standalone.read_ring(Path(ring).read_text()))
    assert said.startswith("IN PART, up to entry 3 of 4: ")
    assert run("export", last, "--out", out, "--partial").exit_code == 2
    monkeypatch.delenv("ASSAY_RECEIPT_KEYS")
    refused = run("export", "--out", out)
    assert (refused.exit_code, "--partial" in refused.stderr) == (2, True)
    monkeypatch.setenv("ASSAY_RECEIPT_KEYS", str(tmp_path / "keys"))
    for more in ([], [last]):
        assert run("export", *more, "--out", out).exit_code == 0
        head, *entries = out.read_text(encoding="utf-8").splitlines()
        assert "partial" not in json.loads(head)
        assert len(entries) == (2 if more else 4)
        assert standalone.main([str(out), "--ring", ring]) == 0
    # Nothing is left out any more, so nothing is said of it.
    run("export", "--out", out, "--partial")
    assert "partial" not in json.loads(out.read_text(encoding="utf-8").splitlines()[0])


@pytest.mark.parametrize(
    "partial",
    [
        {"entries": 2, "of": 4},
        {"entries": 3, "of": 3},
        {"entries": 3},
        {"entries": 3, "of": True},
        3,
        {"entries": 3.0, "of": 4},
        {"entries": 3, "of": 4, "more": 1},
    ],
)
def test_a_bundle_that_says_another_thing_of_what_it_leaves_out_is_refused(
    run: Run, ids: dict[str, str], tmp_path: Path, partial: Any
) -> None:
    out, keys = tmp_path / "b.jsonl", standalone.read_ring((tmp_path / "keys" / "ring.json").read_text())
    run("export", "--out", out)
    head, *entries = out.read_text(encoding="utf-8").splitlines(keepends=True)
    line = json.dumps({**json.loads(head), "partial": partial}, separators=(",", ":"), ensure_ascii=False) + "\n"
    with pytest.raises(standalone.VerificationError, match="leaves out"):
        standalone.verify_bundle([line, *entries], keys)


def test_what_does_not_hold_is_named_and_ends_with_1(run: Run, ids: dict[str, str], tmp_path: Path) -> None:
    run("checkpoint")
    engine = make_engine(str(tmp_path / "x.db"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE audit_entries SET data = :d WHERE idx = 1"), {"d": b"{}"})
    engine.dispose()
    found = run("verify")
    assert found.exit_code == 1
    assert "altered_entry: entry 1 does not hash" in found.stdout
    assert "other_history" in found.stdout


def test_an_entry_and_a_run_are_proved(run: Run, ids: dict[str, str], tmp_path: Path) -> None:
    run("checkpoint")
    keys = [standalone.read_vkey(line) for line in run("key").stdout.splitlines()]
    out = tmp_path / "p.tlog-proof"
    assert run("prove", ids["run"], "--out", out).exit_code == 0
    assert ids["run"] in standalone.verify_proof(out.read_text(encoding="utf-8"), keys)
    assert run("prove", "1").stdout == out.read_text(encoding="utf-8")
    assert run("prove", "9").exit_code == 2
    assert run("prove", "nobody").exit_code == 2


def test_bundles_are_verified_by_the_file_beside_them(run: Run, ids: dict[str, str], tmp_path: Path) -> None:
    run("checkpoint")
    out = tmp_path / "out" / "b.jsonl"
    assert run("export", ids["check"], "--out", out, "--with-verifier").exit_code == 0
    assert (out.parent / "assay_verify.py").read_bytes() == Path(standalone.__file__).read_bytes()
    ring = str(tmp_path / "keys" / "ring.json")
    assert standalone.main([str(out), "--ring", ring]) == 0
    assert run("export", "--out", out).exit_code == 0
    assert standalone.main([str(out), "--ring", ring]) == 0
    assert run("export", "nobody", "--out", out).exit_code == 2
    assert standalone.main([str(out), "--ring", ring]) == 0
    assert sorted(path.name for path in out.parent.iterdir()) == ["assay_verify.py", "b.jsonl"]


@pytest.mark.parametrize("name", ["check", "run", "other"])
def test_a_recorded_check_is_run_again_and_decides_the_same(
    run: Run, ids: dict[str, str], tmp_path: Path, name: str
) -> None:
    found = run("replay", ids[name])
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (0, "the same decision, and the same report")
    run("checkpoint")
    out = tmp_path / "b.jsonl"
    run("export", ids[name], "--out", out)
    # A bundle needs no database.
    assert run("replay", out).exit_code == 0


def test_a_bundle_is_replayed_whatever_signs_stand_in_its_texts(run: Run, ids: dict[str, str], tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        id_ = recorded_check(store, "Partners are entitled to\u20282 weeks of paid leave.")
    run("checkpoint")
    out = tmp_path / "b.jsonl"
    run("export", id_, "--out", out)
    found = run("replay", out)
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (0, "the same decision, and the same report")


def test_another_policy_may_decide_otherwise(run: Run, ids: dict[str, str]) -> None:
    found = run("replay", ids["check"], "--policy", "creative")
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (1, "ANOTHER DECISION")
    as_json = json.loads(run("replay", ids["check"], "--policy", "creative", "--format", "json").stdout)
    assert (as_json["same_decision"], as_json["same_verifier"]) == (False, True)


def test_another_verifier_is_refused_with_what_differs_and_never_accuses_the_record(
    tmp_path: Path, ids: dict[str, str]
) -> None:
    from assay.store.audit.export import run_content

    with Store(str(tmp_path / "x.db")) as store, store.reading("default") as connection:
        content = run_content(connection, "default", ids["check"])
    assert content is not None
    with pytest.raises(InputError, match=r"cannot be replayed by another verifier .* digest [0-9a-f]{12} then"):
        replay(content, lambda policy: Guard(policy, scorer=Another()))
    # Asked for, it says what it would say.
    found = replay(content, lambda policy: Guard(policy, scorer=Another()), other_verifier=True)
    assert not found.same_verifier
    assert not found.same_report
    assert any("the verifier is another" in line for line in found.lines())
    with pytest.raises(InputError, match="was not recorded"):
        replay({**content, "policy": None}, guard_of)
    asked = json.dumps({"asked": {"answer": "x", "prober": 1}, "evidence": []})
    with pytest.raises(InputError, match="cannot be given again: prober"):
        replay({**content, "asked": asked, "evidence": []}, guard_of)
    with pytest.raises(InputError, match="cannot be read"):
        replay({**content, "report": "{"}, guard_of)


def test_a_bundle_without_content_cannot_be_run_again() -> None:
    with pytest.raises(InputError, match="erased"):
        content_of_bundle(['{"bundle":"assay.audit/1"}'])
    with pytest.raises(InputError, match="cannot be read"):
        content_of_bundle(['{"content":}'])


def test_what_is_erased_is_said_and_the_log_holds(run: Run, ids: dict[str, str]) -> None:
    run("checkpoint")
    assert run("erase", "--run", ids["check"], "--reason", "request").stdout == "erased 1 runs\n"
    assert run("replay", ids["check"]).exit_code == 2
    assert run("verify").exit_code == 0
    assert run("erase", "--older-than", "0", "--reason", "retention").stdout == "erased 2 runs\n"
    assert run("verify").exit_code == 0
    assert run("erase", "--reason", "x").exit_code == 2


def test_a_database_that_is_not_there_is_misuse_and_no_empty_log(run: Run, tmp_path: Path) -> None:
    found = run("verify", "--database", tmp_path / "none.db")
    assert found.exit_code == 2
    assert "there is none" in found.stderr
    assert not (tmp_path / "none.db").exists()


def test_a_tenant_without_a_log_does_not_hold(run: Run, ids: dict[str, str]) -> None:
    assert run("verify", "--tenant", "acme").exit_code == 1
    assert run("checkpoint", "--tenant", "acme").exit_code == 2


def test_witnesses_and_their_keys_come_in_pairs(run: Run, ids: dict[str, str]) -> None:
    found = run("checkpoint", "--witness", "https://w.example", "--witness-key", "a", "--witness-key", "b")
    assert found.exit_code == 2
    assert "one --witness-key for each" in found.stderr
