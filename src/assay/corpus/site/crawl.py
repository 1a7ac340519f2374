"""A site as a corpus: its pages are fetched one after another, and stand there like the files of a folder.

From a page on, links are followed; from a sitemap on, what it lists is fetched and no link is followed. What was
fetched before is asked for with what names its state (`ETag`, `Last-Modified`) and comes again only where it changed.
A look that ends at a limit, or is interrupted, goes on with the next check.
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

from assay.corpus.files import FoundFile
from assay.corpus.formats import ENDINGS
from assay.corpus.formats.files import MOST_PACKED_BYTES
from assay.corpus.site.addresses import Scope, normal, origin_of
from assay.corpus.site.fetching import Answer, FetchError, Server
from assay.corpus.site.kept_pages import FoundPage, KeptPage, KeptPages
from assay.corpus.site.limits import LONGEST_WAIT, MOST_QUERIES, MOST_REDIRECTS, SiteLimits
from assay.corpus.site.links import PageLinks, is_sitemap, links_of, read_sitemap
from assay.corpus.site.robots import MOST_BYTES, NOTHING, Robots, read_robots
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
_UNTOLD: Final = frozenset({"", "application/octet-stream", "binary/octet-stream", "text/plain"})
"""Media types with which the ending of the address says more."""
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_GONE: Final = frozenset({404, 410})
_BUSY: Final = frozenset({429, 503})
_ABSENT: Final = {
    "gone": "addresses that pages lead to are not there (404 or 410)",
    "robots": "addresses were left alone because robots.txt asks for that",
    "outside": "addresses redirect out of what was named, and were not followed",
}


class Site:
    """The pages of a site, as `assay.corpus.files.Walk` gives the files of a folder."""

    def __init__(
        self,
        scope: Scope,
        pages: KeptPages,
        limits: SiteLimits,
        excluded: Sequence[str],
        progress: Callable[[int], None],
    ) -> None:
        """Fetch nothing yet.

        Args:
            scope: what was named.
            pages: what was fetched before.
            limits: what fetching may cost.
            excluded: patterns of addresses, from the folder that was named on, that are left out.
            progress: called with how many more addresses were asked for.
        """
        self._named, self._pages, self._limits, self._excluded, self._progress = (
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
        self.other: Counter[str] = Counter()
        """Pages of other kinds, by media type."""
        self.links = 0
        """Links out of what was named."""
        self.unreadable: list[tuple[str, str]] = []
        """Addresses that could not be had, and why."""

    def files(self) -> Iterator[FoundFile]:
        """Fetch what changed, and then give every page that is there, by address.

        Raises:
            InputError: the named address cannot be had, or is one that must not be asked for.
        """
        self._fetch()
        for why, count in self._pages.absent().items():
            if why in _ABSENT:
                self.notes.append(f"{count:,} {_ABSENT[why]}; the first is {self._pages.first_absent(why)}.")
            else:
                self.other[why] += count
        self.links = self._pages.outside()
        for page in self._pages.documents():
            if self._is_excluded(page.address):
                continue
            if page.problem is not None:
                self.unreadable.append((page.address, f"it could not be fetched: {page.problem}"))
            elif page.digest is not None:
                # What a server says of time is not trusted with what changed: the content is.
                yield FoundFile(self._pages.path_of(page), page.address, int(page.digest[:15], 16), page.size)

    def _fetch(self) -> None:
        pages, limits = self._pages, self._limits
        going_on = pages.begin(self._named.start)
        if going_on:
            self._scope = Scope(pages.about("scope") or self._named.start)
        begun, size, asked = time.monotonic(), 0, 0
        with Server(
            self._named.start, allow_private=limits.allow_private, seconds=limits.page_seconds, agent=limits.agent
        ) as server:
            self._robots = self._read_robots(server)
            while (page := pages.next()) is not None:
                reached = (
                    (asked >= limits.pages, f"{limits.pages:,} addresses"),
                    (size >= limits.megabytes * 1_000_000, f"{limits.megabytes:,} MB"),
                    (time.monotonic() - begun >= limits.seconds, f"{limits.seconds:,g} seconds"),
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
        scheme, _, _ = origin_of(self._named.start)
        address = f"{scheme}://{urlsplit(self._named.start).netloc}/robots.txt"
        try:
            for _ in range(MOST_REDIRECTS + 1):
                answer = self._get(server, address, MOST_BYTES, {})
                target = normal(answer.headers.get("location", ""), address) if answer.status in _REDIRECTS else None
                if target is None or origin_of(target) != origin_of(address):
                    break
                address = target
        except FetchError as error:
            raise InputError(
                f"{self._named.start}: its robots.txt cannot be had, so nothing is asked for: {error}"
            ) from error
        if 200 <= answer.status < 300:
            return read_robots(answer.body.decode("utf-8", "replace"), self._limits.agent)
        return NOTHING if answer.status >= 500 else Robots()

    def _get(self, server: Server, address: str, most: int, headers: dict[str, str]) -> Answer:
        """An answer, after the pause that the site asks for, and once more where the server is busy."""
        answer = self._asked(server, address, most, headers)
        after = answer.headers.get("retry-after", "")
        if answer.status in _BUSY and re.fullmatch("[0-9]{1,4}", after) and int(after) <= LONGEST_WAIT:
            time.sleep(int(after))
            answer = self._asked(server, address, most, headers)
        return answer

    def _asked(self, server: Server, address: str, most: int, headers: dict[str, str]) -> Answer:
        pause = max(self._limits.delay, min(self._robots.delay, LONGEST_WAIT))
        time.sleep(max(0.0, self._last + pause - time.monotonic()))
        try:
            return server.get(address, most, headers)
        finally:
            self._last = time.monotonic()

    def _visit(self, server: Server, page: KeptPage) -> int:
        """Look at one address; the bytes that it took."""
        is_start = page.address == self._named.start
        if not self._robots.allows(page.address):
            if is_start:
                raise InputError(f"{page.address}: robots.txt of the site asks robots to leave it alone")
            self._pages.keep(page, FoundPage(absent="robots"))
            return 0
        headers = {"If-None-Match": page.etag, "If-Modified-Since": page.modified}
        known = {name: value for name, value in headers.items() if value is not None}
        try:
            answer = self._get(server, page.address, MOST_PACKED_BYTES, known)
            if answer.status == 304 and known:
                self._pages.keep_unchanged(page)
                return 0
            self._pages.keep(page, self._found(page, answer, is_start=is_start))
        except (FetchError, InputError) as error:
            if is_start:
                raise InputError(f"{page.address}: {error}") from error
            self._pages.keep_problem(page, str(error))
            return 0
        return len(answer.body)

    def _found(self, page: KeptPage, answer: Answer, *, is_start: bool) -> FoundPage:
        if answer.status in _REDIRECTS:
            return self._redirected(page, answer, is_start=is_start)
        if answer.status in _GONE and not is_start:
            return FoundPage(absent="gone")
        if not 200 <= answer.status < 300:
            raise FetchError(f"it answered {answer.status}")
        etag, modified = (_header(answer, name) for name in ("etag", "last-modified"))
        if page.listed or ((is_start or page.address == self._scope.start) and is_sitemap(answer.body)):
            self._pages.set_about("by_sitemap", str(self._pages.crawl))
            listed = read_sitemap(answer.body)
            found = [one for one in map(normal, listed.sitemaps or listed.pages) if one is not None]
            links, outside = self._wanted(found)
            return FoundPage(etag=etag, modified=modified, links=links, listed=bool(listed.sitemaps), outside=outside)
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        ending = _ending(kind, page.address)
        if ending is None:
            return FoundPage(absent=kind[:60] or "no media type", etag=etag, modified=modified)
        body = _in_utf8(answer, ending)
        page_links = links_of(body.decode("utf-8", "replace")) if ending == ".html" else PageLinks()
        base = normal(page_links.base, page.address) if page_links.base else page.address
        canonical = normal(page_links.canonical, base) if page_links.canonical else None
        addresses = [one for link in page_links.links if (one := normal(link, base)) is not None]
        links, outside = self._wanted(addresses)
        if self._pages.about("by_sitemap") == str(self._pages.crawl):
            links = ()
        if canonical is not None and not self._scope.has(canonical):
            canonical = None
        return FoundPage(body, ending, etag, modified, links, outside=outside, canonical=canonical)

    def _redirected(self, page: KeptPage, answer: Answer, *, is_start: bool) -> FoundPage:
        target = normal(answer.headers.get("location", ""), page.address)
        if target is None:
            raise FetchError(f"it answered {answer.status} without an address that can be asked for")
        if is_start or page.address == self._scope.start:
            if origin_of(target) != origin_of(page.address):
                raise FetchError(f"it leads to {target}; name that address instead")
            self._scope = Scope(target)
            self._pages.set_about("scope", target)
        if not self._scope.has(target):
            return FoundPage(absent="outside")
        if page.hops >= MOST_REDIRECTS:
            raise FetchError(f"it is behind more than {MOST_REDIRECTS} redirects in a row")
        return FoundPage(links=(target,), hops=page.hops + 1)

    def _wanted(self, addresses: Sequence[str]) -> tuple[tuple[str, ...], int]:
        """The addresses that are to be looked at, and how many lead out of what was named."""
        inside = [one for one in dict.fromkeys(addresses) if self._scope.has(one)]
        outside = len(dict.fromkeys(addresses)) - len(inside)
        found: list[str] = []
        queries: Counter[str] = Counter()
        for one in inside:
            if self._is_excluded(one) or not _may_be_read(one):
                continue
            path, mark, _ = one.partition("?")
            if mark:
                queries[path] = queries[path] or self._pages.queries_of(one)
                if queries[path] >= MOST_QUERIES:
                    continue
                queries[path] += 1
            found.append(one)
        return tuple(found), outside

    def _is_excluded(self, address: str) -> bool:
        name = self._scope.below(address)
        return any(fnmatchcase(name, pattern) for pattern in self._excluded)


def _header(answer: Answer, name: str) -> str | None:
    """A header as it can be sent back; none where it is too long or has what no header may have."""
    value = answer.headers.get(name, "").strip()
    return value if 0 < len(value) <= 500 and value.isascii() and value.isprintable() else None


def _ending(kind: str, address: str) -> str | None:
    """What a page is read as; none where it is of a kind that is not read."""
    path = unquote(urlsplit(address).path).lower()
    own = f".{path.rpartition('/')[2].rpartition('.')[2]}"
    if kind in _UNTOLD and own in ENDINGS:
        return own
    return _ENDING_OF.get(kind)


def _may_be_read(address: str) -> bool:
    """Whether an address may be of a document: pictures, styles and archives say by their names that they are none.

    >>> [_may_be_read(f"https://a.example/{name}") for name in ("leave", "a.pdf", "v2.1", "logo.png", "app.js")]
    [True, True, True, False, False]
    """
    kind, packed = mimetypes.guess_type(urlsplit(address).path)
    if kind is None or kind in _ENDING_OF or kind in {"application/xml", "text/xml"}:
        return packed in {None, "gzip"} or kind is None
    main = kind.partition("/")[0]
    return kind == "application/octet-stream" or (main == "text" and kind not in {"text/css", "text/javascript"})


def _in_utf8(answer: Answer, ending: str) -> bytes:
    """A document of text in UTF-8 where its server says that it is written in another way; it knows best."""
    if ending in {".pdf", ".docx"} or answer.body.startswith(
        (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    ):
        return answer.body
    _, _, said = answer.headers.get("content-type", "").lower().partition("charset=")
    name = said.partition(";")[0].strip().strip("\"'")
    try:
        if not name or codecs.lookup(name).name == "utf-8":
            return answer.body
        return codecs.BOM_UTF8 + answer.body.decode(name).encode("utf-8")
    except (LookupError, UnicodeError, ValueError):
        return answer.body  # what it is read as then says what is wrong with it
