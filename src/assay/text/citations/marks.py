"""Finds the places in a text that name a source: brackets, footnotes, superscripts, links and named authorities.

Each finder is one linear pass. Code blocks, inline code and displayed formulas are not read.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from assay.text.citations.source_names import Label, Names, is_id_like, name_in, read_label
from assay.text.claims.clauses import stands_alone
from assay.text.lexicon.tokens import tokenise
from assay.text.sentences.line_structure import blocks


@dataclass(frozen=True, slots=True)
class Mark:
    """One place that names sources."""

    start: int
    end: int
    sources: tuple[str, ...]
    kind: str
    """marker, footnote, link, listed, source_line, authority or object."""
    location: str | None = None


_BRACKET: Final = re.compile(r"\[([^\[\]\n]{1,300})\]")
_LENTICULAR: Final = re.compile(r"【([^【】\n]{1,300})】")
_FILE_SEARCH: Final = re.compile(r"\s*(\d{1,4}(?::\d{1,4})?)\s*†\s*([^†]{0,200}?)\s*(?:†.{0,200})?")
_PAREN: Final = re.compile(r"\(([^()\n]{1,300})\)")
_ET_AL: Final = re.compile(r"[A-Z][\w'’-]{1,30}(?: et al\.?| & [A-Z][\w'’-]{1,30}),? (?:19|20)\d\d[a-z]?")
_TARGET: Final = re.compile(
    r"\(\s{0,3}<?([^()\s<>]{1,2000}(?:\([^()\s<>]{0,200}\))?[^()\s<>]{0,200})>?"
    r"(?:\s{1,3}[\"'][^\"'\n]{0,200}[\"'])?\s{0,3}\)"
)
_SUPERSCRIPT: Final = re.compile(r"[⁰¹²³⁴-⁹]{1,3}(?:[,˒⁻⁾–][⁰¹²³⁴-⁹]{1,3}){0,9}")
_SOURCE_LINE: Final = re.compile(
    r"^[ \t>*_\-]{0,12}(?:sources?|references?|citations?)[ \t*_]{0,4}:[ \t*_]{0,4}(?=\S)([^\n]{1,400})$",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING: Final = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]{0,3})?[*_]{0,3}(?:references?|sources?(?: cited)?|citations?|works cited|bibliography"
    r"|footnotes|endnotes)[ \t]{0,3}:?[*_]{0,3}:?[ \t]{0,8}$",
    re.IGNORECASE | re.MULTILINE,
)
_ENTRY: Final = re.compile(r"^[ \t]{0,8}(?:(\d{1,3})[.)]|[-*•])[ \t]{1,8}(?![\[])(\S[^\n]{0,400})$", re.MULTILINE)
_INLINE_CODE: Final = re.compile(r"`[^`\n]{1,300}`")
_FORMULA: Final = re.compile(r"\$\$[^$]{1,2000}\$\$|\\\([^\\\n]{1,500}\\\)")
_NOT_CITED: Final = frozenset(("", "x", "X", "sic", "...", "…", "*"))
_INTERVAL_BEFORE: Final = re.compile(
    r"(?:intervals?|ranges?|domain|vectors?|array|lists?|set|tuple|matrix|coordinates|(?:values?|lies|falls|lie|fall|is"
    r"|are|scaled|clipped|normali[sz]ed|restricted|limited)\s(?:in|to|within)|∈|=|mod)[\s:(]{0,3}$",
    re.IGNORECASE,
)
_JSON_BEFORE: Final = re.compile(r"[\"'][ \t]{0,3}:[ \t]{0,3}$")
_WORD_BEFORE: Final = re.compile(r"[\w.]{1,40}$")
_CODE_WORD: Final = re.compile(r"[A-Za-z]|\w*_\w*|\w*[a-z][A-Z]\w*|\w+\.[a-z_]\w*|[A-Za-z]\w*\d")
_CODE_AFTER: Final = re.compile(r"\s{0,2}(?:=(?!=)|[+*/-]=)|\.[a-z_]\w{0,40}\(")
_CUE_BEFORE: Final = re.compile(
    r"(?:sources?|see|see also|per|from|according to|as stated in|ref(?:erence)?|cf\.?)[\s:(]{0,3}$", re.IGNORECASE
)
_LINK_TEXT: Final = re.compile(
    r"\^?\d{1,3}|(?:source|ref(?:erence)?|citation|doc(?:ument)?)\s?#?\d{0,3}", re.IGNORECASE
)
_UNITS: Final = re.compile(
    r"(?:met(?:re|er)s?|inch(?:es)?|feet|foot|yards?|miles?|seconds?|square|(?:kilo|centi|milli)met(?:re|er)s?)$",
    re.IGNORECASE,
)
_DIGITS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

_NUMERAL: Final = r"\d{1,4}[A-Za-z]?(?:[.\-]\d{1,4}[A-Za-z]?){0,5}(?:\([0-9a-z]{1,3}\)){0,3}"
_SECTION: Final = (
    rf"(?:(?:[Ss]ections?|[Cc]lauses?|[Aa]rticles?|[Pp]aragraphs?|[Cc]hapters?|Annex|Appendix|[Rr]ule|Sec\.|Art\.)\s"
    rf"|§{{1,2}}\s{{0,2}}){_NUMERAL}"
)
_STANDARD: Final = (
    r"(?:(?:ISO(?:/IEC)?|IEC|NIST(?: SP)?|IEEE|RFC|ANSI|ASTM|DIN|BS|EN|IFRS|IAS)[ -]\d[\w:/-]{0,20}(?:\.\d{1,4}){0,3}"
    r"|PCI[ -]DSS(?: v?\d(?:\.\d){0,3})?|SOC ?2|HIPAA|GDPR|CCPA|SOX|FERPA)"
)
_TITLED: Final = (
    r"(?:[A-Z][\w'’&-]{1,30}\s){1,6}(?:Policy|Handbook|Act|Regulations?|Standard|Guidelines?|Guide|Agreement|Contract"
    r"|Manual|Code|Directive|Procedures?|Charter|Plan|Rules|Protocol|Constitution|Statute)\b"
    r"(?:\s(?:[A-Z]{1,4}-?)?\d[\w-]{0,15}(?:\.\d{1,4}){0,3})?"
)
_DOCUMENT: Final = rf"(?:{_STANDARD}|{_TITLED})"
_AUTHORITY: Final = re.compile(
    rf"\b(?P<doc>{_DOCUMENT})(?:,\s|\s\(|\s)(?P<sec>{_SECTION})"
    rf"|(?<!\w)(?P<sec2>{_SECTION})\s(?:of|in)\s(?:(?:the|our|its|your|their)\s)?(?P<doc2>{_DOCUMENT})"
)
_LEADING: Final = re.compile(
    r"(?:(?:The|Our|Its|Your|Their|Per|Under|In|By|As|See|When|If|Both|And|But|According|Pursuant|Given|Following)\s)+"
)


class Page:
    """A text with what must not be read in it, looked up by position."""

    def __init__(self, text: str) -> None:
        self.text = text
        hidden = [(block.start, block.end) for block in blocks(text) if block.kind == "code"]
        hidden += [(m.start(), m.end()) for pattern in (_INLINE_CODE, _FORMULA) for m in pattern.finditer(text)]
        self._hidden = _merge(hidden)
        self._starts = [start for start, _ in self._hidden]
        self.references = max((match.end() for match in _HEADING.finditer(text)), default=len(text) + 1)
        """Where the list of references begins, behind the last heading of that name."""

    def hides(self, at: int) -> bool:
        """Whether the character is in code or a formula."""
        return _within(self._hidden, self._starts, at)

    def opens_line(self, at: int) -> bool:
        """Whether only white space and list signs stand before the character in its line."""
        before = self.text[max(0, at - 12) : at]
        return not before.rpartition("\n")[2].strip(" \t>-*•0123456789.)") and (len(before) < 12 or "\n" in before)

    def rest_of_line(self, at: int) -> str:
        """The line from the character on, at most 400 characters of it."""
        return self.text[at : at + 400].partition("\n")[0]


def find_marks(text: str, known: Names) -> list[Mark]:
    """All marks in order, without overlaps."""
    page = Page(text)
    bracketed = list(_brackets(page, known))
    defined = dict(_definitions(page, bracketed, known))
    notes = {label for label, one in defined.items() if one.note}
    marks = [
        _resolved(mark, defined) for mark in bracketed if mark.kind == "link" or not notes.issuperset(mark.sources)
    ]
    marks += [*_lenticulars(page), *_parens(page, known), *_superscripts(page, defined, known), *_lines(page, known)]
    marks += _authorities(page)
    inside = sorted((definition.start, definition.end) for definition in defined.values())
    starts = [start for start, _ in inside]
    marks = [mark for mark in marks if not _within(inside, starts, mark.start)]
    marks += _listed(marks, defined)
    return _disjoint(mark for mark in marks if not page.hides(mark.start))


@dataclass(frozen=True, slots=True)
class _Definition:
    start: int
    end: int
    source: str
    note: bool = False
    """Whether the label stands for a statement, which is a claim of its own, and for no source."""


def _within(ranges: list[tuple[int, int]], starts: list[int], at: int) -> bool:
    i = bisect_right(starts, at) - 1
    return i >= 0 and at < ranges[i][1]


def _merge(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _disjoint(marks: Iterable[Mark]) -> list[Mark]:
    kept: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
    return kept


def _brackets(page: Page, known: Names) -> Iterator[Mark]:
    text = page.text
    for match in _BRACKET.finditer(text):
        content, start, end = match[1].strip(), match.start(), match.end()
        if content in _NOT_CITED or text[start - 1 : start] == "\\":
            continue
        target = _link_target(text, start, end)
        if target is not None:
            mark = _link(text, start, end, content, target, known)
        elif content.startswith("^") and len(content) <= 60 and not content[1:].isspace() and content[1:]:
            mark = Mark(start, end, (content[1:],), "footnote")
        else:
            mark = _plain(text, start, end, read_label(content, known))
        if mark is not None:
            yield mark


def _link_target(text: str, start: int, end: int) -> re.Match[str] | None:
    """The address behind `[text](...)`, or behind `[[1]](...)`."""
    if text.startswith("(", end):
        return _TARGET.match(text, end)
    if text.startswith("](", end) and start > 0 and text[start - 1] == "[":
        return _TARGET.match(text, end + 1)
    return None


def _link(text: str, start: int, end: int, content: str, target: re.Match[str], known: Names) -> Mark | None:
    """A link is a citation where its text or its address is a source, or where it is written as one."""
    address = target[1]
    before = text[start - 1 : start]
    if before == "!":
        return None
    first = start - 1 if target.start() > end else start
    if known.knows(address):
        return Mark(first, target.end(), (address,), "link")
    if known.knows(content):
        return Mark(first, target.end(), (content,), "link")
    cited = _LINK_TEXT.fullmatch(content) or is_id_like(content, known) or before in ("^", "(")
    if cited or _CUE_BEFORE.search(text[max(0, start - 20) : start]):
        shown = address if address.lower().startswith(("http://", "https://", "www.")) else content
        return Mark(first, target.end(), (shown.removeprefix("^"),), "link")
    return None


def _plain(text: str, start: int, end: int, label: Label | None) -> Mark | None:
    if label is None:
        return None
    before = text[max(0, start - 40) : start]
    if all(source.isdigit() for source in label.sources):
        if _INTERVAL_BEFORE.search(before) or _JSON_BEFORE.search(before) or before.endswith(("=", "= ")):
            return None
        word = _WORD_BEFORE.search(before)
        if word is not None and _CODE_WORD.fullmatch(word.group()):
            return None
        if _CODE_AFTER.match(text, end):
            return None
    return Mark(start, end, label.sources, "marker", label.location)


def _definitions(page: Page, marks: list[Mark], known: Names) -> Iterator[tuple[str, _Definition]]:
    """Footnotes and entries of the list of references: what a label stands for."""
    for mark in marks:
        if mark.kind == "link" or len(mark.sources) != 1 or not page.opens_line(mark.start):
            continue
        rest = page.rest_of_line(mark.end)
        if not rest.startswith(":") and mark.start < page.references:
            continue
        entry = rest.lstrip(": \t")
        if entry.strip():
            label = mark.sources[0]
            source = name_in(entry, known)
            # A number that is an id keeps its meaning unless the entry names another evidence.
            if known.knows(label) and not known.knows(source):
                source = label
            note = not known.knows(source) and mark.start < page.references and _is_statement(entry)
            yield label, _Definition(mark.start, mark.end + len(rest), source, note)
        elif mark.start >= page.references:
            yield mark.sources[0], _Definition(mark.start, mark.end, mark.sources[0])
    if page.references <= len(page.text):
        yield from _entries(page, known)


def _is_statement(entry: str) -> bool:
    """Whether the first sentence behind a label says something by itself, as a note does and no title."""
    first = re.split(r"(?<=[a-z\d%)])[.!?;](?:\s|$)", entry[:200], maxsplit=1)[0]
    return stands_alone(tokenise(first))


def _entries(page: Page, known: Names) -> Iterator[tuple[str, _Definition]]:
    for match in _ENTRY.finditer(page.text, page.references):
        source = name_in(match[2], known)
        label = match[1] or source
        if match[1] and known.knows(label) and not known.knows(source):
            source = label
        yield label, _Definition(match.start(2), match.end(2), source)


def _resolved(mark: Mark, defined: dict[str, _Definition]) -> Mark:
    """The mark with the sources that its labels were defined as; the name as defined, else the label."""
    if mark.kind == "link" or not any(source in defined for source in mark.sources):
        return mark
    sources = tuple(defined[source].source if source in defined else source for source in mark.sources)
    return Mark(mark.start, mark.end, sources, mark.kind, mark.location)


def _listed(marks: list[Mark], defined: dict[str, _Definition]) -> list[Mark]:
    """References that no marker in the text uses: they name a source without a statement."""
    used = {source for mark in marks for source in mark.sources}
    return [
        Mark(d.start, d.end, (d.source,), "listed") for d in defined.values() if d.source not in used and not d.note
    ]


def _lenticulars(page: Page) -> Iterator[Mark]:
    """The marks of OpenAI's file search and of browsing: `【1†source】`, `【4:0†policy.pdf】`, `【3†L10-L12】`."""
    for match in _LENTICULAR.finditer(page.text):
        inner = _FILE_SEARCH.fullmatch(match[1])
        if inner is None:
            label = read_label(match[1], Names.of(()))
            if label is not None:
                yield Mark(match.start(), match.end(), label.sources, "marker", label.location)
            continue
        number, name = inner[1], inner[2].strip()
        if not name or name.lower() == "source":
            yield Mark(match.start(), match.end(), (number,), "marker")
        elif re.fullmatch(r"L\d{1,7}(?:-L?\d{1,7})?", name):
            yield Mark(match.start(), match.end(), (number,), "marker", name)
        else:
            yield Mark(match.start(), match.end(), (name,), "marker", number)


def _parens(page: Page, known: Names) -> Iterator[Mark]:
    for match in _PAREN.finditer(page.text):
        content = match[1].strip()
        if page.text[match.start() - 1 : match.start()] == "]":
            continue
        if _ET_AL.fullmatch(content):
            label: Label | None = Label((content,))
        elif known.knows(content):
            telling = any(c.isdigit() or c in "-_./ " for c in content) and not content.isdigit()
            label = Label((content,)) if telling else None
        else:
            label = read_label(content, known, loose=True)
        # `(3)` counts an item; `(Source 3)` cites.
        if label is not None and (content[:1].isalpha() or not all(source.isdigit() for source in label.sources)):
            yield Mark(match.start(), match.end(), label.sources, "marker", label.location)


def _superscripts(page: Page, defined: dict[str, _Definition], known: Names) -> Iterator[Mark]:
    """Raised numbers behind a word or a full stop; exponents behind digits, letters and units are none."""
    text = page.text
    for match in _SUPERSCRIPT.finditer(text):
        before = text[max(0, match.start() - 16) : match.start()]
        word = re.search(r"[^\W\d_]{4,}$", before)
        if not before.endswith((".", ",", ";", ":", "!", "?", ")", "”", '"', "。")) and (
            word is None or _UNITS.search(before)
        ):
            continue
        labels = re.split(r"[,˒⁾]", match.group().translate(_DIGITS).replace("⁻", "–"))
        label = read_label(", ".join(part for part in labels if part), known)
        if label is not None and not all(source in defined and defined[source].note for source in label.sources):
            yield _resolved(Mark(match.start(), match.end(), label.sources, "footnote"), defined)


def _lines(page: Page, known: Names) -> Iterator[Mark]:
    """A line of its own such as `Source: Leave policy`."""
    for match in _SOURCE_LINE.finditer(page.text):
        entry = match[1].strip().strip("*_").strip()
        if any(sign in entry for sign in "[【"):
            continue  # the brackets in it are read as such
        label = read_label(f"Source: {entry.rstrip('.')}", known)
        if label is not None:
            start = match.end() - len(match.group().lstrip(" \t>*_-"))
            yield Mark(start, match.end(), label.sources, "source_line", label.location)


def _authorities(page: Page) -> Iterator[Mark]:
    """A named document together with a numbered part of it: `ISO 27001:2022 Section 8.4.3`."""
    for match in _AUTHORITY.finditer(page.text):
        document = match["doc"] or match["doc2"]
        leading = _LEADING.match(document)
        skipped = leading.end() if leading is not None else 0
        if " " not in document[skipped:] and not re.fullmatch(_STANDARD, document[skipped:]):
            continue
        start = match.start() + (skipped if match["doc"] else 0)
        yield Mark(start, match.end(), (document[skipped:],), "authority", match["sec"] or match["sec2"])
