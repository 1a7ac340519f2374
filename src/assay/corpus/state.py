"""The state of a corpus between checks: a SQLite file.

Every file is read once as long as it does not change, and every pair of sentences is judged once. Everything is written
in small transactions: a check that was killed continues where it stopped. The state only saves work: without the file
the next check reads and judges everything again. Which pairs of sentences are judged depends on the documents that
existed when a document was first compared (docs/adr/0065).
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from assay.errors import InputError
from assay.guard import Statement
from assay.retrieve import Passage
from assay.schema import Evidence

FORM: Final = 3
"""The version of the tables. A file of another version is created anew."""
APPLICATION: Final = 0x61737901
"""Marks the file as such a state (`PRAGMA application_id`)."""
STATEMENTS_PER_DOCUMENT: Final = 1_000
"""Statements of a document at most: the id of a statement is that of its document times this, plus its index."""
_CACHE_KIB: Final = 32_768
_TABLES: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, changed INTEGER NOT NULL, size INTEGER NOT NULL,
    seen INTEGER NOT NULL, reason TEXT, text BLOB, told TEXT, wording TEXT, words INTEGER NOT NULL DEFAULT 0,
    characters INTEGER NOT NULL DEFAULT 0,
    replaces INTEGER NOT NULL DEFAULT 0, measured INTEGER NOT NULL DEFAULT 0, compared INTEGER NOT NULL DEFAULT 0,
    settled TEXT, standing TEXT NOT NULL DEFAULT 'in_force', why TEXT, other TEXT, name TEXT, known_by TEXT,
    version TEXT, day TEXT, repeats INTEGER
);
CREATE INDEX documents_seen ON documents (seen);
CREATE INDEX documents_wording ON documents (wording);
CREATE TABLE bands (band INTEGER, signed BLOB, document INTEGER, PRIMARY KEY (band, signed, document)) WITHOUT ROWID;
CREATE INDEX bands_document ON bands (document);
CREATE TABLE keys (key TEXT, document INTEGER, PRIMARY KEY (key, document)) WITHOUT ROWID;
CREATE INDEX keys_document ON keys (document);
CREATE VIRTUAL TABLE titles USING fts5(title, tokenize='porter unicode61 remove_diacritics 2');
CREATE TABLE alike (first INTEGER, second INTEGER, share REAL, contained REAL, same INTEGER,
    PRIMARY KEY (first, second)) WITHOUT ROWID;
CREATE INDEX alike_second ON alike (second);
CREATE TABLE statements (id INTEGER PRIMARY KEY, begins INTEGER, ends INTEGER, start INTEGER, length INTEGER,
    told TEXT, sentence INTEGER);
CREATE INDEX statements_sentence ON statements (sentence);
CREATE TABLE postings (stem INTEGER, statement INTEGER, PRIMARY KEY (stem, statement)) WITHOUT ROWID;
CREATE TABLE stems (stem INTEGER PRIMARY KEY, count INTEGER NOT NULL);
CREATE TABLE pairs (first INTEGER, second INTEGER, shared REAL, differs TEXT, judged BLOB,
    PRIMARY KEY (first, second)) WITHOUT ROWID;
CREATE INDEX pairs_second ON pairs (second);
CREATE TABLE judgements (key BLOB PRIMARY KEY, found TEXT, seen INTEGER) WITHOUT ROWID;
CREATE TABLE used (document INTEGER PRIMARY KEY, times INTEGER NOT NULL, last TEXT);
"""


@dataclass(frozen=True, slots=True)
class StoredStatement:
    """A sentence of a document, with its position in the text."""

    id: int
    begins: int
    """The start of its paragraph in the text."""
    ends: int
    start: int
    """Its start within the paragraph."""
    value: Statement
    """Its `text` is empty: it is read from the document when it is judged."""
    length: int

    @property
    def document(self) -> int:
        """The id of its document."""
        return self.id // STATEMENTS_PER_DOCUMENT


class State:
    """The state file, opened for one check and locked against other processes."""

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            InputError: it is not such a file, cannot be opened, or is in use by another check.
        """
        self.path = path
        self.db = _open(path)
        self.seen = int(self.about("seen") or 0)
        self._stems: dict[int, int] = {}
        self.statement = lru_cache(maxsize=20_000)(self._statement)
        self.text = lru_cache(maxsize=64)(self._text)
        self.passage = lru_cache(maxsize=256)(self._passage)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self.db.rollback()  # what was interrupted is half done; what was committed before it stays
        self.close()

    def close(self) -> None:
        """Commit and close the file."""
        self.db.commit()
        self.db.close()

    def about(self, name: str) -> str | None:
        """A stored value about the whole corpus."""
        row = self.db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_about(self, name: str, value: str) -> None:
        """Store a value about the whole corpus."""
        self.db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    def begin(self) -> None:
        """Start a check: files that it does not see count as gone."""
        self.seen += 1
        self.set_about("seen", str(self.seen))
        self.db.commit()

    # Documents

    def is_known(self, path: str, changed: int, size: int) -> bool:
        """Whether a file is unchanged since it was read; marks it as seen."""
        found = self.db.execute(
            "UPDATE documents SET seen = ? WHERE path = ? AND changed = ? AND size = ?",
            (self.seen, path, changed, size),
        )
        return found.rowcount > 0

    def keep(self, path: str, changed: int, size: int, read: Mapping[str, Any] | None, reason: str | None) -> None:
        """Replace what is stored for a file by what was read."""
        self.forget(path)
        details = (
            None
            if read is None
            else {
                name: read[name] for name in ("item", "document", "written", "language", "unread", "titled", "orders")
            }
        )
        put = self.db.execute(
            "INSERT INTO documents (path, changed, size, seen, reason, text, told, wording, words, replaces, "
            "characters) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                path,
                changed,
                size,
                self.seen,
                reason,
                None if read is None else zlib.compress(_bytes(read["text"]), 3),
                None if details is None else json.dumps(details),
                None if read is None else read["wording"],
                0 if read is None else read["words"],
                0 if read is None else int(read["replaces"]),
                0 if read is None else len(read["text"]),
            ),
        )
        if read is not None and put.lastrowid is not None:
            self._index(put.lastrowid, read)

    def _index(self, document: int, read: Mapping[str, Any]) -> None:
        self.db.executemany(
            "INSERT INTO bands VALUES (?, ?, ?)",
            [(band, bytes.fromhex(signed), document) for band, signed in enumerate(read["bands"])],
        )
        self.db.executemany("INSERT INTO keys VALUES (?, ?)", [(key, document) for key in read["keys"]])
        self.db.execute("INSERT INTO titles (rowid, title) VALUES (?, ?)", (document, read["item"]["title"] or ""))
        counts: dict[int, int] = {}
        for place, (begins, ends, start, length, *facts) in enumerate(
            read["statements"][: STATEMENTS_PER_DOCUMENT - 1]
        ):
            number = document * STATEMENTS_PER_DOCUMENT + place
            sentence = without_line_breaks(read["text"], begins + start, length)
            self.db.execute(
                "INSERT INTO statements VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    number,
                    begins,
                    ends,
                    start,
                    length,
                    json.dumps(facts, separators=(",", ":")),
                    text_hash(folded_text(sentence)),
                ),
            )
            stems = sorted(_posting_keys(facts))
            self.db.executemany("INSERT INTO postings VALUES (?, ?)", [(stem, number) for stem in stems])
            for stem in stems:
                counts[stem] = counts.get(stem, 0) + 1
        self._count(counts, 1)

    def _count(self, counts: Mapping[int, int], sign: int) -> None:
        self.db.executemany(
            "INSERT INTO stems VALUES (?, ?) ON CONFLICT (stem) DO UPDATE SET count = count + excluded.count",
            [(stem, sign * count) for stem, count in counts.items()],
        )

    def forget(self, path: str) -> None:
        """Remove a file and all results about it."""
        row = self.db.execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchone()
        if row is None:
            return
        document = int(row[0])
        first, last = document * STATEMENTS_PER_DOCUMENT, (document + 1) * STATEMENTS_PER_DOCUMENT - 1
        counts: dict[int, int] = {}
        for number, details in self.db.execute(
            "SELECT id, told FROM statements WHERE id BETWEEN ? AND ?", (first, last)
        ):
            for stem in _posting_keys(json.loads(details)):
                self.db.execute("DELETE FROM postings WHERE stem = ? AND statement = ?", (stem, number))
                counts[stem] = counts.get(stem, 0) + 1
        self._count(counts, -1)
        # Other documents may have been measured only against this one.
        self.db.execute(
            "UPDATE documents SET measured = 0 WHERE id IN (SELECT first FROM alike WHERE second = ? "
            "UNION SELECT second FROM alike WHERE first = ?)",
            (document, document),
        )
        self.db.execute("DELETE FROM statements WHERE id BETWEEN ? AND ?", (first, last))
        for column in ("first", "second"):
            self.db.execute(f"DELETE FROM alike WHERE {column} = ?", (document,))  # noqa: S608 a constant
            self.db.execute(f"DELETE FROM pairs WHERE {column} BETWEEN ? AND ?", (first, last))  # noqa: S608
        for table in ("bands", "keys"):
            self.db.execute(f"DELETE FROM {table} WHERE document = ?", (document,))  # noqa: S608
        self.db.execute("DELETE FROM titles WHERE rowid = ?", (document,))
        self.db.execute("DELETE FROM documents WHERE id = ?", (document,))

    def forget_unseen(self) -> int:
        """Remove the files that this check has not seen; returns their number."""
        gone = [row[0] for row in self.db.execute("SELECT path FROM documents WHERE seen <> ?", (self.seen,))]
        for path in gone:
            self.forget(path)
        return len(gone)

    def count(self, condition: str = "1", *values: object) -> int:
        """Number of documents that meet a condition in SQL, which must be a constant in the code."""
        return int(self.db.execute(f"SELECT count(*) FROM documents WHERE {condition}", values).fetchone()[0])  # noqa: S608

    def path_of(self, document: int) -> str:
        """The path of a document within the corpus."""
        return str(self.db.execute("SELECT path FROM documents WHERE id = ?", (document,)).fetchone()[0])

    def _text(self, document: int) -> str:
        row = self.db.execute("SELECT text FROM documents WHERE id = ?", (document,)).fetchone()
        return zlib.decompress(row[0]).decode("utf-8", "surrogatepass")

    def _passage(self, document: int) -> Passage:
        """A document as a passage with its whole text."""
        path, details = self.db.execute("SELECT path, told FROM documents WHERE id = ?", (document,)).fetchone()
        read = json.loads(details)
        item = Evidence.model_validate({"id": path, "text": self.text(document), "source": path, **read["item"]})
        written = None if read["written"] is None else date.fromisoformat(read["written"])
        return Passage(item, read["document"], written, read["language"], tuple(read["unread"]))

    # Statements

    def statements_of(self, document: int) -> list[StoredStatement]:
        """The sentences of a document that can be compared."""
        first = document * STATEMENTS_PER_DOCUMENT
        rows = self.db.execute(
            "SELECT id FROM statements WHERE id BETWEEN ? AND ? ORDER BY id",
            (first, first + STATEMENTS_PER_DOCUMENT - 1),
        ).fetchall()
        return [self.statement(row[0]) for row in rows]

    def _statement(self, number: int) -> StoredStatement:
        row = self.db.execute(
            "SELECT begins, ends, start, length, told FROM statements WHERE id = ?", (number,)
        ).fetchone()
        stems, values, negated, names, modals = json.loads(row[4])
        pairs = frozenset((str(kind), str(value)) for kind, value in values)
        value = Statement(
            number,
            row[2],
            "",
            stems,
            pairs,
            frozenset(kind for kind, _ in pairs),
            bool(negated),
            frozenset(names),
            frozenset(modals),
        )
        return StoredStatement(number, row[0], row[1], row[2], value, row[3])

    def counts_of(self, stems: Iterable[int]) -> dict[int, int]:
        """Number of statements that contain each stem."""
        wanted = set(stems)
        missing = [stem for stem in wanted if stem not in self._stems]
        if len(self._stems) > 300_000:
            self._stems.clear()
            missing = list(wanted)
        for at in range(0, len(missing), 500):
            part = missing[at : at + 500]
            marks = ",".join("?" * len(part))
            self._stems.update(dict.fromkeys(part, 0))
            self._stems.update(
                self.db.execute(f"SELECT stem, count FROM stems WHERE stem IN ({marks})", part).fetchall()  # noqa: S608
            )
        return {stem: self._stems[stem] for stem in wanted}

    def rows(self, sql: str, *values: object) -> Iterator[sqlite3.Row]:
        """The rows of a query, read a few at a time."""
        cursor = self.db.cursor()
        cursor.row_factory = sqlite3.Row
        yield from cursor.execute(sql, values)


def text_hash(text: str) -> int:
    """A hash of a text as a number of 63 bits."""
    import hashlib

    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def name_hash(name: str) -> int:
    """A hash of a whole name: words are stored by their first letters only, which would confuse names."""
    return text_hash(f"name:{name}")


def _posting_keys(facts: Sequence[Any]) -> set[int]:
    """The index keys of a sentence: its words and its names."""
    return {text_hash(stem) for stem in facts[0]} | {name_hash(name) for name in facts[3]}


def folded_text(text: str) -> str:
    """A sentence reduced to its words, for comparison."""
    from assay.retrieve import folded_words

    return " ".join(folded_words(text))


def without_line_breaks(text: str, start: int, length: int) -> str:
    """A sentence of a text with its line breaks replaced by spaces."""
    return " ".join(text[start : start + length].split("\n"))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _refuse_others(path: Path, *, is_ours: bool) -> None:
    if not is_ours:
        raise InputError(f"{path}: expected the state of `assay corpus check`, got another database; name another")


def _open(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # private: it contains the text of the documents
        db = sqlite3.connect(path, timeout=0.5)
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{path}: the state cannot be opened: {error}") from error
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        application, form = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        _refuse_others(path, is_ours=empty or application == APPLICATION)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        db.execute("BEGIN IMMEDIATE")
        if not empty and form != FORM:
            names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'titles_%'"
            for (name,) in db.execute(f"{names} AND name NOT LIKE 'sqlite_%'").fetchall():
                db.execute(f'DROP TABLE "{name}"')
            empty = True
        db.commit()
        if empty:
            db.executescript(
                f"BEGIN; {_TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORM}; COMMIT;"
            )
    except InputError:
        db.close()
        raise
    except sqlite3.OperationalError as error:
        db.close()
        if "locked" in str(error):
            raise InputError(f"{path}: another check works with this state; wait for it or name another") from error
        raise InputError(f"{path}: the state cannot be used: {error}") from error
    except sqlite3.DatabaseError as error:
        db.close()
        raise InputError(f"{path}: expected the state of `assay corpus check`, got another file: {error}") from error
    return db
