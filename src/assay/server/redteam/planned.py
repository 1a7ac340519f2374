"""The schedules of a server as `GET /v1/redteam/schedules` reports them, with what is due and their latest runs."""

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
    """The schedules of a tenant, in the order of their file.

    Raises:
        AssayError: the file cannot be read any more.
    """
    now = services.store.now()
    schedules = [
        schedule for schedule in schedules_of_server(services.settings.policy, os.environ) if schedule.tenant == tenant
    ]
    planned = []
    with services.store.reading(tenant) as connection:
        for schedule in schedules:
            due = schedule.when.last(now)
            is_recorded = read_run(connection, tenant, run_id_of(schedule, micros(due))) is not None
            latest = last_run(connection, tenant, schedule.name)
            planned.append(
                AttackScheduleOut(
                    name=schedule.name,
                    plan=plan_of(schedule.when),
                    suite=schedule.suite if schedule.suite == APPROVED else Path(schedule.suite).name,
                    target=shown_target(schedule),
                    target_version=schedule.target_version,
                    categories=list(schedule.categories),
                    propose=schedule.propose,
                    budget=schedule.budget,
                    due=due,
                    made=is_recorded,
                    last=None if latest is None else AttackRunLine.of(latest),
                )
            )
    return planned


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
    """The target without possible secrets: an address without user name, password and query, or a command without its
    arguments."""
    kind, _, rest = schedule.target.partition(":")
    if kind in {"http", "https"}:
        try:
            parts = urlsplit(schedule.target)
        except ValueError:  # the run will fail with the reason; what cannot be parsed may contain a secret
            return f"{kind}:"
        place = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{place}{parts.path}"
    if kind == "command":
        return f"command:{rest.split(maxsplit=1)[0] if rest.split() else ''}"
    return schedule.target
