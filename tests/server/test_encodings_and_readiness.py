"""Bodies in UTF-8 alone, and a readiness that tells the truth about the database."""

import asyncio
import json
from pathlib import Path

import pytest
from sqlalchemy import event
from tests.server.gateway_site import play, site
from tests.server.test_api import BODY

from assay.store.db import store as module
from assay.store.db.store import Store


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
@pytest.mark.parametrize("path", ["/v1/check", "/v1/batch", "/v1/chat/completions", "/v1/messages", "/v1/responses"])
def test_a_body_in_another_encoding_is_refused_and_not_forwarded(encoding: str, path: str) -> None:
    async def scene() -> None:
        async with site() as here:
            data = json.dumps(BODY).encode(encoding)
            for said in (
                "application/json",
                f"application/json; charset={encoding}",
                "application/json; charset=utf-8",
            ):
                async with here.http.post(here.url + path, data=data, headers={"content-type": said}) as response:
                    assert response.status == 415
                    assert "UTF-8" in await response.text()
            assert here.upstream.asked == []

    play(scene)


def test_a_charset_that_is_not_utf_8_is_refused_whatever_the_bytes_are() -> None:
    async def scene() -> None:
        async with site() as here:
            for charset, status in (("utf-7", 415), ("latin-1", 415), ("UTF-8", 200), ('"utf-8"', 200)):
                headers = {"content-type": f"application/json; charset={charset}"}
                async with here.http.post(here.url + "/v1/check", data=json.dumps(BODY), headers=headers) as response:
                    assert response.status == status

    play(scene)


def test_a_full_disk_and_a_change_that_could_not_be_stored_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(str(tmp_path / "assay.db")) as store:
        assert store.trouble() is None
        monkeypatch.setattr(module, "LEAST_FREE", 1 << 62)
        assert "bytes left" in (store.trouble() or "")


def test_the_server_is_not_ready_while_its_database_cannot_store(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                async with here.http.get(here.url + "/readyz") as response:
                    assert response.status == 200
                assert (await here.post("/v1/check", BODY))[0] == 200

                @event.listens_for(store.engine, "begin")
                def fill(connection: object) -> None:
                    connection.exec_driver_sql("PRAGMA max_page_count=1")  # type: ignore[attr-defined]

                status, _, _ = await here.post("/v1/check", {**BODY, "answer": "x " * 200_000})
                assert status == 503
                await asyncio.sleep(1.1)
                async with here.http.get(here.url + "/readyz") as response:
                    assert (response.status, await response.json())[0] == 503

    play(scene)
