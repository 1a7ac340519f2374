"""What goes wrong between a client and its upstream, one test for each: nothing hangs, and nothing slips out."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from tests.server.gateway_site import Site, limited, play, site
from tests.server.test_chat_stream import TRUE, asked, events, shown, streamed, trailer
from tests.server.upstream_script import Answer, chat_chunk, chat_completion, chat_stream, json_answer, stream_answer

from assay.server.settings import Mode, ServerSettings
from assay.server.settings import Upstream as UpstreamSetting
from assay.testing import FakeScorer

PLAIN: dict[str, Any] = {key: value for key, value in asked().items() if key != "stream"}
PATH = "/v1/chat/completions"


def call_parts(*parts: dict[str, Any]) -> list[bytes]:
    """A stream of parts of tool calls."""
    chunks = [chat_chunk({"role": "assistant", "content": None})]
    chunks += [chat_chunk({"tool_calls": [part]}) for part in parts]
    return [*chunks, chat_chunk({}, "tool_calls"), b"data: [DONE]\n\n"]


def opening(index: int, name: str) -> dict[str, Any]:
    return {"index": index, "id": f"c{index}", "type": "function", "function": {"name": name, "arguments": ""}}


def more(index: int, arguments: str) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments}}


ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": ORDER}} for name in ("cancel_order", "find")]


def with_tools() -> dict[str, Any]:
    return asked(tools=TOOLS, messages=[{"role": "user", "content": "Please cancel my orders W-1743 and W-1744."}])


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 529])
def test_an_error_of_the_upstream_comes_back_as_it_is(status: int) -> None:
    async def scene() -> None:
        async with site() as here:
            body = json.dumps({"error": {"message": "no", "type": "made_up", "code": status}}).encode()
            headers = {"content-type": "application/json", "retry-after": "7", "x-request-id": "r1"}
            here.upstream.script(Answer(body, status, headers))
            got, given, answer = await here.post(PATH, PLAIN)
            assert (got, answer) == (status, body)
            assert (given["retry-after"], given["x-request-id"]) == ("7", "r1")
            assert given["x-assay-action"] == "none"
            assert len(here.upstream.asked) == 1

    play(scene)


def test_a_request_that_a_proxy_did_not_serve_is_sent_again_but_not_for_ever() -> None:
    async def scene() -> None:
        async with site() as here:
            busy = Answer(b"busy", 503, {"content-type": "text/plain"})
            here.upstream.script(busy, json_answer(chat_completion(TRUE)))
            status, _, _ = await here.post(PATH, PLAIN)
            assert (status, len(here.upstream.asked)) == (200, 2)
            here.upstream.script(busy)
            status, _, body = await here.post(PATH, PLAIN)
            assert (status, body, len(here.upstream.asked)) == (503, b"busy", 3)

    play(scene)


def test_an_upstream_that_cannot_be_reached_is_an_error_in_the_formats_own_shape() -> None:
    def nowhere(told: ServerSettings) -> ServerSettings:
        return ServerSettings(upstreams=(UpstreamSetting("main", "http://127.0.0.1:9"),), limits=told.limits)

    async def scene() -> None:
        async with site(settings=nowhere) as here:
            status, _, body = await here.post(PATH, PLAIN)
            assert status == 502
            assert json.loads(body)["error"]["type"] == "server_error"

    play(scene)


def test_an_upstream_that_says_nothing_runs_out_of_time() -> None:
    async def scene() -> None:
        async with site(settings=limited(idle_s=0.2)) as here:
            here.upstream.script(Answer(silent=True))
            status, _, body = await here.post(PATH, PLAIN)
            assert status == 504
            assert "in time" in json.loads(body)["error"]["message"]

    play(scene)


def test_a_stream_that_falls_silent_ends_with_an_error_and_without_its_tail() -> None:
    async def scene() -> None:
        async with site(settings=limited(idle_s=0.3)) as here:
            chunks = chat_stream(TRUE)
            here.upstream.script(stream_answer(chunks, silent_after=len(chunks) - 3))
            _, body = await streamed(here)
            assert TRUE.startswith(shown_before_error(body))
            assert "approve" not in shown_before_error(body)
            assert "silent" in events(body)[-1]["error"]["message"]

    play(scene)


def shown_before_error(body: bytes) -> str:
    kept = b"\n\n".join(block for block in body.split(b"\n\n") if b'"error"' not in block)
    return shown(kept)


def test_a_stream_that_breaks_off_ends_with_an_error_and_without_its_tail() -> None:
    async def scene() -> None:
        async with site() as here:
            chunks = chat_stream(TRUE)
            here.upstream.script(stream_answer(chunks, breaks_after=len(chunks) - 3))
            _, body = await streamed(here)
            assert "approve" not in shown_before_error(body)
            assert "broke off" in events(body)[-1]["error"]["message"]
            assert trailer(body)["action"] == "unchecked"

    play(scene)


def test_an_answer_that_breaks_off_is_an_error() -> None:
    async def scene() -> None:
        async with site() as here:
            headers = {"content-type": "application/json"}
            here.upstream.script(Answer(chunks=[b'{"choices": ', b"x"], headers=headers, breaks_after=1))
            status, _, body = await here.post(PATH, PLAIN)
            assert status == 502
            assert "broke off" in json.loads(body)["error"]["message"]

    play(scene)


def test_an_error_inside_of_a_stream_ends_it_without_what_was_held_back() -> None:
    async def scene() -> None:
        async with site() as here:
            error = b'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n'
            here.upstream.script(stream_answer([*chat_stream(TRUE)[:-3], error]))
            _, body = await streamed(here)
            assert "approve" not in shown_before_error(body)
            assert error in body

    play(scene)


def test_an_answer_that_is_no_json_is_withheld() -> None:
    async def scene() -> None:
        async with site() as here:
            for raw in (b"<html>4 weeks</html>", b'{"choices": [{"message": ', b"[]", b'{"choices": 3}', b"{}"):
                here.upstream.script(Answer(raw))
                status, headers, body = await here.post(PATH, PLAIN)
                assert headers["x-assay-action"] == "unchecked"
                assert b"4 weeks" not in body
                assert status in (200, 502)

    play(scene)


def test_a_body_of_fifty_megabytes_is_refused_before_it_is_read() -> None:
    async def scene() -> None:
        async with site() as here:
            body = json.dumps(PLAIN).encode()[:-1] + b', "pad": "' + b"x" * 50_000_000 + b'"}'
            try:
                status, _, answer = await here.post(PATH, body)
            except aiohttp.ClientConnectionError:
                pass  # the connection was closed while the rest was still being sent
            else:
                assert status == 413
                assert "bytes" in json.loads(answer)["error"]["message"]
            assert here.upstream.asked == []

    play(scene)


def test_an_answer_of_fifty_megabytes_is_not_let_out_unchecked() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(json_answer(chat_completion("x" * 50_000_000)))
            status, _, body = await here.post(PATH, PLAIN)
            assert (status, len(body) < 1000) == (502, True)

    play(scene)


def test_a_request_that_is_nested_too_deep_or_no_json_is_refused() -> None:
    async def scene() -> None:
        async with site() as here:
            deep = b'{"messages": ' + b"[" * 5000 + b"]" * 5000 + b"}"
            for body in (
                deep,
                b'{"a": 1, "a": 2}',
                b"nothing",
                b"[]",
                b"\xff",
                b'{"messages":' + b"[" * 150 + b"]" * 150 + b"}",
            ):
                status, _, answer = await here.post(PATH, body)
                assert status == 400
                assert json.loads(answer)["error"]["type"] == "invalid_request_error"
            assert here.upstream.asked == []

    play(scene)


def test_a_tool_call_split_over_chunks_is_held_until_it_is_whole_and_then_goes_out_as_it_came() -> None:
    async def scene() -> None:
        async with site() as here:
            parts = [more(0, piece) for piece in ('{"ord', 'er_id": ', '"W-17', '43"}')]
            chunks = call_parts(opening(0, "cancel_order"), *parts)
            here.upstream.script(stream_answer(chunks))
            _, body = await streamed(here, body=with_tools())
            assert body.startswith(b"".join(chunks))
            assert trailer(body)["action"] == "emit"

    play(scene)


def test_nothing_of_a_tool_call_with_an_invented_argument_goes_out() -> None:
    async def scene() -> None:
        async with site() as here:
            chunks = call_parts(opening(0, "cancel_order"), more(0, '{"order_id": '), more(0, '"W-9999"}'))
            here.upstream.script(stream_answer(chunks))
            _, body = await streamed(here, body=with_tools())
            told = [event for event in events(body) if event != "[DONE]"]
            assert all("tool_calls" not in choice["delta"] for event in told for choice in event["choices"])
            assert told[-1]["choices"][0]["finish_reason"] == "content_filter"
            call = told[-1]["assay"]["tool_calls"][0]
            assert (call["tool"], call["status"]) == ("cancel_order", "rejected")
            assert "order_id" in call["feedback"]

    play(scene)


def test_interleaved_parallel_tool_calls_are_put_together_each_from_its_own_parts() -> None:
    async def scene() -> None:
        async with site() as here:
            good = call_parts(
                opening(0, "cancel_order"),
                opening(1, "find"),
                more(1, '{"order_id": "W-'),
                more(0, '{"order_id"'),
                more(1, '1744"}'),
                more(0, ': "W-1743"}'),
            )
            here.upstream.script(stream_answer(good))
            _, body = await streamed(here, body=with_tools())
            assert body.startswith(b"".join(good))
            bad = call_parts(
                opening(0, "cancel_order"),
                opening(1, "find"),
                more(1, '{"order_id": "W-'),
                more(0, '{"order_id"'),
                more(1, '8888"}'),
                more(0, ': "W-1743"}'),
            )
            here.upstream.script(stream_answer(bad))
            _, body = await streamed(here, body=with_tools())
            assert b'"tool_calls":[{"index"' not in body.replace(b" ", b"")
            assert trailer(body)["action"] == "revise"

    play(scene)


def test_a_client_that_vanishes_cancels_the_call_of_the_upstream() -> None:
    async def scene() -> None:
        async with site() as here:
            chunks = chat_stream(TRUE)
            here.upstream.script(stream_answer(chunks, silent_after=20))
            async with here.http.post(f"{here.url}{PATH}", json=asked()) as response:
                await response.content.readany()
                response.close()
            await here.upstream.gone.wait()
            await answers_again(here)

    play(scene)


def test_a_client_that_vanishes_before_the_answer_cancels_the_call_of_the_upstream() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(Answer(silent=True))
            asking = asyncio.create_task(here.post(PATH, PLAIN))
            while not here.upstream.asked:
                await asyncio.sleep(0.005)
            asking.cancel()
            await here.upstream.gone.wait()
            await answers_again(here)

    play(scene)


async def answers_again(here: Site) -> None:
    """The gateway still works, and holds nothing of the request that went wrong."""
    here.upstream.script(json_answer(chat_completion(TRUE)))
    status, headers, _ = await here.post(PATH, PLAIN)
    assert (status, headers["x-assay-action"]) == (200, "emit")
    assert here.app._in_flight.total == 0


class SlowScorer(FakeScorer):
    """Takes its time over every pair."""

    def score(self, pairs: Any) -> Any:
        import time

        time.sleep(0.4)
        return super().score(pairs)


def test_a_check_that_takes_too_long_withholds_the_answer() -> None:
    async def scene() -> None:
        async with site(scorer=SlowScorer(), settings=limited(check_s=0.05)) as here:
            here.upstream.script(json_answer(chat_completion(TRUE)))
            _, headers, body = await here.post(PATH, PLAIN)
            assert headers["x-assay-action"] == "unchecked"
            assert b"2 weeks" not in body
            assert json.loads(body)["choices"][0]["finish_reason"] == "content_filter"

    play(scene)


def test_a_full_queue_withholds_answers_and_marks_them_where_they_are_only_annotated() -> None:
    async def scene() -> None:
        for mode in (Mode.ENFORCE, Mode.ANNOTATE):
            tight = limited(check_queue=1, check_threads=1)
            async with site(mode, scorer=SlowScorer(), settings=tight) as here:
                here.upstream.script(json_answer(chat_completion(TRUE)))
                found = await asyncio.gather(*(here.post(PATH, PLAIN) for _ in range(4)))
                actions = sorted(headers["x-assay-action"] for _, headers, _ in found)
                assert actions[0] == "emit"
                assert actions[-1] == "unchecked"
                for _, headers, body in found:
                    if headers["x-assay-action"] == "unchecked":
                        assert (b"2 weeks" in body) == (mode is Mode.ANNOTATE)
                        assert json.loads(body)["assay"]["action"] == "unchecked"

    play(scene)


def test_more_requests_than_the_server_takes_are_told_to_come_again() -> None:
    async def scene() -> None:
        async with site(settings=limited(in_flight=1)) as here:
            here.upstream.script(Answer(silent=True))
            first = asyncio.create_task(here.post(PATH, PLAIN))
            while not here.upstream.asked:
                await asyncio.sleep(0.005)
            status, headers, body = await here.post(PATH, PLAIN)
            assert (status, headers["retry-after"]) == (503, "1")
            assert "error" in json.loads(body)
            first.cancel()

    play(scene)


def test_a_compressed_answer_is_not_let_out_unchecked() -> None:
    async def scene() -> None:
        async with site() as here:
            import gzip

            zipped = gzip.compress(json.dumps(chat_completion(TRUE)).encode())
            here.upstream.script(
                Answer(zipped, headers={"content-type": "application/json", "content-encoding": "gzip"})
            )
            status, given, _ = await here.post(PATH, PLAIN, accept_encoding="gzip")
            assert here.upstream.asked[0].header("accept-encoding") == "identity"
            assert (status, given["x-assay-action"]) == (502, "unchecked")

    play(scene)


def test_a_server_that_stops_answers_what_it_has_accepted() -> None:
    async def scene() -> None:
        gate = asyncio.Event()
        chunks = chat_stream(TRUE)
        async with site() as here:
            here.upstream.script(stream_answer(chunks, gates={len(chunks) - 4: gate}))
            asking = asyncio.create_task(streamed(here))
            while not here.upstream.asked:
                await asyncio.sleep(0.005)
            asyncio.get_running_loop().call_later(0.2, gate.set)
            url = here.url
            await leave(here)
            _, body = await asking
            assert shown(body) == TRUE
            with pytest.raises(aiohttp.ClientConnectionError):
                await here.http.get(f"{url}/healthz")

    play(scene)


async def leave(here: Site) -> None:
    """Tells the server to stop, while its upstream goes on."""
    here.server.should_exit = True
    await asyncio.sleep(0.05)
