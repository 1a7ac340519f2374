"""Events out of bytes, whatever the chunks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.wire.sse import SseReader, read_event

LINE = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=12)
EVENT = st.tuples(st.lists(st.tuples(st.sampled_from(("data", "event", "id", "")), LINE), min_size=1, max_size=3))


@given(
    events=st.lists(EVENT, max_size=6),
    end=st.sampled_from(("\n", "\r\n", "\r")),
    cuts=st.lists(st.integers(0, 500), max_size=20),
)
def test_every_byte_comes_out_in_the_event_that_it_belongs_to_whatever_the_chunks(
    events: list[tuple[list[tuple[str, str]]]], end: str, cuts: list[int]
) -> None:
    written = [end.join(f"{name}: {value}" for name, value in lines) + end + end for (lines,) in events]
    sent = "".join(written).encode()
    reader, found = SseReader(), []
    edges = [0, *sorted({cut % (len(sent) + 1) for cut in cuts}), len(sent)]
    for a, b in pairwise(edges):
        found += reader.feed(sent[a:b])
    rest = reader.end()
    found += [rest] if rest is not None else []
    assert b"".join(event.raw for event in found) == sent
    whole = [event for event in found if event.raw.strip()]
    assert [event.data for event in whole] == [_data(lines) for (lines,) in events]


def _data(lines: list[tuple[str, str]]) -> str | None:
    values = [value for name, value in lines if name == "data"]
    return "\n".join(values) if values else None


def test_an_event_larger_than_the_limit_is_refused() -> None:
    with pytest.raises(InputError):
        SseReader(100).feed(b"data: " + b"x" * 200)


def test_bytes_that_are_no_text_are_told_of() -> None:
    assert read_event(b"data: \xff\n\n").broken


def test_a_stream_of_a_million_lines_takes_time_in_its_length() -> None:
    reader = SseReader(10_000_000)
    found = sum(len(reader.feed(b"x\n" * 50)) for _ in range(20_000))
    assert found == 0
    assert len(reader.feed(b"\n")) == 1
