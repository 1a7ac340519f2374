"""The shell of every page: head, navigation, who is here, messages, and the headers that keep foreign text harmless.

`render` draws a page, `form` a form that carries the session's token, `redirect` leads on and leaves a message.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Permission
from assay.server import services
from assay.server.caller import SCOPE_KEY, Caller
from assay.server.console.assets import FONT, assets
from assay.server.console.icons import icon

CSRF_KEY: Final = "assay.csrf"
"""Where the application puts the token of the session's forms in a request's scope; none where there is no session."""
CSRF_FIELD: Final = "csrf"
"""The field of a form that carries it."""
THEME_COOKIE: Final = "assay_theme"
THEMES: Final = ("auto", "light", "dark")

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; font-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # A form that is sent without a referrer has no origin either, by which it is known to come from here.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""The headers of every page: only files of this server are used, and nothing in the page itself runs."""

MOST_FORM_BYTES: Final = 8 * 1024 * 1024
"""The largest form that is read."""
_MOST_FIELDS: Final = 500
_CODE: Final = re.compile(r"[a-z]+(\.[a-z]+)*")


@dataclass(frozen=True, slots=True)
class _Place:
    key: str
    path: str
    label: str
    needs: Permission


_PLACES: Final = (
    (
        "",
        (
            _Place("overview", "/console", "Overview", Permission.READ),
            _Place("runs", "/console/runs", "Runs", Permission.READ),
            _Place("review", "/console/review", "Review", Permission.READ),
            _Place("monitor", "/console/monitor", "Monitor", Permission.READ),
            _Place("redteam", "/console/redteam", "Red team", Permission.READ),
        ),
    ),
    (
        "Improve",
        (
            _Place("gaps", "/console/gaps", "Evidence gaps", Permission.READ),
            _Place("policies", "/console/policies", "Policies", Permission.READ),
            _Place("datasets", "/console/datasets", "Datasets", Permission.READ),
            _Place("playground", "/console/playground", "Playground", Permission.CHECK),
        ),
    ),
    (
        "Govern",
        (
            _Place("audit", "/console/audit", "Audit log", Permission.AUDIT),
            _Place("users", "/console/users", "Access", Permission.ADMINISTER),
            _Place("api", "/console/api", "API", Permission.CHECK),
        ),
    ),
)

MESSAGES: Final[dict[str, str]] = {
    "feedback.given": "Thank you. Your feedback is recorded in the audit log.",
    "theme.set": "",
    "password.set": "Your password is set.",
    "review.claim": "You have it now: nobody else can decide while you do.",
    "review.release": "You gave it back.",
    "review.assign": "Handed on.",
    "review.some": "Done with those that were free. Others are held by somebody, or were decided meanwhile.",
    "review.approve": "Approved: released as it is.",
    "review.edit": "Your text is released instead.",
    "review.reject": "Rejected: it stays withheld.",
    "review.ask": "The caller is asked for evidence.",
    "alert.acknowledged": "Acknowledged: no further notifications unless it gets worse.",
    "alert.closed": "Closed. If it still holds, it is opened again.",
    "alert.silenced": "Silenced: no notifications for that time.",
    "alert.unsilenced": "Notifications are on again.",
    "proposal.approve": "Approved: it is in the suite.",
    "proposal.edit": "Approved as you edited it: it is in the suite.",
    "proposal.reject": "Rejected: it stays out, and is not proposed again.",
    "feedback.many": "Recorded for each of the chosen runs.",
    "runs.none": "Choose runs first: each row has a box.",
    "view.kept": "The view is kept: you find it above the list.",
    "view.dropped": "The view is removed.",
    "dataset.made": "The dataset is made. Save runs into it from the list of runs.",
    "dataset.added": "The runs are in the dataset.",
    "dataset.labelled": "The labels are kept.",
    "dataset.taken": "Taken out of the dataset. The runs stay on record.",
    "dataset.dropped": "The dataset is removed. Its runs stay on record.",
    "experiment.begun": "It has begun: this page follows it.",
    "experiment.stopped": "Stopped. What was checked until then stays.",
    "audit.signed": "The log is signed as it is now.",
    "users.changed": "Changed. The audit log has an entry of it.",
    "keys.revoked": "The key is ended, everywhere at once.",
    "sessions.ended": "The session is ended.",
}
"""What `redirect(done=…)` may say, by its code: an address can name a message, never write one."""


def render(
    request: Request,
    title: str,
    *body: Child,
    current: str = "",
    parent: tuple[str, str] | None = None,
    heading: Child = None,
    about: Child = None,
    actions: Child = None,
    status: int = 200,
    scripts: Iterable[str] = (),
    plain: bool = False,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A page.

    Args:
        request: what it answers.
        title: its name, in the window and as its heading.
        body: what stands in it.
        current: the key of its place in the navigation, such as `runs`.
        parent: the list that this is a part of: its name and its address.
        heading: the heading where it is more than the title.
        about: a line below the heading.
        actions: links or buttons beside the heading.
        status: the HTTP status.
        scripts: names of modules under `static/` beside `console.js`.
        plain: without navigation, as the page to log in has it.
        headers: further headers, which beat those of every page.
    """
    theme = _theme(request)
    content = tag(
        "main",
        tag("p", icon("mark"), "assay", class_="brand") if plain else None,
        _message(request),
        tag(
            "header",
            tag(
                "div",
                _crumb(parent),
                tag("h1", heading if heading is not None else title),
                tag("p", about) if about else None,
            ),
            tag("div", actions, class_="actions") if actions else None,
            class_="head",
        ),
        body,
        id="main",
        tabindex=-1,
        class_=f"page-{current}" if current else None,
    )
    shell = (content,) if plain else (_side(request, current, theme), content)
    document = tag(
        "html",
        _head(title, scripts),
        tag(
            "body",
            tag("a", "Skip to the content", href="#main", class_="skip"),
            shell,
            class_="bare" if plain else None,
        ),
        lang="en",
        data_theme=theme,
    )
    return HTMLResponse("<!doctype html>\n" + document.html + "\n", status, {**HEADERS, **(headers or {})})


def _crumb(parent: tuple[str, str] | None) -> Markup | None:
    """The way back to the list that a page is a part of."""
    if parent is None:
        return None
    return tag("nav", tag("a", icon("back"), foreign(parent[0]), href=parent[1]), class_="crumb", aria_label="Back to")


def _head(title: str, scripts: Iterable[str]) -> Markup:
    known = assets()
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("title", title if title == "assay" else f"{title} · assay"),
        tag("link", rel="icon", href=known["mark.svg"].href, type_="image/svg+xml"),
        tag("link", rel="preload", as_="font", type_="font/woff2", href=known[FONT].href, crossorigin=True),
        tag("link", rel="stylesheet", href=known["console.css"].href),
        (tag("script", type_="module", src=known[name].href) for name in ("console.js", *scripts)),
    )


def _side(request: Request, current: str, theme: str) -> Markup:
    caller = request.scope.get(SCOPE_KEY)
    groups = [_group(label, places, caller, current) for label, places in _PLACES]
    parts = (
        tag("a", icon("mark"), tag("span", "assay"), href="/console", class_="brand", aria_label="assay, overview"),
        tag(
            "details",
            tag("summary", icon("menu"), tag("span", "Menu")),
            class_="menu",
            data_menu=True,
        ),
        tag("nav", groups, aria_label="Pages"),
        tag("div", _themes(request, theme), _who(request, caller), class_="foot"),
    )
    return tag("header", tag("div", parts, class_="stick"), class_="side")


def _group(label: str, places: Iterable[_Place], caller: object, current: str) -> Markup | None:
    shown = [place for place in places if isinstance(caller, Caller) and caller.may(place.needs)]
    if not shown:
        return None
    links = (
        tag(
            "li",
            tag(
                "a",
                icon(place.key),
                tag("span", place.label),
                href=place.path,
                aria_current="page" if place.key == current else None,
            ),
        )
        for place in shown
    )
    return group(tag("p", label, class_="label") if label else None, tag("ul", links))


def _themes(request: Request, theme: str) -> Markup:
    """The switch between the themes: a form of three buttons, so that it works without a script."""
    buttons = (
        tag(
            "button",
            icon(f"theme-{name}"),
            tag("span", name, class_="hidden"),
            name_="theme",
            value=name,
            title=f"{name.capitalize()} theme",
            aria_pressed="true" if name == theme else "false",
        )
        for name in THEMES
    )
    back = tag("input", type_="hidden", name_="back", value=_own_address(request))
    shown = tag("div", buttons, role="group", aria_label="Theme")
    return form(request, "/console/theme", back, shown, class_="themes")


def _who(request: Request, caller: object) -> Markup | None:
    if not isinstance(caller, Caller):
        return None
    leave = None
    if caller.kind == "user":
        leave = form(request, "/console/logout", tag("button", "Sign out", class_="link"))
    return tag(
        "div",
        tag("div", foreign(caller.name, "b"), tag("span", foreign(caller.tenant), class_="soft"), class_="names"),
        leave,
        class_="who",
    )


def _message(request: Request) -> Markup | None:
    words = MESSAGES.get(request.query_params.get("done", ""), "")
    return tag("p", icon("tick"), words, class_="flash", role="status") if words else None


def _theme(request: Request) -> str:
    said = request.cookies.get(THEME_COOKIE, "auto")
    return said if said in THEMES else "auto"


def _own_address(request: Request) -> str:
    query = request.url.query
    return request.url.path + (f"?{query}" if query and request.method == "GET" else "")


# Forms


def form(request: Request, action: str, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """A form that changes something: it is posted, and carries the token of the session where there is one."""
    token = request.scope.get(CSRF_KEY)
    hidden = tag("input", type_="hidden", name_=CSRF_FIELD, value=token) if isinstance(token, str) else None
    return tag("form", hidden, children, method="post", action=action, **attributes)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a posted form; of several with one name the last one counts.

    Raises:
        HTTPException: it is no form, is too large, or is no UTF-8.
    """
    return dict(await fields_of(request))


async def fields_of(request: Request) -> list[tuple[str, str]]:
    """The fields of a posted form, in their order, several of one name among them.

    Raises:
        HTTPException: it is no form, is too large, or is no UTF-8.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "expected a form, application/x-www-form-urlencoded")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_FORM_BYTES:
            raise HTTPException(413, f"a form has at most {MOST_FORM_BYTES:,} bytes")
        parts.append(part)
    try:
        text = b"".join(parts).decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise HTTPException(422, "the form cannot be read: it has too many fields, or is no UTF-8") from error
    return [(name, value.replace("\r\n", "\n")) for name, value in pairs]


def redirect(path: str, done: str | None = None, fragment: str = "") -> Response:
    """Leads on to a page of the console after a form, with a message by its code (see `MESSAGES`)."""
    target = address(path, done=done) + (f"#{quote(fragment)}" if fragment else "")
    return RedirectResponse(target, 303, {"cache-control": "no-store"})


def address(path: str, **parameters: str | float | None) -> str:
    """A path of the console with parameters; those that are none or empty are left out.

    >>> address("/console/runs", action="block", q="a&b", before=None)
    '/console/runs?action=block&q=a%26b'
    """
    given = {name.rstrip("_"): value for name, value in parameters.items() if value is not None and value != ""}
    return path + (("&" if "?" in path else "?") + urlencode(given) if given else "")


def inside(path: str) -> str:
    """A path to lead back to, if it is one of the console, else its first page: never an address elsewhere.

    >>> inside("/console/runs?q=a"), inside("//evil.example/console"), inside("/console\\\\..")
    ('/console/runs?q=a', '/console', '/console')
    """
    return (
        path if re.fullmatch(r"/console(/[A-Za-z0-9._/-]*)?(\?[^\s\\#]*)?", path) and ".." not in path else "/console"
    )


def allowed(request: Request, permission: Permission) -> Caller:
    """The caller of a page, who has a permission.

    Raises:
        ProblemError: the caller has not.
    """
    return services.allowed(request.scope, permission)
