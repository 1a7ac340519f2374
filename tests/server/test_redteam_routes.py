"""`/v1/redteam`: runs are recorded and read by their tenant alone, and people alone decide on proposals."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.server.attacks import TARGET, judged, recorded, suite
from tests.server.fuzzing import fuzz, operations, running
from tests.server.test_reports_routes import Named, get, kept, send
from tests.store.making import RING

from assay.redteam.cases import suite_digest
from assay.server.audit.timers import apply_all_rules
from assay.server.caller import Caller
from assay.server.http.admission import Refusal
from assay.store.audit.entries import read_entry_data
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.records import Rule, write_rules
from assay.store.redteam import list_proposals, read_cases

CASES = suite(2)
VIEWER = {"x_test_caller": "viewer/default"}


class People(Named):
    """As those who say who they are, with sessions of the console."""

    async def caller(self, scope: Any) -> Caller | Refusal:
        found = await super().caller(scope)
        return replace(found, kind="user") if isinstance(found, Caller) else found


def body(failing: tuple[int, ...] = (1, 5, 9), **more: Any) -> dict[str, Any]:
    return {
        "suite_name": "dynamic",
        "target": TARGET,
        "target_version": "2026-03",
        "cases": [one.model_dump(mode="json") for one in CASES],
        "judgements": [one.model_dump(mode="json") for one in judged(CASES, failing, (3,))],
        **more,
    }


def test_a_run_is_scored_here_and_read_by_its_tenant_alone(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            status, told, _ = await send(here, "POST", "/v1/redteam/runs", body(propose=True), **VIEWER)
            run = told["run"]
            assert status == 201, told
            assert (run["cases"], run["passed"], run["failed"], run["unjudged"]) == (20, 16, 3, 1)
            assert run["ars"] == pytest.approx(16 / 19)
            assert run["low"] < run["ars"] < run["high"]
            assert run["suite"] == suite_digest(CASES)
            assert set(run["categories"]) == {one.category.value for one in CASES}
            assert len(told["proposed"]) == 3
            _, page = await get(here, "/v1/redteam/runs?suite_name=dynamic&limit=1")
            assert [one["id"] for one in page["items"]] == [run["id"]]
            _, cases = await get(here, f"/v1/redteam/runs/{run['id']}/cases?outcome=failed&limit=2")
            assert [one["position"] for one in cases["items"]] == [1, 5]
            assert cases["items"][0]["told"]["answer"] == "It gives 90 weeks. It is paid."
            assert cases["items"][0]["told"]["turns"][0]["content"] == "Hello."
            _, rest = await get(here, f"/v1/redteam/runs/{run['id']}/cases?outcome=failed&cursor={cases['next']}")
            assert [one["position"] for one in rest["items"]] == [9]
            for path in (f"runs/{run['id']}", f"runs/{run['id']}/cases", f"proposals/{told['proposed'][0]}"):
                assert (await get(here, f"/v1/redteam/{path}", "admin/globex"))[0] == 404
            assert (await get(here, "/v1/redteam/runs", "admin/globex"))[1] == {"items": [], "next": None}
            assert (await get(here, "/v1/redteam/proposals", "admin/globex"))[1]["counts"] == {}
            assert (await get(here, "/v1/redteam/runs", "nobody/default"))[0] == 403
            with store.reading("default") as connection:
                found = verify_contents(connection, "default", verify_log(connection, "default", RING))
            assert found.holds, found.findings

    asyncio.run(scene())


def test_lists_are_read_page_by_page_whatever_comes_in_between(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            ids = [recorded(store, 1_000_000 * at, cases=CASES).id for at in range(7)]
            seen, cursor = [], ""
            while True:
                _, page = await get(here, f"/v1/redteam/runs?limit=3{cursor}")
                seen += [one["id"] for one in page["items"]]
                recorded(store, 9_000_000_000, cases=CASES)
                if page["next"] is None:
                    break
                cursor = f"&cursor={page['next']}"
            assert seen == ids[::-1]

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cases": [{"prompt": "x"}]}, "cases[0]"),
        ({"cases": [CASES[0].model_dump(mode="json")] * 2}, "each may stand once"),
        ({"judgements": []}, "judgements"),
        ({"judgements": [one.model_dump(mode="json") for one in judged(CASES)][::-1]}, "in the order of the cases"),
        ({"target": " "}, "target"),
        ({"more": 1}, "more"),
        ({"at": "2026-03-01T12:00:00"}, "at"),
    ],
)
def test_what_is_no_run_is_refused_with_the_place(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, _):
            status, told, _ = await send(here, "POST", "/v1/redteam/runs", {**body(), **change})
            assert status == 422
            assert says in json.dumps(told)

    asyncio.run(scene())


@pytest.mark.parametrize("change", [{"behavior_match": 1.0}, {"behavior_match": None}, {"outcome": "unjudged"}])
def test_an_outcome_that_its_match_does_not_bear_out_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, _):
            sent = body()
            sent["judgements"][1] |= change
            status, told, _ = await send(here, "POST", "/v1/redteam/runs", sent)
            assert (status, "judgements[1]" in told["detail"]) == (422, True)

    asyncio.run(scene())


def decisions(store: Store) -> list[dict[str, Any]]:
    table = tables.audit_entries
    with store.reading("default") as connection:
        rows = connection.execute(table.select().where(table.c.kind == "redteam").order_by(table.c.idx))
        told = [read_entry_data(bytes(row.data)) for row in rows]
    return [one for one in told if one["act"] in ("approved", "edited", "rejected")]


def test_people_decide_once_on_the_version_they_saw_and_the_log_has_the_versions_of_the_suite(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path, access=People()) as (here, store):
            _, told, _ = await send(here, "POST", "/v1/redteam/runs", body(propose=True))
            first, second, third = told["proposed"]

            async def say(id_: str, said: dict[str, Any], tag: str = '"1"', who: str = "reviewer") -> tuple[int, Any]:
                named = {"x_test_caller": f"{who}/default", **({"if_match": tag} if tag else {})}
                path = f"/v1/redteam/proposals/{id_}/decision"
                status, got, _ = await send(here, "POST", path, said, **named)
                return status, got

            yes = {"act": "approve", "reason": "It happens."}
            assert (await say(first, yes, who="viewer"))[0] == 403
            assert (await say(first, yes, ""))[0] == 428
            assert (await say(first, yes, '"7"'))[0] == 412
            assert (await say(first, {"act": "edit", "reason": "x"}))[0] == 422
            assert (await say(first, {"act": "approve", "reason": "x", "case": {"prompt": "y"}}))[0] == 422
            status, got = await say(first, yes)
            assert (status, got["state"], got["kept"], got["version"]) == (200, "approved", first, 2)
            assert got["approved"]["lineage"]["origin"] == "promoted"
            assert got["approved"]["lineage"]["approved_by"] == got["decider"]
            status, got = await say(first, yes, '"2"')
            assert (status, got["type"]) == (409, "urn:assay:problem:proposal.decided")
            words = "How long is the leave of rule 2, in weeks?"
            edit = {"act": "edit", "reason": "Clearer.", "case": {"prompt": words}}
            status, got = await say(second, edit)
            assert (status, got["state"]) == (200, "approved")
            edited = got["kept"]
            assert edited != second
            assert got["approved"]["lineage"]["parent"] == second
            assert got["case"]["prompt"] != got["approved"]["prompt"]
            assert (await say(third, {**edit, "case": {"category": "weather"}}))[0] == 422
            assert (await say(third, {"act": "reject", "reason": "Nobody asks so."}))[0] == 200
            address = here.url + "/v1/redteam/suite"
            async with here.http.get(address, headers={"x-test-caller": "viewer/default"}) as out:
                lines = [json.loads(line) for line in (await out.text()).splitlines()]
                tag = out.headers["etag"]
            assert [one["id"] for one in lines] == [first, edited]
            said = decisions(store)
            assert [one["act"] for one in said] == ["approved", "edited", "rejected"]
            assert [one["suite_before"] for one in said[1:]] == [one["suite_after"] for one in said[:-1]]
            assert tag == f'"{said[-1]["suite_after"]}"'
            _, page = await get(here, "/v1/redteam/proposals?state=approved")
            assert (page["counts"], page["suite"]) == ({"approved": 2, "rejected": 1}, tag.strip('"'))
            # What was decided on is not proposed again, nor what stands in the suite in an edited form.
            _, again, _ = await send(here, "POST", "/v1/redteam/runs", body(propose=True))
            assert again["proposed"] == []
            with store.reading("default") as connection:
                found = verify_contents(connection, "default", verify_log(connection, "default", RING))
            assert found.holds, found.findings

    asyncio.run(scene())


def test_a_key_proposes_and_decides_on_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            _, told, _ = await send(here, "POST", "/v1/redteam/runs", body(propose=True))
            path = f"/v1/redteam/proposals/{told['proposed'][0]}/decision"
            said = {"act": "approve", "reason": "It happens."}
            status, got, _ = await send(here, "POST", path, said, if_match='"1"', x_test_caller="admin/default")
            assert (status, got["type"]) == (403, "urn:assay:problem:proposal.person")
            assert decisions(store) == []

    asyncio.run(scene())


def test_the_operations_keep_to_the_document(tmp_path: Path) -> None:
    with running(tmp_path) as (here, store):
        run = recorded(store, 5, failing=(0, 3, 6), unjudged=(2,), proposes=True, cases=CASES)
        with store.reading("default") as connection:
            assert list_proposals(connection, "default")
        found = [one for one in operations(here) if one.path.startswith("/v1/redteam")]
        assert len(found) == 10
        for operation in found:
            fuzz(operation, here.url, [run.id], 8)


def test_conversations_of_a_run_are_erased_by_administrators_alone_and_by_rule(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            _, made, _ = await send(here, "POST", "/v1/redteam/runs", body(propose=True))
            run = f"/v1/redteam/runs/{made['run']['id']}"
            assert made["run"]["erased"] is None
            refused, _, _ = await send(here, "DELETE", f"{run}/conversations", **VIEWER)
            assert refused == 403
            other, _, _ = await send(here, "DELETE", f"{run}/conversations", x_test_caller="admin/globex")
            assert other == 404
            status, told, _ = await send(here, "DELETE", f"{run}/conversations?reason=asked+for")
            assert (status, told) == (200, {"runs": [made["run"]["id"]]})
            _, cases = await get(here, f"{run}/cases?outcome=failed")
            assert [one["told"] for one in cases["items"]] == [None] * 3
            assert (await get(here, run))[1]["erased"] is not None
            _, proposal = await get(here, f"/v1/redteam/proposals/{made['proposed'][0]}")
            assert proposal["answer"] is None
            assert proposal["case"]["prompt"]
            assert (await send(here, "DELETE", f"{run}/conversations"))[1] == {"runs": []}
            with store.reading("default") as connection:
                assert verify_contents(connection, "default", verify_log(connection, "default", RING)).holds

    asyncio.run(scene())


def test_the_timer_of_retention_erases_conversations_too(tmp_path: Path) -> None:
    with Store(str(tmp_path / "assay.db"), clock=lambda: datetime(2026, 3, 1, tzinfo=UTC)) as store:
        run = recorded(store, 1_000, failing=(1, 5))
        write_rules(store, "default", [Rule(30)], 0, "ann")
        apply_all_rules(store, "one", 60)
        with store.reading("default") as connection:
            assert [one.told for one in read_cases(connection, "default", run.id, outcomes=["failed"])] == [None, None]


def test_schedules_are_listed_with_what_is_due_and_what_came_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "assay.yaml"
    config.write_text(
        "version: 1\npolicy: general\nredteam:\n  schedules:\n"
        "    - {name: nightly, suite: none.jsonl, target: 'http://ann:secret@bot.example/v1?key=k', every: 31d}\n"
        "    - {name: weekly, suite: approved, target: 'command:bot --key k', cron: '30 2 * * 1', tenant: globex}\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("ASSAY_CONFIG", str(config))

    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            run = recorded(store, 1_000, schedule="nightly", source="schedule")
            status, told = await get(here, "/v1/redteam/schedules", "viewer/default")
            (one,) = told["items"]
            assert status == 200
            assert (one["name"], one["plan"], one["suite"]) == ("nightly", "every 31d", "none.jsonl")
            assert one["target"] == "http://bot.example/v1"
            assert one["made"] is False
            assert one["last"]["id"] == run.id
            _, theirs = await get(here, "/v1/redteam/schedules", "viewer/globex")
            (other,) = theirs["items"]
            assert (other["plan"], other["suite"], other["target"]) == ("30 2 * * 1", "approved", "command:bot")
            assert other["last"] is None
            assert (await get(here, "/v1/redteam/schedules", "nobody/default"))[0] == 403

    asyncio.run(scene())
