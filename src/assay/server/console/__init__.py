"""The console: pages that are drawn on the server, work without a build step, and mostly without a script.

How a page is made. A route is a plain function that FastAPI runs on a thread; it asks the store, and gives a `Response`
from `layout.render`. Everything in the page goes through `assay.reporting.html_writer`: `tag` escapes its children and
its attributes, `foreign` also isolates the direction of text that others wrote. No other way leads into a page, so
there is no template language that text could speak.

    from assay.reporting.html_writer import foreign, tag
    from assay.server.console.layout import allowed, form, form_of, redirect, render
    from assay.server.console.parts import Column, action_badge, moment, pager, panel, table

    def make_gap_pages(services: Services) -> APIRouter:
        router = page_router()

        @router.get("/console/gaps")
        def gaps(request: Request) -> Response:
            caller = allowed(request, Permission.READ)
            rows = read_gaps(services.store, caller.tenant)
            columns = (Column("Question"), Column("Times", "num"))
            body = table("Questions without an answer", columns, ([foreign(r.text), str(r.count)] for r in rows),
                         empty=("No gaps", "Every question found its evidence."))
            return render(request, "Evidence gaps", panel(None, body), current="gaps")

        return router

- `layout`: the shell (`render`), forms with their token (`form`, `form_of`), `redirect` with a message, `allowed`.
- `parts`: panels, tables, badges, times, pages of a list, facts, fields, buttons, tabs, empty states.
- `charts`: bars, stacked bars and sparklines as SVG, each with its figures as a table.
- `assets`: the files under `static/`, served under the digest of their content. A script is named in `render(scripts=)`
  and is a module; there are no inline scripts, styles or handlers, and the content security policy allows none.
- `errors.page_router`: a router whose errors are pages, and whose routes stand in no OpenAPI document.
- `router`: puts it all together; another part adds its own router there with one line. A page of its own in the
  navigation also has a line in `layout._PLACES`, whose first word names its icon in `icons`.

Styles: `static/console.css` (shell and parts). A page that needs more adds rules in a section of its own there.
"""
