"""An application that workers are forked from: nothing of it belongs to two processes."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.server.app import Application, create_app
from assay.server.background import OWN, TURNS, Background
from assay.server.guards import Guards
from assay.server.services import Services
from assay.server.settings import ServerSettings
from assay.server.telemetry.telemetry import Telemetry
from assay.server.workers import warm
from assay.testing import FakeScorer


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Application]:
    database = str(tmp_path / "assay.db")
    app = create_app(
        ServerSettings(database=database),
        guards=lambda: Guards(scorer=FakeScorer(), environ={}, database=database),
        telemetry=Telemetry(),
    )
    yield app
    app.services.store.close()


def test_an_application_that_was_made_runs_no_thread_and_holds_no_connection(made: Application) -> None:
    made.before_fork()
    assert "assay-store" not in {thread.name for thread in threading.enumerate()}
    assert "Connections in pool: 0" in made.services.store.engine.pool.status()


def test_each_process_counts_what_passes_under_a_name_of_its_own(made: Application) -> None:
    made.before_fork()
    names = {made.services.passing.source}
    for _ in range(2):
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            made.after_fork(first=True)
            os.write(writer, made.services.passing.source.encode())
            os._exit(0)
        os.waitpid(pid, 0)
        names.add(os.read(reader, 100).decode())
        os.close(reader)
        os.close(writer)
    assert len(names) == 3


def test_warming_up_leaves_no_thread_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.policy import preset

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = set(threading.enumerate())
    scorer = FakeScorer()
    warm(preset("general"), scorer, with_store=True)
    assert set(threading.enumerate()) <= before
    assert list(tmp_path.iterdir()) == []


def test_warming_up_loads_the_conflict_network_though_no_sample_has_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.guard import Guard
    from assay.models.conflicts import network
    from assay.policy import preset

    loaded: dict[int, object] = {}
    monkeypatch.setattr(network, "_LOADED", loaded)
    monkeypatch.setattr(Guard, "check", lambda *_, **__: None)
    warm(preset("general"), FakeScorer(), with_store=False)
    assert len(loaded) == 1


@pytest.mark.parametrize("first", [True, False])
def test_of_several_workers_the_first_has_the_tasks_of_the_database(made: Application, *, first: bool) -> None:
    begun: list[str] = []

    def task(name: str) -> "Callable[[Services], Coroutine[Any, Any, None]]":
        async def run(_: Services) -> None:
            begun.append(name)
            await asyncio.Event().wait()

        return run

    async def scene() -> None:
        background = Background(made.services, {name: task(name) for name in OWN}, {name: task(name) for name in TURNS})
        if not first:
            background.leave_turns()
        background.start()
        await asyncio.sleep(0)
        await background.stop()

    asyncio.run(scene())
    assert begun == [*OWN, *TURNS] if first else begun == [*OWN]
