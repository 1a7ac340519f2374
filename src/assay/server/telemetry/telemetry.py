"""The metrics and traces of a process behind one value; what is not installed or not configured does nothing."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from assay.errors import MissingPackageError
from assay.schema import HallucinationReport
from assay.server.telemetry.tracing import HeaderPairs, ModelCall, Tracing, tracing_of

if TYPE_CHECKING:
    from assay.server.checking import Checker
    from assay.server.telemetry.metrics import Metrics
    from assay.store.db import Store

UNCHECKED: Final = "unchecked"
"""The action of outputs that could not be checked."""
_log = logging.getLogger("assay.server")


@dataclass(slots=True)
class ModelAnswer:
    """The model's answer that is being checked, as far as its call is traced."""

    asked: ModelCall | None = None
    response_id: str | None = None


class Telemetry:
    """The metrics and traces of one process; either may be missing."""

    def __init__(self, metrics: "Metrics | None" = None, tracing: Tracing | None = None) -> None:
        """With these; without them it does nothing."""
        self.metrics, self.tracing = metrics, tracing
        self._levels: Callable[[], tuple[int, int]] | None = None

    def follow(self, checker: "Checker", most: int, store: "Store | None") -> None:
        """Include the queues for checks and for the database, and the metrics that are read from the database.

        Args:
            checker: runs checks.
            most: the limit of its queue.
            store: the store; none for a server without a database.
        """
        if self.metrics is None:
            return
        self.metrics.queue_most.set(most)
        self._levels = lambda: (checker.open, 0 if store is None else store.waiting)
        if store is not None:
            from assay.server.telemetry.gauges import Gauges

            self.metrics.read = Gauges(store)

    def release(self) -> None:
        """Count no queue for this process, which is about to be forked and serves no requests itself."""
        if self.metrics is not None:
            self.metrics.queue_most.set(0)

    def level(self) -> None:
        """Set the gauges of the queues to their current lengths."""
        if self.metrics is not None and self._levels is not None:
            checks, changes = self._levels()
            self.metrics.queue.set(checks)
            self.metrics.store.set(changes)

    def checked(self, report: HallucinationReport, kind: str, answered: ModelAnswer | None = None) -> None:
        """Report a check. A failure must not end the request: it is logged."""
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
        except Exception:  # noqa: BLE001 exporters of OpenTelemetry may raise anything; the gate goes on without them
            _log.exception("a check could not be reported")

    def verdict(self, result: str) -> None:
        """Count a lookup in the verdict cache: `hit`, `miss`, `slow` or `failed`."""
        if self.metrics is not None:
            self.metrics.kept_verdicts.labels(result).inc()

    def unchecked(self, kind: str) -> None:
        """Count a check that could not be made."""
        if self.metrics is not None:
            self.metrics.checks.labels(kind, UNCHECKED).inc()

    def ask(
        self, wire: str, model: str | None, upstream: str, headers: HeaderPairs
    ) -> tuple[ModelCall | None, HeaderPairs]:
        """Begin the span of a call of a model; returns it with the headers for the upstream, which are unchanged
        without tracing, `traceparent` included."""
        if self.tracing is None:
            return None, headers
        return self.tracing.ask(wire, model, upstream, headers)

    def answered(
        self, asked: ModelCall | None, status: int | None, answer: Mapping[str, Any] | None = None
    ) -> ModelAnswer:
        """End the span of a call; `status` is none where the model did not answer."""
        if asked is None or self.tracing is None:
            return ModelAnswer()
        return ModelAnswer(asked, self.tracing.answered(asked, status, answer))

    def close(self) -> None:
        """Export what is buffered, and stop."""
        if self.tracing is not None:
            self.tracing.close()


def telemetry_of(environ: Mapping[str, str]) -> Telemetry:
    """The telemetry that the environment configures: metrics where prometheus-client is installed, traces where
    `OTEL_*` asks for them."""
    try:
        from assay.server.telemetry.metrics import Metrics

        metrics: Metrics | None = Metrics()
    except MissingPackageError as error:
        _log.warning("%s", error)
        metrics = None
    return Telemetry(metrics, tracing_of(environ))
