"""The memory of the skill between runs: metrics over all checks, and the results of the latest ones.

One SQLite file, which the processes of several agents may share. For each answer it keeps a digest and figures, and
where the settings allow it the text of unsupported claims.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assay.errors import StoreError

FORM: Final = 1
"""The version of the tables."""
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS checks (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, digest TEXT NOT NULL, verdict TEXT NOT NULL, score REAL,
    supported INTEGER NOT NULL, unsupported INTEGER NOT NULL, unsupported_claims TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS remembered (digest TEXT PRIMARY KEY, at REAL NOT NULL, result TEXT NOT NULL);
"""
_REMEMBERED: Final = 500
"""The most results that are remembered."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Figures over all checks."""

    total_checks: int = 0
    hallucinations_detected: int = 0
    """Checks that ended as WARN or FAIL."""
    unchecked: int = 0
    """Checks that ended as UNCHECKED: no evidence, too many claims, or text that was not read."""
    claims_verified: int = 0
    claims_unsupported: int = 0
    pass_rate: float | None = None
    """The share of PASS among the checks that did not end as UNCHECKED; none without any."""
    average_hallucination_score: float | None = None
    """The mean score of checks with claims; none without any."""


class Ledger:
    """The file, which is made where it is missing.

    Args:
        path: the file.

    Raises:
        StoreError: the file cannot be opened, is no such database, or is of another version.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{path.parent}: cannot be made: {error.strerror or error}") from error
        with self._open() as database:
            version = database.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, FORM):
                raise StoreError(f"{path}: is of form {version}, this version of assay knows {FORM}; name another file")
            database.executescript(_TABLES)
            database.execute(f"PRAGMA user_version = {FORM}")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=30)) as database, database:
                yield database
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}") from error

    def add(
        self, *, at: float, digest: str, verdict: str, score: float | None, supported: int, unsupported: Sequence[str]
    ) -> None:
        """Adds a check to the metrics.

        Args:
            at: seconds since the epoch.
            digest: of answer and contexts.
            verdict: `PASS`, `WARN`, `FAIL` or `UNCHECKED`.
            score: the share of unsupported claims; none without claims.
            supported: the number of supported claims.
            unsupported: the texts of the other claims; empty texts where they are not to be kept.
        """
        row = (at, digest, verdict, score, supported, len(unsupported), json.dumps([one for one in unsupported if one]))
        with self._open() as database:
            database.execute(
                "INSERT INTO checks (at, digest, verdict, score, supported, unsupported, unsupported_claims) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )

    def totals(self) -> Totals:
        """The figures over all checks."""
        query = """
            SELECT count(*), coalesce(sum(verdict IN ('WARN', 'FAIL')), 0), coalesce(sum(verdict = 'UNCHECKED'), 0),
                   coalesce(sum(supported), 0), coalesce(sum(unsupported), 0), coalesce(sum(verdict = 'PASS'), 0),
                   avg(score)
            FROM checks"""
        with self._open() as database:
            total, detected, unchecked, supported, unsupported, passed, score = database.execute(query).fetchone()
        judged = total - unchecked
        return Totals(total, detected, unchecked, supported, unsupported, passed / judged if judged else None, score)

    def reset(self) -> None:
        """Deletes all metrics and results."""
        with self._open() as database:
            database.execute("DELETE FROM checks")
            database.execute("DELETE FROM remembered")

    def remember(self, digest: str, at: float, result: Mapping[str, Any]) -> None:
        """Keeps a result; the oldest beyond `_REMEMBERED` are deleted."""
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO remembered VALUES (?, ?, ?)", (digest, at, json.dumps(result)))
            database.execute(
                "DELETE FROM remembered WHERE digest NOT IN (SELECT digest FROM remembered ORDER BY at DESC LIMIT ?)",
                (_REMEMBERED,),
            )

    def remembered(self, digest: str, since: float) -> dict[str, Any] | None:
        """The result under a digest; none where there is none since `since` (seconds since the epoch)."""
        with self._open() as database:
            row = database.execute(
                "SELECT result FROM remembered WHERE digest = ? AND at >= ?", (digest, since)
            ).fetchone()
        try:
            return None if row is None else dict(json.loads(row[0]))
        except (ValueError, TypeError):
            return None  # written by another program: the answer is checked again
