"""Who a request comes from, for a server with a database: a program's key, a person's session, or nobody.

The database is asked for every request, so that revoking a key, ending a session or taking away a role takes effect at
once in every process. Keys in a file work beside those in the database.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, TypeVar
from urllib.parse import quote

from assay.errors import AssayError
from assay.schema import Permission
from assay.server.access.addresses import address_of, is_encrypted
from assay.server.access.cookies import CSRF_KEY, csrf_token, secret_of
from assay.server.access.key_file import KeyFile
from assay.server.access.passwords import Passwords
from assay.server.access.rate_limits import Buckets, retry_after
from assay.server.caller import LOCAL, Caller
from assay.server.gateway.asgi import Scope
from assay.server.gateway.targets import is_gateway
from assay.server.http.admission import NOBODY, Refusal, key_of, permissions_of_scopes, refuse_foreign
from assay.server.settings import ServerSettings, is_loopback
from assay.store.access import (
    SEEN_EVERY,
    ApiKey,
    Session,
    User,
    find_ended,
    find_key,
    find_session,
    has_people,
    note_seen,
    note_uses,
)
from assay.store.db import Store

SIGN_IN_PATHS: Final = frozenset(
    {"/v1/login", "/v1/setup", "/v1/reset", "/console/login", "/console/setup", "/console/reset"}
)
"""Paths for people who are not signed in yet; their caller is always `NOBODY`."""
USE_NOTED_EVERY: Final = timedelta(minutes=5)
"""The least time between two notes of when a key was used."""
MOST_REMEMBERED_USES: Final = 10_000
"""Keys whose last use a process remembers."""

T = TypeVar("T")
_log = logging.getLogger("assay.server")


class StoreAccess:
    """Access by keys and sessions in the database. Is an `assay.server.http.admission.Access`."""

    def __init__(self, store: Store, settings: ServerSettings, passwords: Passwords | None = None) -> None:
        """Access over a store; `passwords` makes the hashes."""
        self.store, self.settings = store, settings.access
        self.passwords = passwords or Passwords()
        self._key_file = KeyFile(settings.keys) if settings.keys is not None else None
        self._may_serve_local = settings.keys is None and is_loopback(settings.host)
        """Whether callers without credentials are served: on loopback without keys, until the first user or key."""
        self._is_sqlite = store.engine.dialect.name == "sqlite"
        access = settings.access
        self._key_limits = Buckets(access.key_rate, access.key_burst)
        self._people_limits = Buckets(access.user_rate, access.user_burst)
        self._stranger_limits = Buckets(access.stranger_rate, access.stranger_burst)
        self.sign_ins = Buckets(access.sign_in_rate, access.sign_in_burst)
        self._last_uses: dict[tuple[str, str], datetime] = {}
        self._lock = threading.Lock()

    async def caller(self, scope: Scope) -> Caller | Refusal:
        """The caller of a request, or why it is not let in.

        Raises:
            AssayError: the database or the file of keys cannot be read.
        """
        if scope["path"] in SIGN_IN_PATHS:
            return NOBODY
        address = address_of(scope, self.settings)
        key, secret = key_of(scope), secret_of(scope)
        if key is not None:
            return await self._caller_by_key(scope, key, address)
        if secret is not None:
            found = await self._caller_by_session(scope, secret, address)
            if found is not None:
                return found
        return await self._caller_without_credentials(scope, address)

    async def _read(self, work: Callable[[], T]) -> T:
        """The result of a read from the database, on a thread where it may block.

        A read from SQLite takes a quarter of a millisecond and never waits for a writer; handing it to a thread would
        take longer. A read from PostgreSQL may have to wait for the network.
        """
        return work() if self._is_sqlite else await asyncio.to_thread(work)

    async def _caller_by_key(self, scope: Scope, key: str, address: str) -> Caller | Refusal:
        # The key first: many clients share an address, and a valid key must not pay for the invalid ones of others.
        found = self._find_in_file(key) or await self._read(lambda: self._find_in_store(key))
        if found is None:
            if wait := self._stranger_limits.wait(address):
                return _too_many(wait, "this address sent too many keys that are not good")
            self._stranger_limits.take(address)
            former_key = await self._read(lambda: find_ended(self.store, key))
            message = "the API key is unknown, was revoked, or has ended"
            if former_key is None:
                return Refusal(401, message)
            former = Caller(former_key.name, frozenset(), former_key.tenant, "key", former_key.id)
            return Refusal(401, message, caller=former)
        if wait := self._key_limits.take(found.id):
            return _too_many(wait, "this API key was used too often", found)
        return _require_reachable(scope, found)

    def _find_in_file(self, key: str) -> Caller | None:
        found = None if self._key_file is None else self._key_file.find(key)
        if found is None:
            return None
        return Caller(found.name, permissions_of_scopes(found.scopes), kind="key", id=found.id)

    def _find_in_store(self, key: str) -> Caller | None:
        found = find_key(self.store, key)
        if found is None:
            return None
        self._note_use(found)
        return Caller(found.name, frozenset(found.permissions), found.tenant, kind="key", id=found.id)

    def _note_use(self, key: ApiKey) -> None:
        """Note a use every few minutes; a failure is logged and never fails the request."""
        now = self.store.now()
        name = (key.tenant, key.id)
        with self._lock:
            last = self._last_uses.get(name, key.used)
            if last is not None and now - last < USE_NOTED_EVERY:
                return
            if len(self._last_uses) >= MOST_REMEMBERED_USES:
                self._last_uses.clear()
            self._last_uses[name] = now
        try:
            note_uses(self.store, {name: now})
        except AssayError:
            _log.warning("it could not be noted when an API key was used")

    async def _caller_by_session(self, scope: Scope, secret: str, address: str) -> Caller | Refusal | None:
        found = await self._read(lambda: self._find_session(secret))
        if found is None:
            if wait := self._stranger_limits.wait(address):
                return _too_many(wait, "this address sent too many sessions that are not good")
            self._stranger_limits.take(address)
            return None
        session, user = found
        caller = caller_of_session(session, user)
        if wait := self._people_limits.take(user.id):
            return _too_many(wait, "you asked too often", caller)
        scope[CSRF_KEY] = csrf_token(secret)
        return _require_reachable(scope, caller)

    def _find_session(self, secret: str) -> tuple[Session, User] | None:
        found = find_session(self.store, secret, timedelta(minutes=self.settings.idle_minutes))
        if found is not None and self.store.now() - found[0].seen >= SEEN_EVERY:
            try:
                note_seen(self.store, found[0])
            except AssayError:
                _log.warning("it could not be noted when a session was used")
        return found

    async def _caller_without_credentials(self, scope: Scope, address: str) -> Caller | Refusal:
        path: str = scope["path"]
        if path == "/console/theme" or path.startswith("/console/static/"):
            return NOBODY
        if self._may_serve_local:
            if not await self._read(lambda: has_people(self.store)):
                return refuse_foreign(scope) or LOCAL
            self._may_serve_local = False  # There are users or keys now, and they are never all removed again.
        if wait := self._stranger_limits.wait(address):
            return _too_many(wait, "this address asked too often without a key or a session")
        if path.startswith("/console") and scope["method"] in ("GET", "HEAD"):
            query = scope.get("query_string", b"").decode("latin-1")
            back = quote(path + (f"?{query}" if query else ""), safe="")
            return Refusal(
                303, "sign in first", ((b"location", f"/console/login?next={back}".encode()),), "login.needed"
            )
        return Refusal(401, "expected an API key of this server in x-assay-key or as a bearer token, or a session")

    def encrypted(self, scope: Scope) -> bool:
        """Whether the client speaks https."""
        return is_encrypted(scope, self.settings)

    def address(self, scope: Scope) -> str:
        """The client's address for rate limits."""
        return address_of(scope, self.settings)


def caller_of_session(session: Session, user: User) -> Caller:
    """The user of a session as a caller."""
    return Caller(
        user.name or "", user.permissions, user.tenant, "user", user.id, user.roles, user.expertise, session.id
    )


def _require_reachable(scope: Scope, caller: Caller) -> Caller | Refusal:
    """The caller, or why the path is not for it: console pages need a person, gateway routes their permission."""
    if caller.kind == "key" and scope["path"].startswith("/console"):
        message = "expected a person; the console is not for keys, which have /v1"
        return Refusal(403, message, code="person.needed", caller=caller)
    if is_gateway(scope["path"]) and not caller.may(Permission.GATEWAY):
        message = f"expected a caller with the permission {Permission.GATEWAY.value!r}, and this one has it not"
        return Refusal(403, message, code="permission.missing", caller=caller)
    return caller


def _too_many(wait: float, reason: str, caller: Caller | None = None) -> Refusal:
    message = f"{reason}; try again in {wait:.0f} seconds"
    return Refusal(429, message, ((b"retry-after", retry_after(wait)),), caller=caller)
