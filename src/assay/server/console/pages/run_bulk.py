"""What is done with many runs at once: kept in a dataset, judged by a person, exported; and views of the list."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl

from fastapi import APIRouter
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.schema import Permission
from assay.server.caller import Caller
from assay.server.console.errors import page_router
from assay.server.console.layout import allowed, read_form, read_form_fields, redirect, safe_path
from assay.server.console.pages.runs import LIST, filters_of, owner_of_views
from assay.server.http.spreadsheets import Cell, csv_text
from assay.server.services import Services
from assay.store.datasets import add_rows, drop_view, make_dataset, save_view
from assay.store.insights import describe, read_figures
from assay.store.records import ReportRow, give_feedback, has_run, read_listed, read_page

MOST_EXPORTED: Final = 10_000
"""Rows of one CSV file."""
PART: Final = 500
"""Rows that are read at once."""
MOST_CHOSEN: Final = 200
"""Runs that something may be done with at once."""
CSV_COLUMNS: Final = (
    "id",
    "created",
    "kind",
    "action",
    "route",
    "score",
    "policy",
    "caller",
    "question",
    "output",
    "claims",
    "supported",
    "contradicted",
    "unsupported",
    "unchecked",
    "not_checkable",
    "duration_ms",
    "tokens",
    "cost",
    "currency",
    "url",
)
_VERDICTS: Final = CSV_COLUMNS[11:16]


def make_run_bulk(services: Services) -> APIRouter:
    """The routes below the list of runs that do something with several."""
    router, routes = page_router(), _Routes(services)
    router.add_api_route(f"{LIST}.csv", routes.export, methods=["GET"])
    router.add_api_route(f"{LIST}/bulk", routes.bulk, methods=["POST"])
    router.add_api_route(f"{LIST}/views", routes.keep_view, methods=["POST"])
    router.add_api_route(f"{LIST}/views/{{id_}}/drop", routes.drop_view, methods=["POST"])
    return router


class _Routes:
    def __init__(self, services: Services) -> None:
        self._store = services.store

    def export(self, request: Request) -> Response:
        """The list with its filters, as a spreadsheet takes it."""
        caller = allowed(request, Permission.READ)
        filters, now, rows = filters_of(request), self._store.now(), list[Sequence[Cell]]()
        place, name = None, "assay-runs.csv"
        with self._store.reading(caller.tenant) as connection:
            while len(rows) < MOST_EXPORTED:
                part = min(PART, MOST_EXPORTED - len(rows))
                found = read_page(connection, caller.tenant, filters.wanted(now), place, part)
                rows += csv_rows(connection, caller.tenant, found.items, str(request.base_url))
                if found.next is None:
                    break
                place = found.next
            else:
                # Who opens the file later sees that it is not all.
                name = f"assay-runs-newest-{MOST_EXPORTED}.csv"
        return csv_file(csv_text(CSV_COLUMNS, rows), name)

    async def bulk(self, request: Request) -> Response:
        """Does something with the chosen runs."""
        caller = allowed(request, Permission.FEEDBACK)
        pairs = await read_form_fields(request)
        runs = list(dict.fromkeys(value for name, value in pairs if name == "run"))
        fields = dict(pairs)
        back = safe_path(fields.get("back", LIST))
        if not runs:
            return redirect(back, "runs.none")
        if len(runs) > MOST_CHOSEN:
            raise HTTPException(422, f"expected at most {MOST_CHOSEN} runs at once, got {len(runs)}")
        return await run_in_threadpool(self._bulk, request, caller, runs, fields, back)

    def _bulk(
        self, request: Request, caller: Caller, runs: Sequence[str], fields: dict[str, str], back: str
    ) -> Response:
        store, tenant, act = self._store, caller.tenant, fields.get("act", "")
        if act == "csv":
            with store.reading(tenant) as connection:
                found = read_listed(connection, tenant, runs)
                rows = csv_rows(connection, tenant, found, str(request.base_url))
            return csv_file(csv_text(CSV_COLUMNS, rows), "assay-runs.csv")
        if act == "dataset":
            who = {"actor": caller.actor}
            id_ = fields.get("dataset") or make_dataset(store, tenant, fields.get("name", ""), maker=caller.name, **who)
            add_rows(store, tenant, id_, runs, adder=caller.name, **who)
            return redirect(f"/console/datasets/{id_}", "dataset.added")
        if act not in ("right", "wrong"):
            raise HTTPException(422, "expected one of the acts dataset, right, wrong, csv")
        with store.reading(tenant) as connection:
            if not all(has_run(connection, tenant, run) for run in runs):
                raise HTTPException(404, "some of these runs are not recorded")
        for run in runs:
            give_feedback(store, run, act, tenant=tenant, author=caller.name)
        return redirect(back, "feedback.many")

    async def keep_view(self, request: Request) -> Response:
        """Keeps the filters and columns of the list under a name."""
        caller = allowed(request, Permission.READ)
        fields = await read_form(request)
        query = fields.get("query", "")
        # What is kept is read as an address is: what the list would refuse is refused now.
        filters = filters_of(Request({**request.scope, "query_string": query.encode("ascii", "replace")}))
        if dict(parse_qsl(query)).keys() - {"q"} and not filters.query:
            raise HTTPException(422, "expected the filters of a list of runs")
        return await run_in_threadpool(self._keep, caller, fields.get("name", ""), filters.query)

    def _keep(self, caller: Caller, name: str, query: str) -> Response:
        save_view(self._store, caller.tenant, owner_of_views(caller), "runs", name, query)
        return redirect(f"{LIST}?{query}", "view.kept")

    async def drop_view(self, request: Request, id_: str) -> Response:
        """Drops a view of one's own."""
        caller = allowed(request, Permission.READ)
        await read_form(request)
        await run_in_threadpool(drop_view, self._store, caller.tenant, owner_of_views(caller), id_)
        return redirect(LIST, "view.dropped")


def csv_rows(connection: Connection, tenant: str, rows: Sequence[ReportRow], base: str) -> list[Sequence[Cell]]:
    """Runs as rows of `CSV_COLUMNS`."""
    ids = [row.id for row in rows]
    about, figures = describe(connection, tenant, ids), read_figures(connection, tenant, ids)
    return [
        (
            row.id,
            row.created.isoformat(timespec="seconds"),
            row.kind,
            row.action,
            row.route,
            row.score,
            row.policy_name or row.policy,
            row.caller,
            row.question,
            known.preview,
            row.claims,
            *(counts.get(verdict, 0) for verdict in _VERDICTS),
            None if known.duration_ms is None else round(known.duration_ms, 1),
            known.tokens,
            known.cost,
            None if known.cost is None else known.currency,
            f"{base.rstrip('/')}/console/runs/{row.id}",
        )
        for row in rows
        for known, counts in [(figures[row.id], about[row.id].verdicts)]
    ]


def csv_file(text: str, name: str) -> Response:
    """A CSV file to be saved. Its mark of the byte order has spreadsheets read it as UTF-8."""
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response("\ufeff" + text, media_type="text/csv; charset=utf-8", headers=headers)
