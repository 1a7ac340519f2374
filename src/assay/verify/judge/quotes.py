"""Locates the words that a judge quotes in the evidence, to the character."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.prompts import evidence_record
from assay.schema import Evidence, EvidenceSpan
from assay.text.lexicon import content_stems, find_words

LONGEST_QUOTE: Final = 800
"""Characters of the longest quote that counts."""
MOST_WORDS: Final = 120
"""Words of the longest quote that counts."""
LEAST_SIGNS: Final = 3
"""The fewest letters and digits of a quote."""
_EQUIVALENT_SIGNS: Final = ("'‘’‚‛′`´", '"“”„‟″«»', "-‐‑‒–—―−")
_SIGN_CLASSES: Final = {sign: f"[{re.escape(group)}]" for group in _EQUIVALENT_SIGNS for sign in group}
_SURROUNDING: Final = " \t\r\n\"“”„«»'‘’…[]()"
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Source:
    """A piece of evidence as the judge sees it."""

    alias: str
    """`e1`, `e2` and so on: ids of evidence are untrusted text."""
    evidence: Evidence
    text: str
    """The part of it in the prompt; the whole text unless there is too much."""

    @property
    def record(self) -> dict[str, Any]:
        """Its record in a prompt."""
        return evidence_record(self.alias, self.evidence, self.text)


def locate_quote(quote: str, text: str) -> tuple[int, int] | None:
    """The half-open range of a quote in a text; none where the text does not contain it.

    Only white space, case, the form of dashes and quotation marks, and punctuation around the quote may differ. The
    range does not begin or end inside a word or a number.

    >>> locate_quote("“2  Weeks” ", "Partners get 2 weeks.")
    (13, 20)
    >>> locate_quote("2 week", "Partners get 2 weeks.") is None
    True
    """
    stripped = quote.strip(_SURROUNDING).rstrip(".,;:!? ").strip(_SURROUNDING)
    words = stripped.split()
    if len(stripped) > LONGEST_QUOTE or len(words) > MOST_WORDS or sum(map(str.isalnum, stripped)) < LEAST_SIGNS:
        return None
    pattern = r"\s+".join("".join(_SIGN_CLASSES.get(c, re.escape(c)) for c in word) for word in words)
    match = re.search(
        f"{_boundary(stripped[0], before=True)}{pattern}{_boundary(stripped[-1], before=False)}", text, re.IGNORECASE
    )
    return None if match is None else match.span()


def _boundary(sign: str, *, before: bool) -> str:
    if not sign.isalnum() or _UNSPACED.match(sign):
        return ""
    if before:
        return r"(?<!\w)(?<!\d[.,])" if sign.isdigit() else r"(?<!\w)"
    return r"(?!\w)(?![.,]\d)" if sign.isdigit() else r"(?!\w)"


def quoted_span(quote: str, source: Source, relation: str, score: float) -> EvidenceSpan | None:
    """The span of a quote in its evidence; none where the text that the judge saw does not contain it."""
    if locate_quote(quote, source.text) is None:
        return None
    place = locate_quote(quote, source.evidence.text)
    if place is None:
        return None
    start, end = place
    return EvidenceSpan(
        evidence_id=source.evidence.id,
        start=start,
        end=end,
        text=source.evidence.text[start:end],
        relation=relation,
        score=score,
    )


def stems(*texts: str) -> set[str]:
    """The stems of the content words of texts, and their numbers."""
    lexemes = [word for text in texts for word in find_words(text).lexemes]
    return content_stems(lexemes) | {word.fold for word in lexemes if word.digit}


def bearing(claim: str, quotes: Iterable[EvidenceSpan], beside: Sequence[str] = ()) -> float:
    """The share of a claim's words and numbers that quotes have, together with other texts such as titles.

    0 where the quotes themselves have none of them; 1 for a claim without words.

    >>> span = EvidenceSpan(evidence_id="a", start=0, end=13, text="leave is paid", relation="supports", score=1.0)
    >>> bearing("Partner leave is paid.", [span]) > 0.5, bearing("Trains are late.", [span])
    (True, 0.0)
    """
    claim_stems = stems(claim)
    quote_stems = stems(*(quote.text for quote in quotes))
    if not claim_stems:
        return 1.0
    return len(claim_stems & (quote_stems | stems(*beside))) / len(claim_stems) if claim_stems & quote_stems else 0.0
