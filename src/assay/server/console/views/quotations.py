"""Quotations of the passages that decide about a claim, with the text around them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from assay.reporting import (
    Child,
    Markup,
    foreign,
    tag,
)
from assay.schema import (
    Evidence,
    EvidenceSpan,
)
from assay.server.console.parts import (
    badge,
    number,
    shorten,
)

_LONGEST_WHOLE: Final = 1_200
"""The longest evidence, in characters, that is shown whole around a passage."""
_CONTEXT: Final = 320
"""Characters of longer evidence that are shown before and after a passage."""
LONGEST_QUOTE: Final = 4_000
"""The most characters that one quotation shows."""

_RELATIONS: Final = {
    "supports": ("supports", "good"),
    "contradicts": ("contradicts", "bad"),
    "related": ("related", "quiet"),
}


def quotes(spans: Sequence[EvidenceSpan], evidence: Mapping[str, Evidence]) -> list[Markup]:
    """Quotations of passages; passages of the same evidence that are close together share one quotation."""
    groups: list[list[EvidenceSpan]] = []
    for span in spans:
        text = evidence.get(span.evidence_id)
        near = next((spans_ for spans_ in groups if _is_near(spans_[0], span, text)), None)
        if near is None:
            groups.append([span])
        else:
            near.append(span)
    return [quote(spans_, evidence.get(spans_[0].evidence_id)) for spans_ in groups]


def _is_near(first: EvidenceSpan, other: EvidenceSpan, evidence: Evidence | None) -> bool:
    """Whether two passages share a quotation: they have the same relation to the claim, and the text that is shown
    around the first contains the other."""
    if evidence is None or (first.evidence_id, first.relation) != (other.evidence_id, other.relation):
        return False
    if not (_is_in_place(first, evidence) and _is_in_place(other, evidence)):
        return False
    return len(evidence.text) <= _LONGEST_WHOLE or (
        other.start >= first.start - _CONTEXT and other.end <= first.end + _CONTEXT and first.text != other.text
    )


def _is_in_place(span: EvidenceSpan, evidence: Evidence) -> bool:
    """Whether the evidence still has the words of the passage at its offsets."""
    return evidence.text[span.start : span.end] == span.text


def quote(spans: Sequence[EvidenceSpan], evidence: Evidence | None) -> Markup:
    """One quotation of passages with the text around them; without it if the evidence was erased or has changed.

    Args:
        spans: passages of the same evidence with the same relation to the claim; more than one only if the evidence
            has each of them at its offsets.
        evidence: the evidence; `None` if it is not stored.
    """
    first = spans[0]
    words, tone = _RELATIONS[first.relation]
    about: list[Child] = []
    if evidence is not None:
        about = [foreign(shorten(one, 120)) for one in (evidence.title, evidence.source, evidence.version) if one]
    shown = (
        _in_place(spans, evidence.text)
        if evidence is not None and _is_in_place(first, evidence)
        else [foreign(first.text[:LONGEST_QUOTE], "mark")]
    )
    return tag(
        "figure",
        tag(
            "figcaption",
            badge(f"{words} {number(max(one.score for one in spans))}", tone),
            foreign(shorten(first.evidence_id, 120), "b"),
            ([" · ", one] for one in about),
        ),
        tag("blockquote", shown, dir="auto", class_="text"),
        class_="quote",
    )


def _in_place(spans: Sequence[EvidenceSpan], text: str) -> list[Child]:
    """Passages marked within their text. Words that several passages contain are what the decision depends on most:
    they are marked more strongly."""
    low, high = min(one.start for one in spans), max(one.end for one in spans)
    first, last = (
        (0, len(text)) if len(text) <= _LONGEST_WHOLE else (max(low - _CONTEXT, 0), min(high + _CONTEXT, len(text)))
    )
    cuts = sorted({first, last, *(one.start for one in spans), *(one.end for one in spans)})
    ranges = {(one.start, one.end) for one in spans}
    parts: list[Child] = ["…" if first > 0 else ""]
    for start, end in pairwise(cuts):
        covers = sum(a <= start and end <= b for a, b in ranges)
        piece = text[start:end] if covers == 0 else text[start:end][:LONGEST_QUOTE]
        strong = "exact" if covers > 1 else None
        parts.append(piece if covers == 0 else foreign(piece, "mark", class_=strong))
    return [*parts, "…" if last < len(text) else ""]
