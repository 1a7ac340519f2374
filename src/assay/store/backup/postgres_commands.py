"""What is typed to dump a database of PostgreSQL and to restore it: its own tools do that better than anything here.

The tables are walled by row (`assay.store.db.row_security`), for their owner too. `pg_dump` refuses to leave rows out,
so it is told to act for all tenants, as the operator does. A superuser is above the walls and is not held up by it.
"""

import shlex
from pathlib import Path
from typing import Final

from sqlalchemy.engine import URL

from assay.store.db.row_security import EVERY_TENANT, ROWS_ROLE, SETTING

_ALL_ROWS: Final = f"PGOPTIONS={shlex.quote(f'-c {SETTING}={EVERY_TENANT}')}"
_ROLE: Final = (
    f"DO $$ BEGIN CREATE ROLE {ROWS_ROLE} NOLOGIN; EXCEPTION WHEN duplicate_object OR insufficient_privilege "
    "THEN NULL; END $$"
)
PASSWORD_NOTE: Final = "a password is taken from PGPASSWORD or ~/.pgpass, never from the command line"  # noqa: S105


def dump_commands(url: URL, out: Path) -> list[str]:
    """The commands that dump a database into a file, and look whether the file can be read.

    Args:
        url: of the database; its password is left out.
        out: the file.
    """
    file = shlex.quote(str(out))
    return [
        f"{_ALL_ROWS} pg_dump --format=custom --enable-row-security --dbname={_place(url)} --file={file}",
        f"pg_restore --list {file} >/dev/null && sha256sum {file} > {shlex.quote(f'{out}.sha256')}",
    ]


def restore_commands(file: Path, url: URL, *, replace: bool) -> list[str]:
    """The commands that restore a dump into an empty database, and verify its log.

    Args:
        file: the dump.
        url: of the database; its password is left out.
        replace: whether what is in the database is dropped first.
    """
    place, dump = _place(url), shlex.quote(str(file))
    drop = "--clean --if-exists " if replace else ""
    return [
        f"sha256sum --check {shlex.quote(f'{file}.sha256')}",
        f"psql --dbname={place} --command={shlex.quote(_ROLE)}",
        f"pg_restore --exit-on-error --single-transaction --no-owner {drop}--dbname={place} {dump}",
        f"assay audit verify --database {place}",
    ]


def _place(url: URL) -> str:
    """The URL as libpq reads it, without its password."""
    without_password = URL.create(
        "postgresql",
        url.username,
        None,
        url.host,
        url.port,
        url.database,
        {name: value for name, value in url.query.items() if name != "password"},
    )
    return shlex.quote(without_password.render_as_string(hide_password=False))
