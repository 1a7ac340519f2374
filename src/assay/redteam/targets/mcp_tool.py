"""A tool of an MCP server as a target: its arguments are a template, and its result is the answer.

One session serves all calls of a run. A server that died is restarted for the next call; the call during which it died
is a failure of the target. The extra `mcp` installs the requirements; tested with mcp 2.3.
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
"""The most seconds to wait for a session to close."""


@dataclass(frozen=True, slots=True)
class McpSettings:
    """The settings of one tool of one server."""

    tool: str
    arguments: Mapping[str, Any]
    """The template of the arguments: a JSON value with placeholders."""
    command: tuple[str, ...] = ()
    """The command that starts a server on standard input and output."""
    url: str | None = None
    """The address of a server over streamable HTTP, instead of a command."""
    answer: str | None = None
    """The JSON Pointer of the answer in the structured content, or in JSON text where there is none; by default the
    text of the result."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables for the process, in addition to the harmless ones that it needs to start."""


class McpTool:
    """Calls a tool for each request."""

    def __init__(self, settings: McpSettings, name: str, timeout_s: float = 60.0) -> None:
        """Reads the template; the server is started by the first call.

        Raises:
            MissingPackageError: the package `mcp` is not installed.
            InputError: neither or both of a command and an address are set, or the template is invalid.
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
        """The answer in the result of the tool.

        Raises:
            TargetError: the server cannot be reached, the tool failed or took too long, or its result has no answer.
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
        """Closes the session, which also ends a server that was started by a command."""
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None


class _Session:
    """An MCP client in its own thread with its own event loop."""

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
            self._loop.run_until_complete(self._keep_open())
        # The MCP client and its transports may raise anything, groups of errors included. The error is kept: it ends
        # the session and is reported where the session is opened or called.
        except BaseException as error:  # noqa: BLE001
            self._error = _first(error)
        finally:
            self.is_over = True
            self._ready.set()
            self._loop.close()

    async def _keep_open(self) -> None:
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
            # Any error of the MCP client becomes a failure of the target. It may have broken the session, so the next
            # call opens another.
            self.close()
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
    """The text of a result parsed as JSON; none where it is not JSON. Servers of MCP versions before 2025-06-18, and
    tools without an output schema, return as text what others return as structured content."""
    try:
        return json.loads("\n".join(texts))
    except (ValueError, RecursionError):
        return None


def _first(error: BaseException) -> BaseException:
    """The first error in an exception group, however deeply nested; any other error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
