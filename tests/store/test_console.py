"""What the console asks of the store, on both databases."""

from datetime import UTC, datetime, timedelta

from tests.store.making import OUTPUT, record_of

from assay.store.db import tables
from assay.store.db.row_security import EVERY_TENANT, set_acting_tenant
from assay.store.db.store import Store
from assay.store.insights.console_queries import describe, read_backlog, read_history
from assay.store.records.recording import micros
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
