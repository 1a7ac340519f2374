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
    """Who judges."""

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
"""Variables that decide what a guard is."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Who judges, as the command line said it."""

    engine: Engine | None = None
    workers: int | None = None
    address: str | None = None

    @property
    def enabled(self) -> bool:
        """Whether workers were asked for; else the process of the command judges."""
        return self.engine is not None or self.workers is not None

    @property
    def threads(self) -> int:
        """How many pairs each judges at once, so that all of them fill the processors."""
        from assay.models import usable_cpus

        return max(1, usable_cpus() // (self.workers or usable_cpus()))


NO_WORKERS: Final = WorkerSettings()
"""Nobody but the process of the command."""


def read_workers(text: str) -> int:
    """How many processes serve: a number from 1 to 256, or `auto` for one for each processor that may be used.

    >>> read_workers("3")
    3

    Raises:
        BadParameter: it is neither.
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
    """The variables of this process that workers on other machines need."""
    return {name: os.environ[name] for name in _FORWARDED if name in os.environ}


@contextmanager
def worker_map(settings: WorkerSettings, task: Any, model: str | Path | None) -> "Iterator[Mapped | None]":
    """What has chunks judged by workers, which start with the first chunk and end here; none where none were asked for.

    Args:
        crew: who they are.
        task: what they do; see `assay.batch.MappedWork`.
        model: a shipped network's name or a folder.

    Raises:
        InputError: an address was given without `--engine ray`.
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
