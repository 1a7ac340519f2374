"""Deadlines of reviews: the policy is applied to missed deadlines, and times stored by a wrong clock are repaired.

Nothing here releases an output. A sweep does one step for an item, however much time has passed: after an outage, or
when a clock jumped ahead, people still get the time that the next tier gives them.
"""

import logging
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection, select, update

from assay.errors import ReviewError
from assay.policy import deadline_of
from assay.schema.report_parts import Tier
from assay.store.audit.binding import touch
from assay.store.audit.log import Entry
from assay.store.audit.units import RUN
from assay.store.db import tables
from assay.store.db.column_values import micros
from assay.store.db.writer import Change
from assay.store.reviews.actions import SKEW, is_away, reviewers
from assay.store.reviews.items import OPEN_STATES, read_row, rules_of
from assay.store.reviews.queue import Reviews

BATCH: Final = 200
"""The most items that one sweep handles, so that others can write in between."""
_log = logging.getLogger("assay.store")


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of a sweep."""

    settled: int
    """The number of items whose missed deadline was handled."""
    repaired: int
    """The number of items stored by a clock ahead of this one; their deadlines were computed again."""
    assigned: int
    """The number of items that were assigned to a reviewer with the expertise."""


def sweep_deadlines(reviews: Reviews) -> Swept:
    """Handle missed deadlines, wrong clocks and open assignments in all tenants; several processes may do so at once.

    Raises:
        StoreError: the database cannot be read or written.
    """
    store = reviews.store
    now = store.now()
    table = tables.review_items.c
    is_open = table.state.in_(OPEN_STATES)
    with store.reading_across() as connection:
        due = connection.execute(
            select(table.tenant, table.id)
            .where(is_open, table.deadline <= micros(now))
            .order_by(table.deadline)
            .limit(BATCH)
        ).all()
        ahead = connection.execute(
            select(table.tenant, table.id).where(is_open, table.updated > micros(now + SKEW)).limit(BATCH)
        ).all()
        fields = connection.execute(
            select(table.tenant, table.expertise, table.assignee)
            .distinct()
            .where(is_open, table.expertise.is_not(None), table.holder.is_(None))
        ).all()
    settled = sum(_settle(reviews, row.tenant, row.id) for row in due)
    repaired = sum(_repair_deadline(reviews, row.tenant, row.id) for row in ahead)
    assigned = sum(_assign(reviews, row.tenant, row.expertise, row.assignee) for row in fields)
    return Swept(settled, repaired, assigned)


def _settle(reviews: Reviews, tenant: str, id_: str) -> bool:
    try:
        reviews.settle(tenant, id_)
    except ReviewError as error:
        _log.info("the item %s was not settled: %s", id_, error)
        return False
    return True


def _repair_deadline(reviews: Reviews, tenant: str, id_: str) -> bool:
    """Move a deadline that is further away than its tier allows, because a wrong clock set it; whether it was moved."""
    store = reviews.store
    now = store.now()
    repaired: list[bool] = []

    def act(connection: Connection) -> tuple[Entry, ...]:
        repaired.clear()
        row = read_row(connection, tenant, id_)
        if row is None or row.deadline is None or row.updated <= micros(now + SKEW):
            return ()
        latest = micros(deadline_of(rules_of(row)[0], Tier(row.tier), now))
        table = tables.review_items
        touch(connection, RUN, [row.run])
        connection.execute(
            update(table)
            .where(table.c.tenant == tenant, table.c.id == id_)
            .values(deadline=min(row.deadline, latest), updated=micros(now), holder=None, held_until=None)
        )
        repaired.append(True)
        return ()

    store.apply(Change(tenant, act=act))
    return bool(repaired)


def _assign(reviews: Reviews, tenant: str, expertise: str, assignee: str | None) -> int:
    """Assign items of a field that have no assignee, or one who can no longer decide, each to the reviewer with this
    expertise who has the fewest; returns their number. Without such a reviewer the items stay open to all."""
    table = tables.review_items.c
    with reviews.store.reading(tenant) as connection:
        experts = [name for name, fields in reviewers(connection, tenant) if expertise in fields]
        if not experts or (assignee is not None and not is_away(connection, tenant, assignee)):
            return 0
        has_assignee = table.assignee.is_(None) if assignee is None else table.assignee == assignee
        items = (
            connection.execute(
                select(table.id)
                .where(
                    table.tenant == tenant,
                    table.state.in_(OPEN_STATES),
                    table.expertise == expertise,
                    table.holder.is_(None),
                    has_assignee,
                )
                .order_by(table.deadline)
                .limit(BATCH)
            )
            .scalars()
            .all()
        )
        loads = Counter(
            connection.execute(
                select(table.assignee).where(
                    table.tenant == tenant, table.state.in_(OPEN_STATES), table.assignee.in_(experts)
                )
            ).scalars()
        )
    assigned = 0
    for id_ in items:
        name = min(experts, key=lambda expert: (loads[expert], expert))
        try:
            reviews.assign(tenant, id_, "assignment", to=name, reason=f"Knows {expertise}, and has the fewest items.")
        except ReviewError as error:
            _log.info("the item %s was not assigned: %s", id_, error)
            continue
        loads[name] += 1
        assigned += 1
    return assigned


def next_sweep(reviews: Reviews, most: timedelta) -> timedelta:
    """The time until the next deadline of any tenant, at most `most`."""
    table = tables.review_items.c
    now = reviews.store.now()
    with reviews.store.reading_across() as connection:
        first = connection.execute(
            select(table.deadline)
            .where(table.state.in_(OPEN_STATES), table.deadline.is_not(None))
            .order_by(table.deadline)
            .limit(1)
        ).scalar_one_or_none()
    if first is None:
        return most
    return max(timedelta(0), min(most, timedelta(microseconds=first - micros(now))))
