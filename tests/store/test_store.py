"""The store over both databases: what was recorded is found again, for its tenant and for nobody else."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import func, select, text
from tests.store.making import DAY, EVIDENCE, POLICY, record_of, report_of

from assay.errors import StoreError
from assay.receipt import report_digest
from assay.schema import Action, Decision, Evidence
from assay.store.db import tables
from assay.store.db.column_values import micros, moment_at, storable
from assay.store.db.engine import database_url, make_engine
from assay.store.db.migrate import HEAD, migrate, revision
from assay.store.db.store import Store
from assay.store.records.interface import Recorder, new_id


def count(store: Store, table: Any) -> int:
    with store.reading_across() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def test_what_was_recorded_is_found_again(url: str) -> None:
    record = record_of(caller="crm")
    with Store(url, clock=lambda: DAY) as store:
        recorder: Recorder = store
        recorded = recorder.record(record)
        assert (recorded.id, recorded.entry) == (record.id, 0)
        found = store.check(record.id)
        assert found is not None
        assert found.report == record.report
        assert found.asked == record.asked
        assert [item for _, _, item in found.evidence] == list(EVIDENCE)
        assert (found.created, found.caller, found.kind) == (DAY, "crm", "check")
        assert store.report(record.id) == record.report


def test_what_was_recorded_is_there_when_the_store_is_opened_again(url: str) -> None:
    with Store(url) as store:
        record = record_of()
        store.record(record)
    with Store(url) as store:
        assert store.report(record.id) == record.report
        assert store.record(record_of()).entry == 1


def test_an_async_record_is_the_same(url: str) -> None:
    record = record_of()
    with Store(url) as store:
        recorded = asyncio.run(store.arecord(record))
        assert recorded.entry == 0
        assert store.report(record.id) == record.report


def test_evidence_and_policies_are_stored_once(url: str) -> None:
    with Store(url) as store:
        for number in range(5):
            store.record(record_of(f"Answer {number}."))
        assert count(store, tables.evidence) == len(EVIDENCE)
        assert (count(store, tables.policies), count(store, tables.verifiers)) == (1, 1)
        assert (count(store, tables.runs), count(store, tables.run_evidence)) == (5, 10)


def test_a_policy_that_came_first_without_its_body_is_completed(url: str) -> None:
    with Store(url) as store:
        store.record(record_of(policy=None))
        store.record(record_of())
        store.record(record_of(policy=None))
        with store.reading_across() as connection:
            assert connection.execute(select(tables.policies.c.body)).scalar_one() == POLICY.content


def test_a_policy_that_the_report_does_not_name_is_refused(url: str) -> None:
    other = POLICY.model_copy(update={"name": "other"})
    with Store(url) as store, pytest.raises(StoreError, match="expected the policy with the digest"):
        store.record(record_of(policy=other))


def test_tenants_never_see_each_other(url: str) -> None:
    ours, theirs = record_of("Ours.", tenant="acme"), record_of("Theirs.", tenant="globex")
    with Store(url) as store:
        assert store.record(ours).entry == 0
        assert store.record(theirs).entry == 0
        assert store.check(ours.id, "globex") is None
        assert store.report(ours.id) is None
        assert [row.id for row in store.page("acme")] == [ours.id]
        assert store.page("nobody") == []


@pytest.mark.parametrize("name", ["", "Acme", "a b", "../x", "a" * 64, "a/b", "a+b", "a\n"])
def test_a_tenant_has_a_plain_name(tmp_path: Path, name: str) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        with pytest.raises(StoreError, match="name of a tenant"):
            store.record(record_of(tenant=name))
        with pytest.raises(StoreError, match="name of a tenant"):
            store.page(name)


def test_an_id_is_stored_once(url: str) -> None:
    record = record_of()
    with Store(url) as store:
        store.record(record)
        with pytest.raises(StoreError, match="could not store it"):
            store.record(record)
        with pytest.raises(StoreError, match="32 hexadecimal digits"):
            store.record(record_of(id="x"))
        assert store.record(record_of()).entry == 1


def test_one_change_that_cannot_be_stored_does_not_take_the_others_with_it(url: str) -> None:
    record = record_of()
    with Store(url) as store:
        store.record(record)
        with ThreadPoolExecutor(8) as pool:
            jobs = [pool.submit(store.record, record if number % 4 == 0 else record_of()) for number in range(40)]
        assert sum(job.exception() is not None for job in jobs) == 10
        assert count(store, tables.runs) == 31
        assert store.record(record_of()).entry == 31


def test_many_threads_get_places_of_their_own(url: str) -> None:
    with Store(url) as store, ThreadPoolExecutor(8) as pool:
        records = [record_of(tenant=f"t{number % 3}") for number in range(60)]
        places = list(pool.map(store.record, records))
    assert sorted((place.tenant, place.entry) for place in places) == [
        (f"t{tenant}", entry) for tenant in range(3) for entry in range(20)
    ]


def test_pages_are_newest_first_and_go_on_where_the_last_one_ended(url: str) -> None:
    moments = iter(DAY + timedelta(minutes=number // 2) for number in range(20))
    with Store(url, clock=lambda: next(moments)) as store:
        ids = []
        for number in range(10):
            block = Decision(action=Action.BLOCK, route="withhold", reasons=())
            report = report_of(action=Action.BLOCK, decision=block) if number % 3 == 0 else report_of()
            record = record_of(report=report)
            store.record(record)
            ids.append((DAY + timedelta(minutes=number // 2), record.id))
        expected = [id_ for _, id_ in sorted(ids, reverse=True)]
        first = store.page(limit=4)
        second = store.page(limit=100, before=first[-1].id)
        assert [row.id for row in [*first, *second]] == expected
        assert {row.action for row in store.page(action="block")} == {"block"}
        assert len(store.page(action="block")) == 4
        assert len(store.page(since=DAY + timedelta(minutes=1), until=DAY + timedelta(minutes=3))) == 4


def test_hostile_text_comes_back_as_it_was(url: str) -> None:
    output = "'; DROP TABLE runs; -- \u202e <script>{{7*7}}</script> \x1b[31m %s ? :name"
    evidence = (Evidence(id="'\"", text=output * 50, metadata={"\u202e": output}),)
    record = record_of(output, evidence=evidence, caller="a\x00b")
    with Store(url) as store:
        store.record(record)
        found = store.check(record.id)
        assert found is not None
        assert found.report == record.report
        assert found.evidence[0][2] == evidence[0]
        assert found.caller == "a\ufffdb"


def test_a_report_keeps_the_digest_that_its_receipt_states(url: str) -> None:
    record = record_of()
    with Store(url) as store:
        store.record(record)
        found = store.report(record.id)
        assert found is not None
        assert report_digest(found) == report_digest(record.report)


def test_a_closed_store_stores_nothing(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "x.db"))
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.record(record_of())


# The database


def test_the_migrations_make_the_tables_that_the_code_knows(url: str) -> None:
    engine = make_engine(url)
    migrate(engine)
    migrate(engine)
    with engine.connect() as connection:
        # The index of words is of another make in each database.
        known = {"include_name": lambda name, kind, _: kind != "table" or not name.startswith("report_search")}
        assert compare_metadata(MigrationContext.configure(connection, opts=known), tables.metadata) == []
    assert revision(engine) == HEAD
    engine.dispose()


def test_a_database_of_a_newer_version_is_not_touched(url: str) -> None:
    Store(url).close()
    engine = make_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="newer version of assay"):
        Store(url)
    engine.dispose()


def test_sqlite_syncs_each_commit_and_overwrites_what_is_deleted(tmp_path: Path) -> None:
    engine = make_engine(str(tmp_path / "x.db"))
    with engine.connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in (
                "journal_mode",
                "synchronous",
                "secure_delete",
                "foreign_keys",
            )
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "foreign_keys": 1}
    engine.dispose()


ACROSS_TENANTS = {
    "ix_outbox_state_due",
    "ix_review_items_state_deadline",
    "ux_access_tokens_digest",
    "ux_api_keys_id",
    "ux_receipt_uses_key_receipt",
    "ux_sessions_digest",
}
"""What the operator's own work finds by, for all tenants: whose key or session came in, and what is due.
A receipt is used once, whoever used it."""


def test_every_table_has_its_tenant_first_in_its_key() -> None:
    for table in tables.metadata.tables.values():
        assert next(iter(table.primary_key.columns)).name == "tenant", table.name
        for index in table.indexes:
            assert index.name in ACROSS_TENANTS or next(iter(index.columns)).name == "tenant", index.name


@pytest.mark.parametrize("given", ["mysql://h/x", "sqlite://", "sqlite:///:memory:", "://", "postgresql+asyncpg://h/x"])
def test_a_database_that_cannot_hold_a_record_is_refused(given: str) -> None:
    with pytest.raises(StoreError, match="expected"):
        database_url(given)


def test_a_url_with_a_password_is_never_shown() -> None:
    with pytest.raises(StoreError) as caught:
        database_url("oracle://me:secret@host/x")
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_database_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match="not a database"):
        Store(str(path))


def test_moments_and_texts_are_kept_exactly() -> None:
    assert moment_at(micros(DAY + timedelta(microseconds=7))) == DAY + timedelta(microseconds=7)
    assert storable("a\x00b\ud800c\U0001f600") == "a\ufffdb\ufffdc\U0001f600"
    with pytest.raises(StoreError, match="with its zone"):
        micros(DAY.replace(tzinfo=None))


def test_ids_are_unique_and_sort_by_time() -> None:
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert [id_[:12] for id_ in ids] == sorted(id_[:12] for id_ in ids)


def test_a_damaged_value_is_told_of() -> None:
    packed = tables.pack({"a": 1})
    for broken in (packed[:-1], b"", b"x" + packed, tables.pack(b"{")):
        with pytest.raises(StoreError, match="damaged"):
            tables.unpack(broken)
