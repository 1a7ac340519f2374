"""Counting the record into sketches, outside of the path that answers requests.

The log of a tenant has its entries in one order without a gap, and an entry is there if and only if what it tells is.
So how far was counted is one number. 1. Entries from that number on are read, with the reports that they mention.
2. What they add is worked out. 3. One transaction adds it and moves the number, if nobody else has moved it meanwhile.
A process that dies at any moment leaves both or neither; two that count the same part add it once.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, and_, delete, func, or_, select, update

from assay.errors import AssayError
from assay.receipt import moment_of
from assay.store.audit.entries import DECISION, read_entry_data
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.raw_statements import insert_tuples
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.insights.hourly_counting import HOUR
from assay.store.records.recording import micros
from assay.store.sketches.measuring import ALL, DEFINITION, Adds, add_decision, add_standing, measured
from assay.store.sketches.standing import KINDS, Standing, standing_of

PART: Final = 400
"""Entries that are counted in one transaction: adding them takes the writer a few milliseconds."""
WORST: Final = 5
"""Outputs of each hour that are remembered as its worst."""
DAY: Final = 24
STEPS: Final = (1, DAY)
"""Hours that a row spans: a long period is read by the day."""

_ADD: Final = (
    "ON CONFLICT (tenant, step, metric, kind, name, hour, bin) DO UPDATE SET count = sketches.count + excluded.count, "
    "total = sketches.total + excluded.total, squares = sketches.squares + excluded.squares"
)
_ONCE: Final = "ON CONFLICT DO NOTHING"


class _Part:
    """Some entries of a log and what they add."""

    def __init__(self, begin: int) -> None:
        self.begin = self.end = begin
        self.adds = Adds()
        self.worst: list[tuple[int, str, float]] = []


def lagging(connection: Connection) -> dict[str, int]:
    """The tenants with entries that were not counted yet, and how many.

    Args:
        connection: one that sees the rows of all tenants (`Store.reading_across`).
    """
    logs, cursors = tables.audit_logs.c, tables.sketch_cursors.c
    joined = tables.audit_logs.outerjoin(
        tables.sketch_cursors, and_(cursors.tenant == logs.tenant, cursors.version == DEFINITION)
    )
    done = func.coalesce(cursors.position, 0)
    rows = connection.execute(select(logs.tenant, (logs.size - done).label("left")).select_from(joined))
    return {str(row.tenant): int(row.left) for row in rows if row.left > 0}


def count_part(store: Store, tenant: str, most: int = PART) -> int:
    """Count the next entries of a tenant's log; how many there were.

    Raises:
        StoreError: the database cannot be read or written.
    """
    with store.reading(tenant) as connection:
        begin, version = _cursor(connection, tenant)
        if version != DEFINITION:
            begin = 0
        part = _read(connection, tenant, begin, most)
    if part.end == begin and version == DEFINITION:
        return 0
    store.apply(Change(tenant, act=lambda connection: _add(connection, tenant, part, version)))
    return part.end - begin


def recount(store: Store, tenant: str) -> None:
    """Drop a tenant's sketches and count the whole log again.

    Raises:
        StoreError: the database cannot be read or written.
    """

    def drop(connection: Connection) -> Sequence[Entry]:
        _drop(connection, tenant)
        connection.execute(delete(tables.sketch_cursors).where(tables.sketch_cursors.c.tenant == tenant))
        return ()

    store.apply(Change(tenant, act=drop))
    while count_part(store, tenant):
        pass


def _drop(connection: Connection, tenant: str) -> None:
    for table in (tables.sketches, tables.worst_outputs):
        connection.execute(delete(table).where(table.c.tenant == tenant))


def _cursor(connection: Connection, tenant: str) -> tuple[int, int | None]:
    table = tables.sketch_cursors.c
    row = connection.execute(select(table.position, table.version).where(table.tenant == tenant)).one_or_none()
    return (0, None) if row is None else (int(row.position), int(row.version))


# Reading


def _read(connection: Connection, tenant: str, begin: int, most: int) -> _Part:
    table = tables.audit_entries.c
    rows = connection.execute(
        select(table.idx, table.kind, table.record, table.data)
        .where(table.tenant == tenant, table.idx >= begin)
        .order_by(table.idx)
        .limit(most)
    ).all()
    part = _Part(begin)
    if not rows:
        return part
    part.end = int(rows[-1].idx) + 1
    speaks = [row for row in rows if row.kind in KINDS and row.record is not None]
    decided = sorted({str(row.record) for row in speaks if row.kind == DECISION})
    others = sorted({str(row.record) for row in speaks if row.kind != DECISION})
    bodies = _bodies(connection, tenant, decided)
    agents = _agents(connection, tenant, [*decided, *others])
    past = _past(connection, tenant, others, part.end)
    for row in speaks:
        data = _entry_data(bytes(row.data))
        if data is None:
            continue
        record, agent = str(row.record), agents.get(str(row.record))
        if row.kind == DECISION:
            _decided(part, record, agent, data, bodies.get(record))
        else:
            _said(part, agent, past.get(record, ()), int(row.idx))
    return part


def _decided(
    part: _Part, record: str, agent: str | None, data: Mapping[str, Any], body: Mapping[str, Any] | None
) -> None:
    hour = _hour(data)
    if hour is None:
        return
    add_decision(part.adds, hour, agent, measured(data, body))
    after = Standing().after(data)
    add_standing(part.adds, hour, agent, Standing(), after)
    if after.score is not None:
        part.worst.append((hour, record, after.score))


def _said(part: _Part, agent: str | None, past: Sequence[tuple[int, Mapping[str, Any]]], idx: int) -> None:
    """One word of a person on an output: counted in the hour of the output."""
    first = next((data for _, data in past if data["kind"] == DECISION), None)
    hour = None if first is None else _hour(first)
    if hour is None:
        return
    before = standing_of(data for at, data in past if at < idx)
    after = standing_of(data for at, data in past if at <= idx)
    add_standing(part.adds, hour, agent, before, after)


def _hour(data: Mapping[str, Any]) -> int | None:
    moment = data.get("moment")
    if isinstance(moment, int):
        return moment // HOUR
    try:
        # What was recorded before rows were bound tells only when.
        return micros(moment_of(str(data.get("at")))) // HOUR
    except AssayError:
        return None


def _entry_data(data: bytes) -> dict[str, Any] | None:
    try:
        return read_entry_data(data)
    except AssayError:
        # It was altered. Verification of the log says so, and the counting of the others must not fail of it.
        return None


def _bodies(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    table = tables.reports.c
    rows = (
        connection.execute(
            select(table.id, table.body).where(table.tenant == tenant, table.id.in_(ids), table.body.is_not(None))
        )
        if ids
        else ()
    )
    return {str(row.id): row.body for row in rows if isinstance(row.body, dict)}


def _agents(connection: Connection, tenant: str, ids: Iterable[str]) -> dict[str, str]:
    table, wanted = tables.runs.c, sorted(set(ids))
    rows = (
        connection.execute(
            select(table.id, table.caller).where(
                table.tenant == tenant, table.id.in_(wanted), table.caller.is_not(None)
            )
        )
        if wanted
        else ()
    )
    return {str(row.id): str(row.caller) for row in rows}


def _past(
    connection: Connection, tenant: str, records: Sequence[str], end: int
) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """Everything that was said of some outputs so far, in order."""
    if not records:
        return {}
    table = tables.audit_entries.c
    rows = connection.execute(
        select(table.idx, table.record, table.data)
        .where(table.tenant == tenant, table.record.in_(records), table.kind.in_(KINDS), table.idx < end)
        .order_by(table.idx)
    )
    found: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for row in rows:
        if (entry := _entry_data(bytes(row.data))) is not None:
            found.setdefault(str(row.record), []).append((int(row.idx), entry))
    return found


# Adding


def _add(connection: Connection, tenant: str, part: _Part, version: int | None) -> Sequence[Entry]:
    begin, now = _cursor(connection, tenant)
    if now != version or (now == DEFINITION and begin != part.begin):
        return ()  # another process has counted it
    cursors = tables.sketch_cursors
    if now != DEFINITION:
        _drop(connection, tenant)
        insert_tuples(
            connection,
            cursors,
            [(tenant, part.end, DEFINITION)],
            "ON CONFLICT (tenant) DO UPDATE SET position = excluded.position, version = excluded.version",
        )
    else:
        connection.execute(update(cursors).where(cursors.c.tenant == tenant).values(position=part.end))
    insert_tuples(connection, tables.sketches, _rows(tenant, part.adds), _ADD)
    _keep_worst(connection, tenant, part.worst)
    return ()


def _rows(tenant: str, adds: Adds) -> list[tuple[Any, ...]]:
    summed: dict[tuple[Any, ...], tuple[int, int, int]] = {}
    for key, cell in adds.cells.items():
        # What is kept of single callers is read by the day alone: a row for each hour of each would outgrow the rest.
        for step in STEPS if key.kind == ALL[0] else (DAY,):
            place = (tenant, step, key.metric, key.kind, key.name, key.hour // step * step, key.bin)
            count, total, squares = summed.get(place, (0, 0, 0))
            summed[place] = count + cell.count, total + cell.total, squares + cell.squares
    return [(*place, *values) for place, values in sorted(summed.items()) if any(values)]


def _keep_worst(connection: Connection, tenant: str, worst: Sequence[tuple[int, str, float]]) -> None:
    table = tables.worst_outputs
    by_hour: dict[int, list[tuple[float, str]]] = {}
    for hour, report, score in worst:
        by_hour.setdefault(hour, []).append((score, report))
    for hour, found in sorted(by_hour.items()):
        lowest = sorted(found)[:WORST]
        insert_tuples(connection, table, [(tenant, hour, report, score) for score, report in lowest], _ONCE)
        here = and_(table.c.tenant == tenant, table.c.hour == hour)
        kept = connection.execute(
            select(table.c.report, table.c.score).where(here).order_by(table.c.score, table.c.report).limit(WORST)
        ).all()
        if len(kept) == WORST:
            last = kept[-1]
            beyond = or_(table.c.score > last.score, and_(table.c.score == last.score, table.c.report > last.report))
            connection.execute(delete(table).where(here, beyond))
