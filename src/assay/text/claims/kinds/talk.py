# ruff: noqa: SIM905 word lists
"""The words of conversation itself, and the statement that a courtesy, opinion or question may embed among them."""

import re
from collections.abc import Sequence

from assay.text.claims.clauses import find_verb, stands_alone
from assay.text.claims.criticality import critical_reasons
from assay.text.claims.kinds.evidence_words import EVIDENCE_MENTION
from assay.text.lexicon.tokens import Token, tokenise

LONGEST_COURTESY = 400
"""Characters; a longer sentence is not a courtesy."""
_TOPIC_WORDS = 5
"""The most content words about a topic in a courtesy or a question (`... about the parental leave policy`)."""
_LONGEST_PRAISE = 5
CONTENT_TAGS = frozenset({"NAME", "W", "V", "VN", "VA", "NUM", "QUOTE", "ASIDE"})
SUBJECT_TAGS = frozenset({"DET", "NAME", "W", "NUM", "QUOTE", "VA", "VN", "V", "PRON"})
PARTIES = frozenset("i you we this that it's i'm you're we're me us".split())
"""The parties to the conversation, about whom a courtesy may speak without a claim about the world."""
TALK_WORDS = frozenset(
    """i you we it me us my our your yours this that these here there i'm i'd i'll i've we're we'd we'll we've you're
    you'll it's that's here's there's let's what's am is are was be been being do does did have has had will would
    can could may might shall should must to of for in on with and or so as at by from about up out a an the any
    some more most very really just also now then please sure yes well ok okay hello hi hey dear thanks thank
    thankful grateful welcome help helpful hope hoping hopeful helps assist assistance support question questions
    answer answers ask asking asked information detail details further anything something everything everyone all
    both else need needs want like would reach reaching contact feel free hesitate happy hope quick great good nice
    interesting wonderful fascinating amazing important useful worth fact facts point point's topic news did next
    time always truly how what when where why who which tell sharing share let
    """.split()
)
"""Words of conversation itself: a sentence of these alone claims nothing about the world."""
ATTITUDES = frozenset(
    """glad happy pleased delighted thrilled excited proud relieved sorry afraid trust believe think
    thinking feel guess suppose assume imagine know knowing knew known aware see understand agree sure certain confident
    convinced positive clear true confirm confirming confirmed say saying tell telling inform informed informing
    informs mention mentioning mentioned add adding note noting noted remember remind reminded assure assured report
    announce announcing learn learned hear hearing heard share say state stating stress emphasize emphasise recall
    great good nice interesting wonderful fantastic amazing fascinating worth important right correct appreciate
    advised notice noticed realize realise love like conclude answer summary short
    """.split()
)
"""Words for the speaker's attitude to what follows, which is thereby stated."""


def carried_statement(text: str) -> int:
    """Where the statement that a courtesy, an opinion or a question embeds begins; -1 where it embeds none.

    Only words of conversation precede it, and it is a complete sentence. What follows "if" and "whether" is not stated.

    >>> text = "I am glad that partners get four weeks of leave."
    >>> text[carried_statement(text):]
    'partners get four weeks of leave.'
    >>> carried_statement("I would be glad to help you."), carried_statement("I cannot say that partners get leave.")
    (-1, -1)
    """
    tokens = tokenise(text[:LONGEST_COURTESY])
    attitude = False
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else None
        low = token.low.replace("’", "'")
        if low == "like" and before is not None and before.low in {"would", "'d", "d", "should", "i'd", "you'd"}:
            return -1  # what someone would like is not the case yet
        seam = before is not None and (
            before.low in {"that", ",", ":", "-", "–", "—", "!", ";"} or before.low in ATTITUDES
        )
        opens = attitude and seam and low != "that" and token.tag in SUBJECT_TAGS and low not in PARTIES
        if opens and stands_alone(tokens[i:]) and not is_remark(tokens[i:]) and not _interrupted(tokens[i:]):
            return token.start
        if low not in TALK_WORDS and low not in ATTITUDES and token.tag not in {",", ":", "-", "–", "—", "!"}:
            return -1
        attitude = attitude or low in ATTITUDES
    return -1


def has_content_beyond_talk(text: str) -> bool:
    """Whether there is more than conversation: a number, a quotation, an identifier, or many other words."""
    tokens = tokenise(EVIDENCE_MENTION.sub("this", text[:LONGEST_COURTESY]))
    other = [t for t in tokens if t.tag in CONTENT_TAGS and t.low.replace("’", "'") not in TALK_WORDS | ATTITUDES]
    return (
        len(text) > LONGEST_COURTESY
        or len(_UNSPACED.findall(text)) > _LETTERS_PER_WORD * _TOPIC_WORDS
        or any(t.tag in {"NUM", "QUOTE"} and t.low != "one" for t in tokens)
        or "identifier" in critical_reasons(text, text)
        or len(other) > _TOPIC_WORDS
    )


_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
"""Letters of scripts without spaces between words, or with several words' worth of meaning in a few letters."""
_LETTERS_PER_WORD = 2


def _interrupted(tokens: Sequence[Token]) -> bool:
    """Whether a comma separates the apparent subject from its verb: `(I see) your point, but I am unable ...`."""
    return any(token.tag == "," for token in tokens[: find_verb(tokens)])


def is_remark(tokens: Sequence[Token]) -> bool:
    """Whether the words only judge something already named: `it is lovely`."""
    return tokens[0].low == "it" and tokens[1].low in {"is", "was"} and len(tokens) <= _LONGEST_PRAISE
