"""Text of a model rendered: nothing of it is HTML, nothing of it is hidden, and the marks of claims stay in place."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.console.site import record, site
from tests.console.test_pages import HOSTILE, is_harmless, read

from assay.server.console.views.answer_text import TextView, marked_text
from assay.server.console.views.markdown import Element, TextSlice, read_markdown, text_slices
from assay.store.db import read_check

TABLE = "# Leave\n\n| who | weeks |\n|---|--:|\n| Partners | 4 weeks |\n\nPartners get **4 weeks** of leave.\n"
EVIDENCE = {"hr-2": "Partners are entitled to 2 weeks of leave."}


def shown(text: str) -> str:
    tree = read_markdown(text)
    assert tree is not None
    return "".join(text[one.start : one.end] or one.white_space or "" for one in text_slices(tree))


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
    assert [next(text_slices(one)) for one in items] == [TextSlice(0, 2), TextSlice(9, 11)]


def test_html_is_words() -> None:
    tree = read_markdown("**a** <script>alert(1)</script>\n")
    assert tree is not None
    assert "script" not in names(tree)
    assert "<script>alert(1)</script>" in shown("**a** <script>alert(1)</script>\n")


def test_the_address_of_a_link_is_shown_and_leads_nowhere() -> None:
    assert shown("[4 weeks](https://example.org/x)") == "4 weeks(https://example.org/x)"
    assert shown("![chart](//e.example/p.png)") == "chart(//e.example/p.png)"


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
    for one in text_slices(tree):
        assert at <= one.start <= one.end <= len(text)
        told += text[at : one.start]
        at = one.end
    told += text[at:]
    assert not set(told) - set(" \t\r\n*_~`#|[]()!:-\\=")


_OPERANDS = st.sampled_from(["2", "30", "(4)", "5%", "-1"])
_SIGNS = ["*", "**", "+", "-", "=", "<", ">", ">=", "~", "~~", "_", "__", "/", "\\\\*", "&#48;", "&gt;"]
_OPERATORS = st.sampled_from(_SIGNS)
_GAPS = st.sampled_from(["", " ", "\n"])
_SUMS = st.lists(st.tuples(_OPERANDS, _GAPS, _OPERATORS, _GAPS), min_size=1, max_size=6).map(
    lambda parts: "".join("".join(part) for part in parts) + "7"
)


@settings(max_examples=300, deadline=None)
@given(_SUMS, st.sampled_from(["", "> ", "- ", "+ ", "1. ", "# "]))
def test_of_an_expression_no_sign_is_left_out(words: str, begin: str) -> None:
    text = begin + words
    if read_markdown(text) is not None:
        assert "".join(shown(text).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "2*3*4 = 24, and **so** on",
        "(2)*3*(4) is **24**",
        "2 *3* 4 is **24**",
        "10**2**3 and **more**",
        "un*believ*able, **really**",
        "5~~3~~2 and *more*",
        "> 5 mg and *more*",
        "- 5 degrees and *more*",
        "+ 5 degrees and *more*",
        "2024. *That* was it",
        "# 5 in the *league*",
        "*x* is 2&#48;0, 3&#x30; and 5 &lt; 6",
        "*x* is \\(y\\), 2\\*3 and C:\\_temp",
        "the order &#x202e;321 of *x*",
        "<https://example.org> is *x*",
        "> 5 mg\n> < 6 mg and *more*",
    ],
)
def test_signs_that_may_be_a_part_of_what_is_said_are_shown(text: str) -> None:
    """All but the signs of the emphasis that is emphasis."""
    wanted = text.replace("**so**", "so").replace("**24**", "24").replace("**really**", "really")
    wanted = wanted.replace("**more**", "more").replace("*more*", "more").replace("*x*", "x").replace("*That*", "That")
    assert "".join(shown(text).split()) == "".join(wanted.replace("*league*", "league").split())


@pytest.mark.parametrize("text", ["a\n=\n*b*", "5\n-\n*b*", "5\n--\n*b*"])
def test_a_short_line_of_signs_makes_no_heading(text: str) -> None:
    assert read_markdown(text) is None


_PROSE = ["这是**重要**的", "*4 weeks*", "get **4 weeks**, not *2*.", "(**so**)", "“**so**”", "***a***"]


@pytest.mark.parametrize("text", _PROSE)
def test_emphasis_of_prose_is_drawn(text: str) -> None:
    tree = read_markdown(text)
    assert tree is not None
    assert {"strong", "em"} & set(names(tree))
    assert "*" not in shown(text)


def test_a_claim_that_ends_inside_of_an_entity_has_its_end_sign(tmp_path: Path) -> None:
    text = "Partners get **2 weeks** &amp; pay."
    with site(tmp_path) as (_, store):
        run = record(store, text, EVIDENCE, "How long?")
        with store.reading("default") as connection:
            found = read_check(connection, "default", run)
    assert found is not None
    assert found.report is not None
    claim = found.report.claims[0]
    end = text.index("&amp;") + 2
    cut = claim.model_copy(update={"span": claim.span.model_copy(update={"start": 0, "end": end})})
    report = found.report.model_copy(update={"claims": (cut,)})
    drawn = marked_text(report, {0}, TextView("/x", raw=False)).html
    assert 'id="at-1"' in drawn
    assert "&amp;a" in drawn.partition('id="at-1"')[0]
    assert "mp; pay." not in drawn.partition('id="at-1"')[0]


def test_words_of_an_element_say_where_they_are() -> None:
    assert list(text_slices(Element("p", [TextSlice(0, 1), Element("em", [TextSlice(2, 3)])]))) == [
        TextSlice(0, 1),
        TextSlice(2, 3),
    ]


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


@pytest.mark.parametrize("view", ["", "?text=raw"])
def test_what_cannot_be_seen_is_written_out_on_the_page_of_a_run(tmp_path: Path, view: str) -> None:
    text = "Partners get **2\u200b0 weeks** of \u202eevael\u202c leave."
    with site(tmp_path) as (client, store):
        run = record(store, text, EVIDENCE, "Pay \u202e321?")
        page = client.get(f"/console/runs/{run}{view}").text
    assert not {"\u202e", "\u202c", "\u200b"} & set(re.sub('="[^"]*"', "", page))
    assert {"\\u202e", "\\u200b"} <= set(re.findall(r"\\u20[0-9a-f]{2}", page))
