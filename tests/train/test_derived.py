"""Numbers that follow from the evidence, and statements over records: right and wrong versions in the same words."""

import datetime as dt
import json
import random
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from train.edits.derived import FREE, SITES, age, derived_rows, off
from train.edits.document import Document
from train.edits.forks import forked_rows
from train.edits.tabular import Table, read_table, shown, statements
from train.rows import Row

LIVES = (
    "Ingrid Vollmer (12 March 1920 – 4 May 1990) was a painter from Lindholm. She taught at the academy from 1950 to "
    "1962. The academy opened a second building in 1957. It has 1,240 students and 85 teachers today."
)
SURVEY = (
    "60% of the members were satisfied with the new rules. Thomas Berg served as mayor of Lindholm from 1971 to 1979. "
    "The council met 34 times in the old hall before the fire."
)
GOALS = (
    "season of the harbour club\nplayer | goals | position\nmoe | 12 | forward\ndahl | 7 | defender\nberg | 3 | forward"
)
ROWS = [Row("made", (text,), "", "supported") for text in (LIVES, SURVEY, GOALS)]
TABLE = Table(
    "season",
    "player",
    ("goals", "position"),
    (("Moe", "12", "forward"), ("Dahl", "7", "defender"), ("Berg", "3", "forward")),
)


def unmarked(row: Row) -> str:
    """The claim with a sign where something is marked as wrong."""
    text = row.claim
    for start, end in sorted(row.spans, reverse=True):
        text = f"{text[:start]}\0{text[end:]}"
    return text


def test_each_wrong_claim_has_a_twin_that_differs_in_the_marked_places_alone() -> None:
    rows = derived_rows(ROWS, 300, 3)
    right = [row for row in rows if row.label == "supported"]
    wrong = [row for row in rows if row.label != "supported"]
    assert len(wrong) == len(right) >= 100
    for row in wrong:
        assert row.spans
        assert all(row.claim[start:end].strip() for start, end in row.spans)
        pattern = re.compile(
            r"\s*.*?\s*".join(re.escape(kept.strip()) for kept in unmarked(row).split("\0")), re.DOTALL | re.IGNORECASE
        )
        assert any(twin.evidence == row.evidence and pattern.fullmatch(twin.claim) for twin in right), row


def test_right_claims_mark_nothing_and_the_same_seed_makes_the_same_rows() -> None:
    rows = derived_rows(ROWS, 120, 5)
    assert not [row for row in rows if row.label == "supported" and row.spans]
    assert rows == derived_rows(ROWS, 120, 5)
    assert rows != derived_rows(ROWS, 120, 6)


def test_both_labels_stand_in_each_kind() -> None:
    counts = Counter((row.source.replace("true.", ""), row.label == "supported") for row in derived_rows(ROWS, 400, 2))
    assert {kind for kind, _ in counts} >= {"edit:over_rows", "edit:derived_sum", "edit:derived_share"}
    assert all(counts[kind, True] == counts[kind, False] for kind, _ in counts)


def made_of(text: str, kind: str) -> list[Row]:
    """Rows of one maker from one document, over many seeds."""
    maker = next(maker for maker in SITES if maker.kind == kind)
    return [
        row for seed in range(40) for row in forked_rows([Row("made", (text,), "", "supported")], 4, seed, [maker], [])
    ]


def test_an_age_counts_full_years_alone() -> None:
    said = [row for row in made_of(LIVES, "derived_age") if re.search(r"age of (\d+)\.", row.claim)]
    assert {row.claim.split()[-1] for row in said if row.label == "supported"} == {"70."}
    assert "70." not in {row.claim.split()[-1] for row in said if row.label != "supported"}


def test_years_within_a_period_are_right_and_years_outside_are_wrong() -> None:
    for row in made_of(SURVEY, "derived_period"):
        found = re.search(r" in (\d{4})\.", row.claim)
        if found:
            assert (1971 < int(found.group(1)) < 1979) == (row.label == "supported")


def test_bounds_hold_where_the_claim_is_right_and_fail_where_it_is_wrong() -> None:
    seen = 0
    for row in made_of(SURVEY, "derived_bound"):
        found = re.search(r"met (more than|over|at least|fewer than|no more than) (\d+) times", row.claim)
        if found:
            seen += 1
            bound = int(found.group(2))
            holds = {
                "more than": bound < 34,
                "over": bound < 34,
                "at least": bound <= 34,
                "fewer than": bound > 34,
                "no more than": bound >= 34,
            }
            assert holds[found.group(1)] == (row.label == "supported"), row
    assert seen > 5


def test_the_rest_of_a_share_is_what_lacks_to_a_hundred() -> None:
    said = [row for row in made_of(SURVEY, "derived_share") if "not" in row.claim and "%" in row.claim]
    assert said
    assert all(("40%" in row.claim) == (row.label == "supported") for row in said)


@given(st.integers(1, 10_000), st.integers(0, 999))
def test_another_number_is_another_and_positive(number: int, seed: int) -> None:
    other = off(number, random.Random(seed))
    assert other != number
    assert other >= 1


@given(st.dates(), st.dates())
def test_a_birthday_is_not_before_its_day(first: dt.date, last: dt.date) -> None:
    years = age(first, last)
    assert years <= last.year - first.year <= years + 1


def holds(claim: str) -> bool | None:
    """Whether a claim of a few shapes holds of the table of three players; nothing for other shapes."""
    goals = {"Moe": 12, "Dahl": 7, "Berg": 3}
    forwards = {"Moe", "Berg"}
    names: list[str] = [word for word in re.findall(r"\w+", claim) if word in goals]
    if "highest value for goals" in claim or "highest goals is" in claim:
        return names[0] == "Moe"
    if "lowest value for goals" in claim:
        return names[0] == "Berg"
    if "has more goals than" in claim:
        return goals[names[0]] > goals[names[1]]
    if "has fewer goals than" in claim:
        return goals[names[0]] < goals[names[1]]
    if claim.startswith("Both") and '"forward"' in claim:
        return set(names) <= forwards
    if ", but not" in claim and '"forward"' in claim:
        return names[0] in forwards and names[1] not in forwards
    if found := re.match(r'The number of players whose position is "forward" is (\d)', claim):
        return bool(found.group(1) == "2")
    if found := re.match(r"In all, the goals add up to (\d+)", claim):
        return bool(found.group(1) == "22")
    return None


def test_statements_over_a_table_are_right_and_wrong_as_they_say() -> None:
    checked = 0
    for seed in range(60):
        for parts in statements(TABLE, random.Random(seed)):
            for side, right in ((0, True), (1, False)):
                claim = "".join(part if isinstance(part, str) else part[side] for part in parts)
                found = holds(claim)
                if found is not None:
                    checked += 1
                    assert found == right, claim
    assert checked > 300


def test_every_form_of_a_table_shows_every_cell() -> None:
    for seed in range(20):
        text = shown(TABLE, random.Random(seed))
        assert all(cell in text for row in TABLE.rows for cell in row)
        if text.startswith("{"):
            assert len(json.loads(text)["results"]) == 3


def test_a_table_with_a_missing_cell_is_not_read() -> None:
    assert read_table(Document((GOALS,))) is not None
    assert read_table(Document((GOALS.replace("| 7 |", "|  |"),))) is None


@pytest.mark.parametrize("maker", FREE, ids=lambda maker: maker.kind)
def test_makers_without_a_document_need_none(maker: object) -> None:
    rows = forked_rows(ROWS, 20, 1, [], [maker])  # type: ignore[list-item]
    assert {row.label for row in rows} == {"supported", "contradicted"}


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=300), st.integers(0, 99))
def test_hostile_text_crashes_no_maker(text: str, seed: int) -> None:
    made = forked_rows([Row("made", (f"{text} {LIVES}",), "", "supported")], 8, seed, SITES, FREE)
    assert all(row.claim for row in made)
