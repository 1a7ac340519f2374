"""Opens an engine by its name."""

from typing import Final

from assay.batch.engines.interface import Engine
from assay.batch.values import Work
from assay.errors import InputError
from assay.models import usable_cpus

ENGINES: Final = ("local", "ray")


def open_engine(name: str, work: Work, *, workers: int | None = None, address: str | None = None) -> Engine:
    """Starts an engine.

    Args:
        name: one of `ENGINES`.
        work: the work of its workers.
        workers: how many; one for each usable CPU by default.
        address: that of the Ray cluster; a cluster on this machine by default.

    Raises:
        InputError: there is no such engine, the number is below 1, or an address is given without Ray.
        MissingPackageError: Ray is not installed.
    """
    if name not in ENGINES:
        raise InputError(f"--engine is {name!r}; expected one of {', '.join(ENGINES)}")
    if workers is not None and workers < 1:
        raise InputError(f"--workers is {workers}; expected at least 1")
    if name == "ray":
        from assay.batch.engines.ray_actors import RayEngine

        return RayEngine(work, workers or usable_cpus(), address)
    if address is not None:
        raise InputError("--address names a Ray cluster; it needs --engine ray")
    from assay.batch.engines.processes import ProcessEngine

    return ProcessEngine(work, workers or usable_cpus())
