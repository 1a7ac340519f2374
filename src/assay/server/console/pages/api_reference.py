"""`/console/api`: the reference of this server's REST routes, from its OpenAPI document, and the routes of the gateway.

It is drawn on the server from the document at `/openapi.json`, so it needs no third-party script and loads nothing from
elsewhere. `/docs` redirects here, and `/` to the console.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from assay.reporting import Child, Markup, group, tag
from assay.schema import Permission
from assay.server.console.errors import page_router
from assay.server.console.layout import allowed, render
from assay.server.console.parts import Column, badge, details, link_button, panel, table
from assay.server.services import Services

PATH: Final = "/console/api"
_METHODS: Final = {"get": "good", "post": "accent", "put": "doubt", "patch": "doubt", "delete": "bad"}
_GATEWAY: Final = (
    ("POST", "/v1/chat/completions", "OpenAI's chat completions, checked before they go out"),
    ("POST", "/v1/responses", "OpenAI's responses"),
    ("POST", "/v1/messages", "Anthropic's messages"),
    ("GET", "/v1/models", "The models of the upstream"),
)


def make_api_pages(services: Services) -> APIRouter:  # noqa: ARG001 the signature of every part
    """The reference, and the redirects from `/docs` and `/`."""
    router = page_router()
    router.add_api_route(PATH, _reference, methods=["GET"])
    router.add_api_route("/docs", _to_reference, methods=["GET"])
    router.add_api_route("/", _to_console, methods=["GET"])
    return router


def _to_console() -> Response:
    return RedirectResponse("/console", 307)


def _to_reference() -> Response:
    return RedirectResponse(PATH, 307)


def _reference(request: Request) -> Response:
    allowed(request, Permission.CHECK)
    document = request.app.openapi()
    by_tag: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, methods in document.get("paths", {}).items():
        for method, operation in methods.items():
            if method in _METHODS:
                by_tag.setdefault(next(iter(operation.get("tags") or ()), "other"), []).append(
                    (method, path, operation)
                )
    parts = [panel(name.capitalize(), [_route(document, *one) for one in routes]) for name, routes in by_tag.items()]
    columns = (Column("Method"), Column("Path", "main"), Column("What it is"))
    gateway = table("Routes of the gateway", columns, ([m, tag("code", p), words] for m, p, words in _GATEWAY))
    return render(
        request,
        "API",
        panel("Gateway", tag("p", "Where the server was started with --upstream.", class_="soft"), gateway),
        parts,
        current="api",
        about="Send a key as Authorization: Bearer …. Errors are problem documents (RFC 9457).",
        actions=link_button("OpenAPI document", "/openapi.json"),
    )


def _route(document: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> Markup:
    summary = str(operation.get("description") or operation.get("summary") or "").strip()
    head = group(
        badge(method.upper(), _METHODS[method]), " ", tag("code", path), " ", tag("span", _first_sentence(summary))
    )
    parameters = _parameters(document, operation)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    responses = (
        tag("li", tag("code", str(status)), " ", str(response.get("description", "")))
        for status, response in operation.get("responses", {}).items()
    )
    return details(
        head,
        tag("p", summary) if summary else None,
        _fields(f"Parameters of {method.upper()} {path}", parameters) if parameters else None,
        _fields(f"The body of {method.upper()} {path}, as JSON", _members(document, body)) if body else None,
        tag("ul", responses, class_="plainlist"),
    )


def _parameters(document: Mapping[str, Any], operation: Mapping[str, Any]) -> list[list[Child]]:
    return [
        [
            tag("code", str(one.get("name", ""))),
            str(one.get("in", "")),
            _type(document, one.get("schema", {})),
            str(one.get("description") or ("required" if one.get("required") else "")),
        ]
        for one in operation.get("parameters", ())
    ]


def _first_sentence(text: str) -> str:
    return text.partition("\n")[0].partition(". ")[0][:120]


def _fields(title: str, rows: Iterable[list[Child]]) -> Markup:
    columns = (Column("Name"), Column("Where"), Column("Type"), Column("What it is", "main"))
    return table(title, columns, rows)


def _members(document: Mapping[str, Any], schema: Mapping[str, Any]) -> list[list[Child]]:
    resolved = _resolved(document, schema)
    required = set(resolved.get("required", ()))
    return [
        [
            tag("code", name),
            "required" if name in required else "optional",
            _type(document, one),
            str(_resolved(document, one).get("description") or "")[:400],
        ]
        for name, one in resolved.get("properties", {}).items()
    ]


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema with its reference to a component replaced by the component."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    component = document.get("components", {}).get("schemas", {}).get(name) if name else None
    return {**component, **{key: one for key, one in schema.items() if key != "$ref"}} if component else schema


def _type(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_type(document, one) for one in options))
    if schema.get("type") == "array":
        return f"list of {_type(document, schema.get('items', {}))}"
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))[:120]
    return str(schema.get("type", "any"))
