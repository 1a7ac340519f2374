"""Warms a server up before it is forked, so that its workers share the memory.

A page of memory is shared by forked processes until one of them writes to it. So everything that can be loaded before
the fork is loaded then, by checking samples once. Pages with Python's objects are copied all the same: reading an
object changes its reference count, which is next to it.
"""

import asyncio
import contextlib
import json
import logging
import tempfile
import threading
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.errors import AssayError

if TYPE_CHECKING:
    from assay.models import PairScorer
    from assay.policy import Policy

SAMPLES: Final = (
    "On 3 March 2024 Ada Byrne paid 20% of 1,200 euros. The staff did not get 4 weeks of leave [1].",
    "Partners are entitled to 2 weeks of leave.",
    "Partners get 3 weeks of leave, which they have to take within 12 months.",
)
"""Outputs that the evidence supports, contradicts and leaves open: each takes a different path through a check."""
_THREAD_END_S: Final = 30.0
"""Seconds that a thread gets to end."""
_EVIDENCE: Final = (SAMPLES[0], "Partners are entitled to 2 weeks of leave.")
_QUESTION: Final = "How long is the leave?"


def warm(policy: "Policy", scorer: "PairScorer", *, with_store: bool) -> None:
    """Load what the first requests would load. Nothing but the network is asked, and nothing is recorded except in a
    temporary database; all threads that it starts end with it.

    Args:
        policy: the policy in force, under which the samples are checked.
        scorer: the network.
        with_store: whether the server has a database.
    """
    from assay.guard import Guard
    from assay.models import EmbeddedConflicts

    running = set(threading.enumerate())
    # Without a chat model and without sources: nothing leaves the process.
    checking = Guard(policy, scorer=scorer)
    for sample in SAMPLES:
        with contextlib.suppress(AssayError):
            checking.check(sample, list(_EVIDENCE), question=_QUESTION)
    with contextlib.suppress(AssayError):
        EmbeddedConflicts().probabilities([(SAMPLES[1], SAMPLES[2])])
    if with_store:
        # What cannot be warmed up is loaded by each worker: the server starts all the same.
        with contextlib.suppress(AssayError, OSError), _logging_off(), tempfile.TemporaryDirectory() as folder:
            asyncio.run(_answer_all(Path(folder) / "warm.db", scorer))
    for thread in set(threading.enumerate()) - running:
        thread.join(_THREAD_END_S)  # a pool that was closed does not wait for its last thread


@contextlib.contextmanager
def _logging_off() -> Iterator[None]:
    """Disables logging: lines about the samples are not about the server."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        yield
    finally:
        logging.disable(before)


async def _answer_all(database: Path, scorer: "PairScorer") -> None:
    """Checks through a whole application over an empty database."""
    from assay.server.app import create_app
    from assay.server.guards import Guards
    from assay.server.settings import ServerSettings
    from assay.server.telemetry.telemetry import Telemetry

    settings = ServerSettings(database=str(database))
    # No source is asked, and nothing is counted among the server's figures.
    app = create_app(
        settings, guards=lambda: Guards(scorer=scorer, environ={}, database=str(database)), telemetry=Telemetry()
    )
    async with app.lifespan():
        for sample in SAMPLES:
            body = json.dumps({"answer": sample, "evidence": list(_EVIDENCE), "question": _QUESTION}).encode()
            await app(_scope(body), _ReceiveOnce(body), _ignore)


def _scope(body: bytes) -> dict[str, Any]:
    address = ("127.0.0.1", 1)
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/v1/check",
        "raw_path": b"/v1/check",
        "query_string": b"",
        "root_path": "",
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ],
        "client": address,
        "server": address,
    }


class _ReceiveOnce:
    """A `receive` that returns a body once, and then waits like a client that stays connected."""

    def __init__(self, body: bytes) -> None:
        self._parts = [body]

    async def __call__(self) -> dict[str, Any]:
        if not self._parts:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": self._parts.pop(), "more_body": False}


async def _ignore(message: MutableMapping[str, Any]) -> None:
    """A `send` that drops the answer."""
