"""What docstrings, pages and messages refer to can be looked up by a stranger."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PRIVATE = re.compile(
    r"\bseeds?\s+`?0\d\d\b|\bDESIGN(?:\.md\b|, section|\s+section)|(?<![\w.,/])20\.[1-9]\.\d\b", re.IGNORECASE
)
"""The names of documents that are not in the repository, and numbers of their sections."""
OTHERS = {"weights", "__pycache__"}
"""Folders without words of ours."""
POINTER = re.compile(r"(?<![\w/.-])docs/([\w./-]+\.(?:md|json|svg|png))(?:#([\w-]+))?")
LINK = re.compile(r"\]\(((?!https?:|mailto:)[^)\s#]*)(?:#([\w-]+))?\)")


def texts() -> Iterator[tuple[Path, str]]:
    """The files that strangers read, with their text."""
    for folder in ("src", "docs", "tests", "benchmarks", "train", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".md", ".json"} and not OTHERS & set(path.parts) and path != Path(__file__):
                yield path, path.read_text(encoding="utf-8")
    yield from ((path, path.read_text(encoding="utf-8")) for path in sorted(ROOT.glob("*.md")))


def pages() -> Iterator[tuple[Path, str]]:
    yield from ((path, text) for path, text in texts() if path.suffix == ".md")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    prose = re.sub(r"(?ms)^```.*?^```", "", text)
    headings = re.findall(r"(?m)^#{1,6} (.+)$", prose)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def missing(page: Path, anchor: str | None) -> str | None:
    """What a pointer points to in vain, if it does."""
    if not page.exists():
        return f"no file {page.name}"
    if anchor and anchor not in anchors(page.read_text(encoding="utf-8")):
        return f"no heading #{anchor} in {page.name}"
    return None


def test_nothing_cites_a_document_that_is_not_in_the_repository() -> None:
    found = [f"{path.relative_to(ROOT)}: {match[0]!r}" for path, text in texts() for match in PRIVATE.finditer(text)]
    assert not found, "cite the paper, the standard, an ADR or a page of docs/ instead:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "cited", ["(seed 000, 20.3.4)", "Seeds 001 and 002", "seed `004`", "the curve of 20.2.4", "DESIGN section 4"]
)
def test_such_a_citation_is_found(cited: str) -> None:
    assert PRIVATE.search(f"The gate, {cited}.")


@pytest.mark.parametrize("harmless", ["rng seeded with 7", "--seed 7", "in 20.3 ms", "version 1.20.3.4", "by design"])
def test_what_only_looks_like_one_is_left_alone(harmless: str) -> None:
    assert not PRIVATE.search(harmless)


def test_every_page_and_section_that_code_and_pages_point_to_is_there() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}: {why}"
        for path, text in texts()
        for match in POINTER.finditer(text)
        if (why := missing(ROOT / "docs" / match[1], match[2]))
    ]
    assert not found, "\n".join(found)


def test_every_link_of_a_page_leads_somewhere() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}: {why}"
        for path, text in pages()
        for match in LINK.finditer(re.sub(r"`[^`\n]*`", "", text))
        if (why := missing(path.parent / match[1] if match[1] else path, match[2]))
    ]
    assert not found, "\n".join(found)
