"""One commit for each receipt among processes that share a database, and none where the database cannot be asked."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.store.racing import ANSWER

from assay.config import Guard
from assay.errors import CommitError, StoreError
from assay.guard import Guard as CoreGuard
from assay.guard import Idempotent
from assay.receipt import KeyStore, Receipt
from assay.receipt.interface import Claim, Outcome
from assay.receipt.uses import UsesInMemory
from assay.schema import Evidence
from assay.server.guards import Guards
from assay.store.db.engine import CONNECT_S, make_engine
from assay.store.db.store import Store
from assay.store.records import deferred_receipt_uses
from assay.store.records.receipt_uses import UsesInStore, list_uses
from assay.testing import FakeScorer

EVIDENCE = [Evidence(id="a", text="The warranty covers two years.")]
ROOT = Path(__file__).parents[2]
PROCESSES, RECEIPTS = 4, 25


def guard_of(keys: Path, **options: Any) -> Guard:
    return Guard("general", scorer=FakeScorer(), keys=keys, **options)


def receipts_of(folder: Path, number: int = 1) -> list[Receipt]:
    """New receipts of a new key, with what processes of `racing` need."""
    keys = KeyStore(folder)
    if not keys.ring_file.exists():
        keys.create(datetime.now(UTC))
    guard = guard_of(folder)
    report = guard.check(ANSWER, EVIDENCE)
    made = [guard.issue(report) for _ in range(number)]
    (folder / "receipts.json").write_text(json.dumps([receipt.to_text() for receipt in made]))
    return made


def start(folder: Path, how: str, database: str | None) -> "subprocess.Popen[str]":
    environ = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "ASSAY_DATABASE_URL": database or ""}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.racing", str(folder), how],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def race(folder: Path, database: str | None, processes: int) -> list[list[str]]:
    """What each of so many processes got, all of which begin at once."""
    running = [start(folder, "commit", database) for _ in range(processes)]
    ends = time.monotonic() + 60
    while len(list(folder.glob("ready-*"))) < processes and time.monotonic() < ends:
        time.sleep(0.01)
    (folder / "go").touch()
    found = []
    for one in running:
        said, errors = one.communicate(timeout=120)
        assert one.returncode == 0, errors
        found.append(json.loads(said))
    return found


def sunk(folder: Path) -> list[int]:
    """The numbers of the receipts with which a sink was called, in order."""
    return sorted(int(line) for line in (folder / "sunk").read_text().split()) if (folder / "sunk").exists() else []


def test_of_processes_that_race_for_a_receipt_one_commits_it(url: str, tmp_path: Path) -> None:
    receipts = receipts_of(tmp_path, RECEIPTS)
    # Made by the processes themselves, at the same moment: the tables too are made once.
    found = race(tmp_path, url, PROCESSES)
    assert sunk(tmp_path) == list(range(RECEIPTS))
    for got in zip(*found, strict=True):
        assert sorted(got) == ["committed"] + ["used"] * (PROCESSES - 1)
    with Store(url) as store:
        kept = list_uses(store)
    assert {one.receipt_id for one in kept} == {one.statement.receipt_id for one in receipts}
    assert {one.outcome for one in kept} == {Outcome.RETURNED}
    assert len({one.holder for one in kept}) > 1, "one process was faster than all others every time"


def test_without_a_database_each_process_has_a_memory_of_its_own(tmp_path: Path) -> None:
    receipts_of(tmp_path, 2)
    assert race(tmp_path, None, 2) == [["committed"] * 2] * 2
    assert sunk(tmp_path) == [0, 0, 1, 1]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed")
@pytest.mark.parametrize(("how", "acted"), [("kill-before", []), ("kill-after", [0])])
def test_a_process_that_dies_after_its_claim_has_used_the_receipt_up_and_is_seen(
    url: str, tmp_path: Path, how: str, acted: Sequence[int]
) -> None:
    (receipt,) = receipts_of(tmp_path)
    (tmp_path / "go").touch()
    dying = start(tmp_path, how, url)
    assert dying.communicate(timeout=60)[0] == ""
    assert dying.returncode == -signal.SIGKILL
    assert sunk(tmp_path) == list(acted)
    # At most once: nobody can tell whether it acted, so nobody does it again.
    assert race(tmp_path, url, 1) == [["used"]]
    assert sunk(tmp_path) == list(acted)
    with Store(url) as store:
        (seen,) = list_uses(store, unsettled=True)
    assert (seen.receipt_id, seen.outcome) == (receipt.statement.receipt_id, None)
    assert seen.holder == f"{socket.gethostname()}:{dying.pid}"
    # Who knows that a second time does no harm may go on with the same receipt, and it is then settled.
    guard_of(tmp_path, uses=url).commit(ANSWER, receipt, Idempotent(len))
    with Store(url) as store:
        assert list_uses(store, unsettled=True) == []


def test_a_sink_that_raises_is_seen(url: str, tmp_path: Path) -> None:
    (receipt,) = receipts_of(tmp_path)

    def fails(_: str) -> None:
        raise ConnectionError

    guard = guard_of(tmp_path, uses=url)
    with pytest.raises(ConnectionError):
        guard.commit(ANSWER, receipt, fails)
    assert refused(guard, receipt) == {"used"}
    with Store(url) as store:
        assert [one.outcome for one in list_uses(store)] == [Outcome.RAISED]


# No database to ask


def refused(guard: CoreGuard, receipt: Receipt, match: str = "nothing was committed") -> frozenset[str]:
    called: list[str] = []
    with pytest.raises(CommitError, match=match) as caught:
        guard.commit(ANSWER, receipt, called.append)
    assert called == []
    return caught.value.codes


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_a_database_that_cannot_be_reached_lets_nothing_through(tmp_path: Path) -> None:
    (receipt,) = receipts_of(tmp_path / "keys")
    (tmp_path / "file").touch()
    for database in (
        f"postgresql://nobody:secret@127.0.0.1:{closed_port()}/none",
        f"sqlite:///{tmp_path / 'file' / 'x.db'}",
        "mysql://h/x",
        "sqlite:///:memory:",
    ):
        found = refused(guard_of(tmp_path / "keys", uses=database), receipt, "is not known whether .* was used")
        assert found == {"no_record"}
        with pytest.raises(CommitError) as caught:
            guard_of(tmp_path / "keys", uses=database).commit(ANSWER, receipt, len)
        assert "secret" not in str(caught.value)


def test_a_database_that_never_answers_lets_nothing_through(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    (receipt,) = receipts_of(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        database = f"postgresql://nobody@127.0.0.1:{deaf.getsockname()[1]}/none?connect_timeout=2"
        begun = time.monotonic()
        assert refused(guard_of(tmp_path, uses=database), receipt) == {"no_record"}
    assert time.monotonic() - begun < 30


def test_a_connection_may_take_a_while_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    psycopg = pytest.importorskip("psycopg")
    given: list[object] = []

    def connect(*_: object, **named: object) -> None:
        given.append(named["connect_timeout"])
        raise OSError("none")

    monkeypatch.setattr(psycopg, "connect", connect)
    for url in ("postgresql://h/x", "postgresql://h/x?connect_timeout=3"):
        with pytest.raises(OSError, match="none"), make_engine(url).connect():
            pass
    assert given == [CONNECT_S, "3"]


def test_a_database_that_breaks_lets_nothing_through_and_works_again_when_it_is_mended(
    url: str, tmp_path: Path
) -> None:
    first, second, third = receipts_of(tmp_path, 3)
    guard = guard_of(tmp_path, uses=url)
    assert guard.commit(ANSWER, first, len) == len(ANSWER)
    engine = make_engine(url)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE receipt_uses RENAME TO gone"))
    assert refused(guard, second) == {"no_record"}
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE gone RENAME TO receipt_uses"))
    engine.dispose()
    assert guard.commit(ANSWER, second, len) == len(ANSWER)
    assert refused(guard, first) == {"used"}
    assert guard.commit(ANSWER, third, len) == len(ANSWER)


def test_an_outcome_that_cannot_be_noted_takes_no_result_away(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Forgetful(UsesInMemory):
        def settle(self, *_: object) -> None:
            raise StoreError("the disk is full")

    first, second = receipts_of(tmp_path, 2)
    guard = guard_of(tmp_path, uses=Forgetful())
    assert guard.commit(ANSWER, first, len) == len(ANSWER)
    assert "the disk is full" in caplog.text
    with pytest.raises(ZeroDivisionError):
        guard.commit(ANSWER, second, lambda _: 1 // 0)


def test_what_cannot_be_claimed_never_reaches_the_sink(tmp_path: Path) -> None:
    class Odd(UsesInMemory):
        def claim(self, *_: object) -> Claim:
            raise RuntimeError("a bug")

    (receipt,) = receipts_of(tmp_path)
    called: list[str] = []
    with pytest.raises(RuntimeError):
        guard_of(tmp_path, uses=Odd()).commit(ANSWER, receipt, called.append)
    assert called == []


# Which one is used


def test_the_environment_names_the_database_and_the_caller_names_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, other = (f"sqlite:///{tmp_path / name}" for name in ("named.db", "other.db"))
    first, second = receipts_of(tmp_path, 2)
    monkeypatch.setenv("ASSAY_DATABASE_URL", named)
    guard_of(tmp_path).commit(ANSWER, first, len)
    guard_of(tmp_path, uses=other).commit(ANSWER, second, len)
    guard_of(tmp_path, uses=UsesInMemory()).commit(ANSWER, second, len)
    for url, receipt in ((named, first), (other, second)):
        with Store(url) as store:
            assert [one.receipt_id for one in list_uses(store)] == [receipt.statement.receipt_id]
    # Under another policy it is the same record.
    assert refused(guard_of(tmp_path).under("general"), first) == {"used"}


def test_no_database_is_opened_before_the_first_commit(tmp_path: Path) -> None:
    database = tmp_path / "later.db"
    guard = guard_of(tmp_path / "none", uses=f"sqlite:///{database}")
    guard.check(ANSWER, EVIDENCE)
    assert not database.exists()
    (receipt,) = receipts_of(tmp_path / "keys")
    guard_of(tmp_path / "keys", uses=f"sqlite:///{database}").commit(ANSWER, receipt, len)
    assert database.exists()


def test_the_guards_of_a_server_remember_uses_in_its_database(tmp_path: Path) -> None:
    first, second = receipts_of(tmp_path, 2)
    served, named = (f"sqlite:///{tmp_path / name}" for name in ("served.db", "named.db"))
    environ = {"ASSAY_RECEIPT_KEYS": str(tmp_path), "ASSAY_DATABASE_URL": named}
    Guards("general", scorer=FakeScorer(), database=served, environ=environ).default.commit(ANSWER, first, len)
    Guards("general", scorer=FakeScorer(), environ=environ).get("general").commit(ANSWER, second, len)
    for url, receipt in ((served, first), (named, second)):
        with Store(url) as store:
            assert [one.receipt_id for one in list_uses(store)] == [receipt.statement.receipt_id]


def test_guards_of_a_store_share_what_it_remembers(url: str, tmp_path: Path) -> None:
    (receipt,) = receipts_of(tmp_path)
    with Store(url) as store:
        guard_of(tmp_path, uses=UsesInStore(store)).commit(ANSWER, receipt, len)
        assert refused(guard_of(tmp_path, uses=url), receipt) == {"used"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is forked")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_process_opens_the_database_anew(url: str, tmp_path: Path) -> None:
    first, second = receipts_of(tmp_path, 2)
    guard = guard_of(tmp_path, uses=url)
    guard.commit(ANSWER, first, len)
    child = os.fork()
    if child == 0:
        try:
            again = refused(guard, first) == {"used"}
            os._exit(0 if again and guard.commit(ANSWER, second, len) == len(ANSWER) else 3)
        finally:
            os._exit(4)
    timer = threading.Timer(60, os.kill, (child, signal.SIGKILL))
    timer.start()
    _, status = os.waitpid(child, 0)
    timer.cancel()
    assert os.waitstatus_to_exitcode(status) == 0
    assert refused(guard, second) == {"used"}


@pytest.fixture(autouse=True)
def _closed() -> Any:
    """The stores that guards opened are closed before their databases go."""
    yield
    deferred_receipt_uses._OPEN.close()
