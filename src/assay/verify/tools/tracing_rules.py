"""Rules for tracing arguments: which arguments of which tools, to which sources, and what is allowed without a
trace."""

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
"""The kinds that are rejected without a source, unless a rule says otherwise. Names and plain words are traced for the
record only: a model may use other words than its sources."""


_TOKENS: Final = re.compile(r"\*\*|\*|[^*]+")
_SEPARATORS: Final = frozenset("/@?#:\\ \t\r\n")


class Tracing(StrEnum):
    """How an argument is traced."""

    ENTITIES = "entities"
    """Each entity in it."""
    VERBATIM = "verbatim"
    """The whole argument must be in a source, up to case, spacing and Unicode form."""
    OFF = "off"
    """Not at all: a scratch pad, or a text that is checked elsewhere as an answer."""


@dataclass(frozen=True, slots=True)
class ArgumentRule:
    """How one argument is traced."""

    tracing: Tracing = Tracing.ENTITIES
    kinds: frozenset[EntityKind] = REFERENCES
    """The kinds of entities that are rejected without a source."""
    origins: frozenset[SourceKind] | None = None
    """The kinds of sources that count, such as only the user; all of them where none."""
    allow: tuple[str, ...] = ()
    """Patterns of values that are allowed without a trace, regardless of case. `*` matches any characters but the
    separators of an address (`/ @ ? # : \\` and white space), as in `*@example.com`; `**` matches any characters, as in
    `https://example.com/**`.
    """

    def allows(self, value: str) -> str | None:
        """The pattern of the allowlist that a value matches, if any."""
        return next((entry for entry in self.allow if _matches(entry, value.strip())), None)


@dataclass(frozen=True, slots=True)
class ToolRule:
    """How the arguments of one tool are checked."""

    arguments: Mapping[str, ArgumentRule] = field(default_factory=dict)
    """Rules by the argument's name, or by its JSON Pointer where the key begins with a slash; `*` in a pointer matches
    one part, as in `/passengers/*/dob`."""
    default: ArgumentRule = ArgumentRule()
    """The rule of every other argument."""
    closed: bool = True
    """Whether an undeclared argument is rejected even where the schema does not forbid it."""

    def rule_for(self, path: tuple[str | int, ...]) -> ArgumentRule:
        """The rule of the argument at a path: that of a matching pointer, else that of the innermost name."""
        if not self.arguments:
            return self.default
        for key, rule in self.arguments.items():
            if key.startswith("/") and _pointer_matches(key, path):
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

    def rule_for(self, tool: str) -> ToolRule:
        """The rule of a tool."""
        return self.tools.get(tool, self.default)


def _pointer_matches(pointer: str, path: tuple[str | int, ...]) -> bool:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]
    return len(parts) <= len(path) and all(
        wanted in ("*", str(part)) for wanted, part in zip(parts, path[: len(parts)], strict=True)
    )


def _matches(entry: str, value: str) -> bool:
    """Whether a value matches a pattern, in time linear in both: a set holds the offsets that can be reached."""
    if not entry.strip("* "):
        raise InputError(f"an entry of an allowlist names something, got {entry!r}; use Tracing.OFF to trace nothing")
    lowercase = value.lower()
    offsets = {0}
    for part in _TOKENS.findall(entry.lower()):
        if part.strip("*"):
            offsets = {offset + len(part) for offset in offsets if lowercase.startswith(part, offset)}
        else:
            offsets = _reach_of_star(lowercase, min(offsets), part == "**") if offsets else offsets
    return len(lowercase) in offsets


def _reach_of_star(lowercase: str, first: int, any_character: bool) -> set[int]:
    """The offsets that a star reaches from the first offset that was reached.

    A later start reaches more only where a separator in between stops the star; such offsets are dropped, which rejects
    rather than allows.
    """
    end = first
    while end < len(lowercase) and (any_character or lowercase[end] not in _SEPARATORS):
        end += 1
    return set(range(first, end + 1))
