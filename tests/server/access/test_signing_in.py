"""Signing in and out: what the answer gives away, how long a session lasts, what ends it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.server.access.desk import CHEAP, OTHER, PASSWORD, Desk, desk_over

from assay.cli.operations.serve import _announce_setup
from assay.errors import BusyError, InputError
from assay.schema.access import Permission, Role
from assay.server.access.passwords import MOST_WAITING, Passwords, checked_password
from assay.server.access.settings import AccessSettings
from assay.server.access.sign_in import setup_token
from assay.server.settings import ServerSettings
from assay.store.access.api_keys import create_key
from assay.store.access.sessions import RESET, make_token
from assay.store.access.users import change_user


def test_a_person_signs_in_and_is_known_by_the_roles_of_now(desk: Desk) -> None:
    user = desk.user("Ada@Example.com", Role.REVIEWER)
    ada = desk.client()
    answer = ada.sign_in(" ada@example.COM ")
    assert answer.status == 200
    assert answer.json["roles"] == ["reviewer"]
    assert ada.ask("GET", "/v1/me").json["permissions"] == ["check", "feedback", "read", "review"]
    change_user(desk.store, user.id, "default", actor="command", roles=[Role.VIEWER])
    assert ada.ask("GET", "/v1/me").json["permissions"] == ["check", "feedback", "read"]


def test_the_cookie_is_for_the_server_alone(desk: Desk) -> None:
    desk.user()
    plain = desk.client().sign_in("ada").header("set-cookie")
    safe = desk.client(scheme="https").sign_in("ada").header("set-cookie")
    assert plain is not None
    assert safe is not None
    assert plain.startswith("assay_session=")
    assert plain.endswith("; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax")
    assert safe.startswith("__Host-assay_session=")
    assert safe.endswith("; HttpOnly; SameSite=Lax; Secure")


def test_nobody_learns_why_signing_in_failed(desk: Desk) -> None:
    desk.user("ada")
    desk.user("none-yet", password=None)
    out = desk.user("out", Role.VIEWER)
    change_user(desk.store, out.id, "default", actor="command", disabled=True)
    cases = [
        ("ada", "wrong password!", "default"),
        ("nobody", PASSWORD, "default"),
        ("ada", PASSWORD, "elsewhere"),
        ("none-yet", PASSWORD, "default"),
        ("out", PASSWORD, "default"),
        ("", "", "default"),
        ("\x00", "x", "\x00"),
        ("ada", PASSWORD * 100, "default"),
        ("\u202e", "x", "*"),
        ("ada", "", "default"),
    ]
    answers = {
        (answer.status, answer.body, tuple(one for one in answer.headers if one[0] != "x-assay-request-id"))
        for name, password, tenant in cases
        for answer in [desk.client().ask("POST", "/v1/login", {"name": name, "password": password, "tenant": tenant})]
    }
    assert [status for status, _, _ in answers] == [401]


class Counting(Passwords):
    def __init__(self) -> None:
        super().__init__(passes=1, memory_kib=8)
        self.compared: list[bool] = []

    def matches(self, password: str, stored: str | None) -> bool:
        self.compared.append(stored is not None)
        return super().matches(password, stored)


def test_a_name_that_is_unknown_costs_the_same_work(database: Path) -> None:
    counting = Counting()
    with desk_over(database, passwords=counting) as desk:
        desk.user("ada")
        writes = []
        submit = desk.store.submit

        def noted(change: object) -> object:
            writes.append(change)
            return submit(change)  # type: ignore[arg-type]

        desk.store.submit = noted  # type: ignore[method-assign,assignment]
        costs = []
        for name, tenant in (("ada", "default"), ("nobody", "default"), ("ada", "elsewhere"), ("\x00", "A B")):
            counting.compared.clear()
            writes.clear()
            desk.client().ask("POST", "/v1/login", {"name": name, "password": "wrong", "tenant": tenant})
            costs.append((len(counting.compared), len(writes)))
        assert costs == [(1, 1)] * 4


def test_after_too_many_tries_even_the_right_password_has_to_wait(desk: Desk) -> None:
    desk.user("ada")
    for _ in range(5):
        assert desk.client().sign_in("ada", "wrong").status == 401
    assert desk.client().sign_in("ada").status == 200
    for _ in range(7):
        desk.client().sign_in("ada", "wrong")
    assert desk.client().sign_in("ada").status == 401
    desk.clock.wait(seconds=1)
    desk.client().sign_in("ada", "wrong")
    desk.clock.wait(seconds=1.5)
    assert desk.client().sign_in("ada").status == 401
    desk.clock.wait(seconds=1)
    assert desk.client().sign_in("ada").status == 200


def test_tries_while_waiting_do_not_make_the_wait_longer(database: Path) -> None:
    with desk_over(database, access=AccessSettings(sign_in_burst=1_000)) as desk:
        desk.user("ada")
        for _ in range(6):
            desk.client().sign_in("ada", "wrong")
        for _ in range(30):
            desk.client().sign_in("ada", "wrong")
        desk.clock.wait(seconds=1.1)
        assert desk.client().sign_in("ada").status == 200


def test_an_address_may_not_try_without_end(database: Path) -> None:
    with desk_over(database, access=AccessSettings(sign_in_burst=3, sign_in_rate=0.001)) as desk:
        desk.user("ada")
        statuses = [desk.client().sign_in(f"guess{number}").status for number in range(4)]
        answer = desk.client().ask("POST", "/v1/login", {"name": "ada", "password": PASSWORD})
        assert (statuses, answer.status) == ([401, 401, 401, 429], 429)
        assert int(answer.header("retry-after") or 0) > 60
        assert desk.client(address="10.1.2.3").sign_in("ada").status == 200


# Sessions


def test_each_session_has_a_secret_that_was_never_seen_before_and_the_old_one_ends(desk: Desk) -> None:
    desk.user()
    browser = desk.client(cookies={"assay_session": "chosen-by-an-attacker"})
    browser.sign_in("ada")
    first = browser.cookies["assay_session"]
    assert first != "chosen-by-an-attacker"
    browser.sign_in("ada")
    assert browser.cookies["assay_session"] != first
    assert desk.client(cookies={"assay_session": first}).ask("GET", "/v1/me").status == 401
    assert browser.ask("GET", "/v1/me").status == 200


def test_signing_out_ends_the_session_everywhere(desk: Desk) -> None:
    browser = desk.signed_in()
    copied = dict(browser.cookies)
    assert browser.ask("POST", "/v1/logout").status == 204
    assert browser.cookies == {}
    assert desk.client(cookies=copied).ask("GET", "/v1/me").status == 401


@pytest.mark.parametrize(("minutes", "status"), [(59, 200), (62, 401)])
def test_a_session_that_is_not_used_ends(desk: Desk, minutes: int, status: int) -> None:
    browser = desk.signed_in()
    desk.clock.wait(minutes=minutes)
    assert browser.ask("GET", "/v1/me").status == status


def test_a_session_ends_in_any_case(desk: Desk) -> None:
    browser = desk.signed_in()
    for _ in range(14):
        desk.clock.wait(minutes=50)
        assert browser.ask("GET", "/v1/me").status == 200
        desk.settle()  # that it was used is noted in passing
    desk.clock.wait(minutes=50)
    assert browser.ask("GET", "/v1/me").status == 401


def _disable(desk: Desk, id_: str) -> None:
    change_user(desk.store, id_, "default", actor="command", disabled=True)


def _reset(desk: Desk, id_: str) -> None:
    token = make_token(desk.store, RESET, desk.clock.now - desk.clock.now.replace(hour=11), user=id_)[0]
    assert desk.client().ask("POST", "/v1/reset", {"token": token, "password": OTHER}).status == 204


def _end(desk: Desk, id_: str) -> None:
    admin = desk.client()
    admin.sign_in("ada")
    for session in admin.ask("GET", "/v1/sessions?everyone=true").json["items"]:
        if session["user"] == id_:
            assert admin.ask("DELETE", f"/v1/sessions/{session['id']}").status == 204


def _forget(desk: Desk, id_: str) -> None:
    admin = desk.client()
    admin.sign_in("ada")
    assert admin.ask("DELETE", f"/v1/users/{id_}").status == 204


@pytest.mark.parametrize("act", [_disable, _reset, _end, _forget])
def test_a_session_ends_at_once_when(desk: Desk, act: Callable[[Desk, str], None]) -> None:
    desk.user("ada")
    browser = desk.signed_in("ben", Role.VIEWER)
    id_ = browser.ask("GET", "/v1/me").json["id"]
    act(desk, id_)
    assert browser.ask("GET", "/v1/me").status == 401


# Passwords


def test_a_changed_password_ends_the_other_sessions_only(desk: Desk) -> None:
    here, there = desk.signed_in(), desk.client()
    there.sign_in("ada")
    assert here.ask("POST", "/v1/me/password", {"old": "wrong", "new": OTHER}).status == 403
    assert here.ask("POST", "/v1/me/password", {"old": PASSWORD, "new": "short"}).status == 422
    assert here.ask("POST", "/v1/me/password", {"old": PASSWORD, "new": OTHER}).status == 204
    assert (here.ask("GET", "/v1/me").status, there.ask("GET", "/v1/me").status) == (200, 401)
    assert desk.client().sign_in("ada").status == 401
    assert desk.client().sign_in("ada", OTHER).status == 200


def test_a_token_sets_a_password_once_and_not_for_ever(desk: Desk) -> None:
    admin = desk.signed_in()
    ben = admin.ask("POST", "/v1/users", {"name": "ben", "roles": ["viewer"]}).json["id"]
    first = admin.ask("POST", f"/v1/users/{ben}/reset").json["token"]
    token = admin.ask("POST", f"/v1/users/{ben}/reset").json["token"]
    stranger = desk.client()

    def reset(text: str, password: str = PASSWORD) -> int:
        return stranger.ask("POST", "/v1/reset", {"token": text, "password": password}).status

    assert reset(first) == 401
    assert reset(token, "short") == 422
    assert reset(token) == 204
    assert reset(token, OTHER) == 401
    assert stranger.sign_in("ben").status == 200
    late = admin.ask("POST", f"/v1/users/{ben}/reset").json["token"]
    desk.clock.wait(hours=25)
    assert reset(late) == 401


def test_the_first_administrator_is_made_once_with_the_token_of_the_start(desk: Desk) -> None:
    assert desk.client().ask("GET", "/v1/me").json["kind"] == "local"
    token = setup_token(desk.store, AccessSettings())
    assert token is not None
    body = {"token": token, "name": "ada", "password": PASSWORD}
    assert desk.client().ask("POST", "/v1/setup", {**body, "token": "guess"}).status == 401
    create_key(desk.store, "crm", [Permission.READ])
    assert desk.client().ask("POST", "/v1/setup", {**body, "name": "crm"}).status == 409
    assert desk.client().ask("POST", "/v1/setup", body).status == 204
    assert desk.client().ask("POST", "/v1/setup", {**body, "name": "eve"}).status == 401
    assert desk.client().ask("GET", "/v1/me").status == 401
    ada = desk.client()
    assert ada.sign_in("ada").json["roles"] == ["admin"]
    assert setup_token(desk.store, AccessSettings()) is None


def test_a_set_up_token_is_worth_nothing_once_there_is_somebody(desk: Desk) -> None:
    token = setup_token(desk.store, AccessSettings())
    desk.user("ben", Role.VIEWER)
    body = {"token": token, "name": "eve", "password": PASSWORD}
    assert desk.client().ask("POST", "/v1/setup", body).status == 401


@pytest.mark.parametrize(
    ("password", "name"),
    [("short", ""), ("a" * 30, ""), ("my-ada-password", "Ada@example.com"), ("x" * 1_001, ""), ("ababababababab", "")],
)
def test_a_password_that_is_guessed_at_once_is_refused(password: str, name: str) -> None:
    with pytest.raises(InputError):
        checked_password(password, name)


def test_the_same_letters_are_the_same_password_however_they_were_typed() -> None:
    stored = CHEAP.hash("caf\u00e9 caf\u00e9 au lait")
    assert CHEAP.matches("cafe\u0301 cafe\u0301 au lait", stored)
    assert not CHEAP.matches("cafe cafe au lait", stored)
    assert CHEAP.hash("x") != CHEAP.hash("x")


def test_older_hashes_are_made_anew_as_people_sign_in(database: Path) -> None:
    newer = Passwords(passes=2, memory_kib=16)
    with desk_over(database, passwords=newer) as desk:
        desk.user("ada")
        from assay.store.access.users import find_user

        before = find_user(desk.store, "ada", "default")
        assert desk.client().sign_in("ada").status == 200
        after = find_user(desk.store, "ada", "default")
        assert before is not None
        assert after is not None
        assert newer.needs_rehash(before.password or "")
        assert not newer.needs_rehash(after.password or "")
        assert desk.client().sign_in("ada").status == 200


def test_those_who_sign_in_at_once_are_bounded() -> None:
    passwords = Passwords(passes=1, memory_kib=8)
    passwords._waiting = MOST_WAITING
    with pytest.raises(BusyError):
        passwords.hash("x")


def test_what_is_stored_gives_no_secret_away(desk: Desk, tmp_path: Path) -> None:
    browser = desk.signed_in()
    made = browser.ask("POST", "/v1/keys", {"name": "crm", "permissions": ["check"]}).json
    ben = browser.ask("POST", "/v1/users", {"name": "ben", "roles": ["viewer"]}).json["id"]
    token = browser.ask("POST", f"/v1/users/{ben}/reset").json["token"]
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    secrets = [PASSWORD, browser.cookies["assay_session"], browser.csrf, made["key"].split("_", 2)[2], token]
    assert [secret for secret in secrets if str(secret).encode() in kept] == []
    assert browser.cookies["assay_session"] not in repr(desk.app.services)


@pytest.mark.parametrize(("host", "said"), [("127.0.0.1", "/console/setup?token="), ("0.0.0.0", "assay users create")])  # noqa: S104
def test_the_command_says_how_the_first_administrator_is_made(
    database: Path, host: str, said: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    told = ServerSettings(host=host, database=str(database))
    _announce_setup(told)
    first = capsys.readouterr().err
    assert said in first
    assert "token=" not in caplog.text
    with desk_over(database) as desk:
        if "token=" in first:
            body = {"token": first.strip().rpartition("=")[2], "name": "ada", "password": PASSWORD}
            assert desk.client().ask("POST", "/v1/setup", body).status == 204
        else:
            desk.user()
    _announce_setup(told)
    assert capsys.readouterr().err == ""


def test_another_address_than_loopback_needs_keys_or_a_database(database: Path) -> None:
    with desk_over(database, host="0.0.0.0") as desk:  # noqa: S104
        assert desk.client().ask("GET", "/v1/me").status == 401
        assert desk.client().ask("GET", "/console").status == 303
        assert desk.signed_in().ask("GET", "/v1/me").status == 200
