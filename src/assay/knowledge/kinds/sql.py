"""A database: statements that the operator wrote, with named parameters that a claim's values are bound to.

A statement is prepared once and never composed. The connection is read-only: SQLite files are opened in that mode and
an authorizer allows only the actions of a reading statement; PostgreSQL gets a read-only transaction with a time limit
of its own. In addition, the role in the URL should only have the right to read.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.errors import MissingPackageError, PolicyError, SourceError
from assay.knowledge.inquiries import PARAMETERS, bindings
from assay.knowledge.interface import Deadline, Inquiry, Limits, Passage, SourceAnswer, cut
from assay.knowledge.kinds.templates import is_sendable, render_row

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, TextClause

_READS: Final = re.compile(r"\s*(?:select|with|values)\b", re.IGNORECASE)
_QUOTED: Final = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$", re.DOTALL)
_ALLOWED: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_TRANSACTION}
)
_STEPS: Final = 2_000
"""Instructions of SQLite between two checks of the deadline."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One prepared statement."""

    sql: str
    passage: str | None = None
    """The wording of a row, with names of columns in braces."""


@dataclass(frozen=True, slots=True)
class SqlSettings:
    """The settings of one database."""

    url: str = field(repr=False)
    """In SQLAlchemy's form; it is in no message."""
    statements: tuple[Statement, ...]


class SqlSource:
    """A database as a source."""

    def __init__(self, settings: SqlSettings, limits: Limits | None = None) -> None:
        """Prepare the statements; no connection is made.

        Raises:
            MissingPackageError: SQLAlchemy is not installed.
            PolicyError: the URL is invalid, or a statement does more than read or has an unknown parameter.
        """
        try:
            from sqlalchemy.engine import make_url
            from sqlalchemy.exc import ArgumentError
        except ImportError as error:
            raise MissingPackageError("a source of kind sql needs SQLAlchemy: pip install 'assay-ai[store]'") from error
        try:
            self._url = make_url(settings.url)
        except ArgumentError as error:
            raise PolicyError("expected the URL of a database, such as sqlite:///products.db") from error
        if self._url.get_backend_name() not in {"sqlite", "postgresql"}:
            raise PolicyError(f"expected a database of SQLite or PostgreSQL, got {self._url.get_backend_name()}")
        self._settings, self._limits = settings, limits or Limits()
        self._prepared = [(_prepare(one.sql), one) for one in settings.statements]
        if not self._prepared:
            raise PolicyError("expected at least one statement")
        self._engine_: Engine | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the statements."""
        return tuple(dict.fromkeys(name for (_, names), _ in self._prepared for name in names))

    @property
    def digest(self) -> str:
        """The digest of the URL without its password, and of the statements."""
        settings = [
            self._url.render_as_string(hide_password=True),
            [(s.sql, s.passage) for s in self._settings.statements],
        ]
        return hashlib.sha256(json.dumps(settings).encode()).hexdigest()

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> SourceAnswer:
        """The rows of every statement, each for the first values that give any.

        Raises:
            SourceError: the database could not be asked.
        """
        from sqlalchemy.exc import SQLAlchemyError

        passages: list[Passage] = []
        asked: list[Mapping[str, object]] = []
        try:
            with self._connected(deadline) as connection:
                for number, ((clause, names), statement) in enumerate(self._prepared, start=1):
                    for values in bindings(names, inquiry, self._limits.statements):
                        if not all(isinstance(value, int) or is_sendable(value) for value in values.values()):
                            continue  # no database accepts this value; another may be fine
                        self._limit(connection, deadline)
                        asked.append({"statement": statement.sql, **values})
                        rows = self._rows(connection, clause, values)
                        passages += [
                            Passage(f"statement {number}, row {at}", render_row(statement.passage, row))
                            for at, row in enumerate(rows, start=1)
                        ]
                        if rows:
                            break
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            if deadline.left <= 0:
                raise SourceError("it did not answer in time") from error
            raise SourceError(f"the database could not be asked: {_cause(error)}") from error
        kept, notes = cut(passages, self._limits)
        size = sum(len(one.text) for one in passages)
        if size > self._limits.response_bytes:
            raise SourceError(f"it sent more than the {self._limits.response_bytes:,} characters that are allowed")
        return SourceAnswer(kept, tuple(asked), size, notes)

    def _rows(self, connection: Connection, clause: TextClause, values: Mapping[str, object]) -> list[dict[str, Any]]:
        bound = {name: float(str(value)) if name == "number" else value for name, value in values.items()}
        result = connection.execute(clause, bound)
        return [dict(row._mapping) for row in result.fetchmany(self._limits.passages + 1)]  # noqa: SLF001 public by its documentation

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine, created with the first question."""
        if self._engine_ is None:
            self._engine_ = self._create_engine()
        return self._engine_

    def _create_engine(self) -> Engine:
        from sqlalchemy import NullPool, create_engine

        if self._url.get_backend_name() != "sqlite":
            return create_engine(self._url, poolclass=NullPool, connect_args={"connect_timeout": 5})
        path = self._url.database or ""
        if path in {"", ":memory:"}:
            raise PolicyError("expected the file of a database, such as sqlite:///products.db")
        address = f"{Path(path).absolute().as_uri()}?mode=ro"

        def opened() -> sqlite3.Connection:
            connection = sqlite3.connect(address, uri=True, timeout=1.0, check_same_thread=False)
            connection.execute("PRAGMA query_only=ON")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(self._limits.response_bytes, 100_000))
            return connection

        return create_engine("sqlite://", creator=opened, poolclass=NullPool)

    @contextmanager
    def _connected(self, deadline: Deadline) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            if self.engine.dialect.name == "sqlite":
                raw = connection.connection.driver_connection
                assert isinstance(raw, sqlite3.Connection)  # noqa: S101 what `_made` made
                # Not earlier: SQLAlchemy reads the settings of a new connection first.
                raw.set_authorizer(_reading_only)
                raw.set_progress_handler(lambda: int(deadline.left <= 0), _STEPS)
            yield connection

    def _limit(self, connection: Connection, deadline: Deadline) -> None:
        left = deadline.require()
        if self.engine.dialect.name == "postgresql":
            from sqlalchemy import text

            connection.rollback()
            connection.execute(text("SET TRANSACTION READ ONLY"))
            connection.execute(
                text("SELECT set_config('statement_timeout', :limit, true)"), {"limit": str(max(1, int(left * 1000)))}
            )

    def close(self) -> None:
        """Close the connections."""
        if self._engine_ is not None:
            self._engine_.dispose()


def _prepare(sql: str) -> tuple[TextClause, tuple[str, ...]]:
    """A statement with its parameters.

    Raises:
        PolicyError: it is not a single reading statement, or has no parameter or an unknown one.
    """
    from sqlalchemy import text

    unquoted = _QUOTED.sub(" ", sql).strip().rstrip(";")
    if not _READS.match(unquoted) or ";" in unquoted:
        raise PolicyError(f"expected one statement that reads, SELECT or WITH, got {sql[:60]!r}")
    clause = text(sql.strip().rstrip(";"))
    names = tuple(clause._bindparams)  # noqa: SLF001 there is no other way to ask
    unknown = [name for name in names if name not in PARAMETERS]
    if unknown or not names:
        said = f":{unknown[0]} is no parameter" if unknown else "it has no parameter for anything of a claim"
        raise PolicyError(f"{said}; there are {', '.join(':' + name for name in sorted(PARAMETERS))}")
    return clause, names


def _reading_only(action: int, _first: str | None, second: str | None, *_: str | None) -> int:
    if action in _ALLOWED:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and second != "load_extension":
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _cause(error: BaseException) -> str:
    """The driver's message, which may quote the statement but none of the values."""
    origin = getattr(error, "orig", None) or error
    return f"{type(origin).__name__}: {str(origin).splitlines()[0][:160]}" if str(origin) else type(origin).__name__
