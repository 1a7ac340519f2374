"""Rows made of written claims that share all words but the wrong ones: what no share of overlap can tell apart.

Of a claim that a writer marked as wrong (`wrong`) and beside which stands what the evidence would have one say (`say`):

- its *twin*, in which the wrong words are exchanged for the right ones, is supported;
- in evidence in which the right words are exchanged for the wrong ones, the claim is supported and its twin is not
  (contrast sets: Gardner et al. 2020, "Evaluating models' local decision boundaries via contrast sets").

Of a claim whose wrong words only add something at its end, what is left without them is supported. And a right claim,
which mostly says in its own words what the evidence says in others, is made wrong in one place by the edits of
`train.edits`. Each row stands in a group with what it was made of: `train.network` asks for a margin between the right
and the wrong claims of a group.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from train.edits.context import Bank
from train.edits.document import Document
from train.edits.generate import edit_claim
from train.edits.kinds import Base
from train.rows import Row, detokenise

LONGEST = 5
"""Words of what is exchanged; longer notes explain rather than replace."""
WRITTEN_BETTER = frozenset({"addition"})
"""Edits that are left out: writers add what a model would add, a bank of phrases what nobody would."""
_ADDED = re.compile(
    r"(?:,? (?:and|but)|,? because|,? so that|,? since|,? which|,? if|,? unless|,? when|,? after|,? before|,? until|"
    r",? to|,? in|,? for|,? with|,? by|,? at|,? on|,? from|,? as)\b",
    re.IGNORECASE,
)
_SHORTEST_LEFT = 5
"""Words of a claim that is left without what was added to it."""


def _shape(text: str) -> tuple[bool, bool]:
    """Whether words hold a digit, and whether they begin in upper case: what can stand in the place of what."""
    return bool(re.search(r"\d", text)), text[:1].isupper()


def exchange(claim: dict[str, Any]) -> tuple[str, str] | None:
    """The wrong words of a claim and the right ones in their place, where they can be exchanged as they stand.

    >>> exchange({"text": "The fee is 40 euros.", "wrong": ["40"], "say": "30"})
    ('40', '30')
    >>> exchange({"text": "It is free.", "wrong": ["free"], "say": "no such thing is said; 30 for members"})
    """
    said, wrong = claim.get("say"), claim.get("wrong", ())
    if not said or len(wrong) != 1 or claim["text"].count(wrong[0]) != 1 or claim["label"] != "contradicted":
        return None
    old, new = wrong[0], said.strip().rstrip(".")
    words = len(old.split()), len(new.split())
    if re.search(r"[;,(]|\b(?:not|no|never|nobody|none)\b", new) and not re.search(r"\d,\d{3}\b", new):
        return None
    if max(words) > LONGEST or abs(words[0] - words[1]) > 1 or _shape(old) != _shape(new) or old == new:
        return None
    return old, new


def shortened(claim: dict[str, Any]) -> str | None:
    """A wrong claim without the words that its writer added at its end, where a sentence is left.

    >>> shortened({"text": "Returns are free for all members if the box is closed.", "wrong": ["if the box is closed"]})
    'Returns are free for all members.'
    """
    text: str = claim["text"]
    wrong: Sequence[str] = claim.get("wrong", ())
    if len(wrong) != 1 or claim["label"] != "unsupported":
        return None
    body = text.rstrip(".")
    if not body.endswith(wrong[0]) or text == body:
        return None
    left = body[: -len(wrong[0])]
    if not _ADDED.match(" " + wrong[0].lstrip(", ")) or len(left.split()) < _SHORTEST_LEFT:
        return None
    left = left.rstrip(" ,")
    if re.search(r"\b(?:and|but|or|is|are|was|were|the|a|an|of|to|than|be|has|have|not|by|for|with|in|at|on)$", left):
        return None
    return left + "."


def _once(text: str, part: str) -> re.Match[str] | None:
    """Where words stand in a text, if they stand there once."""
    found = list(re.finditer(rf"(?<![\w.,])(?<!\d[:/-]){re.escape(part)}(?![\w])(?![.,:/-]\d)", text))
    return found[0] if len(found) == 1 else None


def of_claim(row: Row, claim: dict[str, Any]) -> Iterator[Row]:
    """The rows that a wrong claim gives beside its own, over the evidence that its own row shows."""
    left = shortened(claim)
    if left is not None:
        yield replace(row, source=f"{row.source}:shortened", claim=left, label="supported", spans=())
    exchanged = exchange(claim)
    if exchanged is None:
        return
    old, new = exchanged
    at = row.claim.find(old)
    twin = row.claim[:at] + new + row.claim[at + len(old) :]
    right = replace(row, source=f"{row.source}:twin", claim=twin, label="supported", spans=())
    yield right
    place = _once(row.evidence[0], new)
    if place is None:
        return
    text = row.evidence[0]
    other = text[: place.start()] + old + text[place.end() :]
    yield replace(row, source=f"{row.source}:turned", evidence=(other,), label="supported", spans=())
    spans = ((at, at + len(new)),)
    yield replace(right, source=f"{row.source}:turned", evidence=(other,), label="contradicted", spans=spans)


def edited(rows: Sequence[Row], share: float, rng: random.Random) -> Iterator[Row]:
    """A wrong twin of some right claims, by one edit each.

    Args:
        rows: rows of written claims.
        share: of the right ones that are tried, in [0, 1].
        rng: of all choices.
    """
    documents = {row.evidence: Document(row.evidence) for row in rows}
    bank = Bank.of(list(documents.values()))
    for row in rows:
        if row.label != "supported" or rng.random() >= share or detokenise(row.claim) != row.claim:
            continue
        edit = edit_claim(Base(row.claim, "written", ()), documents[row.evidence], bank, rng)
        if edit is not None and edit.kind not in WRITTEN_BETTER:
            yield replace(row, source=f"{row.source}:{edit.kind}", claim=edit.claim, label=edit.label, spans=edit.spans)
