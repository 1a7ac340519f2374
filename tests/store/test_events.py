"""Receipts and users' words: stored with an entry of the log, and erased with their run."""

import asyncio
import json
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.store.making import DAY, KEY, RING, record_of
from tests.store.test_writer import held_up, one

from assay.errors import BusyError, StoreError
from assay.receipt import new_receipt_id, sign
from assay.store.audit.log import entries_of
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db import tables
from assay.store.db.store import Store, StoreSettings
from assay.store.db.writer import Change
from assay.store.records.erasure import erase_runs
from assay.store.records.run_events import give_feedback, note_receipt


def test_a_receipt_is_noted_after_the_decision_that_it_is_for(url: str) -> None:
    record = record_of()
    with Store(url) as store:
        recorded = store.record(record)
        receipt = sign(record.report, KEY, issued_at=DAY, receipt_id=new_receipt_id())
        assert note_receipt(store, record.id, receipt) > recorded.entry
        with store.reading("default") as connection:
            told = [json.loads(data) for _, data in entries_of(connection, "default", record.id)]
    assert [entry["kind"] for entry in told] == ["decision", "receipt"]
    assert told[1]["receipt"] == receipt.statement.receipt_id
    assert receipt.statement.output not in json.dumps(told)


def test_feedback_is_stored_and_erased_with_its_run(url: str) -> None:
    record = record_of()
    with Store(url) as store:
        store.record(record)
        give_feedback(store, record.id, "wrong", claim=0, comment="It is 4 weeks.", author="ada")
        give_feedback(store, record.id, "right")
        with store.reading("default") as connection:
            rows = connection.execute(select(tables.feedback).order_by(tables.feedback.c.id)).all()
            assert [(row.verdict, row.claim, row.comment) for row in rows] == [
                ("wrong", 0, "It is 4 weeks."),
                ("right", None, None),
            ]
        erase_runs(store, [record.id], "request", "default")
        give_feedback(store, record.id, "wrong")
        with store.reading("default") as connection:
            assert {row.comment for row in connection.execute(select(tables.feedback)).all()} == {None}
            assert verify_contents(connection, "default", verify_log(connection, "default", RING)).holds


def test_nothing_is_said_of_a_run_that_is_not_there(url: str) -> None:
    record = record_of()
    with Store(url) as store:
        store.record(record)
        for run, tenant, claim, verdict in (
            ("0" * 32, "default", None, "wrong"),
            (record.id, "acme", None, "wrong"),
            (record.id, "default", 9, "wrong"),
            (record.id, "default", None, "maybe"),
        ):
            with pytest.raises(StoreError, match="expected"):
                give_feedback(store, run, verdict, tenant=tenant, claim=claim)
        receipt = sign(record.report, KEY, issued_at=DAY, receipt_id=new_receipt_id())
        with pytest.raises(StoreError, match="there is none"):
            note_receipt(store, "0" * 32, receipt)
        assert store.record(record_of()).entry == 1


def test_a_coroutine_waits_for_a_place_without_holding_up_the_others(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db"), StoreSettings(most_waiting=1, wait_s=30)) as store:
        gate = held_up(store)
        store.submit(one(0))

        async def both() -> tuple[int, ...]:
            waiting = asyncio.create_task(store.aapply(one(1)))
            await asyncio.sleep(0.03)
            assert not waiting.done()
            gate.opened.set()
            return (await waiting).entries

        assert asyncio.run(both()) == (1,)


def test_a_coroutine_is_refused_when_its_time_is_up(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db"), StoreSettings(most_waiting=1, wait_s=0)) as store:
        gate = held_up(store)
        store.submit(one(0))
        with pytest.raises(BusyError):
            asyncio.run(store.aapply(Change("default")))
        gate.opened.set()
