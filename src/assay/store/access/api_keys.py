"""API keys of programs. A key has the form `assay_<id>_<secret>`; only a digest of the secret is stored."""

import hmac
import secrets
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, select, update

from assay.schema import Permission
from assay.store.access.tenants import ensure_tenant
from assay.store.access.values import (
    COMMAND,
    ApiKey,
    MalformedError,
    StaleError,
    TakenError,
    access_entry,
    digest_of,
    new_secret,
    shown_name,
)
from assay.store.audit.binding import touch
from assay.store.audit.log import Entry
from assay.store.audit.units import KEY
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, moment_at, moment_or_none
from assay.store.db.store import MOST_LISTED, Store
from assay.store.db.writer import Act, Change
from assay.store.records.interface import DEFAULT_TENANT

PREFIX: Final = "assay_"
"""The beginning of every key."""
OVERLAP: Final = timedelta(hours=24)
"""How long a key stays valid after it was replaced."""


def create_key(
    store: Store,
    name: str,
    permissions: Collection[Permission],
    *,
    tenant: str = DEFAULT_TENANT,
    actor: str = COMMAND,
    lasts: timedelta | None = None,
) -> tuple[str, ApiKey]:
    """Create a key.

    Args:
        store: the store.
        name: its purpose, as people read it.
        permissions: what it permits; at least one.
        tenant: the tenant of the key.
        actor: who creates it, for the log.
        lasts: how long it is valid; by default until it is revoked.

    Returns:
        The key itself, which cannot be read again, and its stored form.

    Raises:
        TakenError: a user of the tenant has this name: callers see how what they sent was decided, by their names.
        StoreError: an argument is malformed, or the key cannot be stored.
    """
    key, row = _new_key(store, checked_tenant(tenant), name, permissions, actor, lasts)

    def act(connection: Connection) -> Sequence[Entry]:
        users = tables.users.c
        same = select(users.id).where(users.tenant == tenant, users.name == row["name"])
        if connection.execute(same).first() is not None:
            raise TakenError("expected a name that no user has, and a user has this one; name the key by its purpose")
        ensure_tenant(connection, tenant, moment_at(row["created"]))
        touch(connection, KEY, [row["id"]])
        connection.execute(tables.api_keys.insert().values(row))
        return [_key_entry("key.create", actor, row)]

    store.apply(Change(tenant, act=act))
    return key, _key(row)


def rotate_key(
    store: Store, id_: str, tenant: str, *, actor: str, overlap: timedelta = OVERLAP, lasts: timedelta | None = None
) -> tuple[str, ApiKey] | None:
    """Replace a key by a new one; the old key stays valid for a while.

    Args:
        store: the store.
        id_: the id of the key to replace.
        tenant: the tenant of the key.
        actor: who replaces it, for the log.
        overlap: how long the old key stays valid, though never beyond its own end.
        lasts: how long the new key is valid; by default as long as the old one was created for.

    Returns:
        The new key and its stored form; None if the tenant has no such key.

    Raises:
        StaleError: the key is no longer valid.
    """
    old = get_key(store, id_, tenant)
    if old is None:
        return None
    if lasts is None and old.expires is not None:
        lasts = old.expires - old.created
    key, row = _new_key(store, tenant, old.name, old.permissions, actor, lasts)
    now, table = moment_at(row["created"]), tables.api_keys.c

    def act(connection: Connection) -> Sequence[Entry]:
        current = _read(connection, tenant, id_)
        if current is None or not current.holds(now):
            raise StaleError("expected a key that is good, and this one has ended; make a new one")
        touch(connection, KEY, [id_, row["id"]])
        overlap_end = now + overlap
        ends = overlap_end if current.expires is None else min(overlap_end, current.expires)
        connection.execute(
            update(tables.api_keys).where(table.tenant == tenant, table.id == id_).values(expires=micros(ends))
        )
        connection.execute(tables.api_keys.insert().values(row))
        return [_key_entry("key.rotate", actor, row, replaces=id_)]

    store.apply(Change(tenant, act=act))
    return key, _key(row)


def revoke_key(store: Store, id_: str, tenant: str, *, actor: str) -> bool:
    """Revoke a key at once, for every process.

    Returns:
        Whether the tenant has such a key; a revoked one stays revoked.
    """
    now, table = store.now(), tables.api_keys.c
    done: list[str] = []

    def act(connection: Connection) -> Sequence[Entry]:
        done.clear()
        current = _read(connection, tenant, id_)
        if current is None:
            return ()
        done.append(id_)
        if current.revoked is not None:
            return ()
        touch(connection, KEY, [id_])
        connection.execute(
            update(tables.api_keys).where(table.tenant == tenant, table.id == id_).values(revoked=micros(now))
        )
        return [access_entry("key.revoke", actor, id_, now)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return bool(done)


_BY_ID: Final = select(tables.api_keys).where(tables.api_keys.c.id == bindparam("id"))


def find_key(store: Store, key: str) -> ApiKey | None:
    """The stored form of the key that a client sent; None if it is unknown, has expired or was revoked.

    The database is read each time, so that every process refuses a key from the moment it is revoked.
    """
    api_key = _find(store, key)
    return api_key if api_key is not None and api_key.holds(store.now()) else None


def find_ended(store: Store, key: str) -> ApiKey | None:
    """The stored form of a key that was valid once, so that its sender once held it; None if it is unknown or still
    valid."""
    api_key = _find(store, key)
    return None if api_key is None or api_key.holds(store.now()) else api_key


def _find(store: Store, key: str) -> ApiKey | None:
    id_, _, secret = key.removeprefix(PREFIX).partition("_")
    with store.reading_across() as connection:
        row = connection.execute(_BY_ID, {"id": id_}).one_or_none()
    api_key = None if row is None else _key_of(row)
    # The same work for an unknown key as for a known one, so that timing reveals nothing.
    matches = hmac.compare_digest(api_key.digest if api_key is not None else "0" * 64, digest_of(secret))
    return api_key if api_key is not None and matches else None


def note_uses(store: Store, uses: Mapping[tuple[str, str], datetime]) -> None:
    """Note when keys were last used, by tenant and id. Queued without waiting; not an entry of the log."""
    for tenant in sorted({tenant for tenant, _ in uses}):
        own = {id_: moment for (owner, id_), moment in uses.items() if owner == tenant}
        store.submit(Change(tenant, act=_uses_act(tenant, own)))


def _uses_act(tenant: str, uses: Mapping[str, datetime]) -> Act:
    table = tables.api_keys.c

    def act(connection: Connection) -> Sequence[Entry]:
        for id_, moment in uses.items():
            connection.execute(
                update(tables.api_keys).where(table.tenant == tenant, table.id == id_).values(used=micros(moment))
            )
        return ()

    return act


def get_key(store: Store, id_: str, tenant: str) -> ApiKey | None:
    """A key by its id; None if the tenant has no such key."""
    with store.reading(checked_tenant(tenant)) as connection:
        return _read(connection, tenant, id_)


def list_keys(store: Store, tenant: str, *, after: str | None = None, limit: int = 100) -> list[ApiKey]:
    """Keys, including expired and revoked ones, in the order of their ids, which is that of their creation.

    Args:
        store: the store.
        tenant: whose keys.
        after: the id of the last key on the previous page.
        limit: the most keys, capped at `MOST_LISTED`.
    """
    table = tables.api_keys.c
    query = select(tables.api_keys).where(table.tenant == tenant).order_by(table.id)
    if after is not None:
        query = query.where(table.id > after)
    with store.reading(checked_tenant(tenant)) as connection:
        return [_key_of(row) for row in connection.execute(query.limit(max(0, min(limit, MOST_LISTED))))]


def _new_key(
    store: Store, tenant: str, name: str, permissions: Collection[Permission], actor: str, lasts: timedelta | None
) -> tuple[str, dict[str, Any]]:
    if not permissions or (lasts is not None and lasts <= timedelta(0)):
        raise MalformedError(
            f"expected permissions among {', '.join(Permission)} and, where the key ends, a time above zero; "
            f"got {', '.join(sorted(permissions)) or 'no permission'}"
        )
    now, secret = store.now(), new_secret()
    # The time comes first, so that keys are listed in the order of their creation.
    id_ = f"{micros(now) // 1000:012x}{secrets.token_hex(6)}"
    row = {
        "tenant": tenant,
        "id": id_,
        "name": shown_name(name, "a key"),
        "digest": digest_of(secret),
        "permissions": " ".join(sorted(set(permissions))),
        "maker": actor,
        "created": micros(now),
        "expires": None if lasts is None else micros(now + lasts),
        "revoked": None,
        "used": None,
    }
    return f"{PREFIX}{id_}_{secret}", row


def _key_entry(act: str, actor: str, row: Mapping[str, Any], **more: str) -> Entry:
    return access_entry(
        act, actor, row["id"], moment_at(row["created"]), permissions=row["permissions"].split(), **more
    )


def _read(connection: Connection, tenant: str, id_: str) -> ApiKey | None:
    table = tables.api_keys.c
    row = connection.execute(select(tables.api_keys).where(table.tenant == tenant, table.id == id_)).one_or_none()
    return None if row is None else _key_of(row)


def _key_of(row: Row[Any]) -> ApiKey:
    return _key(dict(row._mapping))  # noqa: SLF001 SQLAlchemy's public name for it


def _key(row: Mapping[str, Any]) -> ApiKey:
    return ApiKey(
        row["tenant"],
        row["id"],
        row["name"],
        tuple(Permission(word) for word in row["permissions"].split()),
        row["maker"],
        moment_at(row["created"]),
        moment_or_none(row["expires"]),
        moment_or_none(row["revoked"]),
        moment_or_none(row["used"]),
        row["digest"],
    )
