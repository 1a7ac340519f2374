"""The pages to sign in and out, to make the first administrator, and to set and change passwords."""

import asyncio
from collections.abc import Callable
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from assay.errors import InputError
from assay.reporting import Child, Markup
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
from assay.server.console.layout import form, hidden_input, read_form, redirect, render, safe_path
from assay.server.console.parts import button, field, note, text_input
from assay.server.services import Services
from assay.store.access import MalformedError, StaleError, TakenError, list_tenants
from assay.store.records import DEFAULT_TENANT

_HINT: Final = f"At least {SHORTEST} characters."


def make_sign_in_pages(services: Services) -> APIRouter:
    """The pages for signing in; no pages where access does not depend on a database."""
    router = page_router()
    sign_in = sign_in_service_of(services)
    if sign_in is None:
        return router
    pages = _Pages(services, sign_in)
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
    def __init__(self, services: Services, sign_in: SignInService) -> None:
        self._services, self._sign_in = services, sign_in

    # Signing in and out

    def login_page(self, request: Request) -> Response:
        """The page to sign in."""
        return self._login(request, safe_path(request.query_params.get("next", "")))

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
                hidden_input("next", back),
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
        """Begin a session, with a new cookie, so that no cookie from before is valid afterwards."""
        fields = await read_form(request)
        return await asyncio.to_thread(self._begin_session, request, fields)

    def _begin_session(self, request: Request, fields: dict[str, str]) -> Response:
        back, name = safe_path(fields.get("next", "")), fields.get("name", "")
        try:
            session = self._sign_in.sign_in(
                name,
                fields.get("password", ""),
                tenant=fields.get("tenant") or DEFAULT_TENANT,
                address=address_of_request(self._services, request),
            )
        except TooOftenError as error:
            return _too_often(request, error)
        if session is None:
            return self._login(request, back, note("bad", f"{WRONG_CREDENTIALS.capitalize()}."), 401, name[:200])
        end_former_session(self._sign_in, request)
        response = redirect(back)
        response.raw_headers.append(cookie_for(self._services, request, session))
        return response

    def logout(self, request: Request) -> Response:
        """End the session, in the database and in the browser."""
        caller = caller_of(request.scope)
        if caller.session:
            self._sign_in.sign_out(caller.session, caller.tenant, caller.actor)
        response = redirect("/console/login")
        response.raw_headers += sign_out_headers(self._services, request)
        return response

    # The first administrator

    def setup_page(self, request: Request) -> Response:
        """The page to make the first administrator."""
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
        """Make the first administrator, with the token that the server printed at its start."""
        fields = await read_form(request)
        token, name, password = (fields.get(key, "") for key in ("token", "name", "password"))
        address = address_of_request(self._services, request)
        return await asyncio.to_thread(
            _use_token,
            request,
            lambda: self._sign_in.set_up(token, name, password, address),
            lambda message, status: self._setup(request, token, message, status, name),
        )

    # Passwords

    def reset_page(self, request: Request) -> Response:
        """The page to set a password with a token."""
        return self._reset(request, request.query_params.get("token", ""))

    def _reset(self, request: Request, token: str, message: Child = None, status: int = 200) -> Response:
        return render(
            request,
            "Set your password",
            message,
            form(
                request,
                "/console/reset",
                hidden_input("token", token) if token else field("Token", text_input("token", required=True)),
                field("New password", _password("password", "new-password", minlength=SHORTEST), _HINT),
                button("Set it", "main"),
                class_="stack",
            ),
            plain=True,
            status=status,
            about="The link that brought you here is good once.",
        )

    async def reset(self, request: Request) -> Response:
        """Set a password with a token, which can be used once."""
        fields = await read_form(request)
        token, password = fields.get("token", ""), fields.get("password", "")
        address = address_of_request(self._services, request)
        return await asyncio.to_thread(
            _use_token,
            request,
            lambda: self._sign_in.reset(token, password, address),
            lambda message, status: self._reset(request, token, message, status),
        )

    def password_page(self, request: Request) -> Response:
        """The page to change one's own password."""
        return self._password_form(request)

    def _password_form(self, request: Request, message: Child = None, status: int = 200) -> Response:
        if caller_of(request.scope).kind != "user":
            return error_page(request, 403, "Only a user who is signed in has a password to change.")
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
        """Change one's own password."""
        fields = await read_form(request)
        return await asyncio.to_thread(self._change_password, request, fields)

    def _change_password(self, request: Request, fields: dict[str, str]) -> Response:
        caller = caller_of(request.scope)
        if caller.kind != "user":
            return self._password_form(request)
        try:
            changed = self._sign_in.change_password(
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
            return self._password_form(request, note("bad", str(error)), 409)
        except InputError as error:
            return self._password_form(request, note("bad", str(error)), 422)
        if not changed:
            return self._password_form(request, note("bad", "The old password is not right."), 403)
        return redirect("/console", done="password.set")


def _use_token(request: Request, work: Callable[[], bool], again: Callable[[Child, int], Response]) -> Response:
    """Redirects to the page to sign in if the token was valid; otherwise shows the form again with the error.

    Args:
        request: the request.
        work: uses the token, and returns whether it was valid.
        again: draws the form again, with a message and a status.
    """
    try:
        valid = work()
    except TooOftenError as error:
        return _too_often(request, error)
    except (InputError, MalformedError) as error:
        return again(note("bad", str(error)), 422)
    except TakenError as error:
        return again(note("bad", str(error)), 409)
    if not valid:
        return again(note("bad", f"{INVALID_TOKEN.capitalize()}."), 401)
    return redirect("/console/login", done="password.set")


def _too_often(request: Request, error: TooOftenError) -> Response:
    response = error_page(request, 429, f"{str(error).capitalize()}.")
    response.headers["retry-after"] = retry_after(error.wait).decode()
    return response


def _password(name: str, kind: str, **attributes: int) -> Markup:
    return text_input(name, None, type_="password", required=True, autocomplete=kind, maxlength=1_000, **attributes)
