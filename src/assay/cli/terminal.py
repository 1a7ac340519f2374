"""Output for people: colour and wrapping on a terminal, plain lines elsewhere, foreign text made harmless."""

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TextIO

from assay.harmless import clean, one_line

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["STYLES", "Line", "clean", "one_line", "plain", "say", "wants_colour", "write", "write_text"]

STYLES: Final = {
    "": "",
    "strong": "bold",
    "faint": "dim",
    "good": "green",
    "bad": "bold red",
    "doubt": "yellow",
    "bad here": "bold red underline",
    "doubt here": "yellow underline",
    "good here": "green underline",
}
"""The styles of this command by name, as rich knows them."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line for people: its text in parts, each with the name of a style, and its indent in characters."""

    parts: tuple[tuple[str, str], ...] = ()
    indent: int = 0
    gutter: bool = False
    """Whether a bar precedes it, so that a line of foreign text cannot pass for one of assay's."""


def wants_colour(stream: TextIO, environ: Mapping[str, str] | None = None) -> bool:
    """Whether to colour: a terminal that is not dumb, and `NO_COLOR` unset or empty (no-color.org)."""
    env = os.environ if environ is None else environ
    return stream.isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"


def plain(lines: Iterable[Line]) -> str:
    """The lines as text, one newline after each."""
    return "".join(_prefix(line) + "".join(text for text, _ in line.parts).rstrip() + "\n" for line in lines)


def _prefix(line: Line) -> str:
    return " " * line.indent + ("│ " if line.gutter else "")


def write(lines: Iterable[Line], stream: TextIO) -> None:
    """Writes lines to a stream: wrapped and coloured on a terminal, plain elsewhere."""
    if wants_colour(stream):
        console = _console(stream)
        for line in lines:
            _write_styled(console, line)
    else:
        write_text(plain(lines), stream)


def write_text(text: str, stream: TextIO) -> None:
    """Writes text to a stream; characters that its encoding lacks are written as escapes."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def say(text: str, *, error: bool = False) -> None:
    """Writes a message and a newline to standard output, or to standard error; control characters are written out.

    Args:
        text: the message, one line or several; foreign text may be in it.
        error: whether it goes to standard error.
    """
    write_text(f"{clean(text)}\n", sys.stderr if error else sys.stdout)


def _console(stream: TextIO) -> "Console":
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=False)


def _write_styled(console: "Console", line: Line) -> None:
    from rich.text import Text

    text = Text()
    for part, style in line.parts:
        text.append(part, style=STYLES[style])
    bar = "│ " if line.gutter else ""
    width = max(console.width - line.indent - len(bar), 20)
    for row in text.wrap(console, width) or [Text()]:
        row.rstrip()
        console.print(Text(" " * line.indent) + Text(bar, style="dim") + row)
