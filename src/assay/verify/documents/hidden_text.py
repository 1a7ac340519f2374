"""Finds characters that make a text look different from what was checked."""

from typing import Final

from assay.schema import Issue, Span
from assay.text.sentences import find_hidden_characters

HIDDEN: Final = "text.hidden"
"""The code of the issue that a text looks different from its characters."""
_MOST_ISSUES: Final = 20
"""The most issues of one text."""


def hidden_issues(text: str) -> tuple[Issue, ...]:
    """The issues of characters that change how an output looks, at most 20.

    >>> [one.message for one in hidden_issues("It takes \\u202e24\\u202c weeks.")]
    ['Characters that turn the order of letters round stand here: a reader is shown another text. Leave them out.']
    """
    return tuple(
        Issue(
            code=HIDDEN,
            span=Span(start=place.start, end=place.end),
            message=f"Characters that {place.effect} stand here: a reader is shown another text. Leave them out.",
        )
        for place in find_hidden_characters(text)[:_MOST_ISSUES]
    )
