"""Compares quotations in a claim with the words of the evidence."""

import re
from collections.abc import Sequence

from assay.text.lexicon import find_words
from assay.verify.citations import quote_pieces
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim

_QUOTE = re.compile(r"“([^“”]{8,2000})”|\"([^\"]{8,2000})\"|«([^«»]{8,2000})»|„([^„“”]{8,2000})[“”]")
_MARKS = frozenset('“"«„')
_FEWEST_WORDS = 5
"""Fewer quoted words are a term or irony, as nearly all are in honest answers of models, and need no passage."""
_ALTERED = 75.0
"""From this percentage of matching characters on, a quotation counts as altered and not as absent."""

_MOST_WINDOWS = 8
_ALTERED_CONFIDENCE = 0.75
_ABSENT_CONFIDENCE = 0.6
_LONGEST_COMPARED = 8000
_FARTHEST_PIECE = 8000
"""Characters of a passage in which the pieces of a quotation with an ellipsis are searched."""


def _normalized(text: str) -> str:
    return " ".join(w.fold for w in find_words(text).lexemes)


def find_quotes(text: str) -> list[tuple[int, int]]:
    """The character ranges of the quotations of a text that are long enough to compare, without their marks.

    >>> find_quotes('It says "no later than early May".')
    [(9, 32)]
    """
    if _MARKS.isdisjoint(text):
        return []
    spans = [match.span(match.lastindex or 0) for match in _QUOTE.finditer(text)]
    return [(start, end) for start, end in spans if len(find_words(text[start:end])) >= _FEWEST_WORDS]


def compare_quotes(claim: Claim, index: ExactIndex) -> tuple[list[ExactFinding], float, bool]:
    """Findings about the claim's quotations, the lowest match of any in [0, 1], and whether there is a quotation."""
    findings: list[ExactFinding] = []
    worst = 1.0
    spans = find_quotes(claim.text)
    for start, end in spans:
        score, finding = _check_quote(index, claim.text[start:end], (start, end))
        worst = min(worst, score)
        if finding is not None:
            findings.append(finding)
    return findings, worst, bool(spans)


def _has_pieces(window: str, pieces: Sequence[str]) -> bool:
    """Whether the pieces of a quotation stand in a text in their order, none overlapping another."""
    rest = f" {window} "
    for piece in pieces:
        at = rest.find(f" {piece[:_LONGEST_COMPARED]} ")
        if at < 0:
            return False
        rest = rest[at + len(piece) + 1 :]
    return bool(pieces)


def _check_quote(index: ExactIndex, quote: str, span: tuple[int, int]) -> tuple[float, ExactFinding | None]:
    from rapidfuzz import fuzz

    pieces = [normal for piece in quote_pieces(quote) if (normal := _normalized(piece))]
    wanted = " ".join(pieces)[:_LONGEST_COMPARED]
    weights = {w.stem: index.weight(w.stem) for w in find_words(wanted).lexemes if w.weight}
    best = (0.0, -1)
    for candidate in index.candidates(weights)[:_MOST_WINDOWS]:
        neighbours = index.neighbours(candidate.sentence)
        first, last = index.sentences[neighbours[0]], index.sentences[neighbours[-1]]
        text = index.passages[first.passage].text
        window = _normalized(text[first.start : last.end])[:_LONGEST_COMPARED]
        # Words that are left out may be whole sentences.
        if _has_pieces(window, pieces) or (
            len(pieces) > 1 and _has_pieces(_normalized(text[first.start : first.start + _FARTHEST_PIECE]), pieces)
        ):
            return 1.0, None
        score = fuzz.partial_ratio(wanted, window) if len(window) >= len(wanted) else fuzz.ratio(wanted, window)
        best = max(best, (score, -candidate.sentence))
    score, sentence = best[0], -best[1]
    quoted = quote if len(quote) <= 80 else quote[:77] + "..."
    if score >= _ALTERED:
        here = index.sentences[sentence]
        evidence = index.span(sentence, here.start, here.end, "contradicts", _ALTERED_CONFIDENCE)
        return score / 100, ExactFinding(
            "quote.altered",
            f"The claim quotes {quoted!r}; the evidence has other words: {evidence.text[:120]!r}.",
            *span,
            evidence,
            "contradicts",
            _ALTERED_CONFIDENCE,
        )
    return score / 100, ExactFinding(
        "quote.absent",
        f"The claim quotes {quoted!r}; no evidence has these words.",
        *span,
        None,
        "missing",
        _ABSENT_CONFIDENCE,
    )
