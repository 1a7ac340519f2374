"""Over random streams, chunkings and verdicts: what goes out is a beginning, and no part of a blocked claim."""

import asyncio
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import VerifierError
from assay.guard import Guard
from assay.guard.rulings import Ruling
from assay.guard.streams.holdback import Job
from assay.guard.streams.text_streams import Correction, Notice, open_stream
from assay.schema import Action
from assay.testing import FakeScorer

OPENINGS = ("The office opens at", "Κλείνει στις", "库房编号是", "- Item", "Dr. Żółć pays", "Fee of $3.50 and")
ENDS = (". ", "! ", "? ", ".\n", "。", ".\n\n", ".) ", ". [1] ", " ")
Said = tuple[list[str], frozenset[str], frozenset[str], frozenset[str]]


class Judge:
    """Rules on texts by the marks that stand in them, in place of a guard."""

    fail_on = "revise"

    def __init__(self, bad: frozenset[str], claims: frozenset[str], failing: frozenset[str]) -> None:
        self.bad, self.claims, self.failing = bad, claims, failing

    def rule(self, job: Job) -> dict[str, Ruling]:
        found = {}
        for text in job.texts:
            if any(mark in text.text for mark in self.failing):
                raise VerifierError("the network is gone")
            blocked = any(mark in text.text for mark in self.bad)
            waits = not text.final and not text.begun and not any(mark in text.text for mark in self.claims)
            action = Action.BLOCK if blocked else Action.EMIT
            passes = not blocked and not waits
            found[text.channel] = Ruling(
                action.value, passes, None if passes else "withheld", waits=waits and not blocked
            )
        return found


@st.composite
def texts(draw: st.DrawFn) -> Said:
    """Sentences, and the marks of those that are blocked, that are claims, and of which the check fails."""
    sentences = []
    marks: dict[str, set[str]] = {"blocked": set(), "claim": set(), "failing": set(), "greeting": set()}
    for number in range(draw(st.integers(0, 7))):
        mark = f"q{number}z"
        sentences.append(f"{draw(st.sampled_from(OPENINGS))} {mark} a day{draw(st.sampled_from(ENDS))}")
        kind = draw(st.sampled_from(("claim", "claim", "claim", "blocked", "greeting", "failing")))
        marks[kind].add(mark)
    claims = marks["claim"] | marks["blocked"] | marks["failing"]
    return sentences, frozenset(marks["blocked"]), frozenset(claims), frozenset(marks["failing"])


def cut_at(text: str, places: Iterable[int]) -> list[str]:
    edges = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


def released(stream: Any) -> list[str]:
    """What a reader gets, from either kind of stream."""
    if not hasattr(stream, "__anext__"):
        return list(stream)

    async def read() -> list[str]:
        return [piece async for piece in stream]

    return asyncio.run(read())


async def awaited(pieces: list[str]) -> Any:
    for piece in pieces:
        await asyncio.sleep(0)
        yield piece


def starts(sentences: list[str]) -> list[int]:
    return [sum(map(len, sentences[:number])) for number in range(len(sentences))]


@settings(max_examples=200, deadline=None)
@given(said=texts(), cuts=st.lists(st.integers(0, 10_000), max_size=60), waits=st.booleans())
def test_nothing_of_a_blocked_claim_goes_out_and_what_goes_out_is_a_beginning(
    said: Said, cuts: list[int], waits: bool
) -> None:
    sentences, bad, claims, failing = said
    text = "".join(sentences)
    pieces = cut_at(text, cuts)
    judge: Any = Judge(bad, claims, failing)
    source = pieces if waits else awaited(pieces)
    stream = open_stream(source, judge, mode="enforce", on_withheld="answer", read=None)
    shown = released(stream)
    out = "".join(piece for piece in shown if not isinstance(piece, Notice))
    stops = [text.index(mark) for mark in bad | failing]
    begins = max(at for at in starts(sentences) if at <= min(stops)) if stops else len(text)
    assert text.startswith(out)
    assert len(out) <= begins
    assert out == stream.text
    assert stream.outcome.finished
    if not stops:
        assert out == text
        assert stream.outcome.passed
    else:
        assert not stream.outcome.passed
        assert isinstance(shown[-1], Notice)


@settings(max_examples=100, deadline=None)
@given(said=texts(), cuts=st.lists(st.integers(0, 10_000), max_size=60), waits=st.booleans())
def test_annotate_gives_out_everything_and_corrects_what_does_not_pass(
    said: Said, cuts: list[int], waits: bool
) -> None:
    sentences, bad, claims, failing = said
    text = "".join(sentences)
    pieces = cut_at(text, cuts)
    judge: Any = Judge(bad, claims, failing)
    source = pieces if waits else awaited(pieces)
    stream = open_stream(source, judge, mode="annotate", on_withheld="answer", read=None)
    shown = released(stream)
    assert "".join(piece for piece in shown if not isinstance(piece, Correction)) == text
    assert any(isinstance(piece, Correction) for piece in shown) == bool(bad | failing)
    assert stream.outcome.passed == (not bad | failing)


FACTS = {
    "Partners are entitled to 2 weeks of leave.": True,
    "Partners are entitled to 4 weeks of leave.": False,
    "Leave is paid in full.": True,
    "The office closes at 18:30.": True,
    "The office closes at 21:45.": False,
    "Hello there!": True,
}
EVIDENCE = "Partners are entitled to 2 weeks of leave. Leave is paid in full. The office closes at 18:30."


@settings(max_examples=40, deadline=None)
@given(
    chosen=st.lists(st.sampled_from(sorted(FACTS)), min_size=1, max_size=6),
    cuts=st.lists(st.integers(0, 10_000), max_size=40),
)
def test_a_real_guard_lets_no_character_of_a_wrong_sentence_out(chosen: list[str], cuts: list[int]) -> None:
    text = " ".join(chosen)
    stream = Guard(scorer=FakeScorer()).stream(cut_at(text, cuts), EVIDENCE)
    out = "".join(piece for piece in stream if not isinstance(piece, Notice))
    at = 0
    for sentence in chosen:
        if not FACTS[sentence]:
            break
        at += len(sentence) + 1
    assert text.startswith(out)
    assert len(out) <= at
