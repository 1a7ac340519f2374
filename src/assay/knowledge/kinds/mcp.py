"""A tool of an MCP server: its arguments are a template, and its result is read as text or by pointers.

A stdio server is a separate process for each question, so that nothing passes from one question to another.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.errors import MissingPackageError, PolicyError, SourceError
from assay.knowledge.extraction import Extraction
from assay.knowledge.inquiries import bindings
from assay.knowledge.interface import Deadline, Inquiry, Limits, Passage, SourceAnswer, cut
from assay.knowledge.kinds.templates import UrlTemplate, check_tree, fill_tree, is_sendable


@dataclass(frozen=True, slots=True)
class McpSettings:
    """The settings of one tool of one server."""

    tool: str
    arguments: Mapping[str, Any]
    """Its texts may have placeholders: `{"query": "{terms}"}`."""
    command: tuple[str, ...] = ()
    """The command that starts a stdio server."""
    url: str | None = None
    """The address of an HTTP server, instead of a command."""
    answer: Extraction | None = None
    """How structured content is read; by default the text of the result is used."""
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Variables for the process, in addition to the harmless ones that it needs to start."""


class McpSource:
    """An MCP tool as a source."""

    def __init__(self, settings: McpSettings, limits: Limits | None = None) -> None:
        """Parse the template.

        Raises:
            MissingPackageError: the package `mcp` is not installed.
            PolicyError: neither or both of a command and an address are given, or the template is invalid.
        """
        import importlib.util

        if importlib.util.find_spec("mcp") is None:
            raise MissingPackageError("a source of kind mcp needs the package mcp: pip install 'assay-ai[mcp]'")
        if bool(settings.command) == bool(settings.url):
            raise PolicyError("expected either a command or a url of an MCP server")
        if settings.url is not None and UrlTemplate.parse(settings.url).names:
            raise PolicyError("the address of a server has no places: they belong into the arguments")
        self._settings, self._limits = settings, limits or Limits()
        self._names = check_tree(settings.arguments)
        if not self._names:
            raise PolicyError("the arguments have no place for anything of a claim: write {entity}, {terms} or another")
        if settings.answer is not None:
            settings.answer.check()

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the arguments."""
        return self._names

    @property
    def digest(self) -> str:
        """The digest of the server, the tool and its arguments."""
        s = self._settings
        settings = [s.tool, s.arguments, s.command, s.url, repr(s.answer)]
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> SourceAnswer:
        """One call for each value of the placeholders, until one has an answer.

        Raises:
            SourceError: the server could not be asked, or its tool failed.
        """
        planned = list(bindings(self._names, inquiry, self._limits.statements))
        if not planned:
            return SourceAnswer()

        async def within() -> SourceAnswer:
            async with asyncio.timeout(deadline.require()):
                return await self._ask(planned)

        try:
            return asyncio.run(within())
        except TimeoutError as error:
            raise SourceError("it did not answer in time") from error
        except SourceError:
            raise
        except BaseExceptionGroup as group:
            raise _from_group(group, deadline) from group
        except Exception as error:  # code of the package `mcp` and of the server: a failure of the source
            raise SourceError(f"the server could not be asked: {type(error).__name__}") from error

    async def _ask(self, planned: list[dict[str, object]]) -> SourceAnswer:
        from mcp import Client, StdioServerParameters

        settings = self._settings
        server: Any = settings.url or StdioServerParameters(
            command=settings.command[0], args=list(settings.command[1:]), env=dict(settings.environment) or None
        )
        passages: list[Passage] = []
        asked: list[Mapping[str, object]] = []
        size = 0
        async with Client(server) as client:
            for values in planned:
                if not all(map(is_sendable, values.values())):
                    continue  # no request can contain this value; another may be fine
                asked.append({"tool": settings.tool, **values})
                result = await client.call_tool(settings.tool, fill_tree(settings.arguments, values))
                texts = [one.text for one in result.content if getattr(one, "type", "") == "text"]
                size += sum(map(len, texts))
                if result.is_error:
                    raise SourceError(f"its tool failed: {' '.join(texts)[:160]}")
                if size > self._limits.response_bytes:
                    raise SourceError(
                        f"it sent more than the {self._limits.response_bytes:,} characters that are allowed"
                    )
                passages += self._read(result.structured_content, texts)
                if passages:
                    break
        kept, notes = cut(passages, self._limits)
        return SourceAnswer(kept, tuple(asked), size, notes)

    def _read(self, structured: Any, texts: list[str]) -> list[Passage]:
        tool = self._settings.tool
        if self._settings.answer is None:
            return [Passage(f"{tool}#{at}", text) for at, text in enumerate(texts, start=1) if text.strip()]
        if structured is None:
            raise SourceError("its tool gives no structured content to point into")
        return self._settings.answer.passages(structured, tool)

    def close(self) -> None:
        """Do nothing; no process or connection is kept."""


def _from_group(group: BaseExceptionGroup[BaseException], deadline: Deadline) -> SourceError:
    """The first error of a group of tasks, as a `SourceError`."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    if isinstance(found, SourceError):
        return found
    if isinstance(found, TimeoutError) or deadline.left <= 0:
        return SourceError("it did not answer in time")
    return SourceError(f"the server could not be asked: {type(found).__name__}")
