"""Reads rules, facts and conclusions from plain sentences, to check a conclusion against its premises.

    All managers wear badges.     If it rains, the ground gets wet.     No cat is a dog.     Some cats are black.
    Ada wears a badge.            The ground is wet.                    Therefore, Ada is a manager.

A statement is a set of stems and whether it is negated; its subject is what remains without the words of a rule. So
"Ada wears a badge" is an instance of "wears a badge" with the subject {ada}, without any parsing of the sentence.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from assay.text.claims import find_verb, subject_of
from assay.text.lexicon import STOP_WORDS, find_words, stem, tokenise, word_set

Stems = frozenset[str]
Amount = Literal["all", "some", "most"]

_CONTENT_PARTICLES: Final = word_set("on off up out under above below after before down")
_EMPTY_WORDS: Final = (STOP_WORDS - _CONTENT_PARTICLES) | word_set(
    """get gets got getting become becomes became always also therefore thus hence consequently then clearly indeed
    cannot person people someone anyone everyone anybody everybody somebody whoever thing things itself himself herself
    all every each any some no not never true case still surely certainly definitely must new ergo accordingly
    one ones whenever these those"""
)
_NEGATION: Final = re.compile(r"\b(?:not|never|cannot|no|nobody|none|neither|nor)\b|n[’']t\b", re.IGNORECASE)
_PRONOUN: Final = re.compile(r"\s*(?:he|she|it|they|this|that|these|those|you|we|i)\b", re.IGNORECASE)
_SPEAKER: Final = re.compile(r"\s*(?:we|i)\b", re.IGNORECASE)
"""Pronouns that do not refer to a thing in a condition."""
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
_QUALIFIER: Final = re.compile(
    r"\b(?:or|unless|except\w*|but|only|usually|often|sometimes|generally|typically|mostly|likely|normally|tend)\b",
    re.IGNORECASE,
)
_INDEFINITE: Final = re.compile(
    r"\s*(?:an?|some|any|every|each|you|someone|anyone|somebody|anybody|something|one)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as its content stems, and whether it is negated."""

    stems: Stems
    denied: bool = False

    def negated(self) -> "Statement":
        """The negation of the statement."""
        return Statement(self.stems, not self.denied)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: if the condition holds of a subject, so does the result."""

    condition: Statement
    result: Statement
    general: bool
    """Whether it applies to any subject; else its two sides are complete statements."""
    amount: Amount = "all"
    both_ways: bool = False
    """Whether the converse holds too; a rule with "only" is read so, since it is mostly meant so."""


def stems_of(text: str) -> Stems:
    """The content stems of a text.

    >>> sorted(stems_of("Ada always wears the badges."))
    ['ada', 'badg', 'wear']
    """
    return frozenset(stem(word.fold) for word in find_words(text).lexemes if word.fold not in _EMPTY_WORDS)


def read_statement(text: str) -> Statement:
    """The statement of a text as a whole.

    >>> read_statement("The ground is not wet.").denied
    True
    """
    return Statement(stems_of(text), len(_NEGATION.findall(text)) % 2 == 1)


def begins_with_pronoun(text: str) -> bool:
    """Whether a statement begins with a pronoun as its subject."""
    return _PRONOUN.match(text) is not None


def read_rule(text: str) -> Rule | None:
    """The rule that a sentence states; none where it does not plainly state one.

    >>> read_rule("All managers wear badges.").result.stems == {"wear", "badg"}
    True
    """
    stripped = text.strip().rstrip(".!").strip()
    if _WHEN.match(stripped) is not None and _PAST.search(stripped) is None:
        stripped = f"If{stripped[4:]}"
    if len(stripped) > 300 or "?" in stripped or "\n\n" in stripped:
        return None
    return _read_universal(stripped) or _read_conditional(stripped)


def _read_universal(stripped: str) -> Rule | None:
    match = _UNIVERSAL.match(stripped) or _PLURAL.match(stripped)
    if match is None or _QUALIFIER.search(stripped) is not None or ";" in stripped:
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
    denied = _NEGATION.search(result) is not None
    if word.startswith(("no", "none")):
        denied = not denied
    amount: Amount = "all"
    if word in {"some", "several", "a few", "many"}:
        amount = "some"
    elif word == "most":
        amount = "most"
    return Rule(Statement(stems_of(condition)), Statement(stems_of(result), denied), general=True, amount=amount)


def _subject_stems(clause: str) -> Stems:
    """The stems of the subject of a clause; empty where its verb is not found."""
    tokens = tokenise(clause)
    verb = find_verb(tokens)
    return stems_of(clause[: tokens[verb].start]) if verb > 0 and subject_of(tokens, verb) else frozenset()


def _condition_and_result(stripped: str) -> tuple[str, str] | None:
    """The two sides of a conditional sentence, whichever comes first; none where it is not one."""
    first = _IF_FIRST.match(stripped)
    if first is not None:
        condition, result = (next(filter(None, first.group(f, f"{f}2", f"{f}3"))) for f in "pq")
        return condition, result
    last = _IF_LAST.match(stripped)
    return None if last is None else (last.group("p"), last.group("q"))


def _read_conditional(stripped: str) -> Rule | None:
    sides = _condition_and_result(stripped)
    if sides is None:
        return None
    condition, result = sides
    both = _BOTH_WAYS.search(stripped) is not None
    if not both and (_QUALIFIER.search(stripped) is not None or re.search(r"\band\b", condition)):
        return None
    first, second = read_statement(condition), read_statement(result)
    refers_back = begins_with_pronoun(result) and _SPEAKER.match(result) is None
    subject = _subject_stems(condition)
    if _PERSON.match(condition) is not None and not refers_back:
        subject = _subject_stems(result)  # "Anna buys a car if she gets the job"
    has_indefinite_subject = _INDEFINITE.match(condition) is not None
    if refers_back or (subject and subject <= second.stems) or has_indefinite_subject:
        first = Statement(first.stems - subject, first.denied)
        second = Statement(second.stems - subject, second.denied)
        general = True
    else:
        general = False
    if not first.stems or not second.stems:
        return None
    return Rule(first, second, general, both_ways=both)
