"""The links of a page and the addresses in a sitemap (sitemaps.org, protocol 0.9)."""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from xml.parsers import expat

from assay.errors import InputError

MAX_LINKS: Final = 5_000
"""Links of a page that are followed at most: the first ones."""
MAX_SITEMAP_ADDRESSES: Final = 50_000
"""Addresses in a sitemap at most, the limit of its protocol."""
MAX_SITEMAP_BYTES: Final = 52_428_800
"""Bytes of a decompressed sitemap at most, the limit of its protocol."""
_LONGEST_TAG: Final = 4_000
_TAGS: Final = re.compile(r"<(?:a|area|base|link)(?=[\s/])", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(
    r"""(?<![^\s"'/])(href|rel)\s{0,20}=\s{0,20}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE
)
_HIDDEN: Final = re.compile(r"<!--|<script(?=[\s>])|<style(?=[\s>])", re.IGNORECASE)
_ENDS: Final = {"<!--": "-->", "<script": "</script", "<style": "</style"}


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The addresses that a page contains, as written."""

    links: tuple[str, ...] = ()
    base: str | None = None
    """The `href` of its `<base>` element, to which its links are relative."""
    canonical: str | None = None
    """The canonical address that the page declares."""


def links_of(page: str) -> PageLinks:
    """Find the links of an HTML page, in time linear in its length, whatever it contains.

    >>> found = links_of('<link rel="canonical" href="/a"> <a class=x href="b.html">B</a> <!-- <a href=c> -->')
    >>> found.links, found.canonical
    (('b.html',), '/a')
    """
    links: list[str] = []
    base = canonical = None
    for tag, attributes in _tags(_without_hidden(page)):
        address = attributes.get("href", "").strip()
        if not address:
            continue
        if tag == "base":
            base = base or address
        elif tag == "link":
            if canonical is None and "canonical" in attributes.get("rel", "").lower().split():
                canonical = address
        elif len(links) < MAX_LINKS and not address.startswith("#"):
            links.append(address)
    return PageLinks(tuple(dict.fromkeys(links)), base, canonical)


def _without_hidden(page: str) -> str:
    """Remove comments, scripts and styles from a page."""
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
    """The content of a sitemap."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]
    """Further sitemaps, if it is a sitemap index."""


def is_sitemap(data: bytes) -> bool:
    """Whether data is a sitemap, recognised by its root element, gzip-compressed or not."""
    head = data[:2_000]
    if data[:2] == b"\x1f\x8b":
        try:
            head = zlib.decompressobj(31).decompress(data[:4_096], 2_000)
        except zlib.error:
            return False
    return re.search(rb"<(?:[\w-]{1,20}:)?(?:urlset|sitemapindex)[\s>]", head) is not None


def read_sitemap(data: bytes) -> Sitemap:
    """Read a sitemap or a sitemap index.

    Raises:
        InputError: it is neither, lists or decompresses to too much, or declares a document type (entity expansion).
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
            if len(pages) + len(sitemaps) > MAX_SITEMAP_ADDRESSES:
                raise InputError(f"it lists more than {MAX_SITEMAP_ADDRESSES:,} addresses; split it")
        path.pop()

    def characters(data: str) -> None:
        if path[-1:] == ["loc"] and sum(map(len, text)) < _LONGEST_TAG:
            text.append(data)

    reader = expat.ParserCreate(namespace_separator=" ")
    reader.buffer_text = True
    reader.StartDoctypeDeclHandler = refuse
    reader.StartElementHandler, reader.EndElementHandler, reader.CharacterDataHandler = start, end, characters
    try:
        for piece in _decompressed(data):
            reader.Parse(piece, False)
        reader.Parse(b"", True)
    except (expat.ExpatError, zlib.error) as error:
        raise InputError(f"it is no sitemap that can be read: {error}") from error
    return Sitemap(tuple(dict.fromkeys(pages)), tuple(dict.fromkeys(sitemaps)))


def _decompressed(data: bytes) -> Iterator[bytes]:
    if data[:2] != b"\x1f\x8b":
        yield data
        return
    decompressor, remaining, size = zlib.decompressobj(31), data, 0
    while remaining and not decompressor.eof:
        piece = decompressor.decompress(remaining, 1_000_000)
        size += len(piece)
        if size > MAX_SITEMAP_BYTES:
            raise InputError(f"it unpacks to more than {MAX_SITEMAP_BYTES:,} bytes")
        yield piece
        remaining = decompressor.unconsumed_tail
