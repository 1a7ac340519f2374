"""Markdown of a model read into a tree of elements whose words are places in the text: nothing of it is ever HTML.

markdown-it-py reads the text (CommonMark with tables and strike-through, no HTML). Of its tokens only the structure is
used, and each word is found again in the text itself, so that marks of claims stay where they are. Links lead nowhere
and images are not loaded: their addresses are words like others.

**Nothing is hidden.** What lies between two words that are shown has to be Markdown's own signs. Where it is more, such
as a definition of a link or what the reader of this module does not know, there is no tree, and the text is shown as it
was written (docs/adr/0110).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from assay.errors import AssayError

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST_READ: Final = 40_000
"""Characters of a text that is read as Markdown; a longer one is shown as it was written."""
_SIGNS: Final = frozenset(" \t\r\n*_~`#>|[]()!\\-+=:<.")
"""What may lie between two words that are shown."""
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
    """What is shown in their place, where they are a sign for something, such as `&amp;`."""


@dataclass(slots=True)
class Element:
    """An element with what is in it."""

    name: str
    """An HTML element; `heading` for a heading, whose level is `value`."""
    children: list["Element | Words"] = field(default_factory=list)
    kind: str = ""
    """`link`, `image`, `address` or `info`, where it is one."""
    value: int | None = None
    """The number of an item of a list, or the level of a heading."""


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

    # Kept apart, entities and escaped signs can be told from the words beside them.
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
        elif kind.endswith("_open"):
            self._begin(token)
        elif kind.endswith("_close"):
            self._open.pop()
        else:
            raise _UnreadableError(kind)

    def _begin(self, token: "Token") -> None:
        name = token.type.removesuffix("_open")
        if token.hidden:
            # A paragraph of a list without blank lines: what is in it stands in the item.
            self._open.append(self._open[-1])
            return
        if name == "heading":
            made = Element("heading", value=_HEADINGS[token.tag])
        elif name in _BLOCKS:
            made = Element(_BLOCKS[name])
        else:
            raise _UnreadableError(name)
        if name == "list_item" and token.info:
            # Lists count by themselves, and a model may have written other numbers.
            place = self._found(token.info)
            made.value, self._at = int(token.info), place + len(token.info)
        if name == "link":
            made.kind = "link"
        self._add(made)
        self._open.append(made)

    def _inline(self, token: "Token") -> None:
        kind = token.type
        if kind in ("softbreak", "hardbreak"):
            self._add(Element("br")) if kind == "hardbreak" else self._add(Words(self._at, self._at, " "))
        elif kind == "text":
            if token.content:
                self._say(token.content)
        elif kind == "text_special":
            place = self._found(token.markup)
            self._at = place + len(token.markup)
            self._add(Words(place, self._at, token.content))
        elif kind == "code_inline":
            made = Element("code")
            self._add(made)
            self._open.append(made)
            self._say(token.content)
            self._open.pop()
        elif kind == "image":
            self._begin_image(token)
        elif kind == "link_close":
            self._address()
            self._open.pop()
        elif kind.endswith("_open"):
            self._begin(token)
        elif kind.endswith("_close"):
            self._open.pop()
        else:
            raise _UnreadableError(kind)

    def _begin_image(self, token: "Token") -> None:
        made = Element("span", kind="image")
        self._add(made)
        self._open.append(made)
        for child in token.children or ():
            self._inline(child)
        self._address()
        self._open.pop()

    def _address(self) -> None:
        """What stands in brackets behind the words of a link: shown as it is."""
        text, at = self._text, self._at
        if text[at : at + 1] == ">":
            return  # `<https://example.org>`: its words are its address
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
        self._add(Element("code", [Words(at + 2, place)], "address"))
        self._at = place + 1

    def _code(self, token: "Token") -> None:
        if token.map is None:
            raise _UnreadableError("code without a place")
        begin, end = token.map
        self._skip(self._lines[begin])
        made = Element("pre")
        self._add(made)
        if token.type == "fence":
            if token.info.strip():
                place = self._text.find(token.info.strip(), self._at, self._lines[begin + 1])
                if place < 0:
                    raise _UnreadableError("the name of a language is not where it should be")
                self._skip(place)
                made.children.append(Element("span", [Words(place, place + len(token.info.strip()))], "info"))
                self._at = place + len(token.info.strip())
            begin += 1
            self._skip(min(self._lines[begin], len(self._text)))
        code = Element("code")
        made.children.append(code)
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
                code.children.append(Words(start, stop))
            code.children.append(Words(stop, stop, "\n"))
            self._at = stop

    def _say(self, words: str) -> None:
        place = self._found(words)
        self._at = place + len(words)
        self._add(Words(place, self._at))

    def _found(self, words: str) -> int:
        """Where words stand next."""
        place = self._text.find(words, self._at)
        if place < 0:
            raise _UnreadableError("words that are not in the text")
        self._skip(place)
        return place

    def _skip(self, place: int) -> None:
        """Goes on to a place; nothing but signs may be passed over."""
        if place < self._at or not _SIGNS.issuperset(self._text[self._at : place]):
            raise _UnreadableError("more than signs between the words")
        self._at = place

    def _add(self, child: Element | Words) -> None:
        self._open[-1].children.append(child)
