"""The telemetry of one request: its metrics, its span, and its line in the access log.

A line has the route, the outcome and the duration, never a query, a header or a body, and no name of a caller, which
could not be erased there. The gateway writes its own line, with the decision, for each request that it forwards
(`assay.server.gateway.relay`); here only those that it refused get one.
"""

import logging
import time
from typing import Any, Final

from assay.server.gateway.asgi import Message, Scope, Send
from assay.server.gateway.targets import is_gateway, target_of
from assay.server.http.admission import OPEN_PATHS
from assay.server.telemetry.telemetry import Telemetry

LINE_WRITTEN: Final = "assay.logged"
"""Set in the scope of a request whose line is written elsewhere."""
CLIENT_METHOD: Final = "assay.asked"
"""The key, in a request's scope, of the method that the client used where the routes see another one."""
POLLED_ROUTES: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Routes that machines poll: their lines are written at the level `debug`."""
OTHER_ROUTE: Final = "other"
"""The route of requests that no route answers."""
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_LONGEST_PATH: Final = 200
_IDS: Final = {b"x-assay-report-id": "report_id", b"x-assay-action": "action"}
_log = logging.getLogger("assay.server.access")


class ObservedRequest:
    """Observes one request from its head to the end of its answer."""

    __slots__ = ("_begun", "_bytes", "_own_headers", "_scope", "_send", "_span", "_status", "_telemetry", "_token")

    def __init__(self, telemetry: Telemetry, scope: Scope, send: Send) -> None:
        """Start the clock and the span."""
        self._telemetry, self._scope, self._send = telemetry, scope, send
        self._begun = time.perf_counter()
        self._status: int | None = None
        self._bytes = 0
        self._own_headers: dict[str, str] = {}
        self._span: Any = None
        self._token: Any = None
        if telemetry.metrics is not None:
            telemetry.metrics.in_flight.inc()
            telemetry.level()
        if telemetry.tracing is not None:
            self._span, self._token = telemetry.tracing.begin(self._method, scope["headers"])

    @property
    def _method(self) -> str:
        method = str(self._scope.get(CLIENT_METHOD, self._scope["method"]))
        return method if method in METHODS else "OTHER"

    async def send(self, message: Message) -> None:
        """Sends a message on, noting the status, the size and the ids in headers."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            for name, value in message.get("headers", ()):
                if (key := _IDS.get(name.lower())) is not None:
                    self._own_headers[key] = value.decode("latin-1")
        elif message["type"] == "http.response.body":
            self._bytes += len(message.get("body", b""))
        await self._send(message)

    def end(self) -> None:
        """Record the request when the answer has been sent, or the client has disconnected."""
        spent = time.perf_counter() - self._begun
        route = self.route
        metrics = self._telemetry.metrics
        if metrics is not None:
            status = "client_gone" if self._status is None else str(self._status)
            metrics.in_flight.dec()
            self._telemetry.level()
            metrics.requests.labels(self._method, route, status).inc()
            metrics.seconds.labels(route).observe(spent)
        trace_id = None
        if self._telemetry.tracing is not None:
            trace_id = self._telemetry.tracing.trace_id(self._span)
            self._telemetry.tracing.end(self._span, self._token, route, self._method, self._status)
        self._write(route, spent, trace_id)

    @property
    def route(self) -> str:
        """The pattern of the route, which has few values, whatever the path is."""
        path, method = self._scope["path"], self._scope["method"]
        if is_gateway(path):
            target = target_of(method, path)
            if target is None:
                return OTHER_ROUTE
            return "/v1/models/{id}" if target.path.startswith("/v1/models/") else target.path
        if path in OPEN_PATHS:
            return str(path)
        found = getattr(self._scope.get("route"), "path", None)
        return found if isinstance(found, str) else OTHER_ROUTE

    def _write(self, route: str, spent: float, trace_id: str | None) -> None:
        level = logging.DEBUG if route in POLLED_ROUTES and (self._status or 0) < _LEAST_ERROR else logging.INFO
        if self._scope.get(LINE_WRITTEN) or not _log.isEnabledFor(level):
            return
        line = {
            "event": "request",
            "method": self._method,
            "route": route,
            "path": self._scope["path"][:_LONGEST_PATH],
            "status": self._status,
            "ms": round(spent * 1000, 2),
            "bytes": self._bytes,
            **self._own_headers,
            **({} if trace_id is None else {"trace_id": trace_id}),
        }
        _log.log(level, "request %s", route, extra={"line": line})


_LEAST_ERROR: Final = 400
"""The lowest status that is logged at `info` also for polled routes."""
