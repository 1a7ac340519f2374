"""Whether a reader is shown the text that was checked."""

from typing import Final

from assay.schema import Issue, Span
from assay.text.sentences import find_hidden_characters

HIDDEN: Final = "text.hidden"
"""The code of the issue that a reader is shown another text."""
_MOST: Final = 20


def hidden_issues(text: str) -> tuple[Issue, ...]:
    """What of an output a reader is shown otherwise than it is there, the first of them.

    >>> [one.message for one in hidden_issues("It takes \\u202e24\\u202c weeks.")]
    ['Characters that turn the order of letters round stand here: a reader is shown another text. Leave them out.']
    """
    return tuple(
        Issue(
            code=HIDDEN,
            span=Span(start=one.start, end=one.end),
            message=f"Characters that {one.effect} stand here: a reader is shown another text. Leave them out.",
        )
        for one in find_hidden_characters(text)[:_MOST]
    )
