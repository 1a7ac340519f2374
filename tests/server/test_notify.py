"""Messages of reviews: over real HTTP and SMTP, retried, told once to effect, only to whom the operator configured."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from datetime import timedelta
from email import message_from_string
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.server.receiving import hook, mailbox
from tests.store.making import DAY
from tests.store.reviewing import ANN, TENANT, Clock, held, reject

from assay.errors import PolicyError
from assay.server.notify.delivery import Delivery
from assay.server.notify.messages import SIGNATURE, verified
from assay.server.notify.settings import NotifySettings, Target, notify_settings
from assay.store.alerts import Alert, Urgency, close_alert, raise_alert
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.reviews.outbox import FAILED, HOLD, SENT, WAITING, purge_messages, spread_messages, take_messages
from assay.store.reviews.queue import Reviews

SIGNED_WITH = "a secret of the operator"


def play(scene: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(scene(), 60))


def webhook(url: str, **more: Any) -> Target:
    return Target("programs", "webhook", url, SIGNED_WITH, **more)


def states(store: Store) -> list[str]:
    table = tables.outbox.c
    with store.reading(TENANT) as connection:
        query = select(table.state).where(table.target != "").order_by(table.id, table.target)
        return list(connection.execute(query).scalars())


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Any:
    with Store(str(tmp_path / "assay.db"), clock=clock) as made:
        yield made


async def once(store: Store, *targets: Target, **more: Any) -> int:
    delivery = Delivery(store, NotifySettings(targets, **more))
    try:
        return await delivery.once()
    finally:
        await delivery._sender.close()


def test_a_webhook_is_signed_and_holds_no_text_that_was_checked(store: Store) -> None:
    async def scene() -> None:
        async with hook() as there:
            record = held("Mrs Smith gets 4 weeks of leave.")
            store.record(record)
            assert await once(store, webhook(there.url), console="https://assay.example") == 1
            headers, body = there.got[0]
            told = json.loads(body)
            assert (told["event"], told["review"], told["tier"]) == ("review.opened", record.id, "sync")
            assert told["url"] == f"https://assay.example/console/review/{record.id}"
            assert headers["idempotency-key"] == told["id"]
            seconds = int(headers[SIGNATURE].split(",")[0].removeprefix("t="))
            assert verified(body, SIGNED_WITH, headers[SIGNATURE], seconds)
            assert not verified(body + b" ", SIGNED_WITH, headers[SIGNATURE], seconds)
            assert not verified(body, SIGNED_WITH + ".", headers[SIGNATURE], seconds)
            assert not verified(body, SIGNED_WITH, headers[SIGNATURE], seconds + 301)
            assert b"Smith" not in body
            assert states(store) == [SENT]
            assert await once(store, webhook(there.url)) == 0

    play(scene)


def test_what_does_not_arrive_is_tried_again_later_under_the_same_key(store: Store, clock: Clock) -> None:
    async def scene() -> None:
        async with hook(503, 500) as there:
            store.record(held())
            target = webhook(there.url)
            assert await once(store, target) == 1
            assert await once(store, target) == 0
            for _ in range(2):
                clock.go(seconds=20)
                assert await once(store, target) == 1
            assert states(store) == [SENT]
            assert len({headers["idempotency-key"] for headers, _ in there.got}) == 1
            assert len(there.got) == 3

    play(scene)


def test_a_recipient_that_asks_to_wait_is_waited_for(store: Store, clock: Clock) -> None:
    async def scene() -> None:
        async with hook(429, **{"retry-after": "600"}) as there:
            store.record(held())
            await once(store, webhook(there.url))
            clock.go(seconds=599)
            assert await once(store, webhook(there.url)) == 0
            clock.go(seconds=2)
            assert await once(store, webhook(there.url)) == 1

    play(scene)


@pytest.mark.parametrize("status", [404, 410, 301])
def test_what_cannot_help_is_given_up_and_a_redirect_is_not_followed(store: Store, status: int) -> None:
    async def scene() -> None:
        async with hook() as elsewhere, hook(*[status] * 3, location=elsewhere.url) as there:
            store.record(held())
            await once(store, webhook(there.url), attempts=1)
            assert states(store) == [FAILED]
            assert elsewhere.got == []

    play(scene)


def test_a_message_is_given_up_after_so_many_attempts(store: Store, clock: Clock) -> None:
    async def scene() -> None:
        async with hook(*[503] * 9) as there:
            store.record(held())
            for _ in range(5):
                await once(store, webhook(there.url), attempts=3)
                clock.go(hours=2)
            assert (states(store), len(there.got)) == ([FAILED], 3)

    play(scene)


def test_a_process_that_dies_while_it_sends_leaves_the_message_to_the_next(tmp_path: Path, clock: Clock) -> None:
    async def scene() -> None:
        async with hook() as there:
            target = webhook(there.url)
            with Store(str(tmp_path / "x.db"), clock=clock) as first:
                first.record(held())
                delivery = Delivery(first, NotifySettings((target,)))
                spread_messages(first, delivery._targets)
                (taken,) = take_messages(first)
                assert take_messages(first) == []
            with Store(str(tmp_path / "x.db"), clock=clock) as second:
                assert await once(second, target) == 0
                clock.go(seconds=HOLD.total_seconds() + 1)
                assert await once(second, target) == 1
                assert states(second) == [SENT]
            assert [headers["idempotency-key"] for headers, _ in there.got] == [taken.key]

    play(scene)


def test_two_servers_never_send_the_same_message_at_once(store: Store) -> None:
    async def scene() -> None:
        async with hook() as there:
            for _ in range(20):
                store.record(held())
            target = webhook(there.url)
            await asyncio.gather(*(once(store, target) for _ in range(4)))
            keys = [headers["idempotency-key"] for headers, _ in there.got]
            assert (len(keys), len(set(keys))) == (20, 20)

    play(scene)


def test_slack_gets_a_body_that_it_shows(store: Store) -> None:
    async def scene() -> None:
        async with hook() as there:
            store.record(held())
            await once(store, Target("chat", "slack", there.url), console="https://assay.example")
            body = json.loads(there.got[0][1])
            assert body["text"].startswith("An output waits for review: sync tier")
            assert body["blocks"][0]["text"]["type"] == "mrkdwn"
            assert "<https://assay.example/console/review/" in body["blocks"][0]["text"]["text"]

    play(scene)


def test_mail_goes_out_with_the_same_message_id_however_often(store: Store, clock: Clock) -> None:
    async def scene() -> None:
        async with mailbox("451 later") as there:
            store.record(held())
            target = Target(
                "people",
                "email",
                host="127.0.0.1",
                port=there.port,
                security="none",
                sender="assay@example.com",
                to=("team@example.com",),
            )
            await once(store, target)
            assert (states(store), there.got) == ([WAITING], [])
            clock.go(minutes=1)
            await once(store, target)
            mail = message_from_string(there.got[0])
            assert states(store) == [SENT]
            assert mail["Subject"].startswith("[assay] An output waits for review")
            with store.reading(TENANT) as connection:
                id_ = connection.execute(select(tables.review_items.c.id)).scalar_one()
            assert id_ in str(mail.get_payload())
            assert mail["Message-ID"].endswith("@example.com>")

    play(scene)


def test_mail_that_cannot_be_sent_as_configured_is_given_up_and_holds_no_other_message_up(store: Store) -> None:
    async def scene() -> None:
        async with hook() as there:
            store.record(held())
            people = Target(
                "people", "email", host="m" * 70 + ".example.com", sender="assay@example.com", to=("team@example.com",)
            )
            await once(store, people, webhook(there.url))
            assert sorted(states(store)) == sorted([FAILED, SENT])
            assert len(there.got) == 1

    play(scene)


def test_an_alert_goes_the_ways_that_reviews_go(store: Store) -> None:
    async def scene() -> None:
        async with hook() as programs, hook() as chat, mailbox() as mails:
            said = "Faithfulness fell <b>from</b> 0.91\nto 0.83."
            alert = Alert("metric:faithfulness", "metric.drop", said, Urgency.CRITICAL, {"now": 0.83})
            item, _ = raise_alert(store, TENANT, alert)
            people = Target(
                "people",
                "email",
                host="127.0.0.1",
                port=mails.port,
                security="none",
                sender="assay@example.com",
                to=("team@example.com",),
            )
            targets = (webhook(programs.url, tiers=("blocking",)), Target("chat", "slack", chat.url), people)
            assert await once(store, *targets, console="https://assay.example") == 3
            told = json.loads(programs.got[0][1])
            assert (told["event"], told["alert"], told["facts"]) == ("alert.opened", item.id, {"now": 0.83})
            assert told["url"] == f"https://assay.example/console/monitor/alerts/{item.id}"
            assert told["runbook"] == "docs/runbooks.md#metric-drop"
            shown = json.loads(chat.got[0][1])["blocks"][0]["text"]["text"]
            assert shown.startswith("*CRITICAL: Faithfulness fell &lt;b&gt;from&lt;/b&gt; 0.91 to 0.83.*")
            mail = message_from_string(mails.got[0])
            assert "CRITICAL" in mail["Subject"]
            assert "now: 0.83" in str(mail.get_payload())
            raise_alert(store, TENANT, alert)
            assert await once(store, *targets) == 0
            close_alert(store, TENANT, alert.key)
            only = Target("decided", "webhook", programs.url, SIGNED_WITH, events=("review.decided",))
            assert await once(store, only, *targets) == 3
            assert json.loads(programs.got[1][1])["event"] == "alert.closed"

    play(scene)


def test_only_those_hear_of_it_who_are_to(store: Store) -> None:
    async def scene() -> None:
        async with hook() as there:
            store.record(held())
            store.record(held(tenant="acme"))
            targets = (
                webhook(there.url + "/blocking", tiers=("blocking",)),
                Target("decided", "webhook", there.url, SIGNED_WITH, events=("review.decided",)),
                Target("acme", "webhook", there.url, SIGNED_WITH, tenants=("acme",)),
                Target("calls", "webhook", there.url, SIGNED_WITH, callback=True),
            )
            assert await once(store, *targets) == 1
            assert json.loads(there.got[0][1])["tenant"] == "acme"

    play(scene)


def test_a_callback_hears_of_the_decision_on_its_own_check_alone(store: Store) -> None:
    async def scene() -> None:
        async with hook() as there:
            record = held(callback="calls")
            store.record(record)
            store.record(held())
            target = Target("calls", "webhook", there.url, SIGNED_WITH, callback=True)
            assert await once(store, target) == 0
            Reviews(store).decide(TENANT, record.id, ANN, reject())
            assert await once(store, target) == 1
            told = json.loads(there.got[0][1])
            assert (told["event"], told["review"], told["state"]) == ("review.decided", record.id, "rejected")

    play(scene)


def test_a_target_that_is_not_configured_is_told_nothing(store: Store) -> None:
    async def scene() -> None:
        record = held(callback="gone")
        store.record(record)
        Reviews(store).decide(TENANT, record.id, ANN, reject())
        assert await once(store) == 1
        assert states(store) == [FAILED]

    play(scene)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({"kind": "webhook", "url": "http://hooks.example.com/x", "secret_env": "S"}, "https"),
        ({"kind": "webhook", "url": "file:///etc/passwd", "secret_env": "S"}, "https"),
        ({"kind": "webhook", "url": "https://hooks.example.com/x"}, "secret"),
        ({"kind": "webhook", "url": "https://x.example", "secret_env": "NONE"}, "not set"),
        ({"kind": "pigeon", "url": "https://x.example"}, "one of"),
        ({"kind": "slack", "url": "https://[x.example"}, "of the form"),
        ({"kind": "slack", "url": "https://x.example:99999"}, "of the form"),
        ({"kind": "slack", "url": "https://x.example", "colour": "red"}, "colour"),
        ({"kind": "slack", "url": "https://x.example", "events": "review.lost"}, "review.lost"),
        ({"kind": "email", "host": "mail.example.com", "sender": "a@b.c", "to": "d@e.f", "security": "none"}, "clear"),
        ({"kind": "email", "host": "m", "sender": "a@b.c\r\nBcc: x@y.z", "to": "d@e.f"}, "line break"),
    ],
)
def test_a_target_that_is_not_safe_is_refused_at_the_start(target: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        notify_settings({"targets": {"it": target}}, {"S": SIGNED_WITH})


def test_secrets_are_read_from_the_environment_and_not_shown() -> None:
    told = {"targets": {"it": {"kind": "webhook", "url_env": "U", "secret_env": "S", "tiers": ["sync"]}}}
    settings = notify_settings(told, {"S": SIGNED_WITH, "U": "https://x.example/secret-path"})
    assert settings.targets[0].secret == SIGNED_WITH
    assert SIGNED_WITH not in repr(settings)
    assert "secret-path" not in repr(settings)


def test_a_clock_that_was_set_back_does_not_hold_messages_up(store: Store, clock: Clock) -> None:
    async def scene() -> None:
        async with hook() as there:
            clock.go(days=30)
            store.record(held())
            clock.now = DAY + timedelta(seconds=1)
            assert await once(store, webhook(there.url)) == 1
            assert len(there.got) == 1

    play(scene)


def test_old_messages_are_dropped_once_they_are_done_with(store: Store, clock: Clock) -> None:
    async def scene() -> None:
        async with hook() as there:
            store.record(held())
            await once(store, webhook(there.url))
            store.record(held())
            clock.go(days=31)
            purge_messages(store, timedelta(days=30))
            assert states(store) == []
            assert await once(store, webhook(there.url)) == 1

    play(scene)
