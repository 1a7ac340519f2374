"""What the console asks of the store, on both databases."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import select
from tests.store.making import OUTPUT, record_of, report_of

from assay.schema.report_parts.spending import Spending
from assay.store.audit.entries import read_entry_data
from assay.store.datasets import make_dataset
from assay.store.db import tables
from assay.store.db.column_values import micros
from assay.store.db.row_security import EVERY_TENANT, set_acting_tenant
from assay.store.db.store import Store
from assay.store.insights.actors import actors_of
from assay.store.insights.console_queries import describe, read_backlog, read_history
from assay.store.insights.pass_rates import read_pass_rates
from assay.store.insights.run_figures import read_figures
from assay.store.records.report_lists import read_listed
from assay.store.records.run_events import give_feedback

NOW = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)


def test_runs_are_described_by_their_claims(url: str) -> None:
    with Store(url) as store:
        record = record_of()
        store.record(record)
        with store.reading("default") as connection:
            found = describe(connection, "default", [record.id, "0" * 32])
            assert describe(connection, "default", []) == {}
        with store.reading("other") as connection:
            assert describe(connection, "other", [record.id])[record.id].verdicts == {}
    assert found[record.id].first_claim == OUTPUT
    assert found[record.id].verdicts == {"supported": 1}
    assert found["0" * 32].first_claim is None


def test_the_history_of_a_run_has_decisions_feedback_and_entries(url: str) -> None:
    with Store(url) as store:
        record = record_of()
        store.record(record)
        give_feedback(store, record.id, "wrong", claim=0, comment="No.", author="ann")
        with store.reading("default") as connection:
            found = read_history(connection, "default", record.id)
            nothing = read_history(connection, "default", "0" * 32)
    assert [(one.actor, one.action, one.reasons) for one in found.decisions] == [("gate", "emit", ("It holds.",))]
    assert [(one.verdict, one.claim, one.comment, one.author) for one in found.feedback] == [("wrong", 0, "No.", "ann")]
    assert [(one.index, one.kind) for one in found.entries] == [(0, "decision"), (1, "feedback")]
    assert (nothing.decisions, nothing.feedback, nothing.entries, nothing.review) == ((), (), (), None)


def test_an_altered_entry_does_not_break_the_page(url: str) -> None:
    with Store(url) as store:
        record = record_of()
        store.record(record)
        with store.engine.begin() as connection:
            set_acting_tenant(connection, EVERY_TENANT)
            connection.execute(tables.audit_entries.update().values(data=b"\xff{"))
        with store.reading("default") as connection:
            found = read_history(connection, "default", record.id)
    assert [(one.at, dict(one.fields)) for one in found.entries] == [("", {})]


def test_the_backlog_counts_what_waits_and_what_is_late(url: str) -> None:
    waiting = (("sync", "open", -5), ("sync", "open", 7), ("async", "evidence", 60), ("async", "approved", -9))
    with Store(url) as store:
        with store.engine.begin() as connection:
            set_acting_tenant(connection, EVERY_TENANT)
            for number, (tier, state, minutes) in enumerate(waiting):
                at = micros(NOW + timedelta(minutes=minutes))
                connection.execute(
                    tables.review_items.insert().values(
                        tenant="default",
                        id=f"{number:032}",
                        run=f"{number:032}",
                        created=at,
                        tier=tier,
                        state=state,
                        deadline=at,
                        version=1,
                    )
                )
        with store.reading("default") as connection:
            found = read_backlog(connection, "default", NOW)
            other = read_backlog(connection, "other", NOW)
    assert (found.waiting, found.overdue, dict(found.by_tier)) == (3, 1, {"sync": 2, "async": 1})
    assert found.next_deadline == NOW + timedelta(minutes=7)
    assert (other.waiting, other.overdue, other.next_deadline) == (0, 0, None)


def test_a_list_knows_how_an_output_begins_and_what_its_check_took(url: str) -> None:
    asked = Spending(purpose="judge", model="m", requests=1, prompt_tokens=40, completion_tokens=2, cost=0.5)
    costly = record_of(report=report_of("Judged.").model_copy(update={"spending": (asked,)}))
    unpriced = record_of(
        report=report_of("Unpriced.").model_copy(update={"spending": (asked.model_copy(update={"cost": None}),)})
    )
    plain, huge = record_of(), record_of(report=report_of("".join(chr(0x4E00 + at % 20_000) for at in range(400_000))))
    with Store(url) as store:
        for one in (costly, unpriced, plain, huge):
            store.record(one)
        with store.reading("default") as connection:
            found = read_figures(connection, "default", [one.id for one in (costly, unpriced, plain, huge)])
            rows = read_listed(connection, "default", [plain.id, "0" * 32, costly.id])
        with store.reading("other") as connection:
            assert read_figures(connection, "other", [plain.id]) == {}
            assert read_listed(connection, "other", [plain.id]) == []
    assert (found[costly.id].preview, found[costly.id].tokens, found[costly.id].cost) == ("Judged.", 42, 0.5)
    assert (found[unpriced.id].tokens, found[unpriced.id].cost) == (42, None)
    assert (found[plain.id].preview, found[plain.id].tokens, found[plain.id].cost) == (OUTPUT, None, None)
    assert found[huge.id].preview is None
    assert [row.id for row in rows] == [plain.id, costly.id]


def test_outputs_that_were_emitted_are_counted_by_policy_and_caller(url: str) -> None:
    with Store(url, clock=lambda: NOW) as store:
        for caller in ("app", "app", "desk"):
            store.record(record_of(caller=caller))
        with store.reading("default") as connection:
            found = read_pass_rates(connection, "default", NOW - timedelta(days=1), NOW + timedelta(days=1))
            before = read_pass_rates(connection, "default", NOW - timedelta(days=2), NOW - timedelta(days=1))
    assert found.outputs == sum(found.scores) + found.unscored == 3
    callers = {one.name: (one.outputs, one.emitted) for one in found.passed if one.by == "caller"}
    assert callers == {"app": (2, 2), "desk": (1, 1)}
    assert (before.outputs, list(before.passed)) == (0, [])


def test_entries_of_the_log_are_told_with_the_names_of_people(url: str) -> None:
    with Store(url) as store:
        record = record_of()
        store.record(record)
        give_feedback(store, record.id, "right", author="ann")
        make_dataset(store, "default", "Leave", maker="ann", actor="nobody known")
        with store.reading("default") as connection:
            rows = connection.execute(select(tables.audit_entries.c.idx, tables.audit_entries.c.data)).all()
            entries = {row.idx: read_entry_data(bytes(row.data)) for row in rows}
            found = actors_of(connection, "default", entries)
    assert {entries[index]["kind"]: name for index, name in found.items()} == {"feedback": "ann"}
