"""`/console/login` and what belongs to it: signing in and out, the first administrator, passwords."""

import asyncio
from collections.abc import Callable
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from assay.errors import InputError
from assay.reporting import Child, Markup, tag
from assay.server.access.passwords import SHORTEST
from assay.server.access.rate_limits import retry_after
from assay.server.access.router import (
    INVALID_TOKEN,
    WRONG_CREDENTIALS,
    address_of_request,
    cookie_for,
    end_former_session,
    sign_in_service_of,
    sign_out_headers,
)
from assay.server.access.sign_in import SignInService, TooOftenError
from assay.server.caller import caller_of
from assay.server.console.errors import error_page, page_router
from assay.server.console.layout import form, form_of, inside, redirect, render
from assay.server.console.parts import button, field, note, text_input
from assay.server.services import Services
from assay.store.access import MalformedError, StaleError, list_tenants
from assay.store.records import DEFAULT_TENANT

_HINT: Final = f"At least {SHORTEST} characters."


def make_signing_in_pages(services: Services) -> APIRouter:
    """The pages for who is not signed in yet; none where access is decided without a database."""
    router = page_router()
    signing = sign_in_service_of(services)
    if signing is None:
        return router
    pages = _Pages(services, signing)
    router.add_api_route("/console/login", pages.login_page, methods=["GET"])
    router.add_api_route("/console/login", pages.login, methods=["POST"])
    router.add_api_route("/console/logout", pages.logout, methods=["POST"])
    router.add_api_route("/console/setup", pages.setup_page, methods=["GET"])
    router.add_api_route("/console/setup", pages.set_up, methods=["POST"])
    router.add_api_route("/console/reset", pages.reset_page, methods=["GET"])
    router.add_api_route("/console/reset", pages.reset, methods=["POST"])
    router.add_api_route("/console/password", pages.password_page, methods=["GET"])
    router.add_api_route("/console/password", pages.password, methods=["POST"])
    return router


class _Pages:
    def __init__(self, services: Services, signing: SignInService) -> None:
        self._services, self._signing = services, signing

    # Signing in and out

    def login_page(self, request: Request) -> Response:
        """The form to sign in with."""
        return self._login(request, inside(request.query_params.get("next", "")))

    def _login(self, request: Request, back: str, message: Child = None, status: int = 200, name: str = "") -> Response:
        tenants = list_tenants(self._services.store)
        tenant = (
            field("Team", text_input("tenant", DEFAULT_TENANT, required=True, autocomplete="organization"))
            if len(tenants) > 1
            else None
        )
        return render(
            request,
            "Sign in",
            message,
            form(
                request,
                "/console/login",
                _kept("next", back),
                tenant,
                field(
                    "Name",
                    text_input(
                        "name",
                        name,
                        required=True,
                        autocomplete="username",
                        autofocus=not name,
                        autocapitalize="none",
                        spellcheck="false",
                    ),
                ),
                field("Password", _password("password", "current-password")),
                button("Sign in", "main"),
                class_="stack",
            ),
            plain=True,
            status=status,
        )

    async def login(self, request: Request) -> Response:
        """Begin a session; the browser gets a cookie that was never seen before."""
        fields = await form_of(request)
        return await asyncio.to_thread(self._signed_in, request, fields)

    def _signed_in(self, request: Request, fields: dict[str, str]) -> Response:
        back, name = inside(fields.get("next", "")), fields.get("name", "")
        try:
            found = self._signing.sign_in(
                name,
                fields.get("password", ""),
                tenant=fields.get("tenant") or DEFAULT_TENANT,
                address=address_of_request(self._services, request),
            )
        except TooOftenError as error:
            return _too_often(request, error)
        if found is None:
            return self._login(request, back, note("bad", f"{WRONG_CREDENTIALS.capitalize()}."), 401, name[:200])
        end_former_session(self._signing, request)
        made = redirect(back)
        made.raw_headers.append(cookie_for(self._services, request, found))
        return made

    def logout(self, request: Request) -> Response:
        """End the session, in the database and in the browser."""
        caller = caller_of(request.scope)
        if caller.session:
            self._signing.sign_out(caller.session, caller.tenant, caller.actor)
        made = redirect("/console/login")
        made.raw_headers += sign_out_headers(self._services, request)
        return made

    # The first administrator

    def setup_page(self, request: Request) -> Response:
        """The form that makes the first administrator."""
        return self._setup(request, request.query_params.get("token", ""))

    def _setup(
        self, request: Request, token: str, message: Child = None, status: int = 200, name: str = ""
    ) -> Response:
        return render(
            request,
            "Make the first administrator",
            message,
            form(
                request,
                "/console/setup",
                field("Token", text_input("token", token, required=True), "It was shown when the server started."),
                field("Name", text_input("name", name, required=True, autocomplete="username")),
                field("Password", _password("password", "new-password", minlength=SHORTEST), _HINT),
                button("Make it", "main"),
                class_="stack",
            ),
            plain=True,
            status=status,
            about="From then on everybody signs in.",
        )

    async def set_up(self, request: Request) -> Response:
        """Make the first administrator with the token of the start."""
        fields = await form_of(request)
        token, name, password = (fields.get(key, "") for key in ("token", "name", "password"))
        address = address_of_request(self._services, request)
        return await asyncio.to_thread(
            _decided,
            request,
            lambda: self._signing.set_up(token, name, password, address),
            lambda message, status: self._setup(request, token, message, status, name),
        )

    # Passwords

    def reset_page(self, request: Request) -> Response:
        """The form that sets a password with a token."""
        return self._reset(request, request.query_params.get("token", ""))

    def _reset(self, request: Request, token: str, message: Child = None, status: int = 200) -> Response:
        return render(
            request,
            "Set your password",
            message,
            form(
                request,
                "/console/reset",
                _kept("token", token) if token else field("Token", text_input("token", required=True)),
                field("New password", _password("password", "new-password", minlength=SHORTEST), _HINT),
                button("Set it", "main"),
                class_="stack",
            ),
            plain=True,
            status=status,
            about="The link that brought you here is good once.",
        )

    async def reset(self, request: Request) -> Response:
        """Set a password with a token, which is used up by it."""
        fields = await form_of(request)
        token, password = fields.get("token", ""), fields.get("password", "")
        address = address_of_request(self._services, request)
        return await asyncio.to_thread(
            _decided,
            request,
            lambda: self._signing.reset(token, password, address),
            lambda message, status: self._reset(request, token, message, status),
        )

    def password_page(self, request: Request) -> Response:
        """The form with which a person sets another password."""
        return self._change(request)

    def _change(self, request: Request, message: Child = None, status: int = 200) -> Response:
        if caller_of(request.scope).kind != "user":
            return error_page(request, 403, "Only who is signed in has a password to change.")
        return render(
            request,
            "Change your password",
            message,
            form(
                request,
                "/console/password",
                field("Old password", _password("old", "current-password")),
                field("New password", _password("new", "new-password", minlength=SHORTEST), _HINT),
                button("Change it", "main"),
                class_="stack",
            ),
            status=status,
            about="Your other sessions end.",
        )

    async def password(self, request: Request) -> Response:
        """Set one's own password."""
        fields = await form_of(request)
        return await asyncio.to_thread(self._changed, request, fields)

    def _changed(self, request: Request, fields: dict[str, str]) -> Response:
        caller = caller_of(request.scope)
        if caller.kind != "user":
            return self._change(request)
        try:
            done = self._signing.change_password(
                caller.id,
                caller.tenant,
                fields.get("old", ""),
                fields.get("new", ""),
                keep=caller.session,
                address=address_of_request(self._services, request),
            )
        except TooOftenError as error:
            return _too_often(request, error)
        except StaleError as error:
            return self._change(request, note("bad", str(error)), 409)
        except InputError as error:
            return self._change(request, note("bad", str(error)), 422)
        if not done:
            return self._change(request, note("bad", "The old password is not right."), 403)
        return redirect("/console", done="password.set")


def _decided(request: Request, work: Callable[[], bool], again: Callable[[Child, int], Response]) -> Response:
    """Leads on to signing in where a token was good; else the form once more, with what was wrong."""
    try:
        done = work()
    except TooOftenError as error:
        return _too_often(request, error)
    except (InputError, MalformedError) as error:
        return again(note("bad", str(error)), 422)
    if not done:
        return again(note("bad", f"{INVALID_TOKEN.capitalize()}."), 401)
    return redirect("/console/login", done="password.set")


def _too_often(request: Request, error: TooOftenError) -> Response:
    made = error_page(request, 429, f"{str(error).capitalize()}.")
    made.headers["retry-after"] = retry_after(error.wait).decode()
    return made


def _password(name: str, kind: str, **attributes: int) -> Markup:
    return text_input(name, None, type_="password", required=True, autocomplete=kind, maxlength=1_000, **attributes)


def _kept(name: str, value: str) -> Markup:
    return tag("input", type_="hidden", name_=name, value=value)
