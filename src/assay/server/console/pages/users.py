"""`/console/users`: the users of a tenant, their roles and sessions, and its API keys."""

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.errors import StoreError
from assay.reporting import Markup, foreign, group, tag
from assay.schema import PERMISSIONS, Permission, Role
from assay.server.caller import Caller
from assay.server.console.errors import page_router
from assay.server.console.layout import allowed, form, hidden_input, read_form, redirect, render, whole_number
from assay.server.console.parts import (
    Column,
    badge,
    button,
    details,
    field,
    hidden,
    moment,
    note,
    panel,
    select,
    table,
    tabs,
    text_input,
)
from assay.server.services import Services
from assay.store.access import (
    RESET,
    ApiKey,
    StaleError,
    TakenError,
    User,
    change_user,
    create_key,
    create_user,
    end_session,
    forget_user,
    list_keys,
    list_sessions,
    list_users,
    make_token,
    revoke_key,
    rotate_key,
)
from assay.store.db import MOST_LISTED, Store

KEY_LIFETIMES: Final = (("", "as long as it is not revoked"), ("30", "30 days"), ("90", "90 days"), ("365", "one year"))
"""The lifetimes that a key can be given, in days; an empty value is no limit."""
ROLE_WORDS: Final = {
    Role.VIEWER: "reads reports",
    Role.REVIEWER: "decides on what waits",
    Role.AUDITOR: "reads the audit log",
    Role.ADMIN: "does everything",
}
KEY_PERMISSIONS: Final = (
    Permission.CHECK,
    Permission.GATEWAY,
    Permission.READ,
    Permission.FEEDBACK,
    Permission.REVIEW,
    Permission.AUDIT,
)
"""The permissions that an API key can have here; administration is for users who sign in."""

_PATH: Final = "/console/users"


def make_user_pages(services: Services) -> APIRouter:
    """The pages of users, keys and sessions, and the routes of their forms."""
    router = page_router()
    pages = _Pages(services)
    router.add_api_route(_PATH, pages.people, methods=["GET"])
    router.add_api_route(f"{_PATH}/keys", pages.keys, methods=["GET"])
    router.add_api_route(f"{_PATH}/sessions", pages.sessions, methods=["GET"])
    router.add_api_route(f"{_PATH}/new", pages.new_user, methods=["POST"])
    router.add_api_route(f"{_PATH}/keys/new", pages.new_key, methods=["POST"])
    router.add_api_route(f"{_PATH}/keys/{{id_}}/{{act}}", pages.change_key, methods=["POST"])
    router.add_api_route(f"{_PATH}/sessions/{{id_}}/end", pages.end_session, methods=["POST"])
    router.add_api_route(f"{_PATH}/{{id_}}/{{act}}", pages.change_user, methods=["POST"])
    return router


class _Pages:
    def __init__(self, services: Services) -> None:
        self._services = services

    @property
    def _store(self) -> Store:
        return self._services.store

    # People

    def people(self, request: Request) -> Response:
        """The page of all users."""
        return self._people(request, allowed(request, Permission.ADMINISTER))

    def _people(self, request: Request, caller: Caller, message: Markup | None = None, status: int = 200) -> Response:
        users = list_users(self._store, caller.tenant, limit=MOST_LISTED)
        columns = (Column("Name", "main"), Column("Roles"), Column("Since", "less"), Column("Change", hidden=True))
        rows = (
            (_user_name(user, caller), _roles(user), moment(user.created), _user_actions(request, user))
            for user in users
        )
        empty = ("Nobody yet", "Until there is a user, anyone who can reach this machine is let in.")
        return render(
            request,
            "Access",
            _tabs("people"),
            message,
            table("People", columns, rows, empty=empty),
            panel("Add a person", _new_user_form(request), style="box"),
            current="users",
            about=_ABOUT,
            status=status,
        )

    async def new_user(self, request: Request) -> Response:
        """Make a user, and a link to set the password."""
        caller = allowed(request, Permission.ADMINISTER)
        fields = await read_form(request)
        return await asyncio.to_thread(self._create_user, request, caller, fields)

    def _create_user(self, request: Request, caller: Caller, fields: dict[str, str]) -> Response:
        roles = _chosen_roles(fields)
        try:
            user = create_user(
                self._store,
                fields.get("name", ""),
                roles,
                tenant=caller.tenant,
                actor=caller.actor,
                expertise=fields.get("expertise", "").replace(",", " ").split(),
            )
        except TakenError as error:
            return self._people(request, caller, note("bad", str(error)), 409)
        except StoreError as error:
            return self._people(request, caller, note("bad", str(error)), 422)
        return self._people(request, caller, self._link(request, caller, user.id, user.name or ""))

    def _link(self, request: Request, caller: Caller, id_: str, name: str) -> Markup:
        lasts = timedelta(hours=self._services.settings.access.token_hours)
        secret, ends = make_token(self._store, RESET, lasts, tenant=caller.tenant, user=id_, actor=caller.actor)
        link = f"{request.url.scheme}://{request.url.netloc}/console/reset?token={secret}"
        return _secret(
            group(
                "Send ",
                foreign(name[:80], "b"),
                " this link to set the password; it is good once, until ",
                moment(ends),
                ", and is not shown again.",
            ),
            link,
        )

    async def change_user(self, request: Request, id_: str, act: str) -> Response:
        """Change the roles of a user, disable, enable or forget the user, or make a new link for the password."""
        caller = allowed(request, Permission.ADMINISTER)
        fields = await read_form(request)
        return await asyncio.to_thread(self._apply_to_user, request, caller, id_, act, fields)

    def _apply_to_user(self, request: Request, caller: Caller, id_: str, act: str, fields: dict[str, str]) -> Response:
        store, tenant, actor = self._store, caller.tenant, caller.actor
        try:
            if act == "roles":
                changed: object = change_user(
                    store,
                    id_,
                    tenant,
                    actor=actor,
                    version=whole_number(fields.get("version")),
                    roles=_chosen_roles(fields),
                    expertise=fields.get("expertise", "").replace(",", " ").split(),
                )
            elif act in ("disable", "enable"):
                changed = change_user(
                    store,
                    id_,
                    tenant,
                    actor=actor,
                    version=whole_number(fields.get("version")),
                    disabled=act == "disable",
                )
            elif act == "forget":
                changed = forget_user(store, id_, tenant, actor=actor)
            elif act == "link":
                return self._people(request, caller, self._link(request, caller, id_, fields.get("name", "")))
            else:
                raise HTTPException(404, f"there is no act {act[:40]} on a user")
        except StaleError as error:
            return self._people(request, caller, note("bad", str(error)), 409)
        except StoreError as error:
            return self._people(request, caller, note("bad", str(error)), 422)
        if not changed:
            raise HTTPException(404, "this tenant has no such user")
        return redirect(_PATH, "users.changed")

    # Keys

    def keys(self, request: Request) -> Response:
        """The page of all API keys."""
        return self._keys(request, allowed(request, Permission.ADMINISTER))

    def _keys(self, request: Request, caller: Caller, message: Markup | None = None, status: int = 200) -> Response:
        now = self._store.now()
        keys = list_keys(self._store, caller.tenant, limit=MOST_LISTED)[::-1]
        columns = (
            Column("Name", "main"),
            Column("May"),
            Column("Made", "less"),
            Column("Last used"),
            Column("Ends", "less"),
            Column("Change", hidden=True),
        )
        rows = (
            (
                _key_name(key, key.holds(now)),
                ", ".join(one.value for one in key.permissions),
                moment(key.created),
                moment(key.used, now) if key.used else "never",
                moment(key.expires) if key.expires else "–",
                _key_actions(request, key) if key.holds(now) else "",
            )
            for key in keys
        )
        empty = ("No keys yet", "Each program calls the API with its own key, which can be revoked by itself.")
        return render(
            request,
            "Access",
            _tabs("keys"),
            message,
            table("API keys, the newest first", columns, rows, empty=empty),
            panel("Make a key", _new_key_form(request), style="box"),
            current="users",
            about=_ABOUT,
            status=status,
        )

    async def new_key(self, request: Request) -> Response:
        """Make a key, and show it once."""
        caller = allowed(request, Permission.ADMINISTER)
        fields = await read_form(request)
        return await asyncio.to_thread(self._create_key, request, caller, fields)

    def _create_key(self, request: Request, caller: Caller, fields: dict[str, str]) -> Response:
        permissions = [one for one in KEY_PERMISSIONS if f"may.{one.value}" in fields]
        days = fields.get("days", "")
        if days not in dict(KEY_LIFETIMES):
            # A lifetime that cannot be read must not become none.
            known = ", ".join(days for days, _ in KEY_LIFETIMES if days)
            raise HTTPException(422, f"a key is valid for {known} days, or until it is revoked")
        lasts = timedelta(days=int(days)) if days else None
        try:
            secret, key = create_key(
                self._store, fields.get("name", ""), permissions, tenant=caller.tenant, actor=caller.actor, lasts=lasts
            )
        except TakenError as error:
            return self._keys(request, caller, note("bad", str(error)), 409)
        except StoreError as error:
            return self._keys(request, caller, note("bad", str(error)), 422)
        return self._keys(request, caller, _shown_key(key, secret))

    async def change_key(self, request: Request, id_: str, act: str) -> Response:
        """Replace or revoke a key."""
        caller = allowed(request, Permission.ADMINISTER)
        await read_form(request)
        return await asyncio.to_thread(self._apply_to_key, request, caller, id_, act)

    def _apply_to_key(self, request: Request, caller: Caller, id_: str, act: str) -> Response:
        store, tenant, actor = self._store, caller.tenant, caller.actor
        try:
            if act == "revoke" and revoke_key(store, id_, tenant, actor=actor):
                return redirect(f"{_PATH}/keys", "keys.revoked")
            rotated = rotate_key(store, id_, tenant, actor=actor) if act == "rotate" else None
        except StaleError as error:
            return self._keys(request, caller, note("bad", str(error)), 409)
        if rotated is None:
            raise HTTPException(404, "this tenant has no such key")
        secret, key = rotated
        return self._keys(request, caller, _shown_key(key, secret))

    # Sessions

    def sessions(self, request: Request) -> Response:
        """The page of all sessions."""
        caller = allowed(request, Permission.ADMINISTER)
        now = self._store.now()
        names = {user.id: user.name for user in list_users(self._store, caller.tenant, limit=MOST_LISTED)}
        columns = (
            Column("Who", "main"),
            Column("Began"),
            Column("Last seen"),
            Column("Ends", "less"),
            Column("Change", hidden=True),
        )
        rows = (
            (
                foreign((names.get(one.user) or one.user)[:80]),
                moment(one.created),
                moment(one.seen, now),
                moment(one.ends),
                form(request, f"{_PATH}/sessions/{one.id}/end", button("End", "danger")),
            )
            for one in list_sessions(self._store, caller.tenant, limit=MOST_LISTED)
        )
        empty = ("Nobody is signed in", "A session begins when somebody signs in, and ends when it is idle for long.")
        shown = table("Sessions", columns, rows, empty=empty)
        return render(request, "Access", _tabs("sessions"), shown, current="users", about=_ABOUT)

    async def end_session(self, request: Request, id_: str) -> Response:
        """End a session at once."""
        caller = allowed(request, Permission.ADMINISTER)
        await read_form(request)
        if not await asyncio.to_thread(end_session, self._store, id_, caller.tenant, actor=caller.actor):
            raise HTTPException(404, "this tenant has no such session")
        return redirect(f"{_PATH}/sessions", "sessions.ended")


_ABOUT: Final = "Who may do what. Each change is an entry of the audit log."


def _chosen_roles(fields: dict[str, str]) -> list[Role]:
    return [role for role in Role if f"role.{role.value}" in fields]


def _tabs(current: str) -> Markup:
    entries = (
        ("People", _PATH, "people"),
        ("Keys", f"{_PATH}/keys", "keys"),
        ("Sessions", f"{_PATH}/sessions", "sessions"),
    )
    return tabs("Access", ((words, href, key == current) for words, href, key in entries))


def _user_name(user: User, caller: Caller) -> Markup:
    marks = [badge("kept out", "bad")] if user.disabled is not None else []
    marks += [badge("you", "accent")] if user.id == caller.id else []
    marks += [badge("no password yet")] if user.password is None and user.disabled is None else []
    fields = ", ".join(user.expertise)
    return group(
        foreign((user.name or user.id)[:80]),
        " ",
        marks,
        tag("small", foreign(fields), class_="below") if fields else None,
    )


def _roles(user: User) -> Markup:
    return group(*(group(badge(role.value, "accent" if role is Role.ADMIN else "quiet"), " ") for role in user.roles))


def _user_actions(request: Request, user: User) -> Markup:
    path, version = f"{_PATH}/{user.id}", hidden_input("version", user.version)
    name = hidden_input("name", user.name or "")
    act, words, style = (
        ("enable", "Let in again", "") if user.disabled is not None else ("disable", "Keep out", "danger")
    )
    forget = details(
        "Forget…",
        tag("p", "The name goes for good; the log keeps the id.", class_="soft"),
        form(request, f"{path}/forget", button("Forget this person", "danger")),
    )
    return details(
        group("Change", hidden(f" {user.name or user.id}")),
        form(
            request,
            f"{path}/roles",
            version,
            _role_boxes(user.roles, user.id),
            field("Expertise", text_input("expertise", " ".join(user.expertise))),
            button("Save", "primary"),
            class_="stack",
        ),
        tag(
            "div",
            form(request, f"{path}/{act}", version, button(words, style)),
            form(request, f"{path}/link", name, button("New link for the password")),
            forget,
            class_="actions",
        ),
    )


def _role_boxes(chosen: Iterable[Role], prefix: str) -> Markup:
    boxes = (
        tag(
            "label",
            tag(
                "input",
                type_="checkbox",
                name_=f"role.{role.value}",
                checked=role in tuple(chosen),
                id=f"{prefix}-{role.value}",
            ),
            tag("span", tag("b", role.value), " ", tag("small", ROLE_WORDS[role])),
        )
        for role in PERMISSIONS
    )
    return tag("fieldset", tag("legend", "Roles"), boxes, class_="boxes")


def _new_user_form(request: Request) -> Markup:
    return form(
        request,
        f"{_PATH}/new",
        field("Name to sign in with", text_input("name", required=True, maxlength=120)),
        _role_boxes((Role.VIEWER,), "new"),
        field("Expertise", text_input("expertise", placeholder="finance health"), "Fields that the person reviews."),
        button("Add", "primary"),
        class_="stack",
    )


def _new_key_form(request: Request) -> Markup:
    boxes = (
        tag(
            "label",
            tag("input", type_="checkbox", name_=f"may.{one.value}", checked=one is Permission.CHECK),
            tag("span", tag("b", one.value)),
        )
        for one in KEY_PERMISSIONS
    )
    return form(
        request,
        f"{_PATH}/keys/new",
        field("What it is for", text_input("name", required=True, maxlength=120)),
        tag("fieldset", tag("legend", "May"), boxes, class_="boxes"),
        field("Good for", select("days", KEY_LIFETIMES, "90")),
        button("Make the key", "primary"),
        class_="stack",
    )


def _key_name(key: ApiKey, valid: bool) -> Markup:
    return group(
        foreign(key.name[:80]),
        " ",
        None if valid else badge("ended"),
        tag("small", tag("code", key.id), class_="below"),
    )


def _key_actions(request: Request, key: ApiKey) -> Markup:
    words = hidden(f" {key.name}")
    return details(
        group("Change", words),
        tag(
            "div",
            form(request, f"{_PATH}/keys/{key.id}/rotate", button("Replace")),
            form(request, f"{_PATH}/keys/{key.id}/revoke", button("Revoke now", "danger")),
            class_="actions",
        ),
    )


def _shown_key(key: ApiKey, secret: str) -> Markup:
    return _secret(
        group("The key for ", foreign(key.name[:80], "b"), ". It is not stored and not shown again."), secret
    )


def _secret(words: Markup, secret: str) -> Markup:
    return tag(
        "div", tag("p", words), tag("output", tag("code", secret), class_="secret"), class_="note good", role="status"
    )
