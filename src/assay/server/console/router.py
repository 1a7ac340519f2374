"""The router of all pages. A new part of the console is added in `_parts`."""

from collections.abc import Callable
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from assay.server.console.assets import assets
from assay.server.console.errors import error_page, page_router
from assay.server.console.layout import THEME_COOKIE, THEMES, read_form, render, safe_path
from assay.server.console.parts import empty_state, link_button
from assay.server.services import Services

Part = Callable[[Services], APIRouter]
"""Makes the router of one part of the console."""

_NEED_RECORD: Final = (
    "/console",
    "/console/runs",
    "/console/review",
    "/console/monitor",
    "/console/redteam",
    "/console/gaps",
    "/console/policies",
    "/console/datasets",
    "/console/audit",
)
"""The pages of the navigation that show what was recorded; a server without a database has none of them."""

_YEAR_S: Final = 365 * 86_400


def make_console_router(services: Services) -> APIRouter:
    """The pages of the console under `/console`."""
    router = page_router()
    for part in _parts(services):
        router.include_router(part(services))
    if services.kept is None:
        for path in _NEED_RECORD:
            router.add_api_route(path, _no_record, methods=["GET"])
    router.add_api_route("/console/static/{digest}/{name}", _asset, methods=["GET"])
    router.add_api_route("/console/theme", _theme, methods=["POST"])
    # Last, since it matches every path that no part has.
    router.add_api_route("/console/{rest:path}", _not_found, methods=["GET", "POST"])
    return router


def _parts(services: Services) -> list[Part]:
    """The parts of the console. Those that need the database are loaded only where there is one."""
    from assay.server.console.pages.api_reference import make_api_pages
    from assay.server.console.pages.playground import make_playground

    if services.kept is None:
        return [make_playground, make_api_pages]
    from assay.server.console.datasets.experiment import make_experiment_pages
    from assay.server.console.datasets.page import make_dataset_pages
    from assay.server.console.monitor.alerts import make_alert_pages
    from assay.server.console.monitor.page import make_monitor_page
    from assay.server.console.pages.audit import make_audit_pages
    from assay.server.console.pages.overview import make_overview_pages
    from assay.server.console.pages.policies import make_policy_pages
    from assay.server.console.pages.review import make_review_list
    from assay.server.console.pages.review_item import make_review_pages
    from assay.server.console.pages.run import make_run_pages
    from assay.server.console.pages.run_bulk import make_run_bulk
    from assay.server.console.pages.runs import make_run_list
    from assay.server.console.pages.sign_in import make_sign_in_pages
    from assay.server.console.pages.unanswered_questions import make_gap_pages
    from assay.server.console.pages.users import make_user_pages
    from assay.server.console.redteam.page import make_redteam_page
    from assay.server.console.redteam.proposals import make_proposal_pages
    from assay.server.console.redteam.run import make_redteam_run_page
    from assay.server.console.review_actions.assign import make_assign_routes

    return [
        make_overview_pages,
        make_run_list,
        make_run_bulk,
        make_run_pages,
        make_playground,
        make_review_list,
        make_assign_routes,
        make_review_pages,
        make_monitor_page,
        make_alert_pages,
        make_gap_pages,
        make_policy_pages,
        make_dataset_pages,
        make_experiment_pages,
        make_audit_pages,
        make_user_pages,
        make_sign_in_pages,
        make_redteam_page,
        make_redteam_run_page,
        make_proposal_pages,
        make_api_pages,
    ]


def _no_record(request: Request) -> Response:
    words = "Start it with --database to store every check, search the stored checks and prove them by an audit log."
    empty = empty_state("This server keeps no record", words, link_button("Open the playground", "/console/playground"))
    return render(request, "assay", empty)


def _asset(request: Request, digest: str, name: str) -> Response:
    asset = assets().get(name)
    return asset.response(digest) if asset is not None else error_page(request, 404, "There is no such file.")


async def _theme(request: Request) -> Response:
    """Stores the theme in a cookie of this browser for a year."""
    fields = await read_form(request)
    theme = fields.get("theme", "auto")
    response = RedirectResponse(safe_path(fields.get("back", "")), 303)
    response.set_cookie(
        THEME_COOKIE,
        theme if theme in THEMES else "auto",
        max_age=_YEAR_S,
        path="/console",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


def _not_found(request: Request) -> Response:
    return error_page(request, 404, f"There is no page {request.url.path[:200]}.")
