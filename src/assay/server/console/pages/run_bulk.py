"""Actions on several runs at once (save to a dataset, give feedback, export as CSV), and saved views of the list."""

from collections.abc import Mapping, Sequence
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
from assay.store.insights import Figures, describe, read_figures
from assay.store.records import ReportRow, give_feedback, has_run, read_listed, read_page

MOST_EXPORTED: Final = 10_000
"""The most rows of a CSV file."""
BATCH: Final = 500
"""Rows that are read from the store at once."""
MOST_CHOSEN: Final = 200
"""The most runs that one action may be applied to."""
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
    """The routes of the forms on the list of runs, and its export."""
    router, routes = page_router(), _Routes(services)
    router.add_api_route(f"{LIST}.csv", routes.export, methods=["GET"])
    router.add_api_route(f"{LIST}/bulk", routes.bulk, methods=["POST"])
    router.add_api_route(f"{LIST}/views", routes.save_view, methods=["POST"])
    router.add_api_route(f"{LIST}/views/{{id_}}/drop", routes.drop_view, methods=["POST"])
    return router


class _Routes:
    def __init__(self, services: Services) -> None:
        self._store = services.store

    def export(self, request: Request) -> Response:
        """The list with its filters as CSV."""
        caller = allowed(request, Permission.READ)
        filters, now, rows = filters_of(request), self._store.now(), list[Sequence[Cell]]()
        cursor, name = None, "assay-runs.csv"
        with self._store.reading(caller.tenant) as connection:
            while len(rows) < MOST_EXPORTED:
                batch = min(BATCH, MOST_EXPORTED - len(rows))
                page = read_page(connection, caller.tenant, filters.to_store_filter(now), cursor, batch)
                rows += csv_rows(connection, caller.tenant, page.items, str(request.base_url))
                if page.next is None:
                    break
                cursor = page.next
            else:
                # The name of the file says that it does not contain all rows.
                name = f"assay-runs-newest-{MOST_EXPORTED}.csv"
        return csv_file(csv_text(CSV_COLUMNS, rows), name)

    async def bulk(self, request: Request) -> Response:
        """Applies an action to the chosen runs."""
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
                listed = read_listed(connection, tenant, runs)
                rows = csv_rows(connection, tenant, listed, str(request.base_url))
            return csv_file(csv_text(CSV_COLUMNS, rows), "assay-runs.csv")
        if act == "dataset":
            name, actor = caller.name, caller.actor
            id_ = fields.get("dataset") or make_dataset(store, tenant, fields.get("name", ""), maker=name, actor=actor)
            add_rows(store, tenant, id_, runs, adder=name, actor=actor)
            return redirect(f"/console/datasets/{id_}", "dataset.added")
        if act not in ("right", "wrong"):
            raise HTTPException(422, "expected one of the acts dataset, right, wrong, csv")
        with store.reading(tenant) as connection:
            if not all(has_run(connection, tenant, run) for run in runs):
                raise HTTPException(404, "some of these runs are not recorded")
        for run in runs:
            give_feedback(store, run, act, tenant=tenant, author=caller.name)
        return redirect(back, "feedback.many")

    async def save_view(self, request: Request) -> Response:
        """Saves the filters and columns of the list as a view with a name."""
        caller = allowed(request, Permission.READ)
        fields = await read_form(request)
        query = fields.get("query", "")
        # The query is read as that of the list, so that a view never has filters that the list refuses.
        filters = filters_of(Request({**request.scope, "query_string": query.encode("ascii", "replace")}))
        if dict(parse_qsl(query)).keys() - {"q"} and not filters.query:
            raise HTTPException(422, "expected the filters of a list of runs")
        return await run_in_threadpool(self._save_view, caller, fields.get("name", ""), filters.query)

    def _save_view(self, caller: Caller, name: str, query: str) -> Response:
        save_view(self._store, caller.tenant, owner_of_views(caller), "runs", name, query)
        return redirect(f"{LIST}?{query}", "view.kept")

    async def drop_view(self, request: Request, id_: str) -> Response:
        """Deletes a view of the caller."""
        caller = allowed(request, Permission.READ)
        await read_form(request)
        await run_in_threadpool(drop_view, self._store, caller.tenant, owner_of_views(caller), id_)
        return redirect(LIST, "view.dropped")


def csv_rows(connection: Connection, tenant: str, rows: Sequence[ReportRow], base: str) -> list[Sequence[Cell]]:
    """Runs as rows of `CSV_COLUMNS`."""
    ids = [row.id for row in rows]
    about, figures = describe(connection, tenant, ids), read_figures(connection, tenant, ids)
    return [_csv_row(row, figures[row.id], about[row.id].verdicts, base) for row in rows]


def _csv_row(row: ReportRow, known: Figures, counts: Mapping[str, int], base: str) -> Sequence[Cell]:
    return (
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


def csv_file(text: str, name: str) -> Response:
    """A CSV file for download. Its byte order mark makes spreadsheets read it as UTF-8."""
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response("\ufeff" + text, media_type="text/csv; charset=utf-8", headers=headers)
