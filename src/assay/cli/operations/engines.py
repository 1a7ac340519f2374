"""`--engine`, `--workers` and `--address` of the verbs that judge many rows."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.batch import Mapped


class Engine(StrEnum):
    """The engines that can judge."""

    LOCAL = "local"
    RAY = "ray"


EngineOption = Annotated[
    Engine | None,
    typer.Option("--engine", help="Have worker processes of this machine judge, or actors of Ray. [default: neither]"),
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=1, help="How many workers. [default: one for each processor]")
]
AddressOption = Annotated[
    str | None, typer.Option("--address", metavar="HOST:PORT", help="Of a Ray cluster. [default: this machine]")
]

MOST_WORKERS: Final = 256
_FORWARDED: Final = ("ASSAY_CONFIG", "ASSAY_VERIFIER", "ASSAY_RUNTIME")
"""Environment variables that decide which guard a worker makes."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Which workers judge, as the command line names them."""

    engine: Engine | None = None
    workers: int | None = None
    address: str | None = None

    @property
    def enabled(self) -> bool:
        """Whether workers judge; otherwise the process of the command does."""
        return self.engine is not None or self.workers is not None

    @property
    def threads(self) -> int:
        """How many pairs each worker judges in parallel, so that together they use all processors."""
        from assay.models import usable_cpus

        return max(1, usable_cpus() // (self.workers or usable_cpus()))


NO_WORKERS: Final = WorkerSettings()
"""No workers: the process of the command judges."""


def read_workers(text: str) -> int:
    """The number of server processes: from 1 to 256, or `auto` for one for each usable processor.

    >>> read_workers("3")
    3

    Raises:
        BadParameter: the text is neither.
    """
    if str(text) == "auto":
        from assay.models import usable_cpus

        return min(MOST_WORKERS, usable_cpus())
    try:
        count = int(text)
    except ValueError:
        count = 0
    if not 1 <= count <= MOST_WORKERS:
        raise typer.BadParameter(f"expected a number from 1 to {MOST_WORKERS}, or auto, got {str(text)[:40]!r}")
    return count


def forwarded_environ() -> dict[str, str]:
    """The environment variables of this process that workers on other machines need."""
    return {name: os.environ[name] for name in _FORWARDED if name in os.environ}


@contextmanager
def worker_map(settings: WorkerSettings, task: Any, model: str | Path | None) -> "Iterator[Mapped | None]":
    """A map over chunks by workers, which start with the first chunk and end with the context; none without workers.

    Args:
        settings: which workers.
        task: their task; see `assay.batch.MappedWork`.
        model: a shipped network's name or a folder.

    Raises:
        InputError: an address is given without `--engine ray`.
    """
    if not settings.enabled:
        if settings.address is not None:
            raise InputError("--address names a Ray cluster; it needs --engine ray")
        yield None
        return
    from assay.batch import Mapped, MappedWork, open_engine

    work = MappedWork(task, None if model is None else str(model), settings.threads, forwarded_environ())
    name = (settings.engine or Engine.LOCAL).value
    with Mapped(lambda: open_engine(name, work, workers=settings.workers, address=settings.address)) as mapped:
        yield mapped
