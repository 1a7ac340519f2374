"""Text of a model rendered: nothing of it is HTML, nothing of it is hidden, and the marks of claims stay in place."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.console.site import record, site
from tests.console.test_pages import HOSTILE, is_harmless, read

from assay.server.console.views.markdown import Element, Words, read_markdown, words_of

TABLE = "# Leave\n\n| who | weeks |\n|---|--:|\n| Partners | 4 weeks |\n\nPartners get **4 weeks** of leave.\n"
EVIDENCE = {"hr-2": "Partners are entitled to 2 weeks of leave."}


def shown(text: str) -> str:
    tree = read_markdown(text)
    assert tree is not None
    return "".join(text[one.start : one.end] if one.said is None else one.said for one in words_of(tree))


def names(tree: Element) -> list[str]:
    found = [tree.name]
    for child in tree.children:
        found += names(child) if isinstance(child, Element) else []
    return found


def test_structure_becomes_elements() -> None:
    tree = read_markdown(TABLE)
    assert tree is not None
    assert {"heading", "table", "th", "td", "strong", "p"} <= set(names(tree))


def test_a_list_keeps_the_numbers_that_were_written() -> None:
    tree = read_markdown("3. three\n7. seven\n")
    assert tree is not None
    items = [one for one in tree.children[0].children if isinstance(one, Element)]  # type: ignore[union-attr]
    assert [one.value for one in items] == [3, 7]


def test_html_is_words() -> None:
    tree = read_markdown("**a** <script>alert(1)</script>\n")
    assert tree is not None
    assert "script" not in names(tree)
    assert "<script>alert(1)</script>" in shown("**a** <script>alert(1)</script>\n")


def test_the_address_of_a_link_is_shown_and_leads_nowhere() -> None:
    assert shown("[4 weeks](https://example.org/x)") == "4 weekshttps://example.org/x"
    assert shown("![chart](//e.example/p.png)") == "chart//e.example/p.png"


@pytest.mark.parametrize(
    "text",
    [
        "[a]: https://example.org\n\n[a] and *b*",  # a definition would be hidden
        "plain words alone",
        "*x*" + " y" * 30_000,  # too long to be read
    ],
)
def test_what_would_hide_something_is_shown_as_it_was_written(text: str) -> None:
    assert read_markdown(text) is None


_MARKS = ["*", "_", "`", "#", "|", "[", "](", ")", "!", "\\", "~~", "&amp;", "<", ">", "```", "---"]
_WORDS = ["> ", "- ", "1. ", "a", "4 weeks", "\n", "\n\n", " ", "\t", "é", "€", "x=1"]
_TEXTS = st.lists(st.sampled_from([*_MARKS, *_WORDS]), max_size=40).map("".join)


@settings(max_examples=300, deadline=None)
@given(_TEXTS)
def test_no_letter_or_figure_is_ever_hidden_and_places_are_in_order(text: str) -> None:
    tree = read_markdown(text)
    if tree is None:
        return
    at, told = 0, ""
    for one in words_of(tree):
        assert at <= one.start <= one.end <= len(text)
        told += text[at : one.start]
        at = one.end
    told += text[at:]
    numbers = "".join(str(one.value) + "." for one in _items(tree))
    hidden = [letter for letter in told if letter.isalpha() or letter == "€"]
    assert hidden == []
    assert len(re.findall("[0-9]", told)) <= len(re.findall("[0-9]", numbers))


def _items(tree: Element) -> list[Element]:
    found = [tree] if tree.name == "li" and tree.value is not None else []
    for child in tree.children:
        found += _items(child) if isinstance(child, Element) else []
    return found


def test_words_of_an_element_say_where_they_are() -> None:
    assert list(words_of(Element("p", [Words(0, 1), Element("em", [Words(2, 3)])]))) == [Words(0, 1), Words(2, 3)]


def test_a_page_renders_an_output_with_its_marks_and_the_text_is_one_click_away(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        run = record(store, TABLE, EVIDENCE, "How long?")
        page = client.get(f"/console/runs/{run}").text
        raw = client.get(f"/console/runs/{run}?text=raw").text
    assert is_harmless(page)
    assert is_harmless(raw)
    assert 'class="answer rendered"' in page
    assert "<strong>" in page
    assert f'href="/console/runs/{run}?text=raw#output"' in page
    assert "**4 weeks**" in re.sub("<[^>]+>", "", raw)
    for html in (page, raw):
        marks = [one for name, one in read(html).tags if name == "sup" and str(one.get("id", "")).startswith("at-")]
        assert len(marks) == len({one["id"] for one in marks}) > 0


def test_hostile_markdown_is_harmless(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        for text in HOSTILE:
            plain = "".join(one for one in text if one.isprintable())
            answer = f"# {plain}\n\n| {plain} | weeks |\n|---|---|\n| Partners | 4 weeks |\n\n"
            answer += f"[{plain}]({plain})\n\n`{plain}`\n"
            run = record(store, answer, EVIDENCE, plain)
            assert is_harmless(client.get(f"/console/runs/{run}").text)
