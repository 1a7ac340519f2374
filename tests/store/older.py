"""A database with rows, as an older version of assay left it."""

from pathlib import Path

from alembic.runtime.environment import EnvironmentContext
from sqlalchemy import Engine, inspect, text

from assay.store.db import migrate as migrations
from assay.store.db.engine import make_engine, writing
from assay.store.db.tables import metadata


def upgrade_to(engine: Engine, wanted: str) -> None:
    """Run the migrations of an empty database up to one of them."""
    script, config = migrations._scripts(), migrations._config()
    with (
        writing(engine).begin() as connection,
        EnvironmentContext(config, script, fn=lambda current, _: script._upgrade_revs(wanted, current)) as environment,
    ):
        environment.configure(connection=connection, target_metadata=metadata)
        environment.run_migrations()


def make_older(database: Path, wanted: str) -> set[str]:
    """Take from a database of SQLite whatever later migrations than one have added to it.

    Returns:
        The names of the tables that it does not have any more.
    """
    model = make_engine(str(database.with_name(f"{database.name}.model")))
    upgrade_to(model, wanted)
    gone: set[str] = set()
    engine = make_engine(str(database))
    was, now = inspect(model), inspect(engine)
    with writing(engine).begin() as connection:
        known = set(was.get_table_names())
        for table in now.get_table_names():
            if table not in known:
                connection.execute(text(f"DROP TABLE {table}"))
                gone.add(table)
                continue
            indexes = {index["name"] for index in was.get_indexes(table)}
            for index in now.get_indexes(table):
                if index["name"] not in indexes:
                    connection.execute(text(f"DROP INDEX {index['name']}"))
            columns = {column["name"] for column in was.get_columns(table)}
            for column in now.get_columns(table):
                if column["name"] not in columns:
                    connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column['name']}"))
        connection.execute(text("UPDATE alembic_version SET version_num = :wanted"), {"wanted": wanted})
    model.dispose()
    engine.dispose()
    return gone


def tables_since(wanted: str, folder: Path) -> list[str]:
    """The names of the tables that migrations after one of them made."""
    model = make_engine(str(folder / f"model-{wanted}.db"))
    upgrade_to(model, wanted)
    known = set(inspect(model).get_table_names())
    model.dispose()
    return [name for name in metadata.tables if name not in known]


def last_but_one() -> str:
    """The migration before the last one."""
    return migrations.known_revisions()[-2]
