"""The things that a question asks about side by side."""

import re
from collections.abc import Sequence
from typing import Final

from assay.text.lexicon.tokens import Token, tokenise

_CONTENT: Final = frozenset({"W", "NAME", "NUM"})
_LED: Final = frozenset({"DET", "PREP"})
_BEFORE: Final = frozenset({"DET", "PREP", "AUX"})
"""What stands before things that are joined, and before no verbs: "of partners and mothers", "do partners and ..."."""
_BEHIND: Final = frozenset({"DET", "PRON", "NUM"})
"""What follows a verb that is joined, and behind no thing: "swap the box"."""
_LONGEST: Final = 3
"""Words of a thing that are taken: "the basic plan"."""
_LONGEST_QUESTION: Final = 2_000
_QUESTION: Final = re.compile(r"[^.!?\n]*\?")


def question_parts(question: str) -> list[tuple[str, str]]:
    """Pairs of things that a question joins with "and" or "or", as they are in it.

    Read are the sentences that ask. Of two things as many words are taken: what follows the second may be the
    verb of both, or a word that both share. Joined deeds are no things.

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
        pair for asked in _QUESTION.findall(question[:_LONGEST_QUESTION]) for pair in _pairs(asked, tokenise(asked))
    ]


def _pairs(asked: str, tokens: Sequence[Token]) -> list[tuple[str, str]]:
    found = []
    for at, token in enumerate(tokens):
        if token.tag not in {"AND", "OR"}:
            continue
        begin = at + 1
        while begin < len(tokens) and tokens[begin].tag in _LED:
            begin += 1
        left, right = _run(tokens[:at][::-1]), _run(tokens[begin:])
        right = min(left, right)
        if begin == at + 1:
            left = right
        end = begin + right
        deed = end < len(tokens) and (tokens[end].tag in _BEHIND or tokens[end].tag.startswith("V"))
        if not left or not right or deed:
            continue
        listed = [(at - left, at)]
        while (comma := listed[-1][0] - 1) > 0 and tokens[comma].tag == ",":
            before = min(left, _run(tokens[:comma][::-1]))
            if not before:
                break
            listed.append((comma - before, comma))
        first = listed[-1][0] - 1
        if first >= 0 and tokens[first].tag in _BEFORE:
            last = _text(asked, tokens[begin:end])
            found += [(_text(asked, tokens[one:other]), last) for one, other in reversed(listed)]
    return found


def _run(tokens: Sequence[Token]) -> int:
    """How many words of a thing are at the beginning."""
    count = 0
    while count < min(_LONGEST, len(tokens)) and tokens[count].tag in _CONTENT:
        count += 1
    return count


def _text(question: str, tokens: Sequence[Token]) -> str:
    return question[tokens[0].start : tokens[-1].end]
