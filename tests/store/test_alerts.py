"""Alerts: told once, again when they grow, never while they are silenced, and over when it is over."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from tests.store.making import KEYS, RING, record_of
from tests.store.reviewing import TENANT, Clock

from assay.errors import AlertError, InputError
from assay.store.alerts import (
    Alert,
    AlertState,
    Urgency,
    acknowledge,
    close_alert,
    list_alerts,
    raise_alert,
    read_alert,
    silence,
)
from assay.store.audit import make_checkpoint
from assay.store.audit.entries import read_entry_data
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db import tables
from assay.store.db.store import Store

DROP = Alert("metric:faithfulness", "metric.drop", "Faithfulness fell from 0.91 to 0.83.", facts={"now": 0.83})


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(url: str, clock: Clock) -> Any:
    with Store(url, clock=clock) as made:
        yield made


def told(store: Store) -> list[str]:
    table = tables.outbox.c
    with store.reading(TENANT) as connection:
        return sorted(connection.execute(select(table.event).where(table.target == "")).scalars())


def acts(store: Store) -> list[str]:
    table = tables.audit_entries.c
    with store.reading(TENANT) as connection:
        rows = connection.execute(select(table.data).where(table.kind == "alert").order_by(table.idx)).scalars()
        return [read_entry_data(bytes(data))["act"] for data in rows]


def test_what_goes_on_holding_is_told_once_and_counted(store: Store, clock: Clock) -> None:
    first, at_once = raise_alert(store, TENANT, DROP)
    assert at_once
    for _ in range(5):
        clock.go(hours=2)
        item, again = raise_alert(store, TENANT, DROP)
        assert (item.id, again) == (first.id, False)
    assert (item.count, told(store), acts(store)) == (6, ["alert.opened"], ["open"])


def test_what_grows_more_urgent_is_told_again_though_somebody_looks_at_it(store: Store) -> None:
    item, _ = raise_alert(store, TENANT, DROP)
    acknowledge(store, TENANT, item.id, "ann", "user-1")
    _, again = raise_alert(store, TENANT, DROP)
    assert not again
    worse, again = raise_alert(store, TENANT, Alert(DROP.key, DROP.kind, "It fell to 0.5.", Urgency.CRITICAL))
    assert again
    assert (worse.state, worse.owner) == (AlertState.OPEN, None)
    assert acts(store) == ["open", "acknowledge", "grow"]


def test_what_is_over_is_told_and_what_begins_again_soon_is_the_same_alert(store: Store, clock: Clock) -> None:
    item, _ = raise_alert(store, TENANT, DROP)
    assert close_alert(store, TENANT, DROP.key) is not None
    assert close_alert(store, TENANT, DROP.key) is None
    assert told(store) == ["alert.closed", "alert.opened"]
    clock.go(minutes=30)
    again, tells = raise_alert(store, TENANT, DROP)
    assert (again.id, again.state, tells) == (item.id, AlertState.OPEN, False)
    close_alert(store, TENANT, DROP.key)
    clock.go(hours=2)
    other, tells = raise_alert(store, TENANT, DROP)
    assert other.id != item.id
    assert tells


def test_nobody_is_told_while_it_is_silenced_and_after_that_they_are(store: Store, clock: Clock) -> None:
    silence(store, TENANT, DROP.key, clock.now + timedelta(hours=3), "ann", "user-1")
    item, tells = raise_alert(store, TENANT, DROP)
    assert (tells, told(store)) == (False, [])
    assert item.silenced_until == clock.now + timedelta(hours=3)
    clock.go(hours=4)
    _, tells = raise_alert(store, TENANT, DROP)
    assert tells
    assert told(store) == ["alert.opened"]
    silence(store, TENANT, DROP.key, clock.now + timedelta(hours=1), "ann", "user-1")
    silence(store, TENANT, DROP.key, None, "ann", "user-1")
    close_alert(store, TENANT, DROP.key)
    assert told(store) == ["alert.closed", "alert.opened"]


def test_an_alert_that_nobody_was_told_of_ends_without_a_word(store: Store, clock: Clock) -> None:
    silence(store, TENANT, DROP.key, clock.now + timedelta(hours=3), "ann", "user-1")
    raise_alert(store, TENANT, DROP)
    silence(store, TENANT, DROP.key, None, "ann", "user-1")
    close_alert(store, TENANT, DROP.key)
    assert told(store) == []


def test_acts_on_what_is_not_there_or_over_or_has_changed_are_refused(store: Store, clock: Clock) -> None:
    with pytest.raises(AlertError) as found:
        acknowledge(store, TENANT, "0" * 32, "ann", "user-1")
    assert found.value.code == "missing"
    item, _ = raise_alert(store, TENANT, DROP)
    acknowledge(store, TENANT, item.id, "ann", "user-1", item.version)
    with pytest.raises(AlertError) as found:
        acknowledge(store, TENANT, item.id, "bob", "user-2", item.version)
    assert found.value.code == "stale"
    close_alert(store, TENANT, DROP.key)
    with pytest.raises(AlertError) as found:
        acknowledge(store, TENANT, item.id, "bob", "user-2")
    assert found.value.code == "closed"
    with pytest.raises(AlertError):
        silence(store, TENANT, DROP.key, clock.now, "ann", "user-1")


def test_alerts_are_those_of_their_tenant(store: Store, clock: Clock) -> None:
    item, _ = raise_alert(store, TENANT, DROP)
    raise_alert(store, "acme", DROP)
    with store.reading(TENANT) as connection:
        assert [one.id for one in list_alerts(connection, TENANT, clock.now)] == [item.id]
    with store.reading("acme") as connection:
        assert read_alert(connection, "acme", item.id, clock.now) is None


def test_a_log_with_alerts_in_it_holds(store: Store) -> None:
    store.record(record_of())
    item, _ = raise_alert(store, TENANT, DROP)
    acknowledge(store, TENANT, item.id, "ann", "user-1")
    make_checkpoint(store, KEYS, TENANT)
    with store.reading(TENANT) as connection:
        found = verify_contents(connection, TENANT, verify_log(connection, TENANT, RING, []))
    assert list(found.findings) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": "Metric"},
        {"key": ""},
        {"key": "a" * 201},
        {"kind": "drop table"},
        {"summary": " "},
        {"summary": "x" * 501},
        {"facts": {"x": float("nan")}},
        {"facts": {"x": {"y": 1}}},
        {"facts": {"x": "y" * 501}},
    ],
)
def test_a_malformed_alert_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Alert(**{"key": "k", "kind": "a.b", "summary": "s", **wrong})
