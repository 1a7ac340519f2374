"""Checking streams of text while they are generated.

The functions with `self` are methods of `Guard` (docs/adr/0080).
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from assay.guard.options import FurtherOptions, OnStopped, StreamMode, StreamOptions
from assay.guard.request import EvidenceLike
from assay.schema import Stakes

if TYPE_CHECKING:  # loaded with the first stream
    from assay.guard.parts import Checker
    from assay.guard.streams.text_streams import AsyncTextStream, TextStream


@overload
def stream(
    self: Checker, pieces: AsyncIterable[Any], evidence: EvidenceLike = None, **options: Unpack[StreamOptions]
) -> AsyncTextStream: ...


@overload
def stream(
    self: Checker, pieces: Iterable[Any], evidence: EvidenceLike = None, **options: Unpack[StreamOptions]
) -> TextStream: ...


def stream(
    self: Checker,
    pieces: Iterable[Any] | AsyncIterable[Any],
    evidence: EvidenceLike = None,
    *,
    run: object | None = None,
    mode: StreamMode = "enforce",
    on_withheld: OnStopped = "answer",
    read: Callable[[Any], str | None] | None = None,
    question: str | None = None,
    stakes: Stakes | str = Stakes.MEDIUM,
    task: str = "qa",
    claim_free: bool = False,
    fail_on: Literal["revise", "block"] = "revise",
    **options: Unpack[FurtherOptions],
) -> TextStream | AsyncTextStream:
    """Check a text while it is being made, and give out what may be shown of it.

    Under `enforce` a sentence is held back until it has passed. What is given out is a beginning of the text, to
    the character, and holds nothing of a claim that the gate does not release. A claim that it would block by
    itself stops the stream, even under a policy that averages over claims: what has been shown cannot be called
    back. Under `annotate` text is given out at once, and a `Correction` follows what did not pass.

    Args:
        pieces: the text as it comes, in pieces of any size; an asynchronous iterable gives an asynchronous stream.
        evidence: as in `check`.
        run: the agent run whose final answer this is, in any form that `check_run` reads; its tool results,
            passages and inputs are evidence as well.
        mode: `enforce`, or `annotate` to show first and correct.
        on_withheld: how a stream that is stopped ends: with an `answer`, which is the policy's own text as a last
            piece of the type `Notice`; with nothing more, by `end`; or `raise` a `WithheldError`.
        read: makes text of a piece, for pieces that are none; None or an empty text is passed over.
        question: what the text answers.
        stakes: how much depends on it.
        task: the kind of task.
        claim_free: whether the text is declared to contain no claims.
        fail_on: the mildest decision that withholds: `revise`, or `block` to let `revise` pass.
        options: further options of `check`, or of `check_run` where there is a run.

    Returns:
        An iterator over text, whose `outcome` and `report` say how it ended and what it cost. What `pieces` raises
        is raised here, and nothing goes out after it.

    Raises:
        InputError: the source is no stream, or a setting is wrong.
    """
    from assay.guard.streams.text_streams import TextCheck, open_stream

    if isinstance(evidence, Iterator):
        evidence = tuple(evidence)  # every sentence reads it again
    further = {**options, "question": question, "stakes": stakes, "task": task}
    check = TextCheck(self.check, self.check_run, evidence, run, fail_on, claim_free, further)
    return open_stream(pieces, check, mode=mode, on_withheld=on_withheld, read=read)


def astream(
    self: Checker,
    pieces: Iterable[Any] | AsyncIterable[Any],
    evidence: EvidenceLike = None,
    **options: Unpack[StreamOptions],
) -> AsyncTextStream:
    """As `stream`, always asynchronous: the same options, the same text. Pieces that are read without waiting are
    read on the event loop."""
    return stream(self, pieces if isinstance(pieces, AsyncIterable) else _awaited(pieces), evidence, **options)


async def _awaited(pieces: Iterable[Any]) -> AsyncIterator[Any]:
    for piece in pieces:
        yield piece
