"""A corpus on the web: what of a site is fetched, what is not fetched again, and what a hostile one comes to."""

import gzip
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus import CorpusOptions, CorpusReport, SiteLimits, check_corpus
from assay.corpus.site.addresses import Scope, normalise_address
from assay.corpus.site.crawl import Site
from assay.corpus.site.fetching import FetchError, Server, addresses_of, is_public
from assay.corpus.site.links import links_of, read_sitemap
from assay.corpus.site.page_store import PageStore
from assay.corpus.site.robots import read_robots
from assay.errors import InputError
from assay.guard import Guard
from assay.testing import FakeScorer


@dataclass
class Page:
    """What a server answers at one path."""

    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class Handler(BaseHTTPRequestHandler):
    """Answers from a table, honours conditions, and counts what it is asked."""

    protocol_version = "HTTP/1.1"
    server: "Web"

    def do_GET(self) -> None:
        """Answer."""
        web = self.server
        web.asked[self.path] += 1
        page = web.pages.get(self.path)
        if callable(page):
            page(self)
            return
        page = page or Page(b"nothing here", status=404)
        known = page.headers.get("ETag")
        if known is not None and self.headers.get("If-None-Match") == known:
            web.unchanged += 1
            page = Page(status=304, headers={"ETag": known})
        self.send_response(page.status)
        for name, value in {"Content-Type": page.kind, "Content-Length": str(len(page.body)), **page.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if page.status != 304:
            self.wfile.write(page.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Web(ThreadingHTTPServer):
    """A server on this machine."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages: dict[str, Any] = {}
        self.asked: Counter[str] = Counter()
        self.unchanged = 0

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is no failure of the test."""

    def put(self, path: str, body: str, **told: object) -> None:
        headers = {"ETag": f'"{len(body)}-{sum(body.encode())}"', **told.pop("headers", {})}  # type: ignore[dict-item]
        self.pages[path] = Page(body.encode(), headers=headers, **told)  # type: ignore[arg-type]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@pytest.fixture
def web() -> Iterator[Web]:
    server = Web()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def look(web: Web, place: Path, start: str = "/docs/", excluded: tuple[str, ...] = (), **limits: object) -> Site:
    """Looks at the site once; `found` are the addresses that have a document."""
    scope = Scope.of(web.address + start)
    with PageStore(place / "pages", scope.start) as pages:
        chosen = SiteLimits(**{"allow_private": True, "page_seconds": 20.0, **limits})  # type: ignore[arg-type]
        site = Site(scope, pages, chosen, excluded, lambda _: None)
        site.found = [one.name.removeprefix(web.address) for one in site.files()]  # type: ignore[attr-defined]
    return site


def found(site: Site) -> list[str]:
    return site.found  # type: ignore[attr-defined, no-any-return]


def page(*links: str, says: str = "The office is open.") -> str:
    return f"<title>Page</title><p>{says}</p>" + "".join(f'<a href="{one}">x</a>' for one in links)


def test_pages_below_the_address_are_fetched_and_no_others(web: Web, tmp_path: Path) -> None:
    outside = ("/other", "https://elsewhere.example/docs/", f"http://localhost:{web.server_address[1]}/docs/c", "//x/")
    web.put("/docs/", page("a.html", "b/", "./a.html#part", "mailto:x@y.example", "logo.png", *outside))
    web.put("/docs/a.html", page("../secret", "/docs/b/deep.txt", "/docs/../secret"))
    web.put("/docs/b/", page())
    web.put("/docs/b/deep.txt", "Dogs stay outside.", kind="text/plain")
    web.put("/other", page())
    web.put("/secret", page())
    site = look(web, tmp_path)
    assert found(site) == ["/docs/", "/docs/a.html", "/docs/b/", "/docs/b/deep.txt"]
    assert set(web.asked) == {"/robots.txt", *found(site)}
    assert site.links == 5


def test_what_has_not_changed_is_not_sent_again_and_what_is_gone_is_gone(web: Web, tmp_path: Path) -> None:
    web.put("/docs/", page("a", "b"))
    web.put("/docs/a", page(says="Leave is 2 weeks."))
    web.put("/docs/b", page())
    look(web, tmp_path)
    first = {path: (tmp_path / "pages" / path).read_bytes() for path in ("2.html",)}
    web.put("/docs/a", page(says="Leave is 4 weeks."))
    del web.pages["/docs/b"]
    site = look(web, tmp_path)
    assert web.unchanged == 1
    assert found(site) == ["/docs/", "/docs/a"]
    assert (tmp_path / "pages" / "2.html").read_bytes() != first["2.html"]
    assert sorted(path.name for path in (tmp_path / "pages").glob("*.html")) == ["1.html", "2.html"]
    assert any("404" in note for note in site.notes)


def test_a_look_that_ends_at_a_limit_goes_on_there(web: Web, tmp_path: Path) -> None:
    web.put("/docs/", page(*(f"p{n}" for n in range(9))))
    for number in range(9):
        web.put(f"/docs/p{number}", page(says=f"Room {number} is free."))
    first = look(web, tmp_path, pages=4)
    assert len(found(first)) == 4
    assert "6 known addresses left" in first.notes[0]
    second = look(web, tmp_path, pages=6)
    assert len(found(second)) == 10
    assert second.notes == []
    assert all(web.asked[f"/docs/p{number}"] == 1 for number in range(9))


def test_a_look_that_is_interrupted_goes_on_with_the_next_page(web: Web, tmp_path: Path) -> None:
    web.put("/docs/", page(*(f"p{n}" for n in range(6))))
    for number in range(6):
        web.put(f"/docs/p{number}", page(says=f"Room {number} is free."))
    scope = Scope.of(f"{web.address}/docs/")

    def interrupt(_: int) -> None:
        if web.asked.total() > 3:
            raise KeyboardInterrupt

    with PageStore(tmp_path / "pages", scope.start) as pages, pytest.raises(KeyboardInterrupt):
        list(Site(scope, pages, SiteLimits(allow_private=True), (), interrupt).files())
    assert len(found(look(web, tmp_path))) == 7
    assert {path: times for path, times in web.asked.items() if times > 1} == {"/robots.txt": 2}


def test_robots_txt_is_kept_to(web: Web, tmp_path: Path) -> None:
    web.put("/robots.txt", "User-agent: *\nDisallow: /docs/private\nAllow: /docs/private/open\n", kind="text/plain")
    web.put("/docs/", page("private/a", "private/open", "b"))
    for path in ("/docs/private/a", "/docs/private/open", "/docs/b"):
        web.put(path, page())
    site = look(web, tmp_path)
    assert found(site) == ["/docs/", "/docs/b", "/docs/private/open"]
    assert "/docs/private/a" not in web.asked
    web.put("/robots.txt", "User-agent: assay\nDisallow: /", kind="text/plain")
    with pytest.raises(InputError, match="asks robots to leave it alone"):
        look(web, tmp_path / "new")
    web.pages["/robots.txt"] = Page(status=500)
    with pytest.raises(InputError, match="leave it alone"):
        look(web, tmp_path / "newer")


def test_a_sitemap_lists_what_is_fetched_and_links_are_not_followed(web: Web, tmp_path: Path) -> None:
    listed = "".join(f"<url><loc>{web.address}{path}</loc></url>" for path in ("/docs/a", "/docs/b", "/elsewhere"))
    inner = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'
    web.pages["/docs/more.xml.gz"] = Page(gzip.compress(inner.encode()), kind="application/gzip")
    index = f"<sitemapindex><sitemap><loc>{web.address}/docs/more.xml.gz</loc></sitemap></sitemapindex>"
    web.put("/docs/sitemap.xml", index, kind="application/xml")
    web.put("/docs/a", page("c"))
    web.put("/docs/b", page())
    web.put("/docs/c", page())
    assert found(look(web, tmp_path, "/docs/sitemap.xml")) == ["/docs/a", "/docs/b"]


def test_redirects_stay_within_what_was_named_and_end(web: Web, tmp_path: Path) -> None:
    def lead(path: str, target: str) -> None:
        web.pages[path] = Page(status=302, headers={"Location": target})

    web.put("/docs/", page("old", "out", "far", "h0", "circle"))
    lead("/docs/old", "new")
    web.put("/docs/new", page())
    lead("/docs/out", "/secret")
    lead("/docs/far", "http://169.254.169.254/latest/meta-data/")
    for number in range(8):
        lead(f"/docs/h{number}", f"h{number + 1}")
    lead("/docs/circle", "circle")
    site = look(web, tmp_path)
    assert found(site) == ["/docs/", "/docs/new"]
    assert "/secret" not in web.asked
    assert [address.removeprefix(web.address) for address, _ in site.unreadable] == ["/docs/h5"]
    assert web.asked["/docs/circle"] == 1
    assert any("redirect out of what was named" in note for note in site.notes)


def test_an_address_that_leads_elsewhere_at_once_is_an_error(web: Web, tmp_path: Path) -> None:
    web.pages["/docs/"] = Page(status=301, headers={"Location": "https://elsewhere.example/docs/"})
    with pytest.raises(InputError, match=r"name that address instead"):
        look(web, tmp_path)
    web.pages["/docs"] = Page(status=301, headers={"Location": "/docs/"})
    web.put("/docs/", page("a", "/secret"))
    web.put("/docs/a", page())
    web.put("/secret", page())
    assert found(look(web, tmp_path / "two", "/docs")) == ["/docs/", "/docs/a"]


def test_an_address_of_this_machine_is_refused_unless_allowed(web: Web, tmp_path: Path) -> None:
    web.put("/docs/", page())
    with pytest.raises(InputError, match="not of the public internet"):
        look(web, tmp_path, allow_private=False)
    assert not web.asked
    for place in ("localhost", "127.0.0.1", "0.0.0.0", "::1"):  # noqa: S104 refused, not bound
        with pytest.raises(InputError, match="not of the public internet"):
            addresses_of(place, 80, allow_private=False)


PRIVATE = ("10.0.0.0/8", "169.254.0.0/16", "fc00::/7", "::ffff:10.0.0.0/104", "64:ff9b::7f00:0/104")


@given(st.sampled_from(PRIVATE).flatmap(lambda network: st.ip_addresses(network=network)))
def test_no_private_address_is_public_whatever_it_is_wrapped_in(address: object) -> None:
    assert not is_public(str(address))


def test_a_server_that_lies_or_stalls_costs_one_page(web: Web, tmp_path: Path) -> None:
    def short(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.wfile.write(b"less")
        handler.close_connection = True

    def slow(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(200):
            handler.wfile.write(b" ")
            time.sleep(0.1)

    def large(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "50000000000")
        handler.end_headers()

    web.put("/docs/", page("short", "slow", "large", "packed", "broken", "fine"))
    web.pages |= {"/docs/short": short, "/docs/slow": slow, "/docs/large": large}
    web.pages["/docs/packed"] = Page(gzip.compress(b"x"), headers={"Content-Encoding": "gzip"})
    web.pages["/docs/broken"] = Page(status=500)
    web.put("/docs/fine", page())
    begun = time.monotonic()
    site = look(web, tmp_path, page_seconds=3.0)
    assert time.monotonic() - begun < 15
    assert found(site) == ["/docs/", "/docs/fine"]
    said = {address.rpartition("/")[2]: why for address, why in site.unreadable}
    assert said.keys() == {"short", "slow", "large", "packed", "broken"}
    assert "announced 100,000 bytes" in said["short"] or "closed the connection" in said["short"]
    assert "in time" in said["slow"] or "within 3 s" in said["slow"]
    assert "50,000,000,000" in said["large"]


@pytest.mark.parametrize("wait", ["²", "9" * 5_000, "soon"])
def test_a_busy_server_that_names_no_time_to_wait_costs_one_page(web: Web, tmp_path: Path, wait: str) -> None:
    web.put("/docs/", page("a.html"))
    web.put("/docs/a.html", page(), status=503, headers={"Retry-After": wait})
    site = look(web, tmp_path)
    assert [name.removeprefix(web.address) for name, _ in site.unreadable] == ["/docs/a.html"]


def test_a_second_address_of_a_page_is_no_document(web: Web, tmp_path: Path) -> None:
    same = '<link rel="canonical" href="/docs/a">' + page(says="Leave is 2 weeks.")
    web.put("/docs/", page("a", "a?from=mail", "lost"))
    web.put("/docs/a", same)
    web.put("/docs/a?from=mail", same)
    web.put("/docs/lost", '<link rel="canonical" href="/docs/nowhere">' + page())
    assert found(look(web, tmp_path)) == ["/docs/", "/docs/a", "/docs/lost"]


def test_a_calendar_without_end_is_left(web: Web, tmp_path: Path) -> None:
    class Endless(dict[str, Any]):
        def get(self, path: str, default: Any = None) -> Any:
            if path.startswith("/docs/?day="):
                day = int(path.rpartition("=")[2])
                return Page(page(*(f"?day={day + step}" for step in range(1, 40))).encode())
            return super().get(path, default)

    web.pages = Endless(web.pages)
    web.put("/docs/", page("?day=1"))
    assert len(found(look(web, tmp_path))) == 101


def test_a_site_is_reported_on_by_its_addresses(web: Web, tmp_path: Path) -> None:
    web.put("/docs/", page("old.html", "new.html", "logo"))
    web.put("/docs/old.html", "<title>HR policy v2</title><p>Partners get 2 weeks of leave in the Vienna office.</p>")
    web.put("/docs/new.html", "<title>HR policy v3</title><p>Partners get 4 weeks of leave in the Vienna office.</p>")
    web.pages["/docs/logo"] = Page(b"\x89PNG", kind="image/png")

    def check(state: Path) -> CorpusReport:
        options = CorpusOptions(
            as_of=date(2026, 6, 1), processes=1, contradictions=False, site=SiteLimits(allow_private=True)
        )
        return check_corpus(f"{web.address}/docs/", Guard("general", scorer=FakeScorer()), state, options)

    report = check(tmp_path / "state.sqlite")
    assert [one.document for one in report.out_of_force] == [f"{web.address}/docs/old.html"]
    assert (report.files.found, report.files.read, report.files.passed_over) == (3, 3, {"image/png": 1})
    again = check(tmp_path / "state.sqlite")
    assert (again.files.read, again.files.unchanged) == (0, 3)
    assert again.out_of_force == report.out_of_force
    with pytest.raises(InputError, match="another folder"):
        check_corpus(tmp_path, Guard("general", scorer=FakeScorer()), tmp_path / "state.sqlite")


@given(st.text(max_size=200))
def test_an_address_in_one_spelling_stays_as_it_is(text: str) -> None:
    once = normalise_address(text, "https://a.example/docs/x")
    assert once is None or (once.isascii() and normalise_address(once) == once)


@given(st.text(alphabet="/.%2eEfF\\ abc?#@:", max_size=60))
def test_no_spelling_leads_out_of_what_was_named(text: str) -> None:
    scope = Scope.of("https://a.example/docs/")
    found = normalise_address(text, "https://a.example/docs/x")
    if found is not None and scope.contains(found):
        assert found.startswith("https://a.example/docs/")
        assert "/../" not in found
        assert "/./" not in found


@given(st.text(alphabet="<a href=\"'>/!-script ", max_size=400))
def test_any_page_has_links(text: str) -> None:
    assert all(isinstance(one, str) for one in links_of(text).links)


def test_a_page_of_open_tags_costs_no_time() -> None:
    begun = time.process_time()
    links_of("<a " * 400_000)
    links_of("<a href=" + "'" * 400_000)
    links_of("<!--" * 400_000)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("Disallow: /a", "/ab", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /*.pdf$", "/x/y.pdf", False),
        ("Disallow: /*.pdf$", "/x/y.pdf?z", True),
        ("Disallow: /a*b*c", "/a1b2c3", False),
        ("Disallow: /\nAllow: /docs", "/docs/x", True),
        ("Disallow:", "/x", True),
        ("Disallow: /x\nAllow: /x", "/x", True),
    ],
)
def test_the_longest_rule_of_robots_txt_decides(rule: str, path: str, allowed: bool) -> None:
    robots = read_robots(f"User-agent: other\nDisallow: /\n\nUser-agent: *\n{rule}\nCrawl-delay: 2", "assay")
    assert robots.allows(f"https://a.example{path}") is allowed
    assert robots.delay == 2


@pytest.mark.parametrize(
    "data",
    [
        b"<urlset><url><loc>x</loc>",
        b'<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>',
        b"<urlset>" + b"<url>" * 30 + b"</urlset>",
        b"<urlset>" + b"<url><loc>x</loc></url>" * 50_001 + b"</urlset>",
        gzip.compress(b"<urlset>" + b" " * 60_000_000 + b"</urlset>"),
    ],
)
def test_a_sitemap_that_hurts_is_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        read_sitemap(data)


@pytest.mark.parametrize(
    "place", ["https://user:word@a.example/", "ftp://a.example/", "file:///etc", "http:///docs", "https://a b/"]
)
def test_what_is_no_address_of_a_site_is_refused(place: str) -> None:
    with pytest.raises(InputError):
        Scope.of(place)


def test_a_server_is_asked_for_its_own_addresses_alone(web: Web) -> None:
    with (
        Server(web.address + "/", allow_private=True, seconds=5, agent="assay") as server,
        pytest.raises(FetchError, match="another site"),
    ):
        server.get("https://elsewhere.example/", 1_000)
