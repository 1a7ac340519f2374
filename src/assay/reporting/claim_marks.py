"""Where the claims are in the answer: the answer cut into pieces that are each marked alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.schema import HallucinationReport, Verdict
from assay.schema.views import GRAVITY


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive characters of the answer that are marked alike."""

    text: str
    claims: tuple[int, ...]
    """Indices of the claims that cover it, in reading order."""
    ending: tuple[int, ...]
    """Those of them that end with it."""
    verdict: Verdict | None
    """The worst verdict of its claims; none where no claim covers it."""
    citation: int | None
    """Index of the citation that it belongs to."""
    offending: bool
    """Whether an issue points at these very characters."""


def pieces(report: HallucinationReport) -> Iterator[Piece]:
    """Cuts the answer at every border of a claim, a citation and an offending span; the pieces add up to the answer.

    Time is linear in the text and in the number of spans, but for overlaps.
    """
    length = len(report.output)
    claims = [(claim.span.start, claim.span.end) for claim in report.claims]
    citations = [(citation.span.start, citation.span.end) for citation in report.citations]
    faults = [(i.span.start, i.span.end) for c in report.claims for i in c.issues if i.span is not None]
    layers = [_Layer(spans, length) for spans in (claims, citations, faults)]
    borders = sorted({0, length}.union(*(layer.borders for layer in layers)))
    for start, end in pairwise(borders):
        covering, cited, faulty = (layer.at(start) for layer in layers)
        yield Piece(
            text=report.output[start:end],
            claims=covering,
            ending=tuple(index for index in covering if min(claims[index][1], length) == end),
            verdict=worst([report.claims[index].verdict for index in covering]),
            citation=cited[0] if cited else None,
            offending=bool(faulty),
        )


def worst(verdicts: Sequence[Verdict]) -> Verdict | None:
    """The gravest verdict, or none of none."""
    return min(verdicts, key=GRAVITY.index, default=None)


class _Layer:
    """The spans of one sort, asked for from left to right."""

    def __init__(self, spans: Sequence[tuple[int, int]], length: int) -> None:
        self._spans = [(min(start, length), min(end, length)) for start, end in spans]
        self.borders = {border for start, end in self._spans if start < end for border in (start, end)}
        self._waiting = sorted((i for i, (s, e) in enumerate(self._spans) if s < e), key=lambda i: self._spans[i])
        self._waiting.reverse()
        self._active: list[int] = []

    def at(self, place: int) -> tuple[int, ...]:
        """Indices of the spans over one border; places must not go back."""
        while self._waiting and self._spans[self._waiting[-1]][0] <= place:
            self._active.append(self._waiting.pop())
        self._active = [index for index in self._active if self._spans[index][1] > place]
        return tuple(sorted(self._active))
