"""The fetched pages of a site: a SQLite index and one file for each page, in a local folder.

A page is written before it is reported, and every update is its own transaction: a check that was killed continues with
the next page. `crawl` is the number of the current crawl: addresses that are queued for it and not done yet are still
to be visited.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from assay.errors import InputError

APPLICATION: Final = 0x61737902
"""Marks the file as such an index (`PRAGMA application_id`)."""
FORM: Final = 1
_TABLES: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE, queued INTEGER NOT NULL, done INTEGER NOT NULL DEFAULT 0,
    hops INTEGER NOT NULL DEFAULT 0, listed INTEGER NOT NULL DEFAULT 0, etag TEXT, modified TEXT, ending TEXT,
    digest TEXT, size INTEGER NOT NULL DEFAULT 0, links TEXT, outside INTEGER NOT NULL DEFAULT 0, canonical TEXT,
    absent TEXT, problem TEXT
);
CREATE INDEX pages_queue ON pages (queued, done);
"""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """An address as it is stored."""

    id: int
    address: str
    hops: int
    """Consecutive redirects that led to it."""
    listed: bool
    """Whether it was listed as a sitemap by a sitemap index."""
    etag: str | None
    modified: str | None
    ending: str | None
    """The file ending as which it is read; None if it has no file."""
    digest: str | None
    size: int
    problem: str | None
    """Why it could not be fetched, if so."""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The result of visiting an address."""

    body: bytes | None = None
    """The document; None if there is none, as for a redirect."""
    ending: str | None = None
    """The file ending as which it is read."""
    etag: str | None = None
    """The `ETag` header, for conditional requests."""
    modified: str | None = None
    """The `Last-Modified` header, for conditional requests."""
    links: tuple[str, ...] = ()
    """The addresses within the scope that it links or redirects to."""
    hops: int = 0
    """Consecutive redirects that led to these links."""
    listed: bool = False
    """Whether those addresses are sitemaps."""
    outside: int = 0
    """Number of links out of the scope."""
    canonical: str | None = None
    """The canonical address that it declares, if within the scope."""
    absent: str | None = None
    """Why there is no document, if that is not an error."""


_COLUMNS: Final = "id, address, hops, listed, etag, modified, ending, digest, size, problem"


class PageStore:
    """The folder of pages, opened for one check. Use it in a `with` block."""

    def __init__(self, folder: Path, start: str) -> None:
        """Open or create the folder.

        Args:
            folder: the path of the folder.
            start: the address at which the crawl starts.

        Raises:
            InputError: the folder cannot be used, belongs to another site, or is in use by another check.
        """
        self.folder = folder
        self._db = _open(folder)
        if self.about("start") not in (None, start):
            self._db.close()
            raise InputError(f"{folder}: these are the pages of another site; name another state with --state")
        self.set_about("start", start)
        self.crawl = int(self.about("crawl") or 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()

    def about(self, name: str) -> str | None:
        """A stored value about the whole site."""
        row = self._db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_about(self, name: str, value: str) -> None:
        """Store a value about the whole site."""
        self._db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    def begin(self, start: str) -> bool:
        """Start a crawl, or resume one that was not finished; returns whether it resumes."""
        if self.crawl and self.about("ended") != str(self.crawl):
            return True
        self.crawl += 1
        with self._transaction():
            self.set_about("crawl", str(self.crawl))
            self.queue([start])
        return False

    def end(self) -> None:
        """Finish the crawl: pages that it did not reach are removed."""
        removed = self._db.execute(f"SELECT {_COLUMNS} FROM pages WHERE queued < ?", (self.crawl,)).fetchall()  # noqa: S608
        for row in removed:
            self.path_of(_page(row)).unlink(missing_ok=True)
        with self._transaction():
            self._db.execute("DELETE FROM pages WHERE queued < ?", (self.crawl,))
            self.set_about("ended", str(self.crawl))

    def queue(self, addresses: Sequence[str], hops: int = 0, *, listed: bool = False) -> None:
        """Queue addresses that this crawl has not queued yet."""
        self._db.executemany(
            "INSERT INTO pages (address, queued, hops, listed) VALUES (?, ?, ?, ?) ON CONFLICT (address) DO UPDATE SET "
            "queued = excluded.queued, hops = excluded.hops, listed = excluded.listed WHERE queued < excluded.queued",
            [(address, self.crawl, hops, int(listed)) for address in addresses],
        )

    def next(self) -> StoredPage | None:
        """The next address to visit; None if none is left."""
        row = self._db.execute(
            f"SELECT {_COLUMNS} FROM pages WHERE queued = ? AND done < ? ORDER BY id LIMIT 1",  # noqa: S608 constants
            (self.crawl, self.crawl),
        ).fetchone()
        return None if row is None else _page(row)

    def left(self) -> int:
        """Number of addresses still to visit."""
        sql = "SELECT count(*) FROM pages WHERE queued = ? AND done < ?"
        return int(self._db.execute(sql, (self.crawl, self.crawl)).fetchone()[0])

    def done(self) -> int:
        """Number of addresses that this crawl has visited."""
        return int(self._db.execute("SELECT count(*) FROM pages WHERE done = ?", (self.crawl,)).fetchone()[0])

    def queries_of(self, address: str) -> int:
        """Number of queued addresses of this crawl that differ from the given one only in the query."""
        path = address.partition("?")[0] + "?"
        sql = (
            "SELECT count(*) FROM pages WHERE queued = ? AND substr(address, 1, ?) = ? AND address >= ? AND address < ?"
        )
        last = path[:-1] + chr(ord("?") + 1)
        return int(self._db.execute(sql, (self.crawl, len(path), path, path, last)).fetchone()[0])

    def keep(self, page: StoredPage, found: FetchedPage) -> None:
        """Replace what is stored for an address by what was fetched, and queue the addresses it leads to."""
        old = self.path_of(page)
        digest = new = None
        if found.body is not None and found.ending is not None:
            digest = hashlib.sha256(found.body).hexdigest()
            new = self.folder / f"{page.id}{found.ending}"
            part = new.with_name(f"{new.name}.part")
            part.write_bytes(found.body)
            part.replace(new)
        values = (found.etag, found.modified, found.ending if digest else None, digest, len(found.body or b""))
        links = json.dumps([list(found.links), found.hops, int(found.listed)])
        with self._transaction():
            self._db.execute(
                "UPDATE pages SET done = ?, etag = ?, modified = ?, ending = ?, digest = ?, size = ?, links = ?, "
                "outside = ?, canonical = ?, absent = ?, problem = NULL WHERE id = ?",
                (self.crawl, *values, links, found.outside, found.canonical, found.absent, page.id),
            )
            self.queue(found.links, found.hops, listed=found.listed)
        if old != new:
            old.unlink(missing_ok=True)

    def keep_unchanged(self, page: StoredPage) -> None:
        """Record that the page has not changed, and queue the addresses it leads to."""
        row = self._db.execute("SELECT links FROM pages WHERE id = ?", (page.id,)).fetchone()
        links, hops, listed = json.loads(row[0]) if row[0] else ([], 0, 0)
        with self._transaction():
            self._db.execute("UPDATE pages SET done = ?, problem = NULL WHERE id = ?", (self.crawl, page.id))
            self.queue(links, hops, listed=bool(listed))

    def keep_problem(self, page: StoredPage, problem: str) -> None:
        """Record that the page could not be fetched. The stored version is kept for the next check."""
        with self._transaction():
            self._db.execute("UPDATE pages SET done = ?, problem = ? WHERE id = ?", (self.crawl, problem, page.id))

    def documents(self) -> Iterator[StoredPage]:
        """Pages with a file or a problem, ordered by address, without those that declare another one as canonical."""
        sql = (
            f"SELECT {_COLUMNS} FROM pages WHERE problem IS NOT NULL OR (ending IS NOT NULL AND NOT EXISTS "  # noqa: S608
            "(SELECT 1 FROM pages AS other WHERE other.address = pages.canonical AND other.id <> pages.id AND "
            "other.ending IS NOT NULL AND coalesce(other.canonical, other.address) = other.address)) ORDER BY address"
        )
        for row in self._db.execute(sql):
            yield _page(row)

    def absent(self) -> dict[str, int]:
        """Reasons why addresses have no document, with the number of addresses for each."""
        sql = "SELECT absent, count(*) FROM pages WHERE absent IS NOT NULL GROUP BY absent ORDER BY absent"
        return {str(why): int(count) for why, count in self._db.execute(sql)}

    def first_absent(self, why: str) -> str | None:
        """The first address that has no document for the given reason."""
        sql = "SELECT address FROM pages WHERE absent = ? ORDER BY address LIMIT 1"
        row = self._db.execute(sql, (why,)).fetchone()
        return None if row is None else str(row[0])

    def outside(self) -> int:
        """Total number of links out of the scope."""
        return int(self._db.execute("SELECT coalesce(sum(outside), 0) FROM pages").fetchone()[0])

    def path_of(self, page: StoredPage) -> Path:
        """The path of the file of a page."""
        return self.folder / f"{page.id}{page.ending or '.none'}"

    def _transaction(self) -> _Transaction:
        return _Transaction(self._db)


class _Transaction:
    """Runs a `with` block as one transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._db.execute("COMMIT" if kind is None else "ROLLBACK")


def _page(row: Sequence[object]) -> StoredPage:
    number, address, hops, listed, etag, modified, ending, digest, size, problem = row
    return StoredPage(
        int(str(number)),
        str(address),
        int(str(hops)),
        bool(listed),
        _text(etag),
        _text(modified),
        _text(ending),
        _text(digest),
        int(str(size)),
        _text(problem),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _refuse_others(folder: Path, *, is_ours: bool) -> None:
    if not is_ours:
        raise InputError(f"{folder}: expected the pages of `assay corpus check`, got another database")


def _open(folder: Path) -> sqlite3.Connection:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / "index.sqlite"
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        db = sqlite3.connect(path, timeout=0.5, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{folder}: pages cannot be kept there: {error}") from error
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("BEGIN IMMEDIATE")
        application, form = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        db.execute("COMMIT")
        _refuse_others(folder, is_ours=empty or (application, form) == (APPLICATION, FORM))
        if empty:
            db.executescript(
                f"BEGIN; {_TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORM}; COMMIT;"
            )
    except sqlite3.Error as error:
        db.close()
        why = "another check works with it" if "locked" in str(error) else str(error)
        raise InputError(f"{folder}: pages cannot be kept there: {why}") from error
    except InputError:
        db.close()
        raise
    return db
