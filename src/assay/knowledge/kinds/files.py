"""A folder of documents: an index in SQLite FTS5 that follows the files, ranked by BM25 and then by the network.

The index is a file if one is named, and otherwise in memory. The search words are bound to the statement, each quoted
as FTS5 requires, so that no word of a claim is an operator of the search.
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
from assay.knowledge.documents import ENDINGS, escaped_name, read_document
from assay.knowledge.interface import Deadline, Inquiry, Limits, Passage, SourceAnswer, cut

if TYPE_CHECKING:
    from assay.models import PairScorer

FORM: Final = 3
"""The version of the index's tables."""
MAX_PIECES_PER_DOCUMENT: Final = 3
"""The most pieces of one document in a passage."""
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
    """The settings of one folder."""

    path: Path
    index: Path | None = None
    """The file of the index; by default it is in memory."""
    refresh_s: float = 2.0
    """Seconds between two scans for changes."""
    candidates: int = 12
    """Pieces that the network ranks, the best by BM25."""
    most_files: int = 20_000


class FilesSource:
    """A folder as a source."""

    def __init__(
        self,
        settings: FilesSettings,
        limits: Limits | None = None,
        scorer: PairScorer | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Use a folder; nothing is read yet.

        Args:
            settings: the folder.
            limits: the limits of an answer.
            scorer: the network that ranks what BM25 finds; without it, the order is that of BM25.
            clock: a monotonic clock, in seconds.

        Raises:
            PolicyError: there is no such folder.
        """
        if not settings.path.is_dir():
            raise PolicyError(f"expected a folder at {str(settings.path)!r}")
        self._settings, self._limits, self._scorer, self._clock = settings, limits or Limits(), scorer, clock
        self._lock = threading.Lock()
        self._refreshed_at: float | None = None
        self._pending: list[tuple[str, Path, int, int]] = []
        self._unread: dict[str, tuple[int, int] | None] = {}
        """Files and folders that could not be read, with time and size; None to try again with the next scan."""
        self._connection: sqlite3.Connection | None = None

    @property
    def _index(self) -> sqlite3.Connection:
        """The index, opened with the first question, since a server may fork before that. The caller holds the lock."""
        if self._connection is None:
            place = ":memory:" if self._settings.index is None else self._settings.index
            connection = sqlite3.connect(place, check_same_thread=False, timeout=2.0)
            try:
                _prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection  # only after success, so that the next question prepares it again
        return self._connection

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters; a folder is searched for whatever part of the claim it may see."""
        return ("entity",)

    @property
    def digest(self) -> str:
        """The digest of the folder's path and the ranking settings."""
        s = self._settings
        settings = [str(s.path), s.candidates, None if self._scorer is None else self._scorer.digest]
        return hashlib.sha256(json.dumps(settings).encode()).hexdigest()

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> SourceAnswer:
        """The documents about the inquiry, each with its best pieces; together with other versions of each document.

        Raises:
            SourceError: the folder or the index cannot be read, or was not read in time.
        """
        words = _words(inquiry)
        if not words:
            return SourceAnswer()
        # Each word is quoted: FTS5 has no operators inside quotes.
        match = " OR ".join(f'"{word}"' for word in words)
        try:
            with self._locked(deadline):
                self._refresh(deadline)
                rows = self._index.execute(_SEARCH, (match, self._settings.candidates)).fetchall()
                partial = bool(self._unread)
        except (sqlite3.Error, OSError) as error:
            raise SourceError(f"the folder could not be read: {type(error).__name__}") from error
        ranked = self._ranked(rows, inquiry, words)
        try:
            with self._locked(deadline):
                passages = self._passages(ranked, match)
        except sqlite3.Error as error:
            raise SourceError(f"the index could not be read: {type(error).__name__}") from error
        kept, notes = cut(passages, self._limits)
        asked = ({"search": " ".join(words)},)
        return SourceAnswer(kept, asked, sum(len(one.text) for one in passages), notes, partial)

    @contextmanager
    def _locked(self, deadline: Deadline) -> Iterator[None]:
        if not self._lock.acquire(timeout=deadline.require()):
            raise SourceError("it did not answer in time")
        try:
            yield
        finally:
            self._lock.release()

    def _ranked(
        self, rows: list[tuple[str, int, str]], inquiry: Inquiry, words: tuple[str, ...]
    ) -> list[tuple[str, int, str]]:
        """The pieces, ranked by how much they support or contradict the claim."""
        if self._scorer is None or len(rows) < 2:
            return rows
        claim = inquiry.claim or " ".join(words)
        try:
            scores = self._scorer.score([(self._fitting(body, claim), claim) for _, _, body in rows])
        except VerifierError:
            return rows
        # A piece that neither entails nor contradicts the claim keeps its BM25 rank, after those that do.
        relevance = [round(float(1 - row[1]), 2) for row in scores]
        order = sorted(range(len(rows)), key=lambda at: (-relevance[at], at))
        return [rows[at] for at in order]

    def _fitting(self, body: str, claim: str) -> str:
        """A piece, shortened until it fits into one pair of the network."""
        assert self._scorer is not None  # noqa: S101 only asked where there is one
        room = self._scorer.max_pair_tokens - self._scorer.count_tokens([claim])[0] - 8
        while room > 0 and body and self._scorer.count_tokens([body])[0] > room:
            body = body[: max(1, len(body) * 3 // 4)] if len(body) > 8 else ""
        return body

    def _passages(self, ranked: list[tuple[str, int, str]], match: str) -> list[Passage]:
        """One passage per document: its best pieces in document order."""
        found: dict[str, dict[int, str]] = {}
        for path, place, body in ranked:
            pieces = found.setdefault(path, {})
            if len(pieces) < MAX_PIECES_PER_DOCUMENT:
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

    def _refresh(self, deadline: Deadline) -> None:
        """Update the index to the current content of the folder. The caller holds the lock.

        A large folder may take more than one question: what has been read stays, and the next question reads the rest.

        Raises:
            SourceError: not all of it was read in time.
        """
        now = self._clock()
        if self._refreshed_at is None or now - self._refreshed_at >= self._settings.refresh_s:
            self._find_changes()
            self._refreshed_at = now  # only after success, so that the next question does not use a stale index
        while self._pending:
            if deadline.left < 0.05:
                raise SourceError(f"{len(self._pending):,} changed files are still to be read")
            name, path, changed, size = self._pending.pop()
            self._read(name, path, changed, size)

    def _find_changes(self) -> None:
        known: dict[str, tuple[int, int] | None] = {
            name: (changed, size)
            for name, changed, size in self._index.execute("SELECT path, changed, size FROM documents")
        }
        unlisted: list[str] = []
        present: dict[str, tuple[Path, int, int]] = {}
        for name, path, changed, size in _files(self._settings, unlisted):
            if name in present:  # the escaped name of this file is the name of another one
                unlisted.append(f"{name}/")  # which no file is called
            else:
                present[name] = (path, changed, size)
        with self._index:
            for name in known.keys() - present.keys():
                self._forget(name)
        known.update((name, state) for name, state in self._unread.items() if name in present)
        self._unread = {name: state for name, state in self._unread.items() if name in present}
        self._unread.update(dict.fromkeys(unlisted))
        self._pending = [
            (name, path, changed, size)
            for name, (path, changed, size) in sorted(present.items(), reverse=True)
            if known.get(name) != (changed, size)
        ]

    def _read(self, name: str, path: Path, changed: int, size: int) -> None:
        try:
            read = read_document(path)
        except FileNotFoundError:
            return  # removed in the meantime: the next scan does not find it
        except OSError:
            self._unread[name] = None
            with self._index:
                self._forget(name)  # it is new or has changed, so that the text in the index is not its text
            return
        self._unread.pop(name, None)
        with self._index:
            if self._index.execute(_DOCUMENT, (name,)).fetchone() is not None:
                self._forget(name)  # scans all pieces, so not for new files
            if read is None:
                self._unread[name] = (changed, size)
                return
            self._index.execute(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    name,
                    changed,
                    size,
                    read.title,
                    read.document_id,
                    read.version,
                    None if read.effective_date is None else read.effective_date.isoformat(),
                    None if read.expiry_date is None else read.expiry_date.isoformat(),
                ),
            )
            for place, body in enumerate(read.pieces):
                self._index.execute("INSERT INTO pieces VALUES (?, ?, ?, ?)", (body, read.title, name, place))

    def _forget(self, name: str) -> None:
        self._index.execute("DELETE FROM pieces WHERE path = ?", (name,))
        self._index.execute("DELETE FROM documents WHERE path = ?", (name,))

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _prepare(index: sqlite3.Connection) -> None:
    """Create the tables; those of another version are emptied."""
    index.executescript(_TABLES)
    with index:
        row = index.execute("SELECT version FROM form").fetchone()
        if row is not None and row[0] != FORM:
            index.execute("DELETE FROM documents")
            index.execute("DELETE FROM pieces")
        index.execute("DELETE FROM form")
        index.execute("INSERT INTO form VALUES (?)", (FORM,))


def _words(inquiry: Inquiry) -> tuple[str, ...]:
    """The search words, from the part of the claim that the source may see, without punctuation."""
    text = inquiry.claim if not inquiry.terms else " ".join(inquiry.terms)
    if not text:
        text = " ".join((*inquiry.entities, *inquiry.numbers, *map(str, inquiry.years)))
    words = "".join(sign if sign.isalnum() else " " for sign in text).split()
    return tuple(dict.fromkeys(word.lower() for word in words))[:24]


def _files(settings: FilesSettings, unlisted: list[str]) -> Iterator[tuple[str, Path, int, int]]:
    """The text files of the folder, without hidden files and links that lead out of it, by their escaped names.

    Args:
        settings: the folder.
        unlisted: receives the names of folders and files that cannot be looked at.

    Raises:
        SourceError: there are too many.
        OSError: the folder itself cannot be listed; a folder within it that cannot be is left out.
    """
    root = settings.path.resolve()

    def name_of(path: Path) -> str:
        return escaped_name(path.relative_to(root).as_posix())

    def refuse(error: OSError) -> None:
        if Path(error.filename) == root:
            raise error
        if not isinstance(error, FileNotFoundError):
            unlisted.append(name_of(Path(error.filename)))

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
            except OSError as error:
                if not isinstance(error, FileNotFoundError):
                    unlisted.append(name_of(path))
                continue
            count += 1
            if count > settings.most_files:
                raise SourceError(f"it has more than the {settings.most_files:,} files that are allowed")
            yield name_of(path), path, status.st_mtime_ns, status.st_size
