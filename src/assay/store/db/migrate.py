"""Migrates a database to the tables of this version."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Column, Connection, Engine, MetaData, Table, Text, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from assay.errors import StoreError
from assay.store.audit.adoption import adopt
from assay.store.db.engine import writing
from assay.store.db.row_security import EVERY_TENANT, enable_row_security, set_acting_tenant
from assay.store.db.tables import metadata

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

HEAD: Final = "0014"
"""The newest migration."""
_BOUND_FROM: Final = "0006"
"""The first migration in which rows are bound to the audit log."""

_FOLDER: Final = Path(__file__).with_name("migrations")
_VERSIONS: Final = Table("alembic_version", MetaData(), Column("version_num", Text))
_LOCK: Final = 0x61737361_79
"""The key of the PostgreSQL advisory lock under which one process migrates while the others wait."""


def migrate(engine: Engine) -> None:
    """Create or change the tables; nothing happens if they are up to date.

    It all happens in one transaction: a crash leaves the database as it was.

    Raises:
        StoreError: the database cannot be reached, or a newer version of assay migrated it.
    """
    try:
        # Alembic is imported only if there is something to do.
        if revision(engine) == HEAD:
            return
        with writing(engine).begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            set_acting_tenant(connection, EVERY_TENANT)
            # Read again: another process may have migrated while this one waited for the lock.
            old_revision = _revision(connection)
            _upgrade(connection)
            enable_row_security(connection)
            if old_revision is not None and old_revision < _BOUND_FROM:
                adopt(connection)
    except SQLAlchemyError as error:
        raise StoreError(f"the database cannot be opened: {reason(error)}") from error


def reason(error: SQLAlchemyError) -> str:
    """Why a database call failed, in one line without statements and values: those may hold secrets."""
    lines = str(getattr(error, "orig", None) or type(error).__name__).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def revision(database: Engine | Connection) -> str | None:
    """The last migration that was applied; None in an empty database."""
    if isinstance(database, Connection):
        return _revision(database)
    with database.connect() as connection:
        return _revision(connection)


def known_revisions() -> list[str]:
    """The migrations that this version knows, oldest first."""
    return [revision.revision for revision in _scripts().walk_revisions()][::-1]


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(_VERSIONS.name):
        return None
    return connection.execute(select(_VERSIONS.c.version_num)).scalar_one_or_none()


def _config() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _scripts() -> "ScriptDirectory":
    from alembic.script import ScriptDirectory

    return ScriptDirectory.from_config(_config())


def _upgrade(connection: Connection) -> None:
    from alembic.runtime.environment import EnvironmentContext
    from alembic.util import CommandError

    script = _scripts()

    def steps(current: Any, _: Any) -> Any:
        # What `alembic.command.upgrade` does, but without an env.py, which would run on import.
        return script._upgrade_revs("head", current)  # noqa: SLF001

    try:
        with EnvironmentContext(_config(), script, fn=steps) as environment:
            environment.configure(connection=connection, target_metadata=metadata)
            environment.run_migrations()
    except CommandError as error:
        raise StoreError(
            f"the database was made by a newer version of assay, or by something else: {error}; upgrade assay"
        ) from error
