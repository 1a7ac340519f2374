"""What an honest caller makes of what it was told, and what looks like it and is not."""

from datetime import datetime
from decimal import Decimal

import pytest

from assay.schema.report_parts.provenance import SourceKind, TraceStatus
from assay.verify.tools.tracing.arguments import trace_arguments
from assay.verify.tools.tracing.calculations import NumberContext
from assay.verify.tools.tracing.calendar_dates import find_calendar_entities, trace_calendar_entity
from assay.verify.tools.tracing.numbers import trace_number
from assay.verify.tools.tracing.sources import Sources, SourceText
from assay.verify.tools.tracing_rules import ToolRule

NOW = datetime(2026, 3, 4, 9, 30)  # noqa: DTZ001 a Wednesday; the run's own clock


def sources(*texts: str, kind: SourceKind = SourceKind.USER) -> Sources:
    return Sources([SourceText(kind, f"s{n}", text) for n, text in enumerate(texts)], NOW)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("It costs $1,200.00", "1200"),
        ("at 5% interest", "0.05"),
        ("a budget of $35M", "35000000"),
        ("wait 2 hours 30 minutes", "150"),
        ("wait 2 hours", "7200"),
        ("5'10\" tall", "70"),
        ("a capacitance of 100µF", "0.0001"),
        ("twenty five guests", "25"),
        ("a dozen eggs", "12"),
        ("more than 5 players", "6"),
        ("$45 for the basket", "4500"),
        ("[200,300,400]", "300"),
        ("songs from '19", "2019"),
        ("between 12:30 and 15:30", "180"),
        ("prices 17.5 and 80", "97.5"),
        ("three of them at 105 dollars", "315"),
        ("circles with pi", "3.14159"),
        ("exactly 3.14159265", "3.142"),
    ],
)
def test_a_number_that_follows_is_followed(said: str, value: str) -> None:
    assert trace_number(Decimal(value), sources(said), NumberContext()) is not None


@pytest.mark.parametrize(
    ("said", "value"),
    [("It costs $1,200.00", "1300"), ("at 5% interest", "0.06"), ("wait 2 hours", "95"), ("order 17", "418")],
)
def test_a_number_that_nothing_leads_to_is_not_followed(said: str, value: str) -> None:
    assert trace_number(Decimal(value), sources(said), NumberContext()) is None


def test_arithmetic_is_no_reason_where_any_number_could_be_reached() -> None:
    crowded = sources(" ".join(str(n * 3 + 1) for n in range(200)))
    assert trace_number(Decimal(333), crowded, NumberContext()) is None


def test_a_part_of_a_known_whole_is_derived_from_the_parts_beside_it() -> None:
    seen = sources("The total price is 375.", "My gift card has 128 on it.", *(f"seat {n}" for n in range(240, 255, 2)))
    result = trace_arguments("pay", {"parts": [{"amount": 128}, {"amount": 247}]}, seen, ToolRule())
    assert result.issues == ()


def test_a_count_of_the_items_beside_it_is_derived() -> None:
    result = trace_arguments("book", {"names": ["Ann", "Bo"] * 9, "guests": 18}, sources("Ann and Bo"), ToolRule())
    assert result.issues == ()


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("on May 20, 2026", "2026-05-20"),
        ("on the 10th of march 2026", "2026-03-10"),
        ("on 20 May", "2026-05-20"),
        ("tomorrow, please", "2026-03-05"),
        ("the day after tomorrow", "2026-03-06"),
        ("in two weeks", "2026-03-18"),
        ("this Friday", "2026-03-06"),
        ("on the 12th", "2026-03-12"),
        ("from March 10 2026 to March 20 2026", "2026-03-15"),
        ("in April 2026", "2026-04-30"),
        ("some day next week", "2026-03-11"),
        ("20260507 it was", "2026-05-07"),
        ("on 2026-05-20", "05/20/2026"),
        ("at 3pm", "15:00"),
        ("around noon", "12:00"),
        ("at 11.00 a.m. for 2 hours", "13:00"),
        ("today at 8 in the evening", "20:00"),
        ("March 2026", "2026-03"),
    ],
)
def test_a_date_that_follows_is_followed(said: str, value: str) -> None:
    [entity] = find_calendar_entities(value)
    assert trace_calendar_entity(entity, sources(said)) is not None


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("on May 20, 2026", "2026-05-21"),
        ("on May 20, 2026", "2027-05-20"),
        ("tomorrow", "2026-03-09"),
        ("this Friday", "2026-03-05"),
        ("on 3 May 2026 and on 9 May 2026", "2026-05-06"),
        ("at 3pm", "16:10"),
    ],
)
def test_a_date_that_nothing_leads_to_is_not_followed(said: str, value: str) -> None:
    [entity] = find_calendar_entities(value)
    assert trace_calendar_entity(entity, sources(said)) is None


def test_a_relative_day_leads_nowhere_where_nothing_says_what_day_it_is() -> None:
    [entity] = find_calendar_entities("2026-03-05")
    assert trace_calendar_entity(entity, Sources([SourceText(SourceKind.USER, "u", "tomorrow")])) is None


@pytest.mark.parametrize(
    ("argument", "value", "said"),
    [
        ("user_id", "mia_li", "I am Mia Li."),
        ("order_id", "w1042", "order #W1042"),
        ("order_id", "#W1042", "order W1042"),
        ("ticket_id", "ORD-42", "ORD, number 42"),
        ("part_id", "3668", "the account mia_li_3668"),
        ("phone", "+14155550123", "call +1 (415) 555-0123"),
        ("url", "https://example.com/a/7", "see example.com/a and the page 7"),
        ("url", "http://www.example.com/", "on example.com"),
        ("path", "/srv/data/a.csv", "the folder /srv/data and the file a.csv"),
        ("file_name", "report.pdf", "the report, please"),
        ("email", "Ann@Example.com", "ann@example.com"),
        ("slug_id", "cafe-creme", "Café Crème"),
        ("name", "S\u00e3o Paulo", "sao paulo"),
    ],
)
def test_a_text_in_another_form_is_followed(argument: str, value: str, said: str) -> None:
    result = trace_arguments("use", {argument: value}, sources(said), ToolRule())
    assert result.issues == ()
    assert all(p.status in (TraceStatus.TRACED, TraceStatus.DERIVED) for p in result.provenance)


@pytest.mark.parametrize(
    ("argument", "value", "said"),
    [
        ("user_id", "mia_lee", "I am Mia Li."),
        ("order_id", "W1043", "order W1042"),
        ("order_id", "W104", "order W1042"),
        ("url", "https://evil.test/a", "see example.com/a"),
        ("path", "/srv/data/b.csv", "/srv/data/a.csv"),
        ("email", "ann@examp1e.com", "ann@example.com"),
        ("to", "@bob_w", "tell @bob"),
        ("ticket_id", "ORD-42", "ORD 17 and room 420"),
    ],
)
def test_a_text_that_nobody_said_is_not_followed(argument: str, value: str, said: str) -> None:
    assert len(trace_arguments("use", {argument: value}, sources(said), ToolRule()).issues) == 1


def test_escapes_of_json_do_not_hide_what_a_tool_returned() -> None:
    seen = sources('{"city": "S\\u00e3o Paulo", "log": "one\\nZX-4410 two", "url": "https:\\/\\/a.test\\/b"}')
    arguments = {"city_id": "São", "ref_id": "ZX-4410", "url": "https://a.test/b"}
    assert trace_arguments("use", arguments, seen, ToolRule()).issues == ()


def test_appending_to_sources_leaves_the_earlier_ones_as_they_are() -> None:
    early = sources("one 17")
    later = early.append(SourceText(SourceKind.TOOL, "t", "and 991"))
    assert trace_number(Decimal(991), later, NumberContext()) is not None
    assert trace_number(Decimal(991), early, NumberContext()) is None


@pytest.mark.parametrize(
    "hostile",
    [
        "a" * 100_000,
        "1," * 50_000,
        "/" * 100_000,
        "{" * 100_000,
        "@a." * 33_000,
        "- " * 50_000,
        "march " * 16_000,
        "9" * 100_000,
        "W1-" * 33_000,
        "\u0130" * 50_000,
        "12:30 " * 16_000,
        "in two days " * 8_000,
    ],
)
def test_hostile_text_of_a_hundred_kilobytes_is_read_through(hostile: str) -> None:
    seen = sources(hostile, hostile, kind=SourceKind.TOOL)
    arguments = {"order_id": "W-77", "n": 123457, "day": "2031-02-03", "note": hostile[:5_000]}
    found = trace_arguments("use", arguments, seen, ToolRule())
    assert any(issue.path == "/order_id" for issue in found.issues)


@pytest.mark.parametrize(
    ("said", "name", "value"),
    [
        ("4 seats on 15 June 2026", "seats", "60"),
        ("3 days from May 12, 2026", "stay", "36"),
        ("a table for 4 people at 13:30", "seats", "52"),
        ("15 users", "users_each", "8"),
        ("2 adults at 15:00", "adults", "8"),
        ("12 coulombs in a medium of 5e-12", "permittivity", "12.000000000005"),
        ("transfer $122", "amount", "273"),
        ("annual interest for 1 year", "years", "12"),
        ("an acceleration of 9.8 m/s^2", "initial_speed", "22"),
        ("dropped from 15 meters", "initial_velocity", "49"),
    ],
)
def test_what_only_looks_like_arithmetic_leads_nowhere(said: str, name: str, value: str) -> None:
    assert trace_number(Decimal(value), sources(said), NumberContext(name)) is None


@pytest.mark.parametrize(
    ("said", "name", "value"),
    [
        ("from August 15 to August 17", "stay_length", "2"),
        ("seven years ago of 2023", "year", "2016"),
        ("annual interest with monthly compounding", "compounding_periods_per_year", "12"),
        ("2800 joules for 2 machines", "energy", "1400"),
        ("9.8 m/s fast", "speed", "22"),
        ("rolls for 5 seconds and, after that, for another 7 seconds", "time", "12"),
        ("15 seats on 15 June, 4 each", "tickets", "60"),
    ],
)
def test_what_is_calculated_from_what_was_said_is_followed(said: str, name: str, value: str) -> None:
    assert trace_number(Decimal(value), sources(said), NumberContext(name)) is not None


TWO_UNITS = "I want the distance in km from Oslo to Rome. I want the distance in miles from Rome to Paris."


@pytest.mark.parametrize(
    ("arguments", "said", "passes"),
    [
        ({"origin": "Oslo", "destination": "Rome", "unit": "km"}, TWO_UNITS, True),
        ({"origin": "Oslo", "destination": "Rome", "unit": "miles"}, TWO_UNITS, False),
        ({"origin": "Rome", "destination": "Paris", "unit": "km"}, TWO_UNITS, False),
        ({"origin": "Rome", "destination": "Paris", "unit": "miles"}, TWO_UNITS, True),
        ({"value": 75, "from_unit": "kilograms", "to_unit": "pounds"}, "Convert 75 kilograms into pounds.", True),
        ({"value": 75, "from_unit": "pounds", "to_unit": "pounds"}, "Convert 75 kilograms into pounds.", False),
        ({"place": "Rio", "unit": "celsius"}, "Qual a temperatura em Rio? fahrenheit", False),
        ({"place": "Rio", "unit": "fahrenheit"}, "Qual a temperatura em Rio? fahrenheit", True),
    ],
)
def test_a_unit_is_the_one_that_was_asked_for_where_it_is_asked(
    arguments: dict[str, object], said: str, passes: bool
) -> None:
    found = trace_arguments("find", arguments, sources(said), ToolRule())
    assert (not found.issues) is passes
    assert all("unit" in (issue.path or "") for issue in found.issues)


def test_a_date_is_not_put_together_from_the_parts_of_another() -> None:
    seen = sources("The weather in Nairobi on 2026-04-20?")
    assert trace_arguments("weather", {"date": "2026-04-04"}, seen, ToolRule()).issues
    assert not trace_arguments("weather", {"date": "2026-04-20"}, seen, ToolRule()).issues


def test_a_number_of_any_length_in_a_text_is_refused_like_another() -> None:
    seen = sources("Pay 12 and 13.5 euros. Meet in 3 days; it is 250 km.")
    [issue] = trace_arguments("pay", {"note": "1" + "0" * 500}, seen, ToolRule()).issues
    assert issue.code == "tool.invented_number"


def test_a_long_address_with_an_invented_end_is_refused() -> None:
    known = "https://known.example/" + "a-b/" * 600
    seen = sources(f"Open {known} please.")
    assert not trace_arguments("fetch", {"url": known}, seen, ToolRule()).issues
    [issue] = trace_arguments("fetch", {"url": f"{known}?leak=4711-9923"}, seen, ToolRule()).issues
    assert issue.code == "tool.invented_url"
