"""Nothing secret is logged, however much is logged."""

import asyncio
import logging
from pathlib import Path

import pytest
from tests.server.access.desk import OTHER, PASSWORD, desk_over
from tests.server.receiving import hook
from tests.store.reviewing import held

from assay.schema.access import Permission
from assay.server.access.settings import AccessSettings
from assay.server.access.sign_in import setup_token
from assay.server.notify.delivery import Delivery
from assay.server.notify.settings import NotifySettings, Target
from assay.store.access.api_keys import create_key
from assay.store.db.engine import make_engine
from assay.store.db.store import Store


def test_at_the_lowest_level_no_secret_reaches_the_log(database: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("sqlalchemy.engine", "sqlalchemy.pool", "asyncio"):
        caplog.set_level(logging.DEBUG, name)
    with desk_over(database) as desk:
        secrets = [PASSWORD, OTHER]
        token = setup_token(desk.store, AccessSettings()) or ""
        stranger = desk.client()
        stranger.ask("POST", "/v1/setup", {"token": token, "name": "ada", "password": PASSWORD})
        stranger.sign_in("ada", "a wrong password of mine")
        ada = desk.client()
        ada.sign_in("ada")
        made = ada.ask("POST", "/v1/keys", {"name": "crm", "permissions": ["read"]}).json["key"]
        id_ = ada.ask("GET", "/v1/me").json["id"]
        reset = ada.ask("POST", f"/v1/users/{id_}/reset").json["token"]
        program = desk.client(key=made)
        program.ask("GET", "/v1/me")
        program.ask("GET", "/v1/users")
        desk.client(key=f"{made}x").ask("GET", "/v1/me")
        desk.client(cookies={"assay_session": "guess-of-a-session"}).ask("GET", "/v1/me")
        ada.ask("GET", f"/console/reset?token={reset}")
        secrets += [
            token,
            "a wrong password of mine",
            made,
            made.split("_", 2)[2],
            reset,
            "guess-of-a-session",
            ada.cookies["assay_session"],
            str(ada.csrf),
        ]
        ada.ask("POST", "/v1/me/password", {"old": PASSWORD, "new": OTHER})
        ada.ask("POST", "/v1/logout")
    text = "\n".join(
        [caplog.text, *(repr(record.__dict__) for record in caplog.records if not record.name.startswith("sqlalchemy"))]
    )
    assert caplog.records
    # With everything switched on, statements are logged, and the values of their parameters are not.
    assert [secret for secret in secrets if secret in text] == []


def test_what_goes_wrong_in_the_database_is_told_without_its_values(
    database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine = make_engine(str(database))
    with pytest.raises(Exception, match="UNIQUE") as caught, engine.begin() as connection:  # noqa: PT012
        for _ in range(2):
            connection.exec_driver_sql(
                "INSERT INTO access_tokens (tenant, digest, kind, created, ends) VALUES (?, ?, 'reset', 0, 0)",
                ("default", "secret-digest"),
            )
    engine.dispose()
    assert "secret-digest" not in repr(caught.value) + str(caught.value)


def test_values_that_hold_secrets_do_not_show_them(database: Path) -> None:
    with desk_over(database) as desk:
        user = desk.user()
        _, kept = create_key(desk.store, "crm", [Permission.READ])
        assert str(user.password) not in repr(user)
        assert kept.digest not in repr(kept)
        ada = desk.client()
        asyncio.run(ada.asked("POST", "/v1/login", {"name": "ada", "password": PASSWORD}))
        assert ada.cookies["assay_session"] not in repr(desk.access.__dict__)


def test_neither_the_secret_nor_the_address_of_a_webhook_is_logged(
    database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = "T0B1-part-of-the-address"
    with Store(str(database)) as store:

        async def scene() -> None:
            async with hook(503) as there:
                targets = [
                    Target("programs", "webhook", f"{there.url}/{address}", OTHER),
                    Target("people", "slack", f"http://127.0.0.1:9/{address}"),
                ]
                store.record(held())
                for _ in range(2):
                    delivery = Delivery(store, NotifySettings(tuple(targets)))
                    await delivery.once()
                    await delivery._sender.close()

        asyncio.run(asyncio.wait_for(scene(), 60))
    # The recipient of this test logs what it was asked for; that is not ours.
    own = [repr(record.__dict__) for record in caplog.records if record.name != "aiohttp.access"]
    assert own
    assert [secret for secret in (address, OTHER) if any(secret in line for line in own)] == []
