"""Writing to a terminal: foreign text made harmless, plain lines where there is no terminal, colour where there is."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Every control character but tab and newline, what reorders or breaks a line, and halves of surrogate pairs."""

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
    """One line for people: what it says, piece by piece with the style's name, and how far it is set in."""

    parts: tuple[tuple[str, str], ...] = ()
    indent: int = 0
    gutter: bool = False
    """Whether it is a line of foreign text that stands behind a bar, so that it cannot pass for one of ours."""


def clean(text: str) -> str:
    r"""Foreign text with every control character written out, so that it can neither move the cursor nor colour,
    hide or reorder anything. Newlines and tabs stay.

    >>> clean("a\x1b[2Jb\r\nc")
    'a\\x1b[2Jb\nc'
    """
    return _UNSAFE.sub(_written_out, text.replace("\r\n", "\n"))


def _written_out(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def one_line(text: str, limit: int | None = None) -> str:
    """Clean text on one line, shortened in the middle of nothing: only its end is cut, and the cut is shown.

    >>> one_line("two\\n  lines and more", 12)
    'two lines a…'
    """
    joined = " ".join(clean(text).split())
    return joined if limit is None or len(joined) <= limit else joined[: limit - 1] + "…"


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
    """Writes text to a stream; characters that its encoding lacks are written as escapes instead of failing."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


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
