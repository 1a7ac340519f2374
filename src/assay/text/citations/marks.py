"""Finds the places in a text that name a source: brackets, footnotes, superscripts, links and named authorities.

Each finder is one linear pass. Code blocks, inline code and displayed formulas are not read.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from assay.text.citations.source_names import KnownNames, Label, is_id_like, name_in, read_label
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


class MaskedText:
    """A text with the ranges in which nothing is a citation: code and formulas."""

    def __init__(self, text: str) -> None:
        self.text = text
        ranges = [(block.start, block.end) for block in blocks(text) if block.kind == "code"]
        ranges += [(m.start(), m.end()) for pattern in (_INLINE_CODE, _FORMULA) for m in pattern.finditer(text)]
        self._masked_ranges = _merge(ranges)
        self._starts = [start for start, _ in self._masked_ranges]
        self.references_start = max((match.end() for match in _HEADING.finditer(text)), default=len(text) + 1)
        """Index at which the list of references begins, after the last heading of that kind; past the end if none."""

    def masks(self, at: int) -> bool:
        """Whether the character is in code or a formula."""
        return _within(self._masked_ranges, self._starts, at)

    def opens_line(self, at: int) -> bool:
        """Whether only white space and list signs stand before the character in its line."""
        before = self.text[max(0, at - 12) : at]
        return not before.rpartition("\n")[2].strip(" \t>-*•0123456789.)") and (len(before) < 12 or "\n" in before)

    def rest_of_line(self, at: int) -> str:
        """The line from the character on, at most 400 characters."""
        return self.text[at : at + 400].partition("\n")[0]


def find_marks(text: str, known: KnownNames) -> list[Mark]:
    """All marks in a text, in order and without overlaps."""
    masked = MaskedText(text)
    bracketed = list(_brackets(masked, known))
    definitions = dict(_definitions(masked, bracketed, known))
    note_labels = {label for label, one in definitions.items() if one.is_note}
    marks = [
        _resolved(mark, definitions)
        for mark in bracketed
        if mark.kind == "link" or not note_labels.issuperset(mark.sources)
    ]
    marks += [*_file_search_marks(masked), *_parenthesised(masked, known), *_superscripts(masked, definitions, known)]
    marks += [*_source_lines(masked, known), *_authorities(masked)]
    inside = sorted((definition.start, definition.end) for definition in definitions.values())
    starts = [start for start, _ in inside]
    marks = [mark for mark in marks if not _within(inside, starts, mark.start)]
    marks += _unused_references(marks, definitions)
    return _disjoint(mark for mark in marks if not masked.masks(mark.start))


@dataclass(frozen=True, slots=True)
class _Definition:
    start: int
    end: int
    source: str
    is_note: bool = False
    """Whether the label stands for a statement, which is a claim of its own, and not for a source."""


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


def _brackets(masked: MaskedText, known: KnownNames) -> Iterator[Mark]:
    text = masked.text
    for match in _BRACKET.finditer(text):
        content, start, end = match[1].strip(), match.start(), match.end()
        if content in _NOT_CITED or text[start - 1 : start] == "\\":
            continue
        target = _link_target(text, start, end)
        if target is not None:
            mark = _link_mark(text, start, end, content, target, known)
        elif content.startswith("^") and len(content) <= 60 and not content[1:].isspace() and content[1:]:
            mark = Mark(start, end, (content[1:],), "footnote")
        else:
            mark = _bracket_mark(text, start, end, read_label(content, known))
        if mark is not None:
            yield mark


def _link_target(text: str, start: int, end: int) -> re.Match[str] | None:
    """The address of `[text](...)` or of `[[1]](...)`."""
    if text.startswith("(", end):
        return _TARGET.match(text, end)
    if text.startswith("](", end) and start > 0 and text[start - 1] == "[":
        return _TARGET.match(text, end + 1)
    return None


def _link_mark(text: str, start: int, end: int, content: str, target: re.Match[str], known: KnownNames) -> Mark | None:
    """The mark of a link, which is a citation if its text or address is a source or if it is written like one."""
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
        source = address if address.lower().startswith(("http://", "https://", "www.")) else content
        return Mark(first, target.end(), (source.removeprefix("^"),), "link")
    return None


def _bracket_mark(text: str, start: int, end: int, label: Label | None) -> Mark | None:
    """The mark of a plain bracket; none where its numbers are an interval, JSON or an index in code."""
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


def _definitions(masked: MaskedText, marks: list[Mark], known: KnownNames) -> Iterator[tuple[str, _Definition]]:
    """What each label stands for: the footnotes and the entries of the list of references."""
    for mark in marks:
        if mark.kind == "link" or len(mark.sources) != 1 or not masked.opens_line(mark.start):
            continue
        rest = masked.rest_of_line(mark.end)
        if not rest.startswith(":") and mark.start < masked.references_start:
            continue
        entry = rest.lstrip(": \t")
        if entry.strip():
            label = mark.sources[0]
            source = name_in(entry, known)
            # A number that is itself an id keeps that meaning unless the entry names another piece of evidence.
            if known.knows(label) and not known.knows(source):
                source = label
            is_note = not known.knows(source) and mark.start < masked.references_start and _is_statement(entry)
            yield label, _Definition(mark.start, mark.end + len(rest), source, is_note)
        elif mark.start >= masked.references_start:
            yield mark.sources[0], _Definition(mark.start, mark.end, mark.sources[0])
    if masked.references_start <= len(masked.text):
        yield from _entries(masked, known)


def _is_statement(entry: str) -> bool:
    """Whether the first sentence after a label is a complete statement, as in a note but not in a title."""
    first = re.split(r"(?<=[a-z\d%)])[.!?;](?:\s|$)", entry[:200], maxsplit=1)[0]
    return stands_alone(tokenise(first))


def _entries(masked: MaskedText, known: KnownNames) -> Iterator[tuple[str, _Definition]]:
    """The entries of the list of references by their number, or by their source where they have none."""
    for match in _ENTRY.finditer(masked.text, masked.references_start):
        source = name_in(match[2], known)
        label = match[1] or source
        if match[1] and known.knows(label) and not known.knows(source):
            source = label
        yield label, _Definition(match.start(2), match.end(2), source)


def _resolved(mark: Mark, definitions: dict[str, _Definition]) -> Mark:
    """The mark with each label replaced by the source that defines it; a label without a definition is kept."""
    if mark.kind == "link" or not any(source in definitions for source in mark.sources):
        return mark
    sources = tuple(definitions[source].source if source in definitions else source for source in mark.sources)
    return Mark(mark.start, mark.end, sources, mark.kind, mark.location)


def _unused_references(marks: list[Mark], definitions: dict[str, _Definition]) -> list[Mark]:
    """Marks for references that no marker in the text uses: they name a source without a statement."""
    used = {source for mark in marks for source in mark.sources}
    return [
        Mark(definition.start, definition.end, (definition.source,), "listed")
        for definition in definitions.values()
        if definition.source not in used and not definition.is_note
    ]


def _file_search_marks(masked: MaskedText) -> Iterator[Mark]:
    """The marks of OpenAI's file search and of browsing: `【1†source】`, `【4:0†policy.pdf】`, `【3†L10-L12】`."""
    for match in _LENTICULAR.finditer(masked.text):
        inner = _FILE_SEARCH.fullmatch(match[1])
        if inner is None:
            label = read_label(match[1], KnownNames.of(()))
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


def _parenthesised(masked: MaskedText, known: KnownNames) -> Iterator[Mark]:
    """Citations in parentheses: authors with a year, known names, and names after a cue such as `Source:`."""
    for match in _PAREN.finditer(masked.text):
        content = match[1].strip()
        if masked.text[match.start() - 1 : match.start()] == "]":
            continue
        if _ET_AL.fullmatch(content):
            label: Label | None = Label((content,))
        elif known.knows(content):
            distinctive = any(c.isdigit() or c in "-_./ " for c in content) and not content.isdigit()
            label = Label((content,)) if distinctive else None
        else:
            label = read_label(content, known, cue_required=True)
        # `(3)` numbers an item; `(Source 3)` cites.
        if label is not None and (content[:1].isalpha() or not all(source.isdigit() for source in label.sources)):
            yield Mark(match.start(), match.end(), label.sources, "marker", label.location)


def _superscripts(masked: MaskedText, definitions: dict[str, _Definition], known: KnownNames) -> Iterator[Mark]:
    """Raised numbers after a word or a full stop; after digits, single letters and units they are exponents."""
    text = masked.text
    for match in _SUPERSCRIPT.finditer(text):
        before = text[max(0, match.start() - 16) : match.start()]
        word = re.search(r"[^\W\d_]{4,}$", before)
        if not before.endswith((".", ",", ";", ":", "!", "?", ")", "”", '"', "。")) and (
            word is None or _UNITS.search(before)
        ):
            continue
        labels = re.split(r"[,˒⁾]", match.group().translate(_DIGITS).replace("⁻", "–"))
        label = read_label(", ".join(part for part in labels if part), known)
        if label is not None and not all(name in definitions and definitions[name].is_note for name in label.sources):
            yield _resolved(Mark(match.start(), match.end(), label.sources, "footnote"), definitions)


def _source_lines(masked: MaskedText, known: KnownNames) -> Iterator[Mark]:
    """A line of its own such as `Source: Leave policy`."""
    for match in _SOURCE_LINE.finditer(masked.text):
        entry = match[1].strip().strip("*_").strip()
        if any(sign in entry for sign in "[【"):
            continue  # the brackets in it are read as such
        label = read_label(f"Source: {entry.rstrip('.')}", known)
        if label is not None:
            start = match.end() - len(match.group().lstrip(" \t>*_-"))
            yield Mark(start, match.end(), label.sources, "source_line", label.location)


def _authorities(masked: MaskedText) -> Iterator[Mark]:
    """A named document together with a numbered part of it: `ISO 27001:2022 Section 8.4.3`."""
    for match in _AUTHORITY.finditer(masked.text):
        document = match["doc"] or match["doc2"]
        leading = _LEADING.match(document)
        skipped = leading.end() if leading is not None else 0
        if " " not in document[skipped:] and not re.fullmatch(_STANDARD, document[skipped:]):
            continue
        start = match.start() + (skipped if match["doc"] else 0)
        yield Mark(start, match.end(), (document[skipped:],), "authority", match["sec"] or match["sec2"])
