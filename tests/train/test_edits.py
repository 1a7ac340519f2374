"""The edits that training rows are made by: what is recorded as wrong is exactly what differs from the true claim."""

import random
import re
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from train.edits import EDITS, generate, is_single, make_rows, planted
from train.edits.context import Bank, Context, Maker
from train.edits.document import Document
from train.edits.entities import blend, condition, role
from train.edits.generate import SHAPES, contradicted
from train.edits.kinds import Base, Edit
from train.edits.kinds import replace as put
from train.edits.records import read_record, record_claims
from train.edits.true_values import CONVERSIONS
from train.edits.values import wrong_value
from train.edits.words import cause, negation, quantifier
from train.rows import Row

BRIDGE = (
    "The Harbour Bridge was opened on 12 March 1974 by Ingrid Vollmer. It is 1,240 metres long and "
    "carries all northern "
    "traffic of Lindholm. Construction began in May 1969 and cost more than 85 million crowns. Ingrid "
    "Vollmer may close "
    "the bridge before storms if the wind exceeds 90 km an hour. The older ferry was larger but slower than the three "
    "buses that replaced it. Maintenance is not paid by the city of Lindholm because of rising costs."
)
FILM = (
    "Acme Records signed Maria Lopez in 2004. Thomas Berg directed the film in Norway on a Tuesday. "
    "Maria Lopez won the "
    "first prize in Denmark. Thomas Berg was born in 1951 and died in 2010. Peter Holm defeated Carl Lund in Sweden. "
    "The club must pay its members two weeks of leave unless the board objects. Most members often met in London."
)
TOWN = (
    "Blue Valley is a small town in Ohio. Its population was 35,000 in 2010 and 41 percent of the people "
    "work in Dayton. "
    "The town had three public schools and a popular museum. The museum was founded by Anna Weiss in "
    "1931. Green Valley "
    "has a population of 12,400 people. Some visitors may park for two hours behind the station."
)
RECORD = (
    "Blue Door\nDirected by: Ann Lee\nStarring: Ola Dahl, Per Moe, Kim Berg\nRunning time: 92 "
    "minutes\nRelease date: 4 May 1998"
)
OTHER = (
    "Red Gate\nDirected by: Tor Vik\nStarring: Eva Lind, Jon Ek, Siv Aas\nRunning time: 120 "
    "minutes\nRelease date: 1 June 2001"
)
TABLE = "season of the harbour club\nplayer | goals | games\nmoe | 12 | 30\ndahl | 7 | 28\nberg | 3 | 19"
TEXTS = (BRIDGE, FILM, TOWN, RECORD, OTHER, TABLE)
DOCUMENTS = [Document((text,)) for text in TEXTS]
BANK = Bank.of(DOCUMENTS)
ROWS = [Row("made", (text,), "", "supported") for text in TEXTS]
CLAIMS = [(document, Base(document.pieces[i], "extracted", (i,))) for document in DOCUMENTS for i in document.usable]
CLAIMS += [(d, base) for d in DOCUMENTS if d.record for base in islice(record_claims(d.record, random.Random(1)), 12)]


def words(text: str) -> list[str]:
    """The words of a text in lower case, marks at their ends left out."""
    return [found for word in text.lower().split() if (found := word.strip(" ,.;:!?\"'()"))]


def replaced(original: str, edit: Edit) -> list[str]:
    """What stood in the original where the edit marks its claim as wrong."""
    pieces, at = [], 0
    for start, end in edit.spans:
        pieces.append(edit.claim[at:start])
        at = end
    pieces.append(edit.claim[at:])
    pieces[0], pieces[-1] = pieces[0].rstrip(" ,"), pieces[-1].lstrip(" ,")
    found = re.fullmatch("(.*?)".join(map(re.escape, pieces)), original, re.DOTALL)
    assert found, (original, edit)
    return list(found.groups())


@cache
def edits_of(make: Maker) -> list[tuple[str, Edit]]:
    """Edits of all claims over many seeds, each with the claim that it was made of."""
    found = [
        (base.text, make(base.text, Context(document, BANK, base.sources), random.Random(seed)))
        for seed in range(25)
        for document, base in CLAIMS
    ]
    return [(text, edit) for text, edit in found if edit is not None]


@pytest.mark.parametrize(("kind", "make"), [(k, make) for k, _, make in EDITS if k != "condition"])
def test_the_span_is_exactly_what_changed(kind: str, make: Maker) -> None:
    made = 0
    for original, edit in edits_of(make):
        made += 1
        for old, (start, end) in zip(replaced(original, edit), edit.spans, strict=True):
            before, after = words(old), words(edit.claim[start:end])
            assert after, edit
            assert before != after, edit
            only_left_out = len(after) < len(before) and (
                before[: len(after)] == after or before[-len(after) :] == after
            )
            if only_left_out:
                assert len(after) == 1, edit
            else:
                assert before[:1] != after[:1], (original, edit)
                assert before[-1:] != after[-1:], (original, edit)
        assert is_single(original, edit), edit
    assert made, kind


@pytest.mark.parametrize("make", [make for _, _, make in EDITS])
def test_a_span_that_is_a_word_too_wide_is_no_single_edit(make: Maker) -> None:
    widened = 0
    for original, edit in edits_of(make):
        start, end = edit.span
        before = re.search(r"\w+ $", edit.claim[:start])
        if before is None or edit.parts or edit.gap is not None:
            continue
        widened += 1
        assert not is_single(original, replace(edit, span=(before.start(), end))), edit
    assert widened or make in (role, blend, condition)


@pytest.mark.parametrize(
    ("text", "claim", "marked"),
    [
        ("Peter Holm is the mayor of Lindholm.", "Peter Holm is not the mayor of Lindholm.", {"not"}),
        ("Peter Holm was not elected in Sweden.", "Peter Holm was elected in Sweden.", {"was"}),
        ("Maria Lopez won a prize in Denmark.", "Maria Lopez did not win a prize in Denmark.", {"did not win"}),
        ("Maria Lopez won a prize in Denmark.", "Maria Lopez never won a prize in Denmark.", {"never"}),
        ("The villages have a school in the valley.", "The villages do not have a school in the valley.", {"do not"}),
        (
            "The village has a school in the valley.",
            "The village does not have a school in the valley.",
            {"does not have"},
        ),
    ],
)
def test_a_negation_marks_the_words_that_are_new(text: str, claim: str, marked: set[str]) -> None:
    made = [negation(text, Context(DOCUMENTS[1], BANK, ()), random.Random(seed)) for seed in range(8)]
    found = [edit for edit in made if edit is not None and edit.claim == claim]
    assert {edit.claim[start:end] for edit in found for start, end in edit.spans} == marked


def test_an_article_that_changes_with_its_noun_is_marked_with_it() -> None:
    edit = put("comparative", "It saw an increase in trade.", 10, 18, "decrease")
    assert (edit.claim, edit.claim[slice(*edit.span)]) == ("It saw a decrease in trade.", "a decrease")


def test_cause_and_effect_are_marked_and_the_word_between_them_is_not() -> None:
    text = "The mill closed in 1931 because Anna Weiss sold the northern wing."
    made = [cause(text, Context(DOCUMENTS[0], BANK, ()), random.Random(seed)) for seed in range(8)]
    turned = next(edit for edit in made if edit is not None and edit.parts)
    assert turned.claim == "Anna Weiss sold the northern wing because the mill closed in 1931."
    assert [turned.claim[start:end] for start, end in turned.spans] == [
        "Anna Weiss sold the northern wing",
        "the mill closed in 1931",
    ]


@pytest.mark.parametrize(
    ("text", "claim", "verb"),
    [
        (
            "Visitors may swim in the northern lake if a guard is present.",
            "Visitors may swim in the northern lake.",
            "may swim",
        ),
        (
            "The old ferry is cancelled unless ten people have booked a seat.",
            "The old ferry is cancelled.",
            "is cancelled",
        ),
        (
            "If the level falls, the pumps must run through the night.",
            "The pumps must run through the night.",
            "must run",
        ),
        ("The board pays the members only after the audit has ended.", "The board pays the members.", "pays"),
    ],
)
def test_a_dropped_condition_marks_the_verb_that_it_governed(text: str, claim: str, verb: str) -> None:
    edit = condition(text, Context(DOCUMENTS[0], BANK, ()), random.Random(1))
    assert edit is not None
    assert (edit.claim, edit.claim[slice(*edit.span)]) == (claim, verb)
    assert is_single(text, edit)


@pytest.mark.parametrize(
    "text",
    [
        "The mayor met the angry students only after the strike was over.",  # it happened
        "It was revealed the tower would fall if the northern wall was removed.",  # reported
        "The judge said the club must pay the fine unless it appeals in May.",  # reported
        "A group that meets in the hall can rent the kitchen if the hall is free.",  # two verbs
        "The choir meets on Monday and sings in the church if the priest agrees.",  # two verbs
    ],
)
def test_a_condition_is_not_dropped_where_it_is_unclear_what_it_governs(text: str) -> None:
    for seed in range(8):
        assert condition(text, Context(DOCUMENTS[0], BANK, ()), random.Random(seed)) is None


@settings(deadline=None)
@given(st.text(max_size=300), st.sampled_from([make for _, _, make in EDITS]), st.integers(0, 99))
def test_hostile_text_crashes_no_edit(text: str, make: object, seed: int) -> None:
    make(text, Context(DOCUMENTS[0], BANK, ()), random.Random(seed))  # type: ignore[operator]


PARTS = st.sampled_from(
    """0 00 1 12 99th 0th 1st century 25th 0-00-00 2020-13-45 31 May June 0:59 am 9999 1900s 50% of $ £3 million 1,000
    two three the The first Monday Mondays km metres hours about more than unless if because not never can may must
    all most some is was were has had did said by Ann Lee Paris United States US (WHO) He It , . ; before after in
    and""".split()  # noqa: SIM905 reads better as text
)


@settings(deadline=None, max_examples=300)
@given(st.lists(PARTS, min_size=3, max_size=25), st.sampled_from([make for _, _, make in EDITS]), st.integers(0, 99))
def test_any_order_of_words_that_edits_look_for_crashes_none(parts: list[str], make: object, seed: int) -> None:
    text = " ".join(parts) + "."
    edit = make(text, Context(DOCUMENTS[0], BANK, ()), random.Random(seed))  # type: ignore[operator]
    assert edit is None or is_single(text, edit)


@settings(deadline=None, max_examples=200)
@given(st.lists(PARTS, min_size=3, max_size=25), st.integers(0, 99))
def test_any_order_of_words_crashes_no_conversion(parts: list[str], seed: int) -> None:
    text = " ".join(parts) + "."
    for _, _, convert in CONVERSIONS:
        convert(text, DOCUMENTS[0], random.Random(seed))
    for _, _, reshape in SHAPES:
        reshape(text, random.Random(seed))


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=400), st.integers(0, 9))
def test_hostile_evidence_gives_rows_or_none(text: str, seed: int) -> None:
    for row in make_rows([Row("made", (text, TEXTS[0]), "", "supported")], 10, seed):
        for start, end in row.spans:
            assert 0 <= start < end <= len(row.claim)


def test_a_seed_repeats_its_rows_and_another_gives_others() -> None:
    assert make_rows(ROWS, 60, 3) == make_rows(ROWS, 60, 3)
    assert make_rows(ROWS, 60, 3) != make_rows(ROWS, 60, 4)


def test_rows_have_all_labels_and_about_as_many_true_ones_as_asked() -> None:
    rows = make_rows(ROWS, 120, 1)
    assert {row.label for row in rows} >= {"supported", "contradicted", "unsupported", "not_supported"}
    assert 0.35 < sum(row.label == "supported" for row in rows) / len(rows) < 0.5


def test_wrong_rows_name_what_is_wrong_unless_the_whole_claim_is_absent() -> None:
    for row in make_rows(ROWS, 200, 5):
        if row.label == "supported" or row.source == "edit:absent":
            assert not row.spans
        else:
            assert row.spans
            assert all(row.claim[start:end].strip() for start, end in row.spans)


def test_exchanged_names_are_wrong_and_the_words_between_them_are_not() -> None:
    text = "Peter Holm defeated Carl Lund in Sweden."
    edit = role(text, Context(DOCUMENTS[1], BANK, (4,)), random.Random(0))
    assert edit is not None
    assert edit.claim == "Carl Lund defeated Peter Holm in Sweden."
    assert [edit.claim[start:end] for start, end in edit.spans] == ["Carl Lund", "Peter Holm"]


def test_what_an_edit_leaves_at_the_ends_of_its_span_is_not_part_of_it() -> None:
    text = "It cost more than 85 million crowns."
    edit = quantifier(text, Context(DOCUMENTS[0], BANK, (2,)), random.Random(0))
    assert edit is not None
    assert edit.claim[slice(*edit.span)] == "less"


def test_a_value_that_is_only_spaced_in_another_way_is_not_wrong() -> None:
    other = RECORD.replace("92 minutes", "92minutes")
    bank = Bank.of([Document((other,))])
    base = Base("Blue Door's running time is 92 minutes.", "record", (3,))
    assert wrong_value(base.text, Context(Document((RECORD,)), bank, (3,)), random.Random(1)) is None


def test_a_table_whose_head_is_a_row_of_values_is_no_record() -> None:
    assert read_record(["cup", "east | 7 | 19 - 6", "west | 2 | 2 - 2", "north | 1 | 3 - 1"]) is None


def test_few_true_rows_are_dropped_by_the_second_check() -> None:
    made = generate(ROWS, 200, 2)
    assert made.dropped.total() <= 0.05 * len(made.rows)


def test_planted_pairs_differ_within_their_span_alone() -> None:
    found = planted(ROWS, 2, 11)
    assert set(found) == {kind for kind, _, _ in EDITS}
    for kind, pairs in found.items():
        for pair in pairs:
            if kind == "condition":  # where it stood nothing is left to mark
                words = iter(re.findall(r"\w+", pair.twin.claim.lower()))
                assert all(word in words for word in re.findall(r"\w+", pair.wrong.claim.lower()))
                continue
            start, end = pair.wrong.spans[0][0], pair.wrong.spans[-1][1]
            head, tail = pair.wrong.claim[:start].rstrip(" ,"), pair.wrong.claim[end:].lstrip(" ,")
            assert pair.twin.claim.startswith(head)
            assert pair.twin.claim.endswith(tail)
            assert pair.wrong.evidence == pair.twin.evidence


def test_near_copies_of_a_document_give_one_pair_of_a_kind_among_them() -> None:
    copies = [
        Row("made", (f"{BRIDGE} The report was printed in {year}.",), "", "supported") for year in range(1990, 1998)
    ]
    found = planted([*copies, *ROWS[1:]], 8, 3)
    for kind, pairs in found.items():
        copied = [pair for pair in pairs if "Lindholm" in pair.twin.evidence[0] or "Vollmer" in pair.twin.evidence[0]]
        assert len(copied) <= 1, kind
    assert sum(len(pairs) for pairs in found.values()) > len(found) / 2


@pytest.mark.parametrize("text", ["a, ", "A", '"(', "In 1990, ", "1,", "x: y\n", "The A is B. ", "a | b\n", "Aa Bb ("])
@pytest.mark.parametrize("size", [3_000, 19_000, 100_000])
def test_long_hostile_evidence_is_read_or_left_out(text: str, size: int) -> None:
    generate([*ROWS, Row("made", (text * (size // len(text)),), "", "supported")], 20, 1)


def test_true_claims_survive_the_exact_tier() -> None:
    made = generate(ROWS, 300, 8, exact_filter=False)
    wrong = [row for row in made.rows if row.label == "supported" and contradicted(row)]
    assert len(wrong) <= 3, wrong


def test_some_true_claims_deny_something_wrong() -> None:
    made = generate(ROWS, 400, 6)
    denials = [row for row in made.rows if row.source == "edit:true.denial"]
    assert denials
    assert all(re.search(r"\b(?:not|never|cannot)\b", row.claim) and row.label == "supported" for row in denials)
