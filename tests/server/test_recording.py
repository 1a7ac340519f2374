"""Every check is on record before its answer goes out; what cannot be recorded does not go out."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.server.gateway_site import Site, play, site
from tests.server.test_api import BODY
from tests.server.test_chat_stream import LATE, TRUE, asked, streamed
from tests.server.test_gateway_receipts import PLAIN, keys, verified
from tests.server.upstream_script import chat_completion, chat_stream, json_answer, stream_answer
from tests.store.making import KEYS, RING

from assay.config import Guard
from assay.errors import BusyError
from assay.server.audit.replay import replay
from assay.server.checking import CheckFailedError
from assay.server.settings import Mode
from assay.store.audit.entries import read_entry_data
from assay.store.audit.export import run_content
from assay.store.audit.log import read_entries
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db.store import Store, StoredCheck
from assay.store.db.writer import Change, Stored
from assay.testing import FakeScorer
from assay.wire import Exchange

__all__ = ["keys"]  # a fixture


@asynccontextmanager
async def kept(tmp_path: Path, mode: Mode = Mode.ENFORCE, **more: Any) -> AsyncIterator[tuple[Site, Store]]:
    with Store(str(tmp_path / "assay.db")) as store:
        async with site(mode, store=store, **more) as here:
            yield here, store


def stored(store: Store, id_: str) -> StoredCheck:
    found = store.check(id_)
    assert found is not None
    return found


def kinds(store: Store) -> list[str]:
    with store.reading("default") as connection:
        return [read_entry_data(data)["kind"] for _, data in read_entries(connection, "default")]


def holds(store: Store) -> bool:
    make_checkpoint(store, KEYS, "default")
    with store.reading("default") as connection:
        return verify_contents(connection, "default", verify_log(connection, "default", RING)).holds


def again(store: Store, id_: str) -> bool:
    with store.reading("default") as connection:
        content = run_content(connection, "default", id_)
    assert content is not None
    return replay(content, lambda policy, **more: Guard(policy, scorer=FakeScorer(), environ={}, **more)).same_report


def test_a_check_is_recorded_under_the_id_that_its_answer_names_and_can_be_run_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            status, headers, body = await here.post("/v1/check", BODY)
            found = stored(store, headers["x-assay-report-id"])
            assert status == 200
            assert found.report is not None
            assert found.report.model_dump(mode="json", exclude={"timing"}) == {
                name: value for name, value in json.loads(body).items() if name != "timing"
            }
            assert (found.kind, found.caller, found.evidence[0][0]) == ("check", "local", "hr-2")
            assert kinds(store) == ["decision"]
            assert again(store, found.id)
            assert holds(store)

    play(scene)


def test_a_run_and_each_check_of_a_batch_are_recorded(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            run = [{"role": "user", "content": "Write to Anna."}, {"role": "assistant", "content": "I wrote to Anna."}]
            _, headers, _ = await here.post("/v1/runs/check", {"run": run})
            assert stored(store, headers["x-assay-report-id"]).kind == "run"
            assert again(store, headers["x-assay-report-id"])
            _, _, body = await here.post("/v1/batch", {"requests": [BODY, {**BODY, "policy": "nonesuch"}, BODY]})
            ids = [item["id"] for item in json.loads(body)["results"]]
            assert [id_ is not None for id_ in ids] == [True, False, True]
            assert all(again(store, id_) for id_ in ids if id_)

    play(scene)


def test_the_log_has_the_receipt_before_the_answer_has(tmp_path: Path, keys: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path, environ={"ASSAY_RECEIPT_KEYS": str(keys)}) as (here, store):
            good = {**BODY, "answer": "Partners are entitled to 2 weeks of leave."}
            _, headers, _ = await here.post("/v1/check", good)
            assert verified(keys, good["answer"], headers["x-assay-receipt"]) == 0
            assert kinds(store) == ["decision", "receipt"]
            here.upstream.script(json_answer(chat_completion(TRUE)))
            _, headers, _ = await here.post("/v1/chat/completions", PLAIN)
            assert verified(keys, TRUE, headers["x-assay-receipt"]) == 0
            assert stored(store, headers["x-assay-report-id"]).kind == "gateway"
            assert kinds(store) == ["decision", "receipt"] * 2

    play(scene)


def test_a_check_and_its_receipt_are_stored_in_one_transaction(tmp_path: Path, keys: Path) -> None:
    changes: list[Change] = []

    async def scene() -> None:
        async with kept(tmp_path, environ={"ASSAY_RECEIPT_KEYS": str(keys)}) as (here, store):
            apply = store.aapply

            async def counted(change: Change) -> Stored:
                changes.append(change)
                return await apply(change)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(store, "aapply", counted)
                good = {**BODY, "answer": "Partners are entitled to 2 weeks of leave."}
                await here.post("/v1/check", good)
                await here.post("/v1/check", good, idempotency_key="one")
                here.upstream.script(json_answer(chat_completion(TRUE)))
                await here.post("/v1/chat/completions", PLAIN)
            assert [[entry.kind for entry in change.entries] for change in changes if change.entries] == [
                ["decision", "receipt"]
            ] * 3
            assert kinds(store) == ["decision", "receipt"] * 3

    play(scene)


def test_what_cannot_be_signed_is_on_record_and_gets_its_receipt_when_it_is_sent_again(
    tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise CheckFailedError("the key is not there")

    async def scene() -> None:
        async with kept(tmp_path, environ={"ASSAY_RECEIPT_KEYS": str(keys)}) as (here, store):
            good = {**BODY, "answer": "Partners are entitled to 2 weeks of leave."}
            with monkeypatch.context() as patch:
                patch.setattr(Guard, "issue", fails)
                status, headers, _ = await here.post("/v1/check", good, idempotency_key="one")
                assert status >= 500
                assert "x-assay-receipt" not in headers
            assert kinds(store) == ["decision"]
            status, headers, _ = await here.post("/v1/check", good, idempotency_key="one")
            assert status == 200
            assert verified(keys, good["answer"], headers["x-assay-receipt"]) == 0
            assert kinds(store) == ["decision", "receipt"]

            here.upstream.script(json_answer(chat_completion(TRUE)))
            with monkeypatch.context() as patch:
                patch.setattr(Exchange, "receipt", fails)
                _, headers, body = await here.post("/v1/chat/completions", PLAIN)
            assert headers["x-assay-action"] == "unchecked"
            assert b"2 weeks" not in body
            assert kinds(store)[2:] == ["decision"]

    play(scene)


@pytest.mark.parametrize("mode", [Mode.ENFORCE, Mode.ANNOTATE, Mode.SHADOW])
@pytest.mark.parametrize("text", [TRUE, LATE])
def test_an_answer_of_the_gateway_is_recorded_in_every_mode_streamed_or_not(
    tmp_path: Path, mode: Mode, text: str
) -> None:
    async def scene() -> None:
        async with kept(tmp_path, mode) as (here, store):
            here.upstream.script(json_answer(chat_completion(text)), stream_answer(chat_stream(text)))
            _, whole, _ = await here.post("/v1/chat/completions", PLAIN)
            async with here.http.post(f"{here.url}/v1/chat/completions", json=asked()) as response:
                await response.read()
                parts = response.headers["x-assay-report-id"]
            await here.app.gateway.finish()
            for id_ in (whole["x-assay-report-id"], parts):
                found = stored(store, id_)
                assert found.report is not None
                assert found.report.run_id == id_
                assert again(store, id_)
            streamed_one = stored(store, parts).report
            assert streamed_one is not None
            if text == TRUE and mode is Mode.ENFORCE:
                assert streamed_one.timing.stages_ms["stream_total"] > 0
                assert "stream_first" in streamed_one.timing.stages_ms
            assert holds(store)

    play(scene)


def test_calls_without_a_text_are_recorded_with_what_was_found_of_each(tmp_path: Path) -> None:
    calls = chat_completion("")
    calls["choices"][0]["message"] = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "leave"}'}}],
    }
    tools = [
        {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {"q": {}}}}}
    ]

    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            here.upstream.script(json_answer(calls))
            _, headers, _ = await here.post("/v1/chat/completions", {**PLAIN, "tools": tools})
            found = stored(store, headers["x-assay-report-id"])
            assert found.report is not None
            assert [call.tool for call in found.report.tool_call_validations] == ["find"]
            assert found.report.action.value == headers["x-assay-action"]
            assert again(store, found.id)

    play(scene)


def test_what_cannot_be_recorded_does_not_go_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def busy(*_: Any) -> None:
        raise BusyError("too much waits")

    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            monkeypatch.setattr(store, "arecord_all", busy)
            status, headers, body = await here.post("/v1/check", BODY)
            assert (status, headers["content-type"]) == (503, "application/problem+json")
            assert headers["retry-after"] == "1"
            assert json.loads(body)["type"] == "urn:assay:problem:store.busy"
            here.upstream.script(json_answer(chat_completion(TRUE)), stream_answer(chat_stream(TRUE)))
            _, headers, body = await here.post("/v1/chat/completions", PLAIN)
            assert headers["x-assay-action"] == "unchecked"
            assert b"2 weeks" not in body
            _, body = await streamed(here)
            # What stands before the end had passed and is out; the end of the answer never comes.
            assert b"content_filter" in body

    play(scene)


def test_an_answer_that_cannot_be_read_is_on_record_as_unchecked(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            here.upstream.script(json_answer({"strange": True}))
            _, headers, _ = await here.post("/v1/chat/completions", PLAIN)
            found = stored(store, headers["x-assay-report-id"])
            assert found.report is not None
            assert (headers["x-assay-action"], found.report.action.value) == ("unchecked", "block")
            assert found.report.decision.reasons

    play(scene)


def test_a_server_without_a_database_records_nothing_and_says_how_to(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site() as here:
            _, headers, _ = await here.post("/v1/check", BODY)
            assert "x-assay-report-id" not in headers
            async with here.http.get(f"{here.url}/v1/reports") as response:
                assert response.status == 404
                assert "--database" in (await response.json())["todo"]

    play(scene)
