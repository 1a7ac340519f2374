# ruff: noqa: SIM905 word lists
"""Words of talk itself, and the statement that a courtesy, an opinion or a question carries among them."""

import re
from collections.abc import Sequence

from assay.text.claims.clauses import find_verb, stands_alone
from assay.text.claims.criticality import critical_reasons
from assay.text.claims.kinds.evidence_words import POINTED
from assay.text.lexicon.tokens import Token, tokenise

LONGEST_COURTESY = 400
"""Characters; a longer sentence is no courtesy."""
_TOPIC_WORDS = 5
"""How many content words of other things a courtesy or a question may hold (`... about the parental leave policy`)."""
_LONGEST_PRAISE = 5
CONTENT = frozenset({"NAME", "W", "V", "VN", "VA", "NUM", "QUOTE", "ASIDE"})
SUBJECTS = frozenset({"DET", "NAME", "W", "NUM", "QUOTE", "VA", "VN", "V", "PRON"})
PARTIES = frozenset("i you we this that it's i'm you're we're me us".split())
"""The parties to the talk, of whom a courtesy may speak without a claim about the world."""
TALK = frozenset(
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
"""Words of talk itself: whoever says only these says nothing of the world."""
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
"""How a speaker stands to what follows: what it introduces is stated."""


def carried(text: str) -> int:
    """Where the statement begins that a courtesy, an opinion or a question carries; -1 where it carries none.

    What stands before it is said by words of talk alone, and the statement is a sentence of its own. What follows "if"
    and "whether" is not stated.

    >>> text = "I am glad that partners get four weeks of leave."
    >>> text[carried(text):]
    'partners get four weeks of leave.'
    >>> carried("I would be glad to help you."), carried("I cannot say that partners get leave.")
    (-1, -1)
    """
    tokens = tokenise(text[:LONGEST_COURTESY])
    attitude = False
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else None
        low = token.low.replace("’", "'")
        if low == "like" and before is not None and before.low in {"would", "'d", "d", "should", "i'd", "you'd"}:
            return -1  # what somebody would like is not so yet
        seam = before is not None and (
            before.low in {"that", ",", ":", "-", "–", "—", "!", ";"} or before.low in ATTITUDES
        )
        opens = attitude and seam and low != "that" and token.tag in SUBJECTS and low not in PARTIES
        if opens and stands_alone(tokens[i:]) and not praises(tokens[i:]) and not _interrupted(tokens[i:]):
            return token.start
        if low not in TALK and low not in ATTITUDES and token.tag not in {",", ":", "-", "–", "—", "!"}:
            return -1
        attitude = attitude or low in ATTITUDES
    return -1


def weighs(text: str) -> bool:
    """Whether a courtesy or a question holds more than talk: a number, a quotation, an identifier, many other words."""
    tokens = tokenise(POINTED.sub("this", text[:LONGEST_COURTESY]))
    other = [t for t in tokens if t.tag in CONTENT and t.low.replace("’", "'") not in TALK | ATTITUDES]
    return (
        len(text) > LONGEST_COURTESY
        or len(_UNSPACED.findall(text)) > _LETTERS_A_WORD * _TOPIC_WORDS
        or any(t.tag in {"NUM", "QUOTE"} and t.low != "one" for t in tokens)
        or "identifier" in critical_reasons(text, text)
        or len(other) > _TOPIC_WORDS
    )


_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
"""Letters of scripts whose words no blanks part, or whose words carry their endings in few letters."""
_LETTERS_A_WORD = 2


def _interrupted(tokens: Sequence[Token]) -> bool:
    """Whether a comma parts what would be the subject from its verb: `(I see) your point, but I am unable ...`."""
    return any(token.tag == "," for token in tokens[: find_verb(tokens)])


def praises(tokens: Sequence[Token]) -> bool:
    """`it is lovely`: what the speaker makes of something already named."""
    return tokens[0].low == "it" and tokens[1].low in {"is", "was"} and len(tokens) <= _LONGEST_PRAISE
