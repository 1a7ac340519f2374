"""Sums, units, dates and orders: what is wrong is found, and nothing else is said."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.text.quantities import find_quantities
from assay.verify.arithmetic.calculations import calculation_findings
from assay.verify.arithmetic.derivations import derive
from assay.verify.logic import LogicFinding, audit_logic
from assay.verify.logic.chronology.ordering import comparison_findings, date_findings, order_findings


def recomputed(text: str) -> list[LogicFinding]:
    return list(audit_logic(text).findings)


WRONG = [
    ("Four crates of 12 are 4 × 12 = 46 bottles.", "46 bottles", "logic.arithmetic"),
    ("12 plus 30 is 43.", "43", "logic.arithmetic"),
    ("15% of 200 is 35.", "35", "logic.arithmetic"),
    ("(3 + 4) * 2 = 15", "15", "logic.arithmetic"),
    ("10 / 3 = 3.5", "3.5", "logic.arithmetic"),
    ("Then $12 + 30 = $45.", "$45", "logic.arithmetic"),
    ("25 / 100 = 35%", "35%", "logic.arithmetic"),
    ("7 × 8 = 56, and 56 + 4 = 61.", "61", "logic.arithmetic"),
    ("5 km = 4.1 miles", "4.1 miles", "logic.unit"),
    ("A loop of 5 km (6 miles) follows the river.", "6 miles", "logic.unit"),
    ("The load is 5 kg + 3 m = 8.", "5 kg + 3 m", "logic.unit"),
    ("The fee is $100 + €50 = $150.", "$100 + €50", "logic.unit"),
    ("The price rose from 10 to 20, a 50% increase.", "50", "logic.arithmetic"),
    ("Revenue doubled from 10 to 30 million.", "doubled", "logic.arithmetic"),
    ("It fell from $20 to $10 million, a drop of 40%.", "40", "logic.arithmetic"),
    ("3 boxes at 4 euros each cost 13 euros.", "13 euros", "logic.arithmetic"),
    ("He bought 5 tickets at $12 each, which comes to $70.", "$70", "logic.arithmetic"),
    ("We sold 40 of 200 seats, which is 25%.", "25%", "logic.arithmetic"),
    ("The loop is 10 km, which is 8 miles.", "8 miles", "logic.unit"),
    ("It takes 90 minutes, that is 3 hours.", "3 hours", "logic.unit"),
    ("The bridge is 2 km long, which is 2500 m.", "2500 m", "logic.unit"),
    ("The mast is 30 m high, which makes 150 feet.", "150 feet", "logic.unit"),
    ("The ticket costs $100. With 20% off it costs $85.", "$85", "logic.arithmetic"),
    ("Lunch is 40 euros. But with a 10% tip, the total comes to 46 euros.", "46 euros", "logic.arithmetic"),
    ("A pass is $60. After a 25% discount it is $40.", "$40", "logic.arithmetic"),
    ("The board met on Monday, 5 March 2024.", "Monday, 5 March 2024", "logic.date"),
    ("The board met on Wednesday, March 5, 2024.", "Wednesday, March 5, 2024", "logic.date"),
    ("It ran from 2010 to 2015, for seven years.", "seven years", "logic.date"),
    ("30 days after 1 March 2024 is 30 April 2024.", "30 April 2024", "logic.date"),
    ("He was born in 1950 and died in 2001 aged 45.", "45", "logic.date"),
    ("It ran from March 2020 to January 2020.", "March 2020 to January 2020", "logic.order"),
    ("He was born in 1950 and died in 1940.", "1940", "logic.order"),
    ("Note that 9.11 is greater than 9.9.", "9.11 is greater than 9.9", "logic.order"),
    ("So 5 km is longer than 6000 m.", "5 km is longer than 6000 m", "logic.order"),
]

RIGHT = [
    "Four crates of 12 are 4 × 12 = 48 bottles.",
    "15% of 200 is 30.",
    "The total is (3 + 4) * 2 = 14.",
    "10 / 3 = 3.33",
    "10 / 3 = 3",
    "5 km = 3.1 miles",
    "1 mile = 1.6 km",
    "2 hours = 120 minutes",
    "3 million + 2 million = 5 million",
    "2y + 3 = 7",
    "y + 3 = 7",
    "2^3 = 8",
    "5! = 120",
    "f(3) = 9",
    "8-10 = 3 points",
    "Sections 3-5 are 12 pages.",
    "The area is 3 m × 4 m = 12 m2.",
    "60 km / 2 h = 30 km/h",
    "12 apples + 3 pears = 15 fruits",
    "0.33 × 300 = 100",
    "The score was 3-1 and is 2 up.",
    "12 in the north and 15 in the south, 27 in total.",
    "5 km (3.1 miles)",
    "The board met on Tuesday, 5 March 2024.",
    "It ran from 2010 to 2015, for five years.",
    "Revenue tripled from 10 to 30 million.",
    "Sales grew by 50%, from 2 to 3 million euros.",
    "It rose from 100 to 2 million over 20 years.",
    "3 boxes at 4 euros each cost 12 euros.",
    "3 boxes at 4 euros each cost 2 euros to ship.",
    "We sold 40 of 200 seats, which is 20%.",
    "We sold 41 of 200 seats, which is about 20%.",
    "1 of 3 offices, which is 33%.",
    "The loop is 10 km, which is 6 miles.",
    "The bridge is 2 km long, which is 2000 m.",
    "The wall is 2 m high, which is 50 cm more than the old one.",
    "The hall is 20 m wide, which is 4 m less than planned.",
    "The mast is 30 m high, which makes 98 feet.",
    "The ticket costs $100. With 20% off it costs $80.",
    "The ticket costs $100. With 20% off it costs $85 with shipping.",
    "Tickets are $100 each. With 20% off it costs $85.",
    "Adults pay $100, children $50. With 20% off it costs $85.",
    "The ticket costs $100. With 20% of the seats sold, it costs $85.",
    "It costs $100. With 20 more it costs $85.",
    "The ticket costs $100.\n\n```\nWith 20% off it costs $85.\n```",
    "It takes 90 minutes, or 2 hours on Sundays.",
    "It takes 3 months, that is 90 days.",
    "He moved from 5 to 3 rooms.",
    "30 days after 1 March 2024 is 31 March 2024.",
    "It lasted from 1 May 2020 to 5 May 2020 (4 days).",
    "He was born on 3 May 1950 and died on 2 May 2001 at the age of 50.",
    "3 apples are more than 2 pears.",
    "Born in 1950, she worked at 9 am.",
    "12% is higher than 8%.",
    "0.03 < 0.05",
    "Call 555-1234 = the desk.",
    "Between 1914 and 1918, lasting four years, it raged.",
    "The 1990 film is longer than the 1995 one.",
    "Ada is taller than Ben. Ben is shorter than Ada. Ben is taller than Cleo.",
]


@pytest.mark.parametrize(("text", "words", "code"), WRONG)
def test_a_wrong_step_is_found_at_its_place(text: str, words: str, code: str) -> None:
    found = recomputed(text)
    assert [(f.code, text[f.span.start : f.span.end]) for f in found] == [(code, words)]


@pytest.mark.parametrize("text", RIGHT)
def test_what_holds_or_cannot_be_told_is_left_alone(text: str) -> None:
    assert recomputed(text) == []


def test_the_message_says_what_it_should_be() -> None:
    assert recomputed("9 × 9 = 80")[0].message == "The text says 9 × 9 = 80; 9 × 9 is 81."
    assert "the age is 50 or 51" in recomputed("Born in 1950, he died in 2001 aged 45.")[0].message


def test_stated_orders_that_run_in_a_circle_are_found() -> None:
    text = "Ada is taller than Ben. Ben is taller than Cleo. Cleo is taller than Ada."
    found = order_findings(text)
    assert [text[f.span.start : f.span.end] for f in found] == ["Cleo is taller than Ada"]
    assert [text[s.start : s.end] for s in found[0].others] == ["Ada is taller than Ben", "Ben is taller than Cleo"]
    assert order_findings("The Bridge was built before the Tower. The Tower was built before the Bridge.")
    assert order_findings("Ada is taller than Ben. Ada is shorter than Ben.")


@given(first=st.integers(0, 9999), second=st.integers(1, 9999), off=st.integers(1, 99), sign=st.sampled_from("+×−"))
def test_whole_numbers_are_recomputed_exactly(first: int, second: int, off: int, sign: str) -> None:
    value = {"+": first + second, "×": first * second, "−": first - second}[sign]
    if value < 0:
        return
    right, wrong = (f"Here {first} {sign} {second} = {result}." for result in (value, value + off))
    assert calculation_findings(right, 0, len(right)) == []
    assert len(calculation_findings(wrong, 0, len(wrong))) == 1


@settings(max_examples=40)
@given(text=st.text(max_size=200))
def test_any_text_is_survived_and_places_lie_in_it(text: str) -> None:
    for finding in recomputed(text):
        assert 0 <= finding.span.start <= finding.span.end <= len(text)


HOSTILE = (
    "1 + ",
    "(",
    "1 = ",
    "1 - (",
    "from 2010 to 2005 ",
    "Aa is taller than ",
    "A B C D ",
    "5 % of ",
    "1,",
    "$",
    "born in 1950 ",
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hundred_thousand_hostile_characters_are_read_through(piece: str) -> None:
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    calculation_findings(text, 0, len(text))
    comparison_findings(text, 0, len(text))
    date_findings(text, 0, len(text))
    order_findings(text)


HUGE = "9" * 30


@pytest.mark.parametrize(
    "text",
    [
        f"The average of {HUGE}, {HUGE} and 3 is 25.",
        f"The sum of {HUGE} m, {HUGE} m and 3 m is 25 m.",
        f"3 boxes at {HUGE} euros each cost 13 euros.",
        f"${HUGE} less 20% is $85.",
        f"From 0.0001 to {HUGE} euros it rose by 5%.",
        "The average of 10 °C, 20 °C and 30 °C is -273.15 °C.",
    ],
)
def test_a_figure_of_any_size_is_computed_with(text: str) -> None:
    assert recomputed(text) != []


def test_a_figure_of_any_size_may_follow_from_the_evidence() -> None:
    price, people, sum_ = find_quantities(f"{HUGE} euros and 3 persons and 2{HUGE} euros")
    assert derive(sum_, [price], frozenset({"total"}), own=[people]) is not None
