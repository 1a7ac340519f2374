"""The HTML writer: what goes in as text comes out as text."""

import base64
import hashlib
import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.harmless import seen
from assay.reporting.html_writer import escape, foreign, group, page, tag


class Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: list[str] = []
        self.attributes: dict[str, str | None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def read(markup: str) -> Text:
    reader = Text()
    reader.feed(markup)
    reader.close()
    return reader


KEPT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"))


@settings(deadline=None)
@given(KEPT)
def test_text_comes_back_as_it_went_in_but_what_cannot_be_seen(text: str) -> None:
    reader = read(tag("p", text).html)
    assert reader.text == seen(text)
    assert read(tag("textarea", text).html).text == text
    assert reader.tags == ["p"]


@settings(deadline=None)
@given(KEPT)
def test_an_attribute_comes_back_as_it_went_in(text: str) -> None:
    assert read(tag("p", title=text).html).attributes == {"title": text}


@settings(deadline=None)
@given(st.text())
def test_any_text_can_be_written(text: str) -> None:
    escaped = escape(text)
    assert not set("<>\"'") & set(escaped)
    escaped.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", escaped)


def test_markup_is_not_escaped_twice() -> None:
    assert tag("p", tag("b", "&"), None, [" ", group("<")]).html == "<p><b>&amp;</b> &lt;</p>"


def test_foreign_text_is_isolated() -> None:
    assert foreign("x").html == '<bdi dir="auto">x</bdi>'


def test_the_style_is_named_by_its_digest() -> None:
    style = "p{color:red}"
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    text = page("t", style, tag("p", "x"))
    assert f"sha256-{digest}" in text
    assert "default-src &#x27;none&#x27;" in text
    assert "unsafe-inline" not in text
