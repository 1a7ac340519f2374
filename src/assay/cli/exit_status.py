"""How a verb ends: the exit statuses, and errors turned into them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from assay.errors import AssayError

CLEAN, FINDINGS, MISUSE, DEFECT, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit statuses."""


@contextmanager
def reporting_errors() -> Iterator[None]:
    """Turns the errors that assay raises on purpose into one message and status 2, and an interrupt into 130."""
    from assay.cli.terminal import write_text

    try:
        yield
    except AssayError as error:
        write_text(f"assay: error: {_told(error)}\n", sys.stderr)
        raise typer.Exit(MISUSE) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        write_text(f"assay: error: {_told(error)}\n", sys.stderr)
        raise typer.Exit(MISUSE) from error
    except KeyboardInterrupt as error:
        write_text("assay: interrupted; what is finished is kept\n", sys.stderr)
        raise typer.Exit(INTERRUPTED) from error


def _told(error: Exception) -> str:
    """An error's words; foreign lines in them stand behind a bar, so that no build server takes one for a command."""
    from assay.cli.terminal import clean

    return clean(str(error)).replace("##[", "## [").replace("\n", "\n│ ")
