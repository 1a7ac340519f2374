"""All pages together. A part of the console adds its own router in `_parts`."""

from collections.abc import Callable
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from assay.server.console.assets import assets
from assay.server.console.errors import error_page, page_router
from assay.server.console.layout import THEME_COOKIE, THEMES, form_of, inside, render
from assay.server.console.parts import empty_state, link_button
from assay.server.services import Services

Part = Callable[[Services], APIRouter]

_KEPT: Final = (
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
"""The places of the navigation that show what was recorded."""

_YEAR_S: Final = 365 * 86_400


def make_console_router(services: Services) -> APIRouter:
    """The pages of the console under `/console`."""
    router = page_router()
    for part in _parts(services):
        router.include_router(part(services))
    if services.kept is None:
        for path in _KEPT:
            router.add_api_route(path, _no_record, methods=["GET"])
    router.add_api_route("/console/static/{digest}/{name}", _asset, methods=["GET"])
    router.add_api_route("/console/theme", _theme, methods=["POST"])
    # Last of all: what no part has.
    router.add_api_route("/console/{rest:path}", _nothing, methods=["GET", "POST"])
    return router


def _parts(services: Services) -> list[Part]:
    """What makes the routers of the parts. Those over the database are loaded only where there is one."""
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
    from assay.server.console.pages.signing_in import make_signing_in_pages
    from assay.server.console.pages.unanswered_questions import make_gap_pages
    from assay.server.console.pages.users import make_user_pages
    from assay.server.console.redteam.page import make_redteam_page
    from assay.server.console.redteam.proposals import make_proposal_pages
    from assay.server.console.redteam.run import make_redteam_run_page
    from assay.server.console.reviewing.assigning import make_assigning

    return [
        make_overview_pages,
        make_run_list,
        make_run_bulk,
        make_run_pages,
        make_playground,
        make_review_list,
        make_assigning,
        make_review_pages,
        make_monitor_page,
        make_alert_pages,
        make_gap_pages,
        make_policy_pages,
        make_dataset_pages,
        make_experiment_pages,
        make_audit_pages,
        make_user_pages,
        make_signing_in_pages,
        make_redteam_page,
        make_redteam_run_page,
        make_proposal_pages,
        make_api_pages,
    ]


def _no_record(request: Request) -> Response:
    words = "Start it with --database, and every check is kept, can be found, and is proved by an audit log."
    empty = empty_state("This server keeps no record", words, link_button("Open the playground", "/console/playground"))
    return render(request, "assay", empty)


def _asset(request: Request, digest: str, name: str) -> Response:
    found = assets().get(name)
    return found.response(digest) if found is not None else error_page(request, 404, "There is no such file.")


async def _theme(request: Request) -> Response:
    """Keeps the theme for a year, in this browser alone."""
    fields = await form_of(request)
    theme = fields.get("theme", "auto")
    made = RedirectResponse(inside(fields.get("back", "")), 303)
    made.set_cookie(
        THEME_COOKIE,
        theme if theme in THEMES else "auto",
        max_age=_YEAR_S,
        path="/console",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return made


def _nothing(request: Request) -> Response:
    return error_page(request, 404, f"There is no page {request.url.path[:200]}.")
