"""A folder of documents: an index in SQLite FTS5 that follows the files, ranked by BM25 and then by the network.

The index is a file where one is named, else it lives in memory. What is looked for is bound to the statement, each word
quoted as FTS5 wants it, so that no word of a claim is an operator of the search.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.errors import PolicyError, SourceError, VerifierError
from assay.knowledge.documents import ENDINGS, read_document
from assay.knowledge.interface import Deadline, Found, Inquiry, Limits, Passage, cut

if TYPE_CHECKING:
    from assay.models import PairScorer

FORM: Final = 2
"""The version of the index's tables."""
PIECES_OF_ONE: Final = 3
"""Pieces of one document that are shown at most."""
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS form (version INTEGER);
CREATE TABLE IF NOT EXISTS documents (path TEXT PRIMARY KEY, changed INTEGER, size INTEGER, title TEXT,
    document_id TEXT, version TEXT, effective TEXT, expiry TEXT);
CREATE VIRTUAL TABLE IF NOT EXISTS pieces USING fts5(body, title, path UNINDEXED, place UNINDEXED,
    tokenize='porter unicode61 remove_diacritics 2');
"""
_SEARCH: Final = (
    "SELECT path, place, body FROM pieces WHERE pieces MATCH ? ORDER BY bm25(pieces, 1.0, 0.5), path, place LIMIT ?"
)
_VERSIONS: Final = (
    "SELECT path FROM documents WHERE document_id = (SELECT document_id FROM documents WHERE path = ?) AND path <> ? "
    "ORDER BY path LIMIT 20"
)
_WITHIN: Final = (
    "SELECT path, place, body FROM pieces WHERE pieces MATCH ? AND path = ? "
    "ORDER BY bm25(pieces, 1.0, 0.5), place LIMIT 1"
)
_DOCUMENT: Final = "SELECT title, version, effective, expiry FROM documents WHERE path = ?"


@dataclass(frozen=True, slots=True)
class FilesSettings:
    """One folder."""

    path: Path
    index: Path | None = None
    """The file of the index; in memory by default."""
    refresh_s: float = 2.0
    """Seconds between two looks at what has changed."""
    candidates: int = 12
    """Pieces that BM25 hands on to the network."""
    most_files: int = 20_000


class FilesSource:
    """Asks a folder."""

    def __init__(
        self,
        settings: FilesSettings,
        limits: Limits | None = None,
        scorer: PairScorer | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take a folder; nothing is read yet.

        Args:
            settings: the folder.
            limits: how much is taken from it.
            scorer: the network that ranks what BM25 finds; without it the order is that of BM25.
            clock: seconds from any beginning.

        Raises:
            PolicyError: there is no such folder.
        """
        if not settings.path.is_dir():
            raise PolicyError(f"expected a folder at {str(settings.path)!r}")
        self._settings, self._limits, self._scorer, self._clock = settings, limits or Limits(), scorer, clock
        self._lock = threading.Lock()
        self._looked: float | None = None
        self._pending: list[tuple[str, Path, int, int]] = []
        self._opened: sqlite3.Connection | None = None

    @property
    def _index(self) -> sqlite3.Connection:
        """The index; opened with the first question, since a server may fork before it. Whoever asks holds the lock."""
        if self._opened is None:
            place = ":memory:" if self._settings.index is None else self._settings.index
            self._opened = sqlite3.connect(place, check_same_thread=False, timeout=2.0)
            _prepare(self._opened)
        return self._opened

    @property
    def names(self) -> tuple[str, ...]:
        """What it looks for: whatever it may see."""
        return ("entity",)

    @property
    def digest(self) -> str:
        """Of the folder and of how it is ranked."""
        s = self._settings
        settings = [str(s.path), s.candidates, None if self._scorer is None else self._scorer.digest]
        return hashlib.sha256(json.dumps(settings).encode()).hexdigest()

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> Found:
        """The documents that speak of it, each with its best pieces; with one version of a document, its others too.

        Raises:
            SourceError: the folder or the index cannot be read, or was not read in time.
        """
        words = _words(inquiry)
        if not words:
            return Found()
        # Each word quoted: inside quotes FTS5 knows no operator.
        match = " OR ".join(f'"{word}"' for word in words)
        try:
            with self._held(deadline):
                self._follow(deadline)
                rows = self._index.execute(_SEARCH, (match, self._settings.candidates)).fetchall()
        except (sqlite3.Error, OSError) as error:
            raise SourceError(f"the folder could not be read: {type(error).__name__}") from error
        ranked = self._ranked(rows, inquiry, words)
        try:
            with self._held(deadline):
                passages = self._passages(ranked, match)
        except sqlite3.Error as error:
            raise SourceError(f"the index could not be read: {type(error).__name__}") from error
        kept, notes = cut(passages, self._limits)
        asked = ({"search": " ".join(words)},)
        return Found(kept, asked, sum(len(one.text) for one in passages), notes)

    @contextmanager
    def _held(self, deadline: Deadline) -> Iterator[None]:
        if not self._lock.acquire(timeout=deadline.require()):
            raise SourceError("it did not answer in time")
        try:
            yield
        finally:
            self._lock.release()

    def _ranked(
        self, rows: list[tuple[str, int, str]], inquiry: Inquiry, words: tuple[str, ...]
    ) -> list[tuple[str, int, str]]:
        """The pieces by how much they say of the claim, for it or against it."""
        if self._scorer is None or len(rows) < 2:
            return rows
        claim = inquiry.claim or " ".join(words)
        try:
            scores = self._scorer.score([(self._short(body, claim), claim) for _, _, body in rows])
        except VerifierError:
            return rows
        # A piece that neither entails nor denies the claim keeps the place that BM25 gave it, behind those that do.
        telling = [round(float(1 - row[1]), 2) for row in scores]
        order = sorted(range(len(rows)), key=lambda at: (-telling[at], at))
        return [rows[at] for at in order]

    def _short(self, body: str, claim: str) -> str:
        """A piece that fits into one reading of the network."""
        assert self._scorer is not None  # noqa: S101 only asked where there is one
        room = self._scorer.max_pair_tokens - self._scorer.count_tokens([claim])[0] - 8
        while room > 0 and body and self._scorer.count_tokens([body])[0] > room:
            body = body[: max(1, len(body) * 3 // 4)] if len(body) > 8 else ""
        return body

    def _passages(self, ranked: list[tuple[str, int, str]], match: str) -> list[Passage]:
        """One passage for each document: its best pieces in their order."""
        found: dict[str, dict[int, str]] = {}
        for path, place, body in ranked:
            pieces = found.setdefault(path, {})
            if len(pieces) < PIECES_OF_ONE:
                pieces[place] = body
        for path in list(found)[: self._limits.passages]:
            for (other,) in self._index.execute(_VERSIONS, (path, path)).fetchall():
                if other not in found:
                    best = self._index.execute(_WITHIN, (match, other)).fetchone()
                    found[other] = {} if best is None else {best[1]: best[2]}
        return [self._passage(path, pieces) for path, pieces in found.items() if pieces]

    def _passage(self, path: str, pieces: dict[int, str]) -> Passage:
        title, version, effective, expiry = self._index.execute(_DOCUMENT, (path,)).fetchone()
        return Passage(
            path,
            "\n\n".join(pieces[place] for place in sorted(pieces)),
            title=title,
            version=version,
            effective_date=None if effective is None else date.fromisoformat(effective),
            expiry_date=None if expiry is None else date.fromisoformat(expiry),
        )

    # Following the files

    def _follow(self, deadline: Deadline) -> None:
        """Bring the index to what the folder has now. Whoever calls holds the lock.

        A large folder takes more than one question: what was read stays, and the rest is read with the next one.

        Raises:
            SourceError: not all of it was read in time.
        """
        now = self._clock()
        if self._looked is None or now - self._looked >= self._settings.refresh_s:
            self._compare()
            self._looked = now  # not before: what a failed look left is no answer to the next question either
        while self._pending:
            if deadline.left < 0.05:
                raise SourceError(f"{len(self._pending):,} changed files are still to be read")
            name, path, changed, size = self._pending.pop()
            self._read(name, path, changed, size)

    def _compare(self) -> None:
        known = {
            name: (changed, size)
            for name, changed, size in self._index.execute("SELECT path, changed, size FROM documents")
        }
        there = {name: (path, changed, size) for name, path, changed, size in _files(self._settings)}
        with self._index:
            for name in known.keys() - there.keys():
                self._forget(name)
        self._pending = [
            (name, path, changed, size)
            for name, (path, changed, size) in sorted(there.items(), reverse=True)
            if known.get(name) != (changed, size)
        ]

    def _read(self, name: str, path: Path, changed: int, size: int) -> None:
        try:
            read = read_document(path)
        except OSError:
            return  # gone or locked since: the next look sees what there is
        with self._index:
            if self._index.execute(_DOCUMENT, (name,)).fetchone() is not None:
                self._forget(name)  # a look at all pieces: not for files that are new
            self._index.execute(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    name,
                    changed,
                    size,
                    *(
                        (None,) * 5
                        if read is None
                        else (
                            read.title,
                            read.document_id,
                            read.version,
                            None if read.effective_date is None else read.effective_date.isoformat(),
                            None if read.expiry_date is None else read.expiry_date.isoformat(),
                        )
                    ),
                ),
            )
            for place, body in enumerate(() if read is None else read.pieces):
                self._index.execute(
                    "INSERT INTO pieces VALUES (?, ?, ?, ?)", (body, read.title if read else "", name, place)
                )

    def _forget(self, name: str) -> None:
        self._index.execute("DELETE FROM pieces WHERE path = ?", (name,))
        self._index.execute("DELETE FROM documents WHERE path = ?", (name,))

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None


def _prepare(index: sqlite3.Connection) -> None:
    """Make the tables; those of another version are made anew."""
    index.executescript(_TABLES)
    with index:
        row = index.execute("SELECT version FROM form").fetchone()
        if row is not None and row[0] != FORM:
            index.execute("DELETE FROM documents")
            index.execute("DELETE FROM pieces")
        index.execute("DELETE FROM form")
        index.execute("INSERT INTO form VALUES (?)", (FORM,))


def _words(inquiry: Inquiry) -> tuple[str, ...]:
    """The words that are looked for: of what the source may see, without quotes."""
    text = inquiry.claim if not inquiry.terms else " ".join(inquiry.terms)
    if not text:
        text = " ".join((*inquiry.entities, *inquiry.numbers, *map(str, inquiry.years)))
    words = "".join(sign if sign.isalnum() else " " for sign in text).split()
    return tuple(dict.fromkeys(word.lower() for word in words))[:24]


def _files(settings: FilesSettings) -> Iterator[tuple[str, Path, int, int]]:
    """The text files of the folder; links that lead out of it and hidden files are left out.

    Raises:
        SourceError: there are too many.
        OSError: the folder itself cannot be listed; a folder within it that cannot be is left out.
    """
    root = settings.path.resolve()

    def refuse(error: OSError) -> None:
        if Path(error.filename) == root:
            raise error

    index = None if settings.index is None else settings.index.resolve()
    count = 0
    for folder, below, names in os.walk(root, onerror=refuse):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith(".") or path.suffix.lower() not in ENDINGS or path == index:
                continue
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                continue
            try:
                status = path.stat()
            except OSError:
                continue
            count += 1
            if count > settings.most_files:
                raise SourceError(f"it has more than the {settings.most_files:,} files that are allowed")
            yield path.relative_to(root).as_posix(), path, status.st_mtime_ns, status.st_size
