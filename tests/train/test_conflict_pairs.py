"""Conflicts and near texts: written items, their pairs, and a second reader who is not told what they are."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from train.conflict_pairs import (
    HELD_OUT,
    Agreement,
    Item,
    PassagePair,
    agreed,
    balanced,
    blind,
    of_scenarios,
    of_screening,
    parse,
    read_items,
    titles_of,
    with_titles,
)
from train.scenario_rows import batches

TEXT = """
== gate-1
a: The north gate is open until eight.
x: The north gate closes at six.
x: Nobody may enter through the north gate.
n: The south gate closes at six.
y: One can enter by the north gate up to 8 pm.

== gate-2
a: The tower has a lift.
x: The tower can only be climbed on foot.
n: The lift of the tower was installed in 2004.
"""


def test_items_are_read_from_the_form_in_which_they_are_written() -> None:
    first, second = parse(TEXT)
    assert (first.id, len(first.conflicts), len(first.near), len(first.restated)) == ("gate-1", 2, 1, 1)
    assert second.restated == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: It is open.", "line 1: expected '== id'"),
        ("== one\na: It is open.\nz: It is shut.", "line 3"),
        ("== one\na: It is open.\nx: It is shut.", "one: expected a line 'a:' and at least one"),
    ],
)
def test_a_line_that_is_none_is_named(text: str, said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        parse(text)


def test_a_conflict_contradicts_the_restatement_too_and_a_near_text_neither() -> None:
    item = parse(TEXT)[0]
    assert PassagePair(item.restated[0], item.conflicts[0], True, "gate-1") in list(item.pairs())
    assert PassagePair(item.restated[0], item.near[0], False, "gate-1") in list(item.pairs())
    assert len(list(item.pairs())) == 7
    assert len(list(item.pairs(derived=False))) == 4


@given(st.integers(0, 1_000))
def test_a_second_reader_who_says_what_the_writer_meant_agrees_with_everything(seed: int) -> None:
    items = parse(TEXT)
    groups, key = blind(items, random.Random(seed))
    assert "conflict" not in groups
    answers = "\n".join(
        f"{number}: " + " ".join("c" if kind == "x" else "n" for kind, _ in group["cand"])
        for number, group in key.items()
    )
    agreement = Agreement()
    agreement.count(answers, key)
    assert agreement.same == agreement.read > 0
    assert [agreed(item, agreement.refused) for item in items] == items


def test_what_a_second_reader_refuses_is_left_out_and_with_its_last_conflict_the_item() -> None:
    item = parse(TEXT)[0]
    key = {"1": {"id": item.id, "base": "a", "cand": [("x", text) for text in item.conflicts]}}
    agreement = Agreement()
    agreement.count("1: c d", key)
    kept = agreed(item, agreement.refused)
    assert kept is not None
    assert kept.conflicts == item.conflicts[:1]
    agreement.count("1: n d", key)
    assert agreed(item, agreement.refused) is None


def test_a_group_with_another_number_of_answers_is_refused() -> None:
    with pytest.raises(SystemExit, match="group 1: expected 2 answers, got 1"):
        Agreement().count("1: c", {"1": {"id": "i", "base": "a", "cand": [("x", "one"), ("n", "two")]}})


def test_every_file_holds_items_with_a_conflict_and_a_near_text_and_each_id_once() -> None:
    items = [*read_items(), *read_items(only=HELD_OUT)]
    assert len({item.id for item in items}) == len(items) == 3_742
    assert all(item.passage and item.conflicts and item.near for item in items)


def test_held_out_items_are_not_among_those_for_training() -> None:
    held = {item.passage for item in read_items(only=HELD_OUT)}
    assert held
    assert not held & {item.passage for item in read_items()}


def test_pairs_of_scenarios_are_of_both_kinds_and_a_sample_of_them_is_balanced() -> None:
    pairs = list(of_scenarios("fit", random.Random(1)))
    sample = balanced(pairs, 100, random.Random(2))
    assert sum(one.conflict for one in sample) * 2 == len(sample) == 100
    assert all(one.first.strip() and one.second.strip() for one in pairs)


@pytest.mark.parametrize(
    "kind", ["conflict stated", "old value", "old-version", "disagreement", "superseded", "veraltet"]
)
def test_a_scenario_whose_sources_disagree_gives_no_pair_of_the_gate(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = batches("test")["j"][:20]
    monkeypatch.setattr("train.conflict_pairs.batches", lambda _: {"j": some})
    pairs = list(of_screening("test"))
    assert pairs
    assert not any(pair.conflict for pair in pairs)
    claims = [{"kind": kind, "text": "It is so.", "label": "supported"}]
    monkeypatch.setattr("train.conflict_pairs.batches", lambda _: {"j": [{**one, "claims": claims} for one in some]})
    assert list(of_screening("test")) == []


@given(share=st.floats(0, 1), seed=st.integers(0, 1_000))
def test_titles_stand_before_passages_and_change_nothing_else(share: float, seed: int) -> None:
    pairs = [pair for item in parse(TEXT) for pair in item.pairs()]
    titled = with_titles(pairs, ["FAQ: ", "Notes: "], share, random.Random(seed))
    for pair, found in zip(pairs, titled, strict=True):
        assert (found.conflict, found.source) == (pair.conflict, pair.source)
        for text, under in ((pair.first, found.first), (pair.second, found.second)):
            assert under.removeprefix("FAQ: ").removeprefix("Notes: ") == text
        assert found.first.split(": ")[0] != found.second.split(": ")[0]
    if share == 0:
        assert titled == pairs


def test_titles_say_nothing_of_whether_a_pair_is_a_conflict() -> None:
    pairs = [PassagePair("It is open.", "It is shut.", at % 2 == 0, "i") for at in range(4_000)]
    titled = with_titles(pairs, ["FAQ: ", "Notes: "], 0.5, random.Random(1))
    both = [one.conflict for one in titled if ": " in one.first and ": " in one.second]
    one_side = [one for one in titled if (": " in one.first) != (": " in one.second)]
    assert 0.45 < sum(both) / len(both) < 0.55
    assert (round(len(both) / 4_000, 1), round(len(one_side) / 4_000, 1)) == (0.4, 0.1)


def test_titles_are_those_of_sources_as_they_are_read() -> None:
    titles = titles_of("test")
    assert len(titles) == len(set(titles)) > 50
    assert all(title.endswith(": ") for title in titles)


@given(item=st.builds(Item, st.just("i"), *[st.text(min_size=1)], *[st.lists(st.text(min_size=1), max_size=3)] * 3))
def test_each_pair_has_two_passages_of_its_item(item: Item) -> None:
    texts = {item.passage, *item.conflicts, *item.near, *item.restated}
    for pair in item.pairs():
        assert {pair.first, pair.second} <= texts
        assert pair.conflict == (pair.second in item.conflicts) or pair.second in {*item.near, *item.restated}
