"""Who a request comes from, where there is a database: the key of a program, the session of a person, or nobody.

The database is asked for every request, so that a key that was revoked, a session that was ended and a role that was
taken away count at once in every process. Keys of a file go on beside those of the database.
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
from assay.server.http.admission import NOBODY, OF_SCOPE, Refusal, foreign, key_of
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

SIGNING_IN: Final = frozenset(
    {"/v1/login", "/v1/setup", "/v1/reset", "/console/login", "/console/setup", "/console/reset"}
)
"""Paths for who is not signed in yet; whoever asks for them is nobody."""
USED_EVERY: Final = timedelta(minutes=5)
"""How closely it is noted when a key was used."""
MOST_NOTED: Final = 10_000
"""Keys of whose use is remembered at once."""

T = TypeVar("T")
_log = logging.getLogger("assay.server")


class StoreAccess:
    """Access by keys and sessions in the database. Is an `assay.server.http.admission.Access`."""

    def __init__(self, store: Store, settings: ServerSettings, passwords: Passwords | None = None) -> None:
        """Access over a store; `passwords` makes the hashes."""
        self.store, self.settings = store, settings.access
        self.passwords = passwords or Passwords()
        self._file = KeyFile(settings.keys) if settings.keys is not None else None
        self._alone = settings.keys is None and is_loopback(settings.host)
        """Whether it may serve who comes without anything, as long as there is nobody."""
        self._embedded = store.engine.dialect.name == "sqlite"
        access = settings.access
        self._keys = Buckets(access.key_rate, access.key_burst)
        self._people = Buckets(access.user_rate, access.user_burst)
        self._strangers = Buckets(access.stranger_rate, access.stranger_burst)
        self.sign_ins = Buckets(access.sign_in_rate, access.sign_in_burst)
        self._used: dict[tuple[str, str], datetime] = {}
        self._lock = threading.Lock()

    async def caller(self, scope: Scope) -> Caller | Refusal:
        """The caller of a request, or why it is not let in.

        Raises:
            AssayError: the database or the file of keys cannot be read.
        """
        if scope["path"] in SIGNING_IN:
            return NOBODY
        address = address_of(scope, self.settings)
        key, secret = key_of(scope), secret_of(scope)
        if key is not None:
            return await self._of_key(scope, key, address)
        if secret is not None:
            found = await self._of_session(scope, secret, address)
            if found is not None:
                return found
        return await self._of_nobody(scope, address)

    async def _read(self, work: Callable[[], T]) -> T:
        """What a read of the database gives.

        One of SQLite takes a quarter of a millisecond and never waits for a writer, and handing it to a thread takes
        longer than that; one of PostgreSQL may have to wait for the network.
        """
        return work() if self._embedded else await asyncio.to_thread(work)

    async def _of_key(self, scope: Scope, key: str, address: str) -> Caller | Refusal:
        # The key first: many share an address, and one with a good key answers for nobody else's bad ones.
        found = self._in_file(key) or await self._read(lambda: self._in_store(key))
        if found is None:
            if wait := self._strangers.wait(address):
                return _too_many(wait, "this address sent too many keys that are not good")
            self._strangers.take(address)
            ended = await self._read(lambda: find_ended(self.store, key))
            said = "the API key is unknown, was revoked, or has ended"
            if ended is None:
                return Refusal(401, said)
            of = Caller(ended.name, frozenset(), ended.tenant, "key", ended.id)
            return Refusal(401, said, caller=of)
        if wait := self._keys.take(found.id):
            return _too_many(wait, "this API key was used too often", found)
        return _checked(scope, found)

    def _in_file(self, key: str) -> Caller | None:
        found = None if self._file is None else self._file.find(key)
        if found is None:
            return None
        permissions = frozenset().union(*(OF_SCOPE[name] for name in found.scopes if name in OF_SCOPE))
        return Caller(found.name, permissions, kind="key", id=found.id)

    def _in_store(self, key: str) -> Caller | None:
        found = find_key(self.store, key)
        if found is None:
            return None
        self._note_use(found)
        return Caller(found.name, frozenset(found.permissions), found.tenant, kind="key", id=found.id)

    def _note_use(self, key: ApiKey) -> None:
        """Notes a use every few minutes, and never makes a request wait or fail for it."""
        now = self.store.now()
        name = (key.tenant, key.id)
        with self._lock:
            last = self._used.get(name, key.used)
            if last is not None and now - last < USED_EVERY:
                return
            if len(self._used) >= MOST_NOTED:
                self._used.clear()
            self._used[name] = now
        try:
            note_uses(self.store, {name: now})
        except AssayError:
            _log.warning("it could not be noted when an API key was used")

    async def _of_session(self, scope: Scope, secret: str, address: str) -> Caller | Refusal | None:
        found = await self._read(lambda: self._session(secret))
        if found is None:
            if wait := self._strangers.wait(address):
                return _too_many(wait, "this address sent too many sessions that are not good")
            self._strangers.take(address)
            return None
        session, user = found
        caller = Caller(
            user.name or "", user.permissions, user.tenant, "user", user.id, user.roles, user.expertise, session.id
        )
        if wait := self._people.take(user.id):
            return _too_many(wait, "you asked too often", caller)
        scope[CSRF_KEY] = csrf_token(secret)
        return _checked(scope, caller)

    def _session(self, secret: str) -> tuple[Session, User] | None:
        found = find_session(self.store, secret, timedelta(minutes=self.settings.idle_minutes))
        if found is not None and self.store.now() - found[0].seen >= SEEN_EVERY:
            try:
                note_seen(self.store, found[0])
            except AssayError:
                _log.warning("it could not be noted when a session was used")
        return found

    async def _of_nobody(self, scope: Scope, address: str) -> Caller | Refusal:
        path: str = scope["path"]
        if path == "/console/theme" or path.startswith("/console/static/"):
            return NOBODY
        if self._alone:
            if not await self._read(lambda: has_people(self.store)):
                return foreign(scope) or LOCAL
            self._alone = False  # Whoever was made once stays known: nobody is let in without a key from now on.
        if wait := self._strangers.wait(address):
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
        """What limits of rate know the client by."""
        return address_of(scope, self.settings)


def _checked(scope: Scope, caller: Caller) -> Caller | Refusal:
    """Routes of the gateway know no permissions of their own, and pages are for people."""
    if caller.kind == "key" and scope["path"].startswith("/console"):
        said = "expected a person; the console is not for keys, which have /v1"
        return Refusal(403, said, code="person.needed", caller=caller)
    if is_gateway(scope["path"]) and not caller.may(Permission.GATEWAY):
        said = f"expected a caller with the permission {Permission.GATEWAY.value!r}, and this one has it not"
        return Refusal(403, said, code="permission.missing", caller=caller)
    return caller


def _too_many(wait: float, why: str, caller: Caller | None = None) -> Refusal:
    said = f"{why}; try again in {wait:.0f} seconds"
    return Refusal(429, said, ((b"retry-after", retry_after(wait)),), caller=caller)
