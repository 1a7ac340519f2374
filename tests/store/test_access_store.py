"""Users, sessions, keys and tokens as they are kept, on both databases, with several who act at once."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from tests.store.making import DAY
from tests.store.reviewing import Clock

from assay.errors import StoreError
from assay.schema.access import Permission, Role
from assay.store.access.api_keys import create_key, find_key, get_key, list_keys, note_uses, revoke_key, rotate_key
from assay.store.access.sessions import (
    RESET,
    SETUP,
    end_session,
    find_session,
    list_sessions,
    make_token,
    note_seen,
    open_session,
    reset_with_token,
    setup_with_token,
)
from assay.store.access.tenants import create_tenant, list_tenants
from assay.store.access.users import (
    FORGOTTEN_AFTER,
    change_user,
    create_user,
    find_user,
    forget_user,
    get_user,
    has_people,
    list_users,
    note_failure,
    set_password,
    tries_key,
    wait_after,
    waits_until,
)
from assay.store.access.values import MalformedError, StaleError, TakenError, User, digest_of, joined_words, login_name
from assay.store.audit.log import Entry
from assay.store.db.store import Store
from assay.store.db.writer import Change

TOGETHER = 6
HOUR = timedelta(hours=1)
NOBODY = "f" * 32


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(url: str, clock: Clock) -> Any:
    with Store(url, clock=clock) as made:
        yield made


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """What several get who do it at once; errors are results too."""

    def one(number: int) -> Any:
        try:
            return work(number)
        except (TakenError, StaleError) as error:
            return error

    with ThreadPoolExecutor(TOGETHER) as pool:
        return list(pool.map(one, range(TOGETHER)))


def test_a_user_is_kept_found_changed_and_forgotten(store: Store) -> None:
    assert not has_people(store)
    ada = create_user(store, "Ada", [Role.ADMIN], tenant="acme", password="h", expertise=["Legal"])  # noqa: S106
    assert has_people(store)
    assert find_user(store, " aDA ", "acme") == ada == get_user(store, ada.id, "acme")
    assert find_user(store, "ada", "globex") is None
    assert get_user(store, ada.id, "globex") is None
    assert change_user(store, ada.id, "globex", actor="x", disabled=True) is None
    assert not forget_user(store, ada.id, "globex", actor="x")
    with pytest.raises(StaleError, match="another administrator"):
        forget_user(store, ada.id, "acme", actor="x")
    ben = create_user(store, "ben", [Role.ADMIN], tenant="acme")
    with pytest.raises(StaleError, match="version"):
        change_user(store, ben.id, "acme", actor="x", version=7, disabled=True)
    assert forget_user(store, ben.id, "acme", actor="x")
    assert [user.id for user in list_users(store, "acme")] == [ada.id]
    kept = get_user(store, ben.id, "acme")
    assert kept is not None
    assert (kept.name, kept.password, kept.permissions) == (None, None, frozenset())
    assert [tenant.name for tenant in list_tenants(store)] == ["acme"]


def test_tenants_have_names_of_their_own(store: Store) -> None:
    create_tenant(store, "acme", "Acme Ltd")
    with pytest.raises(TakenError):
        create_tenant(store, "acme")
    assert [(one.name, one.title) for one in list_tenants(store)] == [("acme", "Acme Ltd")]


def test_of_many_first_users_at_once_one_is_made(store: Store) -> None:
    found = at_once(lambda number: create_user(store, f"u{number}", [Role.ADMIN], first_only=True))
    assert [isinstance(one, TakenError) for one in found].count(False) == 1
    assert len(list_users(store, "default")) == 1


def test_of_many_users_of_one_name_at_once_one_is_made(store: Store) -> None:
    found = at_once(lambda _: create_user(store, "ada", [Role.ADMIN]))
    assert [isinstance(one, TakenError) for one in found].count(False) == 1


def test_a_tenant_keeps_an_administrator_whoever_goes_at_once(store: Store) -> None:
    users = [create_user(store, f"u{number}", [Role.ADMIN]) for number in range(TOGETHER)]
    found = at_once(lambda number: change_user(store, users[number].id, "default", actor="x", roles=[Role.VIEWER]))
    assert [isinstance(one, StaleError) for one in found].count(True) == 1
    assert sum(Role.ADMIN in user.roles for user in list_users(store, "default")) == 1


def test_a_token_is_good_for_one_of_many_who_use_it_at_once(store: Store) -> None:
    token, _ = make_token(store, SETUP, HOUR)
    found = at_once(lambda number: setup_with_token(store, token, f"u{number}", "h"))
    assert [one for one in found if one is not None] == [user.id for user in list_users(store, "default")]
    ada = list_users(store, "default")[0]
    reset, _ = make_token(store, RESET, HOUR, user=ada.id)
    assert at_once(lambda number: reset_with_token(store, reset, f"h{number}")).count(True) == 1
    with pytest.raises(StaleError):
        make_token(store, RESET, HOUR, user=NOBODY)


def test_a_token_is_good_for_what_it_was_made_for_and_not_for_ever(store: Store, clock: Clock) -> None:
    ada = create_user(store, "ada", [Role.ADMIN])
    reset, ends = make_token(store, RESET, HOUR, user=ada.id)
    assert ends == DAY + HOUR
    assert setup_with_token(store, reset, "eve", "h") is None
    clock.go(hours=1)
    assert not reset_with_token(store, reset, "h")


def test_a_session_is_good_until_something_ends_it(store: Store, clock: Clock) -> None:
    ada = create_user(store, "ada", [Role.ADMIN], tenant="acme", password="h")  # noqa: S106
    secret, session = open_session(store, ada, HOUR * 12)
    found = find_session(store, secret, HOUR)
    assert found is not None
    assert (found[0], found[1]) == (session, ada)
    assert find_session(store, "guess", HOUR) is None
    assert list_sessions(store, "acme", user=ada.id) == [session]
    assert list_sessions(store, "globex") == []
    clock.go(minutes=50)
    note_seen(store, session)
    set_password(store, ada.id, "acme", "h2", actor=ada.id, keep=session.id, old="h")
    clock.go(minutes=50)
    assert find_session(store, secret, HOUR) is not None
    assert not end_session(store, session.id, "globex", actor="x")
    assert not end_session(store, session.id, "acme", actor="x", user="other")
    assert end_session(store, session.id, "acme", actor="x")
    assert find_session(store, secret, HOUR) is None
    with pytest.raises(StaleError):
        open_session(store, ada, HOUR)
    with pytest.raises(StaleError):
        set_password(store, ada.id, "acme", "h3", actor=ada.id, old="h")


def test_no_user_and_no_key_of_a_tenant_have_one_name(store: Store, clock: Clock) -> None:
    """Whoever sent an output sees how it was decided, and is known by name."""
    ada = create_user(store, "ada", [Role.REVIEWER], tenant="acme")
    with pytest.raises(TakenError, match="purpose"):
        create_key(store, "ada", [Permission.CHECK], tenant="acme")
    create_key(store, "ada", [Permission.CHECK], tenant="globex")
    _, bot = create_key(store, "bot", [Permission.CHECK], tenant="acme")
    with pytest.raises(TakenError, match="a key has this one"):
        create_user(store, "bot", [Role.REVIEWER], tenant="acme")
    revoke_key(store, bot.id, "acme", actor="x")
    create_user(store, "bot", [Role.REVIEWER], tenant="acme")
    forget_user(store, ada.id, "acme", actor="x")
    create_key(store, "ada", [Permission.CHECK], tenant="acme")
    secret, _ = make_token(store, SETUP, HOUR, tenant="globex")
    with pytest.raises(TakenError, match="a key has this one"):
        setup_with_token(store, secret, "ada", "h")
    assert setup_with_token(store, secret, "eve", "h") is not None
    create_key(store, "nightly", [Permission.CHECK], tenant="acme", lasts=HOUR)
    with pytest.raises(TakenError):
        create_user(store, "nightly", [Role.REVIEWER], tenant="acme")
    clock.go(hours=2)
    create_user(store, "nightly", [Role.REVIEWER], tenant="acme")


def test_a_key_is_good_until_something_ends_it(store: Store, clock: Clock) -> None:
    key, kept = create_key(store, "crm", [Permission.READ], tenant="acme", lasts=HOUR * 10)
    assert find_key(store, key) == kept
    assert get_key(store, kept.id, "globex") is None
    assert not revoke_key(store, kept.id, "globex", actor="x")
    assert rotate_key(store, kept.id, "globex", actor="x") is None
    clock.go(hours=1)
    note_uses(store, {("acme", kept.id): clock.now})
    new = rotate_key(store, kept.id, "acme", actor="x", overlap=HOUR)
    assert new is not None
    assert new[1].expires == clock.now + HOUR * 10
    found = find_key(store, key)
    assert found is not None
    assert found.used == clock.now
    clock.go(hours=1)
    assert find_key(store, key) is None
    assert find_key(store, new[0]) is not None
    assert revoke_key(store, new[1].id, "acme", actor="x")
    assert find_key(store, new[0]) is None
    assert [one.id for one in list_keys(store, "acme")] == [kept.id, new[1].id]


def test_what_a_change_says_of_itself_is_what_its_last_try_came_to(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change is tried again if another one of its transaction failed; by then somebody else may have acted."""

    def overtaken(by: Callable[[], object], call: Callable[[], object]) -> object:
        apply = store.apply

        def fail_once(change: Change) -> object:
            def act(connection: Connection) -> Sequence[Entry]:
                assert change.act is not None
                change.act(connection)
                raise StoreError("another change of the transaction")

            monkeypatch.undo()
            with pytest.raises(StoreError, match="another change"):
                apply(Change(change.tenant, act=act))
            by()
            return apply(change)

        monkeypatch.setattr(store, "apply", fail_once)
        return call()

    token, _ = make_token(store, SETUP, HOUR)
    assert (
        overtaken(lambda: create_user(store, "bo", [Role.ADMIN]), lambda: setup_with_token(store, token, "ada", "hash"))
        is None
    )
    ada = create_user(store, "ada", [Role.REVIEWER], password="hash")  # noqa: S106
    token, _ = make_token(store, RESET, HOUR, user=ada.id)
    assert not overtaken(
        lambda: reset_with_token(store, token, "hers"), lambda: reset_with_token(store, token, "another's")
    )
    found = find_user(store, "ada", "default")
    assert found is not None
    assert found.password == "hers"  # noqa: S105
    changed = overtaken(
        lambda: change_user(store, ada.id, "default", actor="bo", expertise=["tax"]),
        lambda: change_user(store, ada.id, "default", actor="bo", roles=[Role.REVIEWER]),
    )
    assert isinstance(changed, User)
    assert (changed.version, changed.expertise) == (found.version + 2, ("tax",))
    assert overtaken(lambda: note_failure(store, "key"), lambda: note_failure(store, "key")) == 2
    assert not overtaken(
        lambda: forget_user(store, ada.id, "default", actor="bo"),
        lambda: forget_user(store, ada.id, "default", actor="bo"),
    )


def test_failed_tries_are_counted_by_all_processes_and_forgotten_after_a_day(store: Store, clock: Clock) -> None:
    key = tries_key("default", "ada")
    assert key == tries_key("default", " ADA ")
    assert key != tries_key("acme", "ada")
    assert sorted(at_once(lambda _: note_failure(store, key))) == [1, 2, 3, 4, 5, 6]
    assert waits_until(store, key) == DAY + wait_after(6)
    clock.go(seconds=1)
    assert waits_until(store, key) is None
    clock.now += FORGOTTEN_AFTER + HOUR
    assert note_failure(store, key) == 1


@pytest.mark.parametrize("name", ["", "  ", "a\u202eb", "a\x00b", "a\nb", "x" * 201, "\ud800", "\u2028"])
def test_a_name_that_cannot_be_read_is_refused(name: str) -> None:
    with pytest.raises(MalformedError):
        login_name(name)


def test_names_and_words_have_one_form() -> None:
    assert login_name("\uff21da@EXAMPLE.com") == "ada@example.com"
    assert joined_words(["B", "a", "b"]) == "a b"
    with pytest.raises(MalformedError):
        joined_words(["two words"])
    assert len(digest_of("x")) == 64
