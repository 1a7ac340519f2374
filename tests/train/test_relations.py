"""Claims about who did what to whom: the wrong one differs from its true twin in the marked places alone."""

import random
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from train.edits.document import Document
from train.edits.forks import Fork, forked_rows
from train.edits.generate import contradicted
from train.edits.relation_frames import COMPLEMENTS, NEGATED, RELATIONS, THINGS
from train.edits.relations import FREE, SITES, converse_parts, plain, relation_rows
from train.rows import Row

PEOPLE = [
    "Ingrid Vollmer",
    "Thomas Berg",
    "Maria Lopez",
    "Peter Holm",
    "Carl Lund",
    "Anna Weiss",
    "Paul Dahl",
    "Julia Moe",
    "Oscar Lind",
]
TOWN = (
    "Ingrid Vollmer, the sister of the painter Thomas Berg, founded the city theatre in Lindholm. Peter Holm was "
    "succeeded by Carl Lund in 1974. Maria Lopez won the second prize of the jury. Anna Weiss directed a small choir."
)
COAST = (
    "Lindholm is a small town north of Arnvik in the county. The harbour opened in 1902 and the railway arrived there "
    "in 1931. Paul Dahl praised Julia Moe, who had written the report on the flood. Carl Lund was defeated by Paul "
    "Dahl in the first round. The old ferry was the largest ship of the fleet."
)
FILMS = (
    "Oscar Lind is known for Blue Door (1990), Red Gate (1998) and Green Hill (2004). The attempt was unsuccessful in "
    "the first year. Thomas Berg was born in Lindholm. Julia Moe visited Oscar Lind in London after the concert there."
)
ROWS = [Row("made", (text,), "", "supported") for text in (TOWN, COAST, FILMS)]
ROWS += [
    Row(
        "made",
        (f"{a} founded a small school in {1900 + i}. {b} moved to the coast near {c} and stayed there.",),
        "",
        "supported",
    )
    for i, (a, b, c) in enumerate(zip(PEOPLE, PEOPLE[3:] + PEOPLE[:3], PEOPLE[5:] + PEOPLE[:5], strict=True))
]


def unmarked(row: Row) -> str:
    """The claim with a sign where something is marked as wrong."""
    text = row.claim
    for start, end in sorted(row.spans, reverse=True):
        text = f"{text[:start]}\0{text[end:]}"
    return text


def test_each_wrong_claim_has_a_twin_that_differs_in_the_marked_places_alone() -> None:
    rows = relation_rows(ROWS, 300, 3)
    right: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        if row.label == "supported":
            right.setdefault(row.evidence, []).append(row.claim)
    wrong = [row for row in rows if row.label != "supported"]
    assert len(wrong) == len(rows) / 2 > 100
    for row in wrong:
        pattern = re.compile(
            r"\s*.*?\s*".join(re.escape(kept.strip()) for kept in unmarked(row).split("\0")), re.DOTALL | re.IGNORECASE
        )
        assert any(pattern.fullmatch(claim) for claim in right[row.evidence]), row


def test_marked_places_lie_in_the_claim_and_are_no_blanks() -> None:
    for row in relation_rows(ROWS, 300, 4):
        assert bool(row.spans) == (row.label != "supported")
        for start, end in row.spans:
            assert 0 <= start < end <= len(row.claim)
            assert row.claim[start:end].strip() == row.claim[start:end]


def test_the_same_seed_makes_the_same_rows_and_another_one_others() -> None:
    assert relation_rows(ROWS, 80, 5) == relation_rows(ROWS, 80, 5)
    assert relation_rows(ROWS, 80, 5) != relation_rows(ROWS, 80, 6)


@pytest.mark.parametrize("maker", SITES, ids=lambda maker: maker.kind)
def test_claims_of_sentences_survive_the_second_check_of_the_exact_tier(maker: object) -> None:
    rows = forked_rows(ROWS, 40, 1, [maker], [])  # type: ignore[list-item]
    assert not [row for row in rows if row.label == "supported" and contradicted(row)]


@pytest.mark.parametrize(
    ("kind", "evidence", "right", "wrong"),
    [
        (
            "aside",
            TOWN,
            "Ingrid Vollmer founded the city theatre in Lindholm.",
            "Thomas Berg founded the city theatre in Lindholm.",
        ),
        (
            "relative",
            COAST,
            "Julia Moe had written the report on the flood.",
            "Paul Dahl had written the report on the flood.",
        ),
        ("turned_role", COAST, "Paul Dahl defeated Carl Lund.", "Carl Lund defeated Paul Dahl."),
        (
            "prefixed",
            FILMS,
            "The attempt was not successful in the first year.",
            "The attempt was not unsuccessful in the first year.",
        ),
        (
            "superlative",
            COAST,
            "The old ferry was not the smallest ship of the fleet.",
            "The old ferry was not the largest ship of the fleet.",
        ),
    ],
)
def test_what_a_sentence_offers(kind: str, evidence: str, right: str, wrong: str) -> None:
    maker = next(maker for maker in SITES if maker.kind == kind)
    made = {
        (row.claim.split(": ")[-1], row.label == "supported")
        for seed in range(30)
        for row in forked_rows([Row("made", (evidence,), "", "supported")], 6, seed, [maker], [])
    }
    assert (right, True) in made
    assert (wrong, False) in made


def test_a_relation_and_its_reverse_never_read_the_same() -> None:
    for relation in RELATIONS:
        held = {plain(frame, "Arn", "Bel") for frame in relation.frames}
        reverse = {plain(frame, "Bel", "Arn") for frame in relation.frames}
        assert not held & reverse, relation


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(RELATIONS))
def test_the_right_version_of_a_converse_is_one_of_the_frames_and_the_wrong_one_its_reverse(
    seed: int, relation: object
) -> None:
    rng = random.Random(seed)
    frame = rng.choice(relation.frames)  # type: ignore[attr-defined]
    fork = Fork("converse", converse_parts(relation, frame, "Arn", "Bel", rng), ("x",))  # type: ignore[arg-type]
    assert fork.right == plain(frame, "Arn", "Bel")
    reverses = {plain(other, "Bel", "Arn") for other in relation.frames}  # type: ignore[attr-defined]
    assert fork.wrong[0] in reverses


def test_north_turns_into_south_when_the_names_turn() -> None:
    north = next(relation for relation in RELATIONS if "{a} lies [north] of {b}." in relation.frames)
    made = {
        Fork(
            "converse", converse_parts(north, "{b} lies [south] of {a}.", "Arn", "Bel", random.Random(seed)), ("x",)
        ).wrong[0]
        for seed in range(20)
    }
    assert made == {"Bel lies north of Arn.", "Arn lies south of Bel."}


def test_words_of_which_one_holds_are_two_words_and_things_are_named_once() -> None:
    assert all(one.yes != one.no for one in COMPLEMENTS)
    assert all(len(set(some)) == len(some) for some in THINGS.values())
    assert all(not set(frame.yes) & set(frame.no) for frame in NEGATED)


def test_both_labels_stand_in_each_kind() -> None:
    counts = Counter((row.source.replace("true.", ""), row.label == "supported") for row in relation_rows(ROWS, 400, 9))
    assert {kind for kind, _ in counts} >= {"edit:moved", "edit:converse", "edit:two_negations"}
    assert all(counts[kind, True] == counts[kind, False] for kind, _ in counts)


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=300), st.integers(0, 99))
def test_hostile_text_crashes_no_maker(text: str, seed: int) -> None:
    forked_rows([Row("made", (f"{text} {TOWN}",), "", "supported")], 8, seed, SITES, FREE)
    assert Document((text,)).pieces is not None
