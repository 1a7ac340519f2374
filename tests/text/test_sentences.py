"""Sentences: hard lines, structure, and spans that hold for any text."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.text.sentences.splitting import Sentence, split_sentences

LINES = [
    line
    for line in (Path(__file__).parent / "hard_lines.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
KNOWN_MISSES = {
    "Plan B.‖ There was none.",
    "It was item b.‖ Item c was missing.",
    "Das sind ca. 5 kg.‖ Mehr geht nicht.",
}
MARKDOWN = st.text(alphabet=st.sampled_from(list("ab AB.?!:;,|-#>*`[]()1\n\r\t 。？।\u2028\x85“”\ud800")), max_size=200)


def parts(text: str) -> list[str]:
    return [text[s.start : s.end] for s in split_sentences(text)]


@pytest.mark.parametrize("line", [line for line in LINES if line not in KNOWN_MISSES])
def test_a_hard_line_is_split_where_a_reader_would(line: str) -> None:
    assert parts(line.replace("‖", "")) == [p.strip() for p in line.split("‖")]


def test_the_known_misses_are_still_misses() -> None:
    assert all(parts(line.replace("‖", "")) != [p.strip() for p in line.split("‖")] for line in KNOWN_MISSES)


def test_markdown_structure_is_named() -> None:
    text = (
        "# Leave\r\nIt is paid. It is long.\r\n\r\n- one\n- two. Three.\n\n| A | B |\n|---|---|\n| 1 | 2 |\n"
        "> quoted words\n> go on here\n```\nx = 1\ny = 2\n```\n1. first\n"
    )
    found = [(s.block, text[s.start : s.end]) for s in split_sentences(text)]
    assert found == [
        ("heading", "# Leave"),
        ("prose", "It is paid."),
        ("prose", "It is long."),
        ("list_item", "- one"),
        ("list_item", "- two."),
        ("list_item", "Three."),
        ("table_row", "| A | B |\n|---|---|"),
        ("table_row", "| 1 | 2 |"),
        ("quote", "> quoted words\n> go on here"),
        ("code", "```\nx = 1\ny = 2\n```"),
        ("list_item", "1. first"),
    ]


def test_a_wrapped_line_goes_on_and_a_short_line_stands_alone() -> None:
    wrapped = "The committee of the northern district decided in the spring that\nthe bridge is safe."
    assert len(parts(wrapped)) == 1
    assert parts("Name: Ann\nAge: 45") == ["Name: Ann", "Age: 45"]


def test_prose_inside_a_code_fence_is_still_prose() -> None:
    text = "```\nPartners get nine weeks of leave.\n```"
    assert ("prose", "Partners get nine weeks of leave.") in [
        (s.block, text[s.start : s.end]) for s in split_sentences(text)
    ]


def assert_covers(text: str, found: list[Sentence]) -> None:
    owners = [0] * len(text)
    at = 0
    for s in found:
        assert at <= s.start < s.end <= len(text)
        at = s.end
        assert text[s.start : s.end].strip() == text[s.start : s.end]
        for i in range(s.start, s.end):
            owners[i] += 1
    assert all(owners[i] == 1 for i, c in enumerate(text) if not c.isspace())


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=200), MARKDOWN))
def test_every_character_that_is_no_space_lies_in_exactly_one_sentence(text: str) -> None:
    assert_covers(text, split_sentences(text))


@pytest.mark.parametrize(
    "unit",
    ["a", ".", "?!", "[", "A.[1] ", "|", "> ", "- ", "“", "。", "[1]", "\ud800. ", "```\na b c d.\n", "x" * 70 + "\n"],
)
def test_a_hostile_run_is_covered_like_any_text(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    found = split_sentences(text)
    assert sum(s.end - s.start for s in found) <= len(text)
    assert found[0].start == 0


def test_nothing_comes_of_nothing() -> None:
    assert split_sentences("") == split_sentences(" \n\t ") == []


def test_an_abbreviation_right_behind_a_foreign_mark_stays_with_its_word() -> None:
    text = "他说好。Dr. Żółć agreed at once。Mr. Wang paid. Next one."
    assert [text[s.start : s.end] for s in split_sentences(text)] == [
        "他说好。",
        "Dr. Żółć agreed at once。",
        "Mr. Wang paid.",
        "Next one.",
    ]


def test_a_row_of_note_signs_without_end_is_read_in_time_that_grows_with_its_length() -> None:
    text = "The fee is 40 euros. " + "¹" * 20_000 + "is due. The pool opens at 9.¹ ² Then it shuts."
    parts = [text[one.start : one.end] for one in split_sentences(text)]
    assert (parts[0], parts[-2:]) == ("The fee is 40 euros.", ["The pool opens at 9.¹ ²", "Then it shuts."])
