"""Requests that a caller sent under a key, so that one that is sent again is answered with what was recorded.

A request has a row for each check in it. A row is claimed by whoever makes the check, for a time; the transaction that
records the check notes its record in the row, and fails where somebody else has taken the row over meanwhile. So a
check is recorded once under one key, whichever of all processes dies or stalls in between, and whatever their clocks
say.

A row holds no text: the key and the request stand in it as digests, and the digest of the request goes with an erasure
of what it led to. The audit log knows nothing of rows. What a repeated request is answered with is the record, which
the log binds, and which is held against the request (`recorded_report`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, func, null, select, update
from sqlalchemy.exc import SQLAlchemyError

from assay.errors import StoreError
from assay.schema import Evidence, HallucinationReport
from assay.store.audit.entries import asked_bytes, evidence_content, evidence_digest
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.engine import writing
from assay.store.db.migrate import reason
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.row_security import set_acting_tenant
from assay.store.db.store import Store
from assay.store.db.writer import Act
from assay.store.records.recording import checked_tenant, micros

SETTLED: Final = 0
"""`until` of a row in whose check nothing is left to do."""
GIVEN_UP: Final = 1
"""`until` of a row that its holder has let go of."""
ERASED: Final = ""
"""`fingerprint` of a row whose record was erased."""


@dataclass(frozen=True, slots=True)
class RequestKey:
    """One request under the key that its caller gave it."""

    tenant: str
    caller: str
    """Who sent it: a name that no other caller of the tenant has."""
    key: str
    """A digest of what the caller calls it."""
    fingerprint: str
    """A digest of what it asks for."""
    checks: int
    """How many checks are in it."""


class Claiming(Enum):
    """What came of claiming a request."""

    CLAIMED = "claimed"
    IN_FLIGHT = "in flight"
    """Somebody is at it, or was a moment ago."""
    OTHER = "another request"
    """The key was given to another request."""
    GONE = "erased"
    """What it led to was erased."""
    NO_ROOM = "no room"
    """The key is new, and no new one may be added."""


@dataclass(frozen=True, slots=True)
class Check:
    """What is known of one check of a claimed request."""

    run: str | None = None
    """Its record; none where it is to be made."""
    receipt: str | None = None
    """The receipt of the record, where one was issued."""
    settled: bool = False
    """Nothing is left to do: no receipt is to be issued for the record any more."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """The outcome of a claim."""

    outcome: Claiming
    checks: tuple[Check, ...] = ()
    """In their order; none unless it was claimed."""


def claim_request(
    store: Store, asked: RequestKey, holder: str, seconds: float, kept_s: float, *, adds: bool = True
) -> Claimed:
    """Claim what is left to do of a request.

    Args:
        store: the store.
        asked: the request.
        holder: who claims it: a name that no other claim has.
        seconds: for how long it is theirs.
        kept_s: how long a key is kept, in seconds from its first use on.
        adds: whether a key that is new may be added.

    Raises:
        StoreError: the database cannot be written.
    """
    now = store.now()
    at, until = micros(now), micros(now + timedelta(seconds=seconds))
    table = tables.idempotency_keys
    here = (table.c.tenant == checked_tenant(asked.tenant), table.c.caller == asked.caller, table.c.key == asked.key)
    rows = select(table).where(*here).order_by(table.c.position).with_for_update()
    try:
        with writing(store.engine).begin() as connection:
            set_acting_tenant(connection, asked.tenant)
            oldest = micros(now - timedelta(seconds=kept_s))
            connection.execute(delete(table).where(*here, table.c.created < oldest))
            found = connection.execute(rows).all()
            if not found:
                if not adds:
                    return Claimed(Claiming.NO_ROOM)
                _add(connection, asked, holder, at, until)
                found = connection.execute(rows).all()
            outcome = _outcome(found, asked, holder, at)
            if outcome is not Claiming.CLAIMED:
                return Claimed(outcome)
            connection.execute(update(table).where(*here, table.c.until != SETTLED).values(holder=holder, until=until))
    except SQLAlchemyError as error:
        raise StoreError(f"a request cannot be claimed: {reason(error)}") from error
    return Claimed(outcome, tuple(Check(row.run, row.receipt, row.until == SETTLED) for row in found))


def _add(connection: Connection, asked: RequestKey, holder: str, at: int, until: int) -> None:
    """Adds the rows of a request, unless somebody else does."""
    rows = [
        {
            "tenant": asked.tenant,
            "caller": asked.caller,
            "key": asked.key,
            "position": position,
            "fingerprint": asked.fingerprint,
            "created": at,
            "holder": holder,
            "until": until,
            "run": None,
            "receipt": None,
        }
        for position in range(asked.checks)
    ]
    table = tables.idempotency_keys
    # The first row decides whose they are: rows of two requests must never come to stand under one key.
    insert_rows(connection, table, rows[:1], UNLESS_THERE)
    first = (table.c[name] == rows[0][name] for name in ("tenant", "caller", "key", "position", "holder"))
    if rows[1:] and connection.execute(select(table.c.key).where(*first)).first() is not None:
        insert_rows(connection, table, rows[1:], "")


def _outcome(rows: Sequence[Row[Any]], asked: RequestKey, holder: str, at: int) -> Claiming:
    if any(row.fingerprint == ERASED for row in rows):
        return Claiming.GONE
    if len(rows) != asked.checks or any(row.fingerprint != asked.fingerprint for row in rows):
        return Claiming.OTHER
    if any(row.holder != holder and row.until > at for row in rows):
        return Claiming.IN_FLIGHT
    return Claiming.CLAIMED


def note_record(asked: RequestKey, position: int, holder: str, run: str, *, settled: bool) -> Act:
    """What notes the record of a check, in the transaction that stores it (`Change.act`).

    Args:
        asked: the request.
        position: of the check in it.
        holder: who has claimed it.
        run: the record.
        settled: no receipt is going to be issued for it.

    The act raises `StoreError` where the check is not the holder's any more; then nothing of the record is stored.
    """
    return _noting(asked, position, holder, (tables.idempotency_keys.c.run.is_(None),), run=run, settled=settled)


def note_issued(asked: RequestKey, position: int, holder: str, run: str, receipt: str) -> Act:
    """What notes the receipt of a record, in the transaction that tells the log of it; as `note_record`."""
    table = tables.idempotency_keys.c
    return _noting(asked, position, holder, (table.run == run, table.receipt.is_(None)), receipt=receipt, settled=True)


def _noting(asked: RequestKey, position: int, holder: str, only: Sequence[Any], *, settled: bool, **values: str) -> Act:
    table = tables.idempotency_keys
    one = (*_of(asked), table.c.position == position, table.c.holder == holder, *only)
    noted: dict[str, Any] = {**values, **({"until": SETTLED} if settled else {})}

    def act(connection: Connection) -> Sequence[Entry]:
        if connection.execute(update(table).where(*one).values(noted)).rowcount != 1:
            raise StoreError("another request under the same key is at this check by now; nothing was stored")
        return ()

    return act


def give_up(store: Store, asked: RequestKey, holder: str) -> None:
    """Let go of what is left to do of a request, so that it may be sent again at once.

    Raises:
        StoreError: the database cannot be written.
    """
    table = tables.idempotency_keys
    own = (*_of(asked), table.c.holder == holder, table.c.until != SETTLED)
    try:
        with writing(store.engine).begin() as connection:
            set_acting_tenant(connection, asked.tenant)
            connection.execute(update(table).where(*own).values(until=GIVEN_UP))
    except SQLAlchemyError as error:
        raise StoreError(f"a request cannot be let go of: {reason(error)}") from error


def drop_old_keys(store: Store, tenant: str, caller: str, kept_s: float) -> int:
    """Drop the keys of a tenant that were kept long enough.

    Returns:
        How many rows the caller has left.

    Raises:
        StoreError: the database cannot be written.
    """
    table = tables.idempotency_keys
    oldest = micros(store.now() - timedelta(seconds=kept_s))
    try:
        with writing(store.engine).begin() as connection:
            set_acting_tenant(connection, tenant)
            connection.execute(delete(table).where(table.c.tenant == tenant, table.c.created < oldest))
            left = select(func.count()).where(table.c.tenant == tenant, table.c.caller == caller)
            return int(connection.execute(left).scalar_one())
    except SQLAlchemyError as error:
        raise StoreError(f"old keys cannot be dropped: {reason(error)}") from error


def forget_requests(connection: Connection, tenant: str, runs: Sequence[str]) -> None:
    """Drop what tells of the requests that led to some records; that there was a request stays known for its time."""
    table = tables.idempotency_keys
    of = select(table.c.caller, table.c.key).where(table.c.tenant == tenant, table.c.run.in_(runs))
    for row in connection.execute(of.distinct()).all():
        connection.execute(
            update(table)
            .where(table.c.tenant == tenant, table.c.caller == row.caller, table.c.key == row.key)
            .values(fingerprint=ERASED, receipt=null())
        )


def recorded_report(
    store: Store, tenant: str, run: str, asked: Mapping[str, Any], evidence: Sequence[Evidence], beside: Sequence[str]
) -> HallucinationReport | None:
    """The report of a record, if it is the record of a request.

    Args:
        store: the store.
        tenant: whose it is.
        run: the record.
        asked: what the request gives the check beside its evidence, as it would be recorded.
        evidence: its evidence.
        beside: what of `asked` the server sets, such as the day, so that it may differ.

    Returns:
        The report as it was recorded first; none where there is no such record, or it is of another request.

    Raises:
        StoreError: the database cannot be read.
        ReceiptError: the request cannot be recorded at all.
    """
    found = store.check(run, tenant)
    if found is None or found.report is None or found.asked is None:
        return None
    pairs = [(item.id, evidence_digest(evidence_content(item))) for item in evidence]
    mine: dict[str, Any] = json.loads(asked_bytes(asked, pairs))["asked"]
    same = all(
        found.asked.get(name) == mine.get(name) for name in {*mine, *found.asked} if name not in beside
    ) and pairs == [(name, digest) for name, digest, _ in found.evidence]
    return found.report if same else None


def _of(asked: RequestKey) -> Sequence[Any]:
    table = tables.idempotency_keys.c
    return (table.tenant == asked.tenant, table.caller == asked.caller, table.key == asked.key)
