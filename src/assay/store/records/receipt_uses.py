"""Uses of receipts in the database: one commit for each receipt, among all processes.

A use is a row. The unique index of the table, which spans all tenants, decides whether it is the first one, in a
transaction that is on disk before the sink is called and that also appends an entry to the tenant's log. One clock
decides whether a receipt has expired: that of the database in PostgreSQL, that of the machine in SQLite.

A row is deleted some time after its receipt expired. After that, a used receipt can be distinguished from an unused one
only by its age: so the newest of the rows that may be deleted stays, and receipts issued before it are refused.
"""

import os
import secrets
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, func, or_, select, text, tuple_, update

from assay.errors import StoreError
from assay.receipt import FORGOTTEN_AFTER, Claim, Outcome, Use, instant
from assay.store.audit.entries import COMMIT, entry
from assay.store.audit.log import Entry
from assay.store.db.column_values import checked_tenant, micros, moment_at
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.tables import receipt_uses
from assay.store.db.writer import Change
from assay.store.records.interface import DEFAULT_TENANT

UNSETTLED_KEPT: Final = timedelta(days=7)
"""How long a use without a noted outcome is kept after its receipt expired, so that people can look at it."""
SWEPT_AT_ONCE: Final = 200
"""The most rows that are deleted with one claim: no claim takes long, and more rows are deleted than added."""
ANSWER_S: Final = 20.0
"""Seconds that a claim waits for the database. A claim that is stored later has used up the receipt all the same."""
MOST_LISTED: Final = 1_000
"""The most uses of one list."""

Clock = Callable[[Connection], datetime]
"""Returns the time within a transaction."""


@dataclass(frozen=True, slots=True)
class StoredUse:
    """A use of a receipt, as people see it."""

    receipt_id: str
    key_id: str
    claimed: datetime
    holder: str
    """The process that claimed it: host name and process id."""
    until: datetime
    """When the receipt can no longer be committed."""
    outcome: Outcome | None
    """The outcome of the sink; None if none was noted: the sink is being called now, or the process died."""


class UsesInStore:
    """The uses of receipts in a store. An `assay.receipt.interface.Uses`."""

    def __init__(
        self, store: Store, tenant: str = DEFAULT_TENANT, *, clock: Clock | None = None, answer_s: float = ANSWER_S
    ) -> None:
        """Store uses in a store.

        Args:
            store: the store.
            tenant: the tenant of the commits; a receipt that one tenant used is used for all.
            clock: returns the time; by default the database's clock, in SQLite the store's.
            answer_s: how long a claim waits for the database, in seconds.

        Raises:
            StoreError: the name of the tenant is malformed.
        """
        self._store, self._tenant, self._answer_s = store, checked_tenant(tenant), answer_s
        self._clock = clock or self._now

    def claim(self, use: Use, now: datetime) -> Claim:  # noqa: ARG002 all processes use one clock instead
        """Claim the use of a receipt; returns once it is on disk.

        Raises:
            StoreError: the database cannot be written, or did not answer in time.
        """
        token = secrets.token_hex(16)
        result: list[Claim] = []

        def act(connection: Connection) -> Sequence[Entry]:
            moment = self._clock(connection)
            # Assigned and not appended: the act runs again if its transaction failed.
            result[:] = [_claim(connection, self._tenant, use, moment, token)]
            if result[0] is not Claim.FIRST:
                return ()
            data = {"at": instant(moment), "receipt": use.receipt_id, "key": use.key_id}
            return [entry(COMMIT, None, data)]

        self._apply(act)
        return result[0]

    def settle(self, use: Use, outcome: Outcome) -> None:
        """Note the outcome of the sink; if it is called again, the last outcome counts.

        Raises:
            StoreError: the database cannot be written, or did not answer in time.
        """
        table = receipt_uses.c

        def act(connection: Connection) -> Sequence[Entry]:
            connection.execute(
                update(receipt_uses)
                .where(*_is_use(self._tenant, use), table.digest == use.digest)
                .values(outcome=outcome.value, settled=micros(self._clock(connection)))
            )
            return ()

        self._apply(act)

    def _apply(self, act: Callable[[Connection], Sequence[Entry]]) -> None:
        future = self._store.submit(Change(self._tenant, act=act))
        try:
            future.result(self._answer_s)
        except LateError as error:
            # A change that the writer has not taken yet is cancelled.
            future.cancel()
            raise StoreError(f"the database did not answer within {self._answer_s:g} seconds") from error

    def _now(self, connection: Connection) -> datetime:
        if connection.dialect.name == "postgresql":
            now: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
            return now
        return self._store.now()


def _is_use(tenant: str, use: Use) -> tuple[Any, ...]:
    table = receipt_uses.c
    return table.tenant == tenant, table.key == use.key_id, table.receipt == use.receipt_id


def _claim(connection: Connection, tenant: str, use: Use, now: datetime, token: str) -> Claim:
    if now > use.until:
        return Claim.LATE
    forgotten = _sweep(connection, tenant, now)
    if forgotten is None or micros(use.issued) > forgotten:
        insert_rows(
            connection,
            receipt_uses,
            [
                {
                    "tenant": tenant,
                    "key": use.key_id,
                    "receipt": use.receipt_id,
                    "digest": use.digest,
                    "claim": token,
                    "holder": holder(),
                    "issued": micros(use.issued),
                    "claimed": micros(now),
                    "until": micros(use.until),
                    "outcome": None,
                    "settled": None,
                }
            ],
            UNLESS_THERE,
        )
    table = receipt_uses.c
    row = connection.execute(select(table.claim, table.digest).where(*_is_use(tenant, use))).one_or_none()
    if row is None:
        # The tenant has no such row: the unique index refused it, or no insert was attempted.
        return Claim.TAKEN if forgotten is None or micros(use.issued) > forgotten else Claim.LATE
    if row.claim == token:
        return Claim.FIRST
    return Claim.USED if row.digest == use.digest else Claim.TAKEN


def _sweep(connection: Connection, tenant: str, now: datetime) -> int | None:
    """Delete uses of expired receipts; returns when the newest receipt was issued whose use may have been deleted.

    Rows are deleted only after twice the time, so that the rest still counts if the clock is set back meanwhile.
    """
    table = receipt_uses.c
    newest = select(func.max(table.issued)).where(table.tenant == tenant, table.until < bindparam("before"))
    last: int | None = connection.execute(newest, {"before": micros(now - FORGOTTEN_AFTER)}).scalar_one()
    if last is None:
        return None
    before = micros(now - 2 * FORGOTTEN_AFTER)
    kept = connection.execute(newest, {"before": before}).scalar_one()
    if kept is not None:
        settled = or_(table.outcome.is_not(None), table.until < micros(now - UNSETTLED_KEPT))
        droppable = (
            select(table.key, table.receipt)
            .where(table.tenant == tenant, table.until < before, table.issued < kept, settled)
            .order_by(table.until)
            .limit(SWEPT_AT_ONCE)
        )
        connection.execute(
            delete(receipt_uses).where(table.tenant == tenant, tuple_(table.key, table.receipt).in_(droppable))
        )
    return last


def holder() -> str:
    """The name of this process for people: host name and process id.

    >>> holder().endswith(f":{os.getpid()}")
    True
    """
    return f"{socket.gethostname()}:{os.getpid()}"


def list_uses(store: Store, tenant: str = DEFAULT_TENANT, *, unsettled: bool = False) -> list[StoredUse]:
    """Stored uses of receipts, newest first, at most `MOST_LISTED`.

    Args:
        store: the store.
        tenant: whose uses.
        unsettled: only uses without a noted outcome.

    Raises:
        StoreError: the database cannot be read.
    """
    table = receipt_uses.c
    query = select(receipt_uses).where(table.tenant == checked_tenant(tenant))
    if unsettled:
        query = query.where(table.outcome.is_(None))
    with store.reading(tenant) as connection:
        rows = connection.execute(query.order_by(table.claimed.desc(), table.receipt).limit(MOST_LISTED)).all()
    return [
        StoredUse(
            row.receipt,
            row.key,
            moment_at(row.claimed),
            row.holder,
            moment_at(row.until),
            None if row.outcome is None else Outcome(row.outcome),
        )
        for row in rows
    ]
