"""Reads rules, facts and conclusions out of plain sentences: what it takes to hold a conclusion against its premises.

    All managers wear badges.     If it rains, the ground gets wet.     No cat is a dog.     Some cats are black.
    Ada wears a badge.            The ground is wet.                    Therefore, Ada is a manager.

A statement is a set of stems and whether it is denied; its subject is what is left of it when a rule's words are taken
out. So "Ada wears a badge" is an instance of "wears a badge" for {ada}, without any parsing of the sentence.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from assay.text.claims import find_verb, subject_of
from assay.text.lexicon import STOP_WORDS, find_words, stem, tokenise, word_set

Stems = frozenset[str]
Amount = Literal["all", "some", "most"]

_KEPT: Final = word_set("on off up out under above below after before down")
_DROPPED: Final = (STOP_WORDS - _KEPT) | word_set(
    """get gets got getting become becomes became always also therefore thus hence consequently then clearly indeed
    cannot person people someone anyone everyone anybody everybody somebody whoever thing things itself himself herself
    all every each any some no not never true case still surely certainly definitely must new ergo accordingly
    one ones whenever these those"""
)
_DENIED: Final = re.compile(r"\b(?:not|never|cannot|no|nobody|none|neither|nor)\b|n[’']t\b", re.IGNORECASE)
_PRONOUN: Final = re.compile(r"\s*(?:he|she|it|they|this|that|these|those|you|we|i)\b", re.IGNORECASE)
_SPEAKER: Final = re.compile(r"\s*(?:we|i)\b", re.IGNORECASE)
"""Pronouns that stand for no thing that a condition names."""
_PERSON: Final = re.compile(r"\s*(?:he|she|they)\b", re.IGNORECASE)
_IF_FIRST: Final = re.compile(
    r"\s*(?:if|whenever)\s(?P<p>[^,]{4,160}),\s(?:then\s)?(?P<q>[^,;:]{4,160})$|"
    r"\s*(?:if|whenever)\s(?P<p2>[^,]{4,120})\sthen\s(?P<q2>[^,;:]{4,160})$|"
    r"\s*(?:if|whenever)\s(?P<p3>[^,]{4,120}?)\s(?P<q3>(?:he|she|it|they|we|you)\s(?:will|would|can|must|shall)\s[^,;:]{4,160})$",
    re.IGNORECASE,
)
_IF_LAST: Final = re.compile(r"(?P<q>[^,;:]{4,160}?),?\s(?:if|whenever)\s(?P<p>[^,;:]{4,160})$", re.IGNORECASE)
_WHEN: Final = re.compile(r"when\s", re.IGNORECASE)
_PAST: Final = re.compile(r"\b(?:was|were|had|did|[a-z]{3,}ed|began|came|went|took|fell|rose|became)\b", re.IGNORECASE)
_BOTH_WAYS: Final = re.compile(
    r"\b(?:if and only if|only if|only when|exactly when|iff|just in case|precisely when|and vice versa|unless)\b|"
    r"(?:^|[,;]\s)only\b",
    re.IGNORECASE,
)
_UNIVERSAL: Final = re.compile(
    r"\s*(?P<word>all|every|each|any(?:one|body|thing)?|every(?:one|body|thing)|whoever|no|none\sof\sthe|some|most|many|"
    r"several|a\sfew)\b(?:\sof\s(?:the|our|these|those))?(?:\sthe)?\s(?P<rest>.{5,200})$",
    re.IGNORECASE | re.DOTALL,
)
_PLURAL: Final = re.compile(
    r"\s*(?P<rest>(?!(?i:this|his|its|thus|perhaps|always|yes|does|has|was|us|less|plus|across)\b)"
    r"[A-Za-z][a-z]{2,24}(?<!s)s\s[a-z].{3,160})$"
)
_WHO: Final = re.compile(r"\b(?:who|that|which)\s", re.IGNORECASE)
_EITHER: Final = re.compile(
    r"\b(?:or|unless|except\w*|but|only|usually|often|sometimes|generally|typically|mostly|likely|normally|tend)\b",
    re.IGNORECASE,
)
_INDEFINITE: Final = re.compile(
    r"\s*(?:an?|some|any|every|each|you|someone|anyone|somebody|anybody|something|one)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that holds or does not."""

    stems: Stems
    denied: bool = False

    def negated(self) -> "Statement":
        """Its denial."""
        return Statement(self.stems, not self.denied)


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds of whatever something else holds of."""

    condition: Statement
    result: Statement
    general: bool
    """Whether it is about any subject; else its two sides are whole statements."""
    amount: Amount = "all"
    both_ways: bool = False
    """Whether it may be turned round; said with "only" a rule is taken so, since it is mostly meant so."""


def stems_of(text: str) -> Stems:
    """The stems that say something.

    >>> sorted(stems_of("Ada always wears the badges."))
    ['ada', 'badg', 'wear']
    """
    return frozenset(stem(word.fold) for word in find_words(text).lexemes if word.fold not in _DROPPED)


def read_statement(text: str) -> Statement:
    """A statement as it stands.

    >>> read_statement("The ground is not wet.").denied
    True
    """
    return Statement(stems_of(text), len(_DENIED.findall(text)) % 2 == 1)


def begins_with_pronoun(text: str) -> bool:
    """Whether only a pronoun says what a statement is about."""
    return _PRONOUN.match(text) is not None


def read_rule(text: str) -> Rule | None:
    """The rule that a sentence states; none where it states no plain one.

    >>> read_rule("All managers wear badges.").result.stems == {"wear", "badg"}
    True
    """
    stripped = text.strip().rstrip(".!").strip()
    if _WHEN.match(stripped) is not None and _PAST.search(stripped) is None:
        stripped = f"If{stripped[4:]}"
    if len(stripped) > 300 or "?" in stripped or "\n\n" in stripped:
        return None
    return _universal(stripped) or _conditional(stripped)


def _universal(stripped: str) -> Rule | None:
    match = _UNIVERSAL.match(stripped) or _PLURAL.match(stripped)
    if match is None or _EITHER.search(stripped) is not None or ";" in stripped:
        return None
    word = (match.groupdict().get("word") or "all").lower()
    rest = match.group("rest")
    tokens = tokenise(f"The {rest}")
    if any(token.tag in {",", ":", "AND"} for token in tokens):
        return None
    verb = find_verb(tokens)
    if match.re is _PLURAL and (verb < 0 or _PAST.search(rest) is not None):
        return None
    if match.re is _PLURAL and tokens[verb].low.endswith("s"):
        return None  # "Paris is"
    if verb < 0 and _WHO.search(rest) is None:
        verb = 2  # "All dogs bark at strangers": the word behind the noun
    elif verb < 0:  # "Anyone who works nights gets a bonus": the second verb
        verb = max((n for n, token in enumerate(tokens) if token.tag in {"V", "AUX"}), default=-1)
        verb = verb if verb > 3 else -1
    if not 1 < verb < len(tokens):
        return None
    cut = tokens[verb].start - 4
    condition, result = rest[:cut], rest[cut:]
    if not stems_of(condition) or not stems_of(result):
        return None
    denied = _DENIED.search(result) is not None
    if word.startswith(("no", "none")):
        denied = not denied
    amount: Amount = "all"
    if word in {"some", "several", "a few", "many"}:
        amount = "some"
    elif word == "most":
        amount = "most"
    return Rule(Statement(stems_of(condition)), Statement(stems_of(result), denied), general=True, amount=amount)


def _subject(clause: str) -> Stems:
    """The stems of what a clause is about; none where its verb is not found."""
    tokens = tokenise(clause)
    verb = find_verb(tokens)
    return stems_of(clause[: tokens[verb].start]) if verb > 0 and subject_of(tokens, verb) else frozenset()


def _conditional(stripped: str) -> Rule | None:
    match = _IF_FIRST.match(stripped)
    if match is not None:
        condition, result = (next(filter(None, match.group(f, f"{f}2", f"{f}3"))) for f in "pq")
    else:
        match = _IF_LAST.match(stripped)
        if match is None:
            return None
        condition, result = match.group("p"), match.group("q")
    both = _BOTH_WAYS.search(stripped) is not None
    if not both and (_EITHER.search(stripped) is not None or re.search(r"\band\b", condition)):
        return None
    first, second = read_statement(condition), read_statement(result)
    takes_up = begins_with_pronoun(result) and _SPEAKER.match(result) is None
    subject = _subject(condition)
    if _PERSON.match(condition) is not None and not takes_up:
        subject = _subject(result)  # "Anna buys a car if she gets the job"
    open_subject = _INDEFINITE.match(condition) is not None
    if takes_up or (subject and subject <= second.stems) or open_subject:
        first = Statement(first.stems - subject, first.denied)
        second = Statement(second.stems - subject, second.denied)
        general = True
    else:
        general = False
    if not first.stems or not second.stems:
        return None
    return Rule(first, second, general, both_ways=both)
