"""Turns a sentence with a value into a question for it: "Flights must be booked at least 14 days before departure."
becomes "At least how many days before departure must flights be booked?".

There are three ways, and the first that applies is taken: the auxiliary moves before the subject; a verb whose base
form is known takes "do"; else the sentence stays as it is with "how many" in place of the number, as people ask when
they repeat a rule.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from assay.text.claims import find_verb, stands_alone
from assay.text.lexicon import Token, tokenise

FRONTED, DO_SUPPORT, IN_PLACE = 0.95, 0.9, 0.65
"""The plausibility of a question by the way in which it was formed (docs/redteam.md#plausibility)."""
LONGEST_SENTENCE: Final = 40
"""The most tokens of a sentence that a question is formed from."""
_LONGEST_TAIL: Final = 7
"""The most tokens after the value that move to the front with it."""
_HAVE: Final = {"has": ("does", "have"), "have": ("do", "have"), "had": ("did", "have")}
_RELATIVE: Final = frozenset(
    {"that", "which", "who", "whose", "where", "when", "if", "unless", "because", "until", "and"}
)
_ANAPHORIC_OPENERS: Final = frozenset(
    [
        "it",
        "they",
        "he",
        "she",
        "we",
        "you",
        "i",
        "this",
        "that",
        "these",
        "those",
        "such",
        "its",
        "their",
        "his",
        "her",
        "there",
        "here",
        "both",
        "each",
        "other",
        "another",
        "one",
        "some",
        "same",
        "what",
    ]
)
"""First words of a subject that refers back to the sentence before it, so that a question about it is unclear."""

_VALUE_PREPOSITIONS: Final = frozenset({"of", "per", "before", "after", "without"})
"""Prepositions after a value that belong to it ("14 days before departure") rather than to the verb."""
_PRONOUNS: Final = frozenset({"it", "they", "he", "she", "this", "these", "those", "them", "him"})
"""Pronouns for something that a question would have to name."""
_COMPARATIVES: Final = ("longer than", "larger than", "higher than", "later than")


@dataclass(frozen=True, slots=True)
class Question:
    """A question for a value."""

    text: str
    plausibility: float
    """By the way in which it was formed, in [0, 1]."""


def ask(sentence: str, start: int, end: int, interrogative: str, decapitalise: Callable[[str], str]) -> Question | None:
    """The question for the value at `start` to `end` of a sentence.

    Args:
        sentence: a sentence that is clear by itself.
        start: the first character of the value.
        end: the character after its last.
        interrogative: the words that ask for it: "at least how many days", "when", "who".
        decapitalise: writes the beginning of a sentence as it is within another one.

    Returns:
        The question, or none where the sentence is not suitable.
    """
    tokens = tokenise(sentence)
    if not 3 < len(tokens) <= LONGEST_SENTENCE or not sentence.rstrip().endswith(".") or not stands_alone(tokens):
        return None
    verb = find_verb(tokens)
    if any(one.low in _PRONOUNS for one in tokens):
        return None
    first = next((at for at, one in enumerate(tokens) if one.end > start), None)
    last = next((at for at, one in enumerate(tokens) if one.end >= end), None)
    if (
        verb < 1
        or first is None
        or last is None
        or tokens[0].low in _ANAPHORIC_OPENERS
        or ";" in sentence
        or ":" in sentence
    ):
        return None
    body = tokens[:-1] if tokens[-1].text == "." else tokens
    if first < verb:
        if first > 0:
            return None
        return Question(_as_question(f"{interrogative} {_source_text(sentence, body[last + 1 :])}"), FRONTED)
    subject, between, tail = body[:verb], list(body[verb + 1 : first]), list(body[last + 1 :])
    if any(one.tag == "," for one in subject):
        return None
    if between and between[-1].low == "every":
        interrogative = f"every {interrogative}"
        del between[-1]
    nested = bool(between) and (between[-1].tag == "DET" or (between[-1].low == "of" and len(between) > 1))
    can_front = (
        not nested
        and subject[0].tag != "PREP"
        and not interrogative.startswith(_COMPARATIVES)
        and len(tail) <= _LONGEST_TAIL
        and not any(one.tag in {",", "AUX", "SUB"} or one.low in _RELATIVE for one in (*between, *tail))
    )
    if can_front:
        fronted = _fronted(sentence, tokens, verb, subject, between, tail, interrogative, decapitalise)
        if fronted is not None:
            return fronted
    kept_tokens = body[: first - 1] if interrogative.startswith("every ") else body[:first]
    whole = " ".join((_source_text(sentence, kept_tokens), interrogative, _source_text(sentence, tail)))
    return Question(_as_question(whole), IN_PLACE)


def _fronted(
    sentence: str,
    tokens: Sequence[Token],
    verb: int,
    subject: Sequence[Token],
    between: list[Token],
    tail: Sequence[Token],
    interrogative: str,
    decapitalise: Callable[[str], str],
) -> Question | None:
    preposition = ""
    if between and between[-1].tag == "PREP" and not interrogative.startswith(("when", "until", "since")):
        preposition = between.pop().text + " "
    subject_text = decapitalise(_source_text(sentence, subject))
    main = tokens[verb]
    front = f"{preposition}{interrogative}"
    middle_text, tail_text = _source_text(sentence, between), _source_text(sentence, tail)
    if tail and tail[0].tag == "PREP" and tail[0].low not in _VALUE_PREPOSITIONS:
        middle_text, tail_text = f"{middle_text} {tail_text}", ""
    if interrogative.startswith(("when", "until", "since", "who", "by whom")):
        middle_text, tail_text = f"{middle_text} {tail_text}", ""
    if main.tag == "AUX" and not (main.low in _HAVE and not (between and between[0].tag in {"VN", "ADV"})):
        return Question(_as_question(f"{front} {tail_text} {main.low} {subject_text} {middle_text}"), FRONTED)
    support = _HAVE.get(main.low) or _do_support(main)
    if support is None:
        return None
    return Question(
        _as_question(f"{front} {tail_text} {support[0]} {subject_text} {support[1]} {middle_text}"), DO_SUPPORT
    )


def _do_support(main: Token) -> tuple[str, str] | None:
    """The form of "do" and the base form of a verb, where they can be told from its ending."""
    word = main.low
    if main.tag == "W" or word in {"cost", "cut", "set", "put"}:
        return "do", word
    if main.tag == "V" and word.endswith("s") and not word.endswith("ss"):
        for ending, instead in (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("s", "")):
            if word.endswith(ending) and len(word) > len(ending) + 1:
                return "does", word[: len(word) - len(ending)] + instead
    return None


def _source_text(sentence: str, tokens: Sequence[Token]) -> str:
    return sentence[tokens[0].start : tokens[-1].end] if tokens else ""


def _as_question(text: str) -> str:
    """A question on one line, with an initial capital and a question mark."""
    flat = re.sub(r"\s+", " ", text).strip().rstrip(".")
    return flat[:1].upper() + flat[1:] + "?"
