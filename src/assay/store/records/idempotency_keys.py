"""Requests sent under an idempotency key, so that a repeated request is answered with what was recorded.

A request has a row for each check in it. The process that makes a check claims its row for a time; the transaction that
records the check writes the id of the record into the row, and fails if another process has claimed the row meanwhile.
So a check is recorded once under one key, whichever process dies or stalls in between, and whatever their clocks say.

A row holds no text: key and request are stored as digests, and an erasure of the records also deletes the digest of the
request. The audit log does not cover these rows. A repeated request is answered from the record, which the log binds,
after comparing it with the request (`recorded_report`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, func, null, select, update

from assay.errors import StoreError
from assay.schema import Evidence, HallucinationReport
from assay.store.audit.entries import asked_bytes, evidence_content, evidence_digest
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import micros
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Act

SETTLED: Final = 0
"""The `until` of a row whose check is complete."""
GIVEN_UP: Final = 1
"""The `until` of a row whose holder has released it."""
ERASED: Final = ""
"""The `fingerprint` of a row whose record was erased."""


@dataclass(frozen=True, slots=True)
class RequestKey:
    """A request under the key that its caller gave it."""

    tenant: str
    caller: str
    """The unique name of the caller in the tenant."""
    key: str
    """A digest of the idempotency key."""
    fingerprint: str
    """A digest of the request."""
    checks: int
    """The number of checks in it."""


class ClaimOutcome(Enum):
    """The outcome of claiming a request."""

    CLAIMED = "claimed"
    IN_FLIGHT = "in flight"
    """Another process is working on it, or was until a moment ago."""
    OTHER = "another request"
    """The key was used for another request."""
    GONE = "erased"
    """Its records were erased."""
    NO_ROOM = "no room"
    """The key is new, and no new key may be added."""


@dataclass(frozen=True, slots=True)
class ClaimedCheck:
    """The state of one check of a claimed request."""

    run: str | None = None
    """The id of its record; None if the check is still to be made."""
    receipt: str | None = None
    """The receipt of the record, if one was issued."""
    settled: bool = False
    """Whether it is complete: no receipt remains to be issued for the record."""


@dataclass(frozen=True, slots=True)
class ClaimedRequest:
    """The result of claiming a request."""

    outcome: ClaimOutcome
    checks: tuple[ClaimedCheck, ...] = ()
    """The checks in order; empty unless it was claimed."""


async def claim_request(
    store: Store, request: RequestKey, holder: str, seconds: float, kept_s: float, *, adds: bool = True
) -> ClaimedRequest:
    """Claim the incomplete checks of a request.

    Args:
        store: the store.
        request: the request.
        holder: a name for the claimer that no other claim has.
        seconds: how long the claim lasts.
        kept_s: how long a key is kept, in seconds from its first use.
        adds: whether a new key may be added.

    Raises:
        BusyError: too much waits to be stored.
        StoreError: the database cannot be written.
    """
    now = store.now()
    at, until, oldest = (micros(now + timedelta(seconds=after)) for after in (0.0, seconds, -kept_s))
    table = tables.idempotency_keys
    this_request = _is_request(request)
    select_rows = select(table).where(*this_request).order_by(table.c.position).with_for_update()
    claimed = ClaimedRequest(ClaimOutcome.NO_ROOM)

    def act(connection: Connection) -> Sequence[Entry]:
        nonlocal claimed
        claimed = ClaimedRequest(ClaimOutcome.NO_ROOM)
        connection.execute(delete(table).where(*this_request, table.c.created < oldest))
        rows = connection.execute(select_rows).all()
        if not rows:
            if not adds:
                return ()
            _add(connection, request, holder, at, until)
            rows = connection.execute(select_rows).all()
        claimed = ClaimedRequest(_outcome(rows, request, holder, at))
        if claimed.outcome is ClaimOutcome.CLAIMED:
            connection.execute(
                update(table).where(*this_request, table.c.until != SETTLED).values(holder=holder, until=until)
            )
            checks = (ClaimedCheck(row.run, row.receipt, row.until == SETTLED) for row in rows)
            claimed = replace(claimed, checks=tuple(checks))
        return ()

    await store.arun(request.tenant, act)
    return claimed


def _add(connection: Connection, request: RequestKey, holder: str, at: int, until: int) -> None:
    """Add the rows of a request, unless another process adds them first."""
    rows = [
        {
            "tenant": request.tenant,
            "caller": request.caller,
            "key": request.key,
            "position": position,
            "fingerprint": request.fingerprint,
            "created": at,
            "holder": holder,
            "until": until,
            "run": None,
            "receipt": None,
        }
        for position in range(request.checks)
    ]
    table = tables.idempotency_keys
    # The first row decides which process adds the others: rows of two requests must never be mixed under one key.
    insert_rows(connection, table, rows[:1], UNLESS_THERE)
    first = (table.c[name] == rows[0][name] for name in ("tenant", "caller", "key", "position", "holder"))
    if rows[1:] and connection.execute(select(table.c.key).where(*first)).first() is not None:
        insert_rows(connection, table, rows[1:], "")


def _outcome(rows: Sequence[Row[Any]], request: RequestKey, holder: str, at: int) -> ClaimOutcome:
    if any(row.fingerprint == ERASED for row in rows):
        return ClaimOutcome.GONE
    if len(rows) != request.checks or any(row.fingerprint != request.fingerprint for row in rows):
        return ClaimOutcome.OTHER
    if any(row.holder != holder and row.until > at for row in rows):
        return ClaimOutcome.IN_FLIGHT
    return ClaimOutcome.CLAIMED


def note_record(
    request: RequestKey, position: int, holder: str, run: str, *, settled: bool, receipt: str | None = None
) -> Act:
    """The act that notes the record of a check, in the transaction that stores the record (`Change.act`).

    The act raises `StoreError` if the holder no longer has the claim; then nothing of the record is stored.

    Args:
        request: the request.
        position: the position of the check in it.
        holder: the holder of the claim.
        run: the id of the record.
        settled: whether no receipt will be issued for it later.
        receipt: the receipt that is logged in the same transaction.
    """
    values = {"run": run} if receipt is None else {"run": run, "receipt": receipt}
    return _note_act(request, position, holder, (tables.idempotency_keys.c.run.is_(None),), settled=settled, **values)


def note_issued(request: RequestKey, position: int, holder: str, run: str, receipt: str) -> Act:
    """The act that notes the receipt of a record, in the transaction that logs the receipt; like `note_record`."""
    table = tables.idempotency_keys.c
    return _note_act(
        request, position, holder, (table.run == run, table.receipt.is_(None)), receipt=receipt, settled=True
    )


def _note_act(
    request: RequestKey, position: int, holder: str, conditions: Sequence[Any], *, settled: bool, **values: str
) -> Act:
    table = tables.idempotency_keys
    this_check = (*_is_request(request), table.c.position == position, table.c.holder == holder, *conditions)
    changes: dict[str, Any] = {**values, **({"until": SETTLED} if settled else {})}

    def act(connection: Connection) -> Sequence[Entry]:
        if connection.execute(update(table).where(*this_check).values(changes)).rowcount != 1:
            raise StoreError("another request under the same key is at this check by now; nothing was stored")
        return ()

    return act


async def release_request(store: Store, request: RequestKey, holder: str) -> None:
    """Release the incomplete checks of a request, so that it may be sent again at once.

    Raises:
        BusyError: too much waits to be stored.
        StoreError: the database cannot be written.
    """
    table = tables.idempotency_keys
    own = (*_is_request(request), table.c.holder == holder, table.c.until != SETTLED)

    def act(connection: Connection) -> Sequence[Entry]:
        connection.execute(update(table).where(*own).values(until=GIVEN_UP))
        return ()

    await store.arun(request.tenant, act)


async def drop_old_keys(store: Store, tenant: str, caller: str, kept_s: float) -> int:
    """Delete the keys of a tenant that are older than `kept_s` seconds.

    Returns:
        The number of rows that the caller has left.

    Raises:
        BusyError: too much waits to be stored.
        StoreError: the database cannot be written.
    """
    table = tables.idempotency_keys
    oldest = micros(store.now() - timedelta(seconds=kept_s))
    left = select(func.count()).where(table.c.tenant == tenant, table.c.caller == caller)
    count = 0

    def act(connection: Connection) -> Sequence[Entry]:
        nonlocal count
        connection.execute(delete(table).where(table.c.tenant == tenant, table.c.created < oldest))
        count = int(connection.execute(left).scalar_one())
        return ()

    await store.arun(tenant, act)
    return count


def forget_requests(connection: Connection, tenant: str, runs: Sequence[str]) -> None:
    """Delete fingerprints and receipts of the requests that led to some records; the rows stay until they are too
    old."""
    table = tables.idempotency_keys
    keys = select(table.c.caller, table.c.key).where(table.c.tenant == tenant, table.c.run.in_(runs))
    for row in connection.execute(keys.distinct()).all():
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
        tenant: whose record.
        run: the id of the record.
        asked: the arguments of the check other than its evidence, as they would be recorded.
        evidence: the evidence of the check.
        beside: the names in `asked` that the server sets, such as the day, and that may therefore differ.

    Returns:
        The report as first recorded; None if there is no such record, or it is of another request.

    Raises:
        StoreError: the database cannot be read.
        ReceiptError: the request cannot be encoded for comparison.
    """
    check = store.check(run, tenant)
    if check is None or check.report is None or check.asked is None:
        return None
    pairs = [(item.id, evidence_digest(evidence_content(item))) for item in evidence]
    arguments: dict[str, Any] = json.loads(asked_bytes(asked, pairs))["asked"]
    same = all(
        check.asked.get(name) == arguments.get(name) for name in {*arguments, *check.asked} if name not in beside
    ) and pairs == [(name, digest) for name, digest, _ in check.evidence]
    return check.report if same else None


def _is_request(request: RequestKey) -> Sequence[Any]:
    table = tables.idempotency_keys.c
    return (table.tenant == request.tenant, table.caller == request.caller, table.key == request.key)
