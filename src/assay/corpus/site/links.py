"""What a page links to, and what a sitemap lists (sitemaps.org, protocol 0.9)."""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from xml.parsers import expat

from assay.errors import InputError

MOST_LINKS: Final = 5_000
"""Links of a page that are followed, the first ones."""
MOST_LISTED: Final = 50_000
"""Addresses of a sitemap, as its protocol has it."""
MOST_SITEMAP_BYTES: Final = 52_428_800
"""Bytes of a sitemap once it is unpacked, as its protocol has it."""
_LONGEST_TAG: Final = 4_000
_TAGS: Final = re.compile(r"<(?:a|area|base|link)(?=[\s/])", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(
    r"""(?<![^\s"'/])(href|rel)\s{0,20}=\s{0,20}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE
)
_HIDDEN: Final = re.compile(r"<!--|<script(?=[\s>])|<style(?=[\s>])", re.IGNORECASE)
_ENDS: Final = {"<!--": "-->", "<script": "</script", "<style": "</style"}


@dataclass(frozen=True, slots=True)
class PageLinks:
    """What a page says of other addresses, as it is written there."""

    links: tuple[str, ...] = ()
    base: str | None = None
    """What its links are relative to, where it says so."""
    canonical: str | None = None
    """The address under which the page wants to be known."""


def links_of(page: str) -> PageLinks:
    """The links of an HTML page. Time is linear in the page, whatever is in it.

    >>> found = links_of('<link rel="canonical" href="/a"> <a class=x href="b.html">B</a> <!-- <a href=c> -->')
    >>> found.links, found.canonical
    (('b.html',), '/a')
    """
    links: list[str] = []
    base = canonical = None
    for tag, attributes in _tags(_shown(page)):
        address = attributes.get("href", "").strip()
        if not address:
            continue
        if tag == "base":
            base = base or address
        elif tag == "link":
            if canonical is None and "canonical" in attributes.get("rel", "").lower().split():
                canonical = address
        elif len(links) < MOST_LINKS and not address.startswith("#"):
            links.append(address)
    return PageLinks(tuple(dict.fromkeys(links)), base, canonical)


def _shown(page: str) -> str:
    """A page without comments, scripts and styles."""
    kept, at = [], 0
    folded = page.lower() if len(page.lower()) == len(page) else page
    while (found := _HIDDEN.search(page, at)) is not None:
        kept.append(page[at : found.start()])
        end = folded.find(_ENDS[found[0].lower()], found.end())
        if end < 0:
            return "".join(kept)
        at = end + 3
    return "".join([*kept, page[at:]])


def _tags(page: str) -> Iterator[tuple[str, dict[str, str]]]:
    at = 0
    while (found := _TAGS.search(page, at)) is not None:
        end = page.find(">", found.end(), found.end() + _LONGEST_TAG)
        if end < 0:
            at = found.end()
            continue
        attributes: dict[str, str] = {}
        for one in _ATTRIBUTE.finditer(page, found.end(), end):
            attributes.setdefault(one[1].lower(), html.unescape(one[2] or one[3] or one[4] or ""))
        yield found[0][1:].lower(), attributes
        at = end


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap lists."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]
    """Further sitemaps, where it is an index of them."""


def is_sitemap(data: bytes) -> bool:
    """Whether an answer is a sitemap: by its root element, packed or not."""
    head = data[:2_000]
    if data[:2] == b"\x1f\x8b":
        try:
            head = zlib.decompressobj(31).decompress(data[:4_096], 2_000)
        except zlib.error:
            return False
    return re.search(rb"<(?:[\w-]{1,20}:)?(?:urlset|sitemapindex)[\s>]", head) is not None


def read_sitemap(data: bytes) -> Sitemap:
    """A sitemap or an index of sitemaps.

    Raises:
        InputError: it is none, lists or unpacks to too much, or declares a document type, out of which entities grow.
    """
    pages: list[str] = []
    sitemaps: list[str] = []
    path: list[str] = []
    text: list[str] = []

    def refuse(*_: object) -> None:
        raise InputError("it declares a document type, which no sitemap does")

    def start(name: str, _: object) -> None:
        path.append(name.rpartition(" ")[2])
        if len(path) > 20:
            raise InputError("its elements are nested too deep for a sitemap")
        text.clear()

    def end(_: str) -> None:
        if path[-1:] == ["loc"] and path[-2:-1] in (["url"], ["sitemap"]):
            (pages if path[-2] == "url" else sitemaps).append("".join(text).strip())
            if len(pages) + len(sitemaps) > MOST_LISTED:
                raise InputError(f"it lists more than {MOST_LISTED:,} addresses; split it")
        path.pop()

    def said(data: str) -> None:
        if path[-1:] == ["loc"] and sum(map(len, text)) < _LONGEST_TAG:
            text.append(data)

    reader = expat.ParserCreate(namespace_separator=" ")
    reader.buffer_text = True
    reader.StartDoctypeDeclHandler = refuse
    reader.StartElementHandler, reader.EndElementHandler, reader.CharacterDataHandler = start, end, said
    try:
        for piece in _unpacked(data):
            reader.Parse(piece, False)
        reader.Parse(b"", True)
    except (expat.ExpatError, zlib.error) as error:
        raise InputError(f"it is no sitemap that can be read: {error}") from error
    return Sitemap(tuple(dict.fromkeys(pages)), tuple(dict.fromkeys(sitemaps)))


def _unpacked(data: bytes) -> Iterator[bytes]:
    if data[:2] != b"\x1f\x8b":
        yield data
        return
    packed, left, size = zlib.decompressobj(31), data, 0
    while left and not packed.eof:
        piece = packed.decompress(left, 1_000_000)
        size += len(piece)
        if size > MOST_SITEMAP_BYTES:
            raise InputError(f"it unpacks to more than {MOST_SITEMAP_BYTES:,} bytes")
        yield piece
        left = packed.unconsumed_tail
