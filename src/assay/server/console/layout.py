"""The shell of every page: head, navigation, the caller's account, messages, forms, and the security headers.

`render` draws a page, `form` a form with the token of the session, and `redirect` sends the browser to another page
after a form, with a message.
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
"""The key of a request's scope under which the application puts the session's CSRF token; absent without a session."""
CSRF_FIELD: Final = "csrf"
"""The form field with that token."""
THEME_COOKIE: Final = "assay_theme"
THEMES: Final = ("auto", "light", "dark")

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; font-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Without a referrer a browser sends no origin with a form either, and the origin shows that the form is ours.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""The headers of every page: it may load files of this server only, and no inline script or style runs."""

MOST_FORM_BYTES: Final = 8 * 1024 * 1024
"""The largest form that is read."""
_MOST_FIELDS: Final = 500


@dataclass(frozen=True, slots=True)
class _NavigationEntry:
    key: str
    """The name of its icon, and the value of `render(current=…)` on its pages."""
    path: str
    label: str
    permission: Permission
    """A caller without it does not see the entry."""


_NAVIGATION: Final = (
    (
        "",
        (
            _NavigationEntry("overview", "/console", "Overview", Permission.READ),
            _NavigationEntry("runs", "/console/runs", "Runs", Permission.READ),
            _NavigationEntry("review", "/console/review", "Review", Permission.READ),
            _NavigationEntry("monitor", "/console/monitor", "Monitor", Permission.READ),
            _NavigationEntry("redteam", "/console/redteam", "Red team", Permission.READ),
        ),
    ),
    (
        "Improve",
        (
            _NavigationEntry("gaps", "/console/gaps", "Evidence gaps", Permission.READ),
            _NavigationEntry("policies", "/console/policies", "Policies", Permission.READ),
            _NavigationEntry("datasets", "/console/datasets", "Datasets", Permission.READ),
            _NavigationEntry("playground", "/console/playground", "Playground", Permission.CHECK),
        ),
    ),
    (
        "Govern",
        (
            _NavigationEntry("audit", "/console/audit", "Audit log", Permission.AUDIT),
            _NavigationEntry("users", "/console/users", "Access", Permission.ADMINISTER),
            _NavigationEntry("api", "/console/api", "API", Permission.CHECK),
        ),
    ),
)

MESSAGES: Final[dict[str, str]] = {
    "feedback.given": "Thank you. Your feedback is recorded in the audit log.",
    "theme.set": "",
    "password.set": "Your password is set.",
    "review.claim": "You hold the item now: nobody else can decide on it.",
    "review.release": "You gave it back.",
    "review.assign": "Handed on.",
    "review.some": "Done for the items that were free. Others are held by somebody or decided already.",
    "review.approve": "Approved: released as it is.",
    "review.edit": "Your text is released instead.",
    "review.reject": "Rejected: it stays withheld.",
    "review.ask": "The caller is asked for evidence.",
    "alert.acknowledged": "Acknowledged: no further notifications unless it gets worse.",
    "alert.closed": "Closed. It opens again if its condition still holds.",
    "alert.silenced": "Silenced: no notifications for that time.",
    "alert.unsilenced": "Notifications are on again.",
    "proposal.approve": "Approved: it is in the suite.",
    "proposal.edit": "Approved as you edited it: it is in the suite.",
    "proposal.reject": "Rejected: it stays out, and is not proposed again.",
    "feedback.many": "Recorded for each of the chosen runs.",
    "runs.none": "Choose runs first: each row has a box.",
    "view.kept": "The view is saved above the list.",
    "view.dropped": "The view is removed.",
    "dataset.made": "The dataset is made. Save runs into it from the list of runs.",
    "dataset.added": "The runs are in the dataset.",
    "dataset.labelled": "The labels are saved.",
    "dataset.taken": "Taken out of the dataset. The runs stay on record.",
    "dataset.dropped": "The dataset is removed. Its runs stay on record.",
    "experiment.begun": "It has started. This page shows its progress.",
    "experiment.stopped": "Stopped. The results so far are kept.",
    "audit.signed": "The log is signed as it is now.",
    "users.changed": "Changed, and recorded in the audit log.",
    "keys.revoked": "The key is revoked everywhere.",
    "sessions.ended": "The session is ended.",
}
"""The messages that `redirect(done=…)` can show, by code: an address can choose a message but not contain its text."""


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
    """Draws a page.

    Args:
        request: the request that the page answers.
        title: the title of the window, and the heading by default.
        body: the content of the page.
        current: the key of its entry in the navigation, such as `runs`.
        parent: the name and the address of the list that the page belongs to, for the link back.
        heading: the heading, where it is more than the title.
        about: a line below the heading.
        actions: links or buttons next to the heading.
        status: the HTTP status.
        scripts: names of further modules under `static/`; `console.js` is on every page.
        plain: whether to leave out the navigation, as on the page to sign in.
        headers: further headers; they override those of every page.
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
    shell = (content,) if plain else (_sidebar(request, current, theme), content)
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
    """The link back to the list that a page belongs to."""
    if parent is None:
        return None
    return tag("nav", tag("a", icon("back"), foreign(parent[0]), href=parent[1]), class_="crumb", aria_label="Back to")


def _head(title: str, scripts: Iterable[str]) -> Markup:
    files = assets()
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("title", title if title == "assay" else f"{title} · assay"),
        tag("link", rel="icon", href=files["mark.svg"].href, type_="image/svg+xml"),
        tag("link", rel="preload", as_="font", type_="font/woff2", href=files[FONT].href, crossorigin=True),
        tag("link", rel="stylesheet", href=files["console.css"].href),
        (tag("script", type_="module", src=files[name].href) for name in ("console.js", *scripts)),
    )


def _sidebar(request: Request, current: str, theme: str) -> Markup:
    caller = request.scope.get(SCOPE_KEY)
    groups = [_group(label, entries, caller, current) for label, entries in _NAVIGATION]
    parts = (
        tag("a", icon("mark"), tag("span", "assay"), href="/console", class_="brand", aria_label="assay, overview"),
        tag(
            "details",
            tag("summary", icon("menu"), tag("span", "Menu")),
            class_="menu",
            data_menu=True,
        ),
        tag("nav", groups, aria_label="Pages"),
        tag("div", _themes(request, theme), _account(request, caller), class_="foot"),
    )
    return tag("header", tag("div", parts, class_="stick"), class_="side")


def _group(label: str, entries: Iterable[_NavigationEntry], caller: object, current: str) -> Markup | None:
    shown = [entry for entry in entries if isinstance(caller, Caller) and caller.may(entry.permission)]
    if not shown:
        return None
    links = (
        tag(
            "li",
            tag(
                "a",
                icon(entry.key),
                tag("span", entry.label),
                href=entry.path,
                aria_current="page" if entry.key == current else None,
            ),
        )
        for entry in shown
    )
    return group(tag("p", label, class_="label") if label else None, tag("ul", links))


def _themes(request: Request, theme: str) -> Markup:
    """The switch between the themes: a form with three buttons, which works without a script."""
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
    back = hidden_input("back", _own_address(request))
    switch = tag("div", buttons, role="group", aria_label="Theme")
    return form(request, "/console/theme", back, switch, class_="themes")


def _account(request: Request, caller: object) -> Markup | None:
    if not isinstance(caller, Caller):
        return None
    sign_out = None
    if caller.kind == "user":
        sign_out = form(request, "/console/logout", tag("button", "Sign out", class_="link"))
    return tag(
        "div",
        tag("div", foreign(caller.name, "b"), tag("span", foreign(caller.tenant), class_="soft"), class_="names"),
        sign_out,
        class_="who",
    )


def _message(request: Request) -> Markup | None:
    message = MESSAGES.get(request.query_params.get("done", ""), "")
    return tag("p", icon("tick"), message, class_="flash", role="status") if message else None


def _theme(request: Request) -> str:
    theme = request.cookies.get(THEME_COOKIE, "auto")
    return theme if theme in THEMES else "auto"


def _own_address(request: Request) -> str:
    query = request.url.query
    return request.url.path + (f"?{query}" if query and request.method == "GET" else "")


# Forms


def form(request: Request, action: str, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """A form that changes something: it is posted, and contains the CSRF token of the session where there is one."""
    token = request.scope.get(CSRF_KEY)
    token_field = hidden_input(CSRF_FIELD, token) if isinstance(token, str) else None
    return tag("form", token_field, children, method="post", action=action, **attributes)


def hidden_input(name: str, value: str | float) -> Markup:
    """A field of a form that is sent with it and not shown."""
    return tag("input", type_="hidden", name_=name, value=value)


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a posted form by name; where several have the same name, the last one counts.

    Raises:
        HTTPException: the body is not a form, is too large, or is not UTF-8.
    """
    return dict(await read_form_fields(request))


async def read_form_fields(request: Request) -> list[tuple[str, str]]:
    """The fields of a posted form in their order; several may have the same name.

    Line breaks in values are `\\n`, as in the text that the form was filled with: browsers send `\\r\\n`.

    Raises:
        HTTPException: the body is not a form, is too large, or is not UTF-8.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/x-www-form-urlencoded":
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


def whole_number(text: str | None, digits: int = 9) -> int | None:
    """The number that a parameter or field of a form writes in ASCII digits; `None` where it is anything else.

    `str.isdigit` alone is not enough: it accepts digits that `int` refuses.

    Args:
        text: what came.
        digits: the most digits that are read.

    >>> whole_number("42"), whole_number("²"), whole_number("-1"), whole_number("9" * 10), whole_number(None)
    (42, None, None, None, None)
    """
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= digits else None


def redirect(path: str, done: str | None = None, fragment: str = "") -> Response:
    """Sends the browser to a page of the console after a form.

    Args:
        path: the address of the page.
        done: the code of a message that the page shows (`MESSAGES`).
        fragment: the id of the element to scroll to.
    """
    target = address(path, done=done) + (f"#{quote(fragment)}" if fragment else "")
    return RedirectResponse(target, 303, {"cache-control": "no-store"})


def address(path: str, **parameters: str | float | None) -> str:
    """A path with query parameters; those that are `None` or empty are left out.

    >>> address("/console/runs", action="block", q="a&b", before=None)
    '/console/runs?action=block&q=a%26b'
    """
    query = {name.rstrip("_"): value for name, value in parameters.items() if value is not None and value != ""}
    return path + (("&" if "?" in path else "?") + urlencode(query) if query else "")


def safe_path(path: str) -> str:
    """The same path if it is one of the console, else `/console`: a redirect to it never leaves this server.

    >>> safe_path("/console/runs?q=a"), safe_path("//evil.example/console"), safe_path("/console\\\\..")
    ('/console/runs?q=a', '/console', '/console')
    """
    return (
        path if re.fullmatch(r"/console(/[A-Za-z0-9._/-]*)?(\?[^\s\\#]*)?", path) and ".." not in path else "/console"
    )


def allowed(request: Request, permission: Permission) -> Caller:
    """The caller of a page, after checking the permission.

    Raises:
        ProblemError: the caller does not have it.
    """
    return services.allowed(request.scope, permission)
