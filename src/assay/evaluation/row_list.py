"""The rows of an evaluation, to be opened one by one: what was said, what the evidence has, and where they part."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from assay.evaluation.figures.slice_rates import is_flagged
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.reporting import Child, Markup, foreign, tag
from assay.schema import Evidence
from assay.stats import shown_score

MOST_ERRORS: Final = 300
"""Errors that are shown, the surest first; the rest are counted."""
MOST_RIGHT: Final = 100
"""Rows judged rightly that are shown, the least sure first."""
PASSAGES: Final = 6
"""Passages of a row that are shown."""
LONGEST: Final = 2_000
"""Characters of a passage, or of a text, that are shown."""

STYLE: Final = """
details.row{border-top:1px solid var(--line);padding:.45rem 0}
details.row>summary{cursor:pointer;display:grid;grid-template-columns:6rem 3.5rem minmax(0,1fr);gap:.2rem .8rem}
details.row>div{padding:.4rem 0 .6rem 1rem;overflow-wrap:anywhere}
details.row .text{white-space:pre-wrap}
mark{color:inherit;background:var(--bad-wash);text-decoration:underline wavy var(--bad)}
mark.label{background:var(--doubt-wash);text-decoration:underline dashed var(--doubt)}
mark.both{background:var(--bad-wash);text-decoration:underline double var(--bad)}
mark.near{background:var(--good-wash);text-decoration:none}
@media(max-width:40rem){details.row>summary{grid-template-columns:minmax(0,1fr)}}
"""
"""What the list needs besides the page's own style; each mark has a line of its own besides its colour."""

_SENTENCE: Final = re.compile(r"[^.!?\n]*[.!?\n]+|[^.!?\n]+$")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Judged:
    """One row with what was said of it."""

    row: Row
    result: Result
    flagged: bool

    @property
    def kind(self) -> str:
        """What became of it: `missed`, `false alarm`, `not judged` or `right`."""
        if self.result.score is None:
            return "not judged"
        if self.flagged == self.row.wrong:
            return "right"
        return "false alarm" if self.flagged else "missed"

    @property
    def sure(self) -> float:
        """How sure the verifier was of what it said, from 0 to 1; of what it could not judge, 0."""
        if self.result.score is None:
            return 0.0
        return 1 - self.result.score if self.flagged else self.result.score


def judged_rows(rows: Sequence[Row], results: Sequence[Result], threshold: float | None = None) -> list[Judged]:
    """The labelled rows with what was said of them."""
    pairs = zip(rows, results, strict=True)
    return [Judged(row, result, is_flagged(result, threshold)) for row, result in pairs if row.label is not None]


def row_sections(judged: Sequence[Judged]) -> list[Markup]:
    """Errors with the surest first, then rows judged rightly with the least sure first."""
    wrong = sorted((one for one in judged if one.kind != "right"), key=lambda one: (-one.sure, one.row.set, one.row.id))
    right = sorted((one for one in judged if one.kind == "right"), key=lambda one: (one.sure, one.row.set, one.row.id))
    legend = mark_legend()
    return [
        _section("Errors, the surest first", wrong, MOST_ERRORS, legend),
        _section("Judged rightly, the least sure first", right, MOST_RIGHT, None),
    ]


def mark_legend() -> Markup:
    """What each mark stands for."""
    return tag(
        "p",
        tag("mark", "pointed at by assay"),
        " ",
        tag("mark", "wrong by the label", class_="label"),
        " ",
        tag("mark", "both", class_="both"),
        " ",
        tag("mark", "the sentence that shares most words", class_="near"),
        class_="small",
    )


def _section(title: str, found: Sequence[Judged], most: int, legend: Markup | None) -> Markup:
    shown = [_row(one) for one in found[:most]]
    more = f"{len(found) - most:,} more are left out of this page." if len(found) > most else None
    note = tag("p", more, class_="soft") if more else None
    return tag("section", tag("h2", f"{title}: {len(found):,}"), legend if shown else None, shown, note)


def _row(one: Judged) -> Markup:
    score = "–" if one.result.score is None else shown_score(one.result.score)
    style = {"missed": "bad", "false alarm": "doubt", "not judged": "bad"}.get(one.kind, "good")
    short = one.row.text if len(one.row.text) <= 160 else one.row.text[:159] + "…"
    kind = tag("span", one.kind, tag("span", class_="then"), class_=style)
    head = tag("summary", kind, tag("span", score, class_="num"), foreign(short, "span"))
    facts = f"{one.row.set}/{one.row.id} · labelled {one.row.label} · {one.result.verdict.replace('_', ' ')}"
    body: list[Child] = [tag("p", foreign(facts), class_="small soft")]
    if one.row.question is not None:
        body.append(tag("p", foreign(one.row.question)))
    body.append(marked_text(one.row.text, one.result.spans, one.row.spans or ()))
    body += passages(one.row.evidence, one.row.text)
    return tag(
        "details",
        head,
        tag("div", body),
        class_="row",
        data_kind=one.kind,
        data_wrong=int(one.row.wrong),
        data_score="" if one.result.score is None else one.result.score,
    )


Spans: TypeAlias = Sequence[tuple[int, int]]
"""Beginnings and ends of characters."""


def marked_text(text: str, pointed: Spans, labelled: Spans) -> Markup:
    """A text with what the verifier pointed at and what the label marks.

    Args:
        text: what was said; its beginning is shown where it is long.
        pointed: the characters that the verifier's issues point at.
        labelled: those that are wrong by the label.
    """
    return tag("p", list(_marked(text, pointed, labelled)), dir="auto", class_="text")


def _marked(whole: str, pointed: Spans, labelled: Spans) -> Iterator[Child]:
    text = whole[:LONGEST]
    ours = {at for start, end in pointed for at in range(start, min(end, len(text)))}
    theirs = {at for start, end in labelled for at in range(start, min(end, len(text)))}
    styles = [(at in ours, at in theirs) for at in range(len(text))]
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or styles[at] != styles[start]:
            by_us, by_label = styles[start]
            piece = text[start:at]
            if by_us or by_label:
                yield tag("mark", piece, class_="both" if by_us and by_label else "label" if by_label else None)
            else:
                yield piece
            start = at
    if len(whole) > LONGEST:
        yield f"… {len(whole) - LONGEST:,} characters more"


def passages(evidence: Sequence[Evidence], text: str) -> list[Markup]:
    """The first passages of a row, each with the sentence marked that shares most words with the text."""
    shown = [_passage(piece.id, piece.text, text) for piece in evidence[:PASSAGES]]
    if len(evidence) > PASSAGES:
        shown.append(tag("p", f"… and {len(evidence) - PASSAGES} more passages", class_="soft"))
    return shown


def _passage(name: str, text: str, claim: str) -> Markup:
    """A passage with the sentence marked that shares most words with the claim, and what stands around it."""
    wanted = set(_WORD.findall(claim.lower()))
    pieces = [match.group() for match in _SENTENCE.finditer(text)] or [text]
    shared = [len(wanted & set(_WORD.findall(piece.lower()))) for piece in pieces]
    best = max(range(len(pieces)), key=lambda index: (shared[index], -len(pieces[index]), -index))
    before, after = "".join(pieces[:best]), "".join(pieces[best + 1 :])
    room = LONGEST // 2
    parts: list[Child] = [("… " + before[-room:]) if len(before) > room else before]
    parts.append(tag("mark", pieces[best][:LONGEST], class_="near") if shared[best] else pieces[best][:LONGEST])
    parts.append((after[:room] + " …") if len(after) > room else after)
    return tag("p", tag("b", foreign(f"[{name}] ")), tag("span", parts, dir="auto", class_="text"))
