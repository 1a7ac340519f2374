"""Every column of every table is bound to the log, or listed with a reason: whatever is changed beside it is found."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, LargeBinary, Table, delete, func, insert, inspect, select, text, type_coerce, update
from sqlalchemy.exc import IntegrityError
from tests.store import bound
from tests.store.bound import (
    Full,
    altering,
    bound_tables,
    columns_to_try,
    key_of,
    make_full,
    other_values,
    row_trials,
    rows_of,
    state_of,
    tampered,
    verified,
    verified_since,
)
from tests.store.making import KEYS, record_of
from tests.store.older import make_older

from assay.errors import StoreError
from assay.schema.access import Role
from assay.store.access.users import change_user, create_user
from assay.store.audit.binding import touch
from assay.store.audit.merkle.checkpoint import read_checkpoint
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.units import BOUND_OTHERWISE, RUN, UNBOUND, UNBOUND_ROWS, UNBOUND_TABLES, UNITS
from assay.store.db import tables, writer
from assay.store.db.engine import writing
from assay.store.db.migrate import HEAD, revision
from assay.store.db.store import Store
from assay.store.records import check_rows


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Full]:
    folder = tmp_path_factory.mktemp("bound")
    made = make_full(f"sqlite:///{folder / 'x.db'}", folder)
    yield made
    made.store.close()


def test_what_nobody_touched_holds(full: Full) -> None:
    with altering(full.store) as connection:
        found = verified(connection, full)
    assert found.holds, found.findings
    assert found.anchors == 1


def test_every_table_of_the_database_is_bound_or_listed(full: Full) -> None:
    units = {unit.head.name for unit in UNITS} | {part.table.name for unit in UNITS for part in unit.parts}
    known = units | set(BOUND_OTHERWISE) | set(UNBOUND_TABLES)
    there = set(inspect(full.store.engine).get_table_names())
    # What the index of words keeps for itself.
    there = {name for name in there if not name.startswith("report_search_")}
    assert there - known == {"audit_anchors"}
    assert {f"audit_anchors.{one.name}" for one in tables.audit_anchors.columns} - set(UNBOUND) == {
        "audit_anchors.tenant"
    }
    assert all(reason.strip() for reason in (*UNBOUND.values(), *UNBOUND_TABLES.values(), *BOUND_OTHERWISE.values()))


def test_what_is_listed_is_there_and_small(full: Full) -> None:
    there = {f"{table.name}.{column.name}" for table in tables.metadata.sorted_tables for column in table.columns}
    assert set(UNBOUND) <= there
    assert not {name for name in UNBOUND if name.split(".")[0] in ("runs", "reports", "decisions", "users", "claims")}
    for table in bound_tables():
        with full.store.reading_across() as connection:
            assert rows_of(connection, table), f"no row of {table.name} to tamper with"


@pytest.mark.parametrize("column", columns_to_try(), ids=lambda column: f"{column.table.name}.{column.name}")
def test_a_change_of_this_very_column_is_found(full: Full, column: Column[Any]) -> None:
    table, draw, done = column.table, random.Random(1), 0
    assert isinstance(table, Table)
    with full.store.reading_across() as connection:
        rows = rows_of(connection, table)
    # A row that has a value, if there is one, and one that has none.
    filled = [row for row in rows if row._mapping[column.name] is not None]
    empty = [row for row in rows if row._mapping[column.name] is None]
    for row in (*filled[:1], *filled[-1:], *empty[:1]):
        for value in other_values(column, row._mapping[column.name], draw):
            with altering(full.store) as connection:
                if tampered(connection, column, row, value):
                    done += 1
                    found = verified(connection, full)
                    assert not found.holds, f"{row._mapping[column.name]!r} became {value!r}"
    assert done


@pytest.mark.parametrize("table", bound_tables(), ids=lambda table: table.name)
def test_a_value_of_another_type_is_found_whatever_the_column(full: Full, table: Table) -> None:
    tried = 0
    for column in table.columns:
        if column.name == "tenant":
            continue
        for value in ("'abc'", "x'616263'", "0.5", "x'ff41'", "cast(x'ff41' as text)", f"cast({column.name} as text)"):
            here = f"tenant = 'default' and {column.name} is not null"
            with altering(full.store) as connection:
                kinds = text(f"select distinct typeof({column.name}) from {table.name} where {here}")  # noqa: S608
                before = connection.execute(kinds).scalars().all()
                try:
                    connection.execute(text(f"update {table.name} set {column.name} = {value} where {here}"))  # noqa: S608
                except IntegrityError:
                    continue  # a key that is taken
                unreadable = bool(before) and "ff41" in value and "text" in value
                if set(before) == set(connection.execute(kinds).scalars()) and not unreadable:
                    continue  # the column made it what it was, or another value of its type
                if unreadable and f"{table.name}.{column.name}" in UNBOUND:
                    continue
                tried += 1
                found = verified(connection, full)
                assert not found.holds, f"{column.name} became {value}"
                assert found.findings[0].message
    assert tried


def test_the_attacks_that_went_unseen_are_found(full: Full) -> None:
    items, users, reports, runs = tables.review_items, tables.users, tables.reports, tables.runs
    year = 365 * 86_400 * 1_000_000
    for statement in (
        update(items).where(items.c.state == "open").values(state="approved"),
        items.delete().where(items.c.decided.is_not(None)),
        update(items).where(items.c.decided.is_not(None)).values(tier="async"),
        update(items).where(items.c.decided.is_not(None)).values(risk=0.0),
        update(users).where(users.c.roles == "reviewer").values(roles="admin reviewer"),
        update(reports).where(reports.c.caller == "app").values(caller="other"),
        update(runs).where(runs.c.caller == "app").values(caller="other"),
        update(reports).values(created=reports.c.created - year),
        update(runs).values(stakes="low"),
        update(runs).values(question="Another?"),
    ):
        with altering(full.store) as connection:
            assert connection.execute(statement).rowcount
            assert not verified(connection, full).holds, statement


TRIGGERS = {
    "a trigger on what changes": "CREATE TRIGGER own AFTER UPDATE OF version ON users WHEN new.name = 'bob' "
    "BEGIN UPDATE users SET roles = 'admin' WHERE name = 'bob'; END",
    "a trigger on another table": "CREATE TRIGGER own AFTER INSERT ON audit_entries "
    "BEGIN UPDATE users SET roles = 'admin' WHERE name = 'bob'; END",
}


@pytest.mark.parametrize("name", TRIGGERS)
def test_a_trigger_whose_changes_would_pass_as_our_own_is_found(tmp_path: Path, name: str) -> None:
    made = make_full(f"sqlite:///{tmp_path / 'x.db'}", tmp_path)
    with made.store as store:
        with writing(store.engine).begin() as connection:
            connection.execute(text(TRIGGERS[name]))
            bob = connection.execute(select(tables.users.c.id).where(tables.users.c.name == "bob")).scalar_one()
        change_user(store, bob, "default", actor="command", disabled=False)
        with store.reading("default") as connection:
            role = connection.execute(select(tables.users.c.roles).where(tables.users.c.id == bob)).scalar_one()
            found = verified(connection, made)
        assert role == "admin"
        assert "foreign_code" in [one.code.value for one in found.findings]


def test_a_view_in_the_place_of_a_table_is_found(tmp_path: Path) -> None:
    made = make_full(f"sqlite:///{tmp_path / 'x.db'}", tmp_path)
    with made.store as store:
        with writing(store.engine).begin() as connection:
            connection.execute(text("ALTER TABLE turns RENAME TO other"))
            connection.execute(text("CREATE VIEW turns AS SELECT * FROM other"))
        with store.reading("default") as connection:
            assert [one.code.value for one in verified(connection, made).findings] == ["foreign_code"]


def test_a_change_of_ours_does_not_take_over_what_was_altered_beside_it(tmp_path: Path) -> None:
    made = make_full(f"sqlite:///{tmp_path / 'x.db'}", tmp_path)
    with made.store as store:
        users = tables.users
        with writing(store.engine).begin() as connection:
            connection.execute(update(users).where(users.c.name == "ann").values(roles="admin viewer"))
        with store.reading("default") as connection:
            ann = connection.execute(select(users.c.id).where(users.c.name == "ann")).scalar_one()
        change_user(store, ann, "default", actor="command", roles=[Role.ADMIN])
        with store.reading("default") as connection:
            found = verified(connection, made)
        assert [one.code.value for one in found.findings] == ["altered_content"]
        assert "before entry" in found.findings[0].message


def test_changes_over_all_tables_are_found(full: Full) -> None:
    outcome = row_trials(full, 400, 7, state_of(full))
    assert not outcome.missed
    assert outcome.trials.total() == 400


@pytest.mark.parametrize("table", [tables.audit_checkpoints, tables.audit_anchors, tables.evidence])
def test_rows_of_every_table_that_are_dropped_or_copied_are_found_or_listed_with_a_reason(
    full: Full, table: Table
) -> None:
    with full.store.reading_across() as connection:
        stored = rows_of(connection, table)
    taken = read_checkpoint(full.anchor).size
    for row in stored:
        with altering(full.store) as connection:
            connection.execute(delete(table).where(key_of(table, row)))
            listed = f"{table.name}: a row dropped" in UNBOUND_ROWS and (
                table is tables.audit_anchors or row.size != taken
            )
            assert verified(connection, full).holds == listed
        with altering(full.store) as connection:
            values = dict(row._mapping) | ({"digest": "f" * 64} if table is tables.evidence else {"size": 10_000})
            if table is tables.evidence:
                values["body"] = type_coerce(values["body"], LargeBinary)
            connection.execute(insert(table).values(values))
            # A checkpoint under another size, an anchor of none, evidence that no run had.
            assert not verified(connection, full).holds
    assert all(reason.strip() for reason in UNBOUND_ROWS.values())


def older(folder: Path, patch: pytest.MonkeyPatch) -> tuple[str, str, set[str]]:
    """A database as a version left it that bound only what its decisions and acts name: its URL, a checkpoint, and the
    tables that it lacks."""
    url = f"sqlite:///{folder / 'old.db'}"
    with patch.context() as old:
        old.setattr(check_rows, "_binding_fields", lambda *_: {})
        old.setattr(writer, "bind", lambda *_: [])
        old.setattr(bound, "TAPE", None)
        made = make_full(url, folder)
    made.store.close()
    return url, made.anchor, make_older(folder / "old.db", "0005")


def test_a_database_of_an_older_version_is_bound_from_then_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, anchor, lacking = older(tmp_path, monkeypatch)
    with Store(url) as store:
        assert revision(store.engine) == HEAD
        full = Full(store, anchor)
        with altering(store) as connection:
            found = verified(connection, full)
        assert found.holds, found.findings
        with store.reading_across() as connection:
            size = connection.execute(select(func.sum(tables.audit_logs.c.size))).scalar_one()
        outcome = row_trials(full, 300, 3, without=lacking)
        # Of what is kept once for many runs, old decisions tell no more than the name and the second.
        untold = (" policies.body ", " policies.created ", " verifiers.created ")
        assert [one for one in outcome.missed if not any(name in one for name in untold)] == []
    with Store(url) as store, store.reading_across() as connection:
        assert connection.execute(select(func.sum(tables.audit_logs.c.size))).scalar_one() == size


@pytest.mark.parametrize("since", [False, True])
def test_rows_that_were_added_before_tables_were_put_back_are_not_taken_over_unseen(
    tmp_path: Path, since: bool
) -> None:
    """Who can write the database makes it one of an older version, with a user more in it, and lets a server start."""
    url = f"sqlite:///{tmp_path / 'x.db'}"
    with Store(url) as store:
        create_user(store, "ann", [Role.VIEWER], password="hash")  # noqa: S106
        if since:
            store.record(record_of())
        made = Full(store, make_checkpoint(store, KEYS, "default"))
        state = state_of(made) if since else None
        with writing(store.engine).begin() as connection:
            own = dict(connection.execute(select(tables.users)).one()._mapping)
            connection.execute(insert(tables.users).values({**own, "id": "e" * 32, "name": "eve", "seal": None}))
    make_older(tmp_path / "x.db", "0005")
    with Store(url) as store, altering(store) as connection:
        again = Full(store, made.anchor)
        found = verified(connection, again)
        assert "taken over" in " ".join(one.message for one in found.findings)
        assert state is None or not verified_since(connection, again, state)


def test_rows_are_not_bound_by_what_is_no_change_of_the_writer(tmp_path: Path) -> None:
    with (
        Store(str(tmp_path / "x.db")) as store,
        writing(store.engine).begin() as connection,
        pytest.raises(StoreError, match="changed by the writer"),
    ):
        touch(connection, RUN, ["0" * 32])


def test_a_trigger_is_found_on_every_database(url: str) -> None:
    with Store(url) as store:
        store.record(record_of())
        made = Full(store, make_checkpoint(store, KEYS, "default"))
        with store.reading("default") as connection:
            assert verified(connection, made).holds
        with writing(store.engine).begin() as connection:
            if connection.dialect.name == "sqlite":
                connection.execute(text("CREATE TRIGGER own AFTER INSERT ON runs BEGIN DELETE FROM feedback; END"))
            else:
                body = "CREATE FUNCTION own() RETURNS trigger AS $$ BEGIN RETURN NULL; END $$ LANGUAGE plpgsql"
                connection.execute(text("RESET ROLE"))
                connection.execute(text(body))
                connection.execute(text("CREATE TRIGGER own AFTER INSERT ON runs EXECUTE FUNCTION own()"))
        with store.reading("default") as connection:
            assert [one.code.value for one in verified(connection, made).findings] == ["foreign_code"]
