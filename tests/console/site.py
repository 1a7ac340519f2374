"""A console over a store of its own, without the rest of the server; a test chooses who its requests come from."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.testclient import TestClient

from assay.config import Guard
from assay.policy import preset
from assay.schema import Evidence
from assay.server.caller import LOCAL, SCOPE_KEY, Caller
from assay.server.checking import Checker
from assay.server.console.router import make_console_router
from assay.server.http.admission import KeyFileAccess
from assay.server.services import Services
from assay.server.settings import ServerSettings
from assay.store.db.store import Store
from assay.store.records.interface import CheckRecord
from assay.testing import FakeScorer

GUARD = Guard(preset("rag"), scorer=FakeScorer(), environ={})


class AsCaller:
    """Puts a caller into each request's scope, as the application does."""

    def __init__(self, app: Any, caller: Caller) -> None:
        self.app, self.caller = app, caller

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope[SCOPE_KEY] = self.caller
        await self.app(scope, receive, send)


def app_over(
    store: Store | None, caller: Caller = LOCAL, *, keys: Any = None, settings: ServerSettings | None = None
) -> Any:
    """The pages as an ASGI application."""
    checker = Checker(2, 16, 30.0)
    services = Services(settings or ServerSettings(), lambda _: GUARD, checker, KeyFileAccess(None), store, keys)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(make_console_router(services))
    return AsCaller(app, caller)


@contextmanager
def site(
    path: Path, caller: Caller = LOCAL, *, now: datetime | None = None, keys: Any = None
) -> Iterator[tuple[TestClient, Store]]:
    """A client of the console, and its store."""
    clock = None if now is None else (lambda: now)
    with Store(f"sqlite:///{path / 'console.db'}", clock=clock) as store:
        yield TestClient(app_over(store, caller, keys=keys), base_url="http://127.0.0.1", follow_redirects=False), store


def record(
    store: Store,
    answer: str,
    evidence: Mapping[str, str],
    question: str | None = None,
    *,
    tenant: str = "default",
    caller: str = "support-bot",
    **changes: Any,
) -> str:
    """A real check of an answer, recorded; its id."""
    given = tuple(Evidence(id=name, text=text, title=f"Title of {name}") for name, text in evidence.items())
    report = GUARD.check(answer, given, question=question)
    if changes:
        report = report.model_copy(update=changes)
    asked = {"answer": answer, "question": question}
    made = CheckRecord(report, json.loads(json.dumps(asked)), given, GUARD.policy, "check", caller, tenant)
    store.record(made)
    return made.id
