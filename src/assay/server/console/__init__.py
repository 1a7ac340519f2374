"""The console: pages that are drawn on the server. They need no build step, and most of them no script.

How to add a page. A route is a plain function that FastAPI runs on a thread; it reads the store and returns a
`Response` from `layout.render`. All content of a page goes through `assay.reporting.html_writer`: `tag` escapes its
children and its attributes, and `foreign` also isolates the direction of text from models, documents and users. There
is no template language, so no text can inject into one.

    from assay.reporting.html_writer import foreign, tag
    from assay.server.console.layout import allowed, form, read_form, redirect, render
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

- `layout`: the shell (`render`), forms with their token (`form`, `read_form`), `redirect` with a message, `allowed`.
- `parts`: panels, tables, badges, times, pagers, facts, fields, buttons, tabs, empty states.
- `charts`: bars, stacked bars and sparklines as SVG, each with its figures in words.
- `assets`: the files under `static/`, whose addresses contain the digest of their content. Scripts are modules, which
  `render(scripts=)` names; the content security policy allows no inline scripts, styles or event handlers.
- `errors.page_router`: a router whose errors are pages, and whose routes are not in the OpenAPI document.
- `router`: the router of all pages; a new part adds one line there. A page with an entry in the navigation also adds a
  line to `layout._NAVIGATION`, whose first word is the name of its icon in `icons`.

Styles are in `static/console.css`. A page that needs more adds a section of its own there.
"""
