"""Erasure of conversations: what was put to systems under attack and what they answered goes, the results stay.

Erased are the conversations of a run's cases, the answers of its proposals, and what was kept of answers while it was
under way. What stays is the result of each case, the scores, and the cases of proposals, which are a suite's and no
system's words. Each erasure is an entry of the log, and the log commits to the rows as they are afterwards: a
conversation that is missing without one was removed by somebody else, and verification says so.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, delete, exists, null, select, update

from assay.errors import StoreError
from assay.receipt import instant
from assay.store.audit.binding import touch
from assay.store.audit.entries import entry
from assay.store.audit.log import Entry
from assay.store.audit.units import PROPOSAL, REDTEAM_RUN
from assay.store.db import tables
from assay.store.db.store import Store, batches
from assay.store.db.writer import Change
from assay.store.records.erasure import settle
from assay.store.records.recording import checked_tenant, micros, storable
from assay.store.records.retention import CONTENT, REASON, read_rules
from assay.store.redteam.runs import REDTEAM

PART: Final = 50
"""Runs that are erased in one transaction: others write in between."""
ERASED: Final = "erased"
"""The field of the body of a run, and of a proposal, with the moment of its erasure in microseconds since 1970."""
_LONGEST_REASON: Final = 500


def erase_conversations(
    store: Store, ids: Sequence[str], reason: str, tenant: str, *, settles: bool = True
) -> list[str]:
    """Erase the conversations of runs of the red team.

    Args:
        store: the store.
        ids: the ids of the runs; those that are erased already, or that the tenant does not have, are left out.
        reason: why; it stands in the log, so it must name nobody.
        tenant: whose they are.
        settles: whether what was taken out is overwritten before this returns; who erases more does that in the end.

    Returns:
        The ids of the runs that were erased.

    Raises:
        StoreError: it cannot be stored; what was erased before stays erased.
    """
    if not reason.strip() or len(reason) > _LONGEST_REASON:
        raise StoreError(f"expected a reason for the erasure of at most {_LONGEST_REASON} characters")
    made: list[str] = []
    for part in batches(sorted(set(ids)), PART):
        done: list[str] = []
        store.apply(Change(checked_tenant(tenant), act=_erasing(tenant, part, reason, store.now(), done)))
        made += done
    if made and settles:
        settle(store)
    return made


def erase_conversations_before(store: Store, moment: datetime, tenant: str, reason: str = REASON) -> list[str]:
    """Erase the conversations of all runs of the red team that ended before a moment, and the answers of proposals and
    of runs that never ended from before it.

    Returns:
        The ids of the runs that were erased.

    Raises:
        StoreError: it cannot be stored; what was erased before stays erased.
    """
    runs, before = tables.redteam_runs.c, micros(moment)
    with store.reading(checked_tenant(tenant)) as connection:
        kept = exists().where(
            tables.redteam_cases.c.tenant == runs.tenant,
            tables.redteam_cases.c.run == runs.id,
            tables.redteam_cases.c.told.is_not(None),
        )
        old = select(runs.id).where(runs.tenant == tenant, runs.at < before, kept).order_by(runs.at)
        ids = list(connection.execute(old).scalars())
    made = erase_conversations(store, ids, reason, tenant, settles=False) if ids else []
    loose: list[str] = []
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        answers, proposals = tables.redteam_answers, tables.redteam_proposals.c
        connection.execute(delete(answers).where(answers.c.tenant == tenant, answers.c.at < before))
        rows = connection.execute(
            select(proposals.id, proposals.body).where(proposals.tenant == tenant, proposals.created < before)
        ).all()
        loose[:] = [row.id for row in rows if _answered(row.body)]
        _erase_answers(connection, tenant, loose, micros(now))
        data = {"at": instant(now), "act": "erased", "reason": storable(reason)}
        return [entry(REDTEAM, id_, data) for id_ in loose]

    store.apply(Change(tenant, act=act))
    if made or loose:
        settle(store)
    return made


def apply_rules_to_conversations(store: Store, tenant: str) -> int:
    """Erase the conversations that a tenant's rules of retention say are to be erased by now.

    The rules are those of all records: one that erases the content of all runs holds for runs of the red team too;
    one for evidence alone, or for the runs of one decision, does not.

    Returns:
        How many runs were erased.

    Raises:
        StoreError: it cannot be stored; what was erased before stays erased.
    """
    with store.reading(checked_tenant(tenant)) as connection:
        rules = read_rules(connection, tenant).rules
    days = min((rule.days for rule in rules if rule.what == CONTENT and rule.action is None), default=None)
    if days is None:
        return 0
    return len(erase_conversations_before(store, store.now() - timedelta(days=days), tenant))


def _erasing(
    tenant: str, ids: Sequence[str], reason: str, now: datetime, done: list[str]
) -> Callable[[Connection], Sequence[Entry]]:
    def act(connection: Connection) -> Sequence[Entry]:
        runs, cases, proposals = tables.redteam_runs, tables.redteam_cases, tables.redteam_proposals.c
        rows = connection.execute(select(runs.c.id, runs.c.body).where(runs.c.tenant == tenant, runs.c.id.in_(ids)))
        bodies: dict[str, dict[str, Any]] = {
            row.id: dict(row.body or {}) for row in rows if ERASED not in (row.body or {})
        }
        found = sorted(bodies)
        done[:] = found
        if not found:
            return ()
        touch(connection, REDTEAM_RUN, found)
        at = micros(now)
        of_runs = (cases.c.tenant == tenant, cases.c.run.in_(found))
        connection.execute(update(cases).where(*of_runs).values(told=null()))
        # Why a case could not be judged may be in the words of the target.
        connection.execute(update(cases).where(*of_runs, cases.c.outcome == "unjudged").values(rule=null()))
        for id_ in found:
            changed = update(runs).where(runs.c.tenant == tenant, runs.c.id == id_)
            connection.execute(changed.values(body={**bodies[id_], ERASED: at}))
        answers = tables.redteam_answers
        connection.execute(delete(answers).where(answers.c.tenant == tenant, answers.c.run.in_(found)))
        proposed = connection.execute(
            select(proposals.id, proposals.body).where(proposals.tenant == tenant, proposals.run.in_(found))
        ).all()
        _erase_answers(connection, tenant, [row.id for row in proposed if _answered(row.body)], at)
        data = {"at": instant(now), "act": "erased", "reason": storable(reason)}
        return [entry(REDTEAM, id_, data) for id_ in found]

    return act


def _answered(body: Any) -> bool:
    return isinstance(body, dict) and body.get("answer") is not None


def _erase_answers(connection: Connection, tenant: str, ids: Sequence[str], at: int) -> None:
    """Takes the answers out of proposals; the case stays, so that people can decide on it."""
    table = tables.redteam_proposals
    touch(connection, PROPOSAL, ids)
    for part in batches(list(ids)):
        rows = connection.execute(
            select(table.c.id, table.c.body).where(table.c.tenant == tenant, table.c.id.in_(part))
        ).all()
        for row in rows:
            changed = update(table).where(table.c.tenant == tenant, table.c.id == row.id)
            connection.execute(changed.values(body={**row.body, "answer": None, ERASED: at}))
