"""The REST routes of access: who am I, signing in, users, keys, sessions."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Annotated, Final, TypeVar

from fastapi import APIRouter, Header, Path, Query, Request, Response

from assay.schema import PERMISSIONS, Permission, Role
from assay.server.access.authentication import StoreAccess, caller_of_session
from assay.server.access.cookies import CSRF_KEY, csrf_token, secret_of, session_cookie
from assay.server.access.rate_limits import retry_after
from assay.server.access.rest_bodies import (
    KeyBody,
    KeyOut,
    KeysOut,
    LoginBody,
    MeOut,
    NewKeyOut,
    PasswordBody,
    ResetBody,
    ResetOut,
    RotateBody,
    SessionOut,
    SessionsOut,
    SetupBody,
    UserBody,
    UserChange,
    UserOut,
    UsersOut,
)
from assay.server.access.sign_in import NewSession, SignInService, TooOftenError
from assay.server.caller import Caller, caller_of
from assay.server.http.problems import ProblemError, documented, unknown
from assay.server.services import Services, allowed
from assay.store.access import MalformedError, StaleError, TakenError, api_keys
from assay.store.access import sessions as access_sessions
from assay.store.access import users as access_users

T = TypeVar("T")

MOST_ITEMS: Final = 200
"""Items of one page."""
_ID: Final = re.compile(r"[0-9a-f]{12,64}")
_ETAG: Final = re.compile(r'(?:W/)?"([0-9]{1,9})"')

Cursor = Annotated[str | None, Query(description="`next` of the page before.", pattern=_ID.pattern, max_length=64)]
Limit = Annotated[int, Query(description="At most this many items.", ge=1, le=MOST_ITEMS)]
IfMatch = Annotated[str | None, Header(description="The ETag of what is to be changed.")]


def make_access_router(services: Services) -> APIRouter:
    """The routes over the database by which a server authenticates its callers."""
    router = APIRouter(tags=["access"])
    signing = sign_in_service_of(services)
    if signing is not None:
        _signing_routes(router, _SignInRoutes(services, signing))
        _user_routes(router, _UserRoutes(services, signing))
    _key_routes(router, _KeyRoutes(services))
    _session_routes(router, _SessionRoutes(services))
    router.get("/v1/me", responses=documented(401, 429, 503))(_me)
    return router


def sign_in_service_of(services: Services) -> SignInService | None:
    """The sign-in service of a server with a database; none for one without."""
    access = services.access
    if not isinstance(access, StoreAccess):
        return None
    return SignInService(access.store, access.passwords, access.settings, access.sign_ins, services.refusals)


def _me(request: Request) -> MeOut:
    """Who the caller is to this server."""
    return me_of(caller_of(request.scope), request.scope.get(CSRF_KEY))


def me_of(caller: Caller, csrf: str | None) -> MeOut:
    """The answer to a caller's question about itself."""
    return MeOut(
        name=caller.name,
        kind=caller.kind,
        id=caller.id or None,
        tenant=caller.tenant,
        roles=list(caller.roles),
        permissions=sorted(caller.permissions),
        expertise=list(caller.expertise),
        csrf=csrf,
    )


# Signing in


class _SignInRoutes:
    def __init__(self, services: Services, signing: SignInService) -> None:
        self._services, self._signing = services, signing

    def login(self, request: Request, response: Response, body: LoginBody) -> MeOut:
        """Begin a session of the console; the cookie holds it."""
        address = address_of_request(self._services, request)
        found = errors_as_problems(
            lambda: self._signing.sign_in(body.name, body.password, tenant=body.tenant, address=address)
        )
        if found is None:
            raise ProblemError(
                401, WRONG_CREDENTIALS, code="login.refused", todo="Try again, or ask an administrator for a token."
            )
        end_former_session(self._signing, request)
        response.raw_headers.append(cookie_for(self._services, request, found))
        return me_of(caller_of_session(found.session, found.user), csrf_token(found.secret))

    def logout(self, request: Request) -> Response:
        """End the session that asks."""
        caller = caller_of(request.scope)
        if caller.session:
            self._signing.sign_out(caller.session, caller.tenant, caller.actor)
        answer = Response(status_code=204)
        answer.raw_headers += sign_out_headers(self._services, request)
        return answer

    def set_up(self, request: Request, body: SetupBody) -> Response:
        """Make the first administrator with the token that was shown at the start."""
        address = address_of_request(self._services, request)
        if not errors_as_problems(lambda: self._signing.set_up(body.token, body.name, body.password, address)):
            raise ProblemError(401, INVALID_TOKEN, code="token.refused", todo="`assay users create` makes users too.")
        return Response(status_code=204)

    def reset(self, request: Request, body: ResetBody) -> Response:
        """Set a password with a token that an administrator has made."""
        address = address_of_request(self._services, request)
        if not errors_as_problems(lambda: self._signing.reset(body.token, body.password, address)):
            raise ProblemError(401, INVALID_TOKEN, code="token.refused", todo="Ask an administrator for another.")
        return Response(status_code=204)

    def password(self, request: Request, body: PasswordBody) -> Response:
        """Set one's own password; all other sessions end."""
        caller = caller_of(request.scope)
        if caller.kind != "user":
            raise ProblemError(403, "expected a person with a session; keys have no password", code="user.needed")
        address = address_of_request(self._services, request)
        done = errors_as_problems(
            lambda: self._signing.change_password(
                caller.id, caller.tenant, body.old, body.new, keep=caller.session, address=address
            )
        )
        if not done:
            raise ProblemError(403, "the old password is not right", code="password.wrong")
        return Response(status_code=204)


WRONG_CREDENTIALS: Final = "the name or the password is not right, or there were too many tries; then wait a while"
INVALID_TOKEN: Final = "the token is not good: it was used, has ended, or never was one"  # noqa: S105 no secret


def _signing_routes(router: APIRouter, routes: _SignInRoutes) -> None:
    errors = documented(401, 403, 413, 422, 429, 503)
    router.post("/v1/login", responses=errors)(routes.login)
    router.post("/v1/logout", status_code=204, responses=errors)(routes.logout)
    router.post("/v1/setup", status_code=204, responses=documented(401, 403, 409, 413, 422, 429, 503))(routes.set_up)
    router.post("/v1/reset", status_code=204, responses=errors)(routes.reset)
    router.post("/v1/me/password", status_code=204, responses=errors)(routes.password)


def errors_as_problems(work: Callable[[], T]) -> T:
    """The result of the work, with errors of access turned into problem documents.

    Raises:
        ProblemError: 429 for too many attempts, 409 for a taken name or a changed state, 422 for malformed input.
    """
    try:
        return work()
    except TooOftenError as error:
        after = retry_after(error.wait).decode()
        raise ProblemError(
            429,
            f"this address tried to sign in too often; try again in {after} seconds",
            code="rate.exceeded",
            headers={"retry-after": after},
        ) from error
    except TakenError as error:
        raise ProblemError(409, str(error), code="name.taken") from error
    except StaleError as error:
        raise ProblemError(409, str(error), code="state.changed") from error
    except MalformedError as error:
        raise ProblemError(422, str(error), code="input.invalid") from error


def address_of_request(services: Services, request: Request) -> str:
    """The client's address for rate limits."""
    access = services.access
    return access.address(request.scope) if isinstance(access, StoreAccess) else "unknown"


def cookie_for(services: Services, request: Request, found: NewSession) -> tuple[bytes, bytes]:
    """The header that gives the browser its session."""
    encrypted = isinstance(services.access, StoreAccess) and services.access.encrypted(request.scope)
    seconds = int((found.session.ends - found.session.created).total_seconds())
    return session_cookie(found.secret, encrypted=encrypted, seconds=seconds)


def end_former_session(signing: SignInService, request: Request) -> None:
    """End the session that the browser already had, so that signing in again leaves no old one behind."""
    secret = secret_of(request.scope)
    if secret is not None:
        signing.sign_out_secret(secret)


def sign_out_headers(services: Services, request: Request) -> list[tuple[bytes, bytes]]:
    """The headers that remove the session from the browser."""
    encrypted = isinstance(services.access, StoreAccess) and services.access.encrypted(request.scope)
    return [session_cookie("", encrypted=encrypted, seconds=0), (b"clear-site-data", b'"cache"')]


# Users


class _UserRoutes:
    def __init__(self, services: Services, signing: SignInService) -> None:
        self._store, self._signing = services.store, signing

    def all_users(self, request: Request, cursor: Cursor = None, limit: Limit = 50) -> UsersOut:
        """Users of the tenant, in the order in which they were made."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        found = access_users.list_users(self._store, caller.tenant, after=cursor, limit=limit + 1)
        return UsersOut(
            items=[UserOut.of(user) for user in found[:limit]], next=_next_cursor([one.id for one in found], limit)
        )

    def create(self, request: Request, response: Response, body: UserBody) -> UserOut:
        """Make a user."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        _require_grantable(caller, _permissions_of_roles(body.roles))
        user = errors_as_problems(
            lambda: self._signing.make_user(
                body.name,
                tuple(body.roles),
                tenant=caller.tenant,
                actor=caller.actor,
                password=body.password,
                expertise=tuple(body.expertise),
            )
        )
        response.headers["etag"] = f'"{user.version}"'
        response.headers["location"] = f"/v1/users/{user.id}"
        return UserOut.of(user)

    def get(self, request: Request, response: Response, id_: Annotated[str, Path(alias="id")]) -> UserOut:
        """A user."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        user = access_users.get_user(self._store, _require_id(id_, "user"), caller.tenant)
        if user is None:
            raise unknown("user")
        response.headers["etag"] = f'"{user.version}"'
        return UserOut.of(user)

    def change(
        self,
        request: Request,
        response: Response,
        body: UserChange,
        id_: Annotated[str, Path(alias="id")],
        if_match: IfMatch = None,
    ) -> UserOut:
        """Change a user's roles or expertise, or keep the user out; it counts from the next request on."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        user = access_users.get_user(self._store, _require_id(id_, "user"), caller.tenant)
        if user is None:
            raise unknown("user")
        version = _version_of(if_match)
        if version != user.version:
            raise ProblemError(
                412,
                f"expected the user in version {version}, and it has version {user.version} now",
                code="version.changed",
                todo="Read it again, and send what you want changed with its new ETag.",
            )
        _require_grantable(caller, _permissions_of_roles(body.roles or ()))
        changed = errors_as_problems(
            lambda: access_users.change_user(
                self._store,
                user.id,
                caller.tenant,
                actor=caller.actor,
                version=version,
                roles=body.roles,
                expertise=body.expertise,
                disabled=body.disabled,
            )
        )
        if changed is None:
            raise unknown("user")
        response.headers["etag"] = f'"{changed.version}"'
        return UserOut.of(changed)

    def forget(self, request: Request, id_: Annotated[str, Path(alias="id")]) -> Response:
        """Remove a user: name and password go, sessions end; the id stays in the log."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        done = errors_as_problems(
            lambda: access_users.forget_user(self._store, _require_id(id_, "user"), caller.tenant, actor=caller.actor)
        )
        if not done:
            raise unknown("user")
        return Response(status_code=204)

    def reset(self, request: Request, id_: Annotated[str, Path(alias="id")]) -> ResetOut:
        """Make a token with which the user sets the password again; whoever has it can sign in as the user."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        user = access_users.get_user(self._store, _require_id(id_, "user"), caller.tenant)
        if user is None or user.name is None:
            raise unknown("user")
        _require_grantable(caller, user.permissions)
        token = errors_as_problems(lambda: self._signing.make_reset(user.id, caller.tenant, caller.actor))
        return ResetOut(token=token)


def _user_routes(router: APIRouter, routes: _UserRoutes) -> None:
    read_errors = documented(401, 403, 404, 422, 429, 503)
    change_errors = documented(401, 403, 404, 409, 412, 413, 422, 428, 429, 503)
    router.get("/v1/users", responses=documented(401, 403, 422, 429, 503))(routes.all_users)
    router.post("/v1/users", status_code=201, responses=documented(401, 403, 409, 413, 422, 429, 503))(routes.create)
    router.get("/v1/users/{id}", responses=read_errors)(routes.get)
    router.patch("/v1/users/{id}", responses=change_errors)(routes.change)
    router.delete("/v1/users/{id}", status_code=204, responses=documented(401, 403, 404, 409, 422, 429, 503))(
        routes.forget
    )
    router.post("/v1/users/{id}/reset", status_code=201, responses=documented(401, 403, 404, 409, 413, 422, 429, 503))(
        routes.reset
    )


def _permissions_of_roles(roles: Sequence[Role]) -> frozenset[Permission]:
    return frozenset().union(*(PERMISSIONS[role] for role in roles))


def _require_grantable(caller: Caller, permissions: frozenset[Permission]) -> None:
    """Refuse permissions that the caller does not have itself: no key or user can create a more powerful one.

    Raises:
        ProblemError: the caller lacks one of them: 403.
    """
    missing = sorted(permissions - caller.permissions)
    if missing:
        raise ProblemError(
            403,
            f"expected permissions that the caller has itself, and it has not {', '.join(missing)}",
            code="permission.missing",
            todo="Ask an administrator who has them.",
        )


# Keys


class _KeyRoutes:
    def __init__(self, services: Services) -> None:
        self._store = services.store

    def all_keys(self, request: Request, cursor: Cursor = None, limit: Limit = 50) -> KeysOut:
        """Keys of the tenant, those that have ended too."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        found = api_keys.list_keys(self._store, caller.tenant, after=cursor, limit=limit + 1)
        return KeysOut(
            items=[KeyOut.of(key) for key in found[:limit]], next=_next_cursor([one.id for one in found], limit)
        )

    def create(self, request: Request, response: Response, body: KeyBody) -> NewKeyOut:
        """Make a key; it is seen this once."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        _require_grantable(caller, frozenset(body.permissions))
        lifetime = None if body.days is None else timedelta(days=body.days)
        key, kept = errors_as_problems(
            lambda: api_keys.create_key(
                self._store, body.name, body.permissions, tenant=caller.tenant, actor=caller.actor, lasts=lifetime
            )
        )
        response.headers["location"] = f"/v1/keys/{kept.id}"
        return NewKeyOut(key=key, kept=KeyOut.of(kept))

    def get(self, request: Request, id_: Annotated[str, Path(alias="id")]) -> KeyOut:
        """What is kept of a key."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        found = api_keys.get_key(self._store, _require_id(id_, "key"), caller.tenant)
        if found is None:
            raise unknown("key")
        return KeyOut.of(found)

    def rotate(self, request: Request, body: RotateBody, id_: Annotated[str, Path(alias="id")]) -> NewKeyOut:
        """Make a key in place of one, which stays good for a while."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        old = api_keys.get_key(self._store, _require_id(id_, "key"), caller.tenant)
        if old is None:
            raise unknown("key")
        _require_grantable(caller, frozenset(old.permissions))
        found = errors_as_problems(
            lambda: api_keys.rotate_key(
                self._store, old.id, caller.tenant, actor=caller.actor, overlap=timedelta(hours=body.hours)
            )
        )
        if found is None:
            raise unknown("key")
        return NewKeyOut(key=found[0], kept=KeyOut.of(found[1]))

    def revoke(self, request: Request, id_: Annotated[str, Path(alias="id")]) -> Response:
        """End a key at once, in every process."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        if not api_keys.revoke_key(self._store, _require_id(id_, "key"), caller.tenant, actor=caller.actor):
            raise unknown("key")
        return Response(status_code=204)


def _key_routes(router: APIRouter, routes: _KeyRoutes) -> None:
    router.get("/v1/keys", responses=documented(401, 403, 422, 429, 503))(routes.all_keys)
    router.post("/v1/keys", status_code=201, responses=documented(401, 403, 409, 413, 422, 429, 503))(routes.create)
    router.get("/v1/keys/{id}", responses=documented(401, 403, 404, 422, 429, 503))(routes.get)
    router.post("/v1/keys/{id}/rotate", status_code=201, responses=documented(401, 403, 404, 409, 413, 422, 429, 503))(
        routes.rotate
    )
    router.delete("/v1/keys/{id}", status_code=204, responses=documented(401, 403, 404, 422, 429, 503))(routes.revoke)


# Sessions


class _SessionRoutes:
    def __init__(self, services: Services) -> None:
        self._store = services.store

    def all_sessions(
        self, request: Request, everyone: bool = False, cursor: Cursor = None, limit: Limit = 50
    ) -> SessionsOut:
        """One's own sessions; those of the whole tenant with `everyone`, which only administrators may ask for."""
        caller = allowed(request.scope, Permission.ADMINISTER) if everyone else caller_of(request.scope)
        user = None if everyone else caller.id or "-"
        found = access_sessions.list_sessions(self._store, caller.tenant, user=user, after=cursor, limit=limit + 1)
        items = [SessionOut.of(session, caller.session) for session in found[:limit]]
        return SessionsOut(items=items, next=_next_cursor([one.id for one in found], limit))

    def end(self, request: Request, id_: Annotated[str, Path(alias="id")]) -> Response:
        """End a session at once, in every process: one's own, or as an administrator any of the tenant."""
        caller = caller_of(request.scope)
        user = None if caller.may(Permission.ADMINISTER) else caller.id or "-"
        done = access_sessions.end_session(
            self._store, _require_id(id_, "session"), caller.tenant, actor=caller.actor, user=user
        )
        if not done:
            raise unknown("session")
        return Response(status_code=204)


def _session_routes(router: APIRouter, routes: _SessionRoutes) -> None:
    router.get("/v1/sessions", responses=documented(401, 403, 422, 429, 503))(routes.all_sessions)
    router.delete("/v1/sessions/{id}", status_code=204, responses=documented(401, 403, 404, 422, 429, 503))(routes.end)


def _require_id(text: str, what: str) -> str:
    """An id of valid form: databases refuse some texts in ways of their own.

    Raises:
        ProblemError: it has no valid form: 404, as for an unknown one.
    """
    if not _ID.fullmatch(text):
        raise unknown(what)
    return text


def _next_cursor(ids: Sequence[str], limit: int) -> str | None:
    return ids[limit - 1] if len(ids) > limit else None


def _version_of(if_match: str | None) -> int:
    if if_match is None:
        raise ProblemError(
            428, "expected the ETag of the user in if-match", code="version.needed", todo="Read the user first."
        )
    found = _ETAG.fullmatch(if_match.strip())
    if found is None:
        raise ProblemError(412, "expected the ETag of the user in if-match, got another value", code="version.changed")
    return int(found[1])
