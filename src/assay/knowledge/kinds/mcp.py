"""A tool of an MCP server: its arguments are a template, its result is read as text or by pointers.

A server on stdio is a process of its own for each question: nothing of one question can reach another.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.errors import MissingPackageError, PolicyError, SourceError
from assay.knowledge.extracting import Extraction
from assay.knowledge.formulating import bindings
from assay.knowledge.interface import Deadline, Found, Inquiry, Limits, Passage, cut
from assay.knowledge.kinds.templates import UrlTemplate, check_tree, filled_tree, is_sendable


@dataclass(frozen=True, slots=True)
class McpSettings:
    """One tool of one server."""

    tool: str
    arguments: Mapping[str, Any]
    """Texts in it may have places: `{"query": "{terms}"}`."""
    command: tuple[str, ...] = ()
    """What starts a server on stdio."""
    url: str | None = None
    """A server over HTTP, in its place."""
    answer: Extraction | None = None
    """How structured content is read; the text of the result by default."""
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Variables that the process gets beside the harmless ones that it needs to start."""


class McpSource:
    """Asks a tool."""

    def __init__(self, settings: McpSettings, limits: Limits | None = None) -> None:
        """Read the template.

        Raises:
            MissingPackageError: the package `mcp` is not installed.
            PolicyError: neither or both of a command and an address, or a template that cannot be used.
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
        """Of the server, the tool and its arguments."""
        s = self._settings
        settings = [s.tool, s.arguments, s.command, s.url, repr(s.answer)]
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> Found:
        """One call for each value that the places can have, until one has an answer.

        Raises:
            SourceError: the server could not be asked, or its tool failed.
        """
        planned = list(bindings(self._names, inquiry, self._limits.statements))
        if not planned:
            return Found()

        async def within() -> Found:
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
        except Exception as error:
            raise SourceError(f"the server could not be asked: {type(error).__name__}") from error

    async def _ask(self, planned: list[dict[str, object]]) -> Found:
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
                    continue  # no request takes it; another value may do
                asked.append({"tool": settings.tool, **values})
                result = await client.call_tool(settings.tool, filled_tree(settings.arguments, values))
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
        return Found(kept, tuple(asked), size, notes)

    def _read(self, structured: Any, texts: list[str]) -> list[Passage]:
        tool = self._settings.tool
        if self._settings.answer is None:
            return [Passage(f"{tool}#{at}", text) for at, text in enumerate(texts, start=1) if text.strip()]
        if structured is None:
            raise SourceError("its tool gives no structured content to point into")
        return self._settings.answer.passages(structured, tool)

    def close(self) -> None:
        """Nothing is held."""


def _from_group(group: BaseExceptionGroup[BaseException], deadline: Deadline) -> SourceError:
    """The error that a group of tasks ended with."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    if isinstance(found, SourceError):
        return found
    if isinstance(found, TimeoutError) or deadline.left <= 0:
        return SourceError("it did not answer in time")
    return SourceError(f"the server could not be asked: {type(found).__name__}")
