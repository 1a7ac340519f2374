"""Counting recorded checks into sketches, in the background.

The entries of a tenant's log are ordered without gaps, and an entry exists if and only if its event is stored. So the
progress of counting is a single number, the cursor.

1. Entries from the cursor on are read, with the reports that they mention.
2. Their increments are computed.
3. One transaction adds the increments and advances the cursor, unless another process has advanced it meanwhile.

A process that dies at any moment leaves both or neither; two processes that count the same entries add them once.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, and_, delete, func, or_, select, update

from assay.errors import AssayError
from assay.receipt import moment_of
from assay.store.audit.entries import DECISION, read_entry_data
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import micros
from assay.store.db.raw_statements import UNLESS_THERE, insert_tuples
from assay.store.db.store import Store, report_bodies
from assay.store.db.writer import Change
from assay.store.insights.hourly_increments import HOUR
from assay.store.sketches.metrics import ALL, DEFINITION, Increments, add_decision, add_state_change, measurements
from assay.store.sketches.output_state import KINDS, OutputState, state_after

BATCH: Final = 400
"""Entries that are counted in one transaction: adding them takes the writer a few milliseconds."""
WORST: Final = 5
"""The number of worst outputs that are stored for each hour."""
DAY: Final = 24
"""A day in hours."""
STEPS: Final = (1, DAY)
"""The spans of rows in hours: long periods are read from rows of a day."""

_ADD: Final = (
    "ON CONFLICT (tenant, step, metric, kind, name, hour, bin) DO UPDATE SET count = sketches.count + excluded.count, "
    "total = sketches.total + excluded.total, squares = sketches.squares + excluded.squares"
)


class _Batch:
    """Some entries of a log, from `begin` up to but not including `end`, with their increments."""

    def __init__(self, begin: int) -> None:
        self.begin = self.end = begin
        self.increments = Increments()
        self.scores: list[tuple[int, str, float]] = []
        """Hour, report and score of each decided output, from which the worst are chosen."""


def uncounted_entries(connection: Connection) -> dict[str, int]:
    """The number of entries that are still to be counted, by tenant; tenants without any are left out.

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


def count_part(store: Store, tenant: str, most: int = BATCH) -> int:
    """Count the next entries of a tenant's log; returns their number.

    Raises:
        StoreError: the database cannot be read or written.
    """
    with store.reading(tenant) as connection:
        begin, version = _cursor(connection, tenant)
        if version != DEFINITION:
            begin = 0
        batch = _read(connection, tenant, begin, most)
    if batch.end == begin and version == DEFINITION:
        return 0
    store.apply(Change(tenant, act=lambda connection: _add(connection, tenant, batch, version)))
    return batch.end - begin


def recount(store: Store, tenant: str) -> None:
    """Delete a tenant's sketches and count the whole log again.

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
    """The number of counted entries, and the version of the definition under which they were counted."""
    table = tables.sketch_cursors.c
    row = connection.execute(select(table.position, table.version).where(table.tenant == tenant)).one_or_none()
    return (0, None) if row is None else (int(row.position), int(row.version))


# Reading


def _read(connection: Connection, tenant: str, begin: int, most: int) -> _Batch:
    table = tables.audit_entries.c
    rows = connection.execute(
        select(table.idx, table.kind, table.record, table.data)
        .where(table.tenant == tenant, table.idx >= begin)
        .order_by(table.idx)
        .limit(most)
    ).all()
    batch = _Batch(begin)
    if not rows:
        return batch
    batch.end = int(rows[-1].idx) + 1
    relevant = [row for row in rows if row.kind in KINDS and row.record is not None]
    decided = sorted({str(row.record) for row in relevant if row.kind == DECISION})
    judged = sorted({str(row.record) for row in relevant if row.kind != DECISION})
    bodies = report_bodies(connection, tenant, decided)
    agents = _agents(connection, tenant, [*decided, *judged])
    histories = _histories(connection, tenant, judged, batch.end)
    for row in relevant:
        data = _entry_data(bytes(row.data))
        if data is None:
            continue
        record, agent = str(row.record), agents.get(str(row.record))
        if row.kind == DECISION:
            _count_decision(batch, record, agent, data, bodies.get(record))
        else:
            _count_judgement(batch, agent, histories.get(record, ()), int(row.idx))
    return batch


def _count_decision(
    batch: _Batch, record: str, agent: str | None, data: Mapping[str, Any], body: Mapping[str, Any] | None
) -> None:
    """Count the gate's decision on an output in its hour."""
    hour = _hour(data)
    if hour is None:
        return
    add_decision(batch.increments, hour, agent, measurements(data, body))
    after = OutputState().after(data)
    add_state_change(batch.increments, hour, agent, OutputState(), after)
    if after.score is not None:
        batch.scores.append((hour, record, after.score))


def _count_judgement(
    batch: _Batch, agent: str | None, history: Sequence[tuple[int, Mapping[str, Any]]], idx: int
) -> None:
    """Count a person's judgement of an output, in the hour of the output's decision."""
    decision = next((data for _, data in history if data["kind"] == DECISION), None)
    hour = None if decision is None else _hour(decision)
    if hour is None:
        return
    before = state_after(data for index, data in history if index < idx)
    after = state_after(data for index, data in history if index <= idx)
    add_state_change(batch.increments, hour, agent, before, after)


def _hour(data: Mapping[str, Any]) -> int | None:
    moment = data.get("moment")
    if isinstance(moment, int):
        return moment // HOUR
    try:
        # Entries from before rows were bound have only the formatted time.
        return micros(moment_of(str(data.get("at")))) // HOUR
    except AssayError:
        return None


def _entry_data(data: bytes) -> dict[str, Any] | None:
    try:
        return read_entry_data(data)
    except AssayError:
        # It was altered, which verification of the log reports; the other entries are counted all the same.
        return None


def _agents(connection: Connection, tenant: str, ids: Iterable[str]) -> dict[str, str]:
    """The callers of runs that have one, by the id of the run."""
    table, runs = tables.runs.c, sorted(set(ids))
    rows = (
        connection.execute(
            select(table.id, table.caller).where(table.tenant == tenant, table.id.in_(runs), table.caller.is_not(None))
        )
        if runs
        else ()
    )
    return {str(row.id): str(row.caller) for row in rows}


def _histories(
    connection: Connection, tenant: str, records: Sequence[str], end: int
) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """All relevant entries about some outputs before `end`, in order, with their indexes."""
    if not records:
        return {}
    table = tables.audit_entries.c
    rows = connection.execute(
        select(table.idx, table.record, table.data)
        .where(table.tenant == tenant, table.record.in_(records), table.kind.in_(KINDS), table.idx < end)
        .order_by(table.idx)
    )
    histories: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for row in rows:
        if (entry := _entry_data(bytes(row.data))) is not None:
            histories.setdefault(str(row.record), []).append((int(row.idx), entry))
    return histories


# Adding


def _add(connection: Connection, tenant: str, batch: _Batch, version: int | None) -> Sequence[Entry]:
    begin, current = _cursor(connection, tenant)
    if current != version or (current == DEFINITION and begin != batch.begin):
        return ()  # another process has counted it
    cursors = tables.sketch_cursors
    if current != DEFINITION:
        _drop(connection, tenant)
        insert_tuples(
            connection,
            cursors,
            [(tenant, batch.end, DEFINITION)],
            "ON CONFLICT (tenant) DO UPDATE SET position = excluded.position, version = excluded.version",
        )
    else:
        connection.execute(update(cursors).where(cursors.c.tenant == tenant).values(position=batch.end))
    insert_tuples(connection, tables.sketches, _rows(tenant, batch.increments), _ADD)
    _keep_worst(connection, tenant, batch.scores)
    return ()


def _rows(tenant: str, increments: Increments) -> list[tuple[Any, ...]]:
    summed: dict[tuple[Any, ...], tuple[int, int, int]] = {}
    for key, cell in increments.cells.items():
        # Series of single callers have rows of a day only: a row for each hour and caller would outgrow all others.
        for step in STEPS if key.kind == ALL[0] else (DAY,):
            place = (tenant, step, key.metric, key.kind, key.name, key.hour // step * step, key.bin)
            count, total, squares = summed.get(place, (0, 0, 0))
            summed[place] = count + cell.count, total + cell.total, squares + cell.squares
    return [(*place, *values) for place, values in sorted(summed.items()) if any(values)]


def _keep_worst(connection: Connection, tenant: str, scores: Sequence[tuple[int, str, float]]) -> None:
    table = tables.worst_outputs
    by_hour: dict[int, list[tuple[float, str]]] = {}
    for hour, report, score in scores:
        by_hour.setdefault(hour, []).append((score, report))
    for hour, outputs in sorted(by_hour.items()):
        lowest = sorted(outputs)[:WORST]
        insert_tuples(connection, table, [(tenant, hour, report, score) for score, report in lowest], UNLESS_THERE)
        this_hour = and_(table.c.tenant == tenant, table.c.hour == hour)
        kept = connection.execute(
            select(table.c.report, table.c.score).where(this_hour).order_by(table.c.score, table.c.report).limit(WORST)
        ).all()
        if len(kept) == WORST:
            last = kept[-1]
            beyond = or_(table.c.score > last.score, and_(table.c.score == last.score, table.c.report > last.report))
            connection.execute(delete(table).where(this_hour, beyond))
