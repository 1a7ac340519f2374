"""The second wall: PostgreSQL itself keeps tenants apart, tried with statements that forget to."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete, func, insert, make_url, select, text, update
from sqlalchemy.exc import DBAPIError, ProgrammingError
from tests.store.conftest import _needed
from tests.store.making import record_of
from tests.store.older import tables_since

from assay.errors import StoreError
from assay.schema.access import Permission, Role
from assay.store.access.api_keys import create_key, find_key
from assay.store.access.users import create_user, list_users
from assay.store.audit.units import UNITS
from assay.store.db import tables
from assay.store.db.engine import make_engine, writing
from assay.store.db.migrate import migrate
from assay.store.db.raw_statements import insert_rows
from assay.store.db.row_security import (
    EVERY_TENANT,
    ROWS_ROLE,
    set_acting_tenant,
    set_search_query,
    tables_without_row_security,
)
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.report_lists import ReportFilter, read_page


@pytest.fixture
def wall(postgres: str) -> Iterator[str]:
    """The URL of an empty PostgreSQL database, as its superuser."""
    psycopg = _needed("psycopg")
    name = f"w{secrets.token_hex(8)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield make_url(postgres).set(database=name).render_as_string(hide_password=False)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["superuser", "owner"])
def store(wall: str, postgres: str, request: pytest.FixtureRequest) -> Iterator[Store]:
    """A store of two tenants, opened by a superuser or by a plain owner of the database."""
    url = wall
    psycopg = _needed("psycopg")
    role = f"o{secrets.token_hex(6)}"
    if request.param == "owner":
        database = make_url(wall).database
        with psycopg.connect(wall, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'x'")
            connection.execute(f"ALTER DATABASE {database} OWNER TO {role}")
            connection.execute(f"GRANT ALL ON SCHEMA public TO {role}")
        url = make_url(wall).set(username=role).render_as_string(hide_password=False)
    with Store(url) as opened:
        for tenant in ("acme", "globex"):
            opened.record(record_of(tenant=tenant))
            create_user(opened, f"ada-{tenant}", [Role.ADMIN], tenant=tenant, password="x")  # noqa: S106
        yield opened
    if request.param == "owner":
        with psycopg.connect(wall, autocommit=True) as connection:
            connection.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER")
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")


def test_every_table_with_a_tenant_is_walled(wall: str) -> None:
    engine = make_engine(wall)
    migrate(engine)
    with engine.connect() as connection:
        assert tables_without_row_security(connection) == []
        walled = set(
            connection.execute(
                text("SELECT relname FROM pg_class WHERE relkind = 'r' AND relrowsecurity AND relforcerowsecurity")
            ).scalars()
        )
    engine.dispose()
    assert {table.name for table in tables.metadata.tables.values() if "tenant" in table.c} <= walled


def test_a_query_without_its_where_finds_rows_of_its_own_tenant_only(store: Store) -> None:
    for tenant in ("acme", "globex"):
        with store.reading(tenant) as connection:
            for table in (
                tables.runs,
                tables.reports,
                tables.claims,
                tables.evidence,
                tables.users,
                tables.audit_logs,
                tables.audit_entries,
                tables.tenants,
            ):
                assert set(connection.execute(select(table.c.tenant)).scalars()) == {tenant}, table.name


def test_a_transaction_that_names_no_tenant_finds_nothing_and_writes_nothing(store: Store) -> None:
    with store.engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(tables.runs)).scalar() == 0
    with writing(store.engine).begin() as connection:
        assert connection.execute(delete(tables.runs)).rowcount == 0
    with pytest.raises(DBAPIError, match="row-level security"), writing(store.engine).begin() as connection:
        connection.execute(insert(tables.tenants).values(tenant="acme2", title="x", created=0))


def test_one_tenant_can_neither_change_nor_make_rows_of_another(store: Store) -> None:
    with writing(store.engine).begin() as connection:
        set_acting_tenant(connection, "acme")
        assert connection.execute(update(tables.users).values(roles="viewer")).rowcount == 1
        assert (
            connection.execute(
                update(tables.users).where(tables.users.c.tenant == "globex").values(roles="viewer")
            ).rowcount
            == 0
        )
    assert list_users(store, "globex")[0].roles == (Role.ADMIN,)
    for statement in (
        insert(tables.tenants).values(tenant="globex2", title="x", created=0),
        update(tables.users).values(tenant="globex"),
    ):
        with writing(store.engine).begin() as connection:
            set_acting_tenant(connection, "acme")
            with pytest.raises(ProgrammingError, match="row-level security"), connection.begin_nested():
                connection.execute(statement)


def test_what_a_change_does_is_held_to_its_own_tenant(store: Store) -> None:
    def forgetful(connection: object) -> tuple[()]:
        connection.execute(delete(tables.claims))  # type: ignore[attr-defined]
        return ()

    store.apply(Change("acme", act=forgetful))
    with store.reading_across() as connection:
        assert set(connection.execute(select(tables.claims.c.tenant)).scalars()) == {"globex"}
    with pytest.raises(StoreError):
        store.apply(Change("acme", {tables.tenants: [{"tenant": "other", "title": "x", "created": 0}]}))


def test_the_tenant_of_a_transaction_ends_with_it(store: Store) -> None:
    with store.reading("acme") as connection:
        connection.execute(select(tables.runs.c.id)).all()
    for _ in range(5):
        with store.engine.connect() as connection:
            assert connection.execute(select(tables.runs.c.id)).all() == []


def test_the_operator_sees_all_tenants_and_has_to_say_so(store: Store) -> None:
    with store.reading_across() as connection:
        assert set(connection.execute(select(tables.runs.c.tenant)).scalars()) == {"acme", "globex"}
    key, kept = create_key(store, "crm", [Permission.CHECK], tenant="globex")
    found = find_key(store, key)
    assert found is not None
    assert (found.id, found.tenant) == (kept.id, "globex")
    with pytest.raises(StoreError, match="name of a tenant"):
        create_user(store, "eve", [Role.ADMIN], tenant=EVERY_TENANT)


def test_a_superuser_stands_behind_the_wall_once_the_tables_are_there(wall: str) -> None:
    with Store(wall) as opened, opened.engine.connect() as connection:
        assert connection.execute(text("SELECT current_user")).scalar() == ROWS_ROLE
        with pytest.raises(ProgrammingError):
            connection.execute(text("ALTER TABLE runs DISABLE ROW LEVEL SECURITY"))


def test_the_index_of_words_is_walled_like_every_table(store: Store) -> None:
    words = tables.report_search
    for tenant in ("acme", "globex"):
        with store.reading(tenant) as connection:
            assert set(connection.execute(select(words.c.owner)).scalars()) == {tenant}
            set_search_query(connection, "'partners'")
            assert connection.execute(select(words.c.owner)).scalars().all() == [tenant]
            set_search_query(connection, "'nowhere'")
            assert connection.execute(select(words.c.owner)).all() == []
    with store.engine.connect() as connection:
        set_search_query(connection, "'partners'")
        assert connection.execute(select(words.c.id)).all() == []
    with store.reading_across() as connection:
        assert set(connection.execute(select(words.c.owner)).scalars()) == {"acme", "globex"}


def test_words_of_another_tenant_can_neither_be_written_nor_taken_out(store: Store) -> None:
    words = tables.report_search
    with writing(store.engine).begin() as connection:
        set_acting_tenant(connection, "acme")
        assert connection.execute(delete(words).where(words.c.owner == "globex")).rowcount == 0
        with pytest.raises(ProgrammingError, match="row-level security"), connection.begin_nested():
            insert_rows(connection, words, [{"owner": "globex", "id": "f" * 32, "created": 0, "words": "x"}])
        assert connection.execute(delete(words)).rowcount == 1
    with store.reading("globex") as connection:
        assert read_page(connection, "globex", ReportFilter(words="partners")).items != ()
        assert read_page(connection, "acme", ReportFilter(words="partners")).items == ()


def test_a_search_behind_the_wall_uses_the_index_of_words(store: Store) -> None:
    with store.reading("acme") as connection:
        set_search_query(connection, "'partners'")
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        connection.execute(text("SET LOCAL enable_indexscan = off"))
        plan = connection.execute(text("EXPLAIN SELECT id FROM report_search")).scalars().all()
    assert any("ix_report_search_words" in line for line in plan), plan


def test_what_was_looked_for_ends_with_its_transaction(store: Store) -> None:
    for _ in range(5):
        with store.reading("acme") as connection:
            set_search_query(connection, "'nowhere'")
    with store.reading("acme") as connection:
        assert connection.execute(select(tables.report_search.c.owner)).scalars().all() == ["acme"]


def test_a_database_of_the_version_before_has_its_index_of_words_walled(wall: str, tmp_path: Path) -> None:
    later = [name for name in tables_since("0008", tmp_path) if name != "receipt_uses"]
    with Store(wall) as opened:
        opened.record(record_of(tenant="acme"))
    engine = make_engine(wall)
    with engine.begin() as connection:
        set_acting_tenant(connection, EVERY_TENANT)
        for statement in (
            *(f"DROP TABLE {name}" for name in later),
            "DROP TABLE receipt_uses",
            "DROP INDEX ix_reports_gaps",
            "DROP POLICY assay_tenant ON report_search",
            "ALTER TABLE report_search NO FORCE ROW LEVEL SECURITY",
            "ALTER TABLE report_search DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE runs DROP COLUMN tape",
            *(f"ALTER TABLE {unit.head.name} DROP COLUMN seal" for unit in UNITS if unit.head.name not in later),
            "UPDATE alembic_version SET version_num = '0004'",
        ):
            connection.execute(text(statement))
        assert tables_without_row_security(connection) == ["report_search"]
    engine.dispose()
    with Store(wall) as opened:
        with opened.reading("globex") as connection:
            assert connection.execute(select(tables.report_search.c.id)).all() == []
        with opened.reading("acme") as connection:
            assert tables_without_row_security(connection) == []
            assert len(read_page(connection, "acme", ReportFilter(words="partners")).items) == 1
