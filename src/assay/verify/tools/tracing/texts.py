"""Traces a text of an argument: an identifier, an address, a path, a name.

In order: the text itself; the same words in another form (case, spacing, accents, slugs, without spaces); the text
without its sign or with other spaces between its digits; a combination of parts of the sources, such as a path of a
folder and a file, or a URL of a host and an id.
"""

import re
from typing import Final
from urllib.parse import unquote_plus

from assay.schema.report_parts import EntityKind, SourceKind
from assay.verify.tools.tracing.sources import SourcePlace, Sources, SourceText, normalise_words
from assay.verify.tools.tracing.trace import Trace, derived, traced

LONGEST_NEEDLE: Final = 2_000
"""Characters of the longest entity whose parts are looked for; a longer one must be in a source as a whole."""

MOST_DISTANCE: Final = 120
"""The parts of a combined text must be within so many characters of the longest one, in one source."""

_SCHEME: Final = re.compile(r"^(?:[a-z][a-z0-9+.-]{1,15}:/{0,2}|www\.)(?:www\.)?", re.IGNORECASE)
_URL_PARTS: Final = re.compile(r"[/?&=#;]+")
_PATH_PARTS: Final = re.compile(r"[/\\]+")
_JOINTS: Final = re.compile(r"[\s_.:/#|-]+")
_PHONE_GAPS: Final = r"[\s().-]{0,3}"
_COMMON_PARTS: Final = frozenset(
    {"", ".", "..", "~", "api", "v1", "v2", "v3", "index", "html", "index.html", "search", "q", "query", "id", "www"}
)
_EXTENSION: Final = re.compile(r"\.([A-Za-z0-9]{1,6})$")


def trace_text(value: str, kind: EntityKind, sources: Sources, declaration: str = "") -> Trace | None:
    """The trace of a text; none where it has no source.

    `declaration` is the text of the tool's declaration; it may supply the fixed parts of a URL, never its host.
    """
    needle = value.strip()
    if not needle:
        return None
    if len(needle) > LONGEST_NEEDLE:
        return _trace_verbatim(needle, sources) or _trace_same_words(needle, sources)
    verbatim = _trace_verbatim(needle, sources)
    if verbatim is not None:
        return verbatim
    if kind is EntityKind.URL:
        return _trace_url(needle, sources, declaration)
    if kind is EntityKind.PATH:
        return _trace_same_words(needle, sources) or _trace_path(needle, sources)
    if kind is EntityKind.EMAIL:
        address = _trace_verbatim(needle.lower().removeprefix("mailto:"), sources)
        return address and derived("the same address", address.place)
    return (
        _trace_same_words(needle, sources)
        or _trace_without_sigil(needle, sources)
        or _trace_digits(needle, sources)
        # A date is not the sum of its parts: "2026-04-04" is not in a text with "2026-04-20".
        or (None if kind is EntityKind.DATE else _trace_combined(needle, sources))
    )


def _trace_verbatim(needle: str, sources: Sources) -> Trace | None:
    lowercase = needle.lower()
    for text in sources:
        place = text.find(lowercase)
        if place is not None:
            return traced(place, "verbatim" if place.text == needle else "the same but for case or escaping")
    return None


def _trace_same_words(needle: str, sources: Sources) -> Trace | None:
    words = normalise_words(needle)
    if not words:
        return None
    for text in sources:
        place = text.find_words(words)
        if place is not None:
            return derived("the same words in another form", place)
    glued = words.replace(" ", "")
    if len(glued) < 4:
        return None
    for text in sources:
        if text.has_prose and glued in text.normal_words.replace(" ", "") and (span := _find_glued(text, glued)):
            return derived("the same letters, spaced otherwise", SourcePlace(text, *span))
    return None


def _find_glued(text: SourceText, glued: str) -> tuple[int, int] | None:
    """The span of the letters, with spaces or marks between them, from the start of a word to the end of one."""
    if len(glued) > 80:
        return None
    pattern = r"(?<![^\W_])" + r"[\W_]?".join(re.escape(c) for c in glued) + r"(?![^\W_])"
    match = re.search(pattern, text.lowercase)
    return match.span() if match else None


def _trace_without_sigil(needle: str, sources: Sources) -> Trace | None:
    """The needle without its leading sign or leading zeros."""
    stripped = needle.lstrip("@#$").lstrip("0") or needle
    for form in {stripped, needle.lstrip("@#$")} - {needle, ""}:
        place = _trace_verbatim(form, sources)
        if place is not None:
            return derived("the same without the sign in front", place.place)
    return None


def _trace_digits(needle: str, sources: Sources) -> Trace | None:
    """A telephone or account number with other separators between its digits."""
    digits = re.sub(r"\D", "", needle)
    if not 6 <= len(digits) <= 30 or re.search(r"[^\W\d_]", needle):
        return None
    pattern = r"(?<!\d)" + _PHONE_GAPS.join(digits) + r"(?!\d)"
    for text in sources:
        match = re.search(pattern, text.text)
        if match:
            return derived("the same digits, spaced otherwise", SourcePlace(text, *match.span()))
    return None


def _trace_combined(needle: str, sources: Sources) -> Trace | None:
    """A combination of parts that are near each other in one source ("ORD" and "42" as "ORD-42")."""
    parts = [part for part in _JOINTS.split(needle.lower()) if part]
    if not 2 <= len(parts) <= 8 or max(map(len, parts)) < 3:
        return None
    for text in sources:
        first = text.find(max(parts, key=len))
        if first is None:
            continue
        window = text.lowercase[max(0, first.start - MOST_DISTANCE) : first.end + MOST_DISTANCE]
        if all(_has_whole(window, part) for part in parts):
            return derived("put together from parts that stand side by side", first)
    return None


def _has_whole(lowercase: str, part: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(part)}(?![^\W_])", lowercase) is not None


def _trace_url(needle: str, sources: Sources, declaration: str) -> Trace | None:
    """The same address in another form, or a known host with known parts after it."""
    stripped = _SCHEME.sub("", needle).rstrip("/")
    same = _trace_verbatim(stripped, sources)
    if same is not None:
        return derived("the same address", same.place)
    host, *rest = _URL_PARTS.split(stripped)
    known = _trace_verbatim(host, sources) or _trace_verbatim(host.removeprefix("www."), sources)
    if known is None:
        return None
    extended = (
        sources.append(SourceText(SourceKind.DECLARATION, "declaration", declaration)) if declaration else sources
    )
    return _trace_parts([unquote_plus(part) for part in rest], extended, known, "a known host and known parts")


def _trace_path(needle: str, sources: Sources) -> Trace | None:
    """A path of known folders and a known file."""
    parts = _PATH_PARTS.split(needle)
    joined = _trace_parts(parts, sources, None, "joined from known parts")
    if joined is not None or len(parts) > 1:
        return joined
    extension = _EXTENSION.search(needle)
    if extension is None:
        return None
    stem = _trace_verbatim(needle[: extension.start()], sources) or _trace_same_words(
        needle[: extension.start()], sources
    )
    return stem and derived("a known name with an ending", stem.place)


def _trace_parts(parts: list[str], sources: Sources, first: Trace | None, how: str) -> Trace | None:
    for part in parts:
        if part.lower() in _COMMON_PARTS:
            continue
        known = _trace_verbatim(part, sources) or _trace_same_words(part, sources)
        if known is None:
            return None
        first = first or known
    return derived(how, first.place) if first is not None else None
