"""The database that a verb works on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.store.db import Store

DEFAULT_TENANT: Final = "default"
"""The tenant of commands that name none; `assay.store.records` has the same, but loads SQLAlchemy."""
DatabaseOption = Annotated[
    str,
    typer.Option("--database", metavar="URL|FILE", envvar="ASSAY_DATABASE_URL", help="The database of the server."),
]
TenantOption = Annotated[str, typer.Option("--tenant", metavar="NAME", help="Whose.")]


@contextmanager
def opened(database: str | None) -> Iterator["Store"]:
    """The store of a database; it is created if missing, as `assay serve` does.

    Raises:
        InputError: no database is named, or the packages of the store are not installed.
        StoreError: it cannot be opened.
    """
    if database is None:
        raise InputError("expected a database: name it with --database")
    try:
        from assay.store.db import Store
    except ImportError as error:
        raise InputError("the store needs SQLAlchemy and Alembic: pip install 'assay-ai[store]'") from error
    with Store(database) as store:
        yield store


@contextmanager
def opened_record(database: str) -> Iterator["Store"]:
    """The store of an existing database, for verbs that read a record.

    A misspelt name must not create an empty database, which would look like a record without findings.

    Raises:
        InputError: there is no such file, or the packages of the store are not installed.
        StoreError: it cannot be opened.
    """
    try:
        from assay.store.db import database_url
    except ImportError as error:
        raise InputError("the store needs SQLAlchemy and Alembic: pip install 'assay-ai[store]'") from error
    url = database_url(database)
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).is_file():
        raise InputError(f"expected a database at {url.database}, and there is none")
    with opened(database) as store:
        yield store
