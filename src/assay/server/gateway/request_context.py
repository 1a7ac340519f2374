"""One request on its way through the gateway."""

import time
from dataclasses import dataclass, field
from typing import Any

from assay.guard import Ruling
from assay.server.gateway.targets import Target
from assay.server.settings import Mode, Route, Upstream
from assay.wire import Json, encoded, read_object
from assay.wire.parts import without_reasoning


@dataclass(slots=True)
class RequestContext:
    """Where a request goes, the ruling on its answer, and the times for its log line."""

    target: Target
    route: Route
    upstream: Upstream
    report_id: str
    begun: float
    upstream_s: float = 0.0
    """Seconds spent waiting for the upstream."""
    ruling: Ruling | None = None
    review: str | None = None
    """The state of the answer's review."""
    review_id: str | None = None
    """The id of its review item."""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def hides(self) -> bool:
        """Whether the text of the model's reasoning is removed from the answer."""
        return self.route.mode is Mode.ENFORCE and self.route.reasoning == "withhold"

    def shown(self, answer: Json) -> Json:
        """An answer as it may go out: without the text of its reasoning where the route hides it."""
        return without_reasoning(self.target.wire.name, answer) if self.hides else answer

    def shown_body(self, body: bytes) -> bytes:
        """The same for an answer in bytes, which are unchanged where nothing is removed.

        Raises:
            InputError: it is no JSON object.
        """
        if not self.hides:
            return body
        answer = read_object(body, "the upstream's answer")
        quiet = self.shown(answer)
        return body if quiet is answer else encoded(quiet)

    def overhead_ms(self) -> float:
        """Milliseconds so far that were spent here and not at the upstream."""
        return max(0.0, (time.perf_counter() - self.begun - self.upstream_s) * 1000)

    def headers(self, action: str) -> list[tuple[bytes, bytes]]:
        """The headers with the decision on the answer, its report, review and receipts."""
        headers = [
            (b"x-assay-action", action.encode()),
            (b"x-assay-report-id", self.report_id.encode()),
            (b"x-assay-overhead-ms", f"{self.overhead_ms():.2f}".encode()),
        ]
        if self.review is not None and self.review_id is not None:
            headers += [(b"x-assay-review", self.review_id.encode()), (b"x-assay-review-state", self.review.encode())]
        if self.ruling is not None and self.ruling.score is not None:
            headers.append((b"x-assay-score", f"{self.ruling.score:.4f}".encode()))
        if self.ruling is not None:
            headers += [(b"x-assay-receipt", receipt.encode()) for receipt in self.ruling.receipts]
        return headers

    def log_line(self, status: int | None) -> dict[str, Any]:
        """The fields of the access log's line about the answer; `status` is none for a check in shadow mode."""
        ruling = self.ruling
        return {
            "event": "answer" if status is not None else "shadow",
            "report_id": self.report_id,
            "route": self.target.route,
            "upstream": self.upstream.name,
            "mode": self.route.mode.value,
            "status": status,
            "action": ruling.action if ruling is not None else None,
            "score": ruling.score if ruling is not None else None,
            "reasons": list(ruling.reasons) if ruling is not None else [],
            "ms": round((time.perf_counter() - self.begun) * 1000, 2),
            "overhead_ms": round(self.overhead_ms(), 2),
            **self.extra,
        }
