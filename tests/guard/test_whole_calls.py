"""A call of a stream goes out whole or not at all, whatever stands between its pieces."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assay.guard.streams.holdback import Holdback, StreamDelta

Event = tuple[str, int, bool]
"""Whose piece an event is, the how manyth of all events, and whether it is the last of its call."""


class Calls:
    """Reads events that are pieces of calls."""

    def read(self, event: Event, data: Any) -> StreamDelta:
        name, _, last = event
        return StreamDelta(calls=[name], ended_calls={name: event} if last else {})

    def end(self) -> StreamDelta:
        return StreamDelta()

    def sent(self, data: Any) -> None:
        """Takes no note."""


def events_of(names: list[str]) -> list[Event]:
    last = {name: at for at, name in enumerate(names)}
    return [(name, at, last[name] == at) for at, name in enumerate(names)]


@given(st.lists(st.sampled_from("abcd"), max_size=24), st.sets(st.sampled_from("abcd")))
def test_what_goes_out_has_all_of_each_call_and_none_that_did_not_pass(names: list[str], bad: set[str]) -> None:
    queue: Holdback[Event] = Holdback(Calls())
    out: list[Event] = []
    for event in events_of(names):
        queue.take(event, None)
        job = queue.job()
        if job is not None and not bad & set(job.calls):
            queue.settle(job)
        out += [held.event for held in queue.release()]
    shown = {name for name, _, _ in out}
    assert not shown & bad
    assert all(len([one for one in out if one[0] == name]) == names.count(name) for name in shown)
    assert out == events_of(names)[: len(out)]


@given(st.lists(st.sampled_from("abcd"), max_size=24))
def test_calls_that_all_pass_all_go_out_in_their_order(names: list[str]) -> None:
    queue: Holdback[Event] = Holdback(Calls())
    out: list[Event] = []
    for event in events_of(names):
        queue.take(event, None)
        job = queue.job()
        if job is not None:
            queue.settle(job)
        out += [held.event for held in queue.release()]
    assert out == events_of(names)


def test_a_call_with_a_piece_of_another_in_its_middle_waits_for_that_one() -> None:
    queue: Holdback[Event] = Holdback(Calls())
    for event in (("a", 0, False), ("b", 1, False), ("a", 2, True)):
        queue.take(event, None)
    job = queue.job()
    assert job is not None
    assert set(job.calls) == {"a"}
    queue.settle(job)
    assert queue.release() == []
    queue.take(("b", 3, True), None)
    rest = queue.job()
    assert rest is not None
    queue.settle(rest)
    assert [held.event[1] for held in queue.release()] == [0, 1, 2, 3]
