"""Deciding passages of the evidence, quoted in their surroundings."""

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

_WHOLE: Final = 1_200
"""An evidence text up to so many characters is shown whole around the deciding words."""
_AROUND: Final = 320
"""Characters on either side of the deciding words of a longer one."""
LONGEST_QUOTE: Final = 4_000

_RELATIONS: Final = {
    "supports": ("supports", "good"),
    "contradicts": ("contradicts", "bad"),
    "related": ("related", "quiet"),
}


def quotes(spans: Sequence[EvidenceSpan], evidence: Mapping[str, Evidence]) -> list[Markup]:
    """The deciding passages: those of one text that stand close together are marked in one quotation."""
    groups: list[list[EvidenceSpan]] = []
    for span in spans:
        text = evidence.get(span.evidence_id)
        near = (one for one in groups if _is_near(one[0], span, text))
        found = next(near, None)
        if found is None:
            groups.append([span])
        else:
            found.append(span)
    return [quote(group_, evidence.get(group_[0].evidence_id)) for group_ in groups]


def _is_near(first: EvidenceSpan, other: EvidenceSpan, evidence: Evidence | None) -> bool:
    """Whether two passages are shown in one quotation: they say the same of the claim, and the first one's
    surroundings hold the other."""
    if evidence is None or (first.evidence_id, first.relation) != (other.evidence_id, other.relation):
        return False
    if not (_stands(first, evidence) and _stands(other, evidence)):
        return False
    return len(evidence.text) <= _WHOLE or (
        other.start >= first.start - _AROUND and other.end <= first.end + _AROUND and first.text != other.text
    )


def _stands(span: EvidenceSpan, evidence: Evidence) -> bool:
    return evidence.text[span.start : span.end] == span.text


def quote(spans: Sequence[EvidenceSpan], evidence: Evidence | None) -> Markup:
    """Deciding words of one text in their surroundings; alone where the evidence was erased or says something else.

    Args:
        spans: passages of one text with one relation; several only where the text holds them.
        evidence: the text, as far as it is there.
    """
    first = spans[0]
    words, tone = _RELATIONS[first.relation]
    about: list[Child] = []
    if evidence is not None:
        about = [foreign(shorten(one, 120)) for one in (evidence.title, evidence.source, evidence.version) if one]
    shown = (
        _in_place(spans, evidence.text)
        if evidence is not None and _stands(first, evidence)
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
    """A text around its passages. Words that stand in a longer passage too are those that it hangs on: they are marked
    twice as strong."""
    low, high = min(one.start for one in spans), max(one.end for one in spans)
    first, last = (0, len(text)) if len(text) <= _WHOLE else (max(low - _AROUND, 0), min(high + _AROUND, len(text)))
    cuts = sorted({first, last, *(one.start for one in spans), *(one.end for one in spans)})
    whole = {(one.start, one.end) for one in spans}
    parts: list[Child] = ["…" if first > 0 else ""]
    for start, end in pairwise(cuts):
        covers = sum(a <= start and end <= b for a, b in whole)
        piece = text[start:end] if covers == 0 else text[start:end][:LONGEST_QUOTE]
        strong = "exact" if covers > 1 else None
        parts.append(piece if covers == 0 else foreign(piece, "mark", class_=strong))
    return [*parts, "…" if last < len(text) else ""]
