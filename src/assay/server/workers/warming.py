"""What a server does before it is forked, so that its workers share the pages of it.

A page of memory is shared by forked processes until one of them writes into it. What a worker makes for itself is its
own, so everything that can be made before the fork is made there, by doing all of it once with a sample. What remains
are the pages of Python's values: each has a count of references beside it, which is written when it is looked at.
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
"""What evidence says, what it contradicts and what it leaves open: each goes a way of its own through a check."""
_ENDING_S: Final = 30.0
"""Seconds that a thread gets to end."""
_EVIDENCE: Final = (SAMPLES[0], "Partners are entitled to 2 weeks of leave.")
_QUESTION: Final = "How long is the leave?"


def warm(policy: "Policy", scorer: "PairScorer", *, with_store: bool) -> None:
    """Loads and does once what the first requests would. Nothing is asked but the network, and nothing is recorded but
    in a database of its own, which is deleted; all threads end with it.

    Args:
        policy: the one in force; a check under it reads what its checks read.
        scorer: the network.
        with_store: whether there are routes over a database.
    """
    from assay.guard import Guard

    running = set(threading.enumerate())
    # Without a chat model and without sources: nobody outside hears of it.
    checking = Guard(policy, scorer=scorer)
    for sample in SAMPLES:
        with contextlib.suppress(AssayError):
            checking.check(sample, list(_EVIDENCE), question=_QUESTION)
    if with_store:
        # What cannot be warmed up is made by each worker: a server starts all the same.
        with contextlib.suppress(AssayError, OSError), _silence(), tempfile.TemporaryDirectory() as folder:
            asyncio.run(_answer_all(Path(folder) / "warm.db", scorer))
    for thread in set(threading.enumerate()) - running:
        thread.join(_ENDING_S)  # a pool that was closed does not wait for its last thread


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Nothing is logged: what an application says of its sample is no news of the server."""
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
    made = create_app(
        settings, guards=lambda: Guards(scorer=scorer, environ={}, database=str(database)), telemetry=Telemetry()
    )
    async with made.lifespan():
        for sample in SAMPLES:
            body = json.dumps({"answer": sample, "evidence": list(_EVIDENCE), "question": _QUESTION}).encode()
            await made(_scope(body), _Body(body), _ignore)


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


class _Body:
    """Gives a body once; a client that stays and sends nothing more afterwards."""

    def __init__(self, body: bytes) -> None:
        self._parts = [body]

    async def __call__(self) -> dict[str, Any]:
        if not self._parts:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": self._parts.pop(), "more_body": False}


async def _ignore(message: MutableMapping[str, Any]) -> None:
    """The answer is for nobody."""
