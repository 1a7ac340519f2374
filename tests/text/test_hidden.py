"""Characters by which a reader is shown another text than the one that stands there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.sentences.hidden_characters import find_hidden_characters

SHOWN_OTHERWISE = [
    "It takes \u202e24\u202c weeks.",
    "It takes \u202d24\u202c weeks.",
    "From \u20679 to 2\u2069 weeks.",
    "It takes \x1b[8m2\x1b[0m9 weeks.",
    "It takes 2\b9 weeks.",
    "It takes \x9b8m2 weeks.",
    "It takes 2 weeks.\U000e0020\U000e0039",
    "Two weeks.\ufe01\ufe02\ufe03",
    "Two weeks.\u200b\u200c\u200b\u200c",
    "2\u20629 weeks.",
    r"It takes $\cancel{2}\,9$ weeks.",
    r"It takes \sout{2} 9 weeks.",
]
SHOWN_AS_WRITTEN = [
    "It takes 2 weeks.\r\n\tAnd three days.\x0c",
    "England \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f.",
    "A family \U0001f468\u200d\U0001f469\u200d\U0001f467 and a heart \u2764\ufe0f.",
    "\u05d7\u05d5\u05e4\u05e9\u05d4 \u2067\u05e9\u05dc\u2069 24 \u05e9\u05d1\u05d5\u05e2\u05d5\u05ea.",
    "Write `\\cancel{x}` to strike out, or\n```\n\\phantom{x}\n```\n",
    "co\u00adoperate, 1\u2060000, wait\u200bing",
    "C:\\temp and \\frac{1}{2}",
    "",
]


@pytest.mark.parametrize("text", SHOWN_OTHERWISE)
def test_what_is_shown_otherwise_is_found(text: str) -> None:
    assert find_hidden_characters(text)


@pytest.mark.parametrize("text", SHOWN_AS_WRITTEN)
def test_what_is_shown_as_it_is_written_is_not(text: str) -> None:
    assert find_hidden_characters(text) == []


@given(st.text(), st.sampled_from("\u202d\u202e\x1b\x08\U000e0041\u2062"), st.text())
def test_such_a_character_is_found_wherever_it_stands(before: str, mark: str, after: str) -> None:
    text = f"{before} {mark} {after}"
    assert any(one.start <= len(before) + 1 < one.end for one in find_hidden_characters(text))


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "P", "Z"), exclude_characters="\\"), max_size=200))
def test_plain_text_hides_nothing(text: str) -> None:
    assert find_hidden_characters(text) == []
