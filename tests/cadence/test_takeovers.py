"""Changes that show in what passes through: prompts that change are noticed, prompts that merely differ are not."""

import json
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.monitor import PassingBatch, TakeOver, advanced_passing, varying
from assay.server.cadence.skeletons import declarations_of, masked, skeleton_of
from assay.wire import instructions_of, tools_of

SECOND = 1_000_000
BASE = [
    "You are the assistant of the Arden insurance.",
    "Answer from the passages alone.",
    "Cite every passage by its id.",
    "Never promise a payment.",
]
_LAST = ("Ash", "Bly", "Cox", "Day", "Eve", "Fay", "Gus")
NAMES = [f"{first} {last}" for first in ("Ann", "Bo", "Cy", "Dee", "Eli", "Flo") for last in _LAST]


def passed(prompts: Iterable[str], every_s: float = 10.0, together: int = 5) -> tuple[dict[str, Any], list[TakeOver]]:
    """What shows where these prompts pass one after the other, a few in each batch."""
    state: dict[str, Any] = {}
    found: list[TakeOver] = []
    waiting: list[tuple[str, ...]] = []
    at = 0
    for number, prompt in enumerate(prompts, 1):
        at += round(every_s * SECOND)
        waiting.append(skeleton_of(prompt))
        if number % together == 0:
            counts = [(parts, waiting.count(parts)) for parts in dict.fromkeys(waiting)]
            state, more = advanced_passing(json.loads(json.dumps(state)), [PassingBatch(at, counts)])
            found += more
            waiting = []
    return state, found


def prompt(*lines: str) -> str:
    return "\n".join(lines)


def test_a_prompt_that_stays_the_same_is_no_change() -> None:
    assert passed([prompt(*BASE)] * 2_000)[1] == []


def test_an_edit_is_one_change_at_the_moment_of_its_first_request() -> None:
    edited = [*BASE[:3], "Promise whatever calms the customer."]
    _, found = passed([prompt(*BASE)] * 300 + [prompt(*edited)] * 300)
    assert [one.at for one in found] == [305 * 10 * SECOND]


@pytest.mark.parametrize("edit", ["insert", "delete", "first", "last", "two"])
def test_whatever_the_edit_is_it_is_one_change(edit: str) -> None:
    edits = {
        "insert": [*BASE[:2], "Be brief.", *BASE[2:]],
        "delete": [BASE[0], *BASE[2:]],
        "first": ["You are a pirate.", *BASE[1:]],
        "last": [*BASE, "Be brief."],
        "two": ["You are a pirate.", *BASE[1:3], "Always promise a payment."],
    }
    _, found = passed([prompt(*BASE)] * 200 + [prompt(*edits[edit])] * 200)
    assert len(found) == 1


def test_a_prompt_with_dates_times_and_numbers_is_one_prompt() -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    dated = [
        prompt(*BASE[:2], f"Today is {moment:%A, %d %B %Y}, it is {moment:%H:%M}; ticket {number:08x}-77.", *BASE[2:])
        for number in range(3_000)
        if (moment := begin + timedelta(minutes=97 * number))
    ]
    state, found = passed(dated)
    assert found == []
    assert varying(state, 10**18) == 0


def test_names_of_users_are_no_change_and_an_edit_beside_them_is() -> None:
    draw = random.Random(1)
    rest = BASE[1:]
    before = [prompt(BASE[0], f"You are talking to {draw.choice(NAMES)}.", *rest) for _ in range(1_500)]
    edited = [*rest[:2], "Promise whatever calms the customer."]
    after = [prompt(BASE[0], f"You are talking to {draw.choice(NAMES)}.", *edited) for _ in range(500)]
    assert passed(before)[1] == []
    assert len(passed(before + after)[1]) == 1


def test_two_agents_of_one_caller_do_not_flip_flop_and_the_edit_of_one_is_noticed_once() -> None:
    draw = random.Random(2)
    other = ["You write SQL.", "Use the tables that are listed.", "Explain nothing."]

    def play(first: Sequence[str], count: int) -> list[str]:
        return [prompt(*(first if draw.random() < 0.7 else other)) for _ in range(count)]

    assert passed(play(BASE, 3_000))[1] == []
    edited = [*BASE[:3], "Promise whatever calms the customer."]
    assert len(passed(play(BASE, 600) + play(edited, 600))[1]) == 1


def test_users_who_come_one_after_the_other_for_long_are_taken_for_changes_a_few_times_at_most() -> None:
    bursts = [prompt(BASE[0], f"You are talking to {name}.", *BASE[1:]) for name in NAMES for _ in range(250)]
    _, found = passed(bursts)
    assert 0 < len(found) <= 3


def test_a_rollback_is_noticed_and_an_agent_that_is_merely_rare_is_not() -> None:
    edited = [*BASE[:3], "Promise whatever calms the customer."]
    there_and_back = [prompt(*BASE)] * 300 + [prompt(*edited)] * 400 + [prompt(*BASE)] * 300
    assert len(passed(there_and_back)[1]) == 2
    rare = ([prompt(*BASE)] * 400 + ["You sum up the week.\nUse a table."] * 40) * 6
    # It is known from the beginning, is gone for long, and nothing new came meanwhile.
    assert len(passed([*(["You sum up the week.\nUse a table."] * 10), *rare])[1]) == 0


def test_who_tries_a_prompt_out_changes_nothing() -> None:
    tries = [prompt(*BASE)] * 300
    for number, word in enumerate(("brief", "kind", "stern", "witty", "calm")):
        tries += [prompt(*BASE, f"Be {word}.")] * 3 + [prompt(*BASE)] * (50 + number)
    assert passed(tries)[1] == []


def test_a_canary_is_a_change_once_it_has_a_fifth_of_the_requests() -> None:
    draw = random.Random(3)
    edited = [*BASE[:3], "Promise whatever calms the customer."]

    def share(of: float, count: int) -> list[str]:
        return [prompt(*(edited if draw.random() < of else BASE)) for _ in range(count)]

    assert passed(share(0, 300) + share(0.05, 1_500))[1] == []
    assert len(passed(share(0, 300) + share(0.05, 1_500) + share(1.0, 200))[1]) == 1


def test_false_alarms_over_many_histories_with_names_dates_and_passages() -> None:
    """100 histories of 1,000 requests in which nothing is edited: none is noticed."""
    alarms = 0
    for seed in range(100):
        draw = random.Random(seed)
        names = draw.sample(NAMES, draw.choice((1, 2, 3, 10, 40)))
        facts = [f"The {draw.choice(NAMES)} file says {word}." for word in ("yes", "no", "so", "all", "none", "some")]
        prompts = []
        for number in range(1_000):
            passages = draw.sample(facts, draw.randrange(0, 4)) if seed % 3 == 0 else []
            prompts.append(
                prompt(
                    BASE[0],
                    f"Today is {draw.choice(('Monday', 'Tuesday'))} {number}.",
                    f"You are talking to {draw.choice(names)}.",
                    *BASE[1:],
                    *passages,
                )
            )
        alarms += len(passed(prompts)[1])
    assert alarms == 0


def test_declarations_of_tools_are_compared_by_content_and_not_by_order() -> None:
    def tool(name: str, text: str) -> dict[str, Any]:
        return {"type": "function", "function": {"name": name, "description": text, "parameters": {"type": "object"}}}

    first = [tool("find", "Finds."), tool("pay", "Pays up to 100.")]
    assert declarations_of(first) == declarations_of(first[::-1])
    assert declarations_of(first) != declarations_of([first[0], tool("pay", "Pays anything.")])
    assert len(declarations_of([first[0], {"name": "odd", "input_schema": {}}, 7, None])) == 4


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"messages": [{"role": "developer", "content": [{"type": "text", "text": "A"}]}]}, "A"),
        ({"messages": [{"role": "user", "content": "U"}, {"role": "system", "content": "late"}]}, ""),
        ({"instructions": "I", "input": [{"role": "system", "content": "S"}]}, "I\nS"),
        ({"instructions": 7, "system": {"a": 1}, "messages": "x", "input": "hello"}, ""),
        ({"messages": [None, {"role": "system", "content": "S"}]}, ""),
    ],
)
def test_instructions_are_what_stands_before_the_conversation(request_: dict[str, Any], text: str) -> None:
    assert instructions_of(request_) == text
    assert tools_of({"tools": "none"}) == []


@pytest.mark.parametrize(("now", "later"), [("It is 10pm.", "It is 11am."), ("Build Z0.", "Build Z7.")])
def test_a_time_beside_its_digits_is_masked_whole(now: str, later: str) -> None:
    assert skeleton_of(now) == skeleton_of(later)
    assert masked(masked(now)) == masked(now)


@given(st.text(max_size=300))
def test_any_text_has_a_skeleton_that_masking_again_leaves_as_it_is(text: str) -> None:
    assert skeleton_of(text) == skeleton_of(text)
    assert masked(masked(text)) == masked(text)


PARTS = st.lists(st.sampled_from("abcdefgh"), max_size=6).map(tuple)


@given(st.lists(st.lists(st.tuples(PARTS, st.integers(1, 60)), max_size=6), max_size=30))
def test_the_state_is_a_function_of_the_batches_however_they_are_cut(
    told: list[list[tuple[tuple[str, ...], int]]],
) -> None:
    batches = [PassingBatch(number * SECOND, one) for number, one in enumerate(told, 1)]
    whole, found = advanced_passing({}, batches)
    state, more = advanced_passing({}, [])
    for one in batches:
        state, new = advanced_passing(json.loads(json.dumps(state)), [one])
        more += new
    assert (state, more) == (whole, found)
