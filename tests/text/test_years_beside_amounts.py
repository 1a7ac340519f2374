"""Years and plain counts beside amounts and hours stay what they are."""

import pytest

from assay.text.dates import find_dates


def years(text: str) -> list[int]:
    return [date.year for date in find_dates(text) if date.year is not None]


def minutes(text: str) -> list[int]:
    return [date.minute for date in find_dates(text) if date.minute is not None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The share was 5% for 2019 and 7% for 2020.", [2019, 2020]),
        ("The network was 300 km in 2019 and 450 km in 2022.", [2019, 2022]),
        ("It was 5 mg until 2019 and 7 mg from 2020.", [2019, 2020]),
        ("It will fall by 2030 to 40%.", [2030]),
        ("It will rise by 2030 to 5 million.", [2030]),
        ("It will rise by 2030 to 5000 km.", [2030]),
        ("The line opened in 1998 and 20 km were added.", [1998]),
        ("The film of 2005 won 3 Oscars.", [2005]),
        ("The price of the 2005 won 3 prizes.", [2005]),
        ("She passed the 2012 bar exam.", [2012]),
        ("In 2018 bar sales fell.", [2018]),
        ("The 2019 V8 engine is loud.", [2019]),
        ("The 1999 A level exams were hard.", [1999]),
        ("The 1999 A-level exams were hard.", [1999]),
        ("The 2015 A4 costs more.", [2015]),
        ("At London 2012 GB won 65 medals.", [2012]),
        ("The 2018 million-dollar deal failed.", [2018]),
        ("For 2019 A$5 million was planned.", [2019]),
    ],
)
def test_a_year_beside_an_amount_is_a_year(text: str, expected: list[int]) -> None:
    assert years(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Weight: 1500 kg",
        "weighs 1500-2000 kg",
        "weighs between 1500 and 2000 kg",
        "The oven has a power of 2000 W and a volume of 20 l.",
        "Power: 2000 W",
        "It draws up to 2000 W.",
        "The disk has a capacity of 2000 GB.",
        "Memory: 2000 GB",
        "a pressure of 2000 bar.",
        "The ticket has a price of 2000 won.",
        "Price: 2000 won",
        "a total of 1200 million euros",
        "The laptop costs $1,999.",
        "Rent: 1850 EUR per month",
    ],
)
def test_a_number_with_a_clear_unit_is_an_amount(text: str) -> None:
    assert years(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The crew was cut from eight to three.",
        "The staff was slashed from twelve to seven.",
        "The score went from nine to three.",
        "The daily dose was reduced from eight to three.",
        "Working hours were cut from nine to three.",
        "Children between ten and four came.",
        "Children between ten and four",
        "It is set at 20 to 5 degrees.",
        "It was 20 to 5.",
        "They won by 20 to 5.",
    ],
)
def test_plain_counts_are_no_times(text: str) -> None:
    assert minutes(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The office is open from 9 to 5.", [540, 300]),
        ("We work from 9 to 5.", [540, 300]),
        ("Visitors may enter between ten and four.", [600, 240]),
        ("On Mondays it is from ten to six.", [600, 360]),
        ("From nine to five.", [540, 300]),
        ("The train leaves at 20 to 5.", [280]),
        ("The train leaves at about 25 to 5.", [275]),
    ],
)
def test_hours_and_times_are_read(text: str, expected: list[int]) -> None:
    assert minutes(text) == expected
