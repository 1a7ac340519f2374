"""Users in the database, and counts of failed sign-in attempts."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, and_, delete, exists, or_, select, update

from assay.errors import StoreError
from assay.schema import Role
from assay.store.access.tenants import ensure_tenant
from assay.store.access.values import (
    COMMAND,
    MalformedError,
    StaleError,
    TakenError,
    User,
    access_entry,
    digest_of,
    joined_roles,
    joined_words,
    login_name,
)
from assay.store.audit.binding import touch
from assay.store.audit.log import Entry
from assay.store.audit.units import SEAL, SESSION, USER
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, moment_at, moment_or_none
from assay.store.db.store import MOST_LISTED, Store
from assay.store.db.writer import Change
from assay.store.records.interface import DEFAULT_TENANT, new_id

FREE_TRIES: Final = 5
"""Attempts that may fail before a name has to wait."""
FIRST_WAIT: Final = timedelta(seconds=1)
"""The wait after the next failed attempt; it doubles with each further one."""
LONGEST_WAIT: Final = timedelta(minutes=15)
FORGOTTEN_AFTER: Final = timedelta(days=1)
"""Failed attempts are forgotten after this long without another one."""


def create_user(
    store: Store,
    name: str,
    roles: Collection[Role],
    *,
    tenant: str = DEFAULT_TENANT,
    password: str | None = None,
    expertise: Collection[str] = (),
    actor: str = COMMAND,
    first_only: bool = False,
) -> User:
    """Create a user.

    Args:
        store: the store.
        name: the name for signing in.
        roles: the user's roles, at least one.
        tenant: the tenant of the user.
        password: the hash of the password; without one the user has to set it with a token before signing in.
        expertise: fields that the user reviews.
        actor: who creates the user, for the log.
        first_only: refuse if the tenant already has a user, even one created at the same moment.

    Raises:
        TakenError: a user or a key has the name, or with `first_only` the tenant has a user already.
        StoreError: an argument is malformed, or the user cannot be stored.
    """
    if not roles:
        raise MalformedError(f"expected at least one role among {', '.join(Role)}; got none")
    now = store.now()
    row: dict[str, Any] = {
        "tenant": checked_tenant(tenant),
        "id": new_id(),
        "name": login_name(name),
        "password": password,
        "roles": joined_roles(roles),
        "expertise": joined_words(expertise),
        "created": micros(now),
        "disabled": None,
        "version": 1,
    }
    table = tables.users.c

    def act(connection: Connection) -> Sequence[Entry]:
        own = select(table.id).where(table.tenant == tenant)
        if connection.execute(own.where(table.name == row["name"])).first() is not None:
            raise TakenError("expected a new name, and there is a user of this name already")
        require_no_key(connection, tenant, row["name"], now)
        if first_only and connection.execute(own).first() is not None:
            raise TakenError("expected a tenant without users, and it has one already")
        ensure_tenant(connection, tenant, now)
        touch(connection, USER, [row["id"]])
        connection.execute(tables.users.insert().values(row))
        return [access_entry("user.create", actor, row["id"], now, roles=row["roles"].split())]

    store.apply(Change(tenant, act=act))
    return user_of(row)


def require_no_key(connection: Connection, tenant: str, name: str, now: datetime) -> None:
    """Makes sure that no valid key has the name of a new user.

    Raises:
        TakenError: one has it.
    """
    table = tables.api_keys.c
    holds = and_(table.revoked.is_(None), or_(table.expires.is_(None), table.expires > micros(now)))
    same = select(table.id).where(table.tenant == tenant, table.name == name, holds)
    if connection.execute(same).first() is not None:
        raise TakenError("expected a new name, and a key has this one; revoke the key, or choose another name")


def change_user(
    store: Store,
    id_: str,
    tenant: str,
    *,
    actor: str,
    version: int | None = None,
    roles: Collection[Role] | None = None,
    expertise: Collection[str] | None = None,
    disabled: bool | None = None,
) -> User | None:
    """Change a user's roles, expertise, or permission to sign in; effective from the next request on.

    Args:
        store: the store.
        id_: the id of the user.
        tenant: the tenant of the user.
        actor: who makes the change, for the log.
        version: the version that the change applies to; any by default.
        roles: the new roles.
        expertise: the new fields.
        disabled: whether the user may no longer sign in; the sessions of a disabled user end at once.

    Returns:
        The user after the change; None if the tenant has no such user.

    Raises:
        StaleError: the version does not match, the user was removed, or the tenant would be left without an
            administrator.
        StoreError: an argument is malformed, or the change cannot be stored.
    """
    now = store.now()
    changes: dict[str, Any] = {}
    if roles is not None:
        if not roles:
            raise MalformedError(f"expected at least one role among {', '.join(Role)}; got none")
        changes["roles"] = joined_roles(roles)
    if expertise is not None:
        changes["expertise"] = joined_words(expertise)
    if disabled is not None:
        changes["disabled"] = micros(now) if disabled else None
    changed: list[User] = []

    def act(connection: Connection) -> Sequence[Entry]:
        changed.clear()
        user = read_user(connection, tenant, id_)
        if user is None:
            return ()
        if version is not None and version != user.version:
            raise StaleError(f"expected the user in version {version}, and it has version {user.version} now")
        if user.name is None:
            raise StaleError("expected a user, and this one was forgotten")
        _update_user(connection, user, {**changes, "version": user.version + 1})
        _require_admin(connection, tenant, user)
        if disabled:
            end_sessions(connection, tenant, id_, now)
        changed.append(_require(read_user(connection, tenant, id_)))
        data: dict[str, Any] = {name: value for name, value in changes.items() if name != "expertise"}
        if "roles" in data:
            data["roles"] = data["roles"].split()
        if "disabled" in data:
            data["disabled"] = int(bool(disabled))
        return [access_entry("user.change", actor, id_, now, **data)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return changed[0] if changed else None


def forget_user(store: Store, id_: str, tenant: str, *, actor: str) -> bool:
    """Remove a user: name and password are deleted and the sessions end; the id stays, because the log refers to it.

    Returns:
        Whether there was such a user.

    Raises:
        StaleError: the tenant would be left without an administrator.
        StoreError: it cannot be stored.
    """
    now = store.now()
    done: list[str] = []

    def act(connection: Connection) -> Sequence[Entry]:
        done.clear()
        user = read_user(connection, tenant, id_)
        if user is None or user.name is None:
            return ()
        emptied = {"name": None, "password": None, "expertise": "", "disabled": micros(now)}
        _update_user(connection, user, {**emptied, "version": user.version + 1})
        _require_admin(connection, tenant, user)
        end_sessions(connection, tenant, id_, now)
        # Sketches of the outputs of this user's own checks are stored under the name.
        own = tables.sketches.c
        connection.execute(
            delete(tables.sketches).where(own.tenant == tenant, own.kind == "agent", own.name == user.name)
        )
        done.append(id_)
        return [access_entry("user.forget", actor, id_, now)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return bool(done)


def set_password(
    store: Store, id_: str, tenant: str, password: str, *, actor: str, keep: str | None = None, old: str | None = None
) -> None:
    """Store a new hash of a user's password, and end the user's sessions.

    Args:
        store: the store.
        id_: the id of the user.
        tenant: the tenant of the user.
        password: the new hash.
        actor: who changes it, for the log.
        keep: the id of a session that does not end: the one in which the password is changed.
        old: the hash to replace; if the stored hash is another, the change is refused.

    Raises:
        StaleError: there is no such user, or the password was changed meanwhile.
    """
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        user = read_user(connection, tenant, id_)
        if user is None or user.name is None or (old is not None and user.password != old):
            raise StaleError("expected a user with this password, and it has changed meanwhile")
        _update_user(connection, user, {"password": password, "version": user.version + 1})
        end_sessions(connection, tenant, id_, now, keep)
        return [access_entry("user.password", actor, id_, now)]

    store.apply(Change(checked_tenant(tenant), act=act))


def rehash_password(store: Store, user: User, password: str) -> None:
    """Store a hash of the same password with newer parameters; nothing happens if the password was changed
    meanwhile."""
    table = tables.users.c

    def act(connection: Connection) -> Sequence[Entry]:
        touch(connection, USER, [user.id])
        connection.execute(
            update(tables.users)
            .where(table.tenant == user.tenant, table.id == user.id, table.password == user.password)
            .values(password=password)
        )
        return ()

    store.apply(Change(user.tenant, act=act))


def _update_user(connection: Connection, user: User, changes: dict[str, Any]) -> None:
    table = tables.users.c
    touch(connection, USER, [user.id])
    connection.execute(update(tables.users).where(table.tenant == user.tenant, table.id == user.id).values(changes))


def _require_admin(connection: Connection, tenant: str, before: User) -> None:
    """Refuse to take away a tenant's last administrator: nobody else could appoint another."""
    if Role.ADMIN not in before.roles or before.disabled is not None:
        return
    table = tables.users.c
    rows = connection.execute(select(table.roles).where(table.tenant == tenant, table.disabled.is_(None))).scalars()
    if not any(Role.ADMIN.value in roles.split() for roles in rows):
        raise StaleError("expected another administrator before the last one goes; make one first")


def end_sessions(connection: Connection, tenant: str, user: str, now: datetime, keep: str | None = None) -> None:
    """End a user's sessions in a transaction: all, or all but `keep`."""
    table = tables.sessions.c
    which = (table.tenant == tenant) & (table.user == user) & table.revoked.is_(None) & (table.id != (keep or ""))
    touch(connection, SESSION, connection.execute(select(table.id).where(which)).scalars().all())
    connection.execute(update(tables.sessions).where(which).values(revoked=micros(now)))


# Reading


def read_user(connection: Connection, tenant: str, id_: str) -> User | None:
    """A user by the id; None if the tenant has no such user."""
    table = tables.users.c
    row = connection.execute(select(tables.users).where(table.tenant == tenant, table.id == id_)).one_or_none()
    return None if row is None else user_of(row._mapping)  # noqa: SLF001 SQLAlchemy's public name for it


def get_user(store: Store, id_: str, tenant: str) -> User | None:
    """A user by the id; None if the tenant has no such user."""
    with store.reading(checked_tenant(tenant)) as connection:
        return read_user(connection, tenant, id_)


def find_user(store: Store, name: str, tenant: str) -> User | None:
    """A user by the name; None if the tenant has no such user."""
    table = tables.users.c
    with store.reading(checked_tenant(tenant)) as connection:
        row = connection.execute(
            select(tables.users).where(table.tenant == tenant, table.name == login_name(name))
        ).one_or_none()
    return None if row is None else user_of(row._mapping)  # noqa: SLF001


def list_users(
    store: Store, tenant: str, *, after: str | None = None, limit: int = 100, forgotten: bool = False
) -> list[User]:
    """Users in the order in which they were created.

    Args:
        store: the store.
        tenant: whose users.
        after: the id of the last user on the previous page.
        limit: the most users, capped at `MOST_LISTED`.
        forgotten: include removed users.
    """
    table = tables.users.c
    query = select(tables.users).where(table.tenant == tenant).order_by(table.id)
    if after is not None:
        query = query.where(table.id > after)
    if not forgotten:
        query = query.where(table.name.is_not(None))
    with store.reading(checked_tenant(tenant)) as connection:
        rows = connection.execute(query.limit(max(0, min(limit, MOST_LISTED)))).all()
    return [user_of(row._mapping) for row in rows]  # noqa: SLF001


def has_people(store: Store) -> bool:
    """Whether any tenant has ever had a user or an API key: from then on nobody gets in without one."""
    with store.reading_across() as connection:
        return bool(connection.execute(_ANY_USER_OR_KEY).scalar_one())


_ANY_USER_OR_KEY: Final = select(or_(exists(select(tables.users.c.id)), exists(select(tables.api_keys.c.id))))


def user_of(row: Mapping[Any, Any], prefix: str = "") -> User:
    """A user from a row whose column names begin with a prefix."""
    value = {name: row[f"{prefix}{name}"] for name in _COLUMNS}
    return User(
        value["tenant"],
        value["id"],
        value["name"],
        tuple(Role(role) for role in value["roles"].split()),
        tuple(value["expertise"].split()),
        moment_at(value["created"]),
        moment_or_none(value["disabled"]),
        value["version"],
        value["password"],
    )


_COLUMNS: Final = tuple(column.name for column in tables.users.columns if column.name != SEAL)


def _require(user: User | None) -> User:
    if user is None:
        raise StoreError("expected the user that was just changed, and it is not there")
    return user


# Sign-in attempts


def tries_key(tenant: str, name: str) -> str:
    """The key under which failed attempts are counted: a digest, so that it reveals no name and not whether it
    exists."""
    return digest_of(f"{tenant}\x00{name.strip().casefold()}")


def waits_until(store: Store, key: str) -> datetime | None:
    """The moment until which attempts are refused; None if the next attempt is allowed."""
    table = tables.login_tries.c
    with store.reading(DEFAULT_TENANT) as connection:
        until = connection.execute(
            select(table.until).where(table.tenant == DEFAULT_TENANT, table.digest == key)
        ).scalar_one_or_none()
    now = store.now()
    return moment_at(until) if until is not None and until > micros(now) else None


def note_failure(store: Store, key: str) -> int:
    """Count a failed attempt. Attempts during a wait are not counted, so that nobody can be locked out for good.

    Returns:
        The number of failed attempts.
    """
    now = store.now()
    table = tables.login_tries.c
    counts: list[int] = []

    def act(connection: Connection) -> Sequence[Entry]:
        counts.clear()
        old = micros(now - FORGOTTEN_AFTER)
        connection.execute(delete(tables.login_tries).where(table.tenant == DEFAULT_TENANT, table.last < old))
        row = connection.execute(
            select(table.failed, table.until).where(table.tenant == DEFAULT_TENANT, table.digest == key)
        ).one_or_none()
        waiting = row is not None and row.until > micros(now)
        failed = (0 if row is None else int(row.failed)) + (0 if waiting else 1)
        until = int(row.until) if row is not None and waiting else micros(now + wait_after(failed))
        values = {"failed": failed, "last": micros(now), "until": until}
        where = (table.tenant == DEFAULT_TENANT, table.digest == key)
        if row is None:
            connection.execute(tables.login_tries.insert().values(tenant=DEFAULT_TENANT, digest=key, **values))
        else:
            connection.execute(update(tables.login_tries).where(*where).values(values))
        counts.append(failed)
        return ()

    store.apply(Change(DEFAULT_TENANT, act=act))
    return counts[0]


def wait_after(failed: int) -> timedelta:
    """How long a name has to wait after a number of failed attempts.

    >>> [int(wait_after(failed).total_seconds()) for failed in (5, 6, 7, 8, 30)]
    [0, 1, 2, 4, 900]
    """
    if failed <= FREE_TRIES:
        return timedelta(0)
    return min(LONGEST_WAIT, FIRST_WAIT * (1 << min(failed - FREE_TRIES - 1, 20)))


def forget_failures(connection: Connection, key: str) -> None:
    """Reset the count of failed attempts after a sign-in, in a transaction of `DEFAULT_TENANT`."""
    table = tables.login_tries.c
    connection.execute(delete(tables.login_tries).where(table.tenant == DEFAULT_TENANT, table.digest == key))
