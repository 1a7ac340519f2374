"""`GET /metrics`: the metrics of the server for Prometheus."""

from fastapi import APIRouter, Request, Response

from assay.schema import Permission
from assay.server.caller import ONLY_TENANT
from assay.server.http.problems import ProblemError, documented
from assay.server.services import Services, allowed


def make_metrics_router(services: Services) -> APIRouter:
    """The route over the metrics of a server."""
    router = APIRouter()

    def metrics(request: Request) -> Response:
        """The figures of the server, of all tenants together, as Prometheus reads them."""
        caller = allowed(request.scope, Permission.METRICS)
        if caller.tenant != ONLY_TENANT:
            raise ProblemError(
                403,
                "these figures are of all tenants together; only the operator's tenant may read them",
                code="permission.missing",
            )
        found = services.telemetry.metrics
        if found is None:
            raise ProblemError(
                501,
                "this server counts nothing: prometheus-client is not installed",
                code="metrics.absent",
                todo="pip install 'assay-ai[server]'",
            )
        services.telemetry.level()
        text, kind = found.exposition(request.headers.get("accept", ""))
        return Response(text, headers={"content-type": kind, "cache-control": "no-store"})

    text = {"text/plain": {"schema": {"type": "string"}}}
    router.get(
        "/metrics",
        tags=["operation"],
        response_class=Response,
        responses={200: {"content": text}, **documented(401, 403, 501)},
    )(metrics)
    return router
