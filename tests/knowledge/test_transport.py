"""One request: what other sides do that they should not is a failure in time and never an answer."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from tests.knowledge.sites import MISBEHAVING, as_json, raw, refuses, served

from assay.errors import SourceError
from assay.knowledge.interface import Deadline
from assay.knowledge.kinds.transport import Request, fetch, require_ok

SECONDS = 0.5
LATE = 3.0  # what a busy machine may add
MOST = 100_000


@pytest.mark.parametrize("name", sorted(set(MISBEHAVING) - {"announces too little"}))
def test_a_server_that_does_not_behave_is_a_failure_in_time(name: str) -> None:
    with raw(MISBEHAVING[name]) as url:
        begun = time.monotonic()
        with pytest.raises(SourceError):
            fetch(Request(f"{url}/x"), Deadline(SECONDS), MOST)
        assert time.monotonic() - begun < SECONDS + LATE


def test_of_50_megabytes_no_more_is_held_than_is_allowed() -> None:
    with raw(MISBEHAVING["floods"]) as url:
        tracemalloc.start()
        with pytest.raises(SourceError, match="more than the 100,000 bytes"):
            fetch(Request(url), Deadline(5), MOST)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 10_000_000


def test_what_is_announced_too_large_is_not_read() -> None:
    with raw(MISBEHAVING["announces 50 MB"]) as url, pytest.raises(SourceError, match="announced 50,000,000 bytes"):
        fetch(Request(url), Deadline(5), MOST)


def test_a_body_that_ends_early_is_no_answer() -> None:
    with (
        raw(MISBEHAVING["closes too early"]) as url,
        pytest.raises(SourceError, match="announced 5,000 bytes and sent"),
    ):
        fetch(Request(url), Deadline(5), MOST)


def test_nobody_at_the_address_is_said_to_refuse() -> None:
    with refuses() as url, pytest.raises(SourceError, match="refused the connection"):
        fetch(Request(url), Deadline(5), MOST)


def test_redirects_are_not_followed() -> None:
    seen = []

    def route(path: str, *_: object) -> tuple[int, dict[str, str], bytes]:
        seen.append(path)
        return 302, {"Location": "/elsewhere"}, b""

    with served(route) as url:
        response = fetch(Request(f"{url}/here"), Deadline(5), MOST)
        with pytest.raises(SourceError, match="redirects are not followed"):
            require_ok(response)
    assert seen == ["/here"]


def test_compressed_bodies_are_not_unpacked() -> None:
    answer = 200, {"Content-Encoding": "gzip"}, b"\x1f\x8b"
    with served(lambda *_: answer) as url, pytest.raises(SourceError, match="compressed"):
        fetch(Request(url), Deadline(5), MOST)


def test_no_address_and_no_credential_is_in_a_message() -> None:
    with refuses() as url, pytest.raises(SourceError) as caught:
        fetch(Request(f"{url}/private", headers=(("Authorization", "Bearer s3cret"),)), Deadline(5), MOST)
    assert "s3cret" not in str(caught.value)
    assert "private" not in str(caught.value)


def test_an_answer_is_read_whole() -> None:
    with served(lambda *_: as_json({"text": "x" * 90_000})) as url:
        assert len(fetch(Request(url), Deadline(5), MOST).body) > 90_000
