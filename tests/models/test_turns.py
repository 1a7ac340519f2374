"""Turns at the network go to whoever had least of it lately."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.tiny_models import write_model

from assay.models import fair_queue as module
from assay.models.cross_encoder import OnnxCrossEncoder
from assay.models.fair_queue import (
    HALF_LIFE_S,
    FairQueue,
    StoppedError,
    current_ticket,
    in_turns,
    turn_of,
)

PAIRS = [("Leave is two weeks.", f"Leave is {n} weeks.") for n in range(1, 20)]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end, "it did not come about in ten seconds"
        time.sleep(0.001)


def waiting(turns: FairQueue) -> int:
    return len(turns._waiting)


def order_of(turns: FairQueue, owners: list[str]) -> list[str]:
    """The order in which owners that wait together get their turns, where one turn is held at a time."""
    came: list[str] = []
    threads = []

    def wait(owner: str) -> None:
        with turns.ticket(owner).turn():
            came.append(owner)

    holder = turns.ticket("the holder")
    turns.take(holder)
    for owner in owners:
        thread = threading.Thread(target=wait, args=(owner,))
        thread.start()
        threads.append(thread)
        until(lambda: waiting(turns) == len(threads))
    turns.give_back("the holder", 0.0)
    for thread in threads:
        thread.join(10)
    return came


def test_who_had_least_comes_first_and_equal_ones_in_the_order_in_which_they_came() -> None:
    clock = Clock()
    turns = FairQueue(1, clock=clock)
    turns.add("heavy", 9.0)
    turns.add("light", 0.5)
    assert order_of(turns, ["heavy", "new", "light", "newer"]) == ["new", "newer", "light", "heavy"]


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.1, 100), min_size=1))
def test_turns_are_given_in_the_order_of_what_was_attained(had: dict[str, float]) -> None:
    turns = FairQueue(1, clock=lambda: 0.0)
    for owner, seconds in had.items():
        turns.add(owner, seconds)
    came = order_of(turns, list(had))
    assert [had[one] for one in came] == sorted(had.values())


def test_what_was_attained_is_forgotten_by_half_after_every_half_life() -> None:
    clock = Clock()
    turns = FairQueue(1, clock=clock)
    turns.add("a", 8.0)
    clock.now += 3 * HALF_LIFE_S
    assert turns.attained("a") == pytest.approx(1.0)
    assert turns.attained("nobody") == 0.0


def test_as_many_turns_are_held_at_once_as_there_are_slots() -> None:
    turns, held, most = FairQueue(3), [0], [0]
    lock = threading.Lock()

    def work(owner: str) -> None:
        for _ in range(20):
            with turns.ticket(owner).turn():
                with lock:
                    held[0] += 1
                    most[0] = max(most[0], held[0])
                time.sleep(0.0005)
                with lock:
                    held[0] -= 1

    threads = [threading.Thread(target=work, args=(f"owner {n % 4}",)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert most[0] == 3
    assert (held[0], waiting(turns)) == (0, 0)


def test_a_ticket_that_is_stopped_while_it_waits_gets_no_turn_and_takes_none_away() -> None:
    turns = FairQueue(1)
    holder, stopped = turns.ticket("a"), turns.ticket("b")
    turns.take(holder)
    found: list[BaseException] = []

    def wait() -> None:
        try:
            turns.take(stopped)
        except StoppedError as error:
            found.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: waiting(turns) == 1)
    stopped.stop()
    thread.join(10)
    assert len(found) == 1
    with pytest.raises(StoppedError, match="stopped"), stopped.turn():
        pytest.fail("a stopped ticket has no turn")
    turns.give_back("a", 0.1)
    with turns.ticket("c").turn():
        assert waiting(turns) == 0


def test_a_turn_that_ends_with_an_error_is_given_back() -> None:
    turns = FairQueue(1)
    with pytest.raises(ValueError, match="broken"), turns.ticket("a").turn():
        raise ValueError("broken")
    with turns.ticket("b").turn():
        pass


def test_only_so_many_owners_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OWNERS", 3)
    turns = FairQueue(1, clock=lambda: 0.0)
    for n in range(10):
        turns.add(f"owner {n}", 1.0)
    assert [turns.attained(f"owner {n}") > 0 for n in range(10)] == [False] * 7 + [True] * 3


def test_without_a_ticket_nothing_is_waited_for() -> None:
    assert current_ticket() is None
    with turn_of(None):
        pass
    ticket = FairQueue(1).ticket("a")
    with in_turns(ticket):
        assert current_ticket() is ticket
    assert current_ticket() is None


@pytest.mark.parametrize("threads", [1, 2])
def test_a_network_scores_the_same_in_turns_and_stops_with_its_ticket(tmp_path: Path, threads: int) -> None:
    network = OnnxCrossEncoder.load(write_model(tmp_path), threads=threads)
    turns = FairQueue(1)
    with in_turns(turns.ticket("a")):
        assert network.score(PAIRS).tolist() == network.score(PAIRS).tolist()
    assert turns.attained("a") > 0
    stopped = turns.ticket("b")
    stopped.stop()
    with in_turns(stopped), pytest.raises(StoppedError):
        network.score(PAIRS)
