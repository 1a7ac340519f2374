"""A real Chromium before a real server. `make test-browser` runs these; elsewhere they are skipped, and say why."""

import asyncio
import importlib
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.browser.daily import work
from tests.browser.demo import EVIDENCE, HOSTILE, fill, fill_hostile, open_store
from tests.browser.monitored import count, show_hostile, show_knowledge, show_monitor
from tests.store.making import KEYS

from assay.schema.access import Role
from assay.server.access.passwords import Passwords
from assay.server.app import create_app
from assay.server.guards import Guards
from assay.server.settings import ServerSettings
from assay.store.access.users import create_user
from assay.store.db.store import Store
from assay.testing import FakeScorer

PASSWORD = "correct horse battery 9"  # noqa: S105 of the people of the test
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
NAMES = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = os.environ.get("ASSAY_BROWSER") == "required"
AXE = Path(os.environ.get("ASSAY_AXE", ".venv/axe/node_modules/axe-core/axe.min.js"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips all of them unless they were asked for: a browser holds the event loop that other tests need."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and not REQUIRED:
            item.add_marker(pytest.mark.skip(reason="needs a browser: make test-browser"))


@dataclass
class Watched:
    """A page, and everything that it did that it should not have."""

    page: Any
    faults: list[str] = field(default_factory=list)


@dataclass
class Running:
    """A server and its store."""

    url: str
    store: Store


def _chromium() -> str:
    found = os.environ.get("ASSAY_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.fail("expected Chromium: install your distribution's package `chromium`, or name it in ASSAY_CHROMIUM")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, without a window."""
    made = importlib.import_module("playwright.sync_api")
    path = _chromium()
    with made.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with two weeks of work in it."""
    folder = tmp_path_factory.mktemp("demo")
    store, clock = open_store(folder)
    with store:
        scorer = Guards("general").get(None)._parts.scorer
        fill(store, clock, scorer, KEYS)
        show_knowledge(store, scorer, folder)
        show_monitor(store, clock.put, datetime.now(UTC))
        clock.at = None
        work(store, scorer, EVIDENCE)
        count(store)
        with serving(store, scorer) as url:
            yield Running(url, store)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with nothing but hostile content in it."""
    store, _ = open_store(tmp_path_factory.mktemp("hostile"))
    with store:
        fill_hostile(store, FakeScorer(), KEYS)
        work(store, FakeScorer(), EVIDENCE, " ".join(HOSTILE[:-1]))
        show_hostile(store, HOSTILE)
        with serving(store, FakeScorer()) as url:
            yield Running(url, store)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Running]:
    """A server with an empty store."""
    store, _ = open_store(tmp_path)
    with store, serving(store, FakeScorer()) as url:
        yield Running(url, store)


class serving:  # noqa: N801 it reads as a function
    """Runs a server on a thread of its own while a block lasts; people sign in to it."""

    def __init__(self, store: Store, scorer: Any, *, people: bool = True) -> None:
        self._store, self._scorer, self._people = store, scorer, people

    def __enter__(self) -> str:
        """The server's address."""
        if self._people:
            hashed = Passwords().hash(PASSWORD)
            for name, roles in (("ada", [Role.ADMIN]), ("rosa", [Role.REVIEWER]), ("olaf", [Role.REVIEWER])):
                create_user(self._store, name, roles, password=hashed)
        app = create_app(
            ServerSettings(),
            guards=lambda: Guards("general", scorer=self._scorer, environ={}),
            store=self._store,
            keys=KEYS,
        )
        settings = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="on")
        self._server = uvicorn.Server(settings)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._server.serve()), daemon=True)
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.05)
            assert self._thread.is_alive()
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(20)


@pytest.fixture(scope="session")
def signed_in() -> dict[tuple[str, str], Any]:
    """The cookies of those who signed in before, by server and name."""
    return {}


@pytest.fixture
def opened(browser: Any, signed_in: dict[tuple[str, str], Any]) -> Iterator[Any]:
    """Opens pages that are watched: `opened(running, name, width=…, theme=…)`."""
    contexts: list[Any] = []

    def open_(
        running: Running, name: str | None = "ada", *, width: int = 1440, theme: str = "light", **more: Any
    ) -> Watched:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,
            base_url=running.url,
            reduced_motion="reduce",
            **more,
        )
        context.set_default_timeout(60_000)
        contexts.append(context)
        if name is not None:
            known = signed_in.get((running.url, name))
            if known is None:
                page = context.new_page()
                sign_in(page, name)
                known = signed_in[running.url, name] = context.cookies()
                page.close()
            context.add_cookies(known)
        watched = Watched(context.new_page())
        watch(watched, running.url)
        return watched

    yield open_
    for context in contexts:
        context.close()


def sign_in(page: Any, name: str) -> None:
    """Signs in as one of the people."""
    page.goto("/console/login")
    page.fill("input[name=name]", name)
    page.fill("input[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/console")


def watch(watched: Watched, url: str) -> None:
    """Notes dialogs, errors of scripts, violations of the policy of content, and requests elsewhere."""
    page, faults = watched.page, watched.faults

    def dialog(shown: Any) -> None:
        faults.append(f"dialog: {shown.message}")
        shown.dismiss()

    def said(message: Any) -> None:
        if message.type in ("error", "warning"):
            faults.append(f"console: {message.text}")

    def asked(request: Any) -> None:
        if not request.url.startswith((f"{url}/", "data:", "blob:")) or "pwned" in request.url:
            faults.append(f"request: {request.url}")

    page.on("dialog", dialog)
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.on("console", said)
    page.on("request", asked)


@pytest.fixture(scope="session")
def axe() -> str:
    """The text of axe-core, which `make test-browser` fetches."""
    if not AXE.is_file():
        pytest.fail(f"expected axe-core at {AXE}: make test-browser fetches it")
    return AXE.read_text(encoding="utf-8")
