"""Statements as people write them, compared by the exact tier: prices, changes, units, quotations, tables."""

import pytest

from assay.schema import Evidence
from assay.text.quantities import find_quantities
from assay.verify.exact import check_exact, index_evidence
from assay.verify.exact.findings import ExactResult

DISCOUNT = "The course costs 100 euros, with a 20% discount for members."
LIST_PRICE = "The list price is $100; members get 5% off."
DOUBLED = "Revenue rose from $2 million to $4 million."
FEWER = "Sales were 100 units in 2022 and 85 units in 2023."


def checked(claim: str, *texts: str) -> ExactResult:
    index = index_evidence([Evidence(id=f"e{n}", text=text) for n, text in enumerate(texts)])
    return check_exact(claim, index)


def surely_contradicted(claim: str, *texts: str) -> bool:
    return checked(claim, *texts).signals["strongest_contradiction"] >= 0.5


def assert_derived(claim: str, evidence: str) -> None:
    result = checked(claim, evidence)
    assert "number.derived" in [f.code for f in result.findings]
    assert not [f for f in result.findings if f.effect == "contradicts"]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Members pay $95.", LIST_PRICE),
        ("Members pay 80 euros.", DISCOUNT),
        ("The course costs 80 euros for members.", DISCOUNT),
        ("Members pay $95.", "For members, the list price of $100 is reduced by 5%."),
        ("The price with the tax is 238 euros.", "A tax of 19% is added to the price of 200 euros."),
        ("It costs $95 for members.", LIST_PRICE),
    ],
)
def test_a_price_after_a_discount_in_the_same_sentence_follows(claim: str, evidence: str) -> None:
    assert_derived(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Members pay 70 euros.", DISCOUNT),
        ("Members pay 120 euros.", DISCOUNT),
        ("Members pay $105.", LIST_PRICE),
        ("The list price is $95.", LIST_PRICE),
        ("The course costs 150 euros.", "The course costs 100 euros and the book 50 euros."),
    ],
)
def test_a_price_that_the_discount_does_not_give_is_contradicted(claim: str, evidence: str) -> None:
    assert surely_contradicted(claim, evidence)


def test_a_quarter_of_a_year_is_no_share_of_a_notice() -> None:
    contract = "Either party may terminate with three months' notice to the end of a quarter."
    assert surely_contradicted("You can terminate with one month's notice.", contract)


def test_the_discount_of_others_gives_no_price() -> None:
    result = checked("Students pay 80 euros.", "The course costs 100 euros; teachers pay 20% less.")
    assert "number.derived" not in [f.code for f in result.findings]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Revenue rose 100%.", DOUBLED),
        ("Revenue fell by 50%.", "Revenue fell from $4 million to $2 million."),
        ("Sales fell by 15 units.", FEWER),
        ("Sales fell by 15%.", FEWER),
        ("Sales fell by 15%.", "Sales were 85 units in 2023, compared with 100 units in 2022."),
        ("Sales fell by 15 units.", "Sales are 85 units now, down from 100 units a year ago."),
        ("Sales grew by 15 units.", "Sales are 100 units this year and were 85 units last year."),
        ("There was a 15% drop in sales.", FEWER),
        ("Costs fell by 20%.", "Costs of 80 euros are planned for next year; this year they are 100 euros."),
    ],
)
def test_a_change_in_the_direction_of_its_numbers_follows(claim: str, evidence: str) -> None:
    assert_derived(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Revenue rose 50%.", DOUBLED),
        ("Revenue rose by 60%.", DOUBLED),
        ("Revenue fell by 100%.", "Revenue fell from $4 million to $2 million."),
        ("Sales grew by 15%.", FEWER),
        ("Sales grew by 15 units.", FEWER),
        ("Sales grew by 15 units.", "Sales were 85 units in 2023, compared with 100 units in 2022."),
    ],
)
def test_a_change_against_the_direction_of_its_numbers_is_contradicted(claim: str, evidence: str) -> None:
    assert surely_contradicted(claim, evidence)


def test_nothing_is_derived_where_only_the_opposite_change_fits() -> None:
    result = checked("Sales grew by 15%.", "The shop sold 100 units in 2022 and 85 units in 2023.")
    assert "number.derived" not in [f.code for f in result.findings]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Revenue rose to $4 million.", DOUBLED),
        ("Revenue rose from $2 million.", DOUBLED),
        ("Revenue of $4 million is a rise.", DOUBLED),
        ("Revenue rose by 30% in the north.", DOUBLED),
        ("Revenue did not rise by 50%.", DOUBLED),
        ("Sales fell by 20 units.", "Sales came to 80 units, whereas the record was 100 units."),
        ("In 2021 sales grew by 15 units.", FEWER),
    ],
)
def test_a_number_that_is_no_change_between_the_two_is_not_recomputed(claim: str, evidence: str) -> None:
    assert not [f for f in checked(claim, evidence).findings if "by the evidence it is" in f.message]


CENTS = '{"sku": "X", "price_cents": 4500}'
TIMEOUT = '{"timeout_s": 90}'


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The price is $45.00.", CENTS),
        ("The price is €45.", CENTS),
        ("The price is 4500 cents.", CENTS),
        ("The order total is $45.00.", '{"total_cents": 4500, "currency": "USD"}'),
        ("The price is €45.", '{"price_cents": 4500, "currency": "EUR"}'),
        ("The monthly price is $12.99.", '{"monthly_price_cents": 1299}'),
        ("The timeout is 90 seconds.", TIMEOUT),
        ("The timeout is 1.5 minutes.", TIMEOUT),
        ("The timeout is 90.", TIMEOUT),
        ("The distance to the lake is 350 m.", '{"distance_to_lake_m": 350}'),
        ("The temperature is 21 degrees.", '{"temperature_c": 21}'),
    ],
)
def test_a_value_in_the_unit_of_its_key_is_not_contradicted(claim: str, evidence: str) -> None:
    assert not [f for f in checked(claim, evidence).findings if f.effect == "contradicts"]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The price is $4,500.", CENTS),
        ("The price is €4500.", CENTS),
        ("The price is $45.", '{"price_cents": 4500, "currency": "EUR"}'),
        ("The plan costs $1,299 per month.", '{"monthly_price_cents": 1299}'),
        ("The timeout is 90 minutes.", TIMEOUT),
        ("The timeout is 90 ms.", TIMEOUT),
        ("The lake is 350 km from the hotel.", '{"distance_to_lake_m": 350}'),
        ("The lake is 12 miles away.", '{"distance_to_lake_km": 12}'),
        ("The distance to the lake is 12 miles.", '{"distance_to_lake_km": 12}'),
    ],
)
def test_the_digits_of_a_value_in_another_unit_than_its_key_are_contradicted(claim: str, evidence: str) -> None:
    assert surely_contradicted(claim, evidence)


@pytest.mark.parametrize("claim", ["Group A has 12 seats.", "Group B has 30 seats."])
def test_a_label_at_the_end_of_a_key_is_no_unit(claim: str) -> None:
    assert not checked(claim, '{"seats_group_A": 12, "seats_group_B": 30}').findings


REFUNDS = "Refunds are granted within 14 days of purchase. The receipt is needed. They are paid in cash or by card."


@pytest.mark.parametrize(
    "quote",
    [
        "[r]efunds are granted within 14 days",
        "refunds are granted … of purchase",
        "Refunds are granted [...] of purchase",
        "refunds are granted ... paid in cash",
        "[t]hey are paid … by card",
    ],
)
def test_a_quotation_with_marked_changes_is_in_the_evidence(quote: str) -> None:
    result = checked(f"The policy says “{quote}”.", REFUNDS)
    assert result.signals["quotes_found"] == 1
    assert not [f for f in result.findings if f.code.startswith("quote.")]


@pytest.mark.parametrize(
    "quote",
    [
        "refunds are granted … after delivery",
        "of purchase … refunds are granted",
        "[r]efunds are granted within 40 days",
        "refunds are granted within … 14 days of delivery",
    ],
)
def test_a_quotation_that_changes_more_than_it_marks_is_reported(quote: str) -> None:
    assert [f for f in checked(f"The policy says “{quote}”.", REFUNDS).findings if f.code.startswith("quote.")]


PLANS = "| Plan | Price |\n|---|---|\n| Basic | $9/mo |\n| Pro | $29/mo |"
TRAILS = "| Trail | Length |\n|---|---|\n| Zug | 12 km |\n| Bern | 18 km |\n| Chur | 900 m |"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The cheapest plan is Basic.", PLANS),
        ("Pro is more expensive than Basic.", PLANS),
        ("The Bern trail is longer than the Zug trail.", TRAILS),
        ("The Zug trail is longer than the Chur trail.", TRAILS),
        ("The shortest trail is Chur.", TRAILS),
        ("The longest trail is Bern with a length of 18 km.", TRAILS),
        ("The Bern trail is 6 km longer than the Zug trail.", TRAILS),
        ("Zug and Bern together have a length of 30 km.", TRAILS),
        ("The most expensive plan is Pro at $29.", PLANS),
    ],
)
def test_a_right_statement_of_cells_with_units_is_not_contradicted(claim: str, evidence: str) -> None:
    assert not [f for f in checked(claim, evidence).findings if f.effect == "contradicts"]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The cheapest plan is Pro.", PLANS),
        ("Basic is more expensive than Pro.", PLANS),
        ("The Zug trail is longer than the Bern trail.", TRAILS),
        ("The Chur trail is longer than the Zug trail.", TRAILS),
        ("The shortest trail is Zug.", TRAILS),
        ("The Bern trail is 5 km longer than the Zug trail.", TRAILS),
        ("Zug and Bern together have a length of 31 km.", TRAILS),
    ],
)
def test_a_wrong_statement_of_cells_with_units_is_contradicted(claim: str, evidence: str) -> None:
    assert surely_contradicted(claim, evidence)


def test_cells_of_different_dimensions_are_not_compared() -> None:
    mixed = "| Trail | Length |\n|---|---|\n| Zug | 12 km |\n| Bern | 5 hours |"
    assert not [f for f in checked("The longest trail is Bern.", mixed).findings if f.code.startswith("record.")]


@pytest.mark.parametrize(
    "claim", ["The stamp costs about 90 cents.", "The stamp costs 85 cents a piece.", "It costs $0.85."]
)
def test_cents_in_prose_are_no_cents_of_a_key(claim: str) -> None:
    assert not [f for f in checked(claim, "The stamp costs 85 cents.").findings if f.effect == "contradicts"]


def test_cents_a_litre_are_not_contradicted_by_cents() -> None:
    result = checked("Heating oil costs 98 cents a litre.", "Heating oil costs 98 cents.")
    assert not [f for f in result.findings if f.effect == "contradicts"]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Revenue was $120 million.", '{"company": "Acme", "revenue_m": 120}'),
        ("Group M has 12 members.", '{"group_m": 12, "group_l": 15}'),
        ("Option D got 41 votes.", '{"option_a": 12, "option_d": 41}'),
        ("Block L has 30 flats.", '{"block_l": 30}'),
        ("The home side scored 3 goals.", '{"goals_h": 3, "goals_a": 1}'),
        ("Plan S costs 9 dollars.", '{"plan_s": 9, "plan_m": 19}'),
        ("Size L costs 25 euros.", '{"price_l": 25}'),
        ("The image is 640 pixels wide.", '{"image_w": 640, "image_h": 480}'),
        ("The box is 40 cm long.", '{"box_l": 40, "box_w": 30}'),
        ("There are 12 male students.", '{"students_m": 12, "students_f": 14}'),
        ("The team lost 5 games.", '{"record_w": 9, "record_l": 5}'),
        ("We have 14 shirts of size M.", '{"size_s": 3, "size_m": 14, "size_l": 6}'),
        ("The lake is 350 metres away.", '{"distance_to_lake_m": 350}'),
        ("The timeout is 90 seconds.", '{"timeout_s": 90}'),
        ("The timeout is 1.5 minutes.", '{"timeout_s": 90}'),
    ],
)
def test_a_letter_that_ends_a_key_is_a_unit_only_of_what_the_key_measures(claim: str, evidence: str) -> None:
    assert not [f for f in checked(claim, evidence).findings if f.effect == "contradicts"]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The timeout is 90 minutes.", '{"timeout_s": 90}'),
        ("The distance to the lake is 350 km.", '{"distance_to_lake_m": 350}'),
        ("The distance to the lake is 12 m.", '{"distance_to_lake_km": 12}'),
    ],
)
def test_a_letter_after_what_it_measures_is_a_unit(claim: str, evidence: str) -> None:
    assert surely_contradicted(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The fee was reduced by $5.", "The reduced fee is $15; the full fee is $20."),
        ("Staff fell by 20 people.", "Staff is 80 people; it had been 100 people."),
        ("The price dropped by £20.", "Price: £80 (was £100)"),
        ("The price fell by 20 euros.", "It costs 80 euros; it used to cost 100 euros."),
        ("Sales rose by 20%.", "Last year sales were 120, up from 100 the year before."),
    ],
)
def test_the_order_of_a_text_is_no_order_in_time(claim: str, evidence: str) -> None:
    assert_derived(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Revenue rose 50%.", DOUBLED),
        ("Sales grew by 15 units.", FEWER),
        ("The price rose by £20.", "Price: £80 (was £100)"),
        ("Sales fell by 20%.", "Last year sales were 120, up from 100 the year before."),
    ],
)
def test_a_change_against_the_stated_order_is_not_derived(claim: str, evidence: str) -> None:
    assert "number.derived" not in [f.code for f in checked(claim, evidence).findings]


@pytest.mark.parametrize(
    ("evidence", "dimensions"),
    [
        ('{"city": "New York", "population_m": 8.4}', ["count"]),
        ('{"lake": "Zug", "depth_m": 198, "capacity_l": 5, "weight_g": 20}', ["length", "volume", "mass"]),
        ('{"height_m": 12, "height_f": 15}', ["count", "count"]),
        ('{"max_length_of_a_line_between_the_masts_m": 12}', ["length"]),
    ],
)
def test_the_letter_of_a_key_gives_a_dimension(evidence: str, dimensions: list[str]) -> None:
    assert [quantity.dimension for quantity in find_quantities(evidence)] == dimensions
