"""The topics that a question joins with "and" or "or"."""

import re
from collections.abc import Sequence
from typing import Final

from assay.text.lexicon.tokens import Token, tokenise

_CONTENT: Final = frozenset({"W", "NAME", "NUM"})
_LEADING_TAGS: Final = frozenset({"DET", "PREP"})
_TAGS_BEFORE: Final = frozenset({"DET", "PREP", "AUX"})
"""Tags before joined topics but not before joined verbs: "of partners and mothers", "do partners and ..."."""
_TAGS_AFTER_VERB: Final = frozenset({"DET", "PRON", "NUM"})
"""Tags after a joined verb but not after a topic: "swap the box"."""
_MAX_TOPIC_WORDS: Final = 3
"""The most words of a topic: "the basic plan"."""
_MAX_QUESTION_LENGTH: Final = 2_000
_QUESTION: Final = re.compile(r"[^.!?\n]*\?")


def question_parts(question: str) -> list[tuple[str, str]]:
    """Pairs of topics that a question joins with "and" or "or", as written.

    Only the interrogative sentences are read. Both topics of a pair get the same number of words, because what follows
    the second may be the verb of both, or a word that both share. Joined actions are not topics.

    >>> question_parts("How long is the leave of partners and of mothers?")
    [('partners', 'mothers')]
    >>> question_parts("How much leave do partners and mothers get?")
    [('partners', 'mothers')]
    >>> question_parts("How long is leave for mothers, fathers and partners?")
    [('mothers', 'partners'), ('fathers', 'partners')]
    >>> question_parts("Can I skip next week and swap the box?")
    []
    """
    return [
        pair
        for sentence in _QUESTION.findall(question[:_MAX_QUESTION_LENGTH])
        for pair in _joined_pairs(sentence, tokenise(sentence))
    ]


def _joined_pairs(sentence: str, tokens: Sequence[Token]) -> list[tuple[str, str]]:
    found = []
    for at, token in enumerate(tokens):
        if token.tag not in {"AND", "OR"}:
            continue
        begin = at + 1
        while begin < len(tokens) and tokens[begin].tag in _LEADING_TAGS:
            begin += 1
        left, right = _topic_length(tokens[:at][::-1]), _topic_length(tokens[begin:])
        right = min(left, right)
        if begin == at + 1:
            left = right
        end = begin + right
        is_verb = end < len(tokens) and (tokens[end].tag in _TAGS_AFTER_VERB or tokens[end].tag.startswith("V"))
        if not left or not right or is_verb:
            continue
        ranges = [(at - left, at)]
        while (comma := ranges[-1][0] - 1) > 0 and tokens[comma].tag == ",":
            before = min(left, _topic_length(tokens[:comma][::-1]))
            if not before:
                break
            ranges.append((comma - before, comma))
        first = ranges[-1][0] - 1
        if first >= 0 and tokens[first].tag in _TAGS_BEFORE:
            last = _text(sentence, tokens[begin:end])
            found += [(_text(sentence, tokens[one:other]), last) for one, other in reversed(ranges)]
    return found


def _topic_length(tokens: Sequence[Token]) -> int:
    """The number of words of the topic at the beginning of the tokens."""
    count = 0
    while count < min(_MAX_TOPIC_WORDS, len(tokens)) and tokens[count].tag in _CONTENT:
        count += 1
    return count


def _text(question: str, tokens: Sequence[Token]) -> str:
    return question[tokens[0].start : tokens[-1].end]
