"""`/v1/monitor` over real sockets and a real database: panels as JSON and CSV, alerts, and who may do what."""

import csv
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.server.gateway_site import Site, play, site
from tests.store.making import record_of
from tests.store.test_sketches import counted, made

from assay.schema import Category, Permission
from assay.server.http.problems import ProblemError
from assay.server.panels.panels import PANELS, RANGES
from assay.server.panels.router import _version
from assay.server.panels.values import Panel
from assay.store.access import create_key
from assay.store.alerts import Alert, raise_alert
from assay.store.db.store import Store
from assay.store.records import give_feedback

FORMULA = '=HYPERLINK("http://evil.example")'


@asynccontextmanager
async def served(path: Path) -> AsyncIterator[tuple[Site, Store]]:
    with Store(str(path / "m.db")) as store:
        for score in (0.9, 0.3, 0.6):
            record = record_of(
                report=made(score, score, categories=(Category.FACTUAL,) if score < 0.5 else ()), caller=FORMULA
            )
            store.record(record)
        give_feedback(store, record.id, "right", claim=0)
        counted(store)
        async with site(store=store) as there:
            yield there, store


async def got(there: Site, path: str, status: int = 200, **headers: str) -> Any:
    async with there.http.get(there.url + path, headers=headers) as answer:
        assert answer.status == status, await answer.text()
        return await (answer.json() if "json" in answer.content_type else answer.text())


def test_each_panel_is_the_same_as_json_and_as_csv(tmp_path: Path) -> None:
    async def scene() -> None:
        async with served(tmp_path) as (there, _):
            listed = await got(there, "/v1/monitor/panels")
            assert listed["panels"] == list(PANELS)
            assert listed["counted"] == listed["entries"] > 0
            for name in PANELS:
                for range_ in RANGES:
                    told = await got(there, f"/v1/monitor/panels/{name}?range={range_}")
                    text = await got(there, f"/v1/monitor/panels/{name}?range={range_}&format=csv")
                    rows = list(csv.reader(io.StringIO(text)))
                    assert rows[0] == told["columns"]
                    assert len(rows) - 1 == len(told["rows"])
                    assert all(len(row) == len(told["columns"]) for row in rows)
            (worst, *_) = (await got(there, "/v1/monitor/panels/worst"))["rows"]
            assert worst[2] == 0.3
            trend = await got(there, "/v1/monitor/panels/trend?range=24h")
            assert sum(row[1] for row in trend["rows"]) == 3
            categories = {row[0]: row[2] for row in (await got(there, "/v1/monitor/panels/categories"))["rows"]}
            assert categories["factual"] == 1

    play(scene)


def test_a_name_that_a_spreadsheet_would_run_stays_text(tmp_path: Path) -> None:
    async def scene() -> None:
        async with served(tmp_path) as (there, _):
            text = await got(there, "/v1/monitor/panels/agents?format=csv")
            assert list(csv.reader(io.StringIO(text)))[1][0] == f"'{FORMULA}"
            told = await got(there, "/v1/monitor/panels/agents")
            assert told["rows"][0][0] == FORMULA

    play(scene)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        *((text, f"'{text}") for text in ("=1+1", "+1", "-1", "@x", " =1")),
        ("\t=1", "'\t'=1"),  # a tab or the end of a line may end a cell where other separators are read
        ("\n=1", "'\n'=1"),
    ],
)
def test_no_cell_begins_as_a_formula_does(text: str, written: str) -> None:
    made_csv = Panel("p", "t", "a", ("c",), ((text,), (-0.5,), (None,))).as_csv()
    rows = list(csv.reader(io.StringIO(made_csv, newline="")))
    assert rows[1] == [written]
    assert rows[2] == ["-0.5"]


WRONG = ("panels/nothing", "panels/trend?range=1y", "panels/trend?format=xml", "alerts?state=lost", "alerts/xyz")


def test_what_there_is_not_is_told(tmp_path: Path) -> None:
    async def scene() -> None:
        async with served(tmp_path) as (there, _):
            for path in WRONG:
                told = await got(there, f"/v1/monitor/{path}", 422)
                assert told["type"] == "urn:assay:problem:input.invalid"
            await got(there, f"/v1/monitor/alerts/{'0' * 32}", 404)

    play(scene)


def test_an_etag_in_digits_that_are_no_number_is_misuse() -> None:
    with pytest.raises(ProblemError, match="expected the ETag"):
        _version('"²"')


def test_an_alert_is_acknowledged_silenced_and_closed(tmp_path: Path) -> None:
    async def scene() -> None:
        async with served(tmp_path) as (there, store):
            item, _ = raise_alert(store, "default", Alert("metric:x", "metric.drop", "It fell.", facts={"now": 0.5}))
            (listed,) = (await got(there, "/v1/monitor/alerts?state=open"))["items"]
            assert (listed["id"], listed["facts"], listed["runbook"]) == (
                item.id,
                {"now": 0.5},
                "docs/runbooks.md#metric-drop",
            )
            base = f"/v1/monitor/alerts/{item.id}"
            status, headers, _ = await there.post(f"{base}/acknowledge", {}, **{"if-match": '"1"'})
            assert (status, headers["etag"]) == (200, '"2"')
            assert (await there.post(f"{base}/acknowledge", {}, **{"if-match": '"1"'}))[0] == 412
            assert (await there.post(f"{base}/acknowledge", {}, **{"if-match": "x"}))[0] == 422
            assert (await there.post(f"{base}/silence", {"hours": 2}))[0] == 200
            assert (await there.post(f"{base}/silence", {"hours": 10_000}))[0] == 422
            assert (await got(there, base))["silenced_until"] is not None
            assert (await there.post(f"{base}/silence", {"hours": 0}))[0] == 200
            assert (await got(there, base))["silenced_until"] is None
            assert (await there.post(f"{base}/close", {}))[0] == 200
            assert (await there.post(f"{base}/acknowledge", {}))[0] == 409
            assert (await got(there, "/v1/monitor/alerts?state=open"))["items"] == []

    play(scene)


def test_whoever_may_only_read_changes_nothing_and_sees_only_their_own(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "m.db")) as store:
            reads, _ = create_key(store, "reads", {Permission.READ})
            other, _ = create_key(store, "other", {Permission.READ, Permission.METRICS}, tenant="globex")
            checks, _ = create_key(store, "checks", {Permission.CHECK})
            store.record(record_of(report=made(0.3, 0.3)))
            counted(store)
            item, _ = raise_alert(store, "default", Alert("metric:x", "metric.drop", "It fell."))
            async with site(store=store) as there:
                path = f"/v1/monitor/alerts/{item.id}"
                await got(there, path, 401)
                await got(there, path, 403, **{"x-assay-key": checks})
                await got(there, path, 200, **{"x-assay-key": reads})
                await got(there, path, 404, **{"x-assay-key": other})
                found = await got(there, "/v1/monitor/panels/worst", 200, **{"x-assay-key": other})
                assert found["rows"] == []
                for act in ("acknowledge", "close"):
                    assert (await there.post(f"{path}/{act}", {}, **{"x-assay-key": reads}))[0] == 403
                # The figures of /metrics are of all tenants: another tenant's key does not read them.
                await got(there, "/metrics", 403, **{"x-assay-key": other})
                await got(there, "/metrics", 403, **{"x-assay-key": reads})

    play(scene)
