"""Markdown of a model read into a tree of elements whose words are places in the text: nothing of it is ever HTML.

markdown-it-py reads the text (CommonMark with tables and strike-through, no HTML). Of its tokens only the structure is
used, and each word is found again in the text itself, so that marks of claims stay where they are. Links lead nowhere
and images are not loaded: their addresses are words like others.

**What the reader sees is what was checked** (docs/adr/0110, docs/adr/0116). All that is shown is a slice of the text,
and a sign is left out only where the form says the same and the sign cannot be a part of what is said:

    entities, escapes         as they were written: `2&#48;0` is not 200, and `\\(x\\)` keeps its backslashes
    emphasis, strike-through  by its form; with its signs and without the form where something else than a space or
                              what prose has there stands on the outer side of a sign, as in `2*3*4` and `un*do*`, or
                              no letter stands on its inner and a number on its outer side, as in `2 *3* 4`
    quotations                with their `>`: it may be "greater than"
    items of lists            with their own signs: `- 5` may be a negative number, and `2024.` the end of a sentence
    headings                  by their form; a lone `#` before what is no letter stays (`# 5`); one or two `=` or `-`
                              that would make a heading of the line before may be words: there is no tree then
    links, images             words and address, the address in its brackets
    code, tables, rules       by their form

Every sign that is left out is taken in its own place by the structure that it belongs to. Between two such places there
may be nothing but white space. Where there is more, such as a definition of a link or what the reader of this module
does not know, there is no tree, and the text is shown as it was written.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeVar

from assay.errors import AssayError

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST_READ: Final = 40_000
"""Characters of a text that is read as Markdown; a longer one is shown as it was written."""
_SPACE: Final = frozenset(" \t\r\n")
"""What may lie between two places that are shown."""
_TABLE: Final = frozenset(" \t\r\n|:-")
"""What may lie there in a table: its lines."""
_DELIMITERS: Final = frozenset("*_~")
"""Signs of emphasis and of what is struck through."""
_PROSE: Final = frozenset(
    "\"',;:.!?/|\N{HORIZONTAL ELLIPSIS}\N{IDEOGRAPHIC COMMA}\N{IDEOGRAPHIC FULL STOP}\N{FULLWIDTH COMMA}"
)
"""Signs that prose has on either side of emphasis."""
_FENCE: Final = frozenset(" \t\r\n`~")
"""What may lie beside the lines of code."""
_SHORTEST_LINE: Final = 3
"""Signs of a line that makes the line before it a heading; fewer may be words."""
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
"""Lines as Markdown has them: they end with a line feed, a carriage return, or both."""
_BLOCKS: Final = {
    "paragraph": "p",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "blockquote": "blockquote",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
    "strong": "strong",
    "em": "em",
    "s": "s",
    "link": "span",
}
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}


@dataclass(frozen=True, slots=True)
class Words:
    """Characters of the text that are shown."""

    start: int
    end: int
    said: str | None = None
    """A break or a space, of words without characters."""


@dataclass(slots=True)
class Element:
    """An element with what is in it."""

    name: str
    """An HTML element; `heading` for a heading, whose level is `value`."""
    children: list["Element | Words"] = field(default_factory=list)
    kind: str = ""
    """`link`, `image`, `address`, `info`, or `sign` for a sign before a block, where it is one."""
    value: int | None = None
    """The level of a heading."""


_Child = TypeVar("_Child", bound=Element | Words)


class _UnreadableError(AssayError):
    """The text is to be shown as it was written."""


def read_markdown(text: str) -> Element | None:
    """The text as a tree; none where it has no Markdown in it, or cannot be shown without hiding something.

    >>> tree = read_markdown("2 **weeks**")
    >>> tree.children[0].children[1].name, tree.children[0].children[1].children
    ('strong', [Words(start=4, end=9, said=None)])
    >>> read_markdown("Just words, on one line.") is None
    True
    """
    if len(text) > LONGEST_READ:
        return None
    try:
        tokens = _parser().parse(text)
    except (ValueError, RecursionError, IndexError):
        return None
    if all(_is_plain(token) for token in tokens):
        return None
    try:
        return _Reader(text).read(tokens)
    except _UnreadableError:
        return None


def words_of(element: Element) -> Iterator[Words]:
    """All words that a tree shows, in order."""
    for child in element.children:
        if isinstance(child, Words):
            yield child
        else:
            yield from words_of(child)


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # Kept apart, entities and escaped signs stand beside the words around them.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("text_join")


def _is_plain(token: "Token") -> bool:
    if token.type == "inline":
        return all(child.type in ("text", "softbreak") for child in token.children or ())
    return token.type in ("paragraph_open", "paragraph_close")


class _Reader:
    """Finds the words of tokens in the text, from the left to the right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *accumulate(map(len, _LINE.findall(text)))]
        self._at = 0
        self._open: list[Element] = [Element("div")]
        self._begun: list[tuple[int, int] | None] = [None]
        """Where the sign of each open element is, of those that have one on either side."""
        self._between = _SPACE
        self._rows: Token | None = None
        """The table that is being read."""

    def read(self, tokens: Sequence["Token"]) -> Element:
        for token in tokens:
            self._block(token)
        self._skip(len(self._text))
        return self._open[0]

    def _block(self, token: "Token") -> None:
        kind = token.type
        if kind == "inline":
            for child in token.children or ():
                self._inline(child)
        elif kind in ("fence", "code_block"):
            self._code(token)
        elif kind == "hr":
            self._add(Element("hr"))
            self._skip_line(token, frozenset(" \t\r\n*_-"))
        elif kind.endswith("_open"):
            self._begin(token)
        elif kind.endswith("_close"):
            self._end(token)
        else:
            raise _UnreadableError(kind)

    def _begin(self, token: "Token") -> None:
        name = token.type.removesuffix("_open")
        if name == "heading":
            made = Element("heading", value=_HEADINGS[token.tag])
        elif name in _BLOCKS:
            made = Element(_BLOCKS[name])
        else:
            raise _UnreadableError(name)
        if token.hidden:
            # A paragraph of a list without blank lines: what is in it stands in the item.
            self._push(self._open[-1])
            return
        self._add(made)
        self._push(made)
        if name == "table":
            self._between, self._rows = _TABLE, token
        elif name == "tbody" and token.map is not None:
            self._skip(max(self._at, self._lines[token.map[0]]))
        elif name == "list_item":
            self._sign(token.info + token.markup)
        elif name == "heading" and token.markup.startswith("#"):
            self._number_sign(token.markup)

    def _end(self, token: "Token") -> None:
        self._pop()
        if token.type == "table_close" and self._rows is not None:
            self._skip_line(self._rows, _TABLE)
            self._between, self._rows = _SPACE, None
        elif token.type == "heading_close" and token.markup in ("=", "-"):
            self._skip_sign(self._underline(token.markup))

    def _number_sign(self, signs: str) -> None:
        place = self._found(signs)
        following = _beside(self._text, place + len(signs), 1, _DELIMITERS | _SPACE)
        if signs == "#" and not following.isalpha():
            self._sign(signs)
        else:
            self._at = place + len(signs)

    def _underline(self, sign: str) -> str:
        """The line below the words of a heading."""
        found = re.compile(f"{re.escape(sign)}+").search(self._text, self._at)
        if found is None or len(found[0]) < _SHORTEST_LINE:
            raise _UnreadableError("a line of signs that is too short to be nothing else")
        return found[0]

    def _inline(self, token: "Token") -> None:
        kind = token.type
        if kind in ("softbreak", "hardbreak"):
            self._break(hard=kind == "hardbreak")
        elif kind == "text":
            if token.content:
                self._say(token.content)
        elif kind == "text_special":
            self._say(token.markup)
        elif kind == "code_inline":
            self._skip_sign(token.markup)
            self._push(self._add(Element("code")))
            self._say(token.content)
            self._pop()
            self._skip_sign(token.markup)
        elif kind == "image":
            self._skip_sign("![")
            self._push(self._add(Element("span", kind="image")))
            for child in token.children or ():
                self._inline(child)
            self._address()
            self._pop()
        elif kind in ("link_open", "link_close"):
            self._link(token, opens=kind == "link_open")
        elif kind in ("em_open", "strong_open", "s_open"):
            self._skip_sign(token.markup)
            made = self._add(Element(_BLOCKS[kind.removesuffix("_open")]))
            self._push(made, (self._at - len(token.markup), self._at))
        elif kind in ("em_close", "strong_close", "s_close"):
            self._skip_sign(token.markup)
            self._close((self._at - len(token.markup), self._at))
        else:
            raise _UnreadableError(kind)

    def _break(self, *, hard: bool) -> None:
        quoted = any(one.name == "blockquote" for one in self._open)
        self._add(Element("br") if hard or quoted else Words(self._at, self._at, " "))
        if hard and self._text[self._at : self._at + 1] == "\\":
            self._at += 1

    def _close(self, closing: tuple[int, int]) -> None:
        """The end of emphasis: where a sign of it may be a part of what is said, both are words."""
        opening, made = self._begun[-1], self._open[-1]
        self._pop()
        if opening is None:
            raise _UnreadableError("an end without a beginning")
        if _may_be_said(self._text, *opening, opens=True) or _may_be_said(self._text, *closing, opens=False):
            self._open[-1].children[-1:] = [Words(*opening), *made.children, Words(*closing)]

    def _link(self, token: "Token", *, opens: bool) -> None:
        if token.markup == "autolink":
            # `<https://example.org>`: its words are its address, and its signs are words of the text around it.
            if opens:
                self._say("<")
                self._push(self._add(Element("span", kind="link")))
            else:
                self._pop()
                self._say(">")
        elif opens:
            self._skip_sign("[")
            self._push(self._add(Element("span", kind="link")))
        else:
            self._address()
            self._pop()

    def _address(self) -> None:
        """What stands in brackets behind the words of a link: shown as it is."""
        text, at = self._text, self._at
        if text[at : at + 2] not in ("](", "]["):
            raise _UnreadableError("a link by a definition elsewhere")
        closing, depth, place = (")" if text[at + 1] == "(" else "]"), 0, at + 1
        opening = text[at + 1]
        while place < len(text):
            if text[place] == "\\":
                place += 1
            elif text[place] == opening:
                depth += 1
            elif text[place] == closing:
                depth -= 1
                if not depth:
                    break
            place += 1
        else:
            raise _UnreadableError("a link without its end")
        self._add(Element("code", [Words(at + 1, place + 1)], "address"))
        self._at = place + 1

    def _code(self, token: "Token") -> None:
        if token.map is None:
            raise _UnreadableError("code without a place")
        begin, end = token.map
        self._skip(max(self._at, self._lines[begin]))
        if token.type == "fence":
            self._skip_sign(token.markup)
        self._push(self._add(Element("pre")))
        if token.type == "fence":
            if token.info.strip():
                place = self._text.find(token.info.strip(), self._at, self._lines[begin + 1])
                if place < 0:
                    raise _UnreadableError("the name of a language is not where it should be")
                self._skip(place)
                self._at = place + len(token.info.strip())
                self._add(Element("span", [Words(place, self._at)], "info"))
            begin += 1
            self._skip(min(self._lines[begin], len(self._text)))
        self._push(self._add(Element("code")))
        for number, line in enumerate(token.content.split("\n")[:-1]):
            at = begin + number
            if at + 1 >= len(self._lines) or at >= end:
                raise _UnreadableError("code beyond its end")
            stop = self._lines[at + 1]
            while stop > self._lines[at] and self._text[stop - 1] in "\r\n":
                stop -= 1
            start = stop - len(line)
            if start < self._at or self._text[start:stop] != line:
                raise _UnreadableError("code that was indented otherwise")
            self._skip(start)
            if line:
                self._add(Words(start, stop))
            self._add(Words(stop, stop, "\n"))
            self._at = stop
        self._skip(max(self._at, min(self._lines[end], len(self._text))), _FENCE)
        self._pop()
        self._pop()

    def _say(self, words: str) -> None:
        place = self._found(words)
        self._at = place + len(words)
        self._add(Words(place, self._at))

    def _sign(self, sign: str) -> None:
        """A sign before a block, shown."""
        place = self._found(sign)
        self._at = place + len(sign)
        self._add(Element("span", [Words(place, self._at)], "sign"))

    def _skip_sign(self, sign: str) -> None:
        """Goes over a sign that the form stands for."""
        self._at = self._found(sign) + len(sign)

    def _skip_line(self, token: "Token", signs: frozenset[str]) -> None:
        """Goes to the end of the lines of a token, over such signs."""
        if token.map is None:
            raise _UnreadableError("a line without a place")
        self._skip(max(self._at, self._lines[token.map[0]]))
        self._skip(max(self._at, min(self._lines[token.map[1]], len(self._text))), signs)

    def _found(self, words: str) -> int:
        """Where words stand next."""
        place = self._text.find(words, self._at)
        if place < 0:
            raise _UnreadableError("words that are not in the text")
        self._skip(place)
        return place

    def _skip(self, place: int, signs: frozenset[str] | None = None) -> None:
        """Goes on to a place; nothing but white space and such signs may be passed over. Signs of quotations are
        shown."""
        if place < self._at:
            raise _UnreadableError("words before those that were shown")
        allowed = self._between if signs is None else signs
        for at in range(self._at, place):
            if self._text[at] == ">":
                self._add(Element("span", [Words(at, at + 1)], "sign"))
            elif self._text[at] not in allowed:
                raise _UnreadableError("more than white space between the words")
        self._at = place

    def _push(self, element: Element, sign: tuple[int, int] | None = None) -> None:
        self._open.append(element)
        self._begun.append(sign)

    def _pop(self) -> None:
        self._open.pop()
        self._begun.pop()

    def _add(self, child: _Child) -> _Child:
        self._open[-1].children.append(child)
        return child


def _may_be_said(text: str, start: int, end: int, *, opens: bool) -> bool:
    """Whether a sign of emphasis may be a part of what is said, such as a sign of multiplication.

    >>> _may_be_said("2*3*4", 1, 2, opens=True), _may_be_said("a *b* c", 2, 3, opens=True)
    (True, False)
    >>> _may_be_said("2 *3* 4", 2, 3, opens=True), _may_be_said("(2)*3*(4)", 3, 4, opens=True)
    (True, True)
    """
    before, after = _beside(text, start - 1, -1, _DELIMITERS), _beside(text, end, 1, _DELIMITERS)
    outer, inner = (before, after) if opens else (after, before)
    if not _is_prose(outer, before=opens):
        return True
    far = _beside(text, *((start - 1, -1) if opens else (end, 1)), _DELIMITERS | _SPACE)
    return _is_number(far, before=opens) and not inner.isalpha()


def _beside(text: str, at: int, step: int, passed: frozenset[str]) -> str:
    """The next character in a direction that is none of these; empty at the end of the text."""
    while 0 <= at < len(text) and text[at] in passed:
        at += step
    return text[at] if 0 <= at < len(text) else ""


def _is_prose(letter: str, *, before: bool) -> bool:
    """Whether it may stand on the outer side of emphasis: the end of the text, a space, or what prose has there.

    Scripts without spaces between words (Chinese, Japanese) are emphasised inside of what has no borders.
    """
    if not letter or letter.isspace() or letter in _PROSE:
        return True
    if letter.isalpha():
        return unicodedata.east_asian_width(letter) in ("W", "F")
    return unicodedata.category(letter) in (("Ps", "Pi", "Pd", "So") if before else ("Pe", "Pf", "Pd", "So"))


def _is_number(letter: str, *, before: bool) -> bool:
    """Whether a number ends with it (`before` a sign), or begins with it."""
    return letter.isnumeric() or letter in ((")", "]", "}", "%", "\N{DEGREE SIGN}") if before else ("(", "[", "{"))
