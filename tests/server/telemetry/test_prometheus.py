"""A real Prometheus: it takes the rules, scrapes a real server with its key, and evaluates every expression.

It runs where the programs are: on the path, or in the folder that ASSAY_PROMETHEUS names (`apt-get download prometheus`
and `dpkg -x` need no root).
"""

import asyncio
import json
import os
import shutil
import socket
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.server.gateway_site import play, site
from tests.server.telemetry.test_metrics import CHECK, RULES, everything, expressions
from tests.store.making import record_of
from tests.store.test_sketches import counted, made

from assay.server.access.key_file import KeyFile
from assay.server.settings import Mode, ServerSettings
from assay.store.alerts import Alert, Urgency, raise_alert
from assay.store.db.store import Store


def program(name: str) -> str:
    folder = os.environ.get("ASSAY_PROMETHEUS")
    found = str(Path(folder) / name) if folder else shutil.which(name)
    if found is None or not Path(found).exists():
        pytest.skip(f"there is no {name} here; see the head of this file")
    return found


def test_promtool_takes_the_rules() -> None:
    done = subprocess.run(
        [program("promtool"), "check", "rules", str(RULES)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


async def asked(http: aiohttp.ClientSession, url: str, path: str, **parameters: str) -> Any:
    async with http.get(f"{url}{path}", params=parameters, headers={"accept-encoding": "identity"}) as answer:
        return await answer.json()


async def until(http: aiohttp.ClientSession, url: str, query: str) -> list[Any]:
    """The result of a query, once it has one."""
    for _ in range(600):
        try:
            found = await asked(http, url, "/api/v1/query", query=query)
        except aiohttp.ClientError:
            found = {}
        if found.get("data", {}).get("result"):
            return list(found["data"]["result"])
        await asyncio.sleep(0.1)
    raise AssertionError(f"Prometheus has nothing of {query}")


def test_prometheus_scrapes_a_server_and_evaluates_every_expression(tmp_path: Path) -> None:
    binary = program("prometheus")

    async def scene() -> None:
        key = KeyFile(tmp_path / "keys.json").create("prometheus", ("metrics", "check", "gateway"))

        def told(settings: ServerSettings) -> ServerSettings:
            return replace(settings, keys=tmp_path / "keys.json")

        with Store(str(tmp_path / "m.db")) as store:
            store.record(record_of(report=made(0.9, 0.9)))
            counted(store)
            raise_alert(store, "default", Alert("k", "a.b", "It fell.", Urgency.CRITICAL))
            async with site(Mode.ANNOTATE, store=store, settings=told) as there:
                there.http.headers["x-assay-key"] = key
                await everything(there)
                await there.post("/v1/check", CHECK)
                await _scraped_by(binary, there.url, key, there.http)

    async def _scraped_by(binary: str, target: str, key: str, http: aiohttp.ClientSession) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        config = {
            # Long enough for a machine that is busy: a scrape may take as long as the interval.
            "global": {"scrape_interval": "5s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [
                {
                    "job_name": "assay",
                    "static_configs": [{"targets": [target.removeprefix("http://")]}],
                    "authorization": {"credentials": key},
                }
            ],
        }
        (tmp_path / "prometheus.yml").write_text(json.dumps(config))
        running = await asyncio.create_subprocess_exec(
            binary,
            f"--config.file={tmp_path / 'prometheus.yml'}",
            f"--storage.tsdb.path={tmp_path / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--log.level=error",
        )
        url = f"http://127.0.0.1:{port}"
        try:
            await until(http, url, 'up{job="assay"} == 1')
            await until(http, url, 'sum(assay_checks_total{kind="check"}) == 2')
            for where, text in expressions():
                found = await asked(http, url, "/api/v1/query", query=text.replace("$__rate_interval", "1m"))
                assert found["status"] == "success", (where, found)
            firing = await until(http, url, 'ALERTS{alertname="AssayAlertOpen",alertstate="firing"}')
            assert firing[0]["metric"]["severity"] == "critical"
            rules = await asked(http, url, "/api/v1/rules")
            health = {rule["name"]: rule["health"] for group in rules["data"]["groups"] for rule in group["rules"]}
            assert set(health.values()) == {"ok"}
        finally:
            running.terminate()
            await running.wait()

    play(scene, within_s=600)  # another program has to start, and to scrape twice
