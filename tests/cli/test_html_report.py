"""The HTML report: foreign text stays text, every claim can be reached, and nothing is fetched or run."""

import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.standin import report_of

from assay.batch.html import direction
from assay.cli.html_report import Entry, html_index, html_report
from assay.schema import Evidence

HOSTILE = st.one_of(
    st.text(st.one_of(st.characters(), st.sampled_from("<>&\"'/=.`\n\x00\ud800\u202e")), max_size=60),
    st.sampled_from(["<script>x()</script>", "</style><img src=x onerror=x>", '" onfocus="x', "]]><svg/onload=x>"]),
)


ALLOWED = (
    "html head meta title style body div b bdi main section h1 h2 span p dl dt dd svg rect ul li a article header code "
    "figure figcaption blockquote mark table thead tbody tr th td footer"
)


class Reader(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.answer = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.extend(attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def page_of(text: str, passage: str = "P", name: str = "n") -> str:
    evidence = [Evidence(id="e", text=passage)]
    return html_report(name, report_of(text, evidence, passage), evidence)


@settings(max_examples=80, deadline=None)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_foreign_text_never_becomes_markup(answer: str, passage: str, name: str) -> None:
    reader = read(page_of(f"FALSE {answer}", passage, name))
    assert reader.open == []
    assert set(reader.tags) <= set(ALLOWED.split())
    names = {key for key, _ in reader.attributes}
    assert not [key for key in names if key.startswith("on")]
    assert not names & {"style", "src", "srcdoc", "action"}
    assert all(str(value).startswith("#") for key, value in reader.attributes if key == "href")


@settings(max_examples=80, deadline=None)
@given(HOSTILE)
def test_the_page_can_be_written_as_utf_8(answer: str) -> None:
    page_of(answer, answer, answer).encode("utf-8")


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=60))
def test_the_answer_stands_in_the_page_in_full(answer: str) -> None:
    page = page_of(answer)
    inner = re.search(r'<div class="answer"[^>]*>(.*?)</div><div class="legend">', page, re.DOTALL)
    assert inner is not None
    without_signs = re.sub(r'<a class="sign.*?</a>', "", inner.group(1))
    reader = HTMLParserText()
    reader.feed(without_signs)
    reader.close()
    assert reader.text == answer


class HTMLParserText(HTMLParser):
    """Collects the text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""

    def handle_data(self, data: str) -> None:
        self.text += data


def test_every_claim_and_citation_that_is_linked_exists() -> None:
    page = page_of("FALSE one [e].\nMAYBE two [z].\nThree. HELLO.")
    identities = re.findall(r' id="([^"]+)"', page)
    assert len(identities) == len(set(identities))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(identities)
    assert {"claim-1", "claim-2", "at-1", "at-2", "citation-1"} <= set(identities)


def test_verdicts_can_be_read_without_colour() -> None:
    page = page_of("FALSE one.\nMAYBE two.\nThree.\nBROKEN four.")
    for words in ("✗ 1 contradicted", "? 2 unsupported", "✓ 3 supported", "! 4 unchecked"):
        assert words in page


def test_the_deciding_words_are_marked_in_their_place() -> None:
    passage = "x" * 2000
    page = page_of("FALSE.", passage)
    assert f'<mark dir="auto">{"x" * 40}</mark>{"x" * 260}…' in page


def test_words_that_the_evidence_does_not_have_stand_alone() -> None:
    report = report_of("FALSE.", [Evidence(id="e", text="Old words.")])
    page = html_report("n", report, [Evidence(id="e", text="Quite other text.")])
    assert "Old words." in page
    assert "Quite other" not in page


def test_the_direction_follows_the_first_letter() -> None:
    assert 'dir="rtl"' in page_of("שלום עולם.")
    assert direction("") == "ltr"


def test_the_index_escapes_names() -> None:
    page = html_index([Entry("<b>x", report_of("FALSE."), "x.html")])
    assert "&lt;b&gt;x" in page
    assert read(page).open == []
