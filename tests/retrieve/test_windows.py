from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.retrieve.windows import WindowOptions, cut_evidence, cut_windows, heading, premise_text
from assay.schema import Evidence, Window
from assay.testing import FakeScorer

COUNT = FakeScorer().count_tokens
SMALL = WindowOptions(max_tokens=16)
TEXTS = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("ab .,!?\n\t漢字é\u0301😀")), max_size=400)
PROSE = (
    "The office opens at nine. It closes at five on weekdays. On Fridays it closes at noon, unless it is a holiday. "
)


def seen(windows: Sequence[Window], evidence_id: str) -> set[int]:
    return {i for w in windows if w.evidence_id == evidence_id for i in range(w.start, w.end)}


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, max_size=4), st.integers(16, 40), st.integers(0, 3), st.integers(0, 20))
def test_no_character_goes_unseen_and_no_window_is_too_long(
    texts: list[str], tokens: int, overlap: int, words: int
) -> None:
    options = WindowOptions(max_tokens=tokens, overlap_sentences=overlap, overlap_words=words)
    evidence = [Evidence(id=str(i), text=text) for i, text in enumerate(texts)]
    cut = cut_evidence(evidence, COUNT, options)
    for item in evidence:
        visible = {i for i, c in enumerate(item.text) if not c.isspace()}
        assert visible <= seen(cut.windows, item.id)
        assert visible <= seen(cut.sentences, item.id)
    for window in (*cut.windows, *cut.sentences):
        assert evidence[int(window.evidence_id)].text[window.start : window.end] == window.text
        assert window.text.strip()
    assert max(COUNT([w.text for w in cut.windows]), default=0) <= tokens
    assert len(cut.windows) <= sum(len(item.text) for item in evidence)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "😀" * 30_000,
        "漢字" * 30_000,
        "e\u0301" * 30_000,
        "a.b-c " * 15_000,
        "." * 60_000,
        "(" * 50_000,
        "word " * 20_000,
        "\n" * 100_000 + "end",
        "1,000" * 15_000,
        "👩‍👩‍👧" * 10_000,
        "A. " * 30_000,
    ],
    ids=lambda text: text[:5],
)
def test_a_hostile_text_is_read_whole_in_as_many_windows_as_it_needs(text: str) -> None:
    windows = cut_windows([Evidence(id="e", text=text)], COUNT)
    assert max(COUNT([w.text for w in windows])) <= 96
    assert {i for i, c in enumerate(text) if not c.isspace()} <= seen(windows, "e")
    assert len(windows) <= 2 + 4 * COUNT([text])[0] / 96


def test_the_number_of_windows_is_linear_in_the_text() -> None:
    one, ten = (len(cut_windows([Evidence(id="e", text=PROSE * n)], COUNT)) for n in (40, 400))
    assert 9 * one <= ten <= 11 * one


def test_a_short_text_is_one_window() -> None:
    assert [w.text for w in cut_windows([Evidence(id="e", text=f" {PROSE}")], COUNT)] == [PROSE.strip()]


def test_windows_end_at_sentences_and_repeat_the_last_one() -> None:
    windows = cut_windows([Evidence(id="e", text=PROSE * 2)], COUNT, SMALL)
    assert windows[0].text == "The office opens at nine. It closes at five on weekdays."
    assert all(w.text[0].isupper() and w.text[-1] == "." for w in windows)
    shared = cut_windows(
        [Evidence(id="e", text="One here. Two here. Three here. Four here. Five here. Six here.")], COUNT, SMALL
    )
    assert [w.text for w in shared] == [
        "One here. Two here. Three here. Four here. Five here.",
        "Five here. Six here.",
    ]


def test_empty_and_blank_evidence_has_no_windows() -> None:
    assert cut_windows([Evidence(id="a", text=""), Evidence(id="b", text=" \n\t")], COUNT) == []
    assert cut_windows([], COUNT) == []


def test_title_and_date_are_read_with_every_window_and_counted() -> None:
    item = Evidence(id="e", text=PROSE * 4, title="Opening hours", effective_date=date(2026, 1, 1))
    cut = cut_evidence([item], COUNT, WindowOptions(max_tokens=40))
    assert heading(item) == "Opening hours (effective 2026-01-01): "
    texts = [premise_text([w], cut.heading_of) for w in cut.windows]
    assert all(t.startswith("Opening hours (effective 2026-01-01): ") for t in texts)
    assert max(COUNT(texts)) <= 40


def test_a_title_as_long_as_a_text_does_not_crowd_the_text_out() -> None:
    item = Evidence(id="e", text=PROSE, title="word " * 5_000)
    cut = cut_evidence([item], COUNT)
    assert cut.heading_of["e"] == ("", 0)
    assert [w.text for w in cut.windows] == [PROSE.strip()]


def test_the_heading_stands_once_before_neighbours() -> None:
    headings = {"a": ("T: ", 2), "b": ("", 0)}
    windows = [Window("a", 0, 1, "x"), Window("a", 2, 3, "y"), Window("b", 0, 1, "z")]
    assert premise_text(windows, headings) == "T: x y z"


@pytest.mark.parametrize("options", [{"max_tokens": 4}, {"overlap_sentences": -1}, {"max_heading_tokens": -1}])
def test_senseless_options_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected max_tokens of at least 16"):
        WindowOptions(**options)
