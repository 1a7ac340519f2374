"""A site as a corpus: its pages are fetched one at a time and then presented like the files of a folder.

Starting from a page, links are followed; starting from a sitemap, the pages it lists are fetched and no links are
followed. Pages fetched before are requested conditionally (`ETag`, `Last-Modified`) and sent again only if they
changed. A crawl that stops at a limit or is interrupted continues with the next check.
"""

from __future__ import annotations

import codecs
import mimetypes
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final
from urllib.parse import unquote, urlsplit

from assay.corpus.files import CorpusFile
from assay.corpus.formats import ENDINGS
from assay.corpus.formats.files import MAX_PACKED_BYTES
from assay.corpus.site.addresses import Scope, normalise_address, origin_of
from assay.corpus.site.fetching import FetchError, Response, Server
from assay.corpus.site.limits import MAX_QUERY_VARIANTS, MAX_REDIRECTS, MAX_WAIT_S, SiteLimits
from assay.corpus.site.links import PageLinks, is_sitemap, links_of, read_sitemap
from assay.corpus.site.page_store import FetchedPage, PageStore, StoredPage
from assay.corpus.site.robots import DISALLOW_ALL, MAX_ROBOTS_BYTES, Robots, read_robots
from assay.errors import InputError

_ENDING_OF: Final = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/x-rst": ".rst",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
}
_UNSPECIFIC_TYPES: Final = frozenset({"", "application/octet-stream", "binary/octet-stream", "text/plain"})
"""Media types that say less than the file ending of the address."""
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_GONE: Final = frozenset({404, 410})
_BUSY: Final = frozenset({429, 503})
_ABSENT: Final = {
    "gone": "addresses that pages lead to are not there (404 or 410)",
    "robots": "addresses were left alone because robots.txt asks for that",
    "outside": "addresses redirect out of what was named, and were not followed",
}


class Site:
    """The pages of a site, with the interface that `assay.corpus.files.FolderWalk` has for the files of a folder."""

    def __init__(
        self,
        scope: Scope,
        pages: PageStore,
        limits: SiteLimits,
        excluded: Sequence[str],
        progress: Callable[[int], None],
    ) -> None:
        """Set up the crawl; nothing is fetched yet.

        Args:
            scope: the part of the site that was named.
            pages: the pages fetched before.
            limits: what the crawl may cost.
            excluded: patterns of addresses to leave out, relative to the named folder.
            progress: called with the number of addresses requested since the last call.
        """
        self._start_scope, self._pages, self._limits, self._excluded, self._progress = (
            scope,
            pages,
            limits,
            excluded,
            progress,
        )
        self._scope = scope
        self._robots = Robots()
        self._last = 0.0
        self.notes: list[str] = []
        self.skipped: Counter[str] = Counter()
        """Number of pages of types that are not read, by media type."""
        self.links = 0
        """Number of links out of the scope."""
        self.unreadable: list[tuple[str, str]] = []
        """Addresses that could not be fetched, and why."""

    def files(self) -> Iterator[CorpusFile]:
        """Fetch what changed, then yield every available page, ordered by address.

        Raises:
            InputError: the named address cannot be fetched or must not be requested.
        """
        self._fetch()
        for why, count in self._pages.absent().items():
            if why in _ABSENT:
                self.notes.append(f"{count:,} {_ABSENT[why]}; the first is {self._pages.first_absent(why)}.")
            else:
                self.skipped[why] += count
        self.links = self._pages.outside()
        for page in self._pages.documents():
            if self._is_excluded(page.address):
                continue
            if page.problem is not None:
                self.unreadable.append((page.address, f"it could not be fetched: {page.problem}"))
            elif page.digest is not None:
                # Whether a page changed is decided by its content: the times that servers state are not reliable.
                yield CorpusFile(self._pages.path_of(page), page.address, int(page.digest[:15], 16), page.size)

    def _fetch(self) -> None:
        pages, limits = self._pages, self._limits
        resumed = pages.begin(self._start_scope.start)
        if resumed:
            self._scope = Scope(pages.about("scope") or self._start_scope.start)
        started, size, asked = time.monotonic(), 0, 0
        with Server(
            self._start_scope.start, allow_private=limits.allow_private, seconds=limits.page_seconds, agent=limits.agent
        ) as server:
            self._robots = self._read_robots(server)
            while (page := pages.next()) is not None:
                reached = (
                    (asked >= limits.pages, f"{limits.pages:,} addresses"),
                    (size >= limits.megabytes * 1_000_000, f"{limits.megabytes:,} MB"),
                    (time.monotonic() - started >= limits.seconds, f"{limits.seconds:,g} seconds"),
                )
                limit = next((words for is_reached, words in reached if is_reached), None)
                if limit is not None:
                    self.notes.append(
                        f"The site was not looked at to its end: the limit of {limit} was reached with "
                        f"{pages.left():,} known addresses left; the next check goes on there."
                    )
                    return
                size += self._visit(server, page)
                asked += 1
                self._progress(1)
        pages.end()

    def _read_robots(self, server: Server) -> Robots:
        scheme, _, _ = origin_of(self._start_scope.start)
        address = f"{scheme}://{urlsplit(self._start_scope.start).netloc}/robots.txt"
        try:
            for _ in range(MAX_REDIRECTS + 1):
                answer = self._get(server, address, MAX_ROBOTS_BYTES, {})
                target = (
                    normalise_address(answer.headers.get("location", ""), address)
                    if answer.status in _REDIRECTS
                    else None
                )
                if target is None or origin_of(target) != origin_of(address):
                    break
                address = target
        except FetchError as error:
            raise InputError(
                f"{self._start_scope.start}: its robots.txt cannot be had, so nothing is asked for: {error}"
            ) from error
        if 200 <= answer.status < 300:
            return read_robots(answer.body.decode("utf-8", "replace"), self._limits.agent)
        return DISALLOW_ALL if answer.status >= 500 else Robots()

    def _get(self, server: Server, address: str, max_bytes: int, headers: dict[str, str]) -> Response:
        """Request an address after the pause that the site asks for, and retry once if the server is busy."""
        answer = self._request(server, address, max_bytes, headers)
        after = answer.headers.get("retry-after", "")
        if answer.status in _BUSY and re.fullmatch("[0-9]{1,4}", after) and int(after) <= MAX_WAIT_S:
            time.sleep(int(after))
            answer = self._request(server, address, max_bytes, headers)
        return answer

    def _request(self, server: Server, address: str, max_bytes: int, headers: dict[str, str]) -> Response:
        pause = max(self._limits.delay, min(self._robots.delay, MAX_WAIT_S))
        time.sleep(max(0.0, self._last + pause - time.monotonic()))
        try:
            return server.get(address, max_bytes, headers)
        finally:
            self._last = time.monotonic()

    def _visit(self, server: Server, page: StoredPage) -> int:
        """Process one address; returns the number of bytes received."""
        is_start = page.address == self._start_scope.start
        if not self._robots.allows(page.address):
            if is_start:
                raise InputError(f"{page.address}: robots.txt of the site asks robots to leave it alone")
            self._pages.keep(page, FetchedPage(absent="robots"))
            return 0
        headers = {"If-None-Match": page.etag, "If-Modified-Since": page.modified}
        known = {name: value for name, value in headers.items() if value is not None}
        try:
            answer = self._get(server, page.address, MAX_PACKED_BYTES, known)
            if answer.status == 304 and known:
                self._pages.keep_unchanged(page)
                return 0
            self._pages.keep(page, self._fetched_page(page, answer, is_start=is_start))
        except (FetchError, InputError) as error:
            if is_start:
                raise InputError(f"{page.address}: {error}") from error
            self._pages.keep_problem(page, str(error))
            return 0
        return len(answer.body)

    def _fetched_page(self, page: StoredPage, answer: Response, *, is_start: bool) -> FetchedPage:
        if answer.status in _REDIRECTS:
            return self._redirected(page, answer, is_start=is_start)
        if answer.status in _GONE and not is_start:
            return FetchedPage(absent="gone")
        if not 200 <= answer.status < 300:
            raise FetchError(f"it answered {answer.status}")
        etag, modified = (_header(answer, name) for name in ("etag", "last-modified"))
        if page.listed or ((is_start or page.address == self._scope.start) and is_sitemap(answer.body)):
            self._pages.set_about("by_sitemap", str(self._pages.crawl))
            listed = read_sitemap(answer.body)
            found = [one for one in map(normalise_address, listed.sitemaps or listed.pages) if one is not None]
            links, outside = self._links_to_visit(found)
            return FetchedPage(etag=etag, modified=modified, links=links, listed=bool(listed.sitemaps), outside=outside)
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        ending = _ending(kind, page.address)
        if ending is None:
            return FetchedPage(absent=kind[:60] or "no media type", etag=etag, modified=modified)
        body = _in_utf8(answer, ending)
        page_links = links_of(body.decode("utf-8", "replace")) if ending == ".html" else PageLinks()
        base = normalise_address(page_links.base, page.address) if page_links.base else page.address
        canonical = normalise_address(page_links.canonical, base) if page_links.canonical else None
        addresses = [one for link in page_links.links if (one := normalise_address(link, base)) is not None]
        links, outside = self._links_to_visit(addresses)
        if self._pages.about("by_sitemap") == str(self._pages.crawl):
            links = ()
        if canonical is not None and not self._scope.contains(canonical):
            canonical = None
        return FetchedPage(body, ending, etag, modified, links, outside=outside, canonical=canonical)

    def _redirected(self, page: StoredPage, answer: Response, *, is_start: bool) -> FetchedPage:
        target = normalise_address(answer.headers.get("location", ""), page.address)
        if target is None:
            raise FetchError(f"it answered {answer.status} without an address that can be asked for")
        if is_start or page.address == self._scope.start:
            if origin_of(target) != origin_of(page.address):
                raise FetchError(f"it leads to {target}; name that address instead")
            self._scope = Scope(target)
            self._pages.set_about("scope", target)
        if not self._scope.contains(target):
            return FetchedPage(absent="outside")
        if page.hops >= MAX_REDIRECTS:
            raise FetchError(f"it is behind more than {MAX_REDIRECTS} redirects in a row")
        return FetchedPage(links=(target,), hops=page.hops + 1)

    def _links_to_visit(self, addresses: Sequence[str]) -> tuple[tuple[str, ...], int]:
        """The addresses to visit, and the number of links that lead out of the scope."""
        inside = [one for one in dict.fromkeys(addresses) if self._scope.contains(one)]
        outside = len(dict.fromkeys(addresses)) - len(inside)
        found: list[str] = []
        queries: Counter[str] = Counter()
        for one in inside:
            if self._is_excluded(one) or not _may_be_read(one):
                continue
            path, mark, _ = one.partition("?")
            if mark:
                queries[path] = queries[path] or self._pages.queries_of(one)
                if queries[path] >= MAX_QUERY_VARIANTS:
                    continue
                queries[path] += 1
            found.append(one)
        return tuple(found), outside

    def _is_excluded(self, address: str) -> bool:
        name = self._scope.relative_path(address)
        return any(fnmatchcase(name, pattern) for pattern in self._excluded)


def _header(answer: Response, name: str) -> str | None:
    """The value of a header that can be sent back; None if it is too long or has characters no header may have."""
    value = answer.headers.get(name, "").strip()
    return value if 0 < len(value) <= 500 and value.isascii() and value.isprintable() else None


def _ending(kind: str, address: str) -> str | None:
    """The file ending as which a page is read; None if its type is not read."""
    path = unquote(urlsplit(address).path).lower()
    ending = f".{path.rpartition('/')[2].rpartition('.')[2]}"
    if kind in _UNSPECIFIC_TYPES and ending in ENDINGS:
        return ending
    return _ENDING_OF.get(kind)


def _may_be_read(address: str) -> bool:
    """Whether an address may be that of a document: images, style sheets and archives are recognised by their names.

    >>> [_may_be_read(f"https://a.example/{name}") for name in ("leave", "a.pdf", "v2.1", "logo.png", "app.js")]
    [True, True, True, False, False]
    """
    kind, packed = mimetypes.guess_type(urlsplit(address).path)
    if kind is None or kind in _ENDING_OF or kind in {"application/xml", "text/xml"}:
        return packed in {None, "gzip"} or kind is None
    main = kind.partition("/")[0]
    return kind == "application/octet-stream" or (main == "text" and kind not in {"text/css", "text/javascript"})


def _in_utf8(answer: Response, ending: str) -> bytes:
    """The body of a text document, converted to UTF-8 if the server declares another encoding, which is trusted."""
    if ending in {".pdf", ".docx"} or answer.body.startswith(
        (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    ):
        return answer.body
    _, _, charset = answer.headers.get("content-type", "").lower().partition("charset=")
    name = charset.partition(";")[0].strip().strip("\"'")
    try:
        if not name or codecs.lookup(name).name == "utf-8":
            return answer.body
        return codecs.BOM_UTF8 + answer.body.decode(name).encode("utf-8")
    except (LookupError, UnicodeError, ValueError):
        return answer.body  # the reader of its format reports what is wrong
