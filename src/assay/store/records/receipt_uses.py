"""Uses of receipts in the database: one commit for each receipt, whichever of all processes makes it.

A use is a row. That it is the first one is decided by the unique index of the table, over all tenants, in a transaction
that is on disk before the sink is called; the transaction also appends an entry to the tenant's log. What can no longer
be committed is decided by one clock: that of the database in PostgreSQL, that of the machine in SQLite.

A row is dropped some time after its receipt could last be committed. What was dropped could be told from what never was
only by its age; so the newest of such rows stays, and no receipt that was issued as early is accepted any more.
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
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.tables import receipt_uses
from assay.store.db.writer import Change
from assay.store.records.interface import DEFAULT_TENANT
from assay.store.records.recording import checked_tenant, micros, moment_at

UNSETTLED_KEPT: Final = timedelta(days=7)
"""How long a use whose outcome nobody noted is kept after that, for people to look at."""
SWEPT_AT_ONCE: Final = 200
"""The most rows that are dropped with one claim: none waits long, and more are dropped than come."""
ANSWER_S: Final = 20.0
"""Seconds that a claim waits for the database. One that comes through later has used the receipt up all the same."""
MOST_LISTED: Final = 1_000

Clock = Callable[[Connection], datetime]
"""Gives the time within a transaction."""


@dataclass(frozen=True, slots=True)
class StoredUse:
    """A use of a receipt, for people."""

    receipt_id: str
    key_id: str
    claimed: datetime
    holder: str
    """The process that claimed it: the machine's name and the process's number."""
    until: datetime
    """When the receipt can no longer be committed."""
    outcome: Outcome | None
    """What became of the sink; none where nobody noted it: it is being called now, or the process died."""


class UsesInStore:
    """The uses of receipts in a store. Is an `assay.receipt.interface.Uses`."""

    def __init__(
        self, store: Store, tenant: str = DEFAULT_TENANT, *, clock: Clock | None = None, answer_s: float = ANSWER_S
    ) -> None:
        """Remember uses in a store.

        Args:
            store: the store.
            tenant: whose commits they are; a receipt that one tenant used is used for all.
            clock: what gives the time in place of the database's clock, or of the store's in SQLite.
            answer_s: the seconds that a claim waits for the database.

        Raises:
            StoreError: the name of the tenant is malformed.
        """
        self._store, self._tenant, self._answer_s = store, checked_tenant(tenant), answer_s
        self._clock = clock or self._now

    def claim(self, use: Use, now: datetime) -> Claim:  # noqa: ARG002 all who share it go by one clock
        """Claim the use of a receipt; returns when it is on disk.

        Raises:
            StoreError: the database cannot be written, or did not answer in time.
        """
        token = secrets.token_hex(16)
        found: list[Claim] = []

        def act(connection: Connection) -> Sequence[Entry]:
            moment = self._clock(connection)
            # Set again: a transaction that failed is tried once more.
            found[:] = [_claim(connection, self._tenant, use, moment, token)]
            if found[0] is not Claim.FIRST:
                return ()
            data = {"at": instant(moment), "receipt": use.receipt_id, "key": use.key_id}
            return [entry(COMMIT, None, data)]

        self._apply(act)
        return found[0]

    def settle(self, use: Use, outcome: Outcome) -> None:
        """Note what became of the sink; a sink that may be called again is noted with what it came to last.

        Raises:
            StoreError: the database cannot be written, or did not answer in time.
        """
        table = receipt_uses.c

        def act(connection: Connection) -> Sequence[Entry]:
            connection.execute(
                update(receipt_uses)
                .where(*_here(self._tenant, use), table.digest == use.digest)
                .values(outcome=outcome.value, settled=micros(self._clock(connection)))
            )
            return ()

        self._apply(act)

    def _apply(self, act: Callable[[Connection], Sequence[Entry]]) -> None:
        future = self._store.submit(Change(self._tenant, act=act))
        try:
            future.result(self._answer_s)
        except LateError as error:
            # One that nobody took up yet is never made.
            future.cancel()
            raise StoreError(f"the database did not answer within {self._answer_s:g} seconds") from error

    def _now(self, connection: Connection) -> datetime:
        if connection.dialect.name == "postgresql":
            found: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
            return found
        return self._store.now()


def _here(tenant: str, use: Use) -> tuple[Any, ...]:
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
    row = connection.execute(select(table.claim, table.digest).where(*_here(tenant, use))).one_or_none()
    if row is None:
        # Without a row of this tenant it was refused by the unique index, or was not tried.
        return Claim.TAKEN if forgotten is None or micros(use.issued) > forgotten else Claim.LATE
    if row.claim == token:
        return Claim.FIRST
    return Claim.USED if row.digest == use.digest else Claim.TAKEN


def _sweep(connection: Connection, tenant: str, now: datetime) -> int | None:
    """Drop what can no longer be committed; gives when the newest receipt was issued of which that may be so.

    It is dropped only twice as late, so that what stays of it still counts where the clock is set back meanwhile.
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
        dropped = (
            select(table.key, table.receipt)
            .where(table.tenant == tenant, table.until < before, table.issued < kept, settled)
            .order_by(table.until)
            .limit(SWEPT_AT_ONCE)
        )
        connection.execute(
            delete(receipt_uses).where(table.tenant == tenant, tuple_(table.key, table.receipt).in_(dropped))
        )
    return last


def holder() -> str:
    """How this process is called where people see it.

    >>> holder().endswith(f":{os.getpid()}")
    True
    """
    return f"{socket.gethostname()}:{os.getpid()}"


def list_uses(store: Store, tenant: str = DEFAULT_TENANT, *, unsettled: bool = False) -> list[StoredUse]:
    """Uses of receipts that are remembered, the newest first, `MOST_LISTED` at most.

    Args:
        store: the store.
        tenant: whose.
        unsettled: those alone whose outcome nobody noted.

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
