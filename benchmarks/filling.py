"""A large store of made-up reports, filled fast, whose rows and log are what recording would have written."""

import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Engine, Table, text, update

from assay.guard import Guard
from assay.schema import Action, Evidence
from assay.store.audit.log import Appender, Entry, read_tiles
from assay.store.audit.merkle.tiles import Edge, edge_places
from assay.store.db import tables
from assay.store.db.column_values import micros
from assay.store.db.engine import make_engine, writing
from assay.store.db.migrate import migrate
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows, insert_tuples
from assay.store.db.row_security import set_acting_tenant
from assay.store.db.writer import Change
from assay.store.records.check_rows import change_of
from assay.store.records.interface import CheckRecord, new_id
from assay.testing import FakeScorer

TENANT: Final = "default"
POOL: Final = 2_000
"""Different checks, each of which is stored many times under ids of its own."""
BATCH: Final = 2_000
COPIED: Final = 20_000
"""Reports that PostgreSQL is told; the others are copies."""
TILES_AT_ONCE: Final = 1 << 16
DAYS: Final = 90
SHARES: Final = {Action.EMIT: 0.745, Action.BLOCK: 0.15, Action.REVISE: 0.1, Action.ESCALATE: 0.005}
CALLERS: Final = ("desk", "shop", "intranet", "crm", "bot")

_NAMED: Final = ("id", "run", "report", "record")
"""Columns that hold the id of a check."""


@dataclass(frozen=True, slots=True)
class Mould:
    """One check as it is stored: copies differ in id and time."""

    id: str
    change: Change
    tuples: dict[Table, list[tuple[Any, ...]]]
    places: dict[Table, list[int]]
    """Columns that hold the id."""
    created: dict[Table, int]
    """The column that holds the time."""


def fill(url: str, count: int, seed: int = 1) -> None:
    """Store so many reports, fast: the rows of a few checks under new ids, with their entries in the log."""
    draw = random.Random(seed)
    engine = make_engine(url)
    migrate(engine)
    guard = Guard("general", scorer=FakeScorer())
    moulds = [_mould(_check(draw, number, guard)) for number in range(POOL)]
    counts = Counter(map(_action, moulds))
    weights = [SHARES[_action(mould)] / counts[_action(mould)] for mould in moulds]
    print(f"{POOL:,} different checks: {', '.join(f'{count:,} {action.value}' for action, count in counts.items())}")
    begun, now = time.perf_counter(), datetime.now(UTC)
    appender, hours = Appender(), Counter[tuple[int, str, str]]()
    once(engine, moulds)
    # PostgreSQL copies rows itself, many times faster than it is told them: the latest ones are told, and copied back
    # in time.
    copies = max(1, count // COPIED) if engine.dialect.name == "postgresql" else 1
    count //= copies
    span = timedelta(hours=DAYS * 24 // copies)
    for first in range(0, count, BATCH):
        chosen = draw.choices(moulds, weights, k=min(BATCH, count - first))
        together: dict[Table, list[tuple[Any, ...]]] = {}
        entries: list[Entry] = []
        for offset, mould in enumerate(chosen):
            at = micros(now - span * (1 - (first + offset) / count))
            id_ = f"{at // 1000:012x}{draw.getrandbits(80):020x}"
            _copy(mould, id_, at, together)
            entries += [
                Entry(one.kind, one.data.replace(mould.id.encode(), id_.encode()), id_) for one in mould.change.entries
            ]
            for row in mould.change.rows[tables.hourly]:
                hours[at // 3_600_000_000, row["kind"], row["name"]] += row["count"]
        with writing(engine).begin() as connection:
            set_acting_tenant(connection, TENANT)
            for table, rows in together.items():
                insert_tuples(connection, table, rows)
            appender.append(connection, TENANT, entries, appender.lock(connection, TENANT))
        if (first // BATCH) % 50 == 49:
            print(f"  {first + BATCH:>9,} stored in {time.perf_counter() - begun:,.0f} s", flush=True)
    with writing(engine).begin() as connection:
        set_acting_tenant(connection, TENANT)
        insert_rows(
            connection,
            tables.hourly,
            [
                {"tenant": TENANT, "hour": hour, "kind": kind, "name": name, "count": number}
                for (hour, kind, name), number in sorted(hours.items())
            ],
        )
    if copies > 1:
        grow(engine, copies, span)
    engine.dispose()
    print(f"{count * copies:,} reports stored in {time.perf_counter() - begun:,.0f} s")


def grow(engine: Engine, copies: int, span: timedelta) -> None:
    """Copy what PostgreSQL has, each time a span further back, until there are so many of it; then its indexes."""
    indexes = _drop_indexes(engine)
    with writing(engine).begin() as connection:
        set_acting_tenant(connection, TENANT)
        connection.exec_driver_sql(_SHIFTED)
        first = Appender().lock(connection, TENANT)
        seeds = {
            table.name: connection.exec_driver_sql(f"SELECT count(*) FROM {table.name}").scalar_one()  # noqa: S608
            for table in (*_COPIED, tables.audit_entries)
        }
        print(f"  copying {seeds}", flush=True)
        for table in _COPIED:
            # Their own tables, so that what was copied is not copied again.
            connection.exec_driver_sql(f"CREATE TEMP TABLE seed_{table.name} AS SELECT * FROM {table.name}")  # noqa: S608
        connection.exec_driver_sql(
            "CREATE TEMP TABLE seed_log AS SELECT row_number() OVER (ORDER BY idx) - 1 AS place, kind, record, data "
            "FROM audit_entries"
        )
        for copy in range(1, copies):
            back = copy * span
            for table in _COPIED:
                connection.exec_driver_sql(_copying(table, back))
            id_ = _moved("record", back)
            connection.exec_driver_sql(
                "INSERT INTO audit_entries (tenant, idx, kind, record, data) "  # noqa: S608
                f"SELECT '{TENANT}', {first * copy} + place, kind, {id_}, "
                f"convert_to(replace(convert_from(data, 'UTF8'), record, {id_}), 'UTF8') FROM seed_log"
            )
            print(f"  {copy + 1} of {copies} copies", flush=True)
        _log_tiles(connection, first, first * copies)
    import psycopg

    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as outside:  # VACUUM runs in no transaction
        for statement in (*indexes, "VACUUM ANALYZE"):
            outside.execute(statement)


def _copying(table: Table, back: timedelta) -> str:
    ms = back // timedelta(milliseconds=1)
    values = []
    for column in table.columns:
        if column.name in _NAMED:
            values.append(_moved(column.name, back))
        elif column.name == "created":
            values.append(f"created - {ms * 1_000}")
        elif column.name == "hour":
            values.append(f"hour - {ms // 3_600_000}")
        else:
            values.append(f'"{column.name}"')
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    conflict = "ON CONFLICT (tenant, hour, kind, name) DO UPDATE SET count = hourly.count + excluded.count"
    return (
        f"INSERT INTO {table.name} ({names}) SELECT {', '.join(values)} FROM seed_{table.name} "  # noqa: S608
        f"{conflict if table is tables.hourly else ''}"
    )


def _moved(column: str, back: timedelta) -> str:
    """An id that far back: it begins with its moment in milliseconds."""
    return f'pg_temp.moved("{column}", {back // timedelta(milliseconds=1)})'


_SHIFTED: Final = (
    "CREATE FUNCTION pg_temp.moved(id text, back bigint) RETURNS text IMMUTABLE LANGUAGE sql AS $$ "
    "SELECT lpad(to_hex(('x0000' || substr(id, 1, 12))::bit(64)::bigint - back), 12, '0') || substr(id, 13) $$"
)
_COPIED: Final = (
    tables.runs,
    tables.reports,
    tables.report_search,
    tables.claims,
    tables.run_evidence,
    tables.tool_calls,
    tables.decisions,
    tables.review_items,
    tables.outbox,
    tables.hourly,
)


def _log_tiles(connection: Connection, begin: int, end: int) -> None:
    """The tiles of the log behind its first entries, by the hashes that the database works out."""
    edge = Edge(begin, read_tiles(connection, TENANT, edge_places(begin)))
    for first in range(begin, end, TILES_AT_ONCE):
        hashes = connection.execute(
            text(
                "SELECT sha256('\\x00'::bytea || data) FROM audit_entries WHERE tenant = :of AND idx >= :first "
                "AND idx < :last ORDER BY idx"
            ),
            {"of": TENANT, "first": first, "last": min(end, first + TILES_AT_ONCE)},
        ).scalars()
        changed = edge.extend(bytes(one) for one in hashes)
        insert_tuples(
            connection,
            tables.audit_tiles,
            [(TENANT, *place, data) for place, data in sorted(changed.items())],
            "ON CONFLICT (tenant, level, idx) DO UPDATE SET hashes = excluded.hashes",
        )
    connection.execute(update(tables.audit_logs).values(size=end))


def _drop_indexes(engine: Engine) -> list[str]:
    """Drop the indexes that no key needs, for they are made faster at once; what makes them again is returned."""
    found = text(
        "SELECT i.indexname, i.indexdef FROM pg_indexes i JOIN pg_class c ON c.relname = i.indexname "
        "JOIN pg_index x ON x.indexrelid = c.oid WHERE i.schemaname = current_schema() AND NOT x.indisunique"
    )
    with engine.begin() as connection:
        rows = connection.execute(found).all()
        for row in rows:
            connection.execute(text(f"DROP INDEX {row.indexname}"))
    return [row.indexdef for row in rows]


def once(engine: Any, moulds: Sequence[Mould]) -> None:
    """What all copies share: policies, verifiers, evidence."""
    with writing(engine).begin() as connection:
        set_acting_tenant(connection, TENANT)
        for mould in moulds:
            for table in (tables.policies, tables.verifiers, tables.evidence):
                insert_rows(connection, table, mould.change.rows[table], UNLESS_THERE)


def _action(mould: Mould) -> Action:
    return Action(mould.change.rows[tables.reports][0]["action"])


def _mould(record: CheckRecord) -> Mould:
    change = change_of(record, datetime.now(UTC))
    shared = {tables.policies, tables.verifiers, tables.evidence, tables.hourly}
    own = {table: rows for table, rows in change.rows.items() if table not in shared and rows}
    return Mould(
        record.id,
        change,
        {table: [tuple(row[column.name] for column in table.columns) for row in rows] for table, rows in own.items()},
        {table: [place for place, column in enumerate(table.columns) if column.name in _NAMED] for table in own},
        {table: next((p for p, c in enumerate(table.columns) if c.name == "created"), -1) for table in own},
    )


def _copy(mould: Mould, id_: str, at: int, together: dict[Table, list[tuple[Any, ...]]]) -> None:
    for table, rows in mould.tuples.items():
        into = together.setdefault(table, [])
        for row in rows:
            made = list(row)
            for place in mould.places[table]:
                if isinstance(made[place], str):
                    made[place] = made[place].replace(mould.id, id_)
            if mould.created[table] >= 0:
                made[mould.created[table]] = at
            into.append(tuple(made))


def _check(draw: random.Random, number: int, guard: Guard) -> CheckRecord:
    """A check of three made-up sentences, as the guard decides on it; every other one has a fault in the middle."""
    kind = draw.choice(["held", "held", "faulty", "foreign", "weak"])
    told = [_sentence(draw) for _ in range(3)]
    answered = list(told)
    if kind == "faulty":
        answered[1] = answered[1].replace(" weeks", "0 weeks")
    elif kind == "foreign":
        answered[1] = _sentence(draw)
    elif kind == "weak":
        answered[1] = answered[1].replace("Partners", f"Partners of {_word(draw)} {_word(draw)}")
    output = " ".join(answered)
    asked = {
        "answer": output,
        "question": f"{draw.choice(_ASKED)} {_word(draw)} {_word(draw)} {_word(draw)} rare{number}?",
        "stakes": draw.choice(["medium", "medium", "high"]),
        "task": "qa",
    }
    evidence = tuple(Evidence(id=f"hr-{number}-{place}", text=one) for place, one in enumerate(told))
    report = guard.check(evidence=evidence, **asked)  # type: ignore[arg-type]
    return CheckRecord(report, asked, evidence, guard.policy, caller=draw.choice(CALLERS), id=new_id())


_ASKED: Final = ("How many weeks are there for", "What is paid for", "Who decides on", "May partners have", "When ends")


def _sentence(draw: random.Random) -> str:
    return f"Partners {' '.join(_word(draw) for _ in range(12))} {draw.randrange(1, 60)} weeks."


def _word(draw: random.Random) -> str:
    """A made-up word; few of them are most of what is said, as in any language."""
    number, made = min(2_999, int(draw.paretovariate(0.6))), ""
    while number or not made:
        number, at = divmod(number, len(_SYLLABLES))
        made += _SYLLABLES[at]
    return made


_SYLLABLES: Final = ("ba", "ke", "mi", "no", "tu", "la", "se", "ri", "do", "pu", "va", "ne", "fi", "go", "zu")
