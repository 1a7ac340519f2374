"""The page of the monitor over real sketches: what it shows, where it leads, what becomes of hostile text."""

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update
from starlette.testclient import TestClient
from tests.console.site import app_over, site
from tests.console.test_pages import HOSTILE, is_harmless, read
from tests.store.making import record_of
from tests.store.test_sketches import counted, made

from assay.errors import StoreError
from assay.monitor import Charts, MonitorSettings, Series, WatchSettings
from assay.schema import PERMISSIONS, Category, Role
from assay.server.caller import Caller
from assay.server.monitoring.service import Monitor
from assay.server.panels.calibration import bins_of, calibration_error
from assay.server.panels.charts import ChartState, read_charts
from assay.server.panels.panels import PANELS, RANGES, correlation, make_panel
from assay.server.panels.watched_metrics import read_watched_metrics
from assay.server.panels.worker import PanelWorker, update_alerts
from assay.store.alerts import Alert, AlertState, close_alert, list_alerts, raise_alert
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.monitoring import AlarmRow, ChangeRow, StoredState, add_changes, advance_charts, set_alarm
from assay.store.records import give_feedback, micros
from assay.store.sketches import Sketch, count_part, counted_until

NOW = datetime(2026, 3, 20, 12, 30, tzinfo=UTC)


class Moving:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def filled(store: Store, clock: Moving, *, days: int = 3, each: int = 4, caller: str = "support-bot") -> list[str]:
    """Records over some days, ending now; counted."""
    draw, ids = random.Random(5), []
    for day in range(days, 0, -1):
        for _ in range(each):
            clock.now = NOW - timedelta(days=day - 1, minutes=draw.randrange(600))
            score = round(draw.random(), 3)
            record = record_of(
                report=made(score, score, categories=(Category.FACTUAL,) if score < 0.5 else ()), caller=caller
            )
            store.record(record)
            ids.append(record.id)
    clock.now = NOW
    give_feedback(store, ids[0], "wrong", claim=0)
    counted(store)
    return ids


@contextmanager
def monitored(path: Path, **more: Any) -> Iterator[tuple[TestClient, Store, Moving, list[str]]]:
    clock = Moving()
    with Store(f"sqlite:///{path / 'm.db'}", clock=clock) as store:
        ids = filled(store, clock, **more)
        yield TestClient(app_over(store), base_url="http://127.0.0.1", follow_redirects=False), store, clock, ids


def test_every_panel_is_drawn_and_is_a_table_and_can_be_exported(tmp_path: Path) -> None:
    with monitored(tmp_path) as (client, _, _, ids):
        for range_ in RANGES:
            page = client.get("/console/monitor", params={"range": range_})
            assert page.status_code == 200
            assert is_harmless(page.text)
            for name in PANELS:
                assert f'id="panel-{name}"' in page.text
                assert f"/v1/monitor/panels/{name}?range={range_}&amp;format=csv" in page.text
        found = read(client.get("/console/monitor", params={"range": "7d"}).text)
    links = [str(attributes.get("href")) for tag, attributes in found.tags if tag == "a"]
    assert any(link == f"/console/runs/{id_}" for id_ in ids for link in links)
    assert any("caller=support-bot" in link for link in links)
    drawn = [attributes for tag, attributes in found.tags if tag == "svg" and "chart" in str(attributes.get("class"))]
    assert len(drawn) >= 4  # two widths of each
    # What has links in it is a group; the links have no stop of their own, the table below has the same ones.
    assert {attributes["role"] for attributes in drawn} == {"img", "group"}
    points = [attributes for tag, attributes in found.tags if tag == "a" and "hour=" in str(attributes.get("href"))]
    assert {attributes.get("tabindex") for attributes in points} == {"-1", None}


def test_a_point_of_the_trend_leads_to_its_runs(tmp_path: Path) -> None:
    with monitored(tmp_path) as (client, _, _, ids):
        page = client.get("/console/monitor", params={"range": "30d"}).text
        target = f"/console/runs?hour={NOW:%Y-%m-%d}T00&amp;hours=24"
        assert target in page
        runs = client.get(target.replace("&amp;", "&")).text
        shown = {id_ for id_ in ids if id_ in runs}
        assert shown == set(ids[-4:])
        assert client.get("/console/runs?hour=yesterday").status_code == 422
        assert client.get("/console/runs?hour=2026-03-04T12&hours=-1").status_code == 422


def test_an_empty_store_says_that_nothing_was_measured(tmp_path: Path) -> None:
    with site(tmp_path, now=NOW) as (client, _):
        page = client.get("/console/monitor")
    assert page.status_code == 200
    assert "Nothing measured" in page.text
    assert "<path" not in re.sub(r'<svg class="icon.*?</svg>', "", page.text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_of_agents_and_changes_stay_text(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monitored(tmp_path, days=1, each=2, caller=text) as (client, store, _, _):
        raise_alert(store, "default", Alert("k", "a.b", text, facts={"who": text}))
        add_changes(store, "default", [ChangeRow("c1", micros(NOW - timedelta(hours=2)), "prompt", text)])
        charts = (ChartState(text, "rate", "up", 3.0, 5.0),)
        monkeypatch.setattr("assay.server.panels.panels.read_charts", lambda *_: charts)
        page = client.get("/console/monitor")
        assert page.status_code == 200
        assert is_harmless(page.text)
        with store.reading("default") as connection:
            (alert,) = list_alerts(connection, "default", NOW)
        one = client.get(f"/console/monitor/alerts/{alert.id}")
        assert one.status_code == 200
        assert is_harmless(one.text)


def test_changes_and_control_charts_are_shown_where_somebody_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monitored(tmp_path) as (client, store, _, _):
        assert "No control chart runs" in client.get("/console/monitor").text
        add_changes(store, "default", [ChangeRow("c1", micros(NOW - timedelta(hours=30)), "model", "gpt-next")])
        charts = (ChartState("all", "rate", "up", 3.0, 4.0, NOW),)
        monkeypatch.setattr("assay.server.panels.panels.read_charts", lambda *_: charts)
        page = client.get("/console/monitor").text
    assert 'class="mark"' in page
    assert "model: gpt-next" in page
    assert "0.750" in page


def test_charts_of_the_panel_are_those_of_the_monitor(tmp_path: Path) -> None:
    watch = WatchSettings(baselines={"bad": 0.05, "score": 0.1})
    with monitored(tmp_path) as (_, store, _, _):
        monitor = Monitor(store, MonitorSettings(watch))
        monitor.run("default")
        status = monitor.status("default")
        with store.reading("default") as connection:
            charts = read_charts(connection, "default", watch)
    told = {
        (f"{one['dimension']} {one['name']}".strip(), one["metric"], way): tuple(
            one[way][name] for name in ("statistic", "threshold")
        )
        for one in status["series"]
        for way in ("up", "down")
        if one[way] is not None
    }
    assert told
    assert {(one.series, one.metric, one.direction): (one.statistic, one.threshold) for one in charts} == told


def test_an_alarm_of_a_chart_is_an_alert_until_somebody_acknowledges_it(tmp_path: Path) -> None:
    with monitored(tmp_path) as (_, store, _, _):
        alarm = AlarmRow("a" * 32, Series("agent", "<b>bot</b>", "bad").key, "up", micros(NOW), {"onset": micros(NOW)})
        begin = StoredState(micros(NOW), Charts().wire())
        advance_charts(store, "default", None, begin, [alarm], 0)
        update_alerts(store, "default")
        with store.reading("default") as connection:
            (alert,) = [one for one in list_alerts(connection, "default", NOW) if one.kind == "monitor.drift"]
        assert alert.facts["alarm"] == alarm.id
        assert "bot" not in alert.summary
        set_alarm(store, "default", alarm.id, "acknowledged", "anna")
        update_alerts(store, "default")
        with store.reading("default") as connection:
            found = [one for one in list_alerts(connection, "default", NOW) if one.kind == "monitor.drift"]
        assert [one.state.value for one in found if one.state.value != "closed"] == []


def test_the_alert_of_an_open_alarm_stays_open_however_many_alarms_are_newer(tmp_path: Path) -> None:
    def alarm(number: int) -> AlarmRow:
        return AlarmRow(f"{number:032x}", Series("agent", str(number), "bad").key, "up", micros(NOW) + number, {})

    with monitored(tmp_path) as (_, store, _, _):
        begin = StoredState(micros(NOW), Charts().wire())
        advance_charts(store, "default", None, begin, [alarm(0)], 0)
        update_alerts(store, "default")
        advance_charts(
            store, "default", begin, StoredState(micros(NOW) + 1, Charts().wire()), list(map(alarm, range(1, 101))), 0
        )
        update_alerts(store, "default")
        with store.reading("default") as connection:
            (first,) = [one for one in list_alerts(connection, "default", NOW) if one.facts.get("alarm") == alarm(0).id]
        assert first.state is AlertState.OPEN


def test_a_reviewer_acknowledges_silences_and_closes_and_a_viewer_may_not(tmp_path: Path) -> None:
    with monitored(tmp_path) as (client, store, clock, _):
        item, _ = raise_alert(store, "default", Alert("metric:x", "metric.drop", "It fell."))
        base = f"/console/monitor/alerts/{item.id}"
        form = {"content-type": "application/x-www-form-urlencoded"}
        viewer = TestClient(
            app_over(store, Caller("vera", PERMISSIONS[Role.VIEWER])),
            base_url="http://127.0.0.1",
            follow_redirects=False,
        )
        assert ">Acknowledge<" not in viewer.get(base).text
        assert viewer.post(f"{base}/acknowledge", headers=form).status_code == 403
        assert client.post(f"{base}/acknowledge", headers=form).headers["location"] == f"{base}?done=alert.acknowledged"
        assert client.post(f"{base}/silence", data={"hours": "8"}).status_code == 303
        assert client.post(f"{base}/silence", data={"hours": "999"}).status_code == 422
        with store.reading("default") as connection:
            (kept,) = list_alerts(connection, "default", clock.now)
        assert (kept.state, kept.owner) == (AlertState.ACKNOWLEDGED, "local")
        assert kept.silenced_until == NOW + timedelta(hours=8)
        assert client.post(f"{base}/close", headers=form).status_code == 303
        assert client.post(f"{base}/acknowledge", headers=form).status_code == 409
        assert client.get("/console/monitor/alerts/" + "0" * 32).status_code == 404


def test_another_tenants_figures_are_not_shown(tmp_path: Path) -> None:
    with monitored(tmp_path) as (_, store, _, ids):
        other = TestClient(
            app_over(store, Caller("olga", PERMISSIONS[Role.VIEWER], tenant="globex")), base_url="http://127.0.0.1"
        )
        page = other.get("/console/monitor").text
    assert "Nothing measured" in page
    assert not any(id_ in page for id_ in ids)


def over_weeks(store: Store, clock: Moving, *weeks: float, each: int = 40, **more: Any) -> None:
    """Outputs of a faithfulness for each of the last weeks, the oldest first."""
    draw = random.Random(9)
    for back, level in zip(range(len(weeks), 0, -1), weeks, strict=True):
        for _ in range(each):
            clock.now = NOW - timedelta(days=7 * (back - 1) + 1, hours=draw.randrange(100))
            score = min(1.0, max(0.0, level + draw.uniform(-0.05, 0.05)))
            store.record(record_of(report=made(score, score, **more)))
    clock.now = NOW
    counted(store)


def states(store: Store) -> dict[str, str]:
    with store.reading("default") as connection:
        return {one.rule.metric: one.state for one in read_watched_metrics(connection, "default", NOW)}


def test_a_drop_of_faithfulness_raises_an_alert_and_its_end_closes_it(tmp_path: Path) -> None:
    clock = Moving()
    with Store(f"sqlite:///{tmp_path / 'd.db'}", clock=clock) as store:
        over_weeks(store, clock, 0.9, 0.9)
        assert states(store)["faithfulness"] == "ok"
        update_alerts(store, "default")
        with store.reading("default") as connection:
            assert list_alerts(connection, "default", NOW) == []
        over_weeks(store, clock, 0.9, 0.7, each=80)
        assert states(store)["faithfulness"] == "alert"
        for _ in range(3):
            update_alerts(store, "default")
        with store.reading("default") as connection:
            (alert,) = list_alerts(connection, "default", NOW)
        assert (alert.key, alert.kind, alert.count) == ("metric:faithfulness", "metric.drop", 3)
        assert "Faithfulness: 0.7" in alert.summary
        over_weeks(store, clock, 0.7, 0.9, each=900)
        update_alerts(store, "default")
        with store.reading("default") as connection:
            (alert,) = list_alerts(connection, "default", NOW)
        assert alert.state is AlertState.CLOSED


def test_too_few_outputs_raise_no_alert(tmp_path: Path) -> None:
    clock = Moving()
    with Store(f"sqlite:///{tmp_path / 'f.db'}", clock=clock) as store:
        over_weeks(store, clock, 0.9, 0.2, each=10)
        assert states(store)["faithfulness"] == "too few"


def test_a_watch_counts_what_came_and_looks_at_the_rules(tmp_path: Path) -> None:
    clock, at = Moving(), [0.0]
    with Store(f"sqlite:///{tmp_path / 'w.db'}", clock=clock) as store:
        first, second = PanelWorker(store, "a"), PanelWorker(store, "b")
        store.record(record_of(report=made(0.5, 0.5)))
        assert first.run_once(lambda: at[0]) > 0
        store.record(record_of(report=made(0.5, 0.5)))
        assert second.run_once(lambda: at[0]) == 0  # it is the turn of the first
        assert first.run_once(lambda: at[0]) > 0
        clock.now += timedelta(minutes=5)
        store.record(record_of(report=made(0.5, 0.5)))
        assert second.run_once(lambda: at[0]) > 0
        assert close_alert(store, "default", "metric:faithfulness") is None


def test_what_comes_while_a_watch_counts_waits_for_its_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counting(store: Store, tenant: str) -> int:
        counted = count_part(store, tenant)
        store.record(record_of(report=made(0.5, 0.5)))
        parts.append(counted)
        return counted

    parts: list[int] = []
    monkeypatch.setattr("assay.server.panels.worker.count_part", counting)
    with Store(f"sqlite:///{tmp_path / 'b.db'}", clock=Moving()) as store:
        store.record(record_of(report=made(0.5, 0.5)))
        watch = PanelWorker(store, "a")
        for looks in (1, 2):
            assert watch.run_once() == parts[-1] > 0
            assert len(parts) == looks


def test_what_fails_for_one_tenant_keeps_no_other_from_being_counted_and_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(of: Callable[[Store, str], Any]) -> Callable[[Store, str], Any]:
        def work(store: Store, tenant: str) -> Any:
            if tenant == "acme":
                raise StoreError("the tenant's rows cannot be read")
            done.append(tenant)
            return of(store, tenant)

        return work

    done: list[str] = []
    for name, of in (("count_part", count_part), ("update_alerts", update_alerts)):
        monkeypatch.setattr(f"assay.server.panels.worker.{name}", failing(of))
    with Store(f"sqlite:///{tmp_path / 'w.db'}") as store:
        for tenant in ("acme", "zeta"):
            store.record(record_of(report=made(0.5, 0.5), tenant=tenant))
        assert PanelWorker(store, "a").run_once() > 0
    assert done.count("zeta") >= 2
    assert caplog.text.count("tenant acme could not be") == 2


def test_an_altered_report_of_one_tenant_keeps_no_other_from_being_counted(tmp_path: Path) -> None:
    """Whoever can write to the rows of one tenant must not blind the monitor of the others."""
    with Store(f"sqlite:///{tmp_path / 'w.db'}") as store:
        for tenant in ("acme", "zeta"):
            store.record(record_of(report=made(0.5, 0.5), tenant=tenant))
        with store.engine.begin() as connection:
            altered = {"metrics": 5, "claims": 5, "citations": 5}
            connection.execute(update(tables.reports).where(tables.reports.c.tenant == "acme").values(body=altered))
        PanelWorker(store, "a").run_once()
        with store.reading("zeta") as connection:
            counted_entries, entries = counted_until(connection, "zeta")
        assert counted_entries == entries > 0


def test_all_panels_have_rows_as_wide_as_their_columns(tmp_path: Path) -> None:
    with monitored(tmp_path) as (_, store, _, _), store.reading("default") as connection:
        for name in PANELS:
            for range_ in RANGES:
                panel = make_panel(connection, "default", name, range_, NOW)
                assert all(len(row) == len(panel.columns) for row in panel.rows), name


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_the_bins_of_calibration_hold_every_judgement_once(judged: list[tuple[float, bool]]) -> None:
    right = Sketch.of([score for score, good in judged if good])
    wrong = Sketch.of([score for score, good in judged if not good])
    bins = bins_of(right, wrong)
    assert sum(one.judged for one in bins) == len(judged)
    assert sum(one.right for one in bins) == sum(good for _, good in judged)
    error = calibration_error(bins)
    assert error is not None
    assert 0 <= error <= 1


def test_scores_that_hold_have_a_small_error_and_scores_that_do_not_a_large_one() -> None:
    draw = random.Random(3)
    scores = [draw.random() for _ in range(4_000)]
    honest = [(score, draw.random() < score) for score in scores]
    boastful = [(score, draw.random() < score * 0.6) for score in scores]

    def error(judged: list[tuple[float, bool]]) -> float:
        right, wrong = (Sketch.of([s for s, good in judged if good is want]) for want in (True, False))
        return calibration_error(bins_of(right, wrong)) or 0.0

    assert error(honest) < 0.03
    assert error(boastful) > 0.15


def test_a_correlation_is_that_of_the_values() -> None:
    draw = random.Random(4)
    relevance = [draw.random() for _ in range(3_000)]
    rates = [max(0.0, min(1.0, 1 - x + draw.uniform(-0.2, 0.2))) for x in relevance]
    by_bin = Sketch()
    for x, y in zip(relevance, rates, strict=True):
        (cell,) = Sketch.of([y]).cells.values()
        by_bin += Sketch({min(19, int(x * 20)): cell})
    found = correlation(by_bin, Sketch.of(relevance))
    mean_x, mean_y = sum(relevance) / 3_000, sum(rates) / 3_000
    top = sum((x - mean_x) * (y - mean_y) for x, y in zip(relevance, rates, strict=True))
    low = (sum((x - mean_x) ** 2 for x in relevance) * sum((y - mean_y) ** 2 for y in rates)) ** 0.5
    assert found == pytest.approx(top / low, abs=0.01)
    assert correlation(Sketch.of([0.5, 0.5]), Sketch()) is None


def test_scores_that_do_not_hold_raise_an_alert_of_the_verifier(tmp_path: Path) -> None:
    clock = Moving()
    with Store(f"sqlite:///{tmp_path / 'v.db'}", clock=clock) as store:
        for number in range(60):
            record = record_of(report=made(0.9, 0.9))
            store.record(record)
            give_feedback(store, record.id, "wrong" if number % 2 else "right", claim=0)
        counted(store)
        update_alerts(store, "default")
        with store.reading("default") as connection:
            found = {one.key: one for one in list_alerts(connection, "default", NOW)}
    alert = found["verifier:calibration"]
    assert alert.facts == {"judged": 60, "said": 0.97, "right": 0.5, "error": 0.47}
