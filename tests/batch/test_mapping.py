"""The built-in `map`, by workers: the same answers in the same order, whatever dies and however long each takes."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.batch.engines import Died, Done
from assay.batch.mapping import Mapped, MappedWork
from assay.batch.values import Piece
from assay.errors import InputError, PolicyError, ReviewError, VerifierError


class Hands:
    """An engine in this process: its workers die, and end their pieces, in an order that the test draws."""

    def __init__(self, work: MappedWork, capacity: int, draw: Callable[[int], int], deaths: dict[int, int]) -> None:
        self.capacity = capacity
        self.most_held = 0
        self._answer = work.begin(None)  # type: ignore[arg-type]
        self._draw, self._deaths = draw, deaths
        self._held: list[Piece] = []

    def submit(self, piece: Piece) -> None:
        self._held.append(piece)
        self.most_held = max(self.most_held, len(self._held))

    def wait(self) -> Done | Died:
        piece = self._held.pop(self._draw(len(self._held)))
        if self._deaths.get(piece.partition, 0) > piece.deaths:
            return Died(piece, "the worker that judged it was ended by SIGKILL")
        return Done(piece, self._answer(piece.rows))

    def close(self) -> None:
        self._held.clear()


def squares(_: Any) -> Callable[[int], int]:
    return lambda number: number * number


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 30), st.integers(1, 4), st.dictionaries(st.integers(0, 30), st.integers(1, 2)), st.data())
def test_the_answers_are_those_of_map_whatever_ends_first_and_whoever_dies_once_or_twice(
    count: int, capacity: int, deaths: dict[int, int], data: st.DataObject
) -> None:
    work = MappedWork(squares)

    def draw(many: int) -> int:
        return data.draw(st.integers(0, many - 1))

    with Mapped(lambda: Hands(work, capacity, draw, deaths)) as mapped:
        assert list(mapped(range(count))) == list(map(squares(None), range(count)))
        assert list(mapped(range(count))) == [number * number for number in range(count)]


def test_chunks_are_read_ahead_only_as_far_as_keeps_the_workers_busy() -> None:
    read: list[int] = []

    def chunks() -> Any:
        for number in range(500):
            read.append(number)
            yield number

    with Mapped(lambda: Hands(MappedWork(squares), 2, lambda many: many - 1, {})) as mapped:  # the newest ends first
        seen = mapped(chunks())
        next(seen)
        assert len(read) <= 2 * (2 + 2) * 4


@pytest.mark.parametrize(
    ("raised", "kind"),
    [(InputError("no"), InputError), (PolicyError("no"), PolicyError), (ReviewError("no", "stale"), VerifierError)],
)
def test_an_error_of_assay_comes_out_at_its_place_as_what_it_is(raised: Exception, kind: type[Exception]) -> None:
    def failing(_: Any) -> Callable[[int], int]:
        def answer(number: int) -> int:
            if number == 3:
                raise raised
            return number

        return answer

    with Mapped(lambda: Hands(MappedWork(failing), 2, lambda _: 0, {})) as mapped:
        seen: list[int] = []
        with pytest.raises(kind, match="no"):
            seen += mapped(range(6))
    assert seen == [] or seen == [0, 1, 2]


def test_a_chunk_over_which_workers_keep_dying_ends_the_work_with_the_reason() -> None:
    with (
        Mapped(lambda: Hands(MappedWork(squares), 2, lambda _: 0, {2: 3})) as mapped,
        pytest.raises(VerifierError, match="SIGKILL, 3 times in a row"),
    ):
        list(mapped(range(5)))


def test_no_engine_is_started_for_no_chunk() -> None:
    def start() -> Any:
        raise AssertionError("started")

    with Mapped(start) as mapped:
        assert list(mapped([])) == []
