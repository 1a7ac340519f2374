"""Atomic writing of files: a reader never sees half of one."""

import errno
import os
import re
import secrets
import stat
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Final

from assay.errors import InputError

_STREAMS: Final = {"/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTOR: Final = re.compile(r"/(?:dev|proc/(?:self|thread-self|([0-9]{1,9})))/fd/([0-9]{1,9})")
_MOST_LINKS: Final = 40


def write_file(path: Path, text: str) -> None:
    """Writes a file in UTF-8, whole or not at all, and creates the folders above it.

    An existing file keeps its permissions: a file that only its owner may read stays private. A symbolic link stays,
    and what it leads to is written. Devices and pipes are written as they are, and so is what this process has open
    (`/dev/stdout`, `/dev/fd/3`): after what was written there before.

    Raises:
        InputError: the file cannot be written.
    """
    target = path
    try:
        number = _descriptor(path)
        if number is not None:
            _write_open(number, text)
            return
        if path.exists() and not path.is_file():
            _write(path, text)
            return
        target = _resolved(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        mode = stat.S_IMODE(target.stat().st_mode) if target.is_file() else None
        try:
            if mode is not None:
                temporary.touch(0o600)
            _write(temporary, text)
            if mode is not None:
                temporary.chmod(mode)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError in Python 3.11 and 3.12
        where = f"{path}" if target == path else f"{path} (that is {target})"
        raise InputError(f"{where}: cannot be written: {getattr(error, 'strerror', None) or error}") from error


def _descriptor(path: Path) -> int | None:
    """The number of the open file that a path or a link stands for, such as 1 for `/dev/stdout`."""
    at = os.path.abspath(path)  # noqa: PTH100 links are followed one by one
    for _ in range(_MOST_LINKS):
        at = "/" + at.lstrip("/")
        folder, name = os.path.split(at)
        for known in (at, os.path.join(os.path.realpath(folder), name)):  # noqa: PTH118
            named = _DESCRIPTOR.fullmatch(known)
            if named is not None and named[1] in (None, str(os.getpid())):
                return int(named[2])
            if known in _STREAMS:
                return _STREAMS[known]
        if not os.path.islink(at):  # noqa: PTH114
            return None
        at = os.path.join(folder, os.readlink(at))  # noqa: PTH115, PTH118
    return None


def _write_open(number: int, text: str) -> None:
    """Writes into an open file where it stands; opening it by its name would write over what it has."""
    for own, stream in ((1, sys.stdout), (2, sys.stderr)):
        is_open = stream is not None and not stream.closed
        if number == own and not is_open:  # the number may be another file's by now
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if is_open:
            # Another stream may lead to the same file; where it cannot be written it is not what is written here.
            with nullcontext() if number == own else suppress(OSError):
                stream.flush()
    with open(os.dup(number), "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:  # noqa: PTH123 by number
        file.write(text)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def _resolved(path: Path) -> Path:
    target = path.resolve()
    if target.is_symlink():  # a loop of links: later versions of Python do not report it themselves
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target
