"""Negations in German, French, Spanish, Italian and Portuguese, where a claim repeats a sentence but for them.

The rules for English read the scope of a negation. In these languages only what needs no scope is decided: two
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
"""Characters of a sentence that is compared."""
_BREAK: Final = re.compile(r"[,;:–—]\s|\s(?:und|et|y|e)\s", re.IGNORECASE)
_AND: Final = re.compile(r"\s(?:und|et|y|e)\s", re.IGNORECASE)
_ANSWER: Final = re.compile(r"\s*(?:não|nao|sim|no|sí|si|sì|non|oui|nein|ja|doch)\s*[,.!:;–—-]+\s+", re.IGNORECASE)
"""A word that answers a question and negates nothing of the sentence behind it: "Não, o contrato dura 12 meses"."""
_UNSTATED: Final = re.compile(r"[?¿:\"“”„«»]")
"""Marks of a sentence that asks, quotes or introduces what others say."""
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
    """Findings that the claim has a sentence's words, or a clause's, and only one of the two is negated.

    Nothing is found where a sentence says the same as the claim does.
    """
    if len(claim.text) > _LONGEST or _UNSTATED.search(claim.text):
        return
    opposed: ExactFinding | None = None
    begin = _opening(claim.text)
    for candidate in claim.candidates[:_LOOKED_AT]:
        here = index.sentences[candidate.sentence]
        passage = index.passages[here.passage].text
        sentence = passage[here.start : here.end]
        name = _language(f"{claim.text}\n{sentence[:_LONGEST]}")
        if name is None or not _states(passage, here.start, here.end):
            continue
        grammar = GRAMMARS[name]
        ours, whole = read_negations(claim.text[begin:], grammar), read_negations(sentence, grammar)
        if len(ours.content) < _FEWEST or ours.unsure:
            continue
        if any(_says(sentence[low:high], ours, grammar) for low, high in _clauses(sentence)):
            return
        if whole.unsure:
            continue
        for low, high in _parts(sentence):
            theirs = read_negations(sentence[low:high], grammar)
            if ours.content != theirs.content or theirs.unsure or bool(ours.cues) == bool(theirs.cues):
                continue
            first, last = theirs.cues[0] if theirs.cues else (0, high - low)
            place = here.start + low
            span = index.span(candidate.sentence, place + first, place + last, "contradicts", _SURE)
            opposed = opposed or _finding(claim.text, begin, sentence[low:high].strip(), ours, span)
    if opposed is not None:
        yield opposed


def _language(text: str) -> str | None:
    """The language of a text, told by its commonest words, articles and negations; none where it is English."""
    votes = language_votes(text)
    words = frozenset(text.lower().split())
    told = {
        one: votes[one] + len(words & (GRAMMARS[one].negations | GRAMMARS[one].articles)) for one in OTHER_LANGUAGES
    }
    name = max(told, key=lambda one: told[one])
    return name if told[name] > votes["English"] else None


def _states(passage: str, start: int, end: int) -> bool:
    """Whether a sentence of a passage says what it says in its writer's name, as far as its marks tell."""
    if end - start > _LONGEST or _UNSTATED.search(passage, start, end):
        return False
    if _INTRODUCED.search(passage[max(0, start - _LOOKED_BEHIND) : start]):
        return False
    behind = passage[end : end + _LONGEST_DENIAL]
    return _DENIED_BEHIND.match(behind) is None and not behind.lstrip().lower().startswith(("das stimmt", "falsch"))


def _opening(sentence: str) -> int:
    """Where a sentence begins behind the word that it answers with."""
    answer = _ANSWER.match(sentence)
    return answer.end() if answer is not None else 0


def _says(clause: str, ours: NegationReading, grammar: Grammar) -> bool:
    """Whether a clause has the claim's words and is negated as the claim is."""
    theirs = read_negations(clause, grammar)
    return ours.content == theirs.content and bool(ours.cues) == bool(theirs.cues)


def _clauses(sentence: str) -> Iterator[tuple[int, int]]:
    """The characters of a sentence and of each of its clauses, whoever says them."""
    begin = _opening(sentence)
    yield begin, len(sentence)
    breaks = [match.span() for match in _BREAK.finditer(sentence, begin)]
    yield from zip([begin, *(end for _, end in breaks)], [*(start for start, _ in breaks), len(sentence)], strict=True)


def _parts(sentence: str) -> Iterator[tuple[int, int]]:
    """The characters of the sentence, and of its first clause where another one is joined by "and".

    Not what stands behind a comma or a colon: whether the writer says it depends on what stands before.
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
