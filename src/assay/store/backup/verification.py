"""Verifying a copy of a SQLite database without changing it.

1. SQLite finds its pages and indexes intact (`integrity_check`), and no row refers to a missing one.
2. This version of assay knows the version of its tables.
3. It has no triggers, and no view in the place of a table.
4. The log of every tenant holds, with the content of its runs; no tenant has rows without a log.

A copy with older tables is migrated in a second copy, on which step 4 is done: the copy itself stays unchanged, so that
the version that made it can still use it.
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
from assay.store.audit.across import tenants_of, tenants_without_log
from assay.store.audit.log import read_head
from assay.store.audit.verification.foreign_code import foreign_code
from assay.store.audit.verification.log import Finding, FindingCode, verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.backup.manifest import LogOfCopy
from assay.store.backup.sqlite_files import address, copy_file, private_file
from assay.store.db.engine import make_engine
from assay.store.db.migrate import HEAD, known_revisions, migrate, reason
from assay.store.db.migrate import revision as revision_of
from assay.store.db.tables import audit_checkpoints, audit_logs

_MOST_DAMAGE: Final = 20
"""The most findings of SQLite itself that are reported."""


@dataclass(frozen=True, slots=True)
class CopyVerification:
    """The result of verifying a copy."""

    revision: str
    """The newest migration that was applied to its tables."""
    logs: tuple[LogOfCopy, ...]
    findings: tuple[str, ...]
    """What does not hold, one sentence each; empty if everything holds."""

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def verify_copy(path: Path, ring: KeyRing | None, anchors: Sequence[str] = ()) -> CopyVerification:
    """Verify a copy that nobody writes to.

    Args:
        path: the file.
        ring: the trusted keys; None if nothing in the copy is signed.
        anchors: checkpoints from outside the host, as notes.

    Raises:
        StoreError: the file is not an assay database, or a newer version made it.
        InputError: its checkpoints are signed, and `ring` is None.
    """
    try:
        with _read_only(path) as connection:
            revision = _known_revision(path, connection)
            problems = [*_damage(connection), *foreign_code(connection)]
            if problems:  # nothing else is read from a file that is damaged or has code of its own
                return CopyVerification(revision, (), tuple(problems))
            if revision == HEAD:
                return _verify_logs(connection, revision, ring, anchors)
        with private_file(path) as scratch:
            copy_file(path, scratch)
            engine = make_engine(str(scratch))
            try:
                migrate(engine)
                with engine.connect() as connection:
                    return _verify_logs(connection, revision, ring, anchors)
            finally:
                engine.dispose()
    except SQLAlchemyError as error:
        raise StoreError(f"{path} cannot be read as a database of assay: {reason(error)}") from error


@contextmanager
def _read_only(path: Path) -> Iterator[Connection]:
    """A connection that cannot change anything and creates no file; the content is treated as hostile."""

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
    revision = revision_of(connection)
    if revision is None:
        raise StoreError(f"expected a database of assay in {path}, and it has none of its tables")
    if revision not in known_revisions():
        raise StoreError(
            f"{path} has tables of version {revision[:40]!a}, which this version of assay does not know "
            f"(its own is {HEAD}); use the version that made it, or a newer one"
        )
    return revision


def _damage(connection: Connection) -> list[str]:
    messages = connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST_DAMAGE})").scalars().all()
    damage = [] if messages == ["ok"] else [f"SQLite finds damage: {message}" for message in messages]
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(_MOST_DAMAGE)
    return damage + [f"a row of {row[0]} refers to a row of {row[2]} that is not there" for row in broken]


def _verify_logs(
    connection: Connection, revision: str, ring: KeyRing | None, anchors: Sequence[str]
) -> CopyVerification:
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
            continue  # `tenants_without_log` reports it
        try:
            origin = read_head(connection, tenant).origin
            own = [note for note in anchors if note.partition("\n")[0] == origin]
            used.update(own)
            verified = verify_contents(connection, tenant, verify_log(connection, tenant, ring, own))
        except AuditError as error:
            findings.append(f"tenant {tenant}: {error}")
            continue
        logs.append(LogOfCopy(tenant=tenant, origin=verified.origin, size=verified.size, root=verified.root.hex()))
        findings += [f"tenant {tenant}: {finding.code.value}: {finding.message}" for finding in verified.findings]
    unknown = [
        Finding(FindingCode.OTHER_LOG, "a checkpoint from outside is of a log that the copy does not have")
        for note in anchors
        if note not in used
    ]
    findings += [f"{finding.code.value}: {finding.message}" for finding in (*tenants_without_log(connection), *unknown)]
    return CopyVerification(revision, tuple(logs), tuple(findings))
