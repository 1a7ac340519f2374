"""A scripted upstream for clients of the official SDKs, and what they ask it."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from tests.server.upstream_script import Answer, Upstream, serving_upstream

from assay.guard import Guard
from assay.testing import FakeScorer

EVIDENCE = "Partners are entitled to 2 weeks of leave. Leave is paid in full. Order W-1743 belongs to Anna."
TRUE = "Partners are entitled to 2 weeks of leave. Leave is paid in full."
FALSE = "Leave is paid in full. Partners are entitled to 4 weeks of leave."
CALL = {"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"order_id": "W-1743"}'}}
INVENTED = {"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"order_id": "X-1"}'}}
SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
ASKED = "Cancel order W-1743. How long is leave?"
CHAT: dict[str, Any] = {
    "model": "model-1",
    "messages": [{"role": "system", "content": EVIDENCE}, {"role": "user", "content": ASKED}],
    "tools": [{"type": "function", "function": {"name": "cancel", "parameters": SCHEMA}}],
}
RESPONSE: dict[str, Any] = {
    "model": "model-1",
    "instructions": EVIDENCE,
    "input": ASKED,
    "tools": [{"type": "function", "name": "cancel", "parameters": SCHEMA, "strict": False}],
}
MESSAGE: dict[str, Any] = {
    "model": "model-1",
    "max_tokens": 100,
    "system": EVIDENCE,
    "messages": [{"role": "user", "content": ASKED}],
    "tools": [{"name": "cancel", "input_schema": SCHEMA}],
}
TOOL_USE: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "cancel", "input": {"order_id": "W-1743"}}
FUNCTION_CALL: dict[str, Any] = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "c1",
    "name": "cancel",
    "arguments": '{"order_id": "W-1743"}',
    "status": "completed",
}


def guard() -> Guard:
    return Guard("general", scorer=FakeScorer())


_LOOPS: dict[str, asyncio.AbstractEventLoop] = {}


def loop_of(here: Upstream) -> asyncio.AbstractEventLoop:
    """The event loop of an upstream, for what is set from another thread."""
    return _LOOPS[here.url]


@contextmanager
def upstream(*answers: Answer) -> Iterator[Upstream]:
    """An upstream on an event loop of its own, so that clients that wait can ask it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def run(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(60)

    async def enter() -> tuple[Any, Upstream]:
        context = serving_upstream()
        return context, await context.__aenter__()

    context, here = run(enter())
    here.script(*answers)
    _LOOPS[here.url] = loop
    try:
        yield here
    finally:
        run(context.__aexit__(None, None, None))
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


def play(scene: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Runs a scene, with a bound on its time that no honest run comes near."""
    return asyncio.run(asyncio.wait_for(scene(), 60))


def dumped(value: Any) -> Any:
    return value.model_dump(mode="json")
