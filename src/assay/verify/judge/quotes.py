"""Where the words that a judge quotes are in the evidence: to the character, or nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.prompts import evidence_record
from assay.schema import Evidence, EvidenceSpan
from assay.text.lexicon import content_stems, find_words

LONGEST_QUOTE: Final = 800
"""Characters of a quote that are looked for; a longer one quotes nothing in particular."""
MOST_WORDS: Final = 120
LEAST_SIGNS: Final = 3
"""Letters and digits that a quote has at least."""
_ALIKE: Final = ("'‘’‚‛′`´", '"“”„‟″«»', "-‐‑‒–—―−")
_CLASSES: Final = {sign: f"[{re.escape(group)}]" for group in _ALIKE for sign in group}
_AROUND: Final = " \t\r\n\"“”„«»'‘’…[]()"
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Source:
    """A piece of evidence as the judge is shown it."""

    alias: str
    """`e1`, `e2` and so on: ids of evidence are foreign text."""
    evidence: Evidence
    text: str
    """The part of it that is shown; all of it unless there is too much."""

    @property
    def record(self) -> dict[str, Any]:
        """What a prompt shows of it."""
        return evidence_record(self.alias, self.evidence, self.text)


def locate_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where the words of a quote are in a text, as a half-open range; none where they do not.

    They are there as they are written: only white space, upper and lower case, the form of dashes and quotation
    marks, and what surrounds the whole may differ. No word and no number is cut in two.

    >>> locate_quote("“2  Weeks” ", "Partners get 2 weeks.")
    (13, 20)
    >>> locate_quote("2 week", "Partners get 2 weeks.") is None
    True
    """
    stripped = quote.strip(_AROUND).rstrip(".,;:!? ").strip(_AROUND)
    words = stripped.split()
    if len(stripped) > LONGEST_QUOTE or len(words) > MOST_WORDS or sum(map(str.isalnum, stripped)) < LEAST_SIGNS:
        return None
    pattern = r"\s+".join("".join(_CLASSES.get(c, re.escape(c)) for c in word) for word in words)
    found = re.search(
        f"{_edge(stripped[0], before=True)}{pattern}{_edge(stripped[-1], before=False)}", text, re.IGNORECASE
    )
    return None if found is None else found.span()


def _edge(sign: str, *, before: bool) -> str:
    if not sign.isalnum() or _UNSPACED.match(sign):
        return ""
    if before:
        return r"(?<!\w)(?<!\d[.,])" if sign.isdigit() else r"(?<!\w)"
    return r"(?!\w)(?![.,]\d)" if sign.isdigit() else r"(?!\w)"


def quoted_span(quote: str, source: Source, relation: str, score: float) -> EvidenceSpan | None:
    """The words of a quote as a place in the evidence; none where it does not be in what the judge was shown."""
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
    """The share of a claim's words and numbers that quotes have, or what is next to them, such as titles.

    Nothing where the quotes themselves have none of them; 1 for a claim in which no words are found.

    >>> span = EvidenceSpan(evidence_id="a", start=0, end=13, text="leave is paid", relation="supports", score=1.0)
    >>> bearing("Partner leave is paid.", [span]) > 0.5, bearing("Trains are late.", [span])
    (True, 0.0)
    """
    wanted = stems(claim)
    own = stems(*(quote.text for quote in quotes))
    if not wanted:
        return 1.0
    return len(wanted & (own | stems(*beside))) / len(wanted) if wanted & own else 0.0
