"""Answers kept on disk by the content of their requests, for a time."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError
from assay.models.chat.interface import ChatModel, ChatRequest, Choice, Completion, Finish, TokenLogprob, Usage
from assay.models.chat.tape import request_key
from assay.models.chat.wrapping import ChatWrapper

DAY_S: Final = 86_400.0
_LOG: Final = logging.getLogger(__name__)
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, made REAL NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_made ON answers (made);
"""


def is_repeatable(request: ChatRequest) -> bool:
    """Whether a kept answer may be given: a request with a temperature above 0 and no seed asks for a fresh sample."""
    return request.temperature == 0 or request.seed is not None


class ChatCache:
    """A file of answers. Its owner alone may read it; several threads and processes may use it at once.

    A file that is damaged or cannot be written never stops a check: it counts as empty, and a warning is logged.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        keep_s: float = 7 * DAY_S,
        most: int = 20_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Name the file; nothing is opened.

        Args:
            path: the file; its folder is made with it.
            keep_s: seconds for which an answer may be given again.
            most: answers that are kept; the oldest go first.
            clock: seconds since the epoch.

        Raises:
            InputError: nothing could be kept.
        """
        if keep_s <= 0 or most < 1:
            raise InputError(f"a cache keeps at least one answer for some time, got keep_s={keep_s}, most={most}")
        self._path = Path(path)
        self._keep_s = keep_s
        self._most = most
        self._clock = clock

    def get(self, key: bytes) -> Completion | None:
        """The answer that was kept under a key, marked as such; none where there is none or it is too old."""
        now = self._clock()
        try:
            if not self._path.exists():
                return None
            with closing(self._open()) as database:
                found = database.execute(
                    "SELECT body FROM answers WHERE key = ? AND made > ? AND made <= ?", (key, now - self._keep_s, now)
                ).fetchone()
        except (sqlite3.Error, OSError) as error:
            _LOG.warning("the cache %s cannot be read and counts as empty: %s", self._path, error)
            return None
        return None if found is None else _unpacked(found[0])

    def put(self, key: bytes, completion: Completion) -> None:
        """Keep an answer, and drop those that are too old or too many."""
        now = self._clock()
        try:
            with closing(self._open()) as database, database:
                database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, now, _packed(completion)))
                database.execute("DELETE FROM answers WHERE made <= ?", (now - self._keep_s,))
                database.execute(
                    "DELETE FROM answers WHERE key IN (SELECT key FROM answers ORDER BY made DESC LIMIT -1 OFFSET ?)",
                    (self._most,),
                )
        except (sqlite3.Error, OSError) as error:
            _LOG.warning("the cache %s cannot be written: %s", self._path, error)

    def _open(self) -> sqlite3.Connection:
        """A connection for one use: nothing is held that a fork or another thread could share by mistake."""
        if not self._path.exists():
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))  # prompts may be confidential
        database = sqlite3.connect(self._path, timeout=5.0)
        try:
            database.executescript(_TABLE)
        except sqlite3.Error:
            database.close()
            raise
        return database


class Cached(ChatWrapper):
    """A chat model that gives kept answers again. Only whole answers to repeatable requests are kept."""

    def __init__(self, model: ChatModel, cache: ChatCache) -> None:
        self._model = model
        self._cache = cache

    def complete(self, request: ChatRequest) -> Completion:
        """The answer, kept or new."""
        if not is_repeatable(request):
            return self._model.complete(request)
        key = request_key(self.digest, request)
        kept = self._cache.get(key)
        if kept is not None:
            return kept
        made = self._model.complete(request)
        if _worth_keeping(made):
            self._cache.put(key, made)
        return made

    async def acomplete(self, request: ChatRequest) -> Completion:
        """As `complete`, without blocking the event loop."""
        if not is_repeatable(request):
            return await self._model.acomplete(request)
        key = request_key(self.digest, request)
        kept = await asyncio.to_thread(self._cache.get, key)
        if kept is not None:
            return kept
        made = await self._model.acomplete(request)
        if _worth_keeping(made):
            await asyncio.to_thread(self._cache.put, key, made)
        return made


def _worth_keeping(made: Completion) -> bool:
    return all(choice.complete for choice in made.choices)


def _packed(completion: Completion) -> str:
    return json.dumps(asdict(completion))


def _unpacked(body: str) -> Completion | None:
    """What was kept; none where it cannot be read."""
    try:
        value = json.loads(body)
        choices = tuple(read_choice(one) for one in value["choices"])
        made = Completion(choices, Usage(**value["usage"]), value["model"])
    except (ValueError, KeyError, TypeError):
        return None
    return replace(made, calls=0, cached=True) if choices and all(c.complete for c in choices) else None


def read_choice(value: Mapping[str, Any]) -> Choice:
    """An answer out of the JSON value that `dataclasses.asdict` makes of it.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    logprobs = value["logprobs"]
    tokens = (
        None
        if logprobs is None
        else tuple(
            TokenLogprob(one["token"], one["logprob"], tuple((t, p) for t, p in one["alternatives"]))
            for one in logprobs
        )
    )
    text = value["text"]
    if not isinstance(text, str):
        raise TypeError
    return Choice(text, Finish(value["finish"]), value["refusal"], tokens)
