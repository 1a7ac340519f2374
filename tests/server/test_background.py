"""The tasks of a server end without losing what went wrong."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from assay.server.app import create_app
from assay.server.background import Background
from assay.server.services import Services
from assay.server.settings import ServerSettings


def test_what_a_task_could_not_finish_at_the_stop_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def fails_at_the_stop(_: Services) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("the last signature could not be written")

    async def scene() -> None:
        app = create_app(ServerSettings(database=str(tmp_path / "assay.db")))
        tasks = Background(replace(app.services), own={"checkpoints": fails_at_the_stop}, turns={})
        tasks.start()
        await asyncio.sleep(0)
        await tasks.stop()

    asyncio.run(scene())
    assert "the last signature could not be written" in caplog.text
