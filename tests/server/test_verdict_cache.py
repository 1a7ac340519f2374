"""Two servers over one database: what one has checked the other finds, and nothing else is ever found."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from tests.server.gateway_site import Site, play, site
from tests.server.test_api import BODY

from assay.errors import PolicyError
from assay.server.settings import ServerSettings, parse_settings
from assay.server.verdicts.cache import VerdictCache
from assay.server.verdicts.settings import CacheSettings
from assay.store.db import tables
from assay.store.db.engine import writing
from assay.store.db.store import Store
from assay.store.records.erasure import erase_runs
from assay.testing import FakeScorer

SECRET = "thirty-two characters and some more"  # noqa: S105


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept is waited for, however busy the machine is."""
    monkeypatch.setattr("assay.server.verdicts.cache.WAIT_S", 60.0)


def cached(database: Path, secret: str = SECRET, **more: Any) -> Callable[[ServerSettings], ServerSettings]:
    return lambda told: replace(told, database=str(database), cache=CacheSettings(secret, **more))


@asynccontextmanager
async def replicas(
    tmp_path: Path, secrets: tuple[str, str] = (SECRET, SECRET)
) -> AsyncIterator[tuple[Site, Site, Store]]:
    file = tmp_path / "assay.db"
    with Store(str(file)) as store, Store(str(file)) as other:
        async with (
            site(store=store, settings=cached(file, secrets[0])) as first,
            site(store=other, settings=cached(file, secrets[1])) as second,
        ):
            yield first, second, store


def kept_by(here: Site) -> None:
    """Waits until what the server has made is kept."""
    pool = here.app._verdicts._keepers
    assert pool is not None
    pool.submit(lambda: None).result()


def looked(here: Site) -> dict[str, float]:
    metrics = here.app.services.telemetry.metrics
    assert metrics is not None
    samples = next(iter(metrics.kept_verdicts.collect())).samples
    return {one.labels["result"]: one.value for one in samples if one.name.endswith("_total")}


def plain(body: bytes) -> dict[str, Any]:
    return {name: value for name, value in json.loads(body).items() if name != "timing"}


def test_what_one_server_checked_the_other_finds_and_records_as_its_own(tmp_path: Path) -> None:
    async def scene() -> None:
        async with replicas(tmp_path) as (first, second, store):
            _, of_first, made = await first.post("/v1/check", BODY)
            kept_by(first)
            _, of_second, found = await second.post("/v1/check", BODY)
            assert plain(found) == plain(made)
            assert (looked(first), looked(second)) == ({"miss": 1.0}, {"hit": 1.0})
            ids = [of_first["x-assay-report-id"], of_second["x-assay-report-id"]]
            assert ids[0] != ids[1]
            assert all(store.check(one) is not None for one in ids)

    play(scene)


@pytest.mark.parametrize(
    "change",
    [
        {"answer": "Partners get 2 weeks."},
        {"question": None},
        {"stakes": "high"},
        {"policy": "high-stakes"},
        {"run_id": "other"},
        {"evidence": [{"id": "hr-3", "text": "Partners are entitled to 2 weeks of leave."}]},
        {"as_of": "2026-01-01"},
        {"task": "summary"},
    ],
)
def test_whatever_of_a_request_differs_is_checked_anew(tmp_path: Path, change: dict[str, Any]) -> None:
    async def scene() -> None:
        async with replicas(tmp_path) as (first, second, _):
            await first.post("/v1/check", BODY)
            kept_by(first)
            status, _, _ = await second.post("/v1/check", {**BODY, **change})
            assert (status, looked(second)) == (200, {"miss": 1.0})

    play(scene)


def test_another_tenant_another_verifier_and_another_secret_find_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        async with replicas(tmp_path, (SECRET, SECRET[::-1])) as (first, second, _):
            await first.post("/v1/check", BODY)
            kept_by(first)
            await second.post("/v1/check", BODY)
            assert looked(second) == {"miss": 1.0}
            cache: VerdictCache = first.app._verdicts
            from assay.config import Guard
            from assay.server.checks.bodies import CheckBody

            body = CheckBody.model_validate({**BODY, "stakes": "medium"})  # as the route asks for it
            guard = Guard("general", scorer=FakeScorer(), environ={})
            other = Guard("general", scorer=FakeScorer(), environ={}, locale="de")
            assert (await cache._look_up(guard, body, "default"))[1] is not None
            assert (await cache._look_up(guard, body, "acme"))[1] is None
            assert (await cache._look_up(other, body, "default"))[1] is None

    play(scene)


def test_a_verdict_that_was_altered_in_the_database_is_not_believed(tmp_path: Path) -> None:
    async def scene() -> None:
        async with replicas(tmp_path) as (first, second, store):
            _, _, made = await first.post("/v1/check", {**BODY, "answer": "Partners get 9 weeks of leave."})
            await first.post("/v1/check", BODY)
            kept_by(first)
            table = tables.verdict_cache
            with writing(store.engine).begin() as connection:
                rows = connection.execute(table.select()).all()
                assert len(rows) == 2
                for row, other in (rows, rows[::-1]):  # each gets the other's report and seal
                    connection.execute(
                        update(table).where(table.c.key == row.key).values(body=other.body, seal=other.seal)
                    )
            _, _, found = await second.post("/v1/check", {**BODY, "answer": "Partners get 9 weeks of leave."})
            assert plain(found) == plain(made)
            assert looked(second) == {"miss": 1.0}

    play(scene)


def test_after_an_erasure_nothing_is_found(tmp_path: Path) -> None:
    async def scene() -> None:
        async with replicas(tmp_path) as (first, second, store):
            _, headers, _ = await first.post("/v1/check", BODY)
            kept_by(first)
            erase_runs(store, [headers["x-assay-report-id"]], "request", "default")
            await second.post("/v1/check", BODY)
            assert looked(second) == {"miss": 1.0}

    play(scene)


def test_a_cache_that_fails_is_a_miss_and_the_check_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        async with replicas(tmp_path) as (first, _, store):
            with writing(store.engine).begin() as connection:
                connection.exec_driver_sql("DROP TABLE verdict_cache")
            status, _, _ = await first.post("/v1/check", BODY)
            kept_by(first)
            assert (status, looked(first)) == (200, {"failed": 1.0})
            status, _, _ = await first.post("/v1/batch", {"requests": [BODY, {**BODY, "evidence": [{"no": 1}]}]})
            assert status == 200

    play(scene)


def test_without_the_setting_nothing_is_kept(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                await here.post("/v1/check", BODY)
                assert looked(here) == {}
            with store.reading("default") as connection:
                assert connection.execute(tables.verdict_cache.select()).all() == []

    play(scene)


@pytest.mark.parametrize(
    ("given", "environ", "message"),
    [
        ({"key_env": "K"}, {}, "which is not set"),
        ({"key_env": "K"}, {"K": "short"}, "at least 32"),
        ({}, {}, "has key_env"),
        ({"key_env": "K", "ttl": 3}, {"K": "x" * 32}, "may have max_age_s"),
        ({"key_env": "K", "max_age_s": True}, {"K": "x" * 32}, "cache.max_age_s is a number"),
        ({"key_env": "K", "max_mb": 0}, {"K": "x" * 32}, "cache.max_mb is a number"),
    ],
)
def test_settings_that_cannot_be_are_refused(given: dict[str, Any], environ: dict[str, str], message: str) -> None:
    base = ServerSettings(database="x.db")
    with pytest.raises(PolicyError, match=message):
        parse_settings({"cache": given or {"max_mb": 1}}, environ, base)


def test_the_secret_is_in_no_text_of_the_settings() -> None:
    assert SECRET not in repr(CacheSettings(SECRET))
    with pytest.raises(PolicyError, match="--database"):
        ServerSettings(cache=CacheSettings(SECRET))
