"""The one value through which a server tells of itself. What is not installed or not asked for tells nothing."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from assay.errors import MissingPackageError
from assay.schema import HallucinationReport
from assay.server.telemetry.tracing import Asked, Pairs, Tracing, tracing_of

if TYPE_CHECKING:
    from assay.server.checking import Checker
    from assay.server.telemetry.metrics import Metrics
    from assay.store.db import Store

UNCHECKED: Final = "unchecked"
"""The action of what could not be checked."""
_log = logging.getLogger("assay.server")


@dataclass(slots=True)
class Answered:
    """A model's answer that is being checked."""

    asked: Asked | None = None
    response_id: str | None = None


class Telemetry:
    """Figures and traces of one process; each may be missing."""

    def __init__(self, metrics: "Metrics | None" = None, tracing: Tracing | None = None) -> None:
        """With these; without any it tells nothing."""
        self.metrics, self.tracing = metrics, tracing
        self._levels: Callable[[], tuple[int, int]] | None = None

    def follow(self, checker: "Checker", most: int, store: "Store | None") -> None:
        """Tell how much waits for checks and to be stored as well, and what the database says.

        Args:
            checker: what runs checks.
            most: how many may wait.
            store: where they are recorded.
        """
        if self.metrics is None:
            return
        self.metrics.queue_most.set(most)
        self._levels = lambda: (checker.open, 0 if store is None else store.waiting)
        if store is not None:
            from assay.server.telemetry.gauges import Gauges

            self.metrics.read = Gauges(store)

    def release(self) -> None:
        """Count nothing for this process, which is about to be forked and serves nobody itself."""
        if self.metrics is not None:
            self.metrics.queue_most.set(0)

    def level(self) -> None:
        """Take down how much waits now."""
        if self.metrics is not None and self._levels is not None:
            checks, changes = self._levels()
            self.metrics.queue.set(checks)
            self.metrics.store.set(changes)

    def checked(self, report: HallucinationReport, kind: str, answered: Answered | None = None) -> None:
        """A check was made. Telling of it must not end a request: what fails is told to the operator."""
        ended = time.time_ns()
        try:
            if self.metrics is not None:
                self.metrics.checked(report, kind)
            if self.tracing is not None:
                asked = None if answered is None else answered.asked
                self.tracing.checks.tell(
                    report,
                    kind=kind,
                    ended_ns=ended,
                    evaluated=None if asked is None else asked.context,
                    response_id=None if answered is None else answered.response_id,
                )
        except Exception:  # noqa: BLE001 a gate goes on without its telemetry
            _log.exception("a check could not be reported")

    def verdict(self, result: str) -> None:
        """A verdict was looked for among those that are kept: `hit`, `miss`, `slow` or `failed`."""
        if self.metrics is not None:
            self.metrics.kept_verdicts.labels(result).inc()

    def unchecked(self, kind: str) -> None:
        """A check could not be made."""
        if self.metrics is not None:
            self.metrics.checks.labels(kind, UNCHECKED).inc()

    def ask(self, wire: str, model: str | None, upstream: str, headers: Pairs) -> tuple[Asked | None, Pairs]:
        """A model is being asked: its span, and the headers for its upstream. Without tracing they stay as they are,
        `traceparent` among them."""
        if self.tracing is None:
            return None, headers
        return self.tracing.ask(wire, model, upstream, headers)

    def answered(self, asked: Asked | None, status: int | None, answer: Mapping[str, Any] | None = None) -> Answered:
        """The model has answered, or not."""
        if asked is None or self.tracing is None:
            return Answered()
        return Answered(asked, self.tracing.answered(asked, status, answer))

    def close(self) -> None:
        """Send what waits, and end."""
        if self.tracing is not None:
            self.tracing.close()


def telemetry_of(environ: Mapping[str, str]) -> Telemetry:
    """What a server tells of itself by its environment: figures always, traces where `OTEL_*` asks for them."""
    try:
        from assay.server.telemetry.metrics import Metrics

        metrics: Metrics | None = Metrics()
    except MissingPackageError as error:
        _log.warning("%s", error)
        metrics = None
    return Telemetry(metrics, tracing_of(environ))
