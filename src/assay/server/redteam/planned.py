"""The schedules of a server as `GET /v1/redteam/schedules` tells them: what is planned, what is due and what came of
it."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from assay.monitor import Every, When
from assay.server.redteam.bodies import AttackRunLine, AttackScheduleOut
from assay.server.redteam.due_runs import run_id_of
from assay.server.redteam.schedules import APPROVED, Schedule
from assay.server.redteam.tasks import schedules_of_server
from assay.server.services import Services
from assay.store.records import micros
from assay.store.redteam import last_run, read_run


def planned_of(services: Services, tenant: str) -> list[AttackScheduleOut]:
    """The schedules of a tenant, in the order of the file that has them.

    Raises:
        AssayError: the file cannot be read any more.
    """
    now = services.store.now()
    schedules = [one for one in schedules_of_server(services.settings.policy, os.environ) if one.tenant == tenant]
    found = []
    with services.store.reading(tenant) as connection:
        for one in schedules:
            due = one.when.last(now)
            made = read_run(connection, tenant, run_id_of(one, micros(due))) is not None
            last = last_run(connection, tenant, one.name)
            found.append(
                AttackScheduleOut(
                    name=one.name,
                    plan=plan_of(one.when),
                    suite=one.suite if one.suite == APPROVED else Path(one.suite).name,
                    target=shown_target(one),
                    target_version=one.target_version,
                    categories=list(one.categories),
                    propose=one.propose,
                    budget=one.budget,
                    due=due,
                    made=made,
                    last=None if last is None else AttackRunLine.of(last),
                )
            )
    return found


def plan_of(when: When) -> str:
    """A plan in words.

    >>> from assay.monitor import read_when
    >>> plan_of(read_when({"every": "6h"}, "x")), plan_of(read_when("30 2 * * 1-5", "x"))
    ('every 6h', '30 2 * * 1-5')
    """
    if not isinstance(when, Every):
        return when.text
    unit, letter = next((size, name) for size, name in _UNITS if when.seconds % size == 0)
    return f"every {when.seconds // unit}{letter}"


_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def shown_target(schedule: Schedule) -> str:
    """What is attacked, for whoever may read: an address without names, passwords and queries, a command without its
    arguments, since these may hold secrets."""
    kind, _, rest = schedule.target.partition(":")
    if kind in {"http", "https"}:
        parts = urlsplit(schedule.target)
        place = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{place}{parts.path}"
    if kind == "command":
        return f"command:{rest.split(maxsplit=1)[0] if rest.split() else ''}"
    return schedule.target
