"""An engine by its name."""

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
        work: what its workers do.
        workers: how many there are; one for each usable CPU by default.
        address: of the Ray cluster; one on this machine by default.

    Raises:
        InputError: the name or the number is wrong, or an address was given that is not used.
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
