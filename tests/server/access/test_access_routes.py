"""Users, keys and sessions over REST: who may, what changes, what the log tells."""

from typing import Any

import pytest
from tests.server.access.desk import PASSWORD, Client, Desk

from assay.receipt.canonical_json import canonical
from assay.schema.access import Permission, Role
from assay.store.audit.verification.log import verify_log

ROUTES = [
    ("GET", "/v1/users"),
    ("POST", "/v1/users"),
    ("GET", "/v1/users/{user}"),
    ("PATCH", "/v1/users/{user}"),
    ("DELETE", "/v1/users/{user}"),
    ("POST", "/v1/users/{user}/reset"),
    ("GET", "/v1/keys"),
    ("POST", "/v1/keys"),
    ("GET", "/v1/keys/{key}"),
    ("DELETE", "/v1/keys/{key}"),
    ("POST", "/v1/keys/{key}/rotate"),
    ("GET", "/v1/sessions?everyone=true"),
]


def made(client: Client, name: str = "ben", *roles: str, **more: Any) -> dict[str, Any]:
    answer = client.ask("POST", "/v1/users", {"name": name, "roles": list(roles) or ["viewer"], **more})
    assert answer.status == 201, answer.body
    return dict(answer.json)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.AUDITOR])
def test_only_administrators_keep_users_and_keys(desk: Desk, role: Role) -> None:
    admin, other = desk.signed_in("ada"), desk.signed_in("ben", role)
    user = made(admin, "eve")["id"]
    key = admin.ask("POST", "/v1/keys", {"name": "x", "permissions": ["read"]}).json["kept"]["id"]
    before = desk.acts()
    bodies = {"/v1/users": {"name": "x", "roles": ["admin"]}, "/v1/keys": {"name": "x", "permissions": ["read"]}}
    for method, path in ROUTES:
        body = bodies.get(path, {}) if method in ("POST", "PATCH") else None
        answer = other.ask(method, path.format(user=user, key=key), body, if_match='"1"')
        assert (answer.status, answer.code) == (403, "permission.missing"), (method, path)
    assert desk.acts() == before


def test_a_user_is_made_read_changed_and_forgotten(desk: Desk) -> None:
    ada = desk.signed_in()
    ben = made(ada, "Ben@Example.com", "reviewer", expertise=["Legal", "tax"], password=PASSWORD)
    assert (ben["name"], ben["roles"], ben["expertise"], ben["version"]) == (
        "ben@example.com",
        ["reviewer"],
        ["legal", "tax"],
        1,
    )
    path = f"/v1/users/{ben['id']}"
    answer = ada.ask("GET", path)
    assert (answer.json, answer.header("etag")) == (ben, '"1"')
    changed = ada.ask("PATCH", path, {"roles": ["viewer", "auditor"]}, if_match='"1"')
    assert (changed.json["roles"], changed.header("etag")) == (["auditor", "viewer"], '"2"')
    assert ada.ask("PATCH", path, {"disabled": True}, if_match='"1"').status == 412
    assert ada.ask("PATCH", path, {"disabled": True}).status == 428
    assert ada.ask("PATCH", path, {"disabled": True}, if_match='"2"').json["disabled"] is not None
    assert ada.ask("DELETE", path).status == 204
    assert ada.ask("DELETE", path).status == 404
    assert ada.ask("GET", path).json["name"] is None
    assert [user["name"] for user in ada.ask("GET", "/v1/users").json["items"]] == ["ada"]
    assert ada.ask("PATCH", path, {"disabled": False}, if_match='"4"').status == 409
    assert made(ada, "ben@example.com")["id"] != ben["id"]


def test_a_name_is_taken_once_in_a_tenant_and_free_in_another(desk: Desk) -> None:
    ada = desk.signed_in()
    made(ada, "ben")
    answer = ada.ask("POST", "/v1/users", {"name": "BEN ", "roles": ["viewer"]})
    assert (answer.status, answer.code) == (409, "name.taken")
    other = desk.signed_in("ada", tenant="acme")
    made(other, "ben")


@pytest.mark.parametrize(
    "body",
    [
        {"name": " ", "roles": ["viewer"]},
        {"name": "a\u202eb", "roles": ["viewer"]},
        {"name": "a\x00", "roles": ["admin"]},
        {"name": "x", "roles": []},
        {"name": "x", "roles": ["owner"]},
        {"name": "x" * 201, "roles": ["viewer"]},
        {"name": "x", "roles": ["viewer"], "expertise": ["two words"]},
        {"name": "x", "roles": ["viewer"], "id": "1"},
        {"name": "xyz", "roles": ["viewer"], "password": "short"},
    ],
)
def test_a_user_that_makes_no_sense_is_refused(desk: Desk, body: dict[str, Any]) -> None:
    assert desk.signed_in().ask("POST", "/v1/users", body).status == 422


def test_the_last_administrator_cannot_go(desk: Desk) -> None:
    ada = desk.signed_in()
    me = ada.ask("GET", "/v1/me").json["id"]
    for change in ({"disabled": True}, {"roles": ["viewer"]}):
        answer = ada.ask("PATCH", f"/v1/users/{me}", change, if_match='"1"')
        assert (answer.status, answer.code) == (409, "state.changed")
    assert ada.ask("DELETE", f"/v1/users/{me}").status == 409
    made(ada, "ben", "admin")
    assert ada.ask("PATCH", f"/v1/users/{me}", {"roles": ["viewer"]}, if_match='"1"').status == 200
    assert ada.ask("GET", "/v1/users").status == 403


def test_lists_come_in_pages(desk: Desk) -> None:
    ada = desk.signed_in()
    names = {made(ada, f"user{number}")["name"] for number in range(7)} | {"ada"}
    found, cursor, pages = set(), None, 0
    while pages == 0 or cursor:
        page = ada.ask("GET", f"/v1/users?limit=3{f'&cursor={cursor}' if cursor else ''}").json
        found |= {user["name"] for user in page["items"]}
        cursor, pages = page["next"], pages + 1
    assert (found, pages) == (names, 3)
    for query in ("limit=0", "limit=201", "limit=x", "cursor=%27%20OR%201", "cursor=%00"):
        assert ada.ask("GET", f"/v1/users?{query}").status == 422


@pytest.mark.parametrize("id_", ["nobody", "0" * 32, "%00", "..%2f", "'%20OR%201=1--", "9" * 64, "\u00e9"])
def test_an_id_that_is_none_is_not_found(desk: Desk, id_: str) -> None:
    ada = desk.signed_in()
    for path in ("/v1/users/{}", "/v1/keys/{}"):
        assert ada.ask("GET", path.format(id_.encode().decode("latin-1"))).status == 404


def test_people_see_and_end_their_own_sessions_and_no_others(desk: Desk) -> None:
    ada, ben = desk.signed_in("ada"), desk.signed_in("ben", Role.VIEWER)
    mine = ben.ask("GET", "/v1/sessions").json["items"]
    assert [one["current"] for one in mine] == [True]
    everyone = ada.ask("GET", "/v1/sessions?everyone=true").json["items"]
    hers = next(one["id"] for one in everyone if one["current"])
    assert len(everyone) == 2
    assert ben.ask("DELETE", f"/v1/sessions/{hers}").status == 404
    assert ben.ask("DELETE", f"/v1/sessions/{mine[0]['id']}").status == 204
    assert ben.ask("GET", "/v1/me").status == 401
    assert desk.with_key(Permission.READ).ask("GET", "/v1/sessions").json["items"] == []


def test_the_log_tells_of_every_act_and_of_nobody_by_name(desk: Desk) -> None:
    ada = desk.signed_in("ada.lovelace")
    ben = made(ada, "ben.jonson", "reviewer", password=PASSWORD, expertise=["poetry"])["id"]
    path = f"/v1/users/{ben}"
    token = ada.ask("POST", f"{path}/reset").json["token"]
    desk.client().ask("POST", "/v1/reset", {"token": token, "password": "staple of a longer kind"})
    ada.ask("PATCH", path, {"roles": ["viewer"]}, if_match='"2"')
    ada.ask("PATCH", path, {"disabled": True}, if_match='"3"')
    assert ada.ask("POST", "/v1/keys", {"name": "ben.jonson", "permissions": ["read"]}).status == 409
    key = ada.ask("POST", "/v1/keys", {"name": "the-crm", "permissions": ["read"]}).json["kept"]["id"]
    new = ada.ask("POST", f"/v1/keys/{key}/rotate", {}).json["kept"]["id"]
    ada.ask("DELETE", f"/v1/keys/{key}")
    ada.ask("DELETE", path)
    ada.ask("POST", "/v1/me/password", {"old": PASSWORD, "new": "staple of a longer kind"})
    ada.ask("POST", "/v1/logout")
    assert desk.acts() == [
        "user.create",
        "session.open",
        "user.create",
        "token.reset",
        "user.reset",
        "user.change",
        "user.change",
        "key.create",
        "key.rotate",
        "key.revoke",
        "user.forget",
        "user.password",
        "session.end",
    ]
    entries = desk.entries()
    acts = [one for one in entries if one["kind"] == "access"]
    me = acts[0]["subject"]
    assert {one["actor"] for one in acts[2:]} == {me, ben}
    assert acts[8]["replaces"] == key
    assert acts[8]["subject"] == new
    assert {one["kind"] for one in entries} == {"access", "rows"}  # what was done to the tables is bound too
    told = canonical(entries).decode()
    for secret in ("lovelace", "jonson", "the-crm", PASSWORD, token, "poetry", str(ada.csrf)):
        assert secret not in told
    with desk.store.reading("default") as connection:
        from tests.store.making import RING

        assert verify_log(connection, "default", RING).size == len(entries)


def test_what_did_not_happen_is_in_no_log(desk: Desk) -> None:
    ada = desk.signed_in()
    before = desk.acts()
    me = ada.ask("GET", "/v1/me").json["id"]
    ada.ask("POST", "/v1/users", {"name": "ada", "roles": ["viewer"]})
    ada.ask("DELETE", f"/v1/users/{me}")
    ada.ask("PATCH", f"/v1/users/{me}", {"roles": ["viewer"]}, if_match='"1"')
    ada.ask("DELETE", f"/v1/keys/{'0' * 24}")
    assert desk.acts() == before


def test_who_has_no_password_does_not_change_one(desk: Desk) -> None:
    answer = desk.client().ask("POST", "/v1/me/password", {"old": "x", "new": PASSWORD})
    assert (answer.status, answer.code) == (403, "user.needed")
