"""The site of the documentation: built strictly, complete, and without a call to anywhere else."""

import importlib.util
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from website.build import PUBLIC, build, names_of, placed, rewritten
from website.fences import fenced

REQUIRED = os.environ.get("ASSAY_DOCS") == "required"


def test_links_between_pages_and_to_sources_lead_to_where_things_stand_on_the_site() -> None:
    wanted: set[str] = set()
    text = "See [figures](../benchmarks/RESULTS.md#speed), [why](adr/0005-gate.md), [us](https://example.org)."
    assert rewritten(text, "docs/concepts.md", wanted) == (
        "See [figures](figures.md#speed), [why](adr/0005-gate.md), [us](https://example.org)."
    )
    source = rewritten("[the coefficients](../src/assay/py.typed)", "docs/concepts.md", wanted)
    assert source == "[the coefficients](files/src/assay/py.typed)"
    assert "src/assay/py.typed" in wanted
    assert rewritten("[up](../metrics.md)", "docs/adr/0014-store-and-audit-log.md", set()) == "[up](../metrics.md)"


def test_what_stands_in_a_block_of_code_is_left_as_it_is() -> None:
    block = "```md\n[a](../README.md)\n```"
    assert rewritten(block, "docs/concepts.md", set()) == block


def test_every_page_of_the_repository_has_one_place() -> None:
    pages = ["docs/metrics.md", "README.md", "benchmarks/RESULTS.md", "src/assay/py.typed", "docs/adr/0005-gate.md"]
    assert len({placed(page) for page in pages}) == len(pages)


def test_an_example_of_a_docstring_is_code_and_no_quotation() -> None:
    assert fenced("Adds.\n\n>>> [1, 2][0]\n1\n\nMore.") == "Adds.\n\n```pycon\n>>> [1, 2][0]\n1\n```\n\nMore.\n"


class Page(HTMLParser):
    """The anchors, links and what is loaded of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in {"script", "img", "iframe"} and "src" in given:
            self.loaded.append(given["src"])
        if tag == "link" and given.get("rel") in {"stylesheet", "icon", "preconnect", "preload"}:
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("zensical") is None or importlib.util.find_spec("mkdocstrings") is None:
        assert not REQUIRED, "zensical is not installed"
        pytest.skip("no zensical here: make docs")
    folder = tmp_path_factory.mktemp("site")
    build(folder / "work", folder / "site")
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}


@pytest.mark.slow
def test_every_public_name_has_its_place_in_the_reference(pages: dict[Path, Page], site: Path) -> None:
    lacking = [
        f"{package}.{name}"
        for package in PUBLIC
        for name, _ in names_of(package)
        if f"{package}.{name}" not in pages[site / f"reference/{package}.html"].anchors
    ]
    assert lacking == []


@pytest.mark.slow
def test_no_link_of_the_site_is_broken(pages: dict[Path, Page], site: Path) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            name, _, anchor = unquote(link).partition("#")
            if re.match(r"[a-z]+:", name) or path.name == "404.html":
                continue
            there = (path.parent / name).resolve() if name else path
            if there.is_dir():
                there /= "index.html"
            known = there.is_file() and (not anchor or there not in pages or anchor in pages[there].anchors)
            if not known and not anchor.startswith("__"):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


@pytest.mark.slow
def test_a_page_loads_nothing_from_anywhere_else(pages: dict[Path, Page], site: Path) -> None:
    loaded = {source for page in pages.values() for source in page.loaded if re.match(r"(?:[a-z]+:)?//", source)}
    assert loaded == set()
