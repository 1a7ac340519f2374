"""What a file of training came of: the commit of the code, versions of libraries, digests of files."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def commit_of(folder: Path) -> str | None:
    """The git commit that a folder stands at, with `-dirty` where tracked files differ; none where git knows none."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (nothing of it is foreign)
    except OSError:  # no git on this machine
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def versions_of(names: Sequence[str]) -> dict[str, str]:
    """The versions of Python and of those distributions that are installed.

    >>> sorted(versions_of(["a-name-that-nothing-has"]))
    ['python']
    """
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def record_path(path: Path) -> Path:
    """Where the record of a file that training wrote stands: beside it.

    >>> record_path(Path("made.jsonl.gz")).name
    'made.jsonl.gz.json'
    """
    return path.with_name(path.name + ".json")


def record_of_made(path: Path) -> dict[str, object]:
    """The digest of a file of rows, with what its maker recorded beside it, where that is there."""
    beside = record_path(path)
    told: dict[str, object] = json.loads(beside.read_text()) if beside.exists() else {}
    return {"file": file_digest(path), **told}
