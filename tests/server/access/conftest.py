"""A server over a database of its own for each test."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.access.desk import Desk, desk_over

from assay.store.db.store import Store


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with its tables; making them takes longer than copying the file."""
    path = tmp_path_factory.mktemp("empty") / "assay.db"
    Store(str(path)).close()
    return path


@pytest.fixture
def database(tmp_path: Path, empty: Path) -> Path:
    """An empty database."""
    return Path(shutil.copy(empty, tmp_path / "assay.db"))


@pytest.fixture
def desk(database: Path) -> Iterator[Desk]:
    """A server over it."""
    with desk_over(database) as found:
        yield found
