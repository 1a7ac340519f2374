"""What a server does before it is forked, so that its workers share the pages of it.

A page of memory is shared by forked processes until one of them writes into it. Python writes much: every function
that is called and every value that is looked at has a count of references beside it, and what is made new goes into
the gaps that older values left behind, all over the memory. So everything that can be made before the fork is made
there, by doing all of it once with a sample, and the gaps are filled.
"""

import asyncio
import contextlib
import ctypes
import json
import sys
import tempfile
from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.errors import AssayError

if TYPE_CHECKING:
    from assay.models import PairScorer
    from assay.policy import Policy

SAMPLE: Final = "On 3 March 2024 Ada Byrne paid 20% of 1,200 euros. The staff did not get 4 weeks of leave [1]."
_EVIDENCE: Final = (SAMPLE, "Partners are entitled to 2 weeks of leave.")
_QUESTION: Final = "How long is the leave?"

_POOL_BYTES: Final = 16 * 1024
"""A pool of Python's allocator: blocks of one size (`Objects/obmalloc.c`, 3.10 and later)."""
_LARGEST: Final = 512
"""The largest block of Python's allocator, in bytes; sizes go in steps of 16."""
_MOST_BLOCKS: Final = 50_000
"""Blocks of one size that are filled at most: a bound for an allocator that works otherwise."""


def warm(policy: "Policy", scorer: "PairScorer", *, with_store: bool) -> None:
    """Loads and does once what the first requests would. Nothing is asked but the network, and nothing is recorded but
    in a database of its own, which is deleted; all threads end with it.

    Args:
        policy: the one in force; a check under it reads what its checks read.
        scorer: the network.
        with_store: whether there are routes over a database.
    """
    from assay.guard import Guard

    # Without a chat model and without sources: nobody outside hears of it.
    checking = Guard(policy, scorer=scorer)
    with contextlib.suppress(AssayError):
        checking.check(SAMPLE, list(_EVIDENCE), question=_QUESTION)
    if with_store:
        with tempfile.TemporaryDirectory(prefix="assay-warm-") as folder, contextlib.suppress(AssayError):
            asyncio.run(_answer_one(Path(folder) / "warm.db", scorer))


async def _answer_one(database: Path, scorer: "PairScorer") -> None:
    """One check through a whole application over an empty database."""
    from assay.server.app import create_app
    from assay.server.guards import Guards
    from assay.server.settings import ServerSettings
    from assay.server.telemetry.telemetry import Telemetry

    settings = ServerSettings(database=str(database))
    body = json.dumps({"answer": SAMPLE, "evidence": list(_EVIDENCE), "question": _QUESTION}).encode()
    # Of the environment nothing is taken: no keys, no sources, no figures.
    made = create_app(
        settings, guards=lambda: Guards(scorer=scorer, environ={}, database=str(database)), telemetry=Telemetry()
    )
    async with made.lifespan():
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


def fill_gaps() -> list[bytes]:
    """Fills the gaps between Python's values, so that what is made later goes into new pages.

    Returns:
        What fills them, for as long as they are to stay filled. Some megabytes, which all processes share.
    """
    kept: list[bytes] = []
    if sys.implementation.name != "cpython":
        return kept
    head = sys.getsizeof(b"")
    for size in range((head // 16 + 1) * 16, _LARGEST + 1, 16):
        whole, run, last = (_POOL_BYTES - 48) // size - 1, 0, 0
        for _ in range(_MOST_BLOCKS):
            block = bytes(size - head)
            kept.append(block)
            # Blocks of a pool that nobody used before come one behind the other: there were no gaps left.
            run = run + 1 if id(block) == last + size else 0
            last = id(block)
            if run >= whole:
                break
    return kept


def give_back_free_memory() -> None:
    """Gives free pages of C's allocator back to the system, where it is glibc's."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
