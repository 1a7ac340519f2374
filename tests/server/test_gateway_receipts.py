"""Every output that a server with keys lets out has a receipt, which anyone with the public ring can verify."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.scorers import Steady
from tests.server.gateway_site import Site, play, site
from tests.server.test_api import BODY
from tests.server.test_chat_stream import LATE, TRUE, asked, streamed, trailer
from tests.server.test_gateway_revising import FALSE as WRONG
from tests.server.test_gateway_revising import TRUE as RIGHT
from tests.server.test_gateway_revising import revising
from tests.server.test_official_clients import CHAT
from tests.server.upstream_script import chat_completion, chat_stream, json_answer, stream_answer
from typer.testing import CliRunner

from assay.cli.app import app as command
from assay.errors import ReceiptError
from assay.receipt import KeyStore
from assay.server.guards import Guards
from assay.server.settings import Mode, ServerSettings
from assay.testing import FakeScorer

GRANTED = "Leave is granted to partners by their managers."
PLAIN = {name: value for name, value in asked().items() if name != "stream"}


UNSURE = Steady(0.3)
"""Unsure of everything: under the policy `rag` such an answer is served with a disclosure."""


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    made = CliRunner().invoke(command, ["receipt", "create-key", "--keys", str(tmp_path / "keys")])
    assert made.exit_code == 0, made.output
    return tmp_path / "keys"


@asynccontextmanager
async def signing(keys: Path, mode: Mode = Mode.ENFORCE, **more: Any) -> AsyncIterator[Site]:
    environ = {"ASSAY_RECEIPT_KEYS": str(keys)}
    async with site(mode, environ=environ, **more) as here:
        yield here


def verified(keys: Path, output: str, receipt: str) -> int:
    """What `assay receipt verify` says, with the public ring alone."""
    answer, file = keys.parent / "answer.txt", keys.parent / "receipt.json"
    answer.write_bytes(output.encode())
    file.write_text(receipt)
    ring = str(KeyStore(keys).ring_file)
    return CliRunner().invoke(command, ["receipt", "verify", str(answer), str(file), "--ring", ring]).exit_code


def test_an_answer_that_is_let_out_carries_a_receipt_for_exactly_its_text(keys: Path) -> None:
    async def scene() -> None:
        async with signing(keys) as here:
            answer = json_answer(chat_completion(TRUE))
            here.upstream.script(answer)
            _, headers, body = await here.post("/v1/chat/completions", PLAIN)
            assert body == answer.body
            assert verified(keys, TRUE, headers["x-assay-receipt"]) == 0
            assert verified(keys, f"{TRUE} ", headers["x-assay-receipt"]) == 1

    play(scene)


def test_what_is_withheld_annotated_or_not_checked_has_none(keys: Path) -> None:
    async def scene() -> None:
        for mode, text in ((Mode.ENFORCE, LATE), (Mode.ANNOTATE, LATE), (Mode.SHADOW, TRUE), (Mode.OFF, TRUE)):
            async with signing(keys, mode) as here:
                here.upstream.script(json_answer(chat_completion(text)))
                _, headers, _ = await here.post("/v1/chat/completions", PLAIN)
                assert "x-assay-receipt" not in headers
                here.upstream.script(stream_answer(chat_stream(text)))
                _, body = await streamed(here)
                assert b"receipts" not in body

    play(scene)


def test_a_stream_has_the_receipt_of_its_whole_text_in_its_last_comment(keys: Path) -> None:
    async def scene() -> None:
        for mode in (Mode.ENFORCE, Mode.ANNOTATE):
            async with signing(keys, mode) as here:
                here.upstream.script(stream_answer(chat_stream(TRUE)))
                _, body = await streamed(here)
                (receipt,) = trailer(body)["receipts"]
                assert verified(keys, TRUE, receipt) == 0

    play(scene)


def test_each_of_several_choices_has_its_own(keys: Path) -> None:
    async def scene() -> None:
        async with signing(keys) as here:
            two = chat_completion(TRUE)
            other = "Leave is paid in full."
            two["choices"].append({**two["choices"][0], "index": 1, "message": {"role": "assistant", "content": other}})
            here.upstream.script(json_answer(two))
            async with here.http.post(f"{here.url}/v1/chat/completions", json=PLAIN) as response:
                found = response.headers.getall("x-assay-receipt")
            assert [verified(keys, text, receipt) for text, receipt in zip((TRUE, other), found, strict=True)] == [0, 0]

    play(scene)


def test_a_revised_answer_has_the_receipt_of_its_last_version(keys: Path) -> None:
    async def scene() -> None:
        async with signing(keys, settings=revising()) as here:
            here.upstream.script(json_answer(chat_completion(WRONG)), json_answer(chat_completion(RIGHT)))
            _, headers, body = await here.post("/v1/chat/completions", CHAT)
            assert json.loads(body)["choices"][0]["message"]["content"] == RIGHT
            assert verified(keys, RIGHT, headers["x-assay-receipt"]) == 0
            assert verified(keys, WRONG, headers["x-assay-receipt"]) == 1

    play(scene)


def test_a_disclosure_is_part_of_what_is_signed_and_a_stream_without_it_is_stopped(keys: Path) -> None:
    half = {**PLAIN, "assay": {"policy": "rag"}}

    def listing(told: ServerSettings) -> ServerSettings:
        return replace(told, routes={name: replace(one, policies=("rag",)) for name, one in told.routes.items()})

    async def scene() -> None:
        async with signing(keys, scorer=UNSURE, settings=listing) as here:
            here.upstream.script(json_answer(chat_completion(GRANTED)))
            _, headers, body = await here.post("/v1/chat/completions", half)
            text = json.loads(body)["choices"][0]["message"]["content"]
            assert headers["x-assay-action"] == "revise"
            assert verified(keys, text, headers["x-assay-receipt"]) == 0
            here.upstream.script(stream_answer(chat_stream(GRANTED)))
            _, streamed_body = await streamed(here, body={**half, "stream": True})
            assert b"content_filter" in streamed_body
            assert b"granted" not in streamed_body.split(b'"assay"')[0]

    play(scene)


def test_a_key_that_cannot_sign_lets_nothing_out(keys: Path) -> None:
    async def scene() -> None:
        async with signing(keys) as here:
            for file in keys.glob("*.key"):
                file.unlink()
            here.upstream.script(json_answer(chat_completion(TRUE)))
            _, headers, body = await here.post("/v1/chat/completions", PLAIN)
            assert headers["x-assay-action"] == "unchecked"
            assert b"2 weeks" not in body

    play(scene)


def test_a_public_ring_cannot_sign_and_the_server_says_so_when_it_starts(keys: Path) -> None:
    environ = {"ASSAY_RECEIPT_KEYS": str(KeyStore(keys).ring_file)}
    with pytest.raises(ReceiptError):
        Guards("general", scorer=FakeScorer(), environ=environ)


def test_a_report_of_the_check_route_comes_with_a_receipt_where_it_emits(keys: Path) -> None:
    async def scene() -> None:
        async with signing(keys) as here:
            good = {**BODY, "answer": "Partners are entitled to 2 weeks of leave."}
            _, headers, body = await here.post("/v1/check", good)
            assert json.loads(body)["action"] == "emit"
            assert verified(keys, good["answer"], headers["x-assay-receipt"]) == 0
            _, headers, _ = await here.post("/v1/check", BODY)
            assert "x-assay-receipt" not in headers

    play(scene)
