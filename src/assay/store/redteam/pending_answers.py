"""Answers of a run in progress: stored as they come, so that another process can continue the run."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, select

from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.redteam.values import packable

STALE_US: Final = 30 * 86_400_000_000
"""How long answers of unfinished runs are kept, in microseconds."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The result of one call to a target."""

    case_id: str
    trial: int
    text: str | None
    """The answer; None if the target failed."""
    error: str | None
    seconds: float
    """The duration of the call."""


def keep_answer(store: Store, tenant: str, run: str, answer: KeptAnswer) -> None:
    """Store an answer of a run, unless it is stored already.

    Raises:
        StoreError: it cannot be stored.
    """
    body: dict[str, Any] = packable({"text": answer.text, "error": answer.error, "seconds": answer.seconds})
    row = {
        "tenant": checked_tenant(tenant),
        "run": run,
        "case_id": answer.case_id,
        "trial": answer.trial,
        "at": micros(store.now()),
        "body": tables.pack(body),
    }

    def act(connection: Connection) -> tuple[Entry, ...]:
        insert_rows(connection, tables.redteam_answers, [row], UNLESS_THERE)
        return ()

    store.apply(Change(tenant, act=act))


def kept_answers(connection: Connection, tenant: str, run: str) -> list[KeptAnswer]:
    """The stored answers of a run in progress."""
    table = tables.redteam_answers.c
    rows = connection.execute(
        select(tables.redteam_answers)
        .where(table.tenant == tenant, table.run == run)
        .order_by(table.at, table.case_id, table.trial)
    )
    return [
        KeptAnswer(row.case_id, row.trial, row.body["text"], row.body["error"], float(row.body["seconds"]))
        for row in rows
    ]


def drop_answers(store: Store, tenant: str, run: str) -> None:
    """Delete the answers of a run that was recorded, and those of runs that were abandoned long ago.

    Raises:
        StoreError: they cannot be deleted.
    """
    before = micros(store.now()) - STALE_US

    def act(connection: Connection) -> tuple[Entry, ...]:
        table = tables.redteam_answers
        connection.execute(delete(table).where(table.c.tenant == tenant, (table.c.run == run) | (table.c.at < before)))
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
