"""The exit statuses of the command, and the mapping of errors to them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from assay.errors import AssayError, InputError

CLEAN, FINDINGS, MISUSE, DEFECT, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit statuses."""
_EXTRAS: Final = {
    "aiohttp": "server",
    "alembic": "store",
    "argon2": "server",
    "cryptography": "receipts",
    "fastapi": "server",
    "fsspec": "batch",
    "mcp": "mcp",
    "pyarrow": "parquet",
    "sqlalchemy": "store",
    "uvicorn": "server",
}
"""Packages of extras, each with the extra that installs it."""


def missing_extra(error: ModuleNotFoundError) -> InputError | None:
    """The error to report for a missing package of an extra; None if the module belongs to no extra."""
    name = (error.name or "").partition(".")[0]
    extra = _EXTRAS.get(name)
    return None if extra is None else InputError(f"this needs {name}: pip install 'assay-ai[{extra}]'")


@contextmanager
def reporting_errors() -> Iterator[None]:
    """Turns errors of assay and of the system into one message and status 2, and an interrupt into status 130."""
    from assay.cli.terminal import write_text

    try:
        yield
    except AssayError as error:
        write_text(f"assay: error: {_error_words(error)}\n", sys.stderr)
        raise typer.Exit(MISUSE) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        write_text(f"assay: error: {_error_words(error)}\n", sys.stderr)
        raise typer.Exit(MISUSE) from error
    except KeyboardInterrupt as error:
        write_text("assay: interrupted; what is finished is kept\n", sys.stderr)
        raise typer.Exit(INTERRUPTED) from error


def _error_words(error: Exception) -> str:
    """The message of an error; its further lines follow a bar, so that no build server reads one as a command."""
    from assay.cli.terminal import clean

    return clean(str(error)).replace("##[", "## [").replace("\n", "\n│ ")
