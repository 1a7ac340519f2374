"""Which sentences of passages are held against each other, and which cannot disagree."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from assay.guard.screening.pairs import LEAST_READ, PassageSubjects, candidates, statement, statements_of, what_differs
from assay.schema import Evidence


def pairs(*texts: str, titles: tuple[str | None, ...] = ()) -> list[tuple[str, str]]:
    items = [Evidence(id=str(n), text=text, title=titles[n] if titles else None) for n, text in enumerate(texts)]
    statements = [one for place, item in enumerate(items) for one in statements_of(place, item, frozenset())]
    things = PassageSubjects(statements, items)
    found = candidates(statements, frozenset(), LEAST_READ, things.differ)
    return [(pair.first.text, pair.second.text) for pair in found]


def test_what_may_and_what_must_be_are_held_against_each_other() -> None:
    assert pairs("Wearing gloves in the lab is optional.", "Gloves must be worn in the lab.")
    plain, ruled = (statement(0, 0, text) for text in ("Staff wear a badge.", "Staff must wear a red badge."))
    assert what_differs(plain, ruled) == "words"


def test_short_passages_are_held_against_each_other_without_a_common_word() -> None:
    first, second = "The company has its seat in Graz.", "Registered office: Linz, Austria."
    assert pairs(first, second) == [(first, second)]
    assert not pairs(f"{first} It was founded by two brothers.", f"{second} Phone: 0732 1234.")


def test_rows_of_a_table_in_csv_are_no_sentences() -> None:
    item = Evidence(id="a", text="Mon,2026-02-23,Hanna,Ede,Sten\nTue,2026-02-24,Lou,Ede,Amina\n")
    assert statements_of(0, item, frozenset()) == []
    prose = Evidence(id="b", text="Fees of 1,200, 1,300 and 1,400 euros are due in May, June and July.")
    assert [one.text for one in statements_of(0, prose, frozenset())] == [prose.text]


def test_passages_on_two_things_by_their_titles_cannot_disagree() -> None:
    lisbon = "The office in Lisbon opens at nine. Lisbon has 40 desks."
    bern = "The office in Bern opens at eight. Bern has 25 desks."
    assert not pairs(lisbon, bern, titles=("Lisbon", "Bern"))
    assert pairs(lisbon, f"{bern} It replaces the one in Lisbon.", titles=("Lisbon", "Bern"))
    assert pairs(lisbon, "The office opens at eight.", titles=("Lisbon", "Opening hours"))


def test_passages_on_two_things_take_no_place_of_those_on_one() -> None:
    things = [f"{kind} {what}" for kind in ("oak", "steel") for what in ("desks", "lamps", "shelves", "boxes", "doors")]
    things += [f"glass {what}" for what in ("globes", "vases", "clocks", "mirrors", "tables")]
    bern, lindau = (
        " ".join(f"The library in {town} has {first + place} {thing}." for place, thing in enumerate(things))
        for town, first in (("Bern", 20), ("Lindau", 60))
    )
    must, may = "Visitors must wear gloves in the archive.", "Gloves are optional for visitors in the archive."
    titles = ("Library in Bern", "Library in Lindau", None, None)
    assert pairs(bern, lindau, must, may, titles=titles) == [(must, may)]


@given(st.lists(st.sampled_from(["Entry costs 5 euros.", "Entry is free.", "No dogs.", "Dogs may enter."]), max_size=5))
def test_the_pairs_do_not_depend_on_the_order_of_the_passages(texts: list[str]) -> None:
    wanted = sorted(tuple(sorted(pair)) for pair in pairs(*texts))
    for order in list(permutations(texts))[:6]:
        assert sorted(tuple(sorted(pair)) for pair in pairs(*order)) == wanted


@given(st.lists(st.text(max_size=60), max_size=6))
def test_no_more_pairs_are_asked_about_than_are_allowed(texts: list[str]) -> None:
    assert len(pairs(*texts)) <= LEAST_READ
