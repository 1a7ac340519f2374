"""Values as people and data sheets write them, read from the text and compared in a check."""

import pytest
from tests.growth import assert_linear

from assay.schema import Evidence
from assay.text.dates import find_dates
from assay.text.quantities import find_duration, find_quantities
from assay.text.quantities.detection import Quantity, Relation, relate
from assay.verify.exact import ExactFinding, check_exact, index_evidence


def against(claim: str, evidence: str) -> list[ExactFinding]:
    """The findings that a claim is wrong, those that a number of it is nowhere among them."""
    found = check_exact(claim, index_evidence([Evidence(id="e", text=evidence)])).findings
    return [one for one in found if one.effect in {"contradicts", "missing"}]


def first(text: str) -> Quantity:
    return find_quantities(text, skip=[(date.start, date.end) for date in find_dates(text)])[0]


def years(text: str) -> list[int]:
    return [date.year for date in find_dates(text) if date.year is not None]


RIGHT = [
    ("The net weight is 1,500 kg.", "Net weight: 1500 kg, gross weight: 2500 kg"),
    ("The price is €1,999.", "Price: 1999 EUR, deposit: 500 EUR"),
    ("The power is 2 kW.", "The oven has a power of 2000 W and a volume of 20 l; the grill has 800 W."),
    ("The membership costs €50.", "The membership costs €50 per month."),
    ("The rent is €50 per month.", "The rent is 50 euros per month."),
    ("Revenue was $35 million.", "Revenue was $35 million, up from $30 million a year earlier."),
    ("The flight takes 11h 40m.", "Flight time: 11 hours and 40 minutes"),
    ("The job ran for 5m 20s.", "The job ran for 5 minutes and 20 seconds."),
    ("The hike takes 2h30.", "The hike takes 2 hours and 30 minutes."),
    ("The hike takes 2h30m.", "The hike takes 2 hours and 30 minutes."),
    ("The shop opens at 9h30.", "Opening: 9h30"),
    ("The office is open from 9 to 5.", "The office is open from 9:00 to 17:00."),
    ("We work from 9 to 5.", "We work from 9 am to 5 pm."),
    ("The shop is open from ten to six.", "The shop is open from 10:00 to 18:00."),
    ("The number of stops fell to 5.", "The number of stops fell from 9 to 5."),
    ("Der Preis beträgt 1 250 €.", "Der Preis beträgt 1250 €."),
    ("The price is 12 500 euros.", "The price is 12,500 euros."),
    ("The budget is 350 million euros.", "Budget: 350 Mio. €"),
    ("The temperature was -5 °C.", "The temperature was minus 5 °C."),
    ("The profit was -$3.2 million.", "The profit was minus $3.2 million."),
    ("More than 9 in 10 customers are satisfied.", "92% of customers are satisfied."),
    ("Two out of three users prefer it.", "67% of users prefer it."),
    ("Two out of three users prefer it.", "Of the 3 users, 2 prefer it, and 27% of the others."),
]

WRONG = [
    ("The weight is 1800 kg.", "Weight: 1500 kg"),
    ("The laptop costs $1,499.", "The laptop costs 1999 USD."),
    ("The power is 20 kW.", "Power: 2000 W"),
    ("The rent is 1,350 euros per month.", "Rent: 1850 EUR per month"),
    ("The rent is €50 per month.", "The rent is 60 euros per month."),
    ("The membership costs $15 per month.", "The membership costs 25 USD/month."),
    ("The Pro plan costs $29 per year.", "The Pro plan costs $29/mo."),
    ("The flight takes 11h 50m.", "Flight time: 11 hours and 40 minutes"),
    ("The office is open from 9 to 6.", "The office is open from 9:00 to 17:00."),
    ("The price is 500 euros.", "The price is 12 500 euros."),
    ("Fewer than 9 in 10 customers are satisfied.", "92% of customers are satisfied."),
    ("Two out of three users prefer it.", "27% of users prefer it."),
    ("The temperature was 5 °C.", "The temperature was minus 5 °C."),
    ("The low was 5 degrees Celsius.", "The low was 5 degrees Celsius below zero."),
    ("The budget is 350 million dollars.", "The budget is 350 Mio. €."),
]


@pytest.mark.parametrize(("claim", "evidence"), RIGHT)
def test_a_value_that_the_evidence_writes_otherwise_is_not_called_wrong(claim: str, evidence: str) -> None:
    assert against(claim, evidence) == []


@pytest.mark.parametrize(("claim", "evidence"), WRONG)
def test_another_value_is_called_wrong(claim: str, evidence: str) -> None:
    assert against(claim, evidence)


@pytest.mark.parametrize(
    "text",
    [
        "Weight: 1500 kg",
        "a payment of 1500 euro.",
        "weighs 1500 to 2000 kg",
        "between 1500 and 2000 kg",
        "Price: 1500-2000 EUR",
        "Preis: 1999 Euro",
        "a total of 1800 US dollars",
        "the 1500 m race",
        "of 2000 °C",
        "| 1999 € | 2001 USD |",
        "of 1200 million euros",
    ],
)
def test_a_number_with_a_unit_is_no_year(text: str) -> None:
    assert years(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "In 2019 EUR 5 million was paid",
        "In 2019 $5 million was paid",
        "in 2019 sales rose",
        "in 2010 dollars",
        "In 1990 K. Smith moved",
        "the 2019 second quarter",
        "Results: 2019 second quarter",
        "the class of 1995 won the cup",
        "the 2012 GB team",
        "Summer 2012 Times article",
        "In 2020 us exports fell",
        "ab der Saison 2027 um 10 % teurer",
        "the 2010 minute book",
        "Founded: 1950\nm",
    ],
)
def test_a_year_stays_one_before_a_word_that_may_also_be_a_unit(text: str) -> None:
    assert len(years(text)) == 1


@pytest.mark.parametrize(
    ("claim", "evidence", "relation"),
    [
        ("$50", "$50 per month", Relation.SAME),
        ("$50 per month", "$50", Relation.COMPATIBLE),
        ("$29/mo", "$29 per year", Relation.DIFFERENT),
        ("$29/mo", "$348 per year", Relation.SAME),
        ("50 euros", "60 euros per month", Relation.DIFFERENT),
        ("$348", "$29 per month", Relation.INCOMPARABLE),
        ("80 euros", "560 euros a week", Relation.INCOMPARABLE),
        ("$5 per kg", "$6 per hour", Relation.INCOMPARABLE),
        ("$25 an hour", "$20 to $30 per hour", Relation.COMPATIBLE),
    ],
)
def test_an_amount_and_one_for_a_period_compare_as_prices(claim: str, evidence: str, relation: Relation) -> None:
    assert relate(first(claim), first(evidence)) is relation


@pytest.mark.parametrize("text", ["5 mo", "$5 a second time", "$3 million a year ago", "$50 a month after tax"])
def test_what_is_no_period_of_a_price_is_not_read_as_one(text: str) -> None:
    assert (first(text).per, "/" in first(text).dimension) == (None, False)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1 250,50 €", ["1250.50"]),
        ("costs € 1 250", ["1250"]),
        ("USD 12 500", ["12500"]),
        ("1 500 kg of sand", ["1", "500"]),
        ("the Pixel 8 799 €", ["8", "799"]),
        ("2 500 ml bottles", ["2", "500"]),
        ("take 1 500 mg tablet", ["1", "500"]),
        ("about 12 500 people", ["12", "500"]),
        ("minus five degrees", ["-5"]),
        ("10 minus 5", ["10", "5"]),
        ("the price minus 5 euros", ["5"]),
        ("plus or minus 5", ["5"]),
        ("deposit 900, minus 160 for faded paint", ["900", "160"]),
        ("the bars 9 and 21 400 kg", ["9", "21", "400"]),
        ("about 2,000 tokens a second alone", ["2000"]),
        ("5 million. Euros", ["5000000"]),
    ],
)
def test_the_numbers_of_a_text_are_read_whole_and_apart(text: str, values: list[str]) -> None:
    assert [str(quantity.value) for quantity in find_quantities(text)] == values


@pytest.mark.parametrize(
    ("text", "start"), [("at 9h30", 3), ("17h30", 0), ("9h00", 0), ("Il ouvre à 9h30.", 11), ("9h30-17h30", 0)]
)
def test_what_may_be_a_time_of_day_is_no_duration(text: str, start: int) -> None:
    assert find_duration(text, start) is None


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("from 9 to 5 on weekdays", [540, 300]),
        ("from 9 to 5 pm", [540, 1020]),
        ("from ten to six in the evening", [600, 1080]),
        ("between 9 and 5", [540, 300]),
        ("at ten to six", [350]),
        ("at 10 minutes to 6", [350]),
        ("at 10 to 6", [350]),
        ("from 9 to 5 people", []),
        ("fell from 9 to 5", []),
        ("goes from two to one", []),
        ("from 2 to 4 days", []),
    ],
)
def test_from_one_hour_to_another_are_two_times(text: str, minutes: list[int]) -> None:
    assert [date.minute for date in find_dates(text)] == minutes


@pytest.mark.parametrize("piece", ["one ", "from nine to five ", "1 500 kg ", "1500 to "])
def test_reading_takes_time_in_proportion_to_the_text(piece: str) -> None:
    assert_linear(lambda text: lambda: find_quantities(text, skip=[(d.start, d.end) for d in find_dates(text)]), piece)


def test_a_finding_on_an_amount_names_what_it_is_for() -> None:
    claim = "The Pro plan costs $29 per year."
    (found,) = against(claim, "The Pro plan costs $29 per month.")
    assert "'$29 per year'" in found.message
    assert "'$29 per month'" in found.message
    assert claim[found.claim_start : found.claim_end].strip() == "per year"


@pytest.mark.parametrize(
    "unit", ["second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "kilogram", "mile"]
)
def test_an_amount_for_a_period_is_the_same_with_its_sign_as_in_words(unit: str) -> None:
    for amount in range(1, 101):
        sign, words = first(f"It costs ${amount} a {unit}."), first(f"It costs {amount} dollars per {unit}.")
        cents = first(f"It costs {amount * 100} cents per {unit}.")
        assert (relate(sign, words), relate(words, sign)) == (Relation.SAME, Relation.SAME), amount
        assert (relate(sign, cents), relate(cents, sign)) == (Relation.SAME, Relation.SAME), amount
        assert relate(sign, first(f"It costs {amount + 1} dollars per {unit}.")) is Relation.DIFFERENT, amount


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("On day 3 200 mg was given.", "On day 3, 200 mg was given."),
        ("200 mg is given in week 2.", "In week 2 200 mg is given."),
        ("The swimmer in lane 4 swims 200 m.", "Lane 4 200 m"),
        ("He paid with two 500 euro notes.", "He paid with 2 500 euro notes."),
        ("200 people can attend for $10.", "For $10 200 people can attend."),
        ("The Pixel 8 costs 799 €.", "Pixel 8 799 €\nPixel 9 899 €"),
        ("The PlayStation 5 costs 499 €.", "PlayStation 5 499 €"),
        ("Room 12 costs 120 €.", "Room 12 120 €"),
        ("In week 2, 500 euros were paid.", "In week 2 500 euros were paid."),
        ("Around 12 500 euros were paid.", "Around 12,500 euros were paid."),
        ("It costs 12 500 euros altogether.", "It costs 12,500 euros altogether."),
        ("You get that minus 5 euros.", "You get that less 5 euros."),
        ("The track is 5 m and takes 20 s.", "Track: 5 m 20 s"),
        ("It costs $35 an hour.", "It costs 35 dollars per hour."),
    ],
)
def test_numbers_side_by_side_are_not_called_wrong(claim: str, evidence: str) -> None:
    assert against(claim, evidence) == []
    assert against(evidence, claim) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("For $10 200 people can attend.", ["10", "200"]),
        ("It costs $12 500 in total.", ["12500"]),
        ("2 500 € notes", ["2", "500"]),
        ("the iPhone 15 799 €", ["15", "799"]),
        ("You get that minus 5 euros.", ["5"]),
        ("all minus 5 euros", ["5"]),
        ("it fell to minus 5 euros", ["-5"]),
        ("a loss of minus 5 euros", ["-5"]),
    ],
)
def test_numbers_of_money_are_read_whole_and_apart(text: str, values: list[str]) -> None:
    assert [str(quantity.value) for quantity in find_quantities(text)] == values


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("5 m 20 s", ["m", "s"]),
        ("5m 20 s", ["m", "s"]),
        ("5 m 20s", ["m", "s"]),
        ("5m 20s", ["s"]),
        ("2 h 5 m", ["h", "m"]),
        ("2 hours 5m", ["min"]),
    ],
)
def test_a_letter_is_minutes_only_right_behind_its_digits(text: str, units: list[str]) -> None:
    assert [quantity.unit for quantity in find_quantities(text)] == units
