"""`assay users`, `assay tenants` and `assay keys --database`: as an operator uses them."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assay.cli.app import app
from assay.cli.operations import users as verbs
from assay.server.access.passwords import Passwords
from assay.server.access.rate_limits import Buckets
from assay.server.access.settings import AccessSettings
from assay.server.access.sign_in import SignInService
from assay.store.access.api_keys import find_key
from assay.store.access.users import find_user
from assay.store.db.store import Store

PASSWORD = "correct horse battery"  # noqa: S105 of nobody
Run = Callable[..., Result]


@pytest.fixture
def database(tmp_path: Path) -> str:
    return str(tmp_path / "assay.db")


@pytest.fixture
def run(database: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ASSAY_DATABASE_URL", database)
    monkeypatch.delenv("ASSAY_KEYS", raising=False)
    cheap = Passwords(passes=1, memory_kib=8)
    monkeypatch.setattr(
        verbs, "_sign_in_service", lambda store: SignInService(store, cheap, AccessSettings(), Buckets(1, 1_000))
    )

    def invoke(*arguments: str, input: str | None = None) -> Result:  # noqa: A002 the name that click gives it
        return CliRunner().invoke(app, list(arguments), input=input)

    return invoke


def test_users_are_made_listed_changed_and_forgotten(run: Run, database: str) -> None:
    made = run("users", "create", "Ada", "--role", "admin", "--password-stdin", input=f"{PASSWORD}\n")
    assert made.exit_code == 0, made.output
    assert PASSWORD not in made.output
    token = run("users", "create", "ben", "--expertise", "Legal")
    assert re.fullmatch(r"[\w-]{43}", token.stdout.strip())
    listed = run("users", "list").stdout
    assert re.search(r"good +admin +\d{4}-\d\d-\d\d +ada", listed)
    assert re.search(r"no password yet +viewer .*ben +\[legal\]", listed)
    assert run("users", "change", "ben", "--role", "reviewer", "--role", "auditor", "--disable").exit_code == 0
    assert re.search(r"kept out +auditor\+reviewer", run("users", "list").stdout)
    assert re.fullmatch(r"[\w-]{43}", run("users", "reset", "ben").stdout.strip())
    assert run("users", "sign-out", "ben").exit_code == 0
    assert run("users", "forget", "ben").exit_code == 0
    assert "ben" not in run("users", "list").stdout
    with Store(database) as store:
        user = find_user(store, "ada", "default")
    assert user is not None
    assert user.password is not None
    assert user.password.startswith("$argon2id$")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("users", "create", "ada", "--password-stdin"), "12 to 1,000 characters"),
        (("users", "reset", "nobody"), "there is no user 'nobody'"),
        (("users", "create", " "), "expected the name of a user"),
        (("users", "list", "--tenant", "A B"), "expected the name of a tenant"),
        (("users", "change", "ada", "--disable"), "another administrator"),
        (("users", "forget", "ada"), "another administrator"),
    ],
)
def test_what_makes_no_sense_is_told_with_status_2(run: Run, arguments: tuple[str, ...], said: str) -> None:
    run("users", "create", "ada", "--role", "admin")
    found = run(*arguments, input="short\n")
    assert (found.exit_code, said in found.output) == (2, True), found.output


def test_tenants_are_made_and_listed(run: Run) -> None:
    assert run("tenants", "create", "acme", "--title", "Acme Ltd").exit_code == 0
    assert run("tenants", "create", "acme").exit_code == 2
    assert re.search(r"acme +\d{4}-\d\d-\d\d +Acme Ltd", run("tenants", "list").stdout)
    assert run("users", "create", "ada", "--tenant", "acme").exit_code == 0
    assert "ada" in run("users", "list", "--tenant", "acme").stdout
    assert "ada" not in run("users", "list").stdout


def test_keys_are_made_listed_rotated_and_revoked_in_the_database(run: Run, database: str) -> None:
    where = ("--database", database)
    key = run("keys", "create", "crm", *where, "--scope", "read", "--scope", "audit", "--days", "30").stdout.strip()
    id_ = key.split("_")[1]
    assert re.search(rf"{id_}  good until .* audit\+read .* never used +crm", run("keys", "list", *where).stdout)
    new = run("keys", "rotate", id_, *where, "--hours", "0").stdout.strip()
    assert run("keys", "revoke", new.split("_")[1], *where).exit_code == 0
    with Store(database) as store:
        assert find_key(store, key) is None
        assert find_key(store, new) is None
    assert run("keys", "revoke", "nobody", *where).exit_code == 2
    assert run("keys", "create", "x", *where, "--scope", "all").exit_code == 2


def test_keys_are_in_a_file_or_in_a_database(
    run: Run, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "keys.json")
    with monkeypatch.context() as nowhere:
        nowhere.delenv("ASSAY_DATABASE_URL", raising=False)
        assert "expected where the keys are" in run("keys", "list").output
    assert "either --keys or --database" in run("keys", "list", "--keys", file, "--database", database).output
    monkeypatch.setenv("ASSAY_KEYS", file)
    run("keys", "create", "old")
    run("keys", "create", "new", "--database", database)
    assert "old" in run("keys", "list").stdout
    assert "new" in run("keys", "list", "--database", database).stdout
