# ruff: noqa: E501 one alternative of a pattern a line
"""Removes markup and citation markers from a sentence and keeps the source offset of each remaining character."""

import re
import unicodedata
from dataclasses import dataclass
from html import unescape
from typing import Final

from assay.text.citations.passage_references import POINTER
from assay.text.lexicon.tokens import tokenise

_LINK = re.compile(r"!?\[([^\[\]\n]{1,400})\]\([^()\s]{0,2000}(?:\s\"[^\"\n]{0,200}\")?\)")
_LOOKALIKES = str.maketrans(
    "асеорхуіјԁһԛѕԝАВЕКМНОРСТХІЈЅαοερικυνΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aceopxyijdhqswABEKMHOPCTXIJSaoepikuvABEZHIKMNOPTYX"
)
"""Cyrillic and Greek letters that look like Latin ones (Unicode Technical Standard 39, confusables)."""
_WORD = re.compile(r"[^\W\d_]+")
_STYLED = re.compile("[\uff01-\uff5e\U0001d400-\U0001d7ff]")
"""Full-width and mathematical letters and digits: each is a styled form of a plain one."""
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|nbsp);")
"""A character by its number, as in `&#52;`, which a Markdown renderer displays as the character."""
_ENCLOSED = re.compile(
    "[\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792]"
)
"""Digits in circles and brackets, and with a full stop."""
_ROMAN: Final = re.compile("[\u2160-\u2168\u2170-\u2178]")
"""One to nine as single characters in Roman numerals."""
_NUMERIC = re.compile(r"(?<![^\W\d])[^\x00-\u00bf\u2070-\u2189](?![^\W\d])")
"""A single character without letters next to it, which may have a numeric value: 九, a tally, a rod numeral."""
_FILLER = "\u2060"
"""Fills the place of removed characters so that offsets hold; it is removed as markup in turn."""
_REMOVED_MARKUP = (
    re.compile(r"~~[^~\n]{1,300}~~"),
    re.compile(r"<(del|s|strike)>[^<>]{1,300}</\1>", re.IGNORECASE),
    re.compile("[\u200b-\u200d\u2060\ufe0f\u20e3\u00ad]"),
    re.compile(r"\[\^?[\w.:#/†\-–]{1,60}\](?!\()"),
    re.compile(r"\[\^?(?:[\w.\-]{1,30}[,;–\-] ?){1,9}[\w.\-]{1,30}\](?!\()"),
    re.compile(
        r"\[(?:source|src|doc|document|ref|reference|cit|citation|note|see|passage|context|chunk|id)s?\b[^\[\]\n]{0,80}\]",
        re.IGNORECASE,
    ),
    re.compile(r"【[^【】\n]{1,80}】"),
    re.compile(r"\((?:source|sources|ref|cited in|citation)\b[^()\n]{0,80}\)", re.IGNORECASE),
    re.compile(
        rf"\s?\((?:(?:see|from|per|as per|in|cf\.?|according to|as \w{{4,12}} (?:in|by))\s)?{POINTER}\)", re.IGNORECASE
    ),
    re.compile(r"(?<=[\w%])\s?\(\d{1,2}\)(?=\s*(?:[.,;:!?]|$))"),
    re.compile(r"(?<=[\w.,;:!?\"')])[⁰¹²³⁴-⁹]+(?![\w/])"),
    re.compile(r"(?<=[\w.,;:!?\"')])[†‡]{1,3}(?!\w)"),
    re.compile(
        r"(?:^|(?<=[A-Za-z]{4})|(?<=[.,;:!?\"']))<sup>[\s\[(]{0,2}[\d,*†‡ ]{1,8}[\s\])]{0,2}</sup>(?![\w/])",
        re.IGNORECASE,
    ),
    re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,9}(?:\s[^<>]{0,200})?/?>"),
    re.compile(r"(?<!\w)\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?!\w)|\*\*|~~|`+"),
    re.compile(r"(?<!\w)_{1,3}(?=\w)|(?<=[\w.!?])_{1,3}(?!\w)|(?<!\S)__(?=\S)"),
)
_MAY_HAVE_MARKUP = re.compile("[†‡\\[【(⁰¹²³⁴-⁹<*~`_\u200b-\u200d\u2060\ufe0f\u20e3\u00ad]")
"""Every match of `_REMOVED_MARKUP` contains one of these characters."""
_LEAD = re.compile(
    r"(?:[ \t]{0,3}>[ \t]?)*[ \t]*(?:#{1,6}[ \t]+|(?:[-*+•‣▪◦●○–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|[①-⑳])[ \t]+)?(?:\[[ xX]\][ \t]+)?"
    r"(?:(?:\*\*|__)?\[\^?[\w.\-]{1,40}\](?:\*\*|__)?:(?:\*\*|__)?[ \t]+|[†‡]{1,3}(?![\w])[ \t]*|[⁰¹²³⁴-⁹]{1,3}[ \t]+)?"
)
_QUOTE_MARK = re.compile(r"(?<=[\n\r])[ \t]{0,3}>[ \t]?")
_UNIT_BEFORE = re.compile(r"(?:^|[\s\d(/])(?:[kcmdµn]?m|in|ft|yd|mi|km|s)$")


_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,9}(?:\s[^<>]{0,200})?/?>")
_MIN_STATEMENT_SPACES = 3
_VALUE = re.compile(r"""=\s*(["'])((?:(?!\1)[^<>]){0,200}?\w\s+\w(?:(?!\1)[^<>]){0,200})\1""")
"""The value of a tag's attribute that consists of words: an alternative text is read out to people too."""

_EMBEDDED = re.compile(
    r"<(?P<tag>script|style|template)\b[^<>]{0,200}>(?P<body>.{0,4000}?)</(?P=tag)\s{0,9}>", re.DOTALL | re.IGNORECASE
)
_STRING = re.compile(r"""(["'`])((?:(?!\1)[^\n<>]){0,300}?\w\s+\w(?:(?!\1)[^\n<>]){0,300})\1""")
"""A string in a script within the answer: people read what a script displays, though not the script."""
_SIDE_TEXT = re.compile(
    r"\^\[(?P<note>[^\[\]]{1,400})\]"
    r"|!?\[(?P<label>[^\[\]\n]{1,400})\]\([^()\s]{0,2000}\s{1,3}(?P<mark>[\"'])(?P<title>[^\"'\n]{0,200}?\w\s+\w[^\"'\n]{0,200})(?P=mark)\)"
    r"|^\[[^\[\]\n]{1,60}\]:[ \t]+<?[^\s<>]{1,2000}>?[ \t]+(?P<sign>[\"'(])(?P<named>[^\"'()\n]{0,200}?\w\s+\w[^\"'()\n]{0,200})[\"')]"
)
"""Texts displayed beside a text: an inline note (Pandoc), the title of a link (CommonMark 0.31, 6.3 and 4.7)."""
_SEPARATING_MARKUP = re.compile(
    r"[\"'][^<>\"']{0,200}>|</?(?:td|th|tr|li|p|div|br|hr|h[1-6]|dt|dd|option|summary|details|title|table|ul|ol)\b",
    re.IGNORECASE,
)
"""Markup that separates the words on its two sides: the end of a tag with a value, or the tag of a cell or block."""
_KEPT_RUN = re.compile(b"\x01+")
_NEEDS_SPACING = re.compile(r"[^\S ]| (?=[ .,;:!?])")
_RUN = re.compile(r"(\s+)|[.,;:!?]|[^\s.,;:!?]+")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Clean text with the source offset of each of its characters."""

    text: str
    offsets: tuple[int, ...]

    def source_span(self, start: int, end: int, limit: int) -> tuple[int, int]:
        """The source range of a range of the clean text, including markers right after it; `limit` ends the source."""
        first = self.offsets[start]
        if end < len(self.offsets):
            return first, max(self.offsets[end], self.offsets[end - 1] + 1)
        return first, limit


def _kept_characters(raw: str) -> bytearray:
    keep = bytearray(b"\x01") * len(raw)
    lead = _LEAD.match(raw)
    if lead is not None and lead.end() < len(raw):
        keep[: lead.end()] = bytes(lead.end())
    patterns: tuple[re.Pattern[str], ...] = (_QUOTE_MARK,) if ">" in raw else ()
    if _MAY_HAVE_MARKUP.search(raw) is not None:
        for link in _LINK.finditer(raw):
            a, b = link.span(1)
            keep[link.start() : a] = bytes(a - link.start())
            keep[b : link.end()] = bytes(link.end() - b)
        patterns += _REMOVED_MARKUP
    for pattern in patterns:
        for match in pattern.finditer(raw):
            power = match.group()[0] in "²³" and _UNIT_BEFORE.search(raw[max(0, match.start() - 4) : match.start()])
            if not power and not _is_statement(match.group()):
                keep[match.start() : match.end()] = bytes(match.end() - match.start())
                for value in _VALUE.finditer(match.group()) if match.group()[0] == "<" else ():
                    a, b = (match.start() + offset for offset in value.span(2))
                    keep[a:b] = b"\x01" * (b - a)
    return keep


def _is_statement(mark: str) -> bool:
    """Whether what looks like a marker is a sentence in brackets: `[note: partners get nine weeks]`."""
    return (
        mark[0] != "<"
        and mark.count(" ") >= _MIN_STATEMENT_SPACES
        and any(t.tag in {"AUX", "V"} for t in tokenise(mark[1:-1]))
    )


def _with_plain_characters(raw: str) -> str:
    """The text with plain characters in place of those that only look like them, of the same length.

    People read a word of Latin letters with a Cyrillic "о" in it as if all were Latin; programs do not.
    """
    if "&" in raw:
        raw = _REFERENCE.sub(_decoded_reference, raw)
    if raw.isascii():
        return raw
    begin = len(raw) - len(raw.lstrip())  # where such a character numbers a list item
    raw = _ENCLOSED.sub(lambda m: m.group() if m.start() == begin else str(unicodedata.digit(m.group())), raw)
    raw = _ROMAN.sub(lambda m: str(int(unicodedata.numeric(m.group()))), raw)
    raw = _NUMERIC.sub(lambda m: m.group() if m.start() == begin else _digit_value(m), raw)
    if _STYLED.search(raw) is not None:
        raw = _STYLED.sub(lambda m: n if len(n := unicodedata.normalize("NFKC", m.group())) == 1 else m.group(), raw)
    return _WORD.sub(lambda m: m.group() if _of_one_script(m.group()) else m.group().translate(_LOOKALIKES), raw)


def _digit_value(sign: re.Match[str]) -> str:
    """The digit that a character stands for in the Unicode Character Database, or the character where it has none."""
    value = unicodedata.numeric(sign.group(), -1)
    return str(int(value)) if 0 <= value < 10 and value == int(value) else sign.group()


def _decoded_reference(reference: re.Match[str]) -> str:
    """The character that a reference names, padded to its length; the reference itself where it names none."""
    character = unescape(reference.group())
    if len(character) != 1:
        return reference.group()
    visible = character.isprintable() or character.isspace()
    return (character if visible else _FILLER) + _FILLER * (len(reference.group()) - 1)


def _of_one_script(word: str) -> bool:
    return word.isascii() or not any(c.isascii() for c in word) or not any(ord(c) in _LOOKALIKES for c in word)


def attribute_values(raw: str) -> tuple[list[tuple[str, int, int]], str]:
    """The attribute values, script strings, inline notes and link titles that consist of words, with their places; and
    the rest.

    The rest is the text with spaces in place of these; a script that contains such a string is removed as a whole.

    >>> attribute_values('<p title="It is free">Hello</p>')
    ([('It is free', 10, 20)], '<p title="          ">Hello</p>')
    """
    if "<" not in raw and "[" not in raw:
        return [], raw
    found: list[tuple[str, int, int]] = []
    removed: list[tuple[int, int]] = []
    for side_text in _SIDE_TEXT.finditer(raw):
        part = "note" if side_text["note"] is not None else "title" if side_text["title"] is not None else "named"
        found.append((side_text[part], *side_text.span(part)))
        a, b = side_text.span("label")
        removed += [side_text.span()] if a < 0 else [(side_text.start(), a), (b, side_text.end())]
    for script in _EMBEDDED.finditer(raw):
        at = script.start("body")
        texts = [(m.group(2), at + m.start(2), at + m.end(2)) for m in _STRING.finditer(script["body"])]
        found += texts
        removed += [script.span()] if texts else []
    for tag in _TAG.finditer(raw):
        for value in _VALUE.finditer(tag.group()):
            a, b = (tag.start() + offset for offset in value.span(2))
            found.append((raw[a:b], a, b))
    rest = list(raw)
    for a, b in [*removed, *((a, b) for _, a, b in found)]:
        rest[a:b] = " " * (b - a)
    return found, "".join(rest)


def clean(raw: str) -> Cleaned:
    """The sentence without list markers, emphasis, link addresses, tags and citation markers, with single spaces.

    >>> clean("- **Leave** is [paid](https://example.org) [hr-2].").text
    'Leave is paid.'
    """
    raw = _with_plain_characters(raw)
    keep = _kept_characters(raw)
    first = keep.find(1)
    if first >= 0 and keep.find(0, first) < 0 and _NEEDS_SPACING.search(raw, first) is None:  # like most sentences
        first += raw[first : first + 1] == " "
        stripped = raw[first:].removesuffix(" ")
        return Cleaned(stripped, tuple(range(first, first + len(stripped))))
    pieces: list[str] = []
    offsets: list[int] = []
    for part in _KEPT_RUN.finditer(keep):
        if pieces and pieces[-1] != " " and _SEPARATING_MARKUP.search(raw, offsets[-1] + 1, part.start()) is not None:
            pieces.append(" ")
            offsets.append(part.start() - 1)
        for run in _RUN.finditer(raw, part.start(), part.end()):
            if run.group(1) is not None:
                if pieces and pieces[-1] != " ":
                    pieces.append(" ")
                    offsets.append(run.start())
                continue
            word_or_sign = run.group()
            if word_or_sign in ".,;:!?" and pieces and pieces[-1] == " ":
                pieces.pop()
                offsets.pop()
            pieces.append(word_or_sign)
            offsets.extend(range(run.start(), run.end()))
    if pieces and pieces[-1] == " ":
        pieces.pop()
        offsets.pop()
    return Cleaned("".join(pieces), tuple(offsets))
