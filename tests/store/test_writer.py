"""Group commit: bounded, fair to each change, and nothing is promised that is not kept."""

import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, event, func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool
from tests.store.making import record_of

from assay.errors import BusyError, StoreError
from assay.store.audit.log import Entry, read_entries
from assay.store.db.engine import database_url, make_engine
from assay.store.db.migrate import migrate
from assay.store.db.store import Store, StoreSettings
from assay.store.db.tables import audit_entries, audit_logs, reports
from assay.store.db.writer import Change, Stored, Writer
from assay.store.records.check_rows import change_of


class Gate:
    """An act that holds the writer up until it is opened."""

    def __init__(self) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()

    def __call__(self, connection: Connection) -> Sequence[Entry]:
        self.entered.set()
        self.opened.wait(30)
        return ()


def one(number: int) -> Change:
    return Change("default", entries=[Entry("decision", str(number).encode())])


def held_up(store: Store) -> Gate:
    gate = Gate()
    store.submit(Change("default", act=gate))
    gate.entered.wait(30)
    return gate


def test_more_than_may_wait_is_refused_and_what_waits_is_stored(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db"), StoreSettings(most_waiting=3, wait_s=0)) as store:
        gate = held_up(store)
        waiting = [store.submit(one(number)) for number in range(3)]
        assert store.waiting == 3
        with pytest.raises(BusyError, match="3 changes wait"):
            store.submit(one(3))
        with pytest.raises(BusyError, match="try again later"):
            store.record(record_of())
        gate.opened.set()
        assert [future.result(30).entries for future in waiting] == [(0,), (1,), (2,)]
        assert store.apply(one(4)).entries == (3,)


def test_who_waits_for_a_place_gets_one(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db"), StoreSettings(most_waiting=1, wait_s=30)) as store:
        gate = held_up(store)
        store.submit(one(0))
        found: list[Stored] = []
        thread = threading.Thread(target=lambda: found.append(store.apply(one(1))))
        thread.start()
        time.sleep(0.05)
        gate.opened.set()
        thread.join(30)
        assert [stored.entries for stored in found] == [(1,)]


def test_changes_that_came_while_one_was_written_share_a_transaction(tmp_path: Path) -> None:
    engine = make_engine(str(tmp_path / "x.db"))
    migrate(engine)
    seen: list[int] = []

    def count(connection: Connection) -> Sequence[Entry]:
        seen.append(id(connection))
        return ()

    writer = Writer(engine, most_together=10)
    gate = Gate()
    writer.submit(Change("default", act=gate))
    gate.entered.wait(30)
    futures = [writer.submit(Change("default", act=count)) for _ in range(15)]
    gate.opened.set()
    for future in futures:
        future.result(30)
    writer.close()
    assert len(seen) == 15
    assert sorted({id_: seen.count(id_) for id_ in seen}.values()) in ([5, 10], [15])
    engine.dispose()


def test_closing_stores_what_waits(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "x.db"))
    gate = held_up(store)
    futures = [store.submit(one(number)) for number in range(20)]
    threading.Timer(0.05, gate.opened.set).start()
    store.close()
    assert sorted(future.result(0).entries for future in futures) == [(number,) for number in range(20)]
    with pytest.raises(StoreError, match="was closed"):
        store.submit(one(1))


def test_a_change_that_is_cancelled_in_time_is_not_stored(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        gate = held_up(store)
        cancelled, kept = store.submit(one(0)), store.submit(one(1))
        assert cancelled.cancel()
        gate.opened.set()
        assert kept.result(30).entries == (0,)


def test_what_an_act_wrote_is_undone_where_a_later_part_fails(url: str) -> None:
    def failing(connection: Connection) -> Sequence[Entry]:
        connection.execute(audit_logs.update().values(origin="forged"))
        raise StoreError("changed my mind")

    with Store(url) as store:
        store.apply(one(0))
        futures: list[Future[Stored]] = [
            store.submit(change) for change in (one(1), Change("default", act=failing), one(2))
        ]
        with pytest.raises(StoreError, match="changed my mind"):
            futures[1].result(30)
        assert {futures[0].result(30).entries, futures[2].result(30).entries} == {(1,), (2,)}
        with store.reading("default") as connection:
            assert connection.execute(select(audit_logs.c.origin)).scalar_one() != "forged"
            assert connection.execute(select(func.count()).select_from(audit_entries)).scalar() == 3


def test_an_error_of_ours_is_told_and_the_writer_goes_on(tmp_path: Path) -> None:
    def broken(connection: Connection) -> Sequence[Entry]:
        raise ValueError("secret detail")

    with Store(str(tmp_path / "x.db")) as store:
        with pytest.raises(StoreError, match="could not be stored: ValueError") as caught:
            store.apply(Change("default", act=broken))
        assert "secret" not in str(caught.value)
        assert store.apply(one(0)).entries == (0,)


def test_an_error_of_the_database_shows_no_values(url: str) -> None:
    record = record_of("A secret output.")
    with Store(url) as store:
        store.record(record)
        with pytest.raises(StoreError, match="could not store it") as caught:
            store.record(record)
        assert "secret output" not in str(caught.value)


def test_a_record_that_cannot_be_stored_takes_no_other_with_it(url: str) -> None:
    first, second, third = (record_of(f"Output {number}.") for number in range(3))
    with Store(url) as store:
        store.record(first)
        gate = held_up(store)
        futures = [store.submit(change_of(record, store.now())) for record in (second, first, third)]
        gate.opened.set()
        with pytest.raises(StoreError, match="could not store it"):
            futures[1].result(30)
        assert futures[0].result(30).entries < futures[2].result(30).entries
        with store.reading("default") as connection:
            assert connection.execute(select(func.count()).select_from(reports)).scalar() == 3


def test_a_connection_that_breaks_in_the_middle_loses_its_change_and_no_later_one(empty_postgres: str) -> None:
    def broken(connection: Connection) -> Sequence[Entry]:
        own = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        other = make_engine(empty_postgres)
        with other.connect() as elsewhere:
            elsewhere.exec_driver_sql("SELECT pg_terminate_backend(%s)", (own,))
        other.dispose()
        return [Entry("decision", b"never")]

    with Store(empty_postgres) as store:
        store.apply(one(0))
        with pytest.raises(StoreError, match="could not store it"):
            store.apply(Change("default", act=broken))
        assert store.apply(one(1)).entries == (1,)


def test_changes_that_share_a_connection_lost_before_their_commit_are_tried_again_and_stored_once(
    empty_postgres: str,
) -> None:
    lives = 1

    def broken(connection: Connection) -> Sequence[Entry]:
        nonlocal lives
        if lives:
            lives -= 1
            own = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            with create_engine(database_url(empty_postgres), poolclass=NullPool).connect() as elsewhere:
                elsewhere.exec_driver_sql("SELECT pg_terminate_backend(%s)", (own,))
        return [Entry("decision", b"of the act")]

    with Store(empty_postgres) as store:
        gate = held_up(store)
        futures = [store.submit(one(0)), store.submit(Change("default", act=broken)), store.submit(one(1))]
        gate.opened.set()
        assert [future.result(30).entries for future in futures] == [(0,), (1,), (2,)]


def test_changes_whose_commit_failed_are_not_tried_again(empty_postgres: str) -> None:
    with Store(empty_postgres) as store:
        store.apply(one(0))
        tried: list[Connection] = []

        def fails(connection: Connection) -> None:
            tried.append(connection)
            raise OperationalError("COMMIT", None, Exception("terminating connection"))

        event.listen(store._writer._engine, "commit", fails)
        gate = held_up(store)
        futures = [store.submit(one(number)) for number in (1, 2)]
        gate.opened.set()
        for future in futures:
            with pytest.raises(StoreError, match="could not store it"):
                future.result(30)
        assert len(tried) == 2, "the gate's own, and one for both changes"
        event.remove(store._writer._engine, "commit", fails)
        assert store.apply(one(3)).entries == (1,)


def test_no_change_is_stored_twice_and_none_lost_while_the_database_ends_connections(empty_postgres: str) -> None:
    acknowledged: list[bytes] = []
    refused: list[bytes] = []
    ended, kills = threading.Event(), 0

    def submit(store: Store, number: int) -> None:
        for turn in range(100_000):
            if ended.is_set():
                return
            data = f"{number} {turn}".encode()
            try:
                store.apply(Change("default", entries=[Entry("decision", data)]))
            except StoreError:
                refused.append(data)
            else:
                acknowledged.append(data)

    with Store(empty_postgres) as store:
        threads = [threading.Thread(target=submit, args=(store, number)) for number in range(6)]
        for thread in threads:
            thread.start()
        with create_engine(database_url(empty_postgres), poolclass=NullPool).connect() as elsewhere:
            for _ in range(60):
                time.sleep(0.05)
                kills += elsewhere.exec_driver_sql(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                ).scalar_one()
        ended.set()
        for thread in threads:
            thread.join(60)
        with store.reading("default") as connection:
            stored = Counter(data for _, data in read_entries(connection, "default"))
    assert max(stored.values()) == 1
    assert set(acknowledged) <= set(stored) <= {*acknowledged, *refused}
    assert acknowledged
    assert kills >= 20
