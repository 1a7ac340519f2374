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
    review_id: str | None = None
    """Its item."""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def hides(self) -> bool:
        """Whether the words of the model's reasoning are taken out of the answer."""
        return self.route.mode is Mode.ENFORCE and self.route.reasoning == "withhold"

    def shown(self, answer: Json) -> Json:
        """What of an answer's reasoning may go out with it: all of it, or what says nothing."""
        return without_reasoning(self.target.wire.name, answer) if self.hides else answer

    def shown_body(self, body: bytes) -> bytes:
        """The same of an answer in bytes; these very bytes where nothing is taken out.

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
        """The headers that say what was found."""
        made = [
            (b"x-assay-action", action.encode()),
            (b"x-assay-report-id", self.report_id.encode()),
            (b"x-assay-overhead-ms", f"{self.overhead_ms():.2f}".encode()),
        ]
        if self.review is not None and self.review_id is not None:
            made += [(b"x-assay-review", self.review_id.encode()), (b"x-assay-review-state", self.review.encode())]
        if self.ruling is not None and self.ruling.score is not None:
            made.append((b"x-assay-score", f"{self.ruling.score:.4f}".encode()))
        if self.ruling is not None:
            made += [(b"x-assay-receipt", receipt.encode()) for receipt in self.ruling.receipts]
        return made
