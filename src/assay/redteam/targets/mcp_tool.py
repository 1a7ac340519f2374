"""A tool of an MCP server as a target: its arguments are a template, its result is the answer.

One session serves all calls of a run. A server that died is started anew for the next call; the call during which it
died is a failure of the target. The extra `mcp` installs what this needs; tested with mcp 2.3.
"""

import asyncio
import atexit
import concurrent.futures
import importlib.util
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from assay.errors import InputError, MissingPackageError
from assay.redteam.targets.chat_endpoint import messages_of
from assay.redteam.targets.interface import LONGEST_ANSWER, Reply, Request, TargetError, text_of
from assay.redteam.targets.templates import Template, at_pointer, text_at

_CLOSING_S: Final = 5.0
"""Seconds that a session may take to end."""


@dataclass(frozen=True, slots=True)
class McpSettings:
    """One tool of one server."""

    tool: str
    arguments: Mapping[str, Any]
    """A tree with places."""
    command: tuple[str, ...] = ()
    """What starts a server on standard input and output."""
    url: str | None = None
    """A server over streamable HTTP, in its place."""
    answer: str | None = None
    """Where the answer stands in structured content, or in JSON as text where there is none; the text without it."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables that the process gets beside the harmless ones that it needs to start."""


class McpTool:
    """Calls a tool for each request."""

    def __init__(self, settings: McpSettings, name: str, timeout_s: float = 60.0) -> None:
        """Reads the template; the server is started by the first call.

        Raises:
            MissingPackageError: the package `mcp` is not installed.
            InputError: neither or both of a command and an address, or a template that cannot be used.
        """
        if importlib.util.find_spec("mcp") is None:
            raise MissingPackageError("a target of kind mcp needs the package mcp: pip install 'assay-ai[mcp]'")
        if bool(settings.command) == bool(settings.url):
            raise InputError(f"{name}: expected either a command or a url of an MCP server")
        self.name = name
        self._settings, self._timeout_s = settings, timeout_s
        self._template = Template(dict(settings.arguments), name)
        self._lock = threading.Lock()
        self._session: _Session | None = None

    def ask(self, request: Request) -> Reply:
        """What the tool gives.

        Raises:
            TargetError: the server cannot be reached, its tool failed, or it took too long.
        """
        arguments = self._template.filled(request, messages_of(request), self.name)
        with self._lock:
            if self._session is None or self._session.is_over:
                self._session = _Session(self._settings, self._timeout_s, self.name)
            session = self._session
        result = session.call(self._settings.tool, arguments)
        texts: list[str] = [one.text for one in result.content if getattr(one, "type", "") == "text"]
        if result.is_error:
            raise TargetError(f"{self.name}: its tool failed: {' '.join(texts)[:300]}")
        if sum(map(len, texts)) > LONGEST_ANSWER:
            raise TargetError(f"{self.name}: expected at most {LONGEST_ANSWER:,} characters")
        if self._settings.answer is not None:
            value = result.structured_content
            if at_pointer(value, self._settings.answer) is None:
                value = _json_of(texts)
            return Reply(text_of(text_at(value, self._settings.answer, self.name), self.name))
        if not texts:
            raise TargetError(f"{self.name}: the result has no text; declare `answer` to point into structured content")
        return Reply(text_of("\n".join(texts), self.name))

    def close(self) -> None:
        """Ends the session and with it a server on standard input and output."""
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None


class _Session:
    """A client within an event loop of its own, in a thread of its own."""

    def __init__(self, settings: McpSettings, timeout_s: float, name: str) -> None:
        self._settings, self._timeout_s, self._name = settings, timeout_s, name
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._client: Any = None
        self._stop: asyncio.Event | None = None
        self._error: BaseException | None = None
        self.is_over = False
        self._thread = threading.Thread(target=self._run, daemon=True, name=name)
        self._thread.start()
        atexit.register(self.close)
        if not self._ready.wait(timeout_s) or self._client is None:
            self.is_over = True
            why = f"{type(self._error).__name__}: {self._error}" if self._error else "it did not answer in time"
            self.close()
            raise TargetError(f"{name}: the server cannot be reached: {why}"[:500])

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._hold())
        except BaseException as error:  # noqa: BLE001 whatever ended the session, the next call begins another
            self._error = _first(error)
        finally:
            self.is_over = True
            self._ready.set()
            self._loop.close()

    async def _hold(self) -> None:
        from mcp import Client, StdioServerParameters

        settings = self._settings
        server: Any = settings.url or StdioServerParameters(
            command=settings.command[0], args=list(settings.command[1:]), env=dict(settings.environment) or None
        )
        self._stop = asyncio.Event()
        async with Client(server) as client:
            self._client = client
            self._ready.set()
            await self._stop.wait()

    def call(self, tool: str, arguments: Any) -> Any:
        """The result of a tool."""
        try:
            future = asyncio.run_coroutine_threadsafe(self._client.call_tool(tool, arguments), self._loop)
        except RuntimeError as error:
            self.is_over = True
            raise TargetError(f"{self._name}: the session is over") from error
        try:
            return future.result(self._timeout_s)
        except concurrent.futures.TimeoutError as error:
            future.cancel()
            raise TargetError(f"{self._name}: no answer within {self._timeout_s:g} seconds") from error
        except (Exception, concurrent.futures.CancelledError) as error:
            self.close()  # what broke off one call may have broken the session: the next call begins another
            raise TargetError(f"{self._name}: {type(_first(error)).__name__}: {_first(error)}"[:500]) from error

    def close(self) -> None:
        self.is_over = True
        atexit.unregister(self.close)
        if self._loop.is_closed():
            return
        try:
            if self._stop is not None:
                self._loop.call_soon_threadsafe(self._stop.set)
        except RuntimeError:
            return
        if threading.current_thread() is not self._thread:
            self._thread.join(_CLOSING_S)


def _json_of(texts: Sequence[str]) -> Any:
    """The JSON that the text of a result is; none where it is other text. Servers of MCP before 2025-06-18, and tools
    without an output schema, give as text what others give as structured content."""
    try:
        return json.loads("\n".join(texts))
    except (ValueError, RecursionError):
        return None


def _first(error: BaseException) -> BaseException:
    """The error that a group of tasks ended with."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
