"""The user's statement that an answer agrees with and repeats.

"You are right, it is five weeks." in reply to "The leave is 5 weeks, I was told. Is that so?" says that the leave is
five weeks. By itself the answer is only a value, which nearly any evidence contains somewhere; what it is the value of
comes from the user. So the answer is as correct as the statement that it repeats.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from assay.text.claims import is_fragment
from assay.text.claims.clauses import stands_alone
from assay.text.lexicon.tokens import PRONOUNS, tokenise
from assay.text.quantities import Relation, find_quantities, relate
from assay.text.rewording.short_answers import AGREEING, agrees, asked_statement
from assay.text.sentences import split_sentences

_MAX_ANSWER_LENGTH: Final = 200
_MAX_VALUE_WORDS: Final = 8
"""Words of a value; more are a statement of their own."""
_MAX_QUESTION_LENGTH: Final = 4_000
"""Characters; only the last ones of a longer text of the user are read."""
_AGREEING_LEAD: Final = re.compile(
    rf"(?:(?:{AGREEING}|i agree|agreed|as you (?:say|said|state|stated|note|noted|wrote))(?:\s+that)?[\s,;:.!—–-]+)*"
    r"(?:(?:it|that|this|they|these|those)(?:['’](?:s|re)|\s(?:is|are|was|were|would be|will be|should be))\s+"
    rf"(?:(?:indeed|really|actually|in fact|{AGREEING})[\s,:]+)*)?",
    re.IGNORECASE,
)
"""Openings of an answer that state nothing themselves: agreement, and a pronoun with a form of `be`."""
_AGREEING_TRAIL: Final = re.compile(
    r"[\s,;(—–-]*(?:(?:just |exactly )?as (?:you (?:\w+\s)?(?:say|said|state|stated|note|noted|wrote|mention|mentioned)"
    r"|(?:is )?stated)|indeed|of course)?[\s.!)]*$",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(
    r"\u201c([^\u201d\n]{8,400})\u201d|\u201e([^\u201c\u201d\n]{8,400})[\u201c\u201d]|\u00ab([^\u00bb\n]{8,400})\u00bb|(?<![\w\"])\"([^\"\n]{8,400})\"(?!\w)"
)
_LABELLED: Final = re.compile(r"[^:\n]{1,80}:\s.{1,200}")
_REPORTING_OPENING: Final = re.compile(
    r"(?:.{0,80}?\b(?:sure|certain|confident|know(?:n|s)?|thinks?|thought|believes?|says?|said|states?|stated|"
    r"told (?:me|us)|heard|read|remember|understand|noted?|assume|confirm(?:ed|s)?|insists?|fact|agree)"
    r"\s(?:is\s)?(?:that\s)?"
    r"|(?:since|because|given that|as|now that)\s)",
    re.IGNORECASE,
)
"""What precedes a statement that a sentence reports: who knows or says it, or the conjunction of a reason."""
_ASKS_FOR_CONFIRMATION: Final = re.compile(
    r"(?:(?:and|so|but|please)[\s,]+)?(?:is|was|are|were|isn['’]t|wasn['’]t)\s(?:that|this|it|the\s\w+)(?:\s\w+)?\s"
    r"(?:right|correct|true|so|accurate|the case|what\b.*)\W*"
    r"|(?:(?:can|could|would) you\s)?(?:please\s)?(?:confirm|verify|agree)\b.*|(?:right|correct|true|agreed|yes)\?*",
    re.IGNORECASE,
)
"""A final sentence that asks whether the statement before it is true."""


class AgreedStatement(NamedTuple):
    """A statement that an answer repeats."""

    text: str
    offset: int | None
    """What to subtract from an offset in the statement to get the offset of the same words in the answer; none where
    the answer contains none of its words."""
    only_agrees: bool = False
    """Whether the answer only agrees, so that its own words need not be judged."""


@lru_cache(maxsize=256)
def agreed_statement(question: str, answer: str) -> AgreedStatement | None:
    """The user's statement that an answer repeats; none where the answer disagrees or makes a statement of its own.

    >>> agreed_statement("The leave is 5 weeks, I was told. Is that so?", "You are right, it is five weeks.").text
    'The leave is 5 weeks'
    >>> agreed_statement("I know that the fee is 40 euros. Please agree.", "Certainly: 40 euros").text
    'the fee is 40 euros'
    >>> agreed_statement("How long is the leave?", "It is five weeks.") is None
    True
    >>> agreed_statement("The leave is 5 weeks. Is that so?", "No, it is 4 weeks.") is None
    True

    Args:
        question: what the user wrote.
        answer: one claim of the answer.
    """
    if len(answer) > _MAX_ANSWER_LENGTH:
        return None
    asked = question[-_MAX_QUESTION_LENGTH:]
    if agrees(answer):
        said = statements_of(asked) if _asks_for_confirmation(asked) else ()
        return AgreedStatement(said[-1], None, only_agrees=True) if said else None
    value = value_alone(answer)
    if value is None:
        return None
    text, begin = value
    for statement in reversed(statements_of(asked)):
        place = _place_of_value(text, statement)
        if place is not None:
            only_agrees = _AGREEING_WORD.search(answer[:begin]) is not None or _asks_for_confirmation(asked)
            return AgreedStatement(statement, place - begin, only_agrees=only_agrees)
    return None


_AGREEING_WORD: Final = re.compile(rf"\b(?:{AGREEING}|agreed?)\b", re.IGNORECASE)


def _asks_for_confirmation(asked: str) -> bool:
    """Whether one of the last two sentences of a text asks for confirmation of what the text states."""
    unquoted = _QUOTED.sub("", asked).strip()
    pieces = [
        one.strip() for pattern in (r"(?<=[.!?:])\s+", r"(?<=[.!?])\s+") for one in re.split(pattern, unquoted)[-2:]
    ]
    return any(_ASKS_FOR_CONFIRMATION.fullmatch(one) is not None for one in pieces)


def value_alone(answer: str) -> tuple[str, int] | None:
    """The value of an answer that only gives a value, with its offset; none for any other answer.

    >>> value_alone("That is correct: 90,000 euros."), value_alone("It is Talent Hub."), value_alone("The fee is 5.")
    (('90,000 euros', 17), ('Talent Hub', 6), None)
    """
    lead = _AGREEING_LEAD.match(answer)
    begin = lead.end() if lead is not None else 0
    trail = _AGREEING_TRAIL.search(answer, begin)
    text = answer[begin : trail.start() if trail is not None else len(answer)].strip()
    if (
        not text
        or len(text.split()) > _MAX_VALUE_WORDS
        or agrees(text) is not None
        or text.split()[0].lower() in {"no", "not", "never", "nothing", "none"}
    ):
        return None
    begin = answer.index(text, begin)
    article_fits = begin > 0 and is_fragment(f"the {text}")  # "it is rate limit exceeded"
    return (text, begin) if article_fits or is_fragment(text) else None


def statements_of(text: str) -> tuple[str, ...]:
    """The statements in a user's text, in order: quoted sentences, declarative sentences, the content of a question.

    A sentence that reports a statement ("I am sure that the fee is 5 euros") gives that statement. One whose subject is
    only a pronoun is left out, because it depends on another sentence.

    >>> statements_of('The auditor says “Anna leads the team.” I know that rent is 5 euros. How much is it?')
    ('Anna leads the team.', 'rent is 5 euros')
    """
    found: list[tuple[int, str]] = []
    for match in _QUOTED.finditer(text):
        found += [(match.start(), one) for one in (_quotation(match),) if one is not None]
    unquoted = _QUOTED.sub(_masked, text)
    for place in split_sentences(unquoted):
        sentence = unquoted[place.start : place.end].strip()
        said = _REPORTING_OPENING.match(sentence)
        rest = sentence[said.end() :] if said is not None else sentence
        clause = re.split(r",\s", rest, maxsplit=1)[0]
        asks = sentence.endswith("?")
        for one in (rest, clause) if not asks else (clause,) if said is not None else ():
            if "\x00" not in one and _is_statement(one):
                found.append((place.start, _without_aside(one.rstrip(" .!"))))
                break
    asked = asked_statement(text)
    if asked is not None and not _QUOTED.search(asked) and not _REPORTING_OPENING.match(asked) and _is_statement(asked):
        found.append((len(text), asked))
    return tuple(dict.fromkeys(one for _, one in sorted(found, key=lambda pair: pair[0])))


def _masked(quoted: re.Match[str]) -> str:
    """Characters that no statement contains, in the length of a quotation; the full stop of a quoted sentence stays."""
    ends = next(one for one in quoted.groups() if one is not None).rstrip().endswith((".", "!", "?"))
    return "\x00" * (len(quoted[0]) - ends) + "." * ends


def _without_aside(statement: str) -> str:
    """The statement without a final aside about its source: "the leave is 5 weeks, I was told"."""
    head, comma, tail = statement.rpartition(", ")
    aside = tokenise(tail)
    short = 1 < len(aside) <= _MAX_ASIDE_TOKENS and aside[0].low in PRONOUNS
    return head if comma and short and _is_statement(head) else statement


_MAX_ASIDE_TOKENS: Final = 5


def _quotation(match: re.Match[str]) -> str | None:
    """The quoted text, if it is a statement; a title is not."""
    text = next(one for one in match.groups() if one is not None).strip()
    return text if stands_alone(tokenise(text)) or _LABELLED.fullmatch(text) else None


def _is_statement(text: str) -> bool:
    """Whether a text is a statement by itself."""
    tokens = tokenise(text)
    return stands_alone(tokens) and tokens[0].low not in PRONOUNS | {"there", "please", "what", "how", "which", "who"}


def _place_of_value(value: str, statement: str) -> int | None:
    """The offset of a value in a statement, whatever the form of a number; none where it does not contain it."""
    found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", statement, re.IGNORECASE)
    if found is not None:
        return found.start()
    ours = find_quantities(value)
    if len(ours) == 1 and not ours[0].start and len(value[ours[0].end :].split()) <= len(ours[0].nouns):
        for theirs in find_quantities(statement):
            unitless = ours[0].dimension == "count" and ours[0].value == theirs.value
            if unitless or (theirs.bound == ours[0].bound and relate(ours[0], theirs) is Relation.SAME):
                return theirs.start
    return None
