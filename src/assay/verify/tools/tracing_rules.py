"""Which arguments of which tools are traced, to whom, and what is allowed without a trace."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from assay.errors import InputError
from assay.schema.report_parts import EntityKind, SourceKind

REFERENCES: Final = frozenset(
    {
        EntityKind.URL,
        EntityKind.EMAIL,
        EntityKind.HANDLE,
        EntityKind.IDENTIFIER,
        EntityKind.PATH,
        EntityKind.NUMBER,
        EntityKind.DATE,
        EntityKind.UNIT,
    }
)
"""The kinds that are rejected when nothing leads to them, unless a rule says otherwise. Names and plain words are
traced for the record only: a model may put a thing in other words than its sources do."""


_TOKENS: Final = re.compile(r"\*\*|\*|[^*]+")
_BORDERS: Final = frozenset("/@?#:\\ \t\r\n")


class Tracing(StrEnum):
    """How an argument is traced."""

    ENTITIES = "entities"
    """Each reference in it."""
    VERBATIM = "verbatim"
    """The whole of it must be in a source, up to case, spacing and Unicode form."""
    OFF = "off"
    """Not at all: a scratch pad, a text that is checked as an answer elsewhere."""


@dataclass(frozen=True, slots=True)
class ArgumentRule:
    """How one argument is traced."""

    tracing: Tracing = Tracing.ENTITIES
    kinds: frozenset[EntityKind] = REFERENCES
    """The kinds that are rejected when nothing leads to them."""
    origins: frozenset[SourceKind] | None = None
    """Who may have said it, such as only the user; everyone where none are named."""
    allow: tuple[str, ...] = ()
    """What is allowed without a trace, in any case of letters. `*` stands for any characters but those that part an
    address (`/ @ ? # : \\` and white space), as in `*@example.com`; `**` for any at all, as in
    `https://example.com/**`.
    """

    def allows(self, value: str) -> str | None:
        """The entry of the allowlist that a value matches; none where there is no such entry."""
        return next((entry for entry in self.allow if _matches(entry, value.strip())), None)


@dataclass(frozen=True, slots=True)
class ToolRule:
    """How the arguments of one tool are checked."""

    arguments: Mapping[str, ArgumentRule] = field(default_factory=dict)
    """Rules by the argument's name, or by its JSON Pointer where it begins with a slash; `*` in a pointer stands for
    one part, as in `/passengers/*/dob`."""
    default: ArgumentRule = ArgumentRule()
    """The rule of every other argument."""
    closed: bool = True
    """Whether an argument that the declaration does not name is rejected even where the schema does not forbid it."""

    def of(self, path: tuple[str | int, ...]) -> ArgumentRule:
        """The rule of the argument at a path: the pointer's rule before that of the nearest name."""
        if not self.arguments:
            return self.default
        for key, rule in self.arguments.items():
            if key.startswith("/") and _fits(key, path):
                return rule
        names = [part for part in reversed(path) if isinstance(part, str)]
        return next((self.arguments[name] for name in names if name in self.arguments), self.default)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of all tools."""

    tools: Mapping[str, ToolRule] = field(default_factory=dict)
    """By the tool's name."""
    default: ToolRule = ToolRule()
    """The rule of every other tool."""

    def of(self, tool: str) -> ToolRule:
        """The rule of a tool."""
        return self.tools.get(tool, self.default)


def _fits(pointer: str, path: tuple[str | int, ...]) -> bool:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]
    return len(parts) <= len(path) and all(
        want in ("*", str(got)) for want, got in zip(parts, path[: len(parts)], strict=True)
    )


def _matches(entry: str, value: str) -> bool:
    """Whether a value fits a pattern, in time linear in both: the places that can be reached are kept as a set."""
    if not entry.strip("* "):
        raise InputError(f"an entry of an allowlist names something, got {entry!r}; use Tracing.OFF to trace nothing")
    low = value.lower()
    places = {0}
    for part in _TOKENS.findall(entry.lower()):
        if part.strip("*"):
            places = {at + len(part) for at in places if low.startswith(part, at)}
        else:
            places = _stretched(low, min(places), part == "**") if places else places
    return len(low) in places


def _stretched(low: str, first: int, anything: bool) -> set[int]:
    """The places that a star leads to from the first one that was reached.

    A later start reaches nothing that the first does not, unless a character in between stops the star; such places
    are given up, which rejects rather than allows.
    """
    end = first
    while end < len(low) and (anything or low[end] not in _BORDERS):
        end += 1
    return set(range(first, end + 1))
