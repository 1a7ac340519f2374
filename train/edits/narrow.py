"""Spans of rows that were made before spans were minimal, brought to what changed alone."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from train.edits.kinds import changed
from train.rows import Row

_NEGATED = re.compile(
    r"(?P<kept>(?:am|is|are|was|were|be|been|has|have|had|will|would|can|could|shall|should|may|might|must) )"
    r"(?:not|never)",
    re.IGNORECASE,
)
_NEVER = re.compile(r"(?P<new>never) \S+", re.IGNORECASE)
_DO_NOT_HAVE = re.compile(r"(?P<new>do not) have", re.IGNORECASE)


def _narrowed(claim: str, span: tuple[int, int]) -> tuple[int, int]:
    start, end = span
    said = claim[start:end]
    if found := _NEGATED.fullmatch(said):
        return start + found.end("kept"), end
    if found := _NEVER.fullmatch(said) or _DO_NOT_HAVE.fullmatch(said):
        return start, start + found.end("new")
    return span


def narrow_negation(row: Row) -> Row:
    """The row with the span of a negation cut to the words that are new; rows of other kinds as they are.

    What stood there before is no part of the span: of `is not` the word `not` is new, of `never won` the word
    `never`, of `do not have` the words `do not`. Where the verb changed its form (`did not win`, `does not have`), all
    of it is new.

    >>> old = Row("edit:negation", ("It is long.",), "It is not long.", "contradicted", spans=((3, 9),))
    >>> narrow_negation(old).spans
    ((6, 9),)
    """
    if row.source != "edit:negation":
        return row
    return dataclasses.replace(row, spans=tuple(_narrowed(row.claim, span) for span in row.spans))


def narrow_beside(row: Row, twins: Iterable[str]) -> Row:
    """The row with its spans cut to the words that its true twin lacks; as it is where no twin fits its wording.

    Args:
        row: a wrong row of a fork (`train.edits.forks`).
        twins: claims of the same kind over the same evidence, the true twin among them.

    >>> old = Row("edit:derived_bound", ("It has 34.",), "It has more than 50.", "contradicted", spans=((7, 19),))
    >>> narrow_beside(old, ["It has more than 20."]).spans
    ((17, 19),)
    """
    spans = sorted(row.spans)
    if not spans:
        return row
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(row.claim)]
    around = [re.escape(row.claim[end:start]) for end, start in zip(ends, starts, strict=True)]
    pattern = re.compile("(.+?)".join(around), re.IGNORECASE | re.DOTALL)
    found = next((match for match in map(pattern.fullmatch, twins) if match), None)
    if found is None:
        return row
    cut: list[tuple[int, int]] = []
    for (start, end), old in zip(spans, found.groups(), strict=True):
        first, last = changed(old, row.claim[start:end])
        cut.append((start + first, start + last))
    return dataclasses.replace(row, spans=tuple(cut))
