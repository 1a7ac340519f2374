"""Keys in the database: what they open, when they end, and that they end everywhere at once."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.server.access.desk import BEGIN, CHEAP, Clock, Desk, desk_over

from assay.errors import StoreError
from assay.schema.access import Permission
from assay.server.access.authentication import StoreAccess
from assay.server.access.key_file import KeyFile
from assay.server.settings import ServerSettings
from assay.store.access.api_keys import create_key, find_key, get_key, list_keys, note_uses, revoke_key, rotate_key
from assay.store.db.store import Store

CHECK = {"answer": "Partners get 2 weeks.", "evidence": ["Partners get 2 weeks of leave."]}


def test_a_key_opens_what_its_permissions_name(desk: Desk) -> None:
    reader, keeper = desk.with_key(Permission.READ), desk.with_key(Permission.ADMINISTER)
    assert reader.ask("GET", "/v1/me").json["permissions"] == ["read"]
    assert reader.ask("GET", "/v1/users").status == 403
    assert keeper.ask("GET", "/v1/users").status == 200
    answer = reader.ask("POST", "/v1/chat/completions", {"model": "x", "messages": []})
    assert answer.status == 403
    assert "error" in answer.json


@pytest.mark.parametrize("key", ["assay_", "assay__", "assay_x_y", "assay_\x00_y", "assay_" + "f" * 5_000, "assay_é_ü"])
def test_what_is_no_key_of_ours_opens_nothing(desk: Desk, key: str) -> None:
    desk.with_key(Permission.READ)
    assert desk.client(key=key).ask("GET", "/v1/me").status == 401


def test_half_of_a_key_opens_nothing(desk: Desk) -> None:
    key, kept = create_key(desk.store, "crm", [Permission.READ])
    other, _ = create_key(desk.store, "erp", [Permission.READ])
    secret = other.split("_", 2)[2]
    for guess in (key[:-1], f"{key}x", f"assay_{kept.id}_{secret}", f"assay_{kept.id}_", f"assay_{kept.id}"):
        assert find_key(desk.store, guess) is None
    assert find_key(desk.store, key) is not None


def test_a_key_ends_when_it_was_made_to(desk: Desk) -> None:
    key, _ = create_key(desk.store, "crm", [Permission.READ], lasts=timedelta(days=1))
    program = desk.client(key=key)
    assert program.ask("GET", "/v1/me").status == 200
    desk.clock.wait(days=1)
    assert program.ask("GET", "/v1/me").status == 401


def test_a_rotated_key_goes_on_for_a_while_and_the_new_one_for_good(desk: Desk) -> None:
    ada = desk.signed_in()
    made = ada.ask("POST", "/v1/keys", {"name": "crm", "permissions": ["read"], "days": 30}).json
    new = ada.ask("POST", f"/v1/keys/{made['kept']['id']}/rotate", {"hours": 2}).json
    old_one, new_one = desk.client(key=made["key"]), desk.client(key=new["key"])
    assert [one.ask("GET", "/v1/me").status for one in (old_one, new_one)] == [200, 200]
    assert new["kept"]["permissions"] == ["read"]
    desk.clock.wait(hours=3)
    ada.sign_in("ada")
    assert [one.ask("GET", "/v1/me").status for one in (old_one, new_one)] == [401, 200]
    assert ada.ask("POST", f"/v1/keys/{made['kept']['id']}/rotate", {}).status == 409
    desk.clock.wait(days=30)
    assert new_one.ask("GET", "/v1/me").status == 401


def test_a_rotation_never_makes_a_key_last_longer(desk: Desk) -> None:
    key, kept = create_key(desk.store, "crm", [Permission.READ], lasts=timedelta(hours=1))
    rotate_key(desk.store, kept.id, "default", actor="command", overlap=timedelta(days=9))
    found = get_key(desk.store, kept.id, "default")
    assert found is not None
    assert found.expires == BEGIN + timedelta(hours=1)
    assert find_key(desk.store, key) is not None


def test_a_key_that_was_revoked_is_refused_at_once_by_every_process(desk: Desk, database: Path) -> None:
    key, kept = create_key(desk.store, "crm", [Permission.READ])
    with Store(str(database), clock=Clock()) as other:
        elsewhere = StoreAccess(other, ServerSettings(), CHEAP)
        assert elsewhere._find_in_store(key) is not None
        assert desk.client(key=key).ask("GET", "/v1/me").status == 200
        assert revoke_key(other, kept.id, "default", actor="command")
        assert desk.client(key=key).ask("GET", "/v1/me").status == 401
        assert elsewhere._find_in_store(key) is None
    assert revoke_key(desk.store, kept.id, "default", actor="command")
    assert desk.acts().count("key.revoke") == 1


def test_it_is_noted_now_and_then_when_a_key_was_used(desk: Desk) -> None:
    key, kept = create_key(desk.store, "crm", [Permission.READ])
    program = desk.client(key=key)

    def used() -> list[object]:
        # Handed in before this change, so it is stored before it.
        create_key(desk.store, "later", [Permission.READ])
        found = get_key(desk.store, kept.id, "default")
        assert found is not None
        return [found.used]

    program.ask("GET", "/v1/me")
    assert used() == [BEGIN]
    desk.clock.wait(minutes=1)
    program.ask("GET", "/v1/me")
    assert used() == [BEGIN]
    desk.clock.wait(minutes=5)
    program.ask("GET", "/v1/me")
    assert used() == [BEGIN + timedelta(minutes=6)]
    note_uses(desk.store, {("elsewhere", kept.id): desk.clock.now})
    assert used() == [BEGIN + timedelta(minutes=6)]


def test_the_file_of_keys_goes_on_beside_those_of_the_database(database: Path, tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys.json")
    old = file.create("old", ("check",))
    with desk_over(database, keys=file.path) as desk:
        assert desk.client().ask("GET", "/v1/me").status == 401
        told = desk.client(key=old).ask("GET", "/v1/me").json
        assert (told["name"], told["permissions"]) == ("old", ["check", "feedback", "read"])
        assert desk.with_key(Permission.READ).ask("GET", "/v1/me").status == 200
        file.revoke(old.split("_")[1])
        assert desk.client(key=old).ask("GET", "/v1/me").status == 401


def test_keys_of_one_tenant_are_none_of_another(desk: Desk) -> None:
    acme, globex = desk.signed_in("ada", tenant="acme"), desk.signed_in("ben", tenant="globex")
    kept = acme.ask("POST", "/v1/keys", {"name": "crm", "permissions": ["read"]}).json["kept"]
    assert globex.ask("GET", "/v1/keys").json["items"] == []
    assert globex.ask("GET", f"/v1/keys/{kept['id']}").status == 404
    assert globex.ask("DELETE", f"/v1/keys/{kept['id']}").status == 404
    assert globex.ask("POST", f"/v1/keys/{kept['id']}/rotate", {}).status == 404
    assert [key.id for key in list_keys(desk.store, "acme")] == [kept["id"]]


def test_nobody_gives_what_it_does_not_have(desk: Desk) -> None:
    keeper = desk.with_key(Permission.ADMINISTER, Permission.READ)
    assert keeper.ask("POST", "/v1/keys", {"name": "x", "permissions": ["read"]}).status == 201
    answer = keeper.ask("POST", "/v1/keys", {"name": "x", "permissions": ["read", "review"]})
    assert (answer.status, answer.code) == (403, "permission.missing")
    assert keeper.ask("POST", "/v1/users", {"name": "eve", "roles": ["admin"]}).status == 403
    ada = desk.user("ada")
    assert keeper.ask("POST", f"/v1/users/{ada.id}/reset").status == 403
    body = {"roles": ["auditor"]}
    assert keeper.ask("PATCH", f"/v1/users/{ada.id}", body, if_match='"1"').status == 403


@pytest.mark.parametrize(
    ("name", "permissions", "days"),
    [(" ", (Permission.READ,), 1), ("x" * 300, (Permission.READ,), 1), ("x", (), 1), ("x", (Permission.READ,), 0)],
)
def test_a_key_that_makes_no_sense_is_not_stored(
    desk: Desk, name: str, permissions: tuple[Permission, ...], days: int
) -> None:
    with pytest.raises(StoreError):
        create_key(desk.store, name, permissions, lasts=timedelta(days=days))
    assert list_keys(desk.store, "default") == []


def test_a_database_that_fails_lets_nobody_in(desk: Desk) -> None:
    key, _ = create_key(desk.store, "crm", [Permission.READ])
    program = desk.client(key=key)
    desk.access._may_serve_local = True
    desk.app._access = replace_store(desk)
    assert program.ask("GET", "/v1/me").status == 503
    assert desk.client().ask("GET", "/v1/me").status == 503


def replace_store(desk: Desk) -> StoreAccess:
    class Broken(Store):
        def reading(self, tenant: str) -> object:  # type: ignore[override]
            raise StoreError("the database cannot be read")

    broken = object.__new__(Broken)
    broken.engine = desk.store.engine
    return StoreAccess(broken, replace(ServerSettings(), database="x"), CHEAP)


def test_bad_keys_of_an_address_lock_out_no_good_key_and_no_session_of_it(desk: Desk) -> None:
    address = "203.0.113.7"
    good = desk.with_key(Permission.READ)
    good.address = address
    person = desk.signed_in()
    person.address = address
    stranger = desk.client(key="assay_" + "f" * 16 + "_" + "0" * 43, address=address)
    answers = [stranger.ask("GET", "/v1/me").status for _ in range(200)]
    assert answers[0] == 401
    assert answers[-1] == 429
    assert good.ask("GET", "/v1/me").status == 200
    assert person.ask("GET", "/v1/me").status == 200
