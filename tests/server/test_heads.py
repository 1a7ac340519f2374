"""HEAD answers as GET does, without a body: on pages, on REST routes, on streams and at the gateway."""

import asyncio
from pathlib import Path

import pytest
from tests.server.gateway_site import Site, play, site
from tests.server.upstream_script import json_answer
from tests.store.making import KEYS

from assay.store.db.store import Store

_OWN = {"date", "x-assay-overhead-ms", "x-assay-report-id", "x-assay-request-id"}
"""Headers that no two answers share."""


async def asked(here: Site, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
    async with here.http.request(method, here.url + path, allow_redirects=False) as response:
        heads = {name.lower(): value for name, value in response.headers.items()}
        return (
            response.status,
            {name: value for name, value in heads.items() if name not in _OWN},
            await response.read(),
        )


@pytest.mark.parametrize(
    "path",
    [
        "/console/runs",
        "/console/playground",
        "/console/nonesuch",
        "/console/static/0/console.css",
        "/v1/reports",
        "/v1/reports/nonesuch",
        "/openapi.json",
        "/healthz",
        "/readyz",
        "/v1/check",
        "/nonesuch",
    ],
)
def test_head_has_the_status_and_the_headers_of_get_and_no_body(path: str, tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store, keys=KEYS) as here:
                status, headers, body = await asked(here, "GET", path)
                assert body or status == 307
                assert await asked(here, "HEAD", path) == (status, headers, b"")
                # The connection is good for the next request: nothing of a body was left on it.
                assert (await asked(here, "GET", "/healthz"))[0] == 200

    play(scene)


def test_head_of_a_stream_that_never_ends_comes_back_at_once(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store, keys=KEYS) as here:
                answer = await asyncio.wait_for(asked(here, "HEAD", "/v1/reviews/events"), 20)
                assert (answer[0], answer[1]["content-type"].partition(";")[0], answer[2]) == (
                    200,
                    "text/event-stream",
                    b"",
                )
                while here.app._in_flight.total:
                    await asyncio.sleep(0.01)

    play(scene)


def test_head_of_the_models_asks_the_upstream_and_drops_what_it_says() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(json_answer({"object": "list", "data": []}))
            found = await asked(here, "GET", "/v1/models")
            assert await asked(here, "HEAD", "/v1/models") == (*found[:2], b"")
            assert [one.method for one in here.upstream.asked] == ["GET", "GET"]
            assert (await asked(here, "HEAD", "/v1/chat/completions"))[0] == 404

    play(scene)


def test_head_is_refused_where_get_is() -> None:
    async def scene() -> None:
        async with site() as here:
            for method in ("GET", "HEAD"):
                headers = {"host": "elsewhere.example.com"}
                async with here.http.request(method, f"{here.url}/v1/reports", headers=headers) as response:
                    assert response.status == 403

    play(scene)
