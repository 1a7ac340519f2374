"""`assay doctor`: what is configured, what each policy requires, and what is open."""

import json
import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.store.reviewing import held
from typer.testing import CliRunner, Result

from assay.cli.app import app
from assay.cli.operations import doctor as verb
from assay.cli.operations.doctor_checks import Level, Note, online, permission_notes
from assay.receipt.interface import Claim, Use
from assay.receipt.store import KeyStore
from assay.store.audit.merkle.anchors import anchor_in_file
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.db.store import Store
from assay.store.records.receipt_uses import UsesInStore

Doctor = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASSAY_CONFIG", "ASSAY_RECEIPT_KEYS", "ASSAY_DATABASE_URL", "ASSAY_KEYS", "ASSAY_UPSTREAM_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeyStore:
    made = KeyStore(tmp_path / "keys")
    made.create(datetime.now(UTC))
    monkeypatch.setenv("ASSAY_RECEIPT_KEYS", str(tmp_path / "keys"))
    return made


def asked(*options: object) -> tuple[int, list[Note]]:
    """The exit status and the notes."""
    found: Result = CliRunner().invoke(app, ["doctor", "--json", *map(str, options)])
    assert found.exit_code in (0, 1), found.output
    told = json.loads(found.stdout)
    notes = [Note(Level(one["level"]), one["area"], one["said"], one["todo"]) for one in told["notes"]]
    assert told["open"] == sum(note.level is Level.OPEN for note in notes)
    assert (found.exit_code == 1) == (told["open"] > 0)
    return found.exit_code, notes


def opened(*options: object) -> list[str]:
    """What is open."""
    return [note.said for note in asked(*options)[1] if note.level is Level.OPEN]


def test_a_fresh_installation_has_nothing_open_and_says_what_it_checks_with() -> None:
    status, notes = asked()
    assert status == 0
    (verifier,) = (note.said for note in notes if note.area == "verifier" and "loaded in" in note.said)
    assert "assay-verifier" in verifier
    assert any("every program on this machine may ask" in note.said for note in notes)


def test_the_text_says_how_many_things_are_open_and_what_to_do() -> None:
    found = CliRunner().invoke(app, ["doctor", "--policy", "high-stakes"])
    assert found.exit_code == 1
    assert "→ Name a chat model" in found.stdout
    assert found.stdout.rstrip().endswith("1 open: each says what to do.")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--policy", "high-stakes"), True),
        (("--policy", "high-stakes", "--upstream", "http://127.0.0.1:9"), False),  # which is asked again
        (("--policy", "high-stakes", "--llm", "m", "--base-url", "http://127.0.0.1:9/v1"), False),
        (("--policy", "rag"), False),  # a judge is asked where there is one, and missed by nobody
        (("--policy", "general"), False),
    ],
)
def test_a_policy_in_use_that_requires_a_model_is_open_without_one(options: tuple[str, ...], wanted: bool) -> None:
    assert any("requires critical claims asked about again" in said for said in opened(*options)) == wanted


def test_every_preset_is_named_with_what_it_needs() -> None:
    told = [note.said for note in asked()[1] if note.area == "policy"]
    for name in ("general", "rag", "support-desk", "monitor", "high-stakes", "creative"):
        assert sum(said.startswith(f"{name} (") for said in told) == 1


def test_a_policy_of_a_route_counts_as_in_use(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(
        "version: 1\nupstreams: {default: 'http://127.0.0.1:9'}\n"
        "routes:\n  messages: {mode: shadow}\n  responses: {policy: rag, fail_on: block, tasks: [creative]}\n"
    )
    notes = asked("--gateway", file)[1]
    told = [note.said for note in notes]
    assert any(said.startswith("rag (the route responses)") for said in told)
    assert "the route messages is in the mode shadow: nothing is withheld there" in told
    assert "the route responses lets answers through that the gate would revise" in told
    assert "callers of the route responses may choose among creative" in told


def test_a_gateway_file_that_is_wrong_is_open(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text("version: 1\nlimits: {body_bytes: none}\n")
    assert any("the server would not start" in said for said in opened("--gateway", file))


def test_a_server_without_users_on_a_public_address_is_open(tmp_path: Path) -> None:
    database = tmp_path / "assay.db"
    wanted = "there are no users and no keys, and the server listens to more than this machine"
    assert wanted in opened("--host", "0.0.0.0", "--database", database)  # noqa: S104 nothing listens there
    assert not database.exists()  # it looks, and makes nothing
    Store(str(database)).close()
    assert wanted in opened("--host", "0.0.0.0", "--database", database)  # noqa: S104
    assert wanted not in opened("--database", database)
    assert any("would not start" in said for said in opened("--host", "0.0.0.0"))  # noqa: S104


def test_a_database_made_by_a_server_is_for_its_owner_alone(tmp_path: Path) -> None:
    database = tmp_path / "assay.db"
    with Store(str(database)) as store:
        store.record(held())
        files = [database, *tmp_path.glob("assay.db-*")]
        assert len(files) > 1
        assert [note for file in files for note in permission_notes(file, "database")] == []
    database.chmod(0o644)
    assert any("read or change" in said for said in opened("--database", database))


def test_keys_that_others_may_read_are_open(keys: KeyStore) -> None:
    assert opened() == []
    (private_key,) = keys.folder.glob("*.key")
    private_key.chmod(0o640)
    (said,) = opened()
    assert str(private_key) in said
    private_key.chmod(0o600)
    keys.folder.chmod(0o777)
    (said,) = opened()
    assert "change what stands in" in said


def test_keys_that_cannot_sign_are_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RECEIPT_KEYS", str(tmp_path / "nowhere"))
    assert len(opened()) == 1


def test_a_record_without_keys_is_open(tmp_path: Path) -> None:
    database = tmp_path / "assay.db"
    with Store(str(database)) as store:
        store.record(held())
    told = opened("--database", database)
    assert any("nothing is signed" in said for said in told)
    assert any("was never signed" in said for said in told)


def test_a_log_without_a_checkpoint_outside_for_a_day_is_open(
    tmp_path: Path, keys: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, outside = tmp_path / "assay.db", tmp_path / "elsewhere.txt"
    with Store(str(database)) as store:
        store.record(held())
        note = make_checkpoint(store, keys, "default")
    assert any("never anchored outside" in said for said in opened("--database", database))
    with Store(str(database)) as store:
        anchor_in_file(store, "default", note, outside)
    assert opened("--database", database) == []
    later = datetime.now(UTC) + timedelta(hours=25)
    monkeypatch.setattr(verb, "clock", lambda: later)
    assert any("last 25 hours ago anchored" in said for said in opened("--database", database))


def test_a_check_from_the_future_is_a_clock_that_is_wrong(
    tmp_path: Path, keys: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "assay.db"
    with Store(str(database)) as store:
        store.record(held())
        anchor_in_file(store, "default", make_checkpoint(store, keys, "default"), tmp_path / "elsewhere.txt")
    earlier = datetime.now(UTC) - timedelta(hours=1)
    monkeypatch.setattr(verb, "clock", lambda: earlier)
    told = opened("--database", database)
    assert any("has a check from the future" in said for said in told)
    assert any("was made in the future" in said for said in told)


@pytest.mark.parametrize(
    ("hours", "said"), [(0, None), (-3, "3 hours ahead of that of the upstream"), (72, "3 days behind")]
)
def test_an_upstream_with_another_time_is_told_of(hours: int, said: str | None) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    date = (now + timedelta(hours=hours)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    notes = list(online({"the upstream": "http://x"}, lambda: now, lambda _: (401, date)))
    clocks = [note.said for note in notes if note.area == "clock"]
    assert notes[0].level is Level.OK
    assert len(clocks) == (said is not None)
    assert all(said in one for one in clocks if said is not None)


def test_an_upstream_that_cannot_be_reached_is_open_and_asked_only_online() -> None:
    nobody = ("--upstream", "http://127.0.0.1:9")
    assert opened(*nobody) == []
    assert any("cannot be reached" in said for said in opened(*nobody, "--online"))


def test_an_upstream_that_does_not_speak_http_is_open_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1_000)
                connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        (note,) = online({"the upstream": address}, lambda: datetime.now(UTC))
        thread.join()
    assert (note.level, "cannot be reached" in note.said) == (Level.OPEN, True)


def test_commits_of_unknown_outcome_are_told_of_once_they_cannot_go_on_any_more(
    tmp_path: Path, keys: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, issued = tmp_path / "assay.db", datetime.now(UTC)
    with Store(str(database)) as store:
        use = Use("a" * 32, "b" * 32, "c" * 64, issued, issued + timedelta(hours=1))
        assert UsesInStore(store).claim(use, issued) is Claim.FIRST
    assert "commits" not in {note.area for note in asked("--database", database)[1]}
    monkeypatch.setattr(verb, "clock", lambda: issued + timedelta(minutes=6))
    (note,) = (note for note in asked("--database", database)[1] if note.area == "commits")
    assert note.said.startswith("of 1 commit of default nobody knows the outcome")
    assert note.todo is not None
    assert "assay receipt uses" in note.todo
