"""Deadlines of reviews: what has passed is settled as the policy says, and what was written by a wrong clock is
repaired.

Nothing here lets an output out. A sweep does one step for an item, whatever time has passed: after a standstill, or
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
from assay.store.db.writer import Change
from assay.store.records.recording import micros
from assay.store.reviews.actions import SKEW, is_away, reviewers
from assay.store.reviews.items import OPEN_STATES, read_row, rules_of
from assay.store.reviews.queue import Reviews

PART: Final = 200
"""Items that one sweep looks at: others write in between."""
_log = logging.getLogger("assay.store")


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did."""

    settled: int
    """Items whose deadline had passed."""
    mended: int
    """Items that a clock ahead of this one had written; their deadlines are counted again."""
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
            select(table.tenant, table.id)
            .where(waits, table.deadline <= micros(now))
            .order_by(table.deadline)
            .limit(PART)
        ).all()
        ahead = connection.execute(
            select(table.tenant, table.id).where(waits, table.updated > micros(now + SKEW)).limit(PART)
        ).all()
        fields = connection.execute(
            select(table.tenant, table.expertise, table.assignee)
            .distinct()
            .where(waits, table.expertise.is_not(None), table.holder.is_(None))
        ).all()
    settled = sum(_settled(reviews, row.tenant, row.id) for row in due)
    mended = sum(_mended(reviews, row.tenant, row.id) for row in ahead)
    assigned = sum(_assigned(reviews, row.tenant, row.expertise, row.assignee) for row in fields)
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
        touch(connection, RUN, [row.run])
        connection.execute(
            update(table)
            .where(table.c.tenant == tenant, table.c.id == id_)
            .values(deadline=min(row.deadline, latest), updated=micros(now), holder=None, held_until=None)
        )
        done.append(True)
        return ()

    store.apply(Change(tenant, act=act))
    return bool(done)


def _assigned(reviews: Reviews, tenant: str, expertise: str, assignee: str | None) -> int:
    """Gives items of a field that nobody has, or that somebody has who cannot decide any more, each to the reviewer of
    the field who has the fewest. Where nobody knows the field they wait for whoever comes."""
    table = tables.review_items.c
    with reviews.store.reading(tenant) as connection:
        able = [name for name, words in reviewers(connection, tenant) if expertise in words]
        if not able or (assignee is not None and not is_away(connection, tenant, assignee)):
            return 0
        to_whom = table.assignee.is_(None) if assignee is None else table.assignee == assignee
        items = (
            connection.execute(
                select(table.id)
                .where(
                    table.tenant == tenant,
                    table.state.in_(OPEN_STATES),
                    table.expertise == expertise,
                    table.holder.is_(None),
                    to_whom,
                )
                .order_by(table.deadline)
                .limit(PART)
            )
            .scalars()
            .all()
        )
        taken = Counter(
            connection.execute(
                select(table.assignee).where(
                    table.tenant == tenant, table.state.in_(OPEN_STATES), table.assignee.in_(able)
                )
            ).scalars()
        )
    done = 0
    for id_ in items:
        name = min(able, key=lambda one: (taken[one], one))
        try:
            reviews.assign(tenant, id_, "assignment", to=name, reason=f"Knows {expertise}, and has the fewest items.")
        except ReviewError as error:
            _log.info("the item %s was not assigned: %s", id_, error)
            continue
        taken[name] += 1
        done += 1
    return done


def next_sweep(reviews: Reviews, most: timedelta) -> timedelta:
    """How long until the next deadline of any tenant, and `most` at the longest."""
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
