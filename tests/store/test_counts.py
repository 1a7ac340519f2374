"""The counts by the hour are those of the reports, whoever wrote them, on both databases."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from tests.store.making import record_of

from assay.store.db.row_security import EVERY_TENANT, set_acting_tenant
from assay.store.db.store import Store
from assay.store.insights.hourly_counts import quantile, read_counts
from assay.store.insights.hourly_increments import GROWTH, latency_class
from assay.store.records.check_rows import change_of

NOON = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)


def test_counts_are_those_of_the_reports(url: str) -> None:
    moments = [NOON - timedelta(hours=hours) for hours in (0, 0, 1, 5, 30, 24 * 40)]
    ticking = iter(moments)
    with Store(url, clock=lambda: next(ticking)) as store:
        records = [record_of(f"Answer {at}.") for at, _ in enumerate(moments)]
        for record in records:
            store.record(record)
        with store.reading("default") as connection:
            day = read_counts(connection, "default", NOON, 24, 1)
            month = read_counts(connection, "default", NOON, 30, 24)
            other = read_counts(connection, "other", NOON, 24, 1)
    assert sum(day.totals("action").values()) == 4
    assert sum(month.totals("action").values()) == 5
    assert other.totals("action") == {}
    assert day.begins[-1] == NOON.replace(minute=0)
    name = records[0].report.action.value
    assert (day.of("action", name)[-1], day.of("action", name)[-2], day.of("action", name)[-6]) == (2, 1, 1)
    verdicts = Counter(claim.verdict.value for record in records[:4] for claim in record.report.claims)
    assert day.totals("verdict") == dict(verdicts)
    assert day.latency(0.5) is not None


def test_one_transaction_with_many_reports_counts_each(url: str) -> None:
    with Store(url, clock=lambda: NOON) as store:
        waiting = [store.submit(change_of(record_of(f"Answer {at}."), NOON)) for at in range(40)]
        for one in waiting:
            one.result(timeout=60)
        with store.reading("default") as connection:
            assert sum(read_counts(connection, "default", NOON, 1, 1).totals("action").values()) == 40


def test_what_was_recorded_before_there_were_counts_is_counted_by_the_migration(url: str) -> None:
    from assay.store.db.migrations.versions import m0004_reading

    with Store(url, clock=lambda: NOON) as store:
        for at in range(3):
            store.record(record_of(f"Answer {at}."))
        with store.reading("default") as connection:
            before = read_counts(connection, "default", NOON, 2, 1)
        with store.engine.begin() as connection:
            set_acting_tenant(connection, EVERY_TENANT)
            connection.exec_driver_sql("DELETE FROM hourly")
            for statement in m0004_reading._COUNTED:
                connection.exec_driver_sql(statement)
        with store.reading("default") as connection:
            after = read_counts(connection, "default", NOON, 2, 1)
    assert after.series == {kind: names for kind, names in before.series.items() if kind != "latency"}


@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=50), st.integers(1, 100))
def test_a_quantile_is_good_to_its_class(times: list[float], percent: int) -> None:
    found = quantile(Counter(map(latency_class, times)), percent / 100)
    exact = sorted(times)[-(-percent * len(times) // 100) - 1]
    assert found is not None
    assert found == 0.5 if exact <= 1 else exact / GROWTH <= found <= exact * GROWTH
