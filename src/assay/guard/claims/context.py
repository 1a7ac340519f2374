"""A short answer is understood together with its question.

"Yes." asserts what was asked, and "16 weeks" in reply to "How long is the leave?" says that the leave is 16 weeks long.
Neither can be judged by its own words alone.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from assay.text.claims import is_fragment
from assay.text.rewording import agrees, answer_as_statement, asked_statement, denied_statement

NOWHERE: Final = 1 << 40
"""A place beyond the end of any text."""


@dataclass(frozen=True, slots=True)
class ClaimInContext:
    """A claim in the words in which it is to be judged."""

    text: str
    at: int = 0
    """Where the claim's own words begin in the text; `NOWHERE` if the text has none of them."""
    stated: bool = False
    """Whether the text is a statement made from a question and its answer."""
    denial: str | None = None
    """For an answer that only says no: the denial as a statement. The text is then what it denies."""


@lru_cache(maxsize=1_024)
def claim_in_context(claim: str, question: str | None) -> ClaimInContext:
    """The claim with the question that it answers.

    >>> claim_in_context("Yes.", "Do partners get 4 weeks?").text
    'Partners do get 4 weeks.'
    >>> claim_in_context("16 weeks", "How long is the leave?").text
    'The leave is 16 weeks.'
    >>> claim_in_context("No, they don't.", "Do partners get 4 weeks?").denial
    'Partners do not get 4 weeks.'
    >>> claim_in_context("16 weeks", "And the leave?").text
    'And the leave? 16 weeks'

    Args:
        claim: the text of the claim.
        question: the question, if it is known.
    """
    if question is None or not question.strip():
        return ClaimInContext(claim)
    agreed = agrees(claim)
    if agreed is not None:
        asked = asked_statement(question)
        if asked is not None:
            denial = None if agreed else denied_statement(question)
            return ClaimInContext(_sentence(asked), NOWHERE, True, denial and _sentence(denial))
    elif not is_fragment(claim):
        return ClaimInContext(claim)
    else:
        joined = answer_as_statement(question, claim)
        if joined is not None:
            return ClaimInContext(_sentence(joined[0]), joined[1], True)
    asked = question.strip()
    return ClaimInContext(f"{asked} {claim}", len(asked) + 1)


def _sentence(text: str) -> str:
    """The text with a capital at its beginning and a full stop at its end; no character moves."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
