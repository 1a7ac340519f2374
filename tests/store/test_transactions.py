"""Transactions begin in one round trip, which is also the test of the connection."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool
from tests.store.making import record_of

from assay.store.db.engine import database_url, make_engine, writing
from assay.store.db.raw_statements import one_round_trip, read_later
from assay.store.db.row_security import EVERY_TENANT
from assay.store.db.store import Store
from assay.store.db.transactions import reading_transaction, transaction


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    found = make_engine(url)
    with writing(found).begin() as connection:
        connection.exec_driver_sql("CREATE TABLE notes (word TEXT)")
    yield found
    found.dispose()


def words(engine: Engine) -> list[str]:
    with reading_transaction(engine, EVERY_TENANT) as connection:
        return list(connection.exec_driver_sql("SELECT word FROM notes ORDER BY word").scalars())


def note(connection: Connection, word: str) -> None:
    connection.execute(text("INSERT INTO notes VALUES (:word)"), {"word": word})


def fail_after(engine: Engine, word: str) -> None:
    with transaction(writing(engine), EVERY_TENANT) as connection:
        note(connection, word)
        raise ZeroDivisionError


def end_all_connections(url: str) -> None:
    """What a restart of the database does to connections that wait in a pool."""
    other = create_engine(database_url(url), poolclass=NullPool)
    with other.connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_block_that_ends_is_committed_and_one_that_raises_is_rolled_back(engine: Engine) -> None:
    with transaction(writing(engine), EVERY_TENANT) as connection:
        note(connection, "kept")
    with pytest.raises(ZeroDivisionError):
        fail_after(engine, "lost")
    assert words(engine) == ["kept"]


def test_first_statements_go_with_the_begin_and_are_of_the_transaction(engine: Engine) -> None:
    with transaction(writing(engine), EVERY_TENANT, lambda connection: note(connection, "first")) as connection:
        assert connection.exec_driver_sql("SELECT word FROM notes").scalar_one() == "first"
        connection.rollback()
    assert words(engine) == []


def test_a_first_statement_that_fails_is_an_error_and_leaves_the_engine_usable(engine: Engine) -> None:
    def fails(connection: Connection) -> None:
        connection.exec_driver_sql("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(SQLAlchemyError), transaction(writing(engine), EVERY_TENANT, fails):
        raise AssertionError("the block of a transaction that did not begin was run")
    assert words(engine) == []


def test_connections_that_the_database_ended_are_replaced_before_anything_is_done(empty_postgres: str) -> None:
    with Store(empty_postgres) as store:
        store.record(record_of())
        with store.reading("default"), store.reading("default"):
            pass  # several connections wait in the pool afterwards
        end_all_connections(empty_postgres)
        store.record(record_of())
        end_all_connections(empty_postgres)
        assert len(store.page()) == 2
        end_all_connections(empty_postgres)
        assert store.trouble() is None


def test_reading_sees_one_snapshot_and_cannot_write(empty_postgres: str) -> None:
    engine = make_engine(empty_postgres)
    with writing(engine).begin() as connection:
        connection.exec_driver_sql("CREATE TABLE notes (word TEXT)")
    with reading_transaction(engine, EVERY_TENANT) as before:
        count = before.exec_driver_sql("SELECT count(*) FROM notes").scalar_one()
        with transaction(writing(engine), EVERY_TENANT) as connection:
            note(connection, "later")
        assert before.exec_driver_sql("SELECT count(*) FROM notes").scalar_one() == count == 0
    with pytest.raises(SQLAlchemyError, match="read-only"), reading_transaction(engine, EVERY_TENANT) as connection:
        note(connection, "never")
    assert words(engine) == ["later"]
    engine.dispose()


def test_what_is_read_later_is_there_after_the_block(engine: Engine) -> None:
    with transaction(writing(engine), EVERY_TENANT) as connection:
        with one_round_trip(connection):
            note(connection, "one")
            found = read_later(connection, text("SELECT word FROM notes"), {})
            none = read_later(connection, text("SELECT word FROM notes WHERE word = 'two'"), {})
        assert (found(), none()) == ("one", None)
