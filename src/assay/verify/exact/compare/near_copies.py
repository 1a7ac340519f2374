"""Compares negations in German, French, Spanish, Italian and Portuguese, where a claim otherwise repeats a sentence.

The rules for English determine the scope of a negation. In these languages only what needs no scope is decided: two
sentences with the same words in the same order, of which exactly one is negated.
"""

import re
from collections.abc import Iterator
from typing import Final

from assay.schema import EvidenceSpan
from assay.text.lexicon import GRAMMARS, Grammar, NegationReading, read_negations
from assay.text.sentences import OTHER_LANGUAGES, language_votes
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim

_SURE: Final = 0.9
_LOOKED_AT: Final = 4
_FEWEST: Final = 2
_LONGEST: Final = 400
"""The most characters of a sentence that is compared."""
_BREAK: Final = re.compile(r"[,;:–—]\s|\s(?:und|et|y|e)\s", re.IGNORECASE)
_AND: Final = re.compile(r"\s(?:und|et|y|e)\s", re.IGNORECASE)
_ANSWER: Final = re.compile(r"\s*(?:não|nao|sim|no|sí|si|sì|non|oui|nein|ja|doch)\s*[,.!:;–—-]+\s+", re.IGNORECASE)
"""A word that answers a question and does not negate the sentence after it: "Não, o contrato dura 12 meses"."""
_UNSTATED: Final = re.compile(r"[?¿:\"“”„«»]")
"""Marks of a sentence that asks, quotes or introduces a quotation."""
_INTRODUCED: Final = re.compile(r":\s*(?:[-*•\d.)]+\s*)?$")
_DENIED_BEHIND: Final = re.compile(
    r"\s*(?:das\s(?:ist|stimmt)\s|(?:c['’]est|es|eso\ses|è|isso\sé|é)\s)?"
    r"(?:falsch|nicht|nein|faux|non|pas|falso|no|não|errado|mentira|incorrect\w*|unwahr|inexact\w*)\b",
    re.IGNORECASE,
)
"""A sentence that denies the one before it: "Das stimmt nicht.", "Falso."."""
_LONGEST_DENIAL: Final = 40
_LOOKED_BEHIND: Final = 12


def compare_near_copies(claim: Claim, index: ExactIndex) -> Iterator[ExactFinding]:
    """Findings that the claim has the words of a sentence or a clause, and only one of the two is negated.

    Nothing is found where another sentence says the same as the claim.
    """
    if len(claim.text) > _LONGEST or _UNSTATED.search(claim.text):
        return
    finding: ExactFinding | None = None
    begin = _opening(claim.text)
    for candidate in claim.candidates[:_LOOKED_AT]:
        here = index.sentences[candidate.sentence]
        passage = index.passages[here.passage].text
        sentence = passage[here.start : here.end]
        language = _language(f"{claim.text}\n{sentence[:_LONGEST]}")
        if language is None or not _asserts(passage, here.start, here.end):
            continue
        grammar = GRAMMARS[language]
        ours, whole = read_negations(claim.text[begin:], grammar), read_negations(sentence, grammar)
        if len(ours.content) < _FEWEST or ours.unsure:
            continue
        if any(_says_the_same(sentence[low:high], ours, grammar) for low, high in _clauses(sentence)):
            return
        if whole.unsure:
            continue
        for low, high in _asserted_parts(sentence):
            theirs = read_negations(sentence[low:high], grammar)
            if ours.content != theirs.content or theirs.unsure or bool(ours.cues) == bool(theirs.cues):
                continue
            first, last = theirs.cues[0] if theirs.cues else (0, high - low)
            place = here.start + low
            span = index.span(candidate.sentence, place + first, place + last, "contradicts", _SURE)
            finding = finding or _finding(claim.text, begin, sentence[low:high].strip(), ours, span)
    if finding is not None:
        yield finding


def _language(text: str) -> str | None:
    """The language of a text by its commonest words, articles and negations; none where it is English."""
    votes = language_votes(text)
    words = frozenset(text.lower().split())
    scores = {
        language: votes[language] + len(words & (GRAMMARS[language].negations | GRAMMARS[language].articles))
        for language in OTHER_LANGUAGES
    }
    name = max(scores, key=lambda language: scores[language])
    return name if scores[name] > votes["English"] else None


def _asserts(passage: str, start: int, end: int) -> bool:
    """Whether the writer of a passage asserts a sentence, judging by the marks in and around it."""
    if end - start > _LONGEST or _UNSTATED.search(passage, start, end):
        return False
    if _INTRODUCED.search(passage[max(0, start - _LOOKED_BEHIND) : start]):
        return False
    behind = passage[end : end + _LONGEST_DENIAL]
    return _DENIED_BEHIND.match(behind) is None and not behind.lstrip().lower().startswith(("das stimmt", "falsch"))


def _opening(sentence: str) -> int:
    """The position behind a word with which a sentence answers a question; 0 without one."""
    answer = _ANSWER.match(sentence)
    return answer.end() if answer is not None else 0


def _says_the_same(clause: str, ours: NegationReading, grammar: Grammar) -> bool:
    """Whether a clause has the claim's words and is negated as the claim is."""
    theirs = read_negations(clause, grammar)
    return ours.content == theirs.content and bool(ours.cues) == bool(theirs.cues)


def _clauses(sentence: str) -> Iterator[tuple[int, int]]:
    """The character ranges of a sentence and of each of its clauses, asserted or not."""
    begin = _opening(sentence)
    yield begin, len(sentence)
    breaks = [match.span() for match in _BREAK.finditer(sentence, begin)]
    yield from zip([begin, *(end for _, end in breaks)], [*(start for start, _ in breaks), len(sentence)], strict=True)


def _asserted_parts(sentence: str) -> Iterator[tuple[int, int]]:
    """The character ranges of the sentence, and of its first clause where another one is joined by "and".

    Clauses after a comma or a colon are left out: whether the writer asserts them depends on the text before.
    """
    begin = _opening(sentence)
    yield begin, len(sentence)
    joint = _AND.search(sentence, begin)
    if joint is not None and "," not in sentence[begin : joint.start()]:
        yield begin, joint.start()


def _finding(text: str, begin: int, said: str, ours: NegationReading, span: EvidenceSpan) -> ExactFinding:
    start, end = (begin + at for at in ours.cues[0]) if ours.cues else (0, len(text.rstrip()))
    how = "without the negation" if ours.cues else "negated"
    message = f"The claim says {text.strip()!r}; the evidence says {said!r}: {how}."
    return ExactFinding("polarity.negation", message, start, end, span, "contradicts", _SURE)
