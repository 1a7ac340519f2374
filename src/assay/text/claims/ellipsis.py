"""Completes elliptical statements from the sentence before or from another part of the same sentence.

"So was the import." takes its predicate from the sentence before; "the soup is vegan, and the cake too" states one
predicate for two subjects; ticks and crosses after labels say yes or no of each. By themselves these state nothing that
evidence could support, and a network takes their words for a mere mention.
"""

import re
from collections.abc import Sequence
from typing import Final

from assay.text.claims.clauses import find_verb
from assay.text.lexicon.tokens import Token, render, tokenise

_SO: Final = re.compile(
    r"(?:(?:and|but|yes),?\s)?(?:so|neither|nor)\s(?P<verb>is|are|was|were|do|does|did|has|have|had|can|could|will|would|must|may|should)"
    r"\s(?P<who>[^.,;:!?]{1,80}?)[.!]*",
    re.IGNORECASE,
)
_SAME: Final = re.compile(
    r"(?:(?:and|but),?\s)?the same (?:goes|holds|applies|is true|is so|was true)(?: (?:for|of|to|with))\s"
    r"(?P<who>[^.,;:!?]{1,80}?)[.!]*",
    re.IGNORECASE,
)
_TOO: Final = re.compile(
    r"(?P<said>[^;:!?]{5,200}?)(?:[,;]|\s[–—-])\s(?:and |but |so (?:is|are|was|were) )?(?P<who>[^.,;:!?]{1,60}?)"
    r"(?:,? (?:too|as well|likewise|also))[.!]*",
    re.IGNORECASE,
)
_NONE: Final = re.compile(
    r"(?:no,?\s)?(?:there (?:is|are|was|were)|it has|they have) none(?: at all)?[.!]*", re.IGNORECASE
)
_VALUE_QUESTION: Final = re.compile(
    r"(?:so |and |but )?(?:what|which|how (?:high|large|big|long|much))\s(?:is|are|was|were)\s"
    r"(?:the|your|our|its|their)\s(?P<what>[^.,;:!?]{1,80}?)\?",
    re.IGNORECASE,
)
_MARK: Final = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]\ufe0f?")
_YES, _NO = frozenset("✔✅☑✓"), frozenset("✘❌✗✖❎🚫⛔")
_FORMS_OF_BE: Final = frozenset({"is", "are", "was", "were"})
_MAX_LABEL_WORDS: Final = 6
"""The most words of a label between two marks."""


def complete_statement(body: str, previous: Sequence[Token], asked: str) -> str | None:
    """A statement that takes its predicate from the sentence before, in full; none where it is complete by itself.

    >>> complete_statement("So was the import.", tokenise("Export to PDF was added."), "")
    'the import was added'
    >>> complete_statement("There is none.", [], "What is the excess?")
    'there is no excess'
    >>> complete_statement("Make that 9.", tokenise("The approval takes 6 weeks."), "")
    'The approval takes 9 weeks.'

    Args:
        body: the statement.
        previous: the tokens of the sentence before it.
        asked: the text of that sentence if it is a question, or else an empty string.
    """
    correction = _CORRECTION.fullmatch(body)
    if correction is not None:
        return _with_correction(previous, correction)
    if _NONE.fullmatch(body) is not None:
        question = _VALUE_QUESTION.fullmatch(asked.strip())
        return f"there is no {question['what']}" if question is not None else None
    found = _SO.fullmatch(body) or _SAME.fullmatch(body)
    predicate = _predicate(previous) if found is not None else None
    if found is None or not predicate:
        return None
    first, _, rest = predicate.partition(" ")
    number = found.groupdict().get("verb")
    if number is not None and first.lower() in _FORMS_OF_BE and number.lower() in _FORMS_OF_BE and rest:
        predicate = f"{number.lower()} {rest}"  # "so was Dietz" after "Adler and Berg were present"
    return f"{found['who']} {predicate}"


_NUMBER: Final = r"(?:\d[\d.,]*\d|\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_CORRECTION: Final = re.compile(
    r"(?:correction|corrigendum|errat(?:um|a)|make (?:that|it)|i mean(?:t)?|scratch that|no(?: wait)?|sorry|"
    r"(?:or )?rather|p\.?\s?s\.?|oops|edit|update)[:,;.!–—-]*\s"
    r"(?:i mean,?\s|make that\s|that should be\s|it is\s|it['’]s\s)?"
    rf"(?P<new>{_NUMBER})(?P<unit>\s[a-z]+)?(?:,?\s(?:sorry|actually|instead|rather))?[.!]*"
    rf"|read (?P<now>{_NUMBER}) (?:for|instead of|in place of) {_NUMBER}[.!]*",
    re.IGNORECASE,
)
"""A sentence that corrects a number of the sentence before."""


def _with_correction(previous: Sequence[Token], found: re.Match[str]) -> str | None:
    """The sentence before with its corrected number; none where it does not have exactly one number."""
    numbers = [at for at, token in enumerate(previous) if token.tag == "NUM"]
    if len(numbers) != 1:
        return None
    at = numbers[0]
    new = (found["new"] or found["now"]) + (found["unit"] or "")
    after = at + 1 + (found["unit"] is not None)
    text = " ".join([*(token.text for token in previous[:at]), new, *(token.text for token in previous[after:])])
    return re.sub(r"\s([.,;:!?])", r"\1", text)


def split_shared_predicate(body: str) -> tuple[str, str] | None:
    """The two statements of a sentence that adds a second subject with "too"; none for any other sentence.

    >>> split_shared_predicate("The soup is vegan, and the apple cake too.")
    ('The soup is vegan', 'the apple cake is vegan')
    """
    found = _TOO.fullmatch(body)
    if found is None or find_verb(tokenise(found["who"])) >= 0:
        return None
    predicate = _predicate(tokenise(found["said"]))
    return (found["said"], f"{found['who']} {predicate}") if predicate else None


def _predicate(tokens: Sequence[Token]) -> str | None:
    """A statement from its verb on; none where it has no verb."""
    verb = find_verb(tokens) if tokens else -1
    if verb < 1:
        return None
    last = len(tokens)
    while last > verb and not tokens[last - 1].tag.isalpha():
        last -= 1
    return render(list(tokens[verb:last]))


def read_labels(body: str) -> list[str]:
    """The statements of a line of labels and signs such as "Fire ✔ Flood ✘", one per label; empty for a sentence.

    >>> read_labels("Fire ✔ Flood ✘"), read_labels("SO-7 ✅ paid 🚚 shipped"), read_labels("It is paid ✅")
    (['Fire', 'Flood: no'], ['SO-7: paid', 'SO-7: shipped'], [])
    """
    marks = [m.group().rstrip("\ufe0f") for m in _MARK.finditer(body)]
    labels = [part.strip(" ,;:|·-–—") for part in _MARK.split(body)]
    if not marks or any(len(one.split()) > _MAX_LABEL_WORDS or find_verb(tokenise(one)) >= 1 for one in labels if one):
        return []
    if labels[0] and not labels[-1] and all(labels[:-1]):
        return (
            [_label_statement(label, mark) for label, mark in zip(labels, marks, strict=False)]
            if _all_yes_or_no(marks)
            else []
        )
    named = [(label, mark) for label, mark in zip(labels[1:], marks, strict=True) if label]
    if not named or (len(marks) < 2 and not labels[0]):
        return []
    said = [_label_statement(label, mark) for label, mark in named]
    return [f"{labels[0]}: {one}" for one in said] if labels[0] else (said if _all_yes_or_no(marks) else [])


def _all_yes_or_no(marks: Sequence[str]) -> bool:
    return all(mark in _YES or mark in _NO for mark in marks)


def _label_statement(label: str, mark: str) -> str:
    return f"{label}: no" if mark in _NO else label
