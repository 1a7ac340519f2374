"""An index that lacks rows hides them from pages; a verification finds it."""

import sqlite3
from pathlib import Path

import pytest
from tests.store.making import KEYS, RING, record_of

from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.verification.incremental import verify_contents_since
from assay.store.audit.verification.log import FindingCode, LogVerification, verify_log
from assay.store.db.store import Store


def verified(database: Path, *, leaves: bool) -> LogVerification:
    with Store(str(database)) as store, store.reading("default") as connection:
        found = verify_log(connection, "default", RING)
        return verify_contents_since(connection, "default", found, None, leaves=leaves)[0]


def hide(database: Path, index: str) -> int:
    """Have an index made anew without one row, with the text that it had; returns how many rows it has."""
    with sqlite3.connect(database) as connection:
        query = "SELECT tbl_name, sql FROM sqlite_master WHERE name = ?"
        table, sql = connection.execute(query, (index,)).fetchone()
        (victim,) = connection.execute(f"SELECT id FROM {table} NOT INDEXED LIMIT 1").fetchone()  # noqa: S608 names of ours
    for text, rebuilds in ((f"{sql} WHERE id <> '{victim}'", True), (sql, False)):
        connection = sqlite3.connect(database, isolation_level=None)
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (text, index))
        connection.execute("PRAGMA writable_schema=RESET")
        if rebuilds:
            connection.execute(f"REINDEX {index}")
        connection.close()
    with sqlite3.connect(database) as connection:
        query = f"SELECT count(*) FROM {table} INDEXED BY {index} WHERE tenant = 'default'"  # noqa: S608
        return int(connection.execute(query).fetchone()[0])


@pytest.mark.parametrize(
    "index", ["ix_reports_tenant_created_id", "ix_runs_tenant_created_id", "ix_reports_tenant_caller_created_id"]
)
def test_a_row_that_an_index_lacks_is_found(index: str, tmp_path: Path) -> None:
    database = tmp_path / "assay.db"
    with Store(str(database)) as store:
        for number in range(4):
            store.record(record_of(f"Partners get {number} weeks of leave.", caller="desk"))
        make_checkpoint(store, KEYS, "default")
    assert verified(database, leaves=False).holds
    assert hide(database, index) == 3
    for leaves in (False, True):
        found = verified(database, leaves=leaves)
        assert {one.code for one in found.findings} == {FindingCode.HIDDEN_ROWS}
