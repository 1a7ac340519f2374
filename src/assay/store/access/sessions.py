"""Console sessions and single-use tokens: stored by digest, revoked at once."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import LABEL_STYLE_TABLENAME_PLUS_COL, Connection, and_, bindparam, delete, select, update

from assay.errors import StoreError
from assay.schema import Role
from assay.store.access.tenants import ensure_tenant
from assay.store.access.users import end_sessions, forget_failures, read_user, require_no_key, user_of
from assay.store.access.values import (
    COMMAND,
    Session,
    StaleError,
    User,
    access_entry,
    digest_of,
    joined_roles,
    login_name,
    new_secret,
)
from assay.store.audit.binding import touch
from assay.store.audit.log import Entry
from assay.store.audit.units import SESSION, TOKEN, USER
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, moment_at, moment_or_none
from assay.store.db.store import MOST_LISTED, Store
from assay.store.db.writer import Change
from assay.store.records.interface import DEFAULT_TENANT, new_id

SEEN_EVERY: Final = timedelta(minutes=1)
"""How precisely the last use of a session is noted."""
KEPT_AFTER: Final = timedelta(days=30)
"""How long a session stays stored after its end."""
SETUP: Final = "setup"
"""The kind of a token that creates the first administrator of a tenant."""
RESET: Final = "reset"
"""The kind of a token that resets a user's password."""


def open_session(store: Store, user: User, lasts: timedelta, *, tries: str | None = None) -> tuple[str, Session]:
    """Open a session.

    Args:
        store: the store.
        user: the user who signed in.
        lasts: how long the session lasts at most.
        tries: the key under which failed attempts are counted (`tries_key`); the count is reset.

    Returns:
        The secret of the session, which is not stored, and the session.

    Raises:
        StaleError: the user may no longer sign in, or the password has been changed.
    """
    secret, now = new_secret(), store.now()
    session = Session(user.tenant, new_id(), user.id, now, now, now + lasts, None)
    table = tables.sessions.c

    def act(connection: Connection) -> Sequence[Entry]:
        # The password may have been changed, or the user disabled, while the password was being verified.
        current = read_user(connection, user.tenant, user.id)
        if current is None or current.disabled is not None or current.password != user.password:
            raise StaleError("expected a user who may sign in, and that has changed meanwhile")
        old = micros(now - KEPT_AFTER)
        ended = (table.tenant == user.tenant) & (table.ends < old)
        touch(connection, SESSION, [session.id, *connection.execute(select(table.id).where(ended)).scalars()])
        connection.execute(delete(tables.sessions).where(ended))
        connection.execute(
            tables.sessions.insert().values(
                tenant=user.tenant,
                id=session.id,
                digest=digest_of(secret),
                user=user.id,
                created=micros(now),
                seen=micros(now),
                ends=micros(session.ends),
                revoked=None,
            )
        )
        return [access_entry("session.open", user.id, session.id, now)]

    store.apply(Change(checked_tenant(user.tenant), act=act))
    if tries is not None:
        key = tries
        store.apply(Change(DEFAULT_TENANT, act=lambda connection: _reset_failures(connection, key)))
    return secret, session


def _reset_failures(connection: Connection, key: str) -> Sequence[Entry]:
    forget_failures(connection, key)
    return ()


def find_session(store: Store, secret: str, idle: timedelta) -> tuple[Session, User] | None:
    """The session of a secret and its user; None if the session is not valid now.

    Args:
        store: the store.
        secret: the secret in the cookie.
        idle: how long a session may go unused.
    """
    now = store.now()
    with store.reading_across() as connection:
        row = connection.execute(_WITH_USER, {"digest": digest_of(secret)}).mappings().one_or_none()
    if row is None or row["sessions_revoked"] is not None or micros(now) >= row["sessions_ends"]:
        return None
    session, user = _session_of(row, "sessions_"), user_of(row, "users_")
    if now - session.seen > idle + SEEN_EVERY or user.disabled is not None or user.name is None:
        return None
    return session, user


_WITH_USER: Final = (
    select(tables.sessions, tables.users)
    .join(
        tables.users,
        and_(tables.users.c.tenant == tables.sessions.c.tenant, tables.users.c.id == tables.sessions.c.user),
    )
    .where(tables.sessions.c.digest == bindparam("digest"))
    .set_label_style(LABEL_STYLE_TABLENAME_PLUS_COL)
)


def note_seen(store: Store, session: Session) -> None:
    """Note that a session is in use. Queued without waiting; not an entry of the log."""
    now = store.now()
    table = tables.sessions.c

    def act(connection: Connection) -> Sequence[Entry]:
        connection.execute(
            update(tables.sessions)
            .where(table.tenant == session.tenant, table.id == session.id, table.seen < micros(now))
            .values(seen=micros(now))
        )
        return ()

    store.submit(Change(session.tenant, act=act))


def end_session(store: Store, id_: str, tenant: str, *, actor: str, user: str | None = None) -> bool:
    """Revoke a session at once.

    Args:
        store: the store.
        id_: the id of the session.
        tenant: the tenant of the session.
        actor: who revokes it, for the log.
        user: the user that the session must belong to; any user by default.

    Returns:
        Whether there was such a session; a revoked one stays revoked.
    """
    now = store.now()
    done: list[str] = []
    table = tables.sessions.c

    def act(connection: Connection) -> Sequence[Entry]:
        done.clear()
        row = connection.execute(
            select(table.user, table.revoked).where(table.tenant == tenant, table.id == id_)
        ).one_or_none()
        if row is None or (user is not None and row.user != user):
            return ()
        done.append(id_)
        if row.revoked is not None:
            return ()
        touch(connection, SESSION, [id_])
        connection.execute(
            update(tables.sessions).where(table.tenant == tenant, table.id == id_).values(revoked=micros(now))
        )
        return [access_entry("session.end", actor, id_, now)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return bool(done)


def list_sessions(
    store: Store, tenant: str, *, user: str | None = None, after: str | None = None, limit: int = 100
) -> list[Session]:
    """Sessions that have not ended, in the order in which they were opened.

    Args:
        store: the store.
        tenant: whose sessions.
        user: only sessions of this user.
        after: the id of the last session on the previous page.
        limit: the most sessions, capped at `MOST_LISTED`.
    """
    table = tables.sessions.c
    query = (
        select(tables.sessions)
        .where(table.tenant == tenant, table.revoked.is_(None), table.ends > micros(store.now()))
        .order_by(table.id)
        .limit(max(0, min(limit, MOST_LISTED)))
    )
    if user is not None:
        query = query.where(table.user == user)
    if after is not None:
        query = query.where(table.id > after)
    with store.reading(checked_tenant(tenant)) as connection:
        return [_session_of(row) for row in connection.execute(query).mappings()]


def _session_of(row: Mapping[Any, Any], prefix: str = "") -> Session:
    def value(name: str) -> Any:
        return row[f"{prefix}{name}"]

    return Session(
        value("tenant"),
        value("id"),
        value("user"),
        moment_at(value("created")),
        moment_at(value("seen")),
        moment_at(value("ends")),
        moment_or_none(value("revoked")),
    )


# Single-use tokens


def make_token(
    store: Store,
    kind: str,
    lasts: timedelta,
    *,
    tenant: str = DEFAULT_TENANT,
    user: str | None = None,
    actor: str = COMMAND,
) -> tuple[str, datetime]:
    """Create a single-use token; earlier tokens of the same kind and user end.

    Returns:
        The token, which is not stored, and when it expires.

    Raises:
        StaleError: the tenant has no such user.
    """
    secret, now = new_secret(), store.now()
    table = tables.access_tokens.c

    def act(connection: Connection) -> Sequence[Entry]:
        if user is not None:
            token_user = read_user(connection, tenant, user)
            if token_user is None or token_user.name is None:
                raise StaleError("expected a user of the tenant, and there is none such")
        same_user = table.user.is_(None) if user is None else table.user == user
        older = (table.tenant == tenant) & (table.kind == kind) & same_user
        replaced = connection.execute(select(table.digest).where(older)).scalars()
        touch(connection, TOKEN, [digest_of(secret), *replaced])
        connection.execute(delete(tables.access_tokens).where(older))
        connection.execute(
            tables.access_tokens.insert().values(
                tenant=tenant,
                digest=digest_of(secret),
                kind=kind,
                user=user,
                created=micros(now),
                ends=micros(now + lasts),
                used=None,
            )
        )
        return [access_entry(f"token.{kind}", actor, user or tenant, now)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return secret, now + lasts


def find_token(store: Store, secret: str, kind: str) -> tuple[str, str | None] | None:
    """The tenant and the user of a token that is valid now; whether it may still be used is decided when it is used."""
    table = tables.access_tokens.c
    with store.reading_across() as connection:
        row = connection.execute(
            select(tables.access_tokens).where(table.digest == digest_of(secret), table.kind == kind)
        ).one_or_none()
    if row is None or row.used is not None or row.ends <= micros(store.now()):
        return None
    return row.tenant, row.user


def reset_with_token(store: Store, secret: str, password: str) -> bool:
    """Reset the password of a token's user, and end the user's sessions. The token is used up.

    Args:
        store: the store.
        secret: the token.
        password: the hash of the new password.

    Returns:
        Whether the token was valid.
    """
    token = find_token(store, secret, RESET)
    if token is None or token[1] is None:
        return False
    (tenant, user), now = token, store.now()
    done: list[bool] = []

    def act(connection: Connection) -> Sequence[Entry]:
        done.clear()
        current = read_user(connection, tenant, str(user))
        if current is None or current.name is None or not _use(connection, tenant, secret, RESET, now):
            return ()
        done.append(True)
        table = tables.users.c
        touch(connection, USER, [current.id])
        connection.execute(
            update(tables.users)
            .where(table.tenant == tenant, table.id == user)
            .values(password=password, version=current.version + 1)
        )
        end_sessions(connection, tenant, current.id, now)
        return [access_entry("user.reset", current.id, current.id, now)]

    store.apply(Change(tenant, act=act))
    return bool(done)


def setup_with_token(store: Store, secret: str, name: str, password: str) -> str | None:
    """Create the first administrator of the token's tenant. The token is used up.

    Args:
        store: the store.
        secret: the token.
        name: the user's name.
        password: the hash of the user's password.

    Returns:
        The id of the user; None if the token was not valid, or the tenant has users already.

    Raises:
        TakenError: a key of the tenant has the name; the token stays valid.
        StoreError: the name is malformed.
    """
    token = find_token(store, secret, SETUP)
    if token is None:
        return None
    tenant, now = token[0], store.now()
    id_, login = new_id(), login_name(name)
    done: list[str] = []
    table = tables.users.c

    def act(connection: Connection) -> Sequence[Entry]:
        done.clear()
        existing = connection.execute(select(table.id).where(table.tenant == tenant)).first()
        if existing is not None or not _use(connection, tenant, secret, SETUP, now):
            return ()
        require_no_key(connection, tenant, login, now)
        done.append(id_)
        ensure_tenant(connection, tenant, now)
        touch(connection, USER, [id_])
        connection.execute(
            tables.users.insert().values(
                tenant=tenant,
                id=id_,
                name=login,
                password=password,
                roles=joined_roles([Role.ADMIN]),
                expertise="",
                created=micros(now),
                disabled=None,
                version=1,
            )
        )
        return [access_entry("user.create", "setup", id_, now, roles=[Role.ADMIN.value])]

    store.apply(Change(tenant, act=act))
    return id_ if done else None


def _use(connection: Connection, tenant: str, secret: str, kind: str, now: datetime) -> bool:
    """Use up a token, in the transaction that it permits; whether it was still valid."""
    table = tables.access_tokens.c
    touch(connection, TOKEN, [digest_of(secret)])
    used = connection.execute(
        update(tables.access_tokens)
        .where(
            table.tenant == tenant,
            table.digest == digest_of(secret),
            table.kind == kind,
            table.used.is_(None),
            table.ends > micros(now),
        )
        .values(used=micros(now))
    )
    if used.rowcount not in (0, 1):
        raise StoreError("expected one token, and there are several")
    return used.rowcount == 1
