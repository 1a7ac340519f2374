"""Finds claims that have all words of a clause, with two of them exchanged: who does something to whom.

"The tenants will write to Berg" has the words of "Berg will write to the tenants", and "the museum closes an hour
before the café" those of "the café closes an hour before the museum". Their content words are the same in order except
for two that are exchanged, with a verb or a comparison between them that is not symmetric.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from assay.text.lexicon import Lexeme, word_set
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim
from assay.verify.exact.surroundings import clause

_SURE: Final = 0.9
_LOOKED_AT: Final = 4
_FEWEST, _MOST = 3, 24
"""The fewest and the most content words of a claim that is compared."""
_SYMMETRIC: Final = word_set(
    """and or nor with & vs versus meet met meets between near border borders neighbor neighbour plus fights fought tied
    equals equal against alongside joins join resembles like likes sibling brother sister cousin twin friend partner
    colleague rival same both each other married marries differs different is are was were be becomes became called
    named known means"""
)
"""Words for relations that are symmetric in the two things beside them."""
_PASSIVE: Final = word_set("by")


def compare_roles(claim: Claim, index: ExactIndex) -> Iterator[ExactFinding]:
    """Findings that two words of the claim are exchanged."""
    lexemes = claim.words.lexemes
    own = [i for i, word in enumerate(lexemes) if word.weight or word.digit]
    if not _FEWEST <= len(own) <= _MOST:
        return
    ours = [lexemes[i].stem for i in own]
    for candidate in claim.candidates[:_LOOKED_AT]:
        for theirs in _clauses(index, candidate.sentence):
            places = _exchanged_places(ours, [word.stem for word in theirs if word.weight or word.digit])
            if places is None:
                continue
            first, second = own[places[0]], own[places[1]]
            between = lexemes[first + 1 : second]
            if not _is_directed(between) or _is_passive(lexemes) != _is_passive(theirs):
                continue
            yield _finding(claim, index, candidate.sentence, first, second)
            return


def _finding(claim: Claim, index: ExactIndex, sentence: int, first: int, second: int) -> ExactFinding:
    here = index.sentences[sentence]
    span = index.span(sentence, here.start, here.end, "contradicts", _SURE)
    words = claim.words
    a, b = (words.starts[first], words.ends[first]), (words.starts[second], words.ends[second])
    message = (
        f"The claim has {claim.text[slice(*a)]!r} and {claim.text[slice(*b)]!r} in each other's place; "
        f"the evidence says {span.text[:120]!r}."
    )
    return ExactFinding("name.swapped", message, a[0], b[1], span, "contradicts", _SURE, (a, b))


def _clauses(index: ExactIndex, sentence: int) -> Iterator[Sequence[Lexeme]]:
    """The sentence, and each of its clauses."""
    here = index.sentences[sentence]
    passage = index.passages[here.passage]
    words = passage.words
    yield words.lexemes[here.first : here.last]
    at = here.first
    while at < here.last:
        low, high = clause(passage.text, words, words.starts[at], words.ends[at], here.first, here.last)
        if (low, high) != (here.first, here.last) and high - low >= _FEWEST:
            yield words.lexemes[low:high]
        at = max(high, at + 1)


def _exchanged_places(ours: Sequence[str], theirs: Sequence[str]) -> tuple[int, int] | None:
    """The two indices at which two lists of stems are exchanged; none if they differ otherwise.

    A stem that the evidence repeats may be missing in the claim.
    """
    if len(theirs) > len(ours):
        said: list[str] = []
        for stem in theirs:
            if stem not in said:
                said.append(stem)
        theirs = said
    if len(theirs) != len(ours) or len(set(ours)) != len(ours):
        return None
    different = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    if len(different) != 2:
        return None
    i, j = different
    return (i, j) if ours[i] == theirs[j] and ours[j] == theirs[i] else None


def _is_directed(between: Sequence[Lexeme]) -> bool:
    """Whether the words between two others express a relation that is not symmetric in them."""
    return any(word.weight for word in between) and not any(word.fold in _SYMMETRIC for word in between)


def _is_passive(lexemes: Sequence[Lexeme]) -> bool:
    """Whether the words have the "by" of a passive."""
    return any(word.fold in _PASSIVE for word in lexemes)
