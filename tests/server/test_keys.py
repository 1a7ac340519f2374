"""API keys: made, scoped, rotated, revoked, and what they open."""

import json
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.server.gateway_site import play, site
from tests.server.test_api import BODY
from tests.server.test_chat_gateway import TRUE, asked
from tests.server.upstream_script import chat_completion, json_answer
from typer.testing import CliRunner

from assay.cli.app import app
from assay.errors import InputError, PolicyError
from assay.server.access.key_file import KeyFile
from assay.server.settings import ServerSettings, Upstream

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def id_of(key: str) -> str:
    return key.split("_")[1]


def test_a_key_opens_what_its_scopes_name_and_nothing_else(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    key = keys.create("reader", ("check",))
    assert keys.allows(key, "check")
    assert not keys.allows(key, "gateway")
    assert not keys.allows(f"{key}x", "check")
    assert not keys.allows("assay_unknown_secret", "check")
    assert not keys.allows("", "check")


def test_the_file_holds_no_secret_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key = KeyFile(path).create("reader")
    assert key.split("_", 2)[2] not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_rotated_key_ends_after_its_overlap_and_the_new_one_goes_on(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    old = keys.create("reader", now=NOW)
    new = keys.rotate(id_of(old), hours=2, now=NOW)
    later = NOW + timedelta(hours=3)
    assert keys.allows(old, "check", NOW)
    assert not keys.allows(old, "check", later)
    assert keys.allows(new, "check", later)
    with pytest.raises(InputError):
        keys.rotate(id_of(old), now=later)


def test_a_revoked_key_fails_at_once_for_a_process_that_read_the_file_before(tmp_path: Path) -> None:
    keys, other = KeyFile(tmp_path / "keys.json"), KeyFile(tmp_path / "keys.json")
    key = keys.create("reader")
    assert other.allows(key, "check")
    keys.revoke(id_of(key))
    assert not other.allows(key, "check")


def test_a_file_that_is_broken_lets_nobody_in(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text("{")
    with pytest.raises(PolicyError):
        KeyFile(path).allows("assay_a_b", "check")


@pytest.mark.parametrize(
    ("name", "scopes", "days"), [(" ", ("check",), None), ("a", ("all",), None), ("a", ("check",), 0)]
)
def test_a_key_that_makes_no_sense_is_not_made(
    tmp_path: Path, name: str, scopes: tuple[str, ...], days: float | None
) -> None:
    with pytest.raises(InputError):
        KeyFile(tmp_path / "keys.json").create(name, scopes, days=days)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.com"])  # noqa: S104 must be refused
def test_without_keys_no_other_address_than_loopback_is_listened_on(host: str) -> None:
    with pytest.raises(PolicyError, match="assay keys create"):
        ServerSettings(host=host)


def test_with_keys_a_request_without_one_is_refused_and_the_key_never_reaches_the_upstream(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    key, reader = keys.create("gateway", ("gateway",)), keys.create("reader", ("check",))

    def keyed(told: ServerSettings) -> ServerSettings:
        held = Upstream("main", told.upstreams[0].url, key="upstream-secret")
        return replace(told, keys=keys.path, upstreams=(held,))

    async def scene() -> None:
        async with site(settings=keyed) as here:
            here.upstream.script(json_answer(chat_completion(TRUE)))
            status, _, body = await here.post("/v1/chat/completions", asked())
            assert (status, "error" in json.loads(body)) == (401, True)
            status, headers, _ = await here.post("/v1/check", BODY)
            assert (status, headers["content-type"]) == (401, "application/problem+json")
            assert (await here.post("/v1/check", BODY, authorization=f"Bearer {key}"))[0] == 401
            assert (await here.post("/v1/check", BODY, authorization=f"Bearer {reader}"))[0] == 200
            assert here.upstream.asked == []
            for header in ({"authorization": f"Bearer {key}"}, {"x_api_key": key}, {"x_assay_key": key}):
                assert (await here.post("/v1/chat/completions", asked(), **header))[0] == 200
                seen = here.upstream.asked[-1]
                assert seen.header("authorization") == "Bearer upstream-secret"
                assert all(key not in value for _, value in seen.headers)
            async with here.http.get(f"{here.url}/healthz") as response:
                assert response.status == 200

    play(scene)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "elsewhere.example.com"},
        {"host": "[::1"},
        {"host": "127.0.0.1:8080.example.com"},
        {"host": "localhost" + "x" * 400},
        {"host": ""},
        {"origin": "https://elsewhere.example.com"},
        {"origin": "http://[::1"},
        {"x-forwarded-for": "127.0.0.1"},
        {"forwarded": "for=127.0.0.1"},
    ],
)
def test_without_keys_whatever_names_another_machine_is_refused(headers: dict[str, str]) -> None:
    async def scene() -> None:
        async with site() as here:
            for path in ("/v1/check", "/v1/chat/completions"):
                # Twice: what was decided on a name is remembered.
                for _ in range(2):
                    async with here.http.post(here.url + path, json=BODY, headers=headers) as response:
                        assert response.status == 403
            for host in ("127.0.0.1:9", "localhost", "[::1]:8080"):
                async with here.http.post(f"{here.url}/v1/check", json=BODY, headers={"host": host}) as response:
                    assert response.status == 200
            assert here.upstream.asked == []

    play(scene)


def test_the_commands_make_list_rotate_and_revoke(tmp_path: Path) -> None:
    path = str(tmp_path / "keys.json")
    runner = CliRunner()
    made = runner.invoke(app, ["keys", "create", "team a", "--keys", path, "--scope", "check"])
    assert made.exit_code == 0
    key = made.stdout.strip()
    assert KeyFile(Path(path)).allows(key, "check")
    rotated = runner.invoke(app, ["keys", "rotate", id_of(key), "--keys", path])
    assert KeyFile(Path(path)).allows(rotated.stdout.strip(), "check")
    assert runner.invoke(app, ["keys", "revoke", id_of(key), "--keys", path]).exit_code == 0
    listed = runner.invoke(app, ["keys", "list", "--keys", path]).stdout
    assert "team a" in listed
    assert "revoked" in listed
    assert runner.invoke(app, ["keys", "revoke", "none", "--keys", path]).exit_code == 2


def test_the_commands_take_the_database_from_the_environment(tmp_path: Path) -> None:
    environ = {"ASSAY_DATABASE_URL": str(tmp_path / "keys.db")}
    made = CliRunner().invoke(app, ["keys", "create", "bot", "--scope", "check"], env=environ)
    assert made.exit_code == 0, made.output
    listed = CliRunner().invoke(app, ["keys", "list"], env=environ)
    assert "bot" in listed.output
    # A file that is named on the command line goes before it.
    other = tmp_path / "keys.json"
    CliRunner().invoke(app, ["keys", "create", "filed", "--keys", str(other)], env=environ)
    assert "filed" in CliRunner().invoke(app, ["keys", "list", "--keys", str(other)], env=environ).output
    assert "filed" not in CliRunner().invoke(app, ["keys", "list"], env=environ).output
