"""`audit verify` looks at the logs of all tenants: a row that is copied to a tenant without a log is found."""

import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.store.bound import make_full
from tests.store.making import record_of
from typer.testing import CliRunner, Result

from assay.cli.app import app
from assay.receipt import KeyStore
from assay.store.audit.across import tenants_without_log
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.units import UNITS
from assay.store.db.store import Store


def keys_in(folder: Path) -> KeyStore:
    keys = KeyStore(folder / "keys")
    keys.create(datetime.now(UTC))
    return keys


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "assay.db"
    keys = keys_in(tmp_path)
    with Store(str(path)) as store:
        for number in range(3):
            store.record(record_of(f"Partners get {number} weeks of leave."))
        make_checkpoint(store, keys, "default")
    return path


def verify(database: Path, *more: str) -> Result:
    ring = database.with_name("keys")
    return CliRunner().invoke(app, ["audit", "verify", "--database", str(database), "--ring", str(ring), *more])


def copy_rows(database: Path, table: str, tenant: str) -> int:
    """Copy the rows of a table to another tenant; returns how many."""
    with sqlite3.connect(database) as connection:
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        chosen = ", ".join("?" if name == "tenant" else name for name in names)
        return connection.execute(
            f"INSERT INTO {table} ({', '.join(names)}) SELECT {chosen} FROM {table} WHERE tenant = 'default'",  # noqa: S608 names of ours
            (tenant,),
        ).rowcount


TABLES = sorted({table.name for unit in UNITS for table in (unit.head, *(p.table for p in unit.parts))} | {"hourly"})


def test_a_run_that_is_copied_to_a_tenant_without_a_log_is_found(database: Path) -> None:
    assert verify(database).exit_code == 0
    for table in ("runs", "reports", "claims", "run_evidence", "decisions"):
        copy_rows(database, table, "acme")
    for asked in ((), ("--tenant", "default"), ("--tenant", "acme"), ("--log-only",)):
        found = verify(database, *asked)
        assert found.exit_code == 1, asked
        assert "unlogged: the tenant 'acme' has rows in" in found.output


def test_rows_of_any_table_in_a_tenant_without_a_log_are_found(tmp_path: Path) -> None:
    make_full(str(tmp_path / "full.db"), tmp_path).store.close()
    for table in TABLES:
        database = tmp_path / f"{table}.db"
        shutil.copy(tmp_path / "full.db", database)
        try:
            copied = copy_rows(database, table, "acme")
        except sqlite3.IntegrityError:
            continue  # a name that no other tenant may have
        assert copied > 0, table
        with Store(str(database)) as store, store.reading_across() as connection:
            (found,) = tenants_without_log(connection)
        assert f"'acme' has rows in {table}, and no log" in found.message


def test_a_log_made_up_for_the_copy_does_not_hold_either(database: Path) -> None:
    copy_rows(database, "runs", "acme")
    with sqlite3.connect(database) as connection:
        connection.execute("INSERT INTO audit_logs (tenant, origin, size) VALUES ('acme', 'example.com/acme', 0)")
    found = verify(database)
    assert found.exit_code == 1
    assert "unlogged: tenant acme: run" in found.output


def test_checkpoints_of_several_logs_are_each_held_against_their_own(database: Path, tmp_path: Path) -> None:
    keys = KeyStore(database.with_name("keys"))
    with Store(str(database)) as store:
        store.record(record_of("Partners get 2 weeks of leave.", tenant="acme"))
        notes = [make_checkpoint(store, keys, tenant) for tenant in ("default", "acme")]
    for number, note in enumerate(notes):
        (tmp_path / f"{number}.note").write_text(note, encoding="utf-8")
    anchors = [f"--checkpoint={tmp_path / f'{number}.note'}" for number in range(2)]
    assert verify(database, *anchors).exit_code == 0
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE runs SET question = 'Another?' WHERE tenant = 'acme'")
    found = verify(database, *anchors)
    assert found.exit_code == 1
    assert "tenant acme: " in found.output


def test_a_database_whose_only_tenant_is_another_one_is_verified_without_being_told(tmp_path: Path) -> None:
    path = tmp_path / "assay.db"
    keys = keys_in(tmp_path)
    with Store(str(path)) as store:
        store.record(record_of(tenant="acme"))
        make_checkpoint(store, keys, "acme")
    assert verify(path).exit_code == 0
