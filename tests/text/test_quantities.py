"""Quantities: how forms are read, and how two compare."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import assert_linear

from assay.text.quantities.detection import Quantity, Relation, decode_number, find_quantities, relate


def only(text: str, locale: str = "en") -> Quantity:
    found = find_quantities(text, locale=locale)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("claim", "evidence", "relation"),
    [
        ("1,200.00", "1200", Relation.SAME),
        ("5 km", "5,000 m", Relation.SAME),
        ("1 hour", "60 minutes", Relation.SAME),
        ("90 minutes", "an hour, that is 1.5 hours", Relation.SAME),
        ("5 miles", "8 km", Relation.SAME),
        ("25 °C", "77 °F", Relation.SAME),
        ("$35M", "35 million dollars", Relation.SAME),
        ("USD 35 million", "$35m", Relation.SAME),
        ("$35M", "35%", Relation.INCOMPARABLE),
        ("$35M", "EUR 35M", Relation.INCOMPARABLE),
        ("5%", "5 percentage points", Relation.INCOMPARABLE),
        ("half", "50%", Relation.SAME),
        ("a third", "33%", Relation.SAME),
        ("half", "80%", Relation.DIFFERENT),
        ("twenty-five people", "25 people", Relation.SAME),
        ("a dozen eggs", "12 eggs", Relation.SAME),
        ("50 languages", "over 100 languages", Relation.DIFFERENT),
        ("120 languages", "over 100 languages", Relation.COMPATIBLE),
        ("over 100 languages", "120 languages", Relation.SAME),
        ("over 100 languages", "50 languages", Relation.DIFFERENT),
        ("at least 3 days", "5 days", Relation.SAME),
        ("up to 5 GB", "7 GB", Relation.DIFFERENT),
        ("100+ users", "at least 100 users", Relation.SAME),
        ("12 minutes", "10-15 minutes", Relation.COMPATIBLE),
        ("20 minutes", "between 10 and 15 minutes", Relation.DIFFERENT),
        ("10 to 15 minutes", "10–15 minutes", Relation.SAME),
        ("$10-15 million", "$12 million", Relation.SAME),
        ("3.5 million", "3,512,000", Relation.SAME),
        ("3,512,000", "3.5 million", Relation.COMPATIBLE),
        ("about 100 people", "98 people", Relation.SAME),
        ("48 people", "50 people", Relation.DIFFERENT),
        ("at most 5 users", "at least 6 users", Relation.DIFFERENT),
        ("12 months", "1 year", Relation.SAME),
        ("4 weeks", "1 month", Relation.COMPATIBLE),
        ("7 days", "1 week", Relation.SAME),
        ("100 km/h", "100 km per hour", Relation.SAME),
        ("tripled", "threefold", Relation.SAME),
        ("the 3rd floor", "the third floor", Relation.SAME),
        ("2 1/2 hours", "2.5 hours", Relation.SAME),
        ("3½ km", "3.5 km", Relation.SAME),
        ("1 MB", "1000 kB", Relation.SAME),
        ("-5 degrees Celsius", "5 degrees Celsius", Relation.DIFFERENT),
    ],
)
def test_two_quantities_stand_in_the_right_relation(claim: str, evidence: str, relation: Relation) -> None:
    assert relate(find_quantities(claim)[-1], find_quantities(evidence)[-1]) is relation


@pytest.mark.parametrize(
    ("raw", "locale", "value"),
    [
        ("1,200", "en", "1200"),
        ("1.200", "de", "1200"),
        ("1.200,00", "en", "1200.00"),
        ("1,200.00", "de", "1200.00"),
        ("1.200", "en", "1.200"),
        ("1,200", "de", "1.200"),
        ("12,34,567", "en", "1234567"),
        ("1'200'000", "en", "1200000"),
        ("1\u202f200", "fr", "1200"),
        ("3,5", "de", "3.5"),
        ("0.001", "de", "0.001"),
    ],
)
def test_a_number_is_read_as_its_locale_or_its_form_says(raw: str, locale: str, value: str) -> None:
    decoded = decode_number(raw, locale)
    assert decoded is not None
    assert decoded[0] == Decimal(value)


@pytest.mark.parametrize("raw", ["4.2.1", "1,2,3", "192.168.0.1", "1.2,3.4", "9" * 60])
def test_what_is_no_number_is_not_read_as_one(raw: str) -> None:
    assert decode_number(raw) is None


def _grouped(whole: int, mark: str) -> str:
    return f"{whole:,}".replace(",", mark)


@given(
    whole=st.integers(0, 10**12),
    decimals=st.none() | st.integers(0, 99),
    form=st.sampled_from(
        [("en", ",", "."), ("de", ".", ","), ("fr", "\u202f", ","), ("de-CH", "'", "."), ("en", "", ".")]
    ),
)
def test_a_rendered_number_is_read_back_in_every_locale_form(
    whole: int, decimals: int | None, form: tuple[str, str, str]
) -> None:
    locale, group, mark = form
    text = _grouped(whole, group) if group else str(whole)
    expected = Decimal(whole)
    if decimals is not None:
        text += f"{mark}{decimals:02d}"
        expected += Decimal(decimals) / 100
    found = only(f"The sum is {text} kg today.", locale)
    assert found.value == expected
    assert f"The sum is {text} kg today."[found.number_start : found.number_end] == text


@given(st.text(max_size=300))
def test_spans_slice_back_and_do_not_overlap_in_any_unicode(text: str) -> None:
    last = 0
    for found in find_quantities(text):
        assert last <= found.start <= found.number_start < found.number_end <= found.end <= len(text)
        last = found.end


def test_a_range_span_covers_both_ends() -> None:
    text = "It takes between 10 and 15 minutes."
    found = only(text)
    assert text[found.number_start : found.number_end] == "10 and 15"
    assert [found.low, found.high] == [Decimal(600), Decimal(900)]


def test_from_to_is_a_change_and_no_range() -> None:
    assert [q.value for q in find_quantities("It grew from 20 to 60 users.")] == [20, 60]


@pytest.mark.parametrize(
    "piece", ["1,", "1.", "1 ", "1-", "twenty ", "over ", "$", "1/", "½", "1e", "a hundred ", "10-", "5 per ", "1'"]
)
def test_adversarial_text_is_read_in_linear_time(piece: str) -> None:
    assert_linear(lambda text: lambda: find_quantities(text), piece, size=5_000)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("It has 3 rooms.", 3, 3),
        ("It has 1 ½ rooms.", "1.5", "1.5"),
        ("It has 1 1/2 rooms.", "1.5", "1.5"),
        ("It has 3/4 rooms.", "0.75", "0.75"),
        ("It has 3 x 10^5 rooms.", 300_000, 300_000),
        ("It has 3e5 rooms.", 300_000, 300_000),
        ("It has 3 × 10^5 rooms.", 300_000, 300_000),
        ("It has 5 or more rooms.", 5, None),
        ("It has 5, or fewer, rooms.", None, 5),
        ("It has 5+ rooms.", 5, None),
        ("It has 5 At Most.", None, 5),
        ("It has 5 maximum.", None, 5),
        ("It has 5 at the least.", 5, None),
        ("It has 5 and older rooms.", 5, None),
        ("It fell by -5 points.", -5, -5),
        ("It cost $ 5 then.", 5, 5),
        ("It cost USD 5 then.", 5, 5),
        ("It opens on Day 5.", 432_000, 432_000),
        ("It has .5 rooms.", "0.5", "0.5"),
    ],
)
def test_what_stands_right_after_a_number_or_before_it_is_read_with_it(
    text: str, low: str | int | None, high: str | int | None
) -> None:
    found = find_quantities(text)[0]
    assert found.low == (None if low is None else Decimal(low))
    assert found.high == (None if high is None else Decimal(high))


@pytest.mark.parametrize(
    ("text", "low", "dimension"),
    [
        ("It rose from 10 to 30 million.", 10_000_000, "count"),
        ("It rose from two to three million.", 2_000_000, "count"),
        ("It fell from $20 to $10 million.", 20_000_000, "money:USD"),
        ("It rose from 2 to about 3 million euros.", 2_000_000, "money:EUR"),
        ("It rose from 10 to 30%.", Decimal("0.1"), "share"),
        ("It grew from 1.5 to 2.5 kg.", 1500, "mass"),
        ("It rose from 10 thousand to 30 million.", 10_000, "count"),
        ("It rose from 900 to 1.2 million.", 900, "count"),
        ("It rose from 500,000 to 1 million.", 500_000, "count"),
        ("It went from 5 people to 7 weeks.", 5, "count"),
        ("It went from 2 million to 3 million.", 2_000_000, "count"),
    ],
)
def test_a_scale_and_a_unit_that_are_written_once_are_those_of_both(text: str, low: object, dimension: str) -> None:
    first, _ = find_quantities(text)
    assert (first.low, first.high, first.dimension) == (low, low, dimension)
