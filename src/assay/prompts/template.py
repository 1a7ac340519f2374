"""Prompt files: the system message, a line of `=====`, the user message, with placeholders for values in braces.

`{{name}}` on a line of its own takes `Data` and becomes a fence; `{{name}}` within a line takes a whole number. Foreign
text has no place outside a fence, so a text is refused. `{{fence}}` stands for the token of the marks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from assay.errors import InputError
from assay.prompts.fence import Data, fenced, token_of

_PLACE: Final = re.compile(r"\{\{([a-z_]+)\}\}")
_BETWEEN: Final = "\n=====\n"
VERSION_CHARACTERS: Final = 12

Value = Data | int


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt with its values filled in, as the two messages that are sent."""

    system: str
    user: str
    prompt: str
    """The name and version of the prompt."""
    token: str = ""
    """The token of its fences. It is derived from the data and occurs nowhere in it, so an answer that repeats it was
    not written by the author of the data."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file."""

    name: str
    text: str
    """The file's content."""

    @property
    def version(self) -> str:
        """Identifies the content, so that a report records the exact wording that a model was asked with.

        >>> Prompt("greet", "Be kind.").version
        '5499befb38db'
        """
        return hashlib.sha256(self.text.encode()).hexdigest()[:VERSION_CHARACTERS]

    @property
    def identity(self) -> str:
        """Name and version, as in `grounded@0123456789ab`."""
        return f"{self.name}@{self.version}"

    @property
    def places(self) -> frozenset[str]:
        """The names of its placeholders."""
        return frozenset(_PLACE.findall(self.text)) - {"fence"}

    @property
    def data_places(self) -> frozenset[str]:
        """The placeholders that take data: those on a line of their own."""
        alone = (_PLACE.fullmatch(line) for line in self.text.split("\n"))
        return frozenset(found[1] for found in alone if found is not None) - {"fence"}

    def render(self, **values: Value) -> Rendered:
        """The messages.

        Args:
            values: data for the placeholders on a line of their own, whole numbers for those within a line.

        Raises:
            InputError: a value is missing, has no placeholder, or is of the wrong kind.
        """
        if values.keys() != self.places:
            raise InputError(
                f"the prompt {self.name} takes {', '.join(sorted(self.places)) or 'nothing'}; "
                f"got {', '.join(sorted(values)) or 'nothing'}"
            )
        lines = {name: value.lines for name, value in values.items() if isinstance(value, Data)}
        token = token_of(line for name in sorted(lines) for line in lines[name])
        system, _, user = self.text.partition(_BETWEEN)
        return Rendered(
            self._filled(system, values, lines, token).strip(),
            self._filled(user, values, lines, token).strip("\n"),
            self.identity,
            token,
        )

    def _filled(self, text: str, values: dict[str, Value], lines: dict[str, list[str]], token: str) -> str:
        # Line by line, so that inserted text is never parsed as a template.
        return "\n".join(self._line(line, values, lines, token) for line in text.split("\n"))

    def _line(self, line: str, values: dict[str, Value], lines: dict[str, list[str]], token: str) -> str:
        alone = _PLACE.fullmatch(line)
        if alone is not None and alone[1] in lines:
            return fenced(alone[1], lines[alone[1]], token)
        return _PLACE.sub(lambda place: token if place[1] == "fence" else self._number(place[1], values), line)

    def _number(self, name: str, values: dict[str, Value]) -> str:
        value = values[name]
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(
                f"{name!r} stands inside of a line of the prompt {self.name}, where only whole numbers may stand; "
                f"got {type(value).__name__}"
            )
        return str(value)


@lru_cache(maxsize=64)
def load_prompt(name: str) -> Prompt:
    """The prompt of a name.

    Raises:
        InputError: there is none.
    """
    if name not in prompt_names():
        raise InputError(f"there is no prompt {name!r}; there are {', '.join(prompt_names())}")
    text = (files("assay.prompts") / "texts" / f"{name}.txt").read_text(encoding="utf-8")
    return Prompt(name, text.replace("\r\n", "\n"))


def prompt_names() -> list[str]:
    """The names of all prompts, sorted."""
    return sorted(_names(one.name for one in (files("assay.prompts") / "texts").iterdir()))


def _names(found: Iterable[str]) -> list[str]:
    return [name.removesuffix(".txt") for name in found if name.endswith(".txt")]
