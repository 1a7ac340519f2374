"""A gateway over real sockets in front of a scripted upstream, with a scorer that a reader can follow."""

import asyncio
import io
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
import uvicorn
from tests.server.upstream_script import Upstream, serving_upstream

from assay.models.interface import PairScorer
from assay.server.app import Application, create_app
from assay.server.guards import Guards
from assay.server.settings import Limits, Mode, Route, ServerSettings
from assay.server.settings import Upstream as UpstreamSetting
from assay.testing import FakeScorer

QUICK = Limits(connect_s=2.0, idle_s=20.0, check_s=20.0, shutdown_s=5.0)


@dataclass
class Site:
    """A gateway, its upstream, and a client for raw requests."""

    url: str
    upstream: Upstream
    app: Application
    http: aiohttp.ClientSession
    server: uvicorn.Server

    async def post(self, path: str, body: Any, **headers: str) -> tuple[int, dict[str, str], bytes]:
        sent = {"data": io.BytesIO(body)} if isinstance(body, bytes) else {"json": body}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.http.post(self.url + path, headers=named, **sent) as response:
            return response.status, {k.lower(): v for k, v in response.headers.items()}, await response.read()


@asynccontextmanager
async def site(
    mode: Mode = Mode.ENFORCE,
    *,
    scorer: PairScorer | None = None,
    settings: Callable[[ServerSettings], ServerSettings] = lambda told: told,
    policy: str = "general",
    environ: Mapping[str, str] | None = None,
    **more: Any,
) -> AsyncIterator[Site]:
    """A gateway with every route in one mode."""
    async with serving_upstream() as upstream:
        routes = {name: Route(mode=mode) for name in ("chat_completions", "responses", "messages")}
        told = settings(ServerSettings(upstreams=(UpstreamSetting("main", upstream.url),), routes=routes, limits=QUICK))
        app = create_app(
            told, guards=lambda: Guards(policy, scorer=scorer or FakeScorer(), environ=environ or {}), **more
        )
        async with serving(app) as (url, server), aiohttp.ClientSession(auto_decompress=False) as http:
            yield Site(url, upstream, app, http, server)


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[tuple[str, uvicorn.Server]]:
    """An application on a port of its own."""
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=0,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="on",
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    task = asyncio.create_task(server._serve())
    while not server.started:
        if task.done():
            task.result()
        await asyncio.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}", server
    finally:
        server.should_exit = True
        await task


def limited(**limits: Any) -> Callable[[ServerSettings], ServerSettings]:
    return lambda told: replace(told, limits=replace(told.limits, **limits))


def play(scene: Callable[[], Coroutine[Any, Any, None]], within_s: float = 60) -> None:
    """Runs a scene, with a bound on its time that no honest run comes near."""
    asyncio.run(asyncio.wait_for(scene(), within_s))
