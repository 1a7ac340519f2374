"""What is refused stands in the audit log: who and what, how often, and never so often that it fills the log."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.server.access.desk import BEGIN, PASSWORD, Clock, Desk
from tests.store.making import KEYS

from assay.schema.access import Permission, Role
from assay.server.access.refusals import MANY, MOST_KEPT, MOST_NAMED, RefusalCounter
from assay.server.audit.refusals import write_refusals
from assay.store.access.api_keys import revoke_key
from assay.store.access.tenants import create_tenant
from assay.store.audit.verification.log import verify_log

ADDRESS = "192.0.2.7"


def told(desk: Desk, tenant: str = "default") -> list[dict[str, Any]]:
    """The refusals in the log of a tenant, after the minute is over."""
    refusals = desk.app.services.refusals
    assert refusals is not None
    write_refusals(desk.store, refusals.take())
    return [one for one in desk.entries(tenant) if one.get("act") == "refused"]


def test_wrong_passwords_are_one_entry_with_the_user_and_their_number_and_no_name_or_address(desk: Desk) -> None:
    ada = desk.user("ada@example.com")
    stranger = desk.client(address=ADDRESS)
    for _ in range(4):
        assert stranger.ask("POST", "/v1/login", {"name": "ada@example.com", "password": "wrong"}).status == 401
        desk.clock.wait(seconds=5)
    (entry,) = told(desk)
    assert (entry["code"], entry["subject"], entry["actor"], entry["count"]) == ("sign_in.refused", ada.id, "nobody", 4)
    assert (entry["first"], entry["at"]) == ("2026-03-01T12:00:00Z", "2026-03-01T12:00:15Z")
    assert ADDRESS not in str(entry)
    assert "ada" not in str(entry).replace(ada.id, "")
    assert told(desk) == [entry]


def test_a_name_that_is_locked_is_told_apart_from_one_that_is_wrong(desk: Desk) -> None:
    desk.user("ada")
    stranger = desk.client(address=ADDRESS)
    for _ in range(8):
        stranger.ask("POST", "/v1/login", {"name": "ada", "password": "wrong"})
    assert [(one["code"], one["count"]) for one in told(desk)] == [("sign_in.refused", 6), ("sign_in.locked", 2)]


def test_a_name_that_nobody_has_is_not_in_the_log(desk: Desk) -> None:
    desk.client().ask("POST", "/v1/login", {"name": "mallory the unknown", "password": "x", "tenant": "made-up"})
    (entry,) = told(desk)
    assert (entry["code"], entry["subject"]) == ("sign_in.refused", "none")
    assert "mallory" not in str(entry)
    assert "made-up" not in str(entry)


def test_a_right_that_is_missing_is_told_with_who_and_what(desk: Desk) -> None:
    vera = desk.signed_in("vera", Role.VIEWER)
    user = vera.ask("GET", "/v1/me").json["id"]
    assert vera.ask("GET", "/v1/users").status == 403
    assert vera.ask("POST", "/v1/reports/0123456789ab/erase", {}).status in (403, 404, 405, 422)
    entry = told(desk)[0]
    assert (entry["code"], entry["actor"], entry["subject"]) == ("permission.missing", user, "GET /v1/users")


def test_a_form_of_another_site_and_one_without_its_token_are_told(desk: Desk) -> None:
    ada = desk.signed_in("ada")
    assert ada.ask("POST", "/v1/logout", sec_fetch_site="cross-site").status == 403
    ada.csrf = None
    assert ada.ask("POST", "/v1/logout").status == 403
    assert [one["code"] for one in told(desk)] == ["request.foreign", "csrf.missing"]


def test_a_key_that_nobody_has_is_told_apart_from_one_that_has_ended_but_not_to_who_sends_it(desk: Desk) -> None:
    desk.user()
    create_tenant(desk.store, "acme")
    program = desk.with_key(Permission.READ, tenant="acme")
    assert program.ask("GET", "/v1/me").status == 200
    id_ = program.ask("GET", "/v1/me").json["id"]
    revoke_key(desk.store, id_, "acme", actor="command")
    ended = program.ask("GET", "/v1/me")
    unknown = desk.client(key="assay_000000000000_" + "A" * 43).ask("GET", "/v1/me")
    assert (ended.status, ended.body) == (unknown.status, unknown.body)
    assert [(one["code"], one["actor"]) for one in told(desk)] == [("key.unknown", "nobody")]
    assert [(one["code"], one["actor"]) for one in told(desk, "acme")] == [("key.ended", id_)]


def test_a_wrong_old_password_is_told_once(desk: Desk) -> None:
    ada = desk.signed_in("ada")
    body = {"old": "not the one", "new": "a long and new password"}
    assert ada.ask("POST", "/v1/me/password", body).status in (401, 403)
    assert [one["code"] for one in told(desk)] == ["password.refused"]


def test_who_comes_without_anything_and_whose_session_is_over_is_not_refused(desk: Desk) -> None:
    ada = desk.signed_in("ada")
    desk.clock.wait(hours=13)
    assert ada.ask("GET", "/v1/me").status == 401
    assert desk.client().ask("GET", "/v1/me").status == 401
    assert desk.client().ask("GET", "/console").status == 303
    assert told(desk) == []


def test_a_flood_from_anywhere_is_a_bounded_number_of_entries_that_add_up(desk: Desk) -> None:
    desk.user("ada")
    refusals = desk.app.services.refusals
    assert refusals is not None
    for number in range(1_000):
        refusals.note("key.unknown", address=f"192.0.2.{number}", tenant="")
    entries = told(desk)
    assert len(entries) == MOST_NAMED + 1
    assert sum(one["count"] for one in entries) == 1_000
    assert (entries[-1]["source"], entries[-1]["count"]) == (MANY, 1_000 - MOST_NAMED)


def test_the_log_with_refusals_in_it_verifies(desk: Desk) -> None:
    desk.user("ada")
    desk.client().ask("POST", "/v1/login", {"name": "ada", "password": PASSWORD + "!"})
    assert len(told(desk)) == 1
    with desk.store.reading("default") as connection:
        assert verify_log(connection, "default", KEYS.ring()).holds


def test_one_address_has_one_pseudonym_for_a_day_and_another_on_the_next() -> None:
    clock = Clock()
    refusals = RefusalCounter(clock)

    def source(address: str) -> str:
        refusals.note("key.unknown", address=address, tenant="")
        return refusals.take()[0].source

    first = source(ADDRESS)
    clock.wait(hours=11)
    assert source(ADDRESS) == first
    assert source("192.0.2.8") != first
    clock.wait(hours=2)
    assert source(ADDRESS) != first


NOTES = st.tuples(
    st.sampled_from(["key.unknown", "sign_in.refused", "rate.exceeded"]),
    st.integers(0, 60),
    st.integers(0, 200),
    st.integers(0, 9),
)


@given(st.lists(NOTES, max_size=400))
def test_whatever_comes_nothing_is_lost_and_memory_is_bounded(notes: list[tuple[str, int, int, int]]) -> None:
    clock = Clock()
    refusals = RefusalCounter(clock)
    for code, tenant, address, after in notes:
        clock.wait(seconds=after)
        refusals.note(code, address=str(address), tenant=f"t{tenant}")
    found = refusals.take()
    assert sum(one.count for one in found) == len(notes)
    assert all(BEGIN <= one.first <= one.last <= clock.now for one in found)
    for name in {one.tenant for one in found}:
        own = [one for one in found if one.tenant == name and one.source != MANY]
        assert len(own) <= MOST_NAMED
    assert refusals.take() == []


def test_names_of_tenants_that_strangers_make_up_take_no_more_memory_than_the_bound() -> None:
    refusals = RefusalCounter(lambda: BEGIN + timedelta(0))
    for number in range(3 * MOST_KEPT):
        refusals.note("sign_in.refused", address=ADDRESS, tenant=f"t{number}")
    found = refusals.take()
    assert len(found) <= MOST_KEPT + 1
    assert sum(one.count for one in found) == 3 * MOST_KEPT
