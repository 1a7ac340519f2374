"""Actors of a Ray cluster, each with a network of its own."""

import math
from typing import Any

from assay.batch.engines.interface import MOST_FAILED_STARTS, Died, Done
from assay.batch.engines.preloaded import begin_work
from assay.batch.values import Piece, Work
from assay.errors import AssayError, MissingPackageError, VerifierError


class Worker:
    """The class of the actors."""

    def __init__(self, work: Work) -> None:
        """Begins the work."""
        self._answer = begin_work(work)

    def answer(self, piece: Piece) -> list[Any]:
        """The answers to the rows of a piece."""
        return self._answer(piece.rows)

    def ready(self) -> bool:
        """Always true; answered once the constructor has begun the work."""
        return True


class RayEngine:
    """A fixed number of actors, each of which holds one piece at a time.

    Rows travel to the actors and results back to the driver, which alone writes: no file system has to be shared.
    """

    def __init__(self, work: Work, workers: int, address: str | None) -> None:
        """Connects to the cluster, or starts one on this machine, and starts the actors.

        Raises:
            MissingPackageError: Ray is not installed.
            VerifierError: the cluster cannot be reached, or an actor cannot begin its work.
        """
        try:
            import ray
        except ImportError as error:
            raise MissingPackageError("--engine ray needs Ray; install it with: pip install 'assay-ai[ray]'") from error
        self._ray, self._work, self._count = ray, work, workers
        self._owns_cluster = not ray.is_initialized()
        self._pieces: dict[Any, tuple[Piece, Any]] = {}
        self._idle: list[Any] = []
        self._failed_starts = 0
        if self._owns_cluster:
            _connect(ray, workers, address)
        try:
            gpus = gpus_per_actor(work, workers, float(ray.cluster_resources().get("GPU", 0)))
        except VerifierError:
            self.close()
            raise
        self._actor_class = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0, max_task_retries=0)(Worker)
        self._idle = [self._actor_class.remote(work) for _ in range(workers)]
        self._await_ready()

    def _await_ready(self) -> None:
        try:
            self._ray.get([actor.ready.remote() for actor in self._idle])
        except self._ray.exceptions.RayError as error:
            self.close()
            cause = getattr(error, "cause", None)
            message = str(cause) if isinstance(cause, AssayError) else str(error)
            raise VerifierError(f"a worker could not begin its work: {message}") from error

    @property
    def capacity(self) -> int:
        """One piece for each actor."""
        return self._count

    def submit(self, piece: Piece) -> None:
        """Hands a piece to an idle actor."""
        actor = self._idle.pop()
        self._pieces[actor.answer.remote(piece)] = (piece, actor)

    def wait(self) -> Done | Died:
        """The next piece that has ended; blocks until there is one.

        Raises:
            VerifierError: actors cannot be kept alive.
        """
        ready, _ = self._ray.wait(list(self._pieces), num_returns=1)
        piece, actor = self._pieces.pop(ready[0])
        errors = self._ray.exceptions
        try:
            results = self._ray.get(ready[0])
        except errors.RayTaskError as error:
            self._idle.append(actor)
            return Died(piece, f"a defect in assay: {type(error.cause).__name__}: {error.cause}")
        except errors.RayError as error:
            self._replace(error)
            return Died(piece, "the worker that judged it died")
        self._failed_starts = 0
        self._idle.append(actor)
        return Done(piece, results)

    def _replace(self, error: Exception) -> None:
        self._failed_starts += 1
        if self._failed_starts > MOST_FAILED_STARTS * self._count:
            raise VerifierError(f"workers end as soon as they start: {error}") from error
        self._idle.append(self._actor_class.remote(self._work))

    def close(self) -> None:
        """Ends the actors, and the connection to the cluster if this engine made it."""
        for actor in [*self._idle, *(actor for _, actor in self._pieces.values())]:
            self._ray.kill(actor)
        self._idle.clear()
        self._pieces.clear()
        if self._owns_cluster and self._ray.is_initialized():
            self._ray.shutdown()


def gpus_per_actor(work: Work, workers: int, gpus: float) -> float:
    """The GPUs that one actor gets: none where the network runs on CPUs (`ASSAY_RUNTIME`), else a whole one, or a
    fraction of one where there are more actors than GPUs.

    Raises:
        VerifierError: the network is to run on a GPU, and the cluster has none.
    """
    if work.environ.get("ASSAY_RUNTIME") != "cuda":
        return 0.0
    if gpus < 1:
        raise VerifierError("ASSAY_RUNTIME is cuda, and the Ray cluster has no GPU")
    return 1 / math.ceil(workers / math.floor(gpus))


def _connect(ray: Any, workers: int, address: str | None) -> None:
    logging = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address is None:
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **logging)
        else:
            ray.init(address=address, **logging)
    except (ConnectionError, OSError, ValueError, RuntimeError) as error:
        where = "on this machine" if address is None else f"at {address}"
        raise VerifierError(f"the Ray cluster {where} cannot be reached: {error}") from error
