"""A question for a value of a sentence: "Flights must be booked at least 14 days before departure." gives "At least how
many days before departure must flights be booked?".

Three ways, the first that can be taken: the auxiliary goes before the subject; a verb whose form is known takes "do";
else the sentence stays as it is with "how many" in the place of the number, as people ask when they repeat a rule.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from assay.text.claims import find_verb, stands_alone
from assay.text.lexicon import Token, tokenise

FRONTED, DO_SUPPORT, IN_PLACE = 0.95, 0.9, 0.65
"""The plausibility of a question by the way in which it was made (docs/redteam.md#plausibility)."""
LONGEST_SENTENCE: Final = 40
"""Tokens; nothing is asked of a longer sentence."""
_LONGEST_REST: Final = 7
"""Tokens after the value that may go to the front with it."""
_BE: Final = frozenset({"is", "are", "was", "were"})
_HAVE: Final = {"has": ("does", "have"), "have": ("do", "have"), "had": ("did", "have")}
_RELATIVE: Final = frozenset(
    {"that", "which", "who", "whose", "where", "when", "if", "unless", "because", "until", "and"}
)
_LEANING: Final = frozenset(
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
"""Words with which a subject leans on the sentence before it, so that a question about it says too little."""

_OF_THE_VALUE: Final = frozenset({"of", "per", "before", "after", "without"})
"""Prepositions behind a value that belong to it ("14 days before departure") and not to the verb."""
_UNTOLD: Final = frozenset({"it", "they", "he", "she", "this", "these", "those", "them", "him"})
"""Words that stand for something that a question would have to name."""
_COMPARED: Final = ("longer than", "larger than", "higher than", "later than")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and how it was made."""

    text: str
    plausibility: float


def ask(sentence: str, start: int, end: int, asked: str, lower: Callable[[str], str]) -> Asked | None:
    """The question for the words of a sentence from `start` to `end`.

    Args:
        sentence: a sentence that stands for itself.
        start: the first character of the value.
        end: the one after its last.
        asked: what asks for it: "at least how many days", "when", "who".
        lower: how the first word of a sentence is written inside of one.

    Returns:
        None where the sentence is not fit to be asked about.
    """
    tokens = tokenise(sentence)
    if not 3 < len(tokens) <= LONGEST_SENTENCE or not sentence.rstrip().endswith(".") or not stands_alone(tokens):
        return None
    verb = find_verb(tokens)
    if any(one.low in _UNTOLD for one in tokens):
        return None
    first = next((at for at, one in enumerate(tokens) if one.end > start), None)
    last = next((at for at, one in enumerate(tokens) if one.end >= end), None)
    if verb < 1 or first is None or last is None or tokens[0].low in _LEANING or ";" in sentence or ":" in sentence:
        return None
    body = tokens[:-1] if tokens[-1].text == "." else tokens
    if first < verb:
        if first > 0:
            return None
        return Asked(_cased(f"{asked} {_join(sentence, body[last + 1 :])}"), FRONTED)
    subject, between, rest = body[:verb], list(body[verb + 1 : first]), list(body[last + 1 :])
    if any(one.tag == "," for one in subject):
        return None
    if between and between[-1].low == "every":
        asked = f"every {asked}"
        del between[-1]
    nested = bool(between) and (between[-1].tag == "DET" or (between[-1].low == "of" and len(between) > 1))
    fronts = (
        not nested
        and subject[0].tag != "PREP"
        and not asked.startswith(_COMPARED)
        and len(rest) <= _LONGEST_REST
        and not any(one.tag in {",", "AUX", "SUB"} or one.low in _RELATIVE for one in (*between, *rest))
    )
    if fronts:
        made = _fronted(sentence, tokens, verb, subject, between, rest, asked, lower)
        if made is not None:
            return made
    kept = body[: first - 1] if asked.startswith("every ") else body[:first]
    whole = " ".join((_join(sentence, kept), asked, _join(sentence, rest)))
    return Asked(_cased(whole), IN_PLACE)


def _fronted(
    sentence: str,
    tokens: Sequence[Token],
    verb: int,
    subject: Sequence[Token],
    between: list[Token],
    rest: Sequence[Token],
    asked: str,
    lower: Callable[[str], str],
) -> Asked | None:
    preposition = ""
    if between and between[-1].tag == "PREP" and not asked.startswith(("when", "until", "since")):
        preposition = between.pop().text + " "
    whom = lower(_join(sentence, subject))
    main = tokens[verb]
    front = f"{preposition}{asked}"
    middle, tail = _join(sentence, between), _join(sentence, rest)
    if rest and rest[0].tag == "PREP" and rest[0].low not in _OF_THE_VALUE:
        middle, tail = f"{middle} {tail}", ""
    if asked.startswith(("when", "until", "since", "who", "by whom")):
        middle, tail = f"{middle} {tail}", ""
    if main.tag == "AUX" and not (main.low in _HAVE and not (between and between[0].tag in {"VN", "ADV"})):
        return Asked(_cased(f"{front} {tail} {main.low} {whom} {middle}"), FRONTED)
    support = _HAVE.get(main.low) or _do(main)
    if support is None:
        return None
    return Asked(_cased(f"{front} {tail} {support[0]} {whom} {support[1]} {middle}"), DO_SUPPORT)


def _do(main: Token) -> tuple[str, str] | None:
    """The form of "do" and the base of a verb, where its form gives them away."""
    word = main.low
    if main.tag == "W" or word in {"cost", "cut", "set", "put"}:
        return "do", word
    if main.tag == "V" and word.endswith("s") and not word.endswith("ss"):
        for ending, instead in (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("s", "")):
            if word.endswith(ending) and len(word) > len(ending) + 1:
                return "does", word[: len(word) - len(ending)] + instead
    return None


def _join(sentence: str, tokens: Sequence[Token]) -> str:
    return sentence[tokens[0].start : tokens[-1].end] if tokens else ""


def _cased(text: str) -> str:
    """A question in one line, with a capital in front and its mark behind."""
    flat = re.sub(r"\s+", " ", text).strip().rstrip(".")
    return flat[:1].upper() + flat[1:] + "?"
