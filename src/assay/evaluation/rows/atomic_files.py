"""Atomic writing of files: a reader never sees half of one."""

import errno
import os
import secrets
import stat
from pathlib import Path

from assay.errors import InputError


def write_file(path: Path, text: str) -> None:
    """Writes a file in UTF-8, whole or not at all, and creates the folders above it.

    An existing file keeps its permissions: a file that only its owner may read stays private. A symbolic link stays,
    and what it leads to is written. Devices and pipes, such as `/dev/stdout`, are written as they are.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        target = _resolved(path)
        if path.absolute().is_relative_to("/dev") or (path.exists() and not path.is_file()):
            _written(path, text)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        mode = stat.S_IMODE(target.stat().st_mode) if target.is_file() else None
        try:
            if mode is not None:
                temporary.touch(0o600)
            _written(temporary, text)
            if mode is not None:
                temporary.chmod(mode)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except RuntimeError as error:  # how Python 3.11 and 3.12 report a loop of links
        raise InputError(f"{path}: cannot be written: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def _resolved(path: Path) -> Path:
    target = path.resolve()
    if target.is_symlink():  # a loop of links: later versions of Python do not report it themselves
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


def _written(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
