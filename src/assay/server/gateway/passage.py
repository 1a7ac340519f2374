"""One request on its way through the gateway."""

import time
from dataclasses import dataclass, field
from typing import Any

from assay.guard.rulings import Ruling
from assay.server.gateway.targets import Target
from assay.server.settings import Route, Upstream


@dataclass(slots=True)
class Passage:
    """Where a request goes, what was found of its answer, and the times that its log line names."""

    target: Target
    route: Route
    upstream: Upstream
    report_id: str
    begun: float
    upstream_s: float = 0.0
    """Seconds spent waiting for the upstream."""
    ruling: Ruling | None = None
    review: str | None = None
    """The state of the review that the answer led to."""
    extra: dict[str, Any] = field(default_factory=dict)

    def overhead_ms(self) -> float:
        """Milliseconds so far that were spent here and not at the upstream."""
        return max(0.0, (time.perf_counter() - self.begun - self.upstream_s) * 1000)

    def headers(self, action: str) -> list[tuple[bytes, bytes]]:
        """The headers that say what was found."""
        made = [
            (b"x-assay-action", action.encode()),
            (b"x-assay-report-id", self.report_id.encode()),
            (b"x-assay-overhead-ms", f"{self.overhead_ms():.2f}".encode()),
        ]
        if self.review is not None:
            made += [(b"x-assay-review", self.report_id.encode()), (b"x-assay-review-state", self.review.encode())]
        if self.ruling is not None and self.ruling.score is not None:
            made.append((b"x-assay-score", f"{self.ruling.score:.4f}".encode()))
        if self.ruling is not None:
            made += [(b"x-assay-receipt", receipt.encode()) for receipt in self.ruling.receipts]
        return made
