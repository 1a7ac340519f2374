"""The files of a folder, in order, without following a link out of it or in a circle."""

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
class FoundFile:
    """A file that can be read."""

    path: Path
    name: str
    """Its path within the corpus, with `/`; what is no Unicode in it is written out."""
    changed: int
    """When its content changed last, in nanoseconds since 1970."""
    size: int


@dataclass(slots=True)
class Walk:
    """A look at a folder; what it passes over is counted."""

    root: Path
    excluded: Sequence[str] = ()
    """Patterns of names within the folder that are left out, as in a shell; `*` matches `/` as well."""
    ignored: frozenset[Path] = frozenset()
    """Files of ours that may lie in it."""
    other: Counter[str] = field(default_factory=Counter)
    """Files that are not read, by ending."""
    links: int = 0
    """Links that were not followed."""
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Folders and files that could not be looked at, and why."""
    notes: list[str] = field(default_factory=list)
    """What else there is to say of the look."""

    def files(self) -> Iterator[FoundFile]:
        """The files that can be read, folder by folder in order. Hidden ones are left out, links are not followed."""
        pending = [(self.root, "")]
        while pending:
            folder, prefix = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    found = sorted(entries, key=lambda one: os.fsencode(one.name))
            except OSError as error:
                self.unreadable.append((prefix.rstrip("/") or ".", f"it cannot be listed: {error.strerror or error}"))
                continue
            below: list[tuple[Path, str]] = []
            for entry in found:
                name = prefix + os.fsencode(entry.name).decode("utf-8", "backslashreplace")
                if entry.name.startswith(".") or any(fnmatchcase(name, pattern) for pattern in self.excluded):
                    continue
                if entry.is_symlink():
                    self.links += 1
                elif entry.is_dir(follow_symlinks=False):
                    below.append((Path(entry.path), f"{name}/"))
                elif (one := self._file(entry, name)) is not None:
                    yield one
            pending += reversed(below)

    def _file(self, entry: os.DirEntry[str], name: str) -> FoundFile | None:
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
            self.other[ending if len(ending) <= 12 else "other"] += 1
            return None
        return FoundFile(path, name, status.st_mtime_ns, status.st_size)


def folder_at(place: str) -> Path:
    """The folder of a corpus.

    Raises:
        InputError: there is none.
    """
    path = Path(place)
    if not path.exists():
        raise InputError(f"{place}: no such folder; `assay corpus check` takes a folder of documents")
    if not path.is_dir():
        raise InputError(f"{place}: expected a folder of documents, got a file")
    return path.resolve()
