"""`/v1/changes` and `/v1/monitor`: told over REST, kept by tenant, allowed to those who may."""

import asyncio
from pathlib import Path

from tests.server.test_reports_routes import get, kept, send


def test_changes_are_told_once_and_read_by_their_tenant_alone(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, _):
            body = {"kind": "prompt", "ref": "v7", "at": "2026-03-01T13:00:00+01:00", "id": "d-1"}
            status, told, _ = await send(here, "POST", "/v1/changes", body)
            assert (status, told["new"], told["at"]) == (201, True, "2026-03-01T12:00:00Z")
            status, told, _ = await send(here, "POST", "/v1/changes", body)
            assert (status, told["new"]) == (201, False)
            status, _, _ = await send(here, "POST", "/v1/changes", {"kind": "model", "ref": "m-2"})
            assert status == 201
            status, page = await get(here, "/v1/changes?until=2026-03-02T00:00:00Z")
            assert [one["ref"] for one in page["changes"]] == ["v7"]
            assert (await get(here, "/v1/changes?limit=1"))[1]["changes"][0]["ref"] == "m-2"
            assert (await get(here, "/v1/changes", "admin/globex"))[1] == {"changes": []}

    asyncio.run(scene())


def test_what_is_no_change_and_who_may_not_is_refused(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, _):
            for bad in (
                {"kind": "weather", "ref": "x"},
                {"kind": "prompt", "ref": " "},
                {"kind": "prompt"},
                {"kind": "prompt", "ref": "x", "at": "2026-03-01T12:00:00"},
                {"kind": "prompt", "ref": "x", "id": "a b"},
                {"kind": "prompt", "ref": "x", "more": 1},
            ):
                assert (await send(here, "POST", "/v1/changes", bad))[0] == 422, bad
            viewer = {"x_test_caller": "viewer/default"}
            assert (await send(here, "POST", "/v1/changes", {"kind": "prompt", "ref": "x"}, **viewer))[0] == 403
            assert (await get(here, "/v1/changes", "viewer/default"))[0] == 200
            assert (await get(here, "/v1/monitor", "nobody/default"))[0] == 403
            assert (await get(here, "/v1/changes?since=noon"))[0] == 422

    asyncio.run(scene())


def test_where_charts_stand_and_what_is_left_of_the_budget_is_told(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, _):
            status, told = await get(here, "/v1/monitor")
            assert (status, told["observations"], told["alarms"]) == (200, 0, [])
            status, told = await get(here, "/v1/monitor/budget")
            assert (status, told["broken"], told["metric"]) == (200, False, "bad")
            assert told["consequences"]["deployment_freeze"] == {
                "enabled": True,
                "active": False,
                "since": None,
                "changed": False,
                "lifted": False,
            }

    asyncio.run(scene())


def test_a_moment_that_no_clock_has_is_refused_and_breaks_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, _):
            for at in ("0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00", "1969-12-31T00:00:00Z"):
                assert (await send(here, "POST", "/v1/changes", {"kind": "prompt", "ref": "x", "at": at}))[0] == 422, at
                told = at.replace("+", "%2B")
                assert (await get(here, f"/v1/changes?since={told}"))[0] == 422
                assert (await get(here, f"/v1/changes?until={told}"))[0] == 422

    asyncio.run(scene())
