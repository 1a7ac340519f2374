"""Deadlines of reviews: what has passed is settled as the policy says, and what was written by a wrong clock is mended.

Nothing here lets an output out. A sweep does one step for an item, whatever time has passed: after a standstill, or
when a clock jumped ahead, people still get the time that the next tier gives them.
"""

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection, select, update

from assay.errors import ReviewError
from assay.policy.escalation import deadline_of
from assay.schema.tier import Tier
from assay.store import tables
from assay.store.audit.log import Entry
from assay.store.recording import micros
from assay.store.review_acting import SKEW
from assay.store.review_items import OPEN_STATES, read_row, rules_of
from assay.store.reviews import Reviews
from assay.store.writer import Change

PART: Final = 200
"""Items that one sweep looks at: others write in between."""
_log = logging.getLogger("assay.store")


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did."""

    settled: int
    """Items whose deadline had passed."""
    mended: int
    """Items that a clock ahead of this one had written; their deadlines are counted anew."""
    assigned: int
    """Items that were given to a reviewer who knows their field."""


def sweep(reviews: Reviews) -> Swept:
    """Settle what is due in all tenants; several processes may do so at once.

    Raises:
        StoreError: the database cannot be read or written.
    """
    store = reviews.store
    now = store.now()
    table = tables.review_items.c
    waits = table.state.in_(OPEN_STATES)
    with store.reading_across() as connection:
        due = connection.execute(
            select(table.tenant, table.id).where(waits, table.deadline <= micros(now)).order_by(table.deadline)
            .limit(PART)
        ).all()  # fmt: skip
        ahead = connection.execute(
            select(table.tenant, table.id).where(waits, table.updated > micros(now + SKEW)).limit(PART)
        ).all()
        unassigned = connection.execute(
            select(table.tenant, table.id, table.expertise)
            .where(waits, table.expertise.is_not(None), table.assignee.is_(None), table.holder.is_(None)).limit(PART)
        ).all()  # fmt: skip
    settled = sum(_settled(reviews, row.tenant, row.id) for row in due)
    mended = sum(_mended(reviews, row.tenant, row.id) for row in ahead)
    assigned = sum(_assigned(reviews, row.tenant, row.id, row.expertise) for row in unassigned)
    return Swept(settled, mended, assigned)


def _settled(reviews: Reviews, tenant: str, id_: str) -> bool:
    try:
        reviews.settle(tenant, id_)
    except ReviewError as error:
        _log.info("the item %s was not settled: %s", id_, error)
        return False
    return True


def _mended(reviews: Reviews, tenant: str, id_: str) -> bool:
    """A deadline is never further away than its tier allows, whatever a clock said when it was set."""
    store = reviews.store
    now = store.now()
    done: list[bool] = []

    def act(connection: Connection) -> tuple[Entry, ...]:
        done.clear()
        row = read_row(connection, tenant, id_)
        if row is None or row.deadline is None or row.updated <= micros(now + SKEW):
            return ()
        latest = micros(deadline_of(rules_of(row)[0], Tier(row.tier), now))
        table = tables.review_items
        connection.execute(
            update(table).where(table.c.tenant == tenant, table.c.id == id_)
            .values(deadline=min(row.deadline, latest), updated=micros(now), holder=None, held_until=None)
        )  # fmt: skip
        done.append(True)
        return ()

    store.apply(Change(tenant, act=act))
    return bool(done)


def _assigned(reviews: Reviews, tenant: str, id_: str, expertise: str) -> bool:
    """Gives an item to the reviewer of its field who has the fewest; to nobody where there is none."""
    with reviews.store.reading(tenant) as connection:
        name = _least_busy(connection, tenant, expertise)
    if name is None:
        return False
    try:
        reviews.assign(tenant, id_, "assignment", to=name, reason=f"Knows {expertise}, and has the fewest items.")
    except ReviewError as error:
        _log.info("the item %s was not assigned: %s", id_, error)
        return False
    return True


def _least_busy(connection: Connection, tenant: str, expertise: str) -> str | None:
    users, items = tables.users.c, tables.review_items.c
    rows = connection.execute(
        select(users.name, users.expertise, users.roles)
        .where(users.tenant == tenant, users.disabled.is_(None), users.name.is_not(None), users.expertise != "")
    )  # fmt: skip
    able = sorted(
        str(row.name) for row in rows
        if expertise in row.expertise.split() and {"reviewer", "admin"} & set(row.roles.split())
    )  # fmt: skip
    if not able:
        return None
    taken = connection.execute(
        select(items.assignee).where(
            items.tenant == tenant, items.state.in_(OPEN_STATES), items.assignee.in_(able)
        )
    ).scalars().all()  # fmt: skip
    return min(able, key=lambda name: (taken.count(name), name))


def next_sweep(reviews: Reviews, most: timedelta) -> timedelta:
    """How long until the next deadline of any tenant, and `most` at the longest."""
    table = tables.review_items.c
    now = reviews.store.now()
    with reviews.store.reading_across() as connection:
        first = connection.execute(
            select(table.deadline).where(table.state.in_(OPEN_STATES), table.deadline.is_not(None))
            .order_by(table.deadline).limit(1)
        ).scalar_one_or_none()  # fmt: skip
    if first is None:
        return most
    return max(timedelta(0), min(most, timedelta(microseconds=first - micros(now))))
