"""API keys of programs in the database: a key reads `assay_<id>_<secret>`, and only a digest of the secret is kept."""

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
    access_entry,
    digest_of,
    new_secret,
    shown_name,
)
from assay.store.audit.binding import touch
from assay.store.audit.log import Entry
from assay.store.audit.units import KEY
from assay.store.db import tables
from assay.store.db.store import MOST_LISTED, Store
from assay.store.db.writer import Change
from assay.store.records.interface import DEFAULT_TENANT
from assay.store.records.recording import checked_tenant, micros, moment_at

PREFIX: Final = "assay_"
"""What every key of ours begins with."""
OVERLAP: Final = timedelta(hours=24)
"""For how long a key stays good beside the one that replaces it."""


def create_key(
    store: Store,
    name: str,
    permissions: Collection[Permission],
    *,
    tenant: str = DEFAULT_TENANT,
    actor: str = COMMAND,
    lasts: timedelta | None = None,
) -> tuple[str, ApiKey]:
    """Make a key.

    Args:
        store: the store.
        name: what it is for.
        permissions: what it is good for; at least one.
        tenant: whose.
        actor: who makes it.
        lasts: how long it is good; until it is revoked by default.

    Returns:
        The key itself, which is never seen again, and what is kept of it.

    Raises:
        StoreError: something given is malformed, or it cannot be stored.
    """
    key, row = _new(store, checked_tenant(tenant), name, permissions, actor, lasts)

    def act(connection: Connection) -> Sequence[Entry]:
        ensure_tenant(connection, tenant, moment_at(row["created"]))
        touch(connection, KEY, [row["id"]])
        connection.execute(tables.api_keys.insert().values(row))
        return [_key_entry("key.create", actor, row)]

    store.apply(Change(tenant, act=act))
    return key, _key(row)


def rotate_key(
    store: Store, id_: str, tenant: str, *, actor: str, overlap: timedelta = OVERLAP, lasts: timedelta | None = None
) -> tuple[str, ApiKey] | None:
    """Make a key in place of one, which stays good for a while.

    Args:
        store: the store.
        id_: the key to replace.
        tenant: whose.
        actor: who does it.
        overlap: for how long the old one stays good; no longer than it would have been.
        lasts: how long the new one is good; as long as the old one was made for by default.

    Returns:
        The new key and what is kept of it; none where the tenant has no such key.

    Raises:
        StaleError: the key is not good any more.
    """
    old = get_key(store, id_, tenant)
    if old is None:
        return None
    if lasts is None and old.expires is not None:
        lasts = old.expires - old.created
    key, row = _new(store, tenant, old.name, old.permissions, actor, lasts)
    now, table = moment_at(row["created"]), tables.api_keys.c

    def act(connection: Connection) -> Sequence[Entry]:
        current = _read(connection, tenant, id_)
        if current is None or not current.holds(now):
            raise StaleError("expected a key that is good, and this one has ended; make a new one")
        touch(connection, KEY, [id_, row["id"]])
        end = now + overlap
        ends = end if current.expires is None else min(end, current.expires)
        connection.execute(
            update(tables.api_keys).where(table.tenant == tenant, table.id == id_).values(expires=micros(ends))
        )
        connection.execute(tables.api_keys.insert().values(row))
        return [_key_entry("key.rotate", actor, row, replaces=id_)]

    store.apply(Change(tenant, act=act))
    return key, _key(row)


def revoke_key(store: Store, id_: str, tenant: str, *, actor: str) -> bool:
    """End a key at once, in every process.

    Returns:
        Whether the tenant has such a key; one that was revoked stays so.
    """
    now, table = store.now(), tables.api_keys.c
    done: list[str] = []

    def act(connection: Connection) -> Sequence[Entry]:
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
    """What is kept of a key as a client sent it; none where it is unknown, has ended or was revoked.

    The database is asked each time, so that a key that was revoked is refused from then on by every process.
    """
    found = _find(store, key)
    return found if found is not None and found.holds(store.now()) else None


def find_ended(store: Store, key: str) -> ApiKey | None:
    """What is kept of a key that was good once: whoever sends it had it. None where it is unknown or still good."""
    found = _find(store, key)
    return None if found is None or found.holds(store.now()) else found


def _find(store: Store, key: str) -> ApiKey | None:
    id_, _, secret = key.removeprefix(PREFIX).partition("_")
    with store.reading_across() as connection:
        row = connection.execute(_BY_ID, {"id": id_}).one_or_none()
    found = None if row is None else _key_of(row)
    # As much work for a key that is unknown as for one that is known.
    same = hmac.compare_digest(found.digest if found is not None else "0" * 64, digest_of(secret))
    return found if found is not None and same else None


def note_uses(store: Store, uses: Mapping[tuple[str, str], datetime]) -> None:
    """Note when keys were used last, by tenant and id. Handed in, not waited for; the log does not tell of it."""
    for tenant in sorted({tenant for tenant, _ in uses}):
        own = {id_: moment for (of, id_), moment in uses.items() if of == tenant}
        store.submit(Change(tenant, act=_noting(tenant, own)))


def _noting(tenant: str, uses: Mapping[str, datetime]) -> Any:
    table = tables.api_keys.c

    def act(connection: Connection) -> Sequence[Entry]:
        for id_, moment in uses.items():
            connection.execute(
                update(tables.api_keys).where(table.tenant == tenant, table.id == id_).values(used=micros(moment))
            )
        return ()

    return act


def get_key(store: Store, id_: str, tenant: str) -> ApiKey | None:
    """A key by its id, or none that the tenant has."""
    with store.reading(checked_tenant(tenant)) as connection:
        return _read(connection, tenant, id_)


def list_keys(store: Store, tenant: str, *, after: str | None = None, limit: int = 100) -> list[ApiKey]:
    """Keys, those that have ended too, in the order of their ids, which is the one in which they were made.

    Args:
        store: the store.
        tenant: whose.
        after: the id of the last one of the page before.
        limit: at most so many, and `MOST_LISTED`.
    """
    table = tables.api_keys.c
    query = select(tables.api_keys).where(table.tenant == tenant).order_by(table.id)
    if after is not None:
        query = query.where(table.id > after)
    with store.reading(checked_tenant(tenant)) as connection:
        return [_key_of(row) for row in connection.execute(query.limit(max(0, min(limit, MOST_LISTED))))]


def _new(
    store: Store, tenant: str, name: str, permissions: Collection[Permission], actor: str, lasts: timedelta | None
) -> tuple[str, dict[str, Any]]:
    if not permissions or (lasts is not None and lasts <= timedelta(0)):
        raise MalformedError(
            f"expected permissions among {', '.join(Permission)} and, where the key ends, a time above zero; "
            f"got {', '.join(sorted(permissions)) or 'no permission'}"
        )
    now, secret = store.now(), new_secret()
    # The time first, so that keys are listed in the order in which they were made.
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
    def moment(name: str) -> datetime | None:
        return None if row[name] is None else moment_at(row[name])

    return ApiKey(
        row["tenant"],
        row["id"],
        row["name"],
        tuple(Permission(one) for one in row["permissions"].split()),
        row["maker"],
        moment_at(row["created"]),
        moment("expires"),
        moment("revoked"),
        moment("used"),
        row["digest"],
    )
