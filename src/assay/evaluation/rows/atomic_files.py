"""Writing files so that a reader never sees half of one."""

import secrets
import stat
from pathlib import Path

from assay.errors import InputError


def write_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all, in UTF-8, and makes the folders above it.

    A file that is there keeps its permissions: what only its owner may read stays so.

    Raises:
        InputError: the place cannot be written to.
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
