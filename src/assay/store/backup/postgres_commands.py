"""The shell commands that dump and restore a PostgreSQL database with its own tools.

Row-level security applies to the owner of the tables too (`assay.store.db.row_security`), and `pg_dump` refuses to run
if it would leave rows out, so its session acts for all tenants. A superuser bypasses the policies and needs nothing.
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
    """The commands that dump a database into a file, and check that the file can be read.

    Args:
        url: the URL of the database; its password is left out.
        out: the file to write.
    """
    file = shlex.quote(str(out))
    return [
        f"{_ALL_ROWS} pg_dump --format=custom --enable-row-security --dbname={_libpq_url(url)} --file={file}",
        f"pg_restore --list {file} >/dev/null && sha256sum {file} > {shlex.quote(f'{out}.sha256')}",
    ]


def restore_commands(file: Path, url: URL, *, replace: bool) -> list[str]:
    """The commands that restore a dump into an empty database, and verify its log.

    Args:
        file: the dump.
        url: the URL of the database; its password is left out.
        replace: whether to drop existing tables first.
    """
    dbname, dump = _libpq_url(url), shlex.quote(str(file))
    drop = "--clean --if-exists " if replace else ""
    return [
        f"sha256sum --check {shlex.quote(f'{file}.sha256')}",
        f"psql --dbname={dbname} --command={shlex.quote(_ROLE)}",
        f"pg_restore --exit-on-error --single-transaction --no-owner {drop}--dbname={dbname} {dump}",
        f"assay audit verify --database {dbname}",
    ]


def _libpq_url(url: URL) -> str:
    """The URL as libpq reads it, quoted for a shell, without the password."""
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
