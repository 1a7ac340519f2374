"""Consequences of the error budget and changes of prompts over a running server: over sockets, without a restart."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import delete, select
from tests.cadence.golden_set import guard_of
from tests.monitor.recording import plant
from tests.server.gateway_site import Site, play
from tests.server.test_reports_routes import get, kept
from tests.server.upstream_script import chat_completion, json_answer

from assay.config import Guard
from assay.monitor import BudgetSettings, Consequence, MonitorSettings, monitor_settings
from assay.policy.order import at_least_as_strict
from assay.server.cadence.overlays import Overlays
from assay.server.monitoring.budget import Budgeting
from assay.server.settings import ServerSettings
from assay.store.db import Store
from assay.store.db import tables as _tables
from assay.store.db.column_values import micros
from assay.store.monitoring import read_changes, read_consequences, set_consequences

TENANT = "default"
CHECK = {"answer": "The warranty covers two years.", "evidence": ["The warranty covers two years."]}
ACTS = {
    "schedule": {"turn": {"every": "1s"}, "budget": {"every": "1s"}},
    "budget": {"most": 0.05, "consequences": {one.value: True for one in Consequence}},
}


def watched(settings: MonitorSettings) -> Callable[[ServerSettings], ServerSettings]:
    return lambda told: replace(told, monitor=settings)


def spend(store: Store, rate: float, count: int = 500) -> None:
    """Outputs of the last minutes of which so many were bad."""
    begin = micros(datetime.now(UTC) - timedelta(seconds=count + 5))
    with store.engine.begin() as connection:
        connection.execute(delete(_tables.observations))
    plant(store, [(count, rate)], 3, begin)


async def overlays_of(here: Site) -> list[str]:
    status, _, body = await here.post("/v1/check", CHECK, x_test_caller="admin/default")
    assert status == 200, body
    return list(json.loads(body)["policy"].get("overlays", []))


async def until(here: Site, wanted: list[str], seconds: float = 40.0) -> float:
    begun = time.monotonic()
    while await overlays_of(here) != wanted:
        assert time.monotonic() - begun < seconds, "the server did not follow"
        await asyncio.sleep(0.2)
    return time.monotonic() - begun


def entries(store: Store) -> list[tuple[str, bool]]:
    table = _tables.audit_entries.c
    with store.reading(TENANT) as connection:
        found = connection.execute(select(table.data).where(table.kind == "budget").order_by(table.idx)).scalars()
        return [(one["record"], one["active"]) for one in map(json.loads, found)]


def test_a_spent_budget_tightens_policies_of_a_running_server_and_a_recovered_one_loosens_them(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path, settings=watched(monitor_settings(ACTS))) as (here, store):
            assert await overlays_of(here) == []
            await asyncio.to_thread(spend, store, 0.9)
            await until(here, ["more_escalation", "tighter_thresholds"])
            here.upstream.answers = [json_answer(chat_completion("The warranty covers two years."))]
            told = {
                "model": "m",
                "messages": [{"role": "user", "content": "How long?"}],
                "assay": {"evidence": CHECK["evidence"]},
            }
            _, headers, _ = await here.post("/v1/chat/completions", told, x_test_caller="admin/default")
            _, found = await get(here, f"/v1/reports/{headers['x-assay-report-id']}")
            assert found["report"]["policy"]["overlays"] == ["more_escalation", "tighter_thresholds"]
            _, budget = await get(here, "/v1/monitor/budget")
            assert budget["consequences"]["more_sampling"]["active"]
            await asyncio.to_thread(spend, store, 0.0)
            await until(here, [])
            log = await asyncio.to_thread(entries, store)
            assert set(log) == {(one.value, active) for one in Consequence for active in (True, False)}

    play(scene)


def test_what_a_person_lifts_stays_out_of_force_until_the_budget_has_recovered_once(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path, settings=watched(monitor_settings(ACTS))) as (here, store):
            await asyncio.to_thread(spend, store, 0.9)
            await until(here, ["more_escalation", "tighter_thresholds"])
            lifted = {"tighter_thresholds": False}
            await asyncio.to_thread(
                lambda: set_consequences(store, TENANT, lifted, {"reason": "known"}, "dana", lifts=True)
            )
            await until(here, ["more_escalation"])
            await asyncio.sleep(3)
            assert await overlays_of(here) == ["more_escalation"]

    play(scene)
    with Store(str(tmp_path / "assay.db")) as store:
        desk = Budgeting(store, monitor_settings(ACTS).budget)
        spend(store, 0.9)
        assert desk.settle(TENANT, "test")["consequences"]["tighter_thresholds"]["lifted"]
        spend(store, 0.0)
        assert not desk.settle(TENANT, "test")["consequences"]["tighter_thresholds"]["lifted"]
        spend(store, 0.9)
        assert desk.settle(TENANT, "test")["consequences"]["tighter_thresholds"]["active"]
        with store.reading(TENANT) as connection:
            assert read_consequences(connection, TENANT)["tighter_thresholds"].active


def test_without_a_section_of_the_monitor_nothing_acts_by_itself(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            await asyncio.to_thread(set_consequences, store, TENANT, {"tighter_thresholds": True}, {}, "test")
            await asyncio.sleep(3)
            assert await overlays_of(here) == []

    play(scene)


def test_an_overlay_of_one_tenant_is_no_other_tenants_and_is_never_looser(url: str) -> None:
    settings = BudgetSettings(consequences={"tighter_thresholds": True, "more_escalation": True})
    overlays, guard = Overlays(settings), guard_of()
    with Store(url) as store:
        set_consequences(store, "acme", {"tighter_thresholds": True, "more_escalation": True}, {}, "test")
        overlays.read(store)
        assert overlays.over(guard, "globex") is guard
        over = overlays.over(guard, "acme")
        assert overlays.over(guard, "acme") is over
        assert over.policy.overlays == ("more_escalation", "tighter_thresholds")
        assert at_least_as_strict(over.policy, guard.policy)
        assert over.policy.digest != guard.policy.digest
        other: Guard = guard_of("high-stakes")
        assert at_least_as_strict(overlays.over(other, "acme").policy, other.policy)
        set_consequences(store, "acme", {"tighter_thresholds": False, "more_escalation": False}, {}, "test")
        overlays.read(store)
        assert overlays.over(guard, "acme") is guard


def ask(system: str, tools: list[Any] | None = None, model: str = "m-1") -> dict[str, Any]:
    return {
        "model": model,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": "How long?"}],
        **({} if tools is None else {"tools": tools}),
        "assay": {"evidence": CHECK["evidence"]},
    }


def test_an_edited_prompt_and_another_model_show_in_the_log_of_changes_by_themselves(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path, settings=watched(monitor_settings(ACTS))) as (here, store):
            here.upstream.answers = [json_answer(chat_completion("The warranty covers two years."))]

            async def send(count: int, system: str, model: str = "m-1") -> None:
                for number in range(count):
                    dated = f"{system}\nToday is 2026-03-{number % 28 + 1:02} and you help user {number}."
                    sent = ask(dated, model=model)
                    await here.post("/v1/chat/completions", sent, x_test_caller="admin/default")

            await send(35, "Be brief.")
            await asyncio.sleep(6)
            await send(25, "Be thorough.", "m-2")
            begun = time.monotonic()
            while time.monotonic() - begun < 30:
                with store.reading(TENANT) as connection:
                    seen = [one for one in read_changes(connection, TENANT) if one.source == "seen"]
                kinds = sorted(one.kind for one in seen if one.kind in ("prompt", "tools", "model"))
                if kinds == ["model", "prompt"]:
                    break
                await asyncio.sleep(0.3)
            assert kinds == ["model", "prompt"]
            (model,) = (one for one in seen if one.kind == "model")
            assert (model.ref, model.note) == ("m-2", "chat_completions, caller admin")
            # Digests alone are kept of prompts.
            with store.reading(TENANT) as connection:
                for table in (_tables.passing, _tables.passing_states, _tables.changes):
                    for row in connection.execute(select(table)):
                        assert "thorough" not in str(row).lower()

    asyncio.run(asyncio.wait_for(scene(), 180))
