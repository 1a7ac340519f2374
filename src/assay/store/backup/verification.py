"""Verifying a copy of a database of SQLite without changing it.

1. SQLite finds its pages and indexes whole (`integrity_check`), and no row refers to one that is not there.
2. Its tables are of a version that this one knows.
3. Nothing in it runs by itself or is in the place of a table.
4. The log of every tenant holds, with the content of its runs; no tenant has rows without a log.

A copy of older tables is brought to those of this version in a second copy, in which 4 is done: the copy itself stays
as it is, so that the version that made it can still use it.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, create_engine, event, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from assay.errors import AuditError, InputError, StoreError
from assay.receipt import KeyRing
from assay.store.audit.across import tenants_of, without_log
from assay.store.audit.log import read_head
from assay.store.audit.verification.foreign_code import foreign_code
from assay.store.audit.verification.log import Finding, FindingCode, verify_log
from assay.store.audit.verification.run_contents import with_contents
from assay.store.backup.manifest import LogOfCopy
from assay.store.backup.sqlite_files import address, copy_file, private_file
from assay.store.db.engine import make_engine
from assay.store.db.migrate import HEAD, known_revisions, migrate, reason
from assay.store.db.migrate import revision as revision_of
from assay.store.db.tables import audit_checkpoints, audit_logs

_MOST: Final = 20
"""Of more findings of SQLite itself only the first are reported."""


@dataclass(frozen=True, slots=True)
class CopyVerification:
    """What was found of a copy."""

    revision: str
    """The last migration of its tables."""
    logs: tuple[LogOfCopy, ...]
    findings: tuple[str, ...]
    """What does not hold, a sentence each; nothing where all of it does."""

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def verify_copy(path: Path, ring: KeyRing | None, anchors: Sequence[str] = ()) -> CopyVerification:
    """Verify a copy that nobody writes.

    Args:
        path: the file.
        ring: the keys that are trusted; none where nothing in the copy is signed.
        anchors: checkpoints from outside, as notes.

    Raises:
        StoreError: it is no database of assay, or one of a newer version.
        InputError: its checkpoints are signed, and no keys were given.
    """
    try:
        with _read_only(path) as connection:
            revision = _known_revision(path, connection)
            found = [*_damage(connection), *foreign_code(connection)]
            if found:  # nothing else is read of what is damaged or runs by itself
                return CopyVerification(revision, (), tuple(found))
            if revision == HEAD:
                return _with_logs(connection, revision, ring, anchors)
        with private_file(path) as scratch:
            copy_file(path, scratch)
            engine = make_engine(str(scratch))
            try:
                migrate(engine)
                with engine.connect() as connection:
                    return _with_logs(connection, revision, ring, anchors)
            finally:
                engine.dispose()
    except SQLAlchemyError as error:
        raise StoreError(f"{path} cannot be read as a database of assay: {reason(error)}") from error


@contextmanager
def _read_only(path: Path) -> Iterator[Connection]:
    """A connection that can change nothing and makes no file; the content is taken for hostile."""

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(address(path, "mode=ro&immutable=1"), uri=True, isolation_level=None)

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)
    event.listen(engine, "connect", _distrust)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _distrust(connection: Any, _: Any) -> None:
    for pragma in ("query_only=ON", "trusted_schema=OFF", "cell_size_check=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _known_revision(path: Path, connection: Connection) -> str:
    found = revision_of(connection)
    if found is None:
        raise StoreError(f"expected a database of assay in {path}, and it has none of its tables")
    if found not in known_revisions():
        raise StoreError(
            f"{path} has tables of version {found[:40]!a}, which this version of assay does not know "
            f"(its own is {HEAD}); use the version that made it, or a newer one"
        )
    return found


def _damage(connection: Connection) -> list[str]:
    said = connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})").scalars().all()
    found = [] if said == ["ok"] else [f"SQLite finds damage: {one}" for one in said]
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(_MOST)
    return found + [f"a row of {row[0]} refers to a row of {row[2]} that is not there" for row in broken]


def _with_logs(connection: Connection, revision: str, ring: KeyRing | None, anchors: Sequence[str]) -> CopyVerification:
    if ring is None:
        signed = connection.execute(select(audit_checkpoints.c.tenant)).first()
        if signed is not None or anchors:
            raise InputError(
                "the log has signed checkpoints: name the public keys with --ring, or set ASSAY_RECEIPT_KEYS"
            )
        ring = KeyRing()
    logs, findings, used = [], [], set()
    for tenant, names in tenants_of(connection).items():
        if audit_logs.name not in names:
            continue  # told of by `without_log`
        try:
            origin = read_head(connection, tenant).origin
            own = [note for note in anchors if note.partition("\n")[0] == origin]
            used.update(own)
            found = with_contents(connection, tenant, verify_log(connection, tenant, ring, own))
        except AuditError as error:
            findings.append(f"tenant {tenant}: {error}")
            continue
        logs.append(LogOfCopy(tenant=tenant, origin=found.origin, size=found.size, root=found.root.hex()))
        findings += [f"tenant {tenant}: {one.code.value}: {one.message}" for one in found.findings]
    strangers = [
        Finding(FindingCode.OTHER_LOG, "a checkpoint from outside is of a log that the copy does not have")
        for note in anchors
        if note not in used
    ]
    findings += [f"{one.code.value}: {one.message}" for one in (*without_log(connection), *strangers)]
    return CopyVerification(revision, tuple(logs), tuple(findings))
