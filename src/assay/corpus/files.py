"""Lists the files of a folder in order, without following links out of it or in a circle."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from assay.corpus.formats import ENDINGS
from assay.errors import InputError


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file of a type that is read."""

    path: Path
    name: str
    """Its path within the corpus, with `/`; bytes that are not Unicode are escaped."""
    changed: int
    """The time of the last change of its content, in nanoseconds since 1970."""
    size: int


@dataclass(slots=True)
class FolderWalk:
    """A walk through a folder that counts what it leaves out."""

    root: Path
    excluded: Sequence[str] = ()
    """Shell patterns of paths within the folder to leave out; `*` matches `/` as well."""
    ignored: frozenset[Path] = frozenset()
    """Files of the check itself that may be in the folder."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Number of files of types that are not read, by ending."""
    links: int = 0
    """Number of links that were not followed."""
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Folders and files that could not be opened, and why."""
    notes: list[str] = field(default_factory=list)
    """Further notes for the report."""

    def files(self) -> Iterator[CorpusFile]:
        """Yield the files that are read, folder by folder in order. Hidden files and links are left out."""
        pending = [(self.root, "")]
        while pending:
            folder, prefix = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    found = sorted(entries, key=lambda one: os.fsencode(one.name))
            except OSError as error:
                self.unreadable.append((prefix.rstrip("/") or ".", f"it cannot be listed: {error.strerror or error}"))
                continue
            subfolders: list[tuple[Path, str]] = []
            for entry in found:
                name = prefix + os.fsencode(entry.name).decode("utf-8", "backslashreplace")
                if entry.name.startswith(".") or any(fnmatchcase(name, pattern) for pattern in self.excluded):
                    continue
                if entry.is_symlink():
                    self.links += 1
                elif entry.is_dir(follow_symlinks=False):
                    subfolders.append((Path(entry.path), f"{name}/"))
                elif (one := self._file(entry, name)) is not None:
                    yield one
            pending += reversed(subfolders)

    def _file(self, entry: os.DirEntry[str], name: str) -> CorpusFile | None:
        path = Path(entry.path)
        ending = path.suffix.lower()
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self.unreadable.append((name, f"it cannot be looked at: {error.strerror or error}"))
            return None
        if path in self.ignored:
            return None
        if ending not in ENDINGS or not stat.S_ISREG(status.st_mode):
            self.skipped[ending if len(ending) <= 12 else "other"] += 1
            return None
        return CorpusFile(path, name, status.st_mtime_ns, status.st_size)


def folder_at(place: str) -> Path:
    """The folder of a corpus, resolved.

    Raises:
        InputError: there is no such folder.
    """
    path = Path(place)
    if not path.exists():
        raise InputError(f"{place}: no such folder; `assay corpus check` takes a folder of documents")
    if not path.is_dir():
        raise InputError(f"{place}: expected a folder of documents, got a file")
    return path.resolve()
