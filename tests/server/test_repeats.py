"""A request that comes again under its key is answered with what was recorded, and recorded once."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import update
from tests.server.gateway_site import Site, play, site
from tests.server.test_api import BODY
from tests.server.test_gateway_receipts import keys
from tests.server.test_recording import again, holds, kinds

from assay.errors import StoreError
from assay.schema import Stakes
from assay.schema.access import PERMISSIONS, Role
from assay.server.caller import Caller
from assay.server.checks import repeats
from assay.server.checks.bodies import BatchBody, CheckBody, RunBody
from assay.store.db import tables
from assay.store.db.engine import writing
from assay.store.db.store import Store
from assay.store.records.erasure import erase_runs
from assay.testing import FakeScorer

__all__ = ["keys"]  # a fixture
RUN: dict[str, Any] = {
    "run": [
        {"role": "user", "content": "How long is partner leave?"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "leave", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "Partners are entitled to 2 weeks of leave."},
        {"role": "assistant", "content": "Partners are entitled to 2 weeks of leave."},
    ],
}
BATCH: dict[str, Any] = {"requests": [BODY, {**BODY, "answer": "Partners are entitled to 2 weeks of leave."}]}
ROUTES = {"/v1/check": BODY, "/v1/runs/check": RUN, "/v1/batch": BATCH}


class Named:
    """Lets in whoever says who they are: name and tenant stand in a header."""

    async def caller(self, scope: Any) -> Caller:
        name, tenant = dict(scope["headers"]).get(b"x-test-caller", b"app/default").decode().split("/")
        may = frozenset() if name == "nobody" else PERMISSIONS[Role.ADMIN]
        return Caller(name, may, tenant, "key", f"id of {name}")


async def sent(here: Site, body: Any, key: str = "k-1", path: str = "/v1/check", **headers: str) -> Any:
    status, told, answer = await here.post(path, body, **{"idempotency_key": key, **headers})
    return status, told, json.loads(answer)


def recorded(store: Store) -> int:
    return kinds(store).count("decision")


@pytest.mark.parametrize("path", sorted(ROUTES))
@pytest.mark.parametrize("second", ["k-1", '"k-1"'])
def test_the_same_request_under_the_same_key_has_the_answer_that_was_recorded(
    tmp_path: Path, path: str, second: str
) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                status, told, made = await sent(here, ROUTES[path], path=path)
                many = recorded(store)
                again_status, told_again, found = await sent(here, ROUTES[path], second, path)
                assert (status, again_status, found) == (200, 200, made)
                assert told.get("x-assay-report-id") == told_again.get("x-assay-report-id")
                assert recorded(store) == many
                await sent(here, ROUTES[path], "k-2", path)
                assert recorded(store) == 2 * many
                assert holds(store)

    play(scene)


def test_a_repeated_answer_says_so_and_its_record_can_be_run_again(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                _, told, _ = await sent(here, BODY)
                _, told_again, _ = await sent(here, BODY)
                assert "idempotent-replayed" not in told
                assert told_again["idempotent-replayed"] == "true"
                assert again(store, told["x-assay-report-id"])

    play(scene)


def test_the_same_request_in_another_spelling_is_the_same(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                await sent(here, BODY)
                turned = json.dumps(dict(reversed(BODY.items())), indent=3).encode()
                status, _, _ = await sent(here, turned, content_type="application/json")
                assert (status, recorded(store)) == (200, 1)

    play(scene)


@pytest.mark.parametrize(
    "change",
    [
        {"answer": "Partners get 2 weeks."},
        {"question": None},
        {"stakes": "high"},
        {"policy": "high-stakes"},
        {"run_id": "other"},
        {"evidence": [{"id": "hr-3", "text": "Partners are entitled to 2 weeks of leave."}]},
        {"as_of": "2026-01-01"},
        {"claim_free": True},
    ],
)
def test_another_request_under_the_same_key_is_refused_and_not_recorded(tmp_path: Path, change: dict[str, Any]) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                await sent(here, BODY)
                status, _, told = await sent(here, {**BODY, **change})
                assert (status, told["type"]) == (422, "urn:assay:problem:idempotency.other")
                assert recorded(store) == 1

    play(scene)


def test_a_header_a_route_or_more_checks_make_it_another_request(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                await sent(here, BODY)
                await sent(here, BATCH, "k-2", "/v1/batch")
                for body, key, path, headers in (
                    (BODY, "k-1", "/v1/check", {"x_assay_policy": "high-stakes"}),
                    ({"requests": [BODY]}, "k-1", "/v1/batch", {}),
                    ({"requests": [*BATCH["requests"], BODY]}, "k-2", "/v1/batch", {}),
                    ({"requests": BATCH["requests"][:1]}, "k-2", "/v1/batch", {}),
                    (RUN, "k-1", "/v1/runs/check", {}),
                ):
                    assert (await sent(here, body, key, path, **headers))[0] == 422, path
                assert recorded(store) == 3

    play(scene)


def test_a_key_is_its_callers_alone(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store, access=Named()) as here:
                others = ("other/default", "app/default", "other/globex")
                ids = [(await sent(here, BODY, x_test_caller=who))[1]["x-assay-report-id"] for who in others]
                assert len(set(ids)) == 3
                assert (await sent(here, {**BODY, "question": None}, x_test_caller=others[0]))[0] == 422
                assert (await sent(here, BODY, x_test_caller="nobody/default"))[0] == 403

    play(scene)


class Held(FakeScorer):
    """Scores when it is let go of."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go, self.fails = Event(), Event(), False

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        self.begun.set()
        assert self.go.wait(30)
        if self.fails:
            raise RuntimeError("the network is away")
        return super().score(pairs)


def test_a_request_that_is_being_answered_is_not_begun_again_by_any_replica(tmp_path: Path) -> None:
    async def scene() -> None:
        file, scorer = str(tmp_path / "assay.db"), Held()
        with Store(file) as store, Store(file) as other:
            async with site(store=store, scorer=scorer) as first, site(store=other) as second:
                made = asyncio.create_task(sent(first, BODY))
                await asyncio.to_thread(scorer.begun.wait, 30)
                for here in (first, second):
                    status, told, problem = await sent(here, BODY)
                    assert (status, problem["type"]) == (409, "urn:assay:problem:idempotency.in_flight")
                    assert told["retry-after"] == "1"
                scorer.go.set()
                status, told, report = await made
                assert status == 200
                for here in (first, second):
                    status, told_again, found = await sent(here, BODY)
                    assert (status, found) == (200, report)
                    assert told_again["x-assay-report-id"] == told["x-assay-report-id"]
                assert recorded(store) == 1

    play(scene)


def test_what_was_not_recorded_is_made_when_it_is_asked_for_again(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            scorer = Held()
            scorer.go.set()
            scorer.fails = True
            async with site(store=store, scorer=scorer) as here:
                assert (await sent(here, BODY))[0] == 503
                assert (await sent(here, {**BODY, "question": None}))[0] == 422
                scorer.fails = False
                assert (await sent(here, BODY))[0] == 200
                assert recorded(store) == 1

    play(scene)


def test_one_that_comes_too_late_to_record_its_check_records_nothing(tmp_path: Path) -> None:
    """Its claim has lapsed, as that of a process that stood still for long, and another has taken it over."""

    async def scene() -> None:
        file, scorer = str(tmp_path / "assay.db"), Held()
        with Store(file) as store, Store(file) as other:
            async with site(store=store, scorer=scorer) as first, site(store=other) as second:
                late = asyncio.create_task(sent(first, BODY))
                await asyncio.to_thread(scorer.begun.wait, 30)
                with writing(store.engine).begin() as connection:
                    connection.execute(update(tables.idempotency_keys).values(until=1))
                status, told, _ = await sent(second, BODY)
                assert status == 200
                scorer.go.set()
                assert (await late)[0] == 503
                assert recorded(store) == 1
                assert (await sent(first, BODY))[1]["x-assay-report-id"] == told["x-assay-report-id"]

    play(scene)


def test_a_batch_that_comes_again_makes_only_what_was_not_recorded(tmp_path: Path) -> None:
    async def scene() -> None:
        bad = {"requests": [BODY, {**BODY, "evidence": [{"id": "a"}]}]}
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                _, _, made = await sent(here, bad, path="/v1/batch")
                _, _, found = await sent(here, bad, path="/v1/batch")
                assert found == made
                assert [one["id"] is None for one in found["results"]] == [False, True]
                assert recorded(store) == 1

    play(scene)


def test_a_batch_of_which_nothing_could_be_stored_may_be_sent_again_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: Any) -> None:
        raise StoreError("the disk is full")

    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                with monkeypatch.context() as patch:
                    patch.setattr(store, "arecord_all", full)
                    await sent(here, BATCH, path="/v1/batch")
                status, _, found = await sent(here, BATCH, path="/v1/batch")
                assert status == 200
                assert [one["id"] is None for one in found["results"]] == [False, False]
                assert recorded(store) == 2

    play(scene)


def test_the_receipt_is_issued_once_also_where_the_first_request_died_before_it_was(keys: Path, tmp_path: Path) -> None:
    async def scene() -> None:
        body = {**BODY, "answer": "Partners are entitled to 2 weeks of leave."}
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store, environ={"ASSAY_RECEIPT_KEYS": str(keys)}) as here:
                _, told, _ = await sent(here, body)
                _, told_again, _ = await sent(here, body)
                assert told["x-assay-receipt"] == told_again["x-assay-receipt"]
                assert kinds(store).count("receipt") == 1
                with writing(store.engine).begin() as connection:
                    connection.execute(update(tables.idempotency_keys).values(until=1, receipt=None))
                texts = {(await sent(here, body))[1]["x-assay-receipt"] for _ in range(3)}
                assert len(texts) == 1
                assert kinds(store).count("receipt") == 2
                assert holds(store)

    play(scene)


def test_what_was_erased_is_told_of_and_not_checked_again(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                _, told, _ = await sent(here, BODY)
                erase_runs(store, [told["x-assay-report-id"]], "request", "default")
                for body in (BODY, {**BODY, "question": None}):
                    status, _, problem = await sent(here, body)
                    assert (status, problem["type"]) == (409, "urn:assay:problem:idempotency.erased")
                assert recorded(store) == 1
                with store.reading("default") as connection:
                    rows = connection.execute(tables.idempotency_keys.select()).all()
                assert [(row.fingerprint, row.receipt) for row in rows] == [("", None)]

    play(scene)


def test_a_row_that_was_led_to_another_record_gives_nothing_away(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                await sent(here, BODY)
                _, told, _ = await sent(here, {**BODY, "answer": "Partners are entitled to 2 weeks of leave."}, "k-2")
                for run in (told["x-assay-report-id"], "0" * 32):
                    with writing(store.engine).begin() as connection:
                        connection.execute(update(tables.idempotency_keys).values(run=run))
                    assert (await sent(here, BODY))[0] == 422

    play(scene)


def test_a_receipt_of_another_report_is_not_given_under_the_key(keys: Path, tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store, environ={"ASSAY_RECEIPT_KEYS": str(keys)}) as here:
                right = {**BODY, "answer": "Partners are entitled to 2 weeks of leave."}
                await sent(here, right)
                _, told, _ = await sent(here, {**right, "question": None}, "k-2")
                for receipt in (told["x-assay-receipt"], "{}"):
                    with writing(store.engine).begin() as connection:
                        connection.execute(update(tables.idempotency_keys).values(receipt=receipt))
                    status, again_told, problem = await sent(here, right)
                    assert (status, "x-assay-receipt" in again_told) == (503, False)
                    assert "receipt" in problem["detail"]

    play(scene)


def test_a_request_that_names_no_stakes_is_repeated_after_the_operator_has_raised_them(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            for own in Stakes:
                async with site(store=store, settings=partial(replace, stakes=own)) as here:
                    for path, body in ROUTES.items():
                        status, _, found = await sent(here, body, path, path)
                        found = found["results"][0]["report"] if path == "/v1/batch" else found
                        assert (status, found["stakes"]) == (200, "low")
            assert recorded(store) == 4

    play(scene)


def test_a_key_that_is_kept_long_enough_may_be_used_again(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                await sent(here, BODY)
                old = update(tables.idempotency_keys).values(
                    created=tables.idempotency_keys.c.created - int(repeats.KEPT_S * 1_000_000)
                )
                with writing(store.engine).begin() as connection:
                    connection.execute(old)
                assert (await sent(here, {**BODY, "question": None}))[0] == 200
                assert recorded(store) == 2

    play(scene)


def test_a_caller_without_room_has_its_known_keys_answered_and_no_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        monkeypatch.setattr(repeats, "MOST_KEYS", 2)
        monkeypatch.setattr(repeats, "CHECKS_BETWEEN_COUNTS", 0)
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store, access=Named()) as here:
                for key in ("k-1", "k-2"):
                    assert (await sent(here, BODY, key))[0] == 200
                status, told, problem = await sent(here, BODY, "k-3")
                assert (status, problem["type"]) == (429, "urn:assay:problem:idempotency.full")
                assert told["retry-after"] == "60"
                assert (await sent(here, BODY, "k-2"))[1]["idempotent-replayed"] == "true"
                assert (await sent(here, BODY, "k-3", x_test_caller="other/default"))[0] == 200
                assert (await here.post("/v1/check", BODY))[0] == 200

    play(scene)


@pytest.mark.parametrize("key", ["", '""', "a b", '"a', 'a"b', "a,b\\", "x" * 256, "ü"])
def test_what_is_no_key_is_refused(tmp_path: Path, key: str) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                assert (await sent(here, BODY, key))[0] == 422
                assert recorded(store) == 0

    play(scene)


def test_two_keys_of_one_request_are_refused(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                headers = [("idempotency-key", "a"), ("idempotency-key", "b")]
                async with here.http.post(here.url + "/v1/check", json=BODY, headers=headers) as response:
                    assert response.status == 422

    play(scene)


def test_a_server_that_keeps_no_record_says_that_it_cannot_keep_the_promise() -> None:
    async def scene() -> None:
        async with site() as here:
            status, _, problem = await sent(here, BODY)
            assert (status, problem["type"]) == (422, "urn:assay:problem:idempotency.unavailable")
            assert (await here.post("/v1/check", BODY))[0] == 200

    play(scene)


def test_many_that_come_at_once_are_recorded_once(tmp_path: Path) -> None:
    async def scene() -> None:
        file = str(tmp_path / "assay.db")
        with Store(file) as store, Store(file) as other:
            async with site(store=store) as first, site(store=other) as second:
                found = await asyncio.gather(*(sent(here, BODY) for here in (first, second) * 8))
                assert {status for status, _, _ in found} <= {200, 409}
                ids = {told["x-assay-report-id"] for status, told, _ in found if status == 200}
                assert (len(ids), recorded(store)) == (1, 1)

    play(scene)


@pytest.mark.parametrize("path", sorted(ROUTES))
def test_a_body_is_written_out_only_where_a_key_asks_for_it(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    for body in (CheckBody, RunBody, BatchBody):
        original = body.model_dump

        def counted(self: Any, *args: Any, original: Any = original, **options: Any) -> Any:
            written.append(type(self).__name__)
            return original(self, *args, **options)

        monkeypatch.setattr(body, "model_dump", counted)

    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                status, _, _ = await here.post(path, ROUTES[path])
                assert (status, written) == (200, [])
                status, _, _ = await sent(here, ROUTES[path], path=path)
                assert status == 200
                assert len(written) == 1

    play(scene)
