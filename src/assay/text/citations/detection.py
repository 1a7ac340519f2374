"""Finds the citations in a text and the statement that each is attached to.

Citations are `[1]`, `[1, 2]`, `[1-3]`, `[1][2]`, `[Source X]`, `[Source: X]`, `[hr-2]`, `[policy.pdf, p. 4]`,
`[Smith et al., 2020]`, `(Source: X)`, a line `Source: X`, footnotes `[^1]` and reference lists with their entries,
superscripts, `【1†source】`, Markdown links that name a source, and named documents with a numbered part (`ISO
27001:2022 Section 8.4.3`). Check boxes, intervals, indices in code, code blocks and plain remarks in brackets are not
citations. All of it takes time linear in the length of the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from assay.text.citations.marks import Mark, find_marks
from assay.text.citations.source_names import KnownNames
from assay.text.sentences.splitting import Sentence, split_sentences

LONGEST_STATEMENT: Final = 2000
"""The most characters before a marker that are taken as the statement it is attached to."""

LONGEST_CHAIN: Final = 400
"""The most characters of a statement that a few words after its marker may continue."""

SHORTEST_CLAUSE: Final = 4
"""Words; this many or more between two markers of one sentence are a statement of their own."""

SHORTEST_QUOTE: Final = 3
"""Words; fewer in quotation marks are a term or irony, not a quotation (in scripts without spaces: 8 characters)."""

_QUOTED: Final = re.compile(
    r"“([^“”\n]{1,2000})”|„([^„“”\n]{1,2000})[“”]|«([^«»\n]{1,2000})»|「([^「」\n]{1,2000})」|"
    r"\"([^\"\n]{1,2000})\""
)
_LEAD: Final = re.compile(
    r"\s*(?:(?:as |is )?(?:stated|described|noted|shown|reported|explained|set out|defined|mentioned)? ?"
    r"(?:according to|per|in|from|see|by|under|source|sources|both|and|however,?|but|also)[\s:,]{0,3}){1,3}",
    re.IGNORECASE,
)
_SEE: Final = re.compile(r"\W*(?:for (?:more|details)[^.\n]{0,40},? )?see(?: also)?\b[^.!?\n]{0,80}", re.IGNORECASE)
_SAYS: Final = re.compile(
    r"[\s,]{1,3}(?:(?:also|only|further|explicitly|clearly) )?(?:says?|states?|shows?|notes?|reports?|requires?"
    r"|describes?|confirms?|explains?|indicates?|allows?|defines?|mentions?|specif(?:y|ies)|lists?|gives?|sets? out)\b"
)
_SOURCES: Final = re.compile(r"\W*(?:sources?|references?|citations?)[\s*_]{0,3}:[\s*_]{0,3}", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LINE: Final = " \t\r\n>*_-"
_EDGE: Final = " \t\r\n,;:–—-(*_>|"


@dataclass(frozen=True, slots=True)
class Citation:
    """One citation: its marker, the sources that it names and the statement that it is attached to."""

    marker: str
    """As written; for a citation that came as an object, the object's kind and source."""
    start: int
    """Index of the marker's first character in the text."""
    end: int
    """Index after its last character; equal to `start` where no marker is written."""
    source_ids: tuple[str, ...]
    """The sources that it names, as written."""
    quotes: tuple[str, ...]
    """The quotations in the statement, or the passage that a citation object carries."""
    location: str | None
    """The place in the source, as written: a page, a section, lines."""
    cited_start: int
    """Index of the first character of the statement; `cited_end` if the citation stands alone."""
    cited_end: int
    """Index after its last character."""
    cited_text: str
    """The statement without the markers in it."""
    kind: str = "marker"
    """marker, footnote, link, listed (an entry of a reference list), source_line, authority or object."""
    aliases: tuple[str, ...] = ()
    """Other names of the one source that a citation object names: its title, file name, address."""

    @property
    def quote(self) -> str | None:
        """The first quotation, if there is one."""
        return self.quotes[0] if self.quotes else None


def find_citations(
    text: str, known_ids: Collection[str] = (), sentences: Sequence[Sentence] | None = None
) -> list[Citation]:
    """All citations in a text, in order.

    Args:
        text: the output.
        known_ids: the names of the evidence: ids, titles, file names and addresses. They decide doubtful cases:
            `[leave]` is a citation only where `leave` is known.
        sentences: the sentences of the text, if the caller has split it already.

    >>> text = "Partners get 2 weeks [hr-2]. Pay is full [Source: 4], as is the bonus."
    >>> [(c.source_ids, text[c.cited_start : c.cited_end]) for c in find_citations(text)]
    [(('hr-2',), 'Partners get 2 weeks'), (('4',), 'Pay is full')]
    >>> find_citations("- [x] done, a value in the interval [0, 1], and `a[0]`")
    []
    """
    return attach(text, find_marks(text, KnownNames.of(known_ids)), sentences)


def attach(text: str, marks: Sequence[Mark], sentences: Sequence[Sentence] | None = None) -> list[Citation]:
    """The citations of given marks, which must be in order and must not overlap."""
    if not marks:
        return []
    return _Attacher(text, marks, split_sentences(text) if sentences is None else sentences).citations()


class _Attached(NamedTuple):
    """The mark before the current one, with its statement."""

    end: int
    """Index after the mark."""
    statement: tuple[int, int]
    sentence: int
    """Index of the sentence that the mark is in."""


class _Attacher:
    """Goes through the marks once and attaches each to its statement."""

    def __init__(self, text: str, marks: Sequence[Mark], sentences: Sequence[Sentence]) -> None:
        self.text = text
        self.marks = marks
        self.mark_starts = [mark.start for mark in marks]
        self.sentences = sentences
        self.starts = [sentence.start for sentence in sentences]
        self.quoted = [match.span() for match in _QUOTED.finditer(text)]
        self.quote_starts = [start for start, _ in self.quoted]

    def citations(self) -> list[Citation]:
        """The citations, one for each mark."""
        found: list[Citation] = []
        last: _Attached | None = None
        for mark in self.marks:
            index = max(0, bisect_right(self.starts, mark.start) - 1)
            statement = self.statement_range(mark, index, last)
            # An authority is part of its statement, so a marker after it is the first one of that clause.
            if mark.kind not in ("authority", "listed"):
                last = _Attached(mark.end, statement, index)
            found.append(self.citation(mark, *statement))
        return found

    def statement_range(self, mark: Mark, index: int, last: _Attached | None) -> tuple[int, int]:
        """The range of the statement that the mark belongs to; `index` is the one of the mark's sentence."""
        if mark.kind == "listed" or not self.sentences:
            return mark.start, mark.start
        sentence = self.sentences[index]
        if mark.kind == "authority":
            return self.trimmed(sentence.start, sentence.end)
        if mark.kind == "source_line" and last is not None and self.adjoins(last.end, mark.start):
            return last.statement
        if _SAYS.match(self.text, mark.end) is not None:
            return self.following(mark)
        if last is not None and last.sentence == index:
            words = self.words(max(last.end, mark.start - LONGEST_STATEMENT), mark.start)
            if not words:
                return last.statement
            # A few words such as `and 5 days` continue the statement before them, but not in a chain without end.
            statement_start = last.statement[0]
            continues = len(words) < SHORTEST_CLAUSE and mark.start - statement_start <= LONGEST_CHAIN
            return self.trimmed(statement_start if continues else last.end, mark.start)
        return self.first_in_sentence(mark, index)

    def first_in_sentence(self, mark: Mark, index: int) -> tuple[int, int]:
        """The statement of the first mark of a sentence."""
        sentence = self.sentences[index]
        start = max(sentence.start, mark.start - LONGEST_STATEMENT)
        if mark.kind == "source_line" or _SOURCES.fullmatch(self.text, start, mark.start):
            return self.paragraph(min(mark.start, sentence.start), index)
        if _SEE.fullmatch(self.text, start, mark.start):
            # A reference for the reader. If nothing follows it, it belongs to the sentence before.
            return self.previous_sentence(index) if not self.words(mark.end, sentence.end) else (mark.start, mark.start)
        if not self.words(start, mark.start):
            stands_alone = self.follows_on_line(mark.start)
            after = None if stands_alone and index > 0 else self.after(mark, sentence)
            return self.previous_sentence(index) if after is None else after
        if self.only_leads(start, mark.start):
            after = self.after(mark, sentence)
            if after is not None:
                return after
        return self.trimmed(self.with_quote(sentence.start, mark.start), mark.start)

    def adjoins(self, end: int, start: int) -> bool:
        """Whether only a line break and the signs that open a line stand between two marks."""
        return start - end <= 20 and not self.text[end:start].strip(_LINE)

    def follows_on_line(self, at: int) -> bool:
        """Whether a sentence ended before the mark on the same line."""
        before = self.text[max(0, at - 40) : at].rpartition("\n")[2].rstrip(" ")
        return before.endswith((".", "!", "?", "。", "！", "？", "”", '"', ")"))

    def following(self, mark: Mark) -> tuple[int, int]:
        """The rest of the sentence that has the mark as its subject."""
        i = bisect_right(self.starts, mark.end + 3) - 1
        end = min(self.sentences[max(i, 0)].end, mark.end + LONGEST_STATEMENT)
        return self.trimmed(mark.end, end)

    def words(self, start: int, end: int) -> list[str]:
        """The words of a range; in scripts without spaces, characters count."""
        piece = self.text[start:end]
        return _WIDE.findall(piece) or _WORD.findall(piece)

    def only_leads(self, start: int, end: int) -> bool:
        """Whether the range is no more than words such as `According to`."""
        return end - start <= 60 and _LEAD.fullmatch(self.text, start, end) is not None

    def after(self, mark: Mark, sentence: Sentence) -> tuple[int, int] | None:
        """What follows the mark in its sentence, for `[1] says that ...`."""
        i = bisect_right(self.mark_starts, mark.start)
        end = min(sentence.end, self.mark_starts[i] if i < len(self.marks) else sentence.end)
        end = min(end, mark.end + LONGEST_STATEMENT)
        return self.trimmed(mark.end, end) if len(self.words(mark.end, end)) >= SHORTEST_QUOTE else None

    def previous_sentence(self, index: int) -> tuple[int, int]:
        """The sentence before, for a mark that stands alone."""
        if index == 0:
            return self.sentences[0].start, self.sentences[0].start
        before = self.sentences[index - 1]
        return self.trimmed(before.start, before.end)

    def paragraph(self, end: int, index: int) -> tuple[int, int]:
        """The paragraph before a line of sources that begins at `end`, in sentence `index`."""
        low = max(0, end - LONGEST_STATEMENT)
        block = self.text[low:end].rstrip(_EDGE + "\n")
        blank_line = block.rfind("\n\n")
        first = low + blank_line + 2 if blank_line >= 0 else low
        i = bisect_left(self.starts, first)
        if i < len(self.starts) and self.starts[i] < end and i <= index:
            first = self.starts[i]
        return self.trimmed(first, end)

    def with_quote(self, start: int, end: int) -> int:
        """The start, moved back where a quotation that ends at the mark begins before the mark's sentence."""
        i = bisect_left(self.quote_starts, end) - 1
        if i < 0:
            return start
        opening, closing = self.quoted[i]
        if opening < start and not self.text[closing:end].strip(" .,;:!?"):
            return self.starts[max(0, bisect_right(self.starts, opening) - 1)]
        return start

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """The range without white space and punctuation at its ends, cut to the longest statement."""
        start = max(start, end - LONGEST_STATEMENT)
        raw = self.text[start:end]
        stripped = raw.strip(_EDGE)
        if not stripped:
            return end, end
        start += len(raw) - len(raw.lstrip(_EDGE))
        return start, start + len(stripped)

    def citation(self, mark: Mark, start: int, end: int) -> Citation:
        """The citation of a mark with the statement from `start` to `end`."""
        return Citation(
            marker=self.text[mark.start : mark.end],
            start=mark.start,
            end=mark.end,
            source_ids=mark.sources,
            quotes=self.quotes(start, end),
            location=mark.location,
            cited_start=start,
            cited_end=end,
            cited_text=self.text_without_marks(start, end),
            kind=mark.kind,
        )

    def quotes(self, start: int, end: int) -> tuple[str, ...]:
        """The quotations in a range that are long enough to be quotations; a block quote is one as a whole."""
        found = []
        i = bisect_left(self.quote_starts, start)
        while i < len(self.quoted) and self.quoted[i][1] <= end + 1:
            words = self.text[self.quoted[i][0] + 1 : self.quoted[i][1] - 1].strip()
            if len(_WORD.findall(words)) >= SHORTEST_QUOTE or len(_WIDE.findall(words)) >= 8:
                found.append(words)
            i += 1
        if not found and end > start:
            block = self.sentences[max(0, bisect_right(self.starts, start) - 1)].block
            words = self.text_without_marks(start, end)
            if block == "quote" and len(_WORD.findall(words)) >= SHORTEST_QUOTE:
                return (words,)
        return tuple(found)

    def text_without_marks(self, start: int, end: int) -> str:
        """The text of a range without its markers and with single spaces."""
        pieces = []
        i = bisect_left(self.mark_starts, start)
        at = start
        while i < len(self.marks) and self.mark_starts[i] < end:
            mark = self.marks[i]
            if mark.kind != "authority":
                pieces.append(self.text[at : mark.start])
                at = max(at, min(mark.end, end))
            i += 1
        pieces.append(self.text[at:end])
        joined = " ".join(" ".join(pieces).split())
        return re.sub(r" ([.,;:!?])(?!\.)", r"\1", joined)
