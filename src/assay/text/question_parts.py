"""The things that a question asks about side by side."""

from typing import Final

from assay.text.tokens import Token, tokenise

_CONTENT: Final = frozenset({"W", "NAME", "NUM"})
_LED: Final = frozenset({"DET", "PREP"})
_LONGEST: Final = 3
"""Words of a thing that are taken: "the basic plan"."""
_LONGEST_QUESTION: Final = 2_000


def question_parts(question: str) -> list[tuple[str, str]]:
    """Pairs of things that a question joins with "and" or "or", as they stand in it.

    >>> question_parts("How long is the leave of partners and of mothers?")
    [('partners', 'mothers')]
    >>> question_parts("When does it open and what does it cost?")
    []
    """
    asked = question[:_LONGEST_QUESTION]
    tokens = tokenise(asked)
    found = []
    for i, token in enumerate(tokens):
        if token.tag not in {"AND", "OR"}:
            continue
        left = i
        while left and i - left < _LONGEST and tokens[left - 1].tag in _CONTENT:
            left -= 1
        right = i + 1
        while right < len(tokens) and tokens[right].tag in _LED:
            right += 1
        end = right
        while end < len(tokens) and end - right < _LONGEST and tokens[end].tag in _CONTENT:
            end += 1
        if left < i and right < end:
            found.append((_text(asked, tokens[left:i]), _text(asked, tokens[right:end])))
    return found


def _text(question: str, tokens: list[Token]) -> str:
    return question[tokens[0].start : tokens[-1].end]
