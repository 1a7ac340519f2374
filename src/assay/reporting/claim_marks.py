"""Where the claims are in the answer: the answer cut into pieces, each of which has one set of marks throughout."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.schema import HallucinationReport, Verdict
from assay.schema.views import GRAVITY


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters of the answer that all have the same marks."""

    text: str
    claims: tuple[int, ...]
    """Indices of the claims that cover it, in reading order."""
    ending: tuple[int, ...]
    """The indices of those claims that end where it ends."""
    verdict: Verdict | None
    """The worst verdict of its claims; `None` where no claim covers it."""
    citation: int | None
    """Index of the citation that it belongs to; `None` outside of citations."""
    offending: bool
    """Whether the span of an issue covers these characters."""


def pieces(report: HallucinationReport) -> Iterator[Piece]:
    """Cuts the answer at each boundary of a claim, a citation or an offending span.

    The texts of the pieces, joined, are the answer. Time is linear in the text and in the number of spans as long as
    few spans overlap.
    """
    length = len(report.output)
    claims = [(claim.span.start, claim.span.end) for claim in report.claims]
    citations = [(citation.span.start, citation.span.end) for citation in report.citations]
    offending = [(i.span.start, i.span.end) for c in report.claims for i in c.issues if i.span is not None]
    layers = [_SpanLayer(spans, length) for spans in (claims, citations, offending)]
    boundaries = sorted({0, length}.union(*(layer.boundaries for layer in layers)))
    for start, end in pairwise(boundaries):
        covering, cited, faulty = (layer.indices_at(start) for layer in layers)
        yield Piece(
            text=report.output[start:end],
            claims=covering,
            ending=tuple(index for index in covering if min(claims[index][1], length) == end),
            verdict=worst([report.claims[index].verdict for index in covering]),
            citation=cited[0] if cited else None,
            offending=bool(faulty),
        )


def worst(verdicts: Sequence[Verdict]) -> Verdict | None:
    """The gravest of these verdicts (order of `GRAVITY`); `None` where there are none."""
    return min(verdicts, key=GRAVITY.index, default=None)


class _SpanLayer:
    """The spans of one kind (claims, citations or issues), looked up from left to right."""

    def __init__(self, spans: Sequence[tuple[int, int]], length: int) -> None:
        self._spans = [(min(start, length), min(end, length)) for start, end in spans]
        self.boundaries = {offset for start, end in self._spans if start < end for offset in (start, end)}
        self._upcoming = sorted((i for i, (s, e) in enumerate(self._spans) if s < e), key=lambda i: self._spans[i])
        self._upcoming.reverse()
        self._active: list[int] = []

    def indices_at(self, offset: int) -> tuple[int, ...]:
        """Indices of the spans that cover the character at an offset; offsets must not decrease between calls."""
        while self._upcoming and self._spans[self._upcoming[-1]][0] <= offset:
            self._active.append(self._upcoming.pop())
        self._active = [index for index in self._active if self._spans[index][1] > offset]
        return tuple(sorted(self._active))
