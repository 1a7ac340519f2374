"""The rows of an evaluation as a list of entries to open: the text, its evidence, and the words that are wrong."""

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
"""The most errors that are shown, the most confident first; the rest are counted."""
MOST_RIGHT: Final = 100
"""The most rightly judged rows that are shown, the least confident first."""
MOST_PASSAGES: Final = 6
"""The most passages of a row that are shown."""
MOST_CHARACTERS: Final = 2_000
"""The most characters of a passage or a text that are shown."""

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
"""The style of the list; each mark has an underline of its own besides its colour, so that it does not need colour."""

_SENTENCE: Final = re.compile(r"[^.!?\n]*[.!?\n]+|[^.!?\n]+$")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """One row with its result."""

    row: Row
    result: Result
    flagged: bool

    @property
    def kind(self) -> str:
        """`missed`, `false alarm`, `not judged` or `right`."""
        if self.result.score is None:
            return "not judged"
        if self.flagged == self.row.wrong:
            return "right"
        return "false alarm" if self.flagged else "missed"

    @property
    def sure(self) -> float:
        """The confidence of the verifier in its verdict, from 0 to 1; 0 if it could not judge."""
        if self.result.score is None:
            return 0.0
        return 1 - self.result.score if self.flagged else self.result.score


def judged_rows(rows: Sequence[Row], results: Sequence[Result], threshold: float | None = None) -> list[JudgedRow]:
    """The labelled rows with their results."""
    pairs = zip(rows, results, strict=True)
    return [JudgedRow(row, result, is_flagged(result, threshold)) for row, result in pairs if row.label is not None]


def row_sections(judged: Sequence[JudgedRow]) -> list[Markup]:
    """The errors, the most confident first; then the rightly judged rows, the least confident first."""
    wrong = sorted(
        (judged_row for judged_row in judged if judged_row.kind != "right"),
        key=lambda judged_row: (-judged_row.sure, judged_row.row.set, judged_row.row.id),
    )
    right = sorted(
        (judged_row for judged_row in judged if judged_row.kind == "right"),
        key=lambda judged_row: (judged_row.sure, judged_row.row.set, judged_row.row.id),
    )
    legend = mark_legend()
    return [
        listed_section("Errors, the surest first", [_row(one) for one in wrong[:MOST_ERRORS]], len(wrong), legend),
        listed_section(
            "Judged rightly, the least sure first", [_row(one) for one in right[:MOST_RIGHT]], len(right), None
        ),
    ]


def mark_legend() -> Markup:
    """The legend of the marks."""
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


def listed_section(title: str, shown: Sequence[Markup], total: int, legend: Markup | None) -> Markup:
    """A section that lists rows, with a note where some of them are left out.

    Args:
        title: the heading, without the count.
        shown: the rows that are shown.
        total: how many there are.
        legend: what the marks in the rows mean.
    """
    left_out = total - len(shown)
    note = tag("p", f"{left_out:,} more are left out of this page.", class_="soft") if left_out else None
    return tag("section", tag("h2", f"{title}: {total:,}"), legend if shown else None, list(shown), note)


def score_text(score: float | None) -> str:
    """A score for people, or a dash where there is none."""
    return "–" if score is None else shown_score(score)


def summary_text(text: str) -> str:
    """The beginning of a text, short enough for the summary of a row: at most 160 characters."""
    return text if len(text) <= 160 else text[:159] + "…"


def _row(judged: JudgedRow) -> Markup:
    style = {"missed": "bad", "false alarm": "doubt", "not judged": "bad"}.get(judged.kind, "good")
    kind = tag("span", judged.kind, tag("span", class_="then"), class_=style)
    head = tag(
        "summary",
        kind,
        tag("span", score_text(judged.result.score), class_="num"),
        foreign(summary_text(judged.row.text), "span"),
    )
    facts = (
        f"{judged.row.set}/{judged.row.id} · labelled {judged.row.label} · {judged.result.verdict.replace('_', ' ')}"
    )
    body: list[Child] = [tag("p", foreign(facts), class_="small soft")]
    if judged.row.question is not None:
        body.append(tag("p", foreign(judged.row.question)))
    body.append(marked_text(judged.row.text, judged.result.spans, judged.row.spans or ()))
    body += passages(judged.row.evidence, judged.row.text)
    return tag(
        "details",
        head,
        tag("div", body),
        class_="row",
        data_kind=judged.kind,
        data_wrong=int(judged.row.wrong),
        data_score="" if judged.result.score is None else judged.result.score,
    )


Spans: TypeAlias = Sequence[tuple[int, int]]
"""Spans as pairs of start and end, in characters."""


def marked_text(text: str, pointed: Spans, labelled: Spans) -> Markup:
    """A text in which the spans of the verifier and of the label are marked.

    Args:
        text: the claim or answer; only the beginning of a long one is shown.
        pointed: the spans that the verifier's issues point at.
        labelled: the spans that are wrong by the label.
    """
    return tag("p", list(_marked(text, pointed, labelled)), dir="auto", class_="text")


def _marked(full_text: str, pointed: Spans, labelled: Spans) -> Iterator[Child]:
    text = full_text[:MOST_CHARACTERS]
    pointed_at = {index for start, end in pointed for index in range(start, min(end, len(text)))}
    labelled_at = {index for start, end in labelled for index in range(start, min(end, len(text)))}
    styles = [(index in pointed_at, index in labelled_at) for index in range(len(text))]
    start = 0
    for index in range(1, len(text) + 1):
        if index == len(text) or styles[index] != styles[start]:
            by_us, by_label = styles[start]
            piece = text[start:index]
            if by_us or by_label:
                yield tag("mark", piece, class_="both" if by_us and by_label else "label" if by_label else None)
            else:
                yield piece
            start = index
    if len(full_text) > MOST_CHARACTERS:
        yield f"… {len(full_text) - MOST_CHARACTERS:,} characters more"


def passages(evidence: Sequence[Evidence], text: str) -> list[Markup]:
    """The first passages of a row; in each the sentence that shares most words with the text is marked."""
    shown = [_passage(piece.id, piece.text, text) for piece in evidence[:MOST_PASSAGES]]
    if len(evidence) > MOST_PASSAGES:
        shown.append(tag("p", f"… and {len(evidence) - MOST_PASSAGES} more passages", class_="soft"))
    return shown


def _passage(name: str, text: str, claim: str) -> Markup:
    """A passage in which the sentence that shares most words with the claim is marked, with its context."""
    claim_words = set(_WORD.findall(claim.lower()))
    pieces = [match.group() for match in _SENTENCE.finditer(text)] or [text]
    shared_counts = [len(claim_words & set(_WORD.findall(piece.lower()))) for piece in pieces]
    best = max(range(len(pieces)), key=lambda index: (shared_counts[index], -len(pieces[index]), -index))
    before, after = "".join(pieces[:best]), "".join(pieces[best + 1 :])
    room = MOST_CHARACTERS // 2
    parts: list[Child] = [("… " + before[-room:]) if len(before) > room else before]
    parts.append(
        tag("mark", pieces[best][:MOST_CHARACTERS], class_="near")
        if shared_counts[best]
        else pieces[best][:MOST_CHARACTERS]
    )
    parts.append((after[:room] + " …") if len(after) > room else after)
    return tag("p", tag("b", foreign(f"[{name}] ")), tag("span", parts, dir="auto", class_="text"))
