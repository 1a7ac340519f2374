"""Erasure of conversations: the attacks on systems and their answers are deleted, the results stay.

Erased are the conversations of a run's cases, the answers in its proposals, and answers stored while the run was in
progress. The result of each case, the scores, and the cases in proposals stay; the latter are texts of a suite and not
of a system. Each erasure is an entry of the log, and the log commits to the rows after it: verification reports a
conversation that is missing without such an entry.
"""

from collections.abc import Sequence
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
from assay.store.db.column_values import checked_tenant, micros, storable
from assay.store.db.store import Store, batches
from assay.store.db.writer import Act, Change
from assay.store.records.erasure import settle
from assay.store.records.retention import CONTENT, REASON, read_rules
from assay.store.redteam.runs import REDTEAM

BATCH: Final = 50
"""Runs that are erased in one transaction, so that others can write in between."""
ERASED: Final = "erased"
"""The field in the body of a run or a proposal with the moment of its erasure, in microseconds since 1970."""
_LONGEST_REASON: Final = 500
"""The most characters of a reason."""


def erase_conversations(
    store: Store, ids: Sequence[str], reason: str, tenant: str, *, settles: bool = True
) -> list[str]:
    """Erase the conversations of runs of the red team.

    Args:
        store: the store.
        ids: the ids of the runs; runs that are erased already, or that the tenant does not have, are skipped.
        reason: the reason; it is in the log, so it must name nobody.
        tenant: whose runs.
        settles: whether deleted content is overwritten before this returns; a caller that erases in several calls does
            that once at the end.

    Returns:
        The ids of the runs that were erased.

    Raises:
        StoreError: it cannot be stored; runs of earlier batches stay erased.
    """
    if not reason.strip() or len(reason) > _LONGEST_REASON:
        raise StoreError(f"expected a reason for the erasure of at most {_LONGEST_REASON} characters")
    erased: list[str] = []
    for batch in batches(sorted(set(ids)), BATCH):
        done: list[str] = []
        store.apply(Change(checked_tenant(tenant), act=_erasure_act(tenant, batch, reason, store.now(), done)))
        erased += done
    if erased and settles:
        settle(store)
    return erased


def erase_conversations_before(store: Store, moment: datetime, tenant: str, reason: str = REASON) -> list[str]:
    """Erase the conversations of all runs of the red team that ended before a moment, and answers from before it in
    proposals and in runs that never ended.

    Returns:
        The ids of the runs that were erased.

    Raises:
        StoreError: it cannot be stored; what was erased before stays erased.
    """
    runs, before = tables.redteam_runs.c, micros(moment)
    with store.reading(checked_tenant(tenant)) as connection:
        has_conversation = exists().where(
            tables.redteam_cases.c.tenant == runs.tenant,
            tables.redteam_cases.c.run == runs.id,
            tables.redteam_cases.c.told.is_not(None),
        )
        old = select(runs.id).where(runs.tenant == tenant, runs.at < before, has_conversation).order_by(runs.at)
        ids = list(connection.execute(old).scalars())
    erased = erase_conversations(store, ids, reason, tenant, settles=False) if ids else []
    answered: list[str] = []
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        answers, proposals = tables.redteam_answers, tables.redteam_proposals.c
        connection.execute(delete(answers).where(answers.c.tenant == tenant, answers.c.at < before))
        rows = connection.execute(
            select(proposals.id, proposals.body).where(proposals.tenant == tenant, proposals.created < before)
        ).all()
        answered[:] = [row.id for row in rows if _has_answer(row.body)]
        _erase_answers(connection, tenant, answered, micros(now))
        data = {"at": instant(now), "act": "erased", "reason": storable(reason)}
        return [entry(REDTEAM, id_, data) for id_ in answered]

    store.apply(Change(tenant, act=act))
    if erased or answered:
        settle(store)
    return erased


def apply_rules_to_conversations(store: Store, tenant: str) -> int:
    """Erase the conversations that are due by a tenant's retention rules.

    A rule that erases the content of all runs applies to runs of the red team too; a rule for evidence, or for runs
    with one action, does not.

    Returns:
        The number of runs that were erased.

    Raises:
        StoreError: it cannot be stored; what was erased before stays erased.
    """
    with store.reading(checked_tenant(tenant)) as connection:
        rules = read_rules(connection, tenant).rules
    days = min((rule.days for rule in rules if rule.what == CONTENT and rule.action is None), default=None)
    if days is None:
        return 0
    return len(erase_conversations_before(store, store.now() - timedelta(days=days), tenant))


def _erasure_act(tenant: str, ids: Sequence[str], reason: str, now: datetime, done: list[str]) -> Act:
    """The act that erases one batch of runs, and puts their ids into `done`."""

    def act(connection: Connection) -> Sequence[Entry]:
        runs, cases, proposals = tables.redteam_runs, tables.redteam_cases, tables.redteam_proposals.c
        rows = connection.execute(select(runs.c.id, runs.c.body).where(runs.c.tenant == tenant, runs.c.id.in_(ids)))
        bodies = {row.id: dict(row.body or {}) for row in rows if ERASED not in (row.body or {})}
        erased = sorted(bodies)
        done[:] = erased
        if not erased:
            return ()
        touch(connection, REDTEAM_RUN, erased)
        at = micros(now)
        own_cases = (cases.c.tenant == tenant, cases.c.run.in_(erased))
        connection.execute(update(cases).where(*own_cases).values(told=null()))
        # The reason why a case could not be judged may quote the target.
        connection.execute(update(cases).where(*own_cases, cases.c.outcome == "unjudged").values(rule=null()))
        for id_ in erased:
            this_run = update(runs).where(runs.c.tenant == tenant, runs.c.id == id_)
            connection.execute(this_run.values(body={**bodies[id_], ERASED: at}))
        answers = tables.redteam_answers
        connection.execute(delete(answers).where(answers.c.tenant == tenant, answers.c.run.in_(erased)))
        proposed = connection.execute(
            select(proposals.id, proposals.body).where(proposals.tenant == tenant, proposals.run.in_(erased))
        ).all()
        _erase_answers(connection, tenant, [row.id for row in proposed if _has_answer(row.body)], at)
        data = {"at": instant(now), "act": "erased", "reason": storable(reason)}
        return [entry(REDTEAM, id_, data) for id_ in erased]

    return act


def _has_answer(body: Any) -> bool:
    return isinstance(body, dict) and body.get("answer") is not None


def _erase_answers(connection: Connection, tenant: str, ids: Sequence[str], at: int) -> None:
    """Erase the answers in proposals; the case stays, so that people can decide on it."""
    table = tables.redteam_proposals
    touch(connection, PROPOSAL, ids)
    for part in batches(list(ids)):
        rows = connection.execute(
            select(table.c.id, table.c.body).where(table.c.tenant == tenant, table.c.id.in_(part))
        ).all()
        for row in rows:
            this_row = update(table).where(table.c.tenant == tenant, table.c.id == row.id)
            connection.execute(this_row.values(body={**row.body, "answer": None, ERASED: at}))
