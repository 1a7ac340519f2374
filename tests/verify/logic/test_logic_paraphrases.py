"""Percentages, units and rules in the words of many writers: what is wrong is found, and its honest twin is not."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.verify.logic import LogicFinding, audit_logic


def found(text: str) -> list[LogicFinding]:
    return list(audit_logic(text).findings)


SHARES = [
    "The price was $100. Less 20% it is $85.",
    "The price was $100. Less 20%, it is $85.",
    "The price was $100. Less 20%, that's $85.",
    "The price was $100. Less 20% that makes $85.",
    "The price was $100; less 20% it is $85.",
    "A discount of 20% on $100 leaves $85.",
    "A discount of 20% on the $100 ticket leaves $85.",
    "A 20% discount on $100 leaves $85.",
    "A reduction of 20% from $100 gives $85.",
    "A surcharge of 10% on $200 gives $230.",
    "Tax of 10% on $200 brings it to $230.",
    "With a discount of 20%, the $100 ticket costs $85.",
    "With a discount of 20% the price of $100 drops to $85.",
    "The $100 ticket costs $85 after a discount of 20%.",
    "$100 with a discount of 20% is $85.",
    "$100 after a discount of 20% is $85.",
    "$100 after a reduction of 20% comes to $85.",
    "$100. With 20% off it costs $85",
    "$100. With 20% off, it costs $85.",
    "The ticket is $100. Take 20% off and it costs $85.",
    "The ticket is $100. Take off 20% and you get $85.",
    "The ticket is $100. Taking 20% off leaves $85.",
    "The ticket is $100. Subtract 20% and you pay $85.",
    "The ticket is $100. Deducting 20% gives $85.",
    "The ticket is $100. A discount of 20% brings it to $85.",
    "The ticket is $100. A 20% discount brings it down to $85.",
    "The ticket is $100. A 20% discount makes it $85.",
    "The ticket is $100. The 20% discount reduces it to $85.",
    "The ticket is $100. After the discount of 20% it is $85.",
    "The ticket is $100. Minus 20% that is $85.",
    "The ticket is $100. Plus 10% tax it is $120.",
    "The ticket is $100. Adding 10% tax gives $120.",
    "The ticket is $100. Add 10% and it is $120.",
    "The ticket is $100. 20% off is $85.",
    "The ticket is $100. 20% off makes it $85.",
    "The ticket is $100. It is now 20% off, so it costs $85.",
    "The ticket is $100. At 20% off you pay $85.",
    "The ticket is $100, and with 20% off it costs $85.",
    "The ticket is $100, so with 20% off it costs $85.",
    "The ticket is $100; with 20% off it costs $85.",
    "The ticket is $100, less 20% is $85.",
    "The ticket is $100, less 20%, so $85.",
    "The ticket is $100, less 20%, which is $85.",
    "The ticket is $100, less 20%, which leaves $85.",
    "The ticket, normally $100, costs $85 with 20% off.",
    "20% off $100 is $85.",
    "20% off a $100 ticket is $85.",
    "20% off the price of $100 leaves you with $85.",
    "Take 20% off $100 and you get $85.",
    "Taking 20% off $100 gives $85.",
    "Subtracting 20% from $100 gives $85.",
    "Subtract 20% from $100 and you have $85 left.",
    "$100 reduced by 20% is $85.",
    "$100 discounted 20% is $85.",
    "If you take 20% off $100, you get $85.",
    "20% less than $100 is $85.",
]

UNITS = [
    "2 km long, which is 2500 m",
    "The bridge is 2 km long, which is 2500 m.",
    "The bridge is 2 km long, i.e. 2500 m.",
    "The bridge is 2 km long, that is 2500 m.",
    "The bridge is 2 km long, equal to 2500 m.",
    "The bridge is 2 km (that is, 2500 m) long.",
    "A 2 km long bridge, which is 2500 m",
    "The bridge is 2 km long; that is 2500 m.",
    "The bridge is 2 km long. That is 2500 m.",
    "The bridge is 2 km long. That's 2500 m.",
    "The bridge is 2 km long. In metres, that is 2500 m.",
    "The bridge is 2 km long. This equals 2500 m.",
    "The bridge has a length of 2 km, meaning 2500 m.",
    "The bridge has a length of 2 km, in other words 2500 m.",
    "It weighs 3 kg, which makes 3500 g.",
    "It weighs 3 kg, corresponding to 3500 g.",
    "It takes 2 hours, which is 150 minutes.",
]

FORMS = [
    "If it rains, the match is cancelled. If the match is cancelled, we get a refund. We get a refund. So it rained.",
    "If Anna passes, she will get a car. Anna gets a car. So Anna passed.",
    "If Anna passes the exam, she gets a car. Anna gets a car. Therefore Anna passed the exam.",
    "If Anna passes the exam, she will get a car. Anna gets a car. Therefore Anna passed the exam.",
    "If Anna passes the exam, she will get a car. Anna got a car. Therefore she passed the exam.",
    "If Anna passes the exam, Anna gets a car. Anna gets a car. So Anna passed the exam.",
    "If it rains, the match is cancelled. The match is cancelled. So it rains.",
    "If it rains, the match is cancelled. The match was cancelled. So it rained.",
    "If it rains, the match will be cancelled. The match was cancelled, so it must have rained.",
    "If it rains, the match is cancelled. The match was cancelled. It rained, then.",
    "If it rains, the match is cancelled. We know the match is cancelled. So it rains.",
    "If it rains, the match is cancelled. The match has been cancelled, so it has been raining.",
    "If it rains, the match is cancelled, and the match is cancelled, so it rains.",
    "If Anna wins the prize, she will get a car. Anna gets a car. So she won the prize.",
    "If a student passes, they get a car. Anna gets a car. So Anna passed.",
    "If you win, you get a car. Anna gets a car. So Anna won.",
    "If Anna gets the job, she will buy a car. Anna has bought a car. So she got the job.",
    "If Anna gets the job she will buy a car. Anna bought a car. So Anna got the job.",
    "Anna will buy a car if she gets the job. Anna bought a car. So Anna got the job.",
    "If Anna is promoted, then Anna gets a car. Anna gets a car. Hence Anna is promoted.",
    "When Anna passes, Anna gets a car. Anna gets a car. Hence Anna has passed.",
]

HONEST = [
    "The price was $100. Less 20% it is $80.",
    "A discount of 20% on $100 leaves $80.",
    "A discount of 20% on $100 is $20.",
    "A discount of 20% on $100 gives $20.",
    "$100. With 20% off it costs $80",
    "A discount of $20 on $100 leaves $80.",
    "The ticket is $100. A discount of 20% brings the child ticket to $40.",
    "The ticket is $100. With 20% off you save $20.",
    "The ticket is $100. With a discount of 20% you save $20 and pay $80.",
    "A 20% discount of $20 leaves $80.",
    "Revenue was $100 million, up 20%, and costs were $85 million.",
    "Revenue was $100 million, up 20%, and it is now $120 million.",
    "Revenue is $100 million, 20% more than last year, and profit is $30 million.",
    "Lunch is 40 euros. Drinks are 10 euros. With a 10% tip, the total comes to 55 euros.",
    "Dinner costs $100 and a 20% tip is $20.",
    "Dinner costs $100, and a 20% tip makes it $120.",
    "Instead of a 20% discount, the $100 ticket costs $90.",
    "Without the 20% discount, the $100 ticket costs $100.",
    "With a 20% discount, the $100 ticket costs $80.",
    "The $80 ticket is $100 less 20%.",
    "The price is $80 ($100 less 20%).",
    "The ticket is $100. Members get 20% off and pay $80, students pay $70.",
    "The ticket is $100. Students with 20% off pay $80.",
    "The ticket is $100. With 20% off it costs $80; children pay $50.",
    "The ticket is $100. With 20% off it costs about $82.",
    "The $99 ticket with 20% off is $79.20.",
    "$99.99 less 20% is $79.99.",
    "The fee is $100. Add 20% VAT and it is $120.",
    "The fee is $100. Plus 20% VAT it is $120.",
    "The fee is $100. 20% VAT is $20.",
    "The fee is $100. 20% VAT adds $20.",
    "The fee is $100. The VAT of 20% is $20.",
    "The fee is $120. It includes 20% VAT, which is $20.",
    "The fee is $120, including 20% VAT, so $100 without it.",
    "The fee is $120 with 20% VAT, which is $100 net.",
    "The total is $120, less 20% for members.",
    "It takes 20% less time and costs $85 at $100 a day.",
    "We need $100. Less 20% of that is $85 short.",
    "In 2023 it sold for $100. Less 20% of buyers paid $85.",
    "Up to 20% off: a $100 coat costs $85.",
    "At least 20% off $100 is $75.",
    "20% off orders over $100 is $85 for members.",
    "Take 20% of $100 and add $5: $25.",
    "The bill is $100. A tip of 20% is customary, so leave $20.",
    "The bill is $100. A tip of 20% is customary, so you leave $120.",
    "A tax of 8% on $50 comes to $4.",
    "A tax of 8% on $50 brings it to $54.",
    "A surcharge of 10% on $200 gives $220.",
    "Interest of 5% on $1,000 gives $50.",
    "Interest of 5% on $1,000 makes $1,050.",
    "The rent rose by 10% from $1,000 to $1,100.",
    "The rent is $1,100, an increase of 10% on $1,000.",
    "The rent was $1,000. After an increase of 10% it is $1,100.",
    "The rent was $1,000. After two increases of 10% it is $1,210.",
    "The rent was $1,000. After a further increase of 10% it is $1,150.",
    "The first class costs $100. The second is 20% off, so it costs $40.",
    "Tickets cost $100. A 20% discount applies to groups, and a guide costs $30.",
    "A basic plan is $10. With 20% off the pro plan costs $24.",
    "The deposit is $100. After a 20% deduction, the owner returns $80.",
    "If you take 20% off $100, you get $80.",
    "20% less than $100 is $80.",
    "Subtracting 20% from $100 gives $80.",
    "I paid $100. With a 20% refund, I got $20 back.",
    "I paid $100. With 20% off I got $20 back.",
    "A 20% discount on the $100 ticket leaves $80 for dinner.",
    "A 20% discount on $100, or $20, is a good deal.",
    "It was $100. Now it is 20% off and costs $80.",
    "It was $125, now it is $100, so 20% off.",
    "The bridge is 2 km long. That is 2000 m.",
    "The bridge is 2 km long. That is 500 m more than the old one.",
    "The bridge is 2 km long. It is 20 m wide.",
    "The bridge is 2 km long. That is 300 m longer.",
    "The flight takes 2 hours, with a stop. That is 30 minutes.",
    "The flight takes 2 hours. That is 30 minutes faster.",
    "The wall is 2 m high, meaning 50 cm above the fence.",
    "The wall is 2 m high. This is 50 cm too much.",
    "The wall is 2 m high; that is 200 cm.",
    "The wall is 2 m high, in other words 200 cm.",
    "The hike is 10 km, corresponding to 6.2 miles.",
    "A 2 km long bridge, which is 20 m wide",
    "A 2 km long bridge, which is 2000 m",
    "Take 500 g, or 1 kg for a large cake.",
    "The tank holds 2 litres, meaning 500 ml per person.",
    "The tank holds 2 litres, so 4 people get 500 ml.",
    "It takes 2 hours. In minutes, that is 120 minutes.",
    "Each lap is 400 m. That is 4 km in all.",
    "He ran for 2 hours, that is 120 minutes of effort.",
    "A shift is 8 hours. That is 2 days a week.",
    "The pipe is 3 m. That makes 9 m.",
    "If Anna passes the exam, she will get a car. Anna passed the exam. So Anna gets a car.",
    "If Anna passes the exam, she will get a car. Anna does not get a car. So Anna did not pass the exam.",
    "If Anna passes the exam, she will get a car. Anna gets a car. So Anna probably passed the exam.",
    "Only if Anna passes the exam will she get a car. Anna gets a car. So Anna passed the exam.",
    "If Anna passes the exam, she will get a car. Ben gets a car. Anna passed the exam.",
    "If Anna passes the exam, she will get a car. Anna gets a car. Anna passed the exam. So Anna passed the exam.",
    "If it rains, the match is cancelled. If the match is cancelled, we get a refund. It rained. So we get a refund.",
    "If it rains, the match is off. If the match is off, we get a refund. We get no refund. So it did not rain.",
    "If it rains, the match is cancelled. It rained, then the sun came out.",
    "If it rains, the match is cancelled. We know it rained. So the match is cancelled.",
    "Each lap is 400 m, which makes 4 km.",
    "10 laps of 400 m, which is 4 km.",
    "Each lap is 400 m. That is 4 km.",
    "We ran ten laps of 400 m, making 4 km.",
    "Two rolls of 5 m, which makes 1000 cm.",
    "He walks 2 km twice a day, which makes 4000 m.",
    "The pipe is 3 m, making 300 cm of it.",
]


@pytest.mark.parametrize("text", SHARES)
def test_a_wrong_share_is_found_in_whatever_words(text: str) -> None:
    assert [f.code for f in found(text)] == ["logic.arithmetic"]


@pytest.mark.parametrize("text", SHARES)
def test_the_right_share_in_the_same_words_is_left_alone(text: str) -> None:
    right = {"$85": "$80", "$120": "$110", "$230": "$220"}
    wrong = next(one for one in right if one in text)
    assert found(text.replace(wrong, right[wrong])) == []


@pytest.mark.parametrize("text", UNITS)
def test_a_wrong_conversion_is_found_in_whatever_words(text: str) -> None:
    assert [f.code for f in found(text)] == ["logic.unit"]


@pytest.mark.parametrize("text", UNITS)
def test_the_right_conversion_in_the_same_words_is_left_alone(text: str) -> None:
    for wrong, right in (("2500 m", "2000 m"), ("3500 g", "3000 g"), ("150 minutes", "120 minutes")):
        text = text.replace(wrong, right)
    assert found(text) == []


@pytest.mark.parametrize("text", FORMS)
def test_the_consequent_affirmed_is_found_in_whatever_words(text: str) -> None:
    assert [f.code for f in found(text)] == ["logic.invalid_form"]


@pytest.mark.parametrize("text", HONEST)
def test_what_holds_or_says_something_else_is_left_alone(text: str) -> None:
    assert found(text) == []


PHRASES = st.sampled_from(
    [
        "{b} less {s} is {r}.",
        "{s} off {b} is {r}.",
        "The coat is {b}. With {s} off it costs {r}.",
        "The coat is {b}. A discount of {s} brings it to {r}.",
        "A discount of {s} on {b} leaves {r}.",
        "The {b} coat costs {r} after a {s} discount.",
        "Taking {s} off {b} leaves {r}.",
        "{r} is {b} less {s}.",
    ]
)


@given(phrase=PHRASES, base=st.integers(10, 9_000), share=st.integers(1, 95), off=st.integers(5, 50))
def test_every_share_of_every_base_is_recomputed(phrase: str, base: int, share: int, off: int) -> None:
    left = base * (100 - share) / 100
    another = left * (1 + off / 100) + 1
    assume(abs(another - (base - left)) > base / 50)  # "55% off $13 is $7.14" may tell what is taken off
    right, wrong = (phrase.format(b=f"${base:,}", s=f"{share}%", r=f"${result:,.2f}") for result in (left, another))
    assert found(right) == []
    assert [f.code for f in found(wrong)] == ["logic.arithmetic"]
