"""Nobody acts in the name of who is signed in: every request that changes something, tried from elsewhere."""

from pathlib import Path
from typing import Any

import pytest
from tests.server.access.desk import Client, Desk, desk_over

from assay.schema.access import Permission, Role
from assay.server.access.settings import AccessSettings
from assay.store.access.api_keys import create_key

FOREIGN: list[dict[str, Any]] = [
    {"sec_fetch_site": "cross-site"},
    {"sec_fetch_site": "same-site"},
    {"sec_fetch_site": "weird"},
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:9999"},
    {"origin": "http://127.0.0.1:8080.evil.example"},
    {"origin": "127.0.0.1:8080"},
    {"origin": ""},
    {"sec_fetch_site": "cross-site", "origin": "http://127.0.0.1:8080"},
]
OWN: list[dict[str, Any]] = [
    {},
    {"sec_fetch_site": "same-origin"},
    {"sec_fetch_site": "none"},
    {"origin": "http://127.0.0.1:8080"},
    {"origin": "HTTP://127.0.0.1:8080", "sec_fetch_site": "same-origin"},
]
NEW = {"name": "eve", "roles": ["viewer"]}


def make_user(client: Client, number: int = 0, **headers: Any) -> tuple[int, str | None]:
    answer = client.ask("POST", "/v1/users", {**NEW, "name": f"eve{number}"}, **headers)
    return answer.status, answer.code if answer.status >= 400 else None


@pytest.mark.parametrize("headers", FOREIGN)
def test_what_comes_from_another_page_changes_nothing(desk: Desk, headers: dict[str, Any]) -> None:
    ada = desk.signed_in()
    before = desk.acts()
    assert make_user(ada, **headers) == (403, "request.foreign")
    assert ada.ask("POST", "/console/logout", form={"csrf": ada.csrf or ""}, **headers).status == 403
    assert desk.acts() == before


@pytest.mark.parametrize("headers", OWN)
def test_a_page_of_our_own_with_its_token_passes(desk: Desk, headers: dict[str, Any]) -> None:
    assert make_user(desk.signed_in(), **headers) == (201, None)


def test_without_the_token_of_this_session_nothing_passes(desk: Desk) -> None:
    ada, ben = desk.signed_in("ada"), desk.signed_in("ben")
    for token in (None, "", "guess", ben.csrf, (ada.csrf or "")[:-1], f"{ada.csrf}x"):
        assert make_user(ada, x_assay_csrf=token) == (403, "csrf.missing"), token
    assert make_user(ada) == (201, None)


def test_the_token_of_an_earlier_session_is_worth_nothing(desk: Desk) -> None:
    ada = desk.signed_in()
    old = ada.csrf
    ada.sign_in("ada")
    assert make_user(ada, x_assay_csrf=old) == (403, "csrf.missing")


def test_every_method_that_may_change_something_is_held_to_it(desk: Desk) -> None:
    ada = desk.signed_in()
    ada.csrf = None
    paths = [
        (method.upper(), path)
        for path, item in ada.ask("GET", "/openapi.json").json["paths"].items()
        for method in item
        if method in ("post", "put", "patch", "delete")
    ]
    assert len(paths) > 15
    for method, path in paths:
        if path in ("/v1/login", "/v1/setup", "/v1/reset"):
            continue
        answer = ada.ask(method, path.replace("{", "").replace("}", ""), {})
        assert (answer.status, answer.code) == (403, "csrf.missing"), (method, path)


def test_a_form_carries_the_token_as_a_field_and_is_read_once_more_by_its_page(desk: Desk) -> None:
    ada = desk.signed_in()
    form = {"theme": "dark", "back": "/console"}
    assert ada.ask("POST", "/console/theme", form=form).status == 403
    assert ada.ask("POST", "/console/theme", form={**form, "csrf": "guess"}).status == 403
    answer = ada.ask("POST", "/console/theme", form={**form, "csrf": ada.csrf or ""})
    assert (answer.status, answer.header("location")) == (303, "/console")
    assert "dark" in (answer.header("set-cookie") or "")


def test_two_tokens_in_one_form_are_none(desk: Desk) -> None:
    ada = desk.signed_in()
    answer = ada.ask("POST", f"/console/theme?csrf={ada.csrf}", form={"theme": "dark"})
    assert answer.status == 403


def test_a_program_with_a_key_needs_no_token_and_its_cookie_counts_for_nothing(desk: Desk) -> None:
    program = desk.with_key(Permission.ADMINISTER, Permission.CHECK, Permission.READ, Permission.FEEDBACK)
    assert make_user(program, sec_fetch_site="cross-site") == (201, None)
    viewer = desk.with_key(Permission.READ)
    viewer.cookies = desk.signed_in().cookies
    assert make_user(viewer, 1) == (403, "permission.missing")


def test_other_pages_sign_nobody_in(desk: Desk) -> None:
    desk.user()
    body = {"name": "ada", "password": "correct horse battery"}
    answer = desk.client().ask("POST", "/v1/login", body, sec_fetch_site="cross-site")
    assert (answer.status, answer.header("set-cookie")) == (403, None)
    assert desk.client().ask("POST", "/console/login", form=body, origin="https://evil.example").status == 403


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_server_that_asks_for_no_key_serves_no_foreign_page_either(desk: Desk, headers: dict[str, Any]) -> None:
    status, _ = make_user(desk.client(), **headers)
    assert status == 403
    assert desk.acts() == []


@pytest.mark.parametrize("name", ["x-forwarded-for", "forwarded", "x-real-ip", "x-forwarded-host"])
def test_a_proxy_before_a_server_that_asks_for_no_key_is_refused(desk: Desk, name: str) -> None:
    assert desk.client().ask("GET", "/v1/me").status == 200
    more: dict[str, Any] = {name: "192.0.2.1"}
    assert desk.client().ask("GET", "/v1/me", **more).status == 403
    assert desk.client(host="assay.example").ask("GET", "/v1/me").status == 403


def test_behind_a_proxy_pages_of_the_public_address_are_our_own(database: Path) -> None:
    with desk_over(database, access=AccessSettings(public_url="https://assay.example")) as desk:
        ada = desk.signed_in()
        assert "__Host-assay_session" in ada.cookies
        assert make_user(ada, origin="https://assay.example") == (201, None)
        assert make_user(ada, 1, origin="https://assay.example.evil") == (403, "request.foreign")


# Headers


def test_every_answer_says_how_a_browser_is_to_treat_it(desk: Desk) -> None:
    ada = desk.signed_in("ada", Role.ADMIN)
    answers = [
        ada.ask("GET", "/v1/me"),
        ada.ask("GET", "/v1/none"),
        desk.client(key="assay_x_y").ask("GET", "/v1/me"),
        ada.ask("GET", "/healthz"),
        ada.ask("GET", "/openapi.json"),
        ada.ask("GET", "/console/login"),
        ada.ask("GET", "/console/nothing-here"),
        ada.ask("POST", "/v1/users", {}, x_assay_csrf="no"),
    ]
    for answer in answers:
        headers = dict(answer.headers)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "*" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
        assert "strict-transport-security" not in headers
        assert "access-control-allow-origin" not in headers
    safe = desk.client(scheme="https").ask("GET", "/healthz")
    assert "max-age" in (safe.header("strict-transport-security") or "")


def test_a_page_leads_to_signing_in_and_back_again(desk: Desk) -> None:
    desk.user()
    stranger = desk.client()
    answer = stranger.ask("GET", "/console/runs?action=block")
    assert answer.status == 303
    assert answer.header("location") == "/console/login?next=%2Fconsole%2Fruns%3Faction%3Dblock"
    page = stranger.ask("GET", answer.header("location") or "")
    assert page.status == 200
    assert b'name="next" value="/console/runs?action=block"' in page.body
    form = {"name": "ada", "password": "correct horse battery", "next": "/console/runs?action=block"}
    assert stranger.ask("POST", "/console/login", form={**form, "password": "wrong"}).status == 401
    done = stranger.ask("POST", "/console/login", form=form)
    assert (done.status, done.header("location")) == (303, "/console/runs?action=block")
    assert stranger.ask("GET", "/v1/me").json["name"] == "ada"


@pytest.mark.parametrize("back", ["https://evil.example/console", "//evil.example", "/\\evil.example", "javascript:x"])
def test_signing_in_leads_to_pages_of_the_console_only(desk: Desk, back: str) -> None:
    desk.user()
    form = {"name": "ada", "password": "correct horse battery", "next": back}
    assert desk.client().ask("POST", "/console/login", form=form).header("location") == "/console"


def test_signing_out_of_the_console(desk: Desk) -> None:
    ada = desk.signed_in()
    answer = ada.ask("POST", "/console/logout", form={"csrf": ada.csrf or ""})
    assert (answer.status, answer.header("location")) == (303, "/console/login")
    assert ada.cookies == {}


def test_the_pages_of_set_up_and_of_a_new_password(desk: Desk) -> None:
    from assay.server.access.sign_in import setup_token

    stranger = desk.client()
    token = setup_token(desk.store, AccessSettings()) or ""
    assert token.encode() in stranger.ask("GET", f"/console/setup?token={token}").body
    form = {"token": token, "name": "ada", "password": "correct horse battery"}
    assert stranger.ask("POST", "/console/setup", form={**form, "password": "short"}).status == 422
    assert stranger.ask("POST", "/console/setup", form={**form, "name": "\u202e"}).status == 422
    assert stranger.ask("POST", "/console/setup", form={**form, "token": "guess"}).status == 401
    create_key(desk.store, "crm", [Permission.READ])
    taken = stranger.ask("POST", "/console/setup", form={**form, "name": "crm"})
    assert (taken.status, b"a key has this one" in taken.body) == (409, True)
    assert stranger.ask("POST", "/console/setup", form=form).status == 303
    assert stranger.sign_in("ada").status == 200
    id_ = stranger.ask("GET", "/v1/me").json["id"]
    reset = stranger.ask("POST", f"/v1/users/{id_}/reset").json["token"]
    assert reset.encode() in stranger.ask("GET", f"/console/reset?token={reset}").body
    new = {"token": reset, "password": "staple of a longer kind"}
    assert stranger.ask("POST", "/console/reset", form=new).status == 303
    assert stranger.ask("POST", "/console/reset", form=new).status == 401
    assert stranger.sign_in("ada", "staple of a longer kind").status == 200
    change = {"old": "staple of a longer kind", "new": "yet another of them", "csrf": stranger.csrf or ""}
    assert stranger.ask("GET", "/console/password").status == 200
    assert stranger.ask("POST", "/console/password", form={**change, "old": "wrong"}).status == 403
    assert stranger.ask("POST", "/console/password", form={**change, "new": "short"}).status == 422
    assert stranger.ask("POST", "/console/password", form=change).status == 303


def test_the_console_is_not_for_keys(desk: Desk) -> None:
    program = desk.with_key(Permission.ADMINISTER, Permission.READ)
    assert program.ask("GET", "/console").status == 403
