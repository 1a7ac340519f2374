"""Reads a model's Markdown into a tree of elements whose words are slices of the text; none of it ever becomes HTML.

markdown-it-py parses the text (CommonMark with tables and strikethrough, without HTML). Only the structure of its
tokens is used, and each word is located in the text again, so that the marks of claims stay in place. Links are not
clickable and images are not loaded: their addresses are shown as words.

**The reader sees what was checked** (docs/adr/0110, docs/adr/0116). Everything that is shown is a slice of the text. A
delimiter is left out only if the formatting replaces it and if it cannot be a part of the content:

    entities, escapes         shown as written: `2&#48;0` is not 200, and `\\(x\\)` keeps its backslashes
    emphasis, strikethrough   formatted. Shown with their delimiters instead where one of these may be content: where
                              its outer side has neither a space nor what prose has there, as in `2*3*4` and
                              `un*do*`, or where a number is on its outer and no letter on its inner side, as in
                              `2 *3* 4`
    block quotes              with their `>`, which may mean "greater than"
    list items                with their own markers: `- 5` may be a negative number, `2024.` the end of a sentence
    headings                  formatted; a single `#` stays where no letter follows (`# 5`). One or two `=` or `-` that
                              would make the line above them a heading may be content: the text is then not rendered
    links, images             their text, and their address in its brackets
    code, tables, rules       formatted

Each delimiter that is left out is skipped in its own place by the structure that it belongs to. Between two places that
are shown or skipped there may only be white space. If there is anything else, such as a link definition or a construct
that this module does not know, `read_markdown` returns `None` and the text is shown as it was written.
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
"""The longest text, in characters, that is read as Markdown; a longer one is shown as it was written."""
_WHITE_SPACE: Final = frozenset(" \t\r\n")
"""What may be skipped between two slices that are shown."""
_BESIDE_CELLS: Final = frozenset(" \t\r\n|:-")
"""What may be skipped between the cells of a table."""
_DELIMITERS: Final = frozenset("*_~")
"""The delimiters of emphasis and strikethrough."""
_PROSE: Final = frozenset(
    "\"',;:.!?/|\N{HORIZONTAL ELLIPSIS}\N{IDEOGRAPHIC COMMA}\N{IDEOGRAPHIC FULL STOP}\N{FULLWIDTH COMMA}"
)
"""Punctuation that prose may have on either side of emphasis."""
_BESIDE_CODE: Final = frozenset(" \t\r\n`~")
"""What may be skipped before and after the lines of a code block."""
_SHORTEST_UNDERLINE: Final = 3
"""The shortest underline that makes the line above it a heading; a shorter one may be content."""
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
"""A line of CommonMark (section 2.1), which ends with a line feed, a carriage return, or both."""
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
class TextSlice:
    """A slice of the text that is shown, from `start` to `end`."""

    start: int
    end: int
    white_space: str | None = None
    """What an empty slice stands for: a line break or a space."""


@dataclass(slots=True)
class Element:
    """An element of the tree, with its children."""

    name: str
    """The name of an HTML element, or `heading`."""
    children: list["Element | TextSlice"] = field(default_factory=list)
    kind: str = ""
    """What a `span` or `code` is: `link`, `image`, `address`, `info` (the language of a code block), or `sign` (a
    marker that is shown before a block); else empty."""
    value: int | None = None
    """The level of a heading."""


_Child = TypeVar("_Child", bound=Element | TextSlice)


class _UnreadableError(AssayError):
    """The text cannot be rendered without hiding something, so it is shown as it was written."""


def read_markdown(text: str) -> Element | None:
    """The text as a tree; `None` if it contains no Markdown, or cannot be rendered without hiding something.

    >>> tree = read_markdown("2 **weeks**")
    >>> tree.children[0].children[1].name, tree.children[0].children[1].children
    ('strong', [TextSlice(start=4, end=9, white_space=None)])
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


def text_slices(element: Element) -> Iterator[TextSlice]:
    """All slices of the text that a tree shows, in order."""
    for child in element.children:
        if isinstance(child, TextSlice):
            yield child
        else:
            yield from text_slices(child)


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # Without `text_join`, entities and escapes stay separate from the text around them.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("text_join")


def _is_plain(token: "Token") -> bool:
    if token.type == "inline":
        return all(child.type in ("text", "softbreak") for child in token.children or ())
    return token.type in ("paragraph_open", "paragraph_close")


class _Reader:
    """Locates the words of tokens in the text, from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *accumulate(map(len, _LINE.findall(text)))]
        self._at = 0
        self._open: list[Element] = [Element("div")]
        self._openings: list[tuple[int, int] | None] = [None]
        """For each open element the span of its opening delimiter, if it is emphasis or strikethrough."""
        self._between = _WHITE_SPACE
        self._table: Token | None = None
        """The token of the table that is being read."""

    def read(self, tokens: Sequence["Token"]) -> Element:
        for token in tokens:
            self._block(token)
        self._skip_to(len(self._text))
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
            element = Element("heading", value=_HEADINGS[token.tag])
        elif name in _BLOCKS:
            element = Element(_BLOCKS[name])
        else:
            raise _UnreadableError(name)
        if token.hidden:
            # A paragraph of a tight list (CommonMark, section 5.3): its content belongs to the item itself.
            self._push(self._open[-1])
            return
        self._add(element)
        self._push(element)
        if name == "table":
            self._between, self._table = _BESIDE_CELLS, token
        elif name == "tbody" and token.map is not None:
            self._skip_to(max(self._at, self._lines[token.map[0]]))
        elif name == "list_item":
            self._show_marker(token.info + token.markup)
        elif name == "heading" and token.markup.startswith("#"):
            self._atx_marker(token.markup)

    def _end(self, token: "Token") -> None:
        self._pop()
        if token.type == "table_close" and self._table is not None:
            self._skip_line(self._table, _BESIDE_CELLS)
            self._between, self._table = _WHITE_SPACE, None
        elif token.type == "heading_close" and token.markup in ("=", "-"):
            self._skip_delimiter(self._setext_underline(token.markup))

    def _atx_marker(self, marker: str) -> None:
        start = self._advance_to(marker)
        following = _next_character(self._text, start + len(marker), 1, _DELIMITERS | _WHITE_SPACE)
        if marker == "#" and not following.isalpha():
            self._show_marker(marker)
        else:
            self._at = start + len(marker)

    def _setext_underline(self, character: str) -> str:
        """The underline of a heading."""
        underline = re.compile(f"{re.escape(character)}+").search(self._text, self._at)
        if underline is None or len(underline[0]) < _SHORTEST_UNDERLINE:
            raise _UnreadableError("an underline that may be content")
        return underline[0]

    def _inline(self, token: "Token") -> None:
        kind = token.type
        if kind in ("softbreak", "hardbreak"):
            self._break(hard=kind == "hardbreak")
        elif kind == "text":
            if token.content:
                self._show(token.content)
        elif kind == "text_special":
            self._show(token.markup)
        elif kind == "code_inline":
            self._skip_delimiter(token.markup)
            self._push(self._add(Element("code")))
            self._show(token.content)
            self._pop()
            self._skip_delimiter(token.markup)
        elif kind == "image":
            self._skip_delimiter("![")
            self._push(self._add(Element("span", kind="image")))
            for child in token.children or ():
                self._inline(child)
            self._address()
            self._pop()
        elif kind in ("link_open", "link_close"):
            self._link(token, opens=kind == "link_open")
        elif kind in ("em_open", "strong_open", "s_open"):
            self._skip_delimiter(token.markup)
            element = self._add(Element(_BLOCKS[kind.removesuffix("_open")]))
            self._push(element, (self._at - len(token.markup), self._at))
        elif kind in ("em_close", "strong_close", "s_close"):
            self._skip_delimiter(token.markup)
            self._close((self._at - len(token.markup), self._at))
        else:
            raise _UnreadableError(kind)

    def _break(self, *, hard: bool) -> None:
        quoted = any(one.name == "blockquote" for one in self._open)
        self._add(Element("br") if hard or quoted else TextSlice(self._at, self._at, " "))
        if hard and self._text[self._at : self._at + 1] == "\\":
            self._at += 1

    def _close(self, closing: tuple[int, int]) -> None:
        """Ends emphasis. If one of its delimiters may be content, both are shown and nothing is formatted."""
        opening, element = self._openings[-1], self._open[-1]
        self._pop()
        if opening is None:
            raise _UnreadableError("an end without a beginning")
        if _may_be_content(self._text, *opening, opens=True) or _may_be_content(self._text, *closing, opens=False):
            self._open[-1].children[-1:] = [TextSlice(*opening), *element.children, TextSlice(*closing)]

    def _link(self, token: "Token", *, opens: bool) -> None:
        if token.markup == "autolink":
            # `<https://example.org>`: the text of the link is its address; the angle brackets are shown around it.
            if opens:
                self._show("<")
                self._push(self._add(Element("span", kind="link")))
            else:
                self._pop()
                self._show(">")
        elif opens:
            self._skip_delimiter("[")
            self._push(self._add(Element("span", kind="link")))
        else:
            self._address()
            self._pop()

    def _address(self) -> None:
        """The address in brackets after the text of a link; it is shown as it is."""
        text, at = self._text, self._at
        if text[at : at + 2] not in ("](", "]["):
            raise _UnreadableError("a link by a definition elsewhere")
        closing, depth, offset = (")" if text[at + 1] == "(" else "]"), 0, at + 1
        opening = text[at + 1]
        while offset < len(text):
            if text[offset] == "\\":
                offset += 1
            elif text[offset] == opening:
                depth += 1
            elif text[offset] == closing:
                depth -= 1
                if not depth:
                    break
            offset += 1
        else:
            raise _UnreadableError("a link without its end")
        self._add(Element("code", [TextSlice(at + 1, offset + 1)], "address"))
        self._at = offset + 1

    def _code(self, token: "Token") -> None:
        if token.map is None:
            raise _UnreadableError("code without a place")
        begin, end = token.map
        self._skip_to(max(self._at, self._lines[begin]))
        if token.type == "fence":
            self._skip_delimiter(token.markup)
        self._push(self._add(Element("pre")))
        if token.type == "fence":
            if token.info.strip():
                place = self._text.find(token.info.strip(), self._at, self._lines[begin + 1])
                if place < 0:
                    raise _UnreadableError("the name of a language is not where it should be")
                self._skip_to(place)
                self._at = place + len(token.info.strip())
                self._add(Element("span", [TextSlice(place, self._at)], "info"))
            begin += 1
            self._skip_to(min(self._lines[begin], len(self._text)))
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
            self._skip_to(start)
            if line:
                self._add(TextSlice(start, stop))
            self._add(TextSlice(stop, stop, "\n"))
            self._at = stop
        self._skip_to(max(self._at, min(self._lines[end], len(self._text))), _BESIDE_CODE)
        self._pop()
        self._pop()

    def _show(self, words: str) -> None:
        place = self._advance_to(words)
        self._at = place + len(words)
        self._add(TextSlice(place, self._at))

    def _show_marker(self, sign: str) -> None:
        """Shows the marker before a block."""
        place = self._advance_to(sign)
        self._at = place + len(sign)
        self._add(Element("span", [TextSlice(place, self._at)], "sign"))

    def _skip_delimiter(self, sign: str) -> None:
        """Skips a delimiter that the formatting replaces."""
        self._at = self._advance_to(sign) + len(sign)

    def _skip_line(self, token: "Token", signs: frozenset[str]) -> None:
        """Skips to the end of the lines of a token, over these characters only."""
        if token.map is None:
            raise _UnreadableError("a line without a place")
        self._skip_to(max(self._at, self._lines[token.map[0]]))
        self._skip_to(max(self._at, min(self._lines[token.map[1]], len(self._text))), signs)

    def _advance_to(self, words: str) -> int:
        """The offset at which words occur next; everything before it is skipped."""
        place = self._text.find(words, self._at)
        if place < 0:
            raise _UnreadableError("words that are not in the text")
        self._skip_to(place)
        return place

    def _skip_to(self, offset: int, signs: frozenset[str] | None = None) -> None:
        """Moves on to an offset. Only white space and `signs` may be skipped; the `>` of block quotes are shown."""
        if offset < self._at:
            raise _UnreadableError("words before those that were shown")
        allowed = self._between if signs is None else signs
        for at in range(self._at, offset):
            if self._text[at] == ">":
                self._add(Element("span", [TextSlice(at, at + 1)], "sign"))
            elif self._text[at] not in allowed:
                raise _UnreadableError("more than white space between the words")
        self._at = offset

    def _push(self, element: Element, sign: tuple[int, int] | None = None) -> None:
        self._open.append(element)
        self._openings.append(sign)

    def _pop(self) -> None:
        self._open.pop()
        self._openings.pop()

    def _add(self, child: _Child) -> _Child:
        self._open[-1].children.append(child)
        return child


def _may_be_content(text: str, start: int, end: int, *, opens: bool) -> bool:
    """Whether a delimiter of emphasis may be a part of the content, such as a multiplication sign.

    >>> _may_be_content("2*3*4", 1, 2, opens=True), _may_be_content("a *b* c", 2, 3, opens=True)
    (True, False)
    >>> _may_be_content("2 *3* 4", 2, 3, opens=True), _may_be_content("(2)*3*(4)", 3, 4, opens=True)
    (True, True)
    """
    before, after = _next_character(text, start - 1, -1, _DELIMITERS), _next_character(text, end, 1, _DELIMITERS)
    outer, inner = (before, after) if opens else (after, before)
    if not _is_prose(outer, before=opens):
        return True
    far = _next_character(text, *((start - 1, -1) if opens else (end, 1)), _DELIMITERS | _WHITE_SPACE)
    return _is_number(far, before=opens) and not inner.isalpha()


def _next_character(text: str, at: int, step: int, passed: frozenset[str]) -> str:
    """The next character in a direction, after skipping some characters; empty at the end of the text."""
    while 0 <= at < len(text) and text[at] in passed:
        at += step
    return text[at] if 0 <= at < len(text) else ""


def _is_prose(letter: str, *, before: bool) -> bool:
    """Whether a character may be next to emphasis in prose: the end of the text, a space, punctuation, or a letter of
    a script that has no spaces between words, such as Chinese or Japanese.

    Args:
        letter: the character; empty for the end of the text.
        before: whether it is before the emphasis.
    """
    if not letter or letter.isspace() or letter in _PROSE:
        return True
    if letter.isalpha():
        return unicodedata.east_asian_width(letter) in ("W", "F")
    return unicodedata.category(letter) in (("Ps", "Pi", "Pd", "So") if before else ("Pe", "Pf", "Pd", "So"))


def _is_number(letter: str, *, before: bool) -> bool:
    """Whether a number may end with this character, which is `before` a delimiter, or begin with it after one."""
    return letter.isnumeric() or letter in ((")", "]", "}", "%", "\N{DEGREE SIGN}") if before else ("(", "[", "{"))
