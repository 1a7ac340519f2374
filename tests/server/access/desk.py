"""A server over a database with a clock of its own, and browsers and programs that ask it, without sockets."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from assay.schema.access import Permission, Role
from assay.server.access.authentication import StoreAccess
from assay.server.access.passwords import Passwords
from assay.server.access.settings import AccessSettings
from assay.server.app import Application, create_app
from assay.server.guards import Guards
from assay.server.settings import ServerSettings
from assay.store.access.api_keys import create_key
from assay.store.access.users import create_user
from assay.store.access.values import User
from assay.store.audit.entries import read_entry_data
from assay.store.audit.log import read_entries
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.testing import FakeScorer

PASSWORD = "correct horse battery"  # noqa: S105 of nobody
OTHER = "staple of a longer kind"
CHEAP = Passwords(passes=1, memory_kib=8)
BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class Clock:
    now: datetime = BEGIN

    def __call__(self) -> datetime:
        return self.now

    def wait(self, **span: float) -> None:
        self.now += timedelta(**span)


@dataclass
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The last word of a problem's type."""
        return str(self.json["type"].rpartition(":")[2])

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


@dataclass
class Client:
    """Who asks: a browser with its cookies, or a program with its key."""

    app: Application
    key: str | None = None
    address: str = "127.0.0.1"
    scheme: str = "http"
    host: str = "127.0.0.1:8080"
    cookies: dict[str, str] = field(default_factory=dict)
    csrf: str | None = None
    leaves_after: float | None = None
    """Seconds after which it closes the connection, where an answer has no end."""

    def ask(
        self, method: str, path: str, body: Any = None, form: Mapping[str, str] | None = None, **headers: str | None
    ) -> Answer:
        return asyncio.run(self.asked(method, path, body, form, **headers))

    async def asked(
        self, method: str, path: str, body: Any = None, form: Mapping[str, str] | None = None, **headers: str | None
    ) -> Answer:
        sent: dict[str, str | None] = {"host": self.host}
        content = b""
        if form is not None:
            content, sent["content-type"] = urlencode(form).encode(), "application/x-www-form-urlencoded"
        elif body is not None:
            content, sent["content-type"] = json.dumps(body).encode(), "application/json"
        if self.cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if self.key is not None:
            sent["x-assay-key"] = self.key
        if self.csrf is not None and form is None:
            sent["x-assay-csrf"] = self.csrf
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": self.scheme,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in sent.items() if value is not None],
            "client": (self.address, 50_000),
            "server": ("127.0.0.1", 8080),
            "state": {},
        }
        return self._kept(await _ask(self.app, scope, content, self.leaves_after))

    def _kept(self, answer: Answer) -> Answer:
        for name, value in answer.headers:
            if name == "set-cookie":
                for key, one in SimpleCookie(value).items():
                    if one["max-age"] == "0":
                        self.cookies.pop(key, None)
                    else:
                        self.cookies[key] = one.value
        return answer

    def sign_in(self, name: str, password: str = PASSWORD, tenant: str = "default") -> Answer:
        answer = self.ask("POST", "/v1/login", {"name": name, "password": password, "tenant": tenant})
        self.csrf = answer.json.get("csrf")
        return answer


async def _ask(app: Application, scope: dict[str, Any], content: bytes, leaves_after: float | None) -> Answer:
    told: dict[str, Any] = {"body": b""}
    given = False

    async def receive() -> dict[str, Any]:
        nonlocal given
        if given and leaves_after is None:
            await asyncio.Event().wait()
        if given:
            await asyncio.sleep(leaves_after or 0)
            return {"type": "http.disconnect"}
        given = True
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            told["status"] = message["status"]
            told["headers"] = [(name.decode(), value.decode("latin-1")) for name, value in message["headers"]]
        else:
            told["body"] += message.get("body", b"")

    await app(scope, receive, send)
    return Answer(told["status"], told["headers"], told["body"])


@dataclass
class Desk:
    """A server, its store and its clock."""

    store: Store
    clock: Clock
    access: StoreAccess
    app: Application

    def client(self, **more: Any) -> Client:
        return Client(self.app, **more)

    def user(self, name: str = "ada", *roles: Role, tenant: str = "default", password: str | None = PASSWORD) -> User:
        hashed = None if password is None else CHEAP.hash(password)
        return create_user(self.store, name, roles or (Role.ADMIN,), tenant=tenant, password=hashed)

    def signed_in(self, name: str = "ada", *roles: Role, tenant: str = "default") -> Client:
        self.user(name, *roles, tenant=tenant)
        client = self.client()
        assert client.sign_in(name, tenant=tenant).status == 200
        return client

    def with_key(self, *permissions: Permission, tenant: str = "default") -> Client:
        return self.client(key=create_key(self.store, "program", permissions, tenant=tenant)[0])

    def entries(self, tenant: str = "default") -> list[dict[str, Any]]:
        with self.store.reading(tenant) as connection:
            return [read_entry_data(data) for _, data in read_entries(connection, tenant)]

    def settle(self) -> None:
        """Waits until what was handed in before is stored."""
        self.store.apply(Change("default"))

    def acts(self, tenant: str = "default") -> list[str]:
        return [one["act"] for one in self.entries(tenant) if one["kind"] == "access"]


@contextmanager
def desk_over(
    url: str | Path, *, access: AccessSettings | None = None, passwords: Passwords = CHEAP, **settings: Any
) -> Iterator[Desk]:
    """A server over a database; without sockets, so that its clock alone tells the time."""
    clock = Clock()
    told = ServerSettings(database="given", access=access or AccessSettings(), **settings)
    with Store(str(url), clock=clock) as store:
        decides = StoreAccess(store, told, passwords)
        app = create_app(
            told,
            guards=lambda: Guards("general", scorer=FakeScorer(), environ={}),
            store=store,
            access=decides,
        )
        yield Desk(store, clock, decides, app)
