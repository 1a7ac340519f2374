"""What an answer agrees with: the statement of the user that an answer with no statement of its own repeats.

"You are right, it is five weeks." to "The leave is 5 weeks, I was told. Is that so?" says that the leave is five weeks.
By itself it is a value, and a value stands somewhere in nearly any evidence; what it says of what, it takes from the
user. So it is as right as the statement that it repeats.
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

_LONGEST_ANSWER: Final = 200
_LONGEST_VALUE: Final = 8
"""Words of a value; more say something themselves."""
_LONGEST_ASKED: Final = 4_000
"""Characters; of a longer text of a user, the last ones are read."""
_LEAD: Final = re.compile(
    rf"(?:(?:{AGREEING}|i agree|agreed|as you (?:say|said|state|stated|note|noted|wrote))(?:\s+that)?[\s,;:.!—–-]+)*"
    r"(?:(?:it|that|this|they|these|those)(?:['’](?:s|re)|\s(?:is|are|was|were|would be|will be|should be))\s+"
    rf"(?:(?:indeed|really|actually|in fact|{AGREEING})[\s,:]+)*)?",
    re.IGNORECASE,
)
"""What opens an answer without saying anything of its own: agreement, and a pronoun with a form of `be`."""
_TRAIL: Final = re.compile(
    r"[\s,;(—–-]*(?:(?:just |exactly )?as (?:you (?:\w+\s)?(?:say|said|state|stated|note|noted|wrote|mention|mentioned)"
    r"|(?:is )?stated)|indeed|of course)?[\s.!)]*$",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(
    r"\u201c([^\u201d\n]{8,400})\u201d|\u201e([^\u201c\u201d\n]{8,400})[\u201c\u201d]|\u00ab([^\u00bb\n]{8,400})\u00bb|(?<![\w\"])\"([^\"\n]{8,400})\"(?!\w)"
)
_LABELLED: Final = re.compile(r"[^:\n]{1,80}:\s.{1,200}")
_SAID: Final = re.compile(
    r"(?:.{0,80}?\b(?:sure|certain|confident|know(?:n|s)?|thinks?|thought|believes?|says?|said|states?|stated|"
    r"told (?:me|us)|heard|read|remember|understand|noted?|assume|confirm(?:ed|s)?|insists?|fact|agree)"
    r"\s(?:is\s)?(?:that\s)?"
    r"|(?:since|because|given that|as|now that)\s)",
    re.IGNORECASE,
)
"""What stands before a statement that a sentence passes on: somebody's knowing or saying it, or a reason's opening."""
_ABOUT: Final = re.compile(
    r"(?:(?:and|so|but|please)[\s,]+)?(?:is|was|are|were|isn['’]t|wasn['’]t)\s(?:that|this|it|the\s\w+)(?:\s\w+)?\s"
    r"(?:right|correct|true|so|accurate|the case|what\b.*)\W*"
    r"|(?:(?:can|could|would) you\s)?(?:please\s)?(?:confirm|verify|agree)\b.*|(?:right|correct|true|agreed|yes)\?*",
    re.IGNORECASE,
)
"""A last sentence that asks whether what was said before it is so."""


class AgreedStatement(NamedTuple):
    """A statement that an answer repeats."""

    text: str
    at: int | None
    """What is to be taken from a place in the statement for the place of the same words in the answer; none where the
    answer has no word of it."""
    alone: bool = False
    """Whether the answer says nothing but that it is so, so that its own words need not be judged."""


@lru_cache(maxsize=256)
def agreed_statement(question: str, answer: str) -> AgreedStatement | None:
    """The statement of the user that an answer repeats; none where the answer says something of its own, or no to it.

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
    if len(answer) > _LONGEST_ANSWER:
        return None
    asked = question[-_LONGEST_ASKED:]
    if agrees(answer):
        said = statements_of(asked) if _asks_about_it(asked) else ()
        return AgreedStatement(said[-1], None, alone=True) if said else None
    value = value_alone(answer)
    if value is None:
        return None
    text, begins = value
    for statement in reversed(statements_of(asked)):
        place = _place(text, statement)
        if place is not None:
            alone = _AGREEING.search(answer[:begins]) is not None or _asks_about_it(asked)
            return AgreedStatement(statement, place - begins, alone=alone)
    return None


_AGREEING: Final = re.compile(rf"\b(?:{AGREEING}|agreed?)\b", re.IGNORECASE)


def _asks_about_it(asked: str) -> bool:
    """Whether one of the last two sentences of a text asks whether what it states is so."""
    unquoted = _QUOTED.sub("", asked).strip()
    pieces = [
        one.strip() for pattern in (r"(?<=[.!?:])\s+", r"(?<=[.!?])\s+") for one in re.split(pattern, unquoted)[-2:]
    ]
    return any(_ABOUT.fullmatch(one) is not None for one in pieces)


def value_alone(answer: str) -> tuple[str, int] | None:
    """The value of an answer that gives a value and says nothing of it, and where it stands; none of another answer.

    >>> value_alone("That is correct: 90,000 euros."), value_alone("It is Talent Hub."), value_alone("The fee is 5.")
    (('90,000 euros', 17), ('Talent Hub', 6), None)
    """
    lead = _LEAD.match(answer)
    begins = lead.end() if lead is not None else 0
    trail = _TRAIL.search(answer, begins)
    text = answer[begins : trail.start() if trail is not None else len(answer)].strip()
    if (
        not text
        or len(text.split()) > _LONGEST_VALUE
        or agrees(text) is not None
        or text.split()[0].lower() in {"no", "not", "never", "nothing", "none"}
    ):
        return None
    begins = answer.index(text, begins)
    led = begins > 0 and is_fragment(f"the {text}")  # "it is rate limit exceeded"
    return (text, begins) if led or is_fragment(text) else None


def statements_of(text: str) -> tuple[str, ...]:
    """What a user states, in order: quoted sentences, sentences that do not ask, and what a question asks whether.

    Of a sentence that passes a statement on ("I am sure that the fee is 5 euros"), the statement. One that speaks of
    something by a pronoun alone is left out: what it is of stands elsewhere.

    >>> statements_of('The auditor says “Anna leads the team.” I know that rent is 5 euros. How much is it?')
    ('Anna leads the team.', 'rent is 5 euros')
    """
    found: list[tuple[int, str]] = []
    for match in _QUOTED.finditer(text):
        found += [(match.start(), one) for one in (_quotation(match),) if one is not None]
    unquoted = _QUOTED.sub(_blank, text)
    for place in split_sentences(unquoted):
        sentence = unquoted[place.start : place.end].strip()
        said = _SAID.match(sentence)
        rest = sentence[said.end() :] if said is not None else sentence
        clause = re.split(r",\s", rest, maxsplit=1)[0]
        asks = sentence.endswith("?")
        for one in (rest, clause) if not asks else (clause,) if said is not None else ():
            if "\x00" not in one and _is_statement(one):
                found.append((place.start, _before_aside(one.rstrip(" .!"))))
                break
    asked = asked_statement(text)
    if asked is not None and not _QUOTED.search(asked) and not _SAID.match(asked) and _is_statement(asked):
        found.append((len(text), asked))
    return tuple(dict.fromkeys(one for _, one in sorted(found, key=lambda pair: pair[0])))


def _blank(quoted: re.Match[str]) -> str:
    """A quotation as characters that no statement has, of the same length; one that ends a sentence still does."""
    ends = next(one for one in quoted.groups() if one is not None).rstrip().endswith((".", "!", "?"))
    return "\x00" * (len(quoted[0]) - ends) + "." * ends


def _before_aside(statement: str) -> str:
    """Without who says so behind it: "the leave is 5 weeks, I was told"."""
    head, comma, tail = statement.rpartition(", ")
    aside = tokenise(tail)
    short = 1 < len(aside) <= _ASIDE and aside[0].low in PRONOUNS
    return head if comma and short and _is_statement(head) else statement


_ASIDE: Final = 5


def _quotation(match: re.Match[str]) -> str | None:
    """What is quoted, where it states something: a title does not."""
    text = next(one for one in match.groups() if one is not None).strip()
    return text if stands_alone(tokenise(text)) or _LABELLED.fullmatch(text) else None


def _is_statement(text: str) -> bool:
    """Whether a text states something by itself."""
    tokens = tokenise(text)
    return stands_alone(tokens) and tokens[0].low not in PRONOUNS | {"there", "please", "what", "how", "which", "who"}


def _place(value: str, statement: str) -> int | None:
    """Where a statement has a value, in whatever form a number is written; none where it has not."""
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
