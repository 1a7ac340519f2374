"""Atomic writing of files: a reader never sees half of one."""

import secrets
import stat
from pathlib import Path

from assay.errors import InputError


def write_file(path: Path, text: str) -> None:
    """Writes a file in UTF-8, whole or not at all, and creates the folders above it.

    An existing file keeps its permissions: a file that only its owner may read stays private.

    Raises:
        InputError: the file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.is_file() else None
        try:
            if mode is not None:
                temporary.touch(0o600)
            temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
            if mode is not None:
                temporary.chmod(mode)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
