"""Which words of a user are evidence for a claim: for what the user says, wants and is, but not for what was done.

"My order has shipped, the neighbour told me" supports that the user says so. It does not support that the order has
shipped if the run has a record of the order; nor does a wish support that it was granted ("please send a new card to
12 Elm Street", "a new card is on its way to 12 Elm Street"). So a claim about what the user says or wants is checked
against everything that the user wrote, and a claim about the user against the user's statements without requests. A
claim about records, about what was done for the user, or about a thing that the run has looked at is checked against
none of the user's words.
"""

import re
from collections.abc import Collection, Sequence
from enum import Enum
from typing import Final

from assay.schema import Evidence
from assay.text.lexicon import Token, content_stems, find_words, tokenise, verbs
from assay.text.sentences import is_foreign_word, split_sentences

MOST_PROSE: Final = 200_000
"""The most characters of an input in which requests are looked for."""


class UserStatements(Enum):
    """How much of what users wrote a claim is checked against."""

    ALL = "all"
    STATED = "stated"
    """Without what they ask for."""
    NOTHING = "nothing"


_SAYING: Final = (
    r"(?:want(?:ed|s)?|(?:would|['’]d) (?:like|love|prefer|rather)|need(?:ed|s)?|ask(?:ed|ing|s)?|request(?:ed|ing|s)?|"
    r"mention(?:ed|s)?|said|say|says|told|wrote|write|prefer(?:red|s)?|plan(?:ned|s)?|intend(?:ed|s)?|wish(?:ed|es)?|"
    r"hope[ds]?|look(?:ed|ing) for|provided|gave|stated|indicated|described|reported|shared|insist(?:ed|s)?|"
    r"agreed?|decid(?:ed?|es)|chose|confirmed|claim(?:ed|s)?|try(?:ing)?|tried|believe[ds]?|specified|explained|sent)"
)
_OF_WORDS: Final = re.compile(
    rf"\b(?:you|user|customer|client|guest|caller)(?:['’](?:ve|re|d)| have| had| are| were| was| is| also| just| "
    rf"only){{0,2}}\s{_SAYING}\b"
    rf"|\byour (?:request|wish|question|message|preference|choice|words|wishes|requirements?)\b"
    rf"|\bas (?:you )?(?:requested|asked|wished|mentioned)\b",
    re.IGNORECASE,
)
"""A claim that the user says or wants something."""
_OF_RECORDS: Final = re.compile(
    r"\b(?:records?|on file|(?:our|the|my) (?:systems?|files?|database|logs?|side|end)|accounts? "
    r"(?:shows?|says?|has|is)|profile (?:shows?|says?|has)|registered as|verified|"
    r"i (?:can )?(?:see|found|checked|verified|confirm))\b",
    re.IGNORECASE,
)
_DONE_FOR: Final = re.compile(
    r"\byou(?:['’](?:ve|re)| have| had| are| were| was| will)?\s(?:(?:now|already|just|also|"
    r"successfully)\s){0,2}(?:be(?:en)?\s)?"
    r"(?:charged|refunded|billed|booked|upgraded|moved|credited|reimbursed|compensated|rebooked|enrolled|approved|granted|"
    r"awarded|promised|paid|scheduled|reserved|confirmed for|signed up|given)\b",
    re.IGNORECASE,
)
"""A claim about what was done for or by the user, for which calls and records are the evidence."""
_YOURS: Final = re.compile(
    r"\byour\s(?P<what>(?:[\w'’#-]+\s){0,4}?[\w'’#-]+)\s(?:is|are|was|were|has|have|had|will|can|could|does|do|did|shows?|"
    r"includes?|contains?|costs?|comes?|arrives?|leaves?|departs?|starts?|ends?|expires?|remains?|stays?|needs?)\b",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    r"(?:(?:and|then|also|so|ok|okay|hi|hello|hey|now|yes|no|well|first|next)[,!.]?\s+){0,3}"
    r"(?:please|kindly|pls|let['’]?s|"
    r"(?:can|could|would|will) (?:you|we|i)|i(?:['’]d| would| just| really)? (?:want|need|like|prefer|wish|hope|ask)|"
    r"we (?:want|need|would like)|i(?:['’]m| am) (?:looking|trying|hoping|asking)|pretend|imagine|suppose|act as|"
    r"say that|"
    r"you (?:should|must|have to|need to|are to))\b",
    re.IGNORECASE,
)
_TAKE_CLAUSES: Final = verbs.SAYING | frozenset(
    (
        "tell",
        "say",
        "make",
        "let",
        "check",
        "find",
        "see",
        "ensure",
        "ask",
        "know",
        "confirm",
        "assume",
        "remember",
        "help",
    )
)
_END_SUBJECT: Final = frozenset({"DET", "PRON", "SUB", "AND", "OR", "BUT", "PREP", "ADV"})
_STAND_ALONE: Final = frozenset(
    {"me", "him", "her", "us", "them", "whatever", "whoever", "who", "what", "which", "how"}
)
_LONGEST_SUBJECT: Final = 5
_OPENERS: Final = frozenset("and then also so ok okay now yes no please just hi hello hey".split())  # noqa: SIM905


def statements_of_users(claim: str, seen: Collection[str]) -> UserStatements:
    """How much of what users wrote a claim of a run is checked against.

    >>> statements_of_users("You want to fly on 3 May.", ()), statements_of_users("You live in Bonn.", ())
    (<UserStatements.ALL: 'all'>, <UserStatements.STATED: 'stated'>)
    >>> statements_of_users("Your order has shipped.", {"order"}), statements_of_users("You were charged 59.", ())
    (<UserStatements.NOTHING: 'nothing'>, <UserStatements.NOTHING: 'nothing'>)

    Args:
        claim: a claim about the user, or one that mentions the user.
        seen: the stems of the texts that the run has from tools and passages.
    """
    if _OF_RECORDS.search(claim) is not None:
        return UserStatements.NOTHING
    if _OF_WORDS.search(claim) is not None:
        return UserStatements.ALL
    if _DONE_FOR.search(claim) is not None:
        return UserStatements.NOTHING
    yours = _YOURS.search(claim)
    if yours is not None:
        thing = content_stems(find_words(yours["what"]).lexemes)
        if not thing.isdisjoint(seen):
            return UserStatements.NOTHING
    return UserStatements.STATED


def is_request(sentence: str) -> bool:
    """Whether a sentence asks for something or says that something is wanted.

    >>> is_request("Please cancel it."), is_request("Book room 5."), is_request("I live in Bonn.")
    (True, True, False)
    >>> is_request("Cancel fees are 40."), is_request("Cancel order 5 if it has not shipped.")
    (False, True)
    >>> is_request("Die Steuer beträgt 40 Euro.")
    False
    """
    if _REQUEST.match(sentence.lstrip()) is not None:
        return True
    tokens = [token for token in tokenise(sentence[:200]) if token.tag.isalpha()]
    at = next((i for i, token in enumerate(tokens) if token.low not in _OPENERS), len(tokens))
    if at + 1 >= len(tokens) or tokens[at].low not in verbs.BASE or tokens[at].tag in {"DET", "PRON", "NUM"}:
        return False
    if is_foreign_word(tokens[at].low, sentence):
        return False  # "Die Steuer" has an article
    if tokens[at + 1].tag in {"AUX", "V"} or tokens[at + 1].low in verbs.THIRD:
        return False  # "Mark lives in Bonn"
    return not _heads_subject(tokens[at:], sentence)


def _heads_subject(tokens: Sequence[Token], sentence: str) -> bool:
    """Whether a word that looks like an imperative begins the subject of a sentence: "cancel fees are 40".

    The object of an imperative ends at a pronoun, an article, a comma or a word that opens a clause; what follows one
    of these has a subject of its own ("cancel it, the fee is 40"). Verbs of saying take whole clauses.
    """
    if tokens[0].low in _TAKE_CLAUSES and tokens[1].tag != "NUM":
        return False
    for at, token in enumerate(tokens[1 : 1 + _LONGEST_SUBJECT], start=1):
        between = sentence[tokens[at - 1].end : token.start]
        if not between.isspace() or token.tag in _END_SUBJECT or token.low in _STAND_ALONE:
            return False
        if at > 1 and ((token.tag == "AUX" and token.low != "be") or token.low in verbs.THIRD - verbs.AMBIGUOUS):
            return True
    return False


def without_requests(text: str) -> str:
    """The text with the sentences that ask for something blanked out at the same length.

    >>> without_requests("I live in Bonn. Please send it there.").rstrip()
    'I live in Bonn.'
    """
    if len(text) > MOST_PROSE:
        return text
    pieces, at = [], 0
    for sentence in split_sentences(text):
        if sentence.block in {"prose", "list_item", "quote"} and is_request(text[sentence.start : sentence.end]):
            pieces.append(text[at : sentence.start] + " " * (sentence.end - sentence.start))
            at = sentence.end
    return "".join(pieces) + text[at:]


def stated(piece: Evidence) -> Evidence | None:
    """A piece of a user's words without its requests; None if nothing is left."""
    text = without_requests(piece.text)
    if text == piece.text:
        return piece
    return piece.model_copy(update={"text": text}) if text.strip() else None


def stems_of(pieces: Sequence[Evidence]) -> frozenset[str]:
    """The stems of texts, for `statements_of_users`."""
    return frozenset().union(*(content_stems(find_words(piece.text[:MOST_PROSE]).lexemes) for piece in pieces))
