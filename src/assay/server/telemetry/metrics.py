"""The metrics of a server for Prometheus. No label contains names or texts of callers: each has few values.

With several worker processes, each keeps its metrics in files of one folder (`PROMETHEUS_MULTIPROC_DIR`), and the one
that is scraped sums those of all.
"""

import contextlib
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from assay.errors import MissingPackageError
from assay.schema import HallucinationReport

if TYPE_CHECKING:
    from prometheus_client import Counter, Gauge, Histogram
    from prometheus_client.core import Metric

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable with the folder that several processes share."""
SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SCORES: Final = tuple(step / 10 for step in range(1, 11))
STAGES: Final = frozenset(
    {"tools", "screening", "evidence", "claims", "judging", "logic", "judge", "knowledge", "probing"}
)
"""The stages of a check that have a label."""

Read = Callable[[], "Iterable[Metric]"]
"""Reads metrics at the time of a scrape."""


class Metrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        """Register the metrics.

        Raises:
            MissingPackageError: prometheus-client is not installed.
        """
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
        except ImportError as error:
            raise MissingPackageError("/metrics needs prometheus-client: pip install 'assay-ai[server]'") from error
        self.read: Read | None = None
        """Reads further metrics at the time of a scrape."""
        self._is_multiprocess = FOLDER in os.environ
        self.registry = CollectorRegistry()
        self._make_counters(Counter)
        self._make_histograms(Histogram)
        self._make_gauges(Gauge)
        if not self._is_multiprocess:
            ProcessCollector(registry=self.registry)

    def _make_counters(self, counter: "type[Counter]") -> None:
        def made(name: str, about: str, *labels: str) -> "Counter":
            return counter(f"assay_{name}", about, labels, registry=self.registry)

        self.requests = made("requests", "Requests that were answered.", "method", "route", "status")
        self.checks = made("checks", "Outputs that were decided on; `unchecked` could not be.", "kind", "action")
        self.claims = made("claims", "Claims by verdict.", "verdict")
        self.findings = made("findings", "Outputs in which something of a category was found.", "category")
        self.characters = made("output_characters", "Characters of outputs by how they were covered.", "coverage")
        self.kept_verdicts = made("verdict_cache", "Verdicts that were looked for among those that are kept.", "result")

    def _make_histograms(self, histogram: "type[Histogram]") -> None:
        def made(name: str, about: str, label: str, buckets: tuple[float, ...] = SECONDS) -> "Histogram":
            return histogram(f"assay_{name}", about, (label,), buckets=buckets, registry=self.registry)

        self.seconds = made("request_seconds", "Seconds from a request to the end of its answer.", "route")
        self.scores = made("check_score", "Gating scores of outputs: 1 is supported.", "kind", SCORES)
        self.check_seconds = made("check_seconds", "Seconds that a check took, waiting not included.", "kind")
        self.stage_seconds = made("check_stage_seconds", "Seconds that a stage of a check took.", "stage")
        self.overhead = made(
            "gateway_overhead_seconds", "Seconds that an answer spent here and not at its upstream.", "route"
        )
        self.upstream = made("gateway_upstream_seconds", "Seconds that an answer spent at its upstream.", "route")

    def _make_gauges(self, gauge: "type[Gauge]") -> None:
        def made(name: str, about: str) -> "Gauge":
            return gauge(f"assay_{name}", about, registry=self.registry, multiprocess_mode="livesum")

        self.in_flight = made("requests_in_flight", "Requests that are being answered.")
        self.queue = made("check_queue_depth", "Checks that wait or run.")
        self.queue_most = made("check_queue_limit", "Checks that may wait or run.")
        self.store = made("store_waiting", "Changes that wait to be stored.")

    def checked(self, report: HallucinationReport, kind: str) -> None:
        """Count one report."""
        self.checks.labels(kind, report.action.value).inc()
        if report.overall_score is not None:
            self.scores.labels(kind).observe(report.overall_score)
        self.check_seconds.labels(kind).observe(report.timing.total_ms / 1000)
        for stage, ms in report.timing.stages_ms.items():
            if stage in STAGES:
                self.stage_seconds.labels(stage).observe(ms / 1000)
        for claim in report.claims:
            self.claims.labels(claim.verdict.value).inc()
        for category in report.categories:
            self.findings.labels(category.value).inc()
        coverage = report.coverage
        for name, number in (
            ("checked", coverage.checked),
            ("not_checkable", coverage.not_checkable),
            ("unchecked", coverage.unchecked),
        ):
            self.characters.labels(name).inc(number)

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """All metrics as text, and its media type; blocks for as long as the database takes.

        Args:
            accept: the client's `accept` header.
        """
        from prometheus_client import CollectorRegistry
        from prometheus_client.exposition import choose_encoder

        encode, kind = choose_encoder(accept)
        whole: Any = self.registry
        if self._is_multiprocess:
            from prometheus_client.multiprocess import MultiProcessCollector

            whole = CollectorRegistry()
            MultiProcessCollector(whole)
        joined = CollectorRegistry()
        joined.register(_JoinedCollector(whole, self.read))
        return encode(joined), kind


class _JoinedCollector:
    """A collector of the counted metrics and of those that are read at a scrape."""

    def __init__(self, registry: Any, read: Read | None) -> None:
        self._registry, self._read = registry, read

    def describe(self) -> "Iterable[Metric]":
        return ()

    def collect(self) -> "Iterable[Metric]":
        yield from self._registry.collect()
        if self._read is not None:
            yield from self._read()


def drop_worker_gauges(pid: int) -> None:
    """Drop the gauges of a worker process that has ended."""
    if FOLDER not in os.environ:
        return
    with contextlib.suppress(ImportError, OSError):
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(pid)
