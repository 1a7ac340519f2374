"""The line structure of a text: headings, list items, table rows, fenced code, quotes and paragraphs of prose.

Structure is read before sentences because none of the measured sentence splitters handles list items, and because a
line break is a stronger boundary than a full stop. The blocks are ordered and disjoint, and contain every character
that is not white space.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MIN_WRAPPED_LENGTH = 60
"""Characters; a line of at least this length counts as wrapped, so that it continues in the next one."""

_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]*(?:\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|\Z)")
_FENCE = re.compile(r"[ \t]{0,8}(`{3,}|~{3,})")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+\S")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣▪◦●○–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|[①-⑳])[ \t]+(?=\S)")
_QUOTE = re.compile(r"[ \t]{0,3}>")
_QUOTE_MARKS = re.compile(r"[ \t]{0,3}(?:>[ \t]?)+")
_CODE_SIGN = re.compile(r"[{}();=<>_$\\|`@\[\]]|--|::|->|&&")
_PLAIN_WORD = re.compile(
    r"\b(?:the|an?|of|is|are|was|were|has|have|gets?|for|to|in|by|with|and|per|will|must|may|can)\b", re.IGNORECASE
)
_HTML_TABLE = re.compile(r"[ \t]*<table\b", re.IGNORECASE)
_HTML_TABLE_END = re.compile(r"</table\s*>", re.IGNORECASE)
_HTML_ROW = re.compile(r"<tr\b[^<>]*>.*?</tr\s*>", re.IGNORECASE | re.DOTALL)
_HTML_UNREADABLE = re.compile(r"<table\b|\b(?:col|row)span\s*=\s*[\"']?(?!1\b)|<!--|<(?:script|style)\b", re.IGNORECASE)
"""Markup that a table must not have for its cells to be assigned to rows and columns."""
_HTML_CELL = re.compile(r"<(t[hd])\b[^<>]*>.*?(?:</\1\s*>|(?=<t[hd]\b|</tr\b))", re.IGNORECASE | re.DOTALL)
_HTML_MARK = re.compile(r"<[^<>]*>")
_MAX_HTML_TABLE = 50_000
_OTHER_SPACE = re.compile(r"[^\S ]")
_ENDS = tuple(".!?:;。！？।۔։።؟…")


@dataclass(frozen=True, slots=True)
class Block:
    """A consecutive part of the text with one role."""

    start: int
    end: int
    kind: str
    """prose, heading, list_item, table_row, code or quote."""
    masked: str
    """The block with each character of its markers and line breaks replaced by a space, so that offsets hold."""


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str

    @property
    def blank(self) -> bool:
        return not self.text or self.text.isspace()


def _lines(text: str) -> list[_Line]:
    found = []
    at = 0
    while at < len(text):
        match = _LINE.match(text, at)
        end = match.end() if match is not None and match.end() > at else at + 1
        found.append(_Line(at, end, text[at:end]))
        at = end
    return found


def is_rule(line: str) -> bool:
    """Whether the line is the rule between the head and the rows of a Markdown table."""
    stripped = line.strip()
    return "|" in stripped and "-" in stripped and not set(stripped) - set("|-: \t")


def _is_row(lines: list[_Line], i: int) -> bool:
    stripped = lines[i].text.strip()
    if "|" not in stripped:
        return False
    if stripped.startswith("|") and stripped.count("|") >= 2:
        return True
    return i + 1 < len(lines) and is_rule(lines[i + 1].text)


def _reads_as_prose(line: str) -> bool:
    stripped = line.strip()
    if _CODE_SIGN.search(stripped) or len(stripped.split()) < 4:
        return False
    return stripped[0].isupper() or stripped.endswith((".", "!", "?")) or _PLAIN_WORD.search(stripped) is not None


def _mask(text: str, start: int, end: int, marks: list[tuple[int, int]]) -> str:
    """The slice with spaces in place of the marked ranges and of all line breaks."""
    pieces: list[str] = []
    at = start
    for a, b in marks:
        pieces += [text[at:a], " " * (b - a)]
        at = b
    pieces.append(text[at:end])
    return _OTHER_SPACE.sub(" ", "".join(pieces))


class _BlockReader:
    """Goes through the lines once and collects the blocks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = _lines(text)
        self.at = 0

    def block(self, first: int, last: int, kind: str, marks: list[tuple[int, int]] | None = None) -> Block:
        """The block of the lines from `first` to before `last`."""
        start, end = self.lines[first].start, self.lines[last - 1].end
        return Block(start, end, kind, _mask(self.text, start, end, marks or []))

    def code(self) -> Iterator[Block]:
        """A fenced code block; lines in it that read as prose are prose, since a fence must not hide a claim."""
        opening = _FENCE.match(self.lines[self.at].text)
        fence = opening.group(1) if opening is not None else "```"
        last = self.at + 1
        while last < len(self.lines) and not self.lines[last].text.strip().startswith(fence):
            last += 1
        last = min(last + 1, len(self.lines))
        first = self.at
        for i in range(self.at + 1, last):
            if _reads_as_prose(self.lines[i].text):
                if i > first:
                    yield self.block(first, i, "code")
                yield self.block(i, i + 1, "prose")
                first = i + 1
        if first < last:
            yield self.block(first, last, "code")
        self.at = last

    def table(self) -> Iterator[Block]:
        """The rows up to the first line without a bar; the rule below the head is part of the head's block."""
        while self.at < len(self.lines) and "|" in self.lines[self.at].text:
            last = self.at + 1
            if last < len(self.lines) and is_rule(self.lines[last].text):
                last += 1
            yield self.block(self.at, last, "table_row")
            self.at = last

    def html_table(self) -> list[Block] | None:
        """The rows of an HTML table, each with the tags before it; none where cells span several or nest a table.

        Text between rows (a caption) is prose, and so is the rest of the line after the table.
        """
        start = self.lines[self.at].start
        closing = _HTML_TABLE_END.search(self.text, start, start + _MAX_HTML_TABLE)
        rows = list(_HTML_ROW.finditer(self.text, start, closing.start())) if closing is not None else []
        if closing is None or not rows or _HTML_UNREADABLE.search(self.text, start + len("<table"), closing.start()):
            return None
        found: list[Block] = []
        begin = start
        if any(_HTML_MARK.sub("", _HTML_CELL.sub("", row.group())).strip() for row in rows):
            return None  # words outside of cells
        for row in rows:
            if _HTML_MARK.sub("", self.text[begin : row.start()]).strip():
                found.append(self._block_of_range(begin, row.start(), "prose"))
                begin = row.start()
            found.append(self._block_of_range(begin, row.end(), "table_row"))
            begin = row.end()
        if _HTML_MARK.sub("", self.text[begin : closing.end()]).strip():
            found.append(self._block_of_range(begin, closing.end(), "prose"))
        else:
            last = found[-1]
            found[-1] = self._block_of_range(last.start, closing.end(), "table_row")
        while self.at < len(self.lines) and self.lines[self.at].end <= closing.end():
            self.at += 1
        if self.at < len(self.lines) and self.lines[self.at].start < closing.end():
            if self.text[closing.end() : self.lines[self.at].end].strip():
                found.append(self._block_of_range(closing.end(), self.lines[self.at].end, "prose"))
            self.at += 1
        return found

    def _block_of_range(self, start: int, end: int, kind: str) -> Block:
        return Block(start, end, kind, _mask(self.text, start, end, []))

    def starts_structure(self, i: int) -> bool:
        """Whether the line opens something other than prose."""
        line = self.lines[i].text
        patterns = (_FENCE, _HEADING, _ITEM, _QUOTE, _HTML_TABLE)
        return any(p.match(line) for p in patterns) or _is_row(self.lines, i)

    def continues_on_next_line(self, i: int) -> bool:
        """Whether line `i` continues in line `i + 1`."""
        if i + 1 >= len(self.lines) or self.lines[i + 1].blank or self.starts_structure(i + 1):
            return False
        here, following = self.lines[i].text.strip(), self.lines[i + 1].text.strip()
        if len(here) >= MIN_WRAPPED_LENGTH and not here.endswith(":"):
            return True
        return following[0].islower() and not here.endswith(_ENDS)

    def prose(self, kind: str, marks: list[tuple[int, int]]) -> Block:
        """A paragraph or a list item, with the lines in which it continues."""
        first = self.at
        while self.continues_on_next_line(self.at):
            self.at += 1
        self.at += 1
        return self.block(first, self.at, kind, marks)

    def quote(self) -> Block:
        """Consecutive lines that begin with `>`, up to the end of a sentence."""
        first = self.at
        marks = []
        while self.at < len(self.lines):
            match = _QUOTE_MARKS.match(self.lines[self.at].text)
            if match is None:
                break
            start = self.lines[self.at].start
            marks.append((start, start + match.end()))
            self.at += 1
            ended = self.lines[self.at - 1].text.strip().endswith(_ENDS)
            if ended and self.at - first >= 1:
                break
        return self.block(first, self.at, "quote", marks)

    def read(self) -> Iterator[Block]:
        """All blocks in order."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.blank:
                self.at += 1
            elif _FENCE.match(line.text):
                yield from self.code()
            elif _HEADING.match(line.text):
                self.at += 1
                hashes = len(line.text) - len(line.text.lstrip(" \t#"))
                yield self.block(self.at - 1, self.at, "heading", [(line.start, line.start + hashes)])
            elif _is_row(self.lines, self.at):
                yield from self.table()
            elif _HTML_TABLE.match(line.text) and (rows := self.html_table()) is not None:
                yield from rows
            elif _QUOTE.match(line.text):
                yield self.quote()
            elif (item := _ITEM.match(line.text)) is not None:
                yield self.prose("list_item", [(line.start, line.start + item.end())])
            else:
                yield self.prose("prose", [])


def blocks(text: str) -> list[Block]:
    """The blocks of the text in order; linear in its length.

    >>> [(b.kind, text.strip()) for text in ["# Leave"] for b in blocks(text)]
    [('heading', '# Leave')]
    >>> [b.kind for b in blocks("Terms:\\n- one\\n- two\\n\\n> said")]
    ['prose', 'list_item', 'list_item', 'quote']
    """
    return list(_BlockReader(text).read())
