"""Follows a text of an argument back: an identifier, an address, a path, a name.

In order: the text itself; the same words in another form (case, spacing, accents, slugs, glued together); a part of
something that is in a source; something put together from parts that stand near each other, as a path is joined
from a folder and a file, or a URL from a host and an id.
"""

import re
from typing import Final
from urllib.parse import unquote_plus

from assay.schema.report_parts import EntityKind, SourceKind
from assay.verify.tools.tracing.sources import Found, Sources, SourceText, squash
from assay.verify.tools.tracing.trace import Trace, derived, traced

LONGEST_NEEDLE: Final = 2_000
"""Characters of the longest entity whose parts are looked for; a longer one must be in a source as a whole."""

NEAR: Final = 120
"""Characters within which the parts of something put together must be in one source."""

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
    """Where a text comes from; none where nothing leads to it.

    `declaration` is what the tool's declaration says; it may supply the fixed parts of an address, never its host.
    """
    needle = value.strip()
    if not needle:
        return None
    if len(needle) > LONGEST_NEEDLE:
        return _verbatim(needle, sources) or _same_words(needle, sources)
    verbatim = _verbatim(needle, sources)
    if verbatim is not None:
        return verbatim
    if kind is EntityKind.URL:
        return _url(needle, sources, declaration)
    if kind is EntityKind.PATH:
        return _same_words(needle, sources) or _path(needle, sources)
    if kind is EntityKind.EMAIL:
        address = _verbatim(needle.lower().removeprefix("mailto:"), sources)
        return address and derived("the same address", address.found)
    return (
        _same_words(needle, sources)
        or _without_sigil(needle, sources)
        or _digits(needle, sources)
        # A date is not its parts: "2026-04-04" is no date of a text that says "2026-04-20".
        or (None if kind is EntityKind.DATE else _put_together(needle, sources))
    )


def _verbatim(needle: str, sources: Sources) -> Trace | None:
    low = needle.lower()
    for text in sources:
        found = text.find(low)
        if found is not None:
            return traced(found, "verbatim" if found.text == needle else "the same but for case or escaping")
    return None


def _same_words(needle: str, sources: Sources) -> Trace | None:
    words = squash(needle)
    if not words:
        return None
    for text in sources:
        found = text.find_words(words)
        if found is not None:
            return derived("the same words in another form", found)
    glued = words.replace(" ", "")
    if len(glued) < 4:
        return None
    for text in sources:
        if text.has_prose and glued in text.squashed.replace(" ", "") and (place := _find_glued(text, glued)):
            return derived("the same letters, spaced otherwise", Found(text, *place))
    return None


def _find_glued(text: SourceText, glued: str) -> tuple[int, int] | None:
    """The place of letters between which there may be spaces and marks, from the start of a word to the end of one."""
    if len(glued) > 80:
        return None
    pattern = r"(?<![^\W_])" + r"[\W_]?".join(re.escape(c) for c in glued) + r"(?![^\W_])"
    match = re.search(pattern, text.low)
    return match.span() if match else None


def _without_sigil(needle: str, sources: Sources) -> Trace | None:
    """The needle without the sign in front of it, or with the one that sources write."""
    stripped = needle.lstrip("@#$").lstrip("0") or needle
    for form in {stripped, needle.lstrip("@#$")} - {needle, ""}:
        found = _verbatim(form, sources)
        if found is not None:
            return derived("the same without the sign in front", found.found)
    return None


def _digits(needle: str, sources: Sources) -> Trace | None:
    """A telephone or account number with other spaces and marks between its digits."""
    digits = re.sub(r"\D", "", needle)
    if not 6 <= len(digits) <= 30 or re.search(r"[^\W\d_]", needle):
        return None
    pattern = r"(?<!\d)" + _PHONE_GAPS.join(digits) + r"(?!\d)"
    for text in sources:
        match = re.search(pattern, text.text)
        if match:
            return derived("the same digits, spaced otherwise", Found(text, *match.span()))
    return None


def _put_together(needle: str, sources: Sources) -> Trace | None:
    """Parts that stand near each other in one source, joined by a sign ("ORD" and "42" as "ORD-42")."""
    parts = [part for part in _JOINTS.split(needle.lower()) if part]
    if not 2 <= len(parts) <= 8 or max(map(len, parts)) < 3:
        return None
    for text in sources:
        first = text.find(max(parts, key=len))
        if first is None:
            continue
        near = text.low[max(0, first.start - NEAR) : first.end + NEAR]
        if all(_stands_in(near, part) for part in parts):
            return derived("put together from parts that stand side by side", first)
    return None


def _stands_in(low: str, part: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(part)}(?![^\W_])", low) is not None


def _url(needle: str, sources: Sources, declaration: str) -> Trace | None:
    """The same address written otherwise, or a known host with a path and values that are known each."""
    stripped = _SCHEME.sub("", needle).rstrip("/")
    same = _verbatim(stripped, sources)
    if same is not None:
        return derived("the same address", same.found)
    host, *rest = _URL_PARTS.split(stripped)
    known = _verbatim(host, sources) or _verbatim(host.removeprefix("www."), sources)
    if known is None:
        return None
    extended = (
        sources.append(SourceText(SourceKind.DECLARATION, "declaration", declaration)) if declaration else sources
    )
    return _joined([unquote_plus(part) for part in rest], extended, known, "a known host and known parts")


def _path(needle: str, sources: Sources) -> Trace | None:
    """A path joined from folders and a file that are known each."""
    parts = _PATH_PARTS.split(needle)
    joined = _joined(parts, sources, None, "joined from known parts")
    if joined is not None or len(parts) > 1:
        return joined
    extension = _EXTENSION.search(needle)
    if extension is None:
        return None
    stem = _verbatim(needle[: extension.start()], sources) or _same_words(needle[: extension.start()], sources)
    return stem and derived("a known name with an ending", stem.found)


def _joined(parts: list[str], sources: Sources, first: Trace | None, how: str) -> Trace | None:
    for part in parts:
        if part.lower() in _COMMON_PARTS:
            continue
        known = _verbatim(part, sources) or _same_words(part, sources)
        if known is None:
            return None
        first = first or known
    return derived(how, first.found) if first is not None else None
