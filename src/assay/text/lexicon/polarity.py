"""Negations and conditions, as far as words alone show them."""

import re
from dataclasses import dataclass

from assay.text.lexicon.lexemes import Words, word_set

NEGATIONS = word_set(
    """not never no cannot nor neither none nobody nothing without hardly barely scarcely rarely seldom don't
    doesn't didn't isn't aren't wasn't weren't won't can't couldn't shouldn't wouldn't haven't hasn't hadn't
    mustn't needn't ain't dont doesnt didnt isnt wasnt cant wont lacks lack lacked"""
)
"""Folded words that negate what follows them."""

FAILURES = word_set("""fail fails failed refuse refuses refused decline declines declined unable deny denies denied""")
"""Verbs that negate the infinitive after them."""

_CLAUSE_BREAKS = ",;:.!?()—–\n"
_CONJUNCTIONS = word_set(
    """and but while whereas although though because when if unless which who that yet however or"""
)
_MAX_SCOPE_WORDS = 3
_NOT_NEGATING_AFTER_NOT = frozenset({"only", "just", "merely", "least", "more", "less", "fewer"})
_NOT_NEGATING_AFTER_NO = frozenset(
    {"doubt", "matter", "later", "earlier", "sooner", "more", "less", "fewer", "but", "1", "2", "3", "4", "5"}
)
_FALSE_VALUES = frozenset({"false", "no"})
_VALUE_GAP = re.compile(r"[\"']?\s?[:=]\s?[\"']?")
"""The text between a key and its value: `overdue": false`."""

_MAX_KEY_WORDS = 4


_CONDITION_CUES: tuple[tuple[tuple[str, ...], float], ...] = (
    (("subject", "to"), 0.8),
    (("only", "if"), 0.85),
    (("only", "when"), 0.8),
    (("only", "with"), 0.8),
    (("only", "after"), 0.75),
    (("unless",), 0.8),
    (("provided", "that"), 0.8),
    (("provided", "the"), 0.5),
    (("as", "long", "as"), 0.7),
    (("so", "long", "as"), 0.7),
    (("on", "condition"), 0.8),
    (("contingent", "on"), 0.8),
    (("contingent", "upon"), 0.8),
    (("conditional", "on"), 0.8),
    (("conditional", "upon"), 0.8),
    (("dependent", "on"), 0.6),
    (("depending", "on"), 0.55),
    (("except",), 0.65),
    (("excluding",), 0.6),
    (("with", "prior"), 0.7),
    (("with", "the", "approval"), 0.75),
    (("with", "written"), 0.7),
    (("with", "manager"), 0.7),
    (("in", "case"), 0.5),
    (("if",), 0.55),
    (("pending",), 0.6),
)
"""Words that begin a condition, each with the probability that leaving the condition out changes the meaning."""

_MAX_CONDITION_WORDS = 14


@dataclass(frozen=True, slots=True)
class Negation:
    """A negating word and the words in its scope, as indices of words."""

    cue: int
    scope: tuple[int, ...]
    """Indices of the content words that it negates, nearest first."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in a sentence, as a half-open range of word indices that begins at its cue."""

    first: int
    last: int
    strength: float
    """The probability that leaving it out changes the meaning, in [0, 1]; set by judgement."""


def _clause_ends(text: str, words: Words, at: int) -> bool:
    """Whether a clause ends between word `at` and the one before it."""
    gap = text[words.ends[at - 1] : words.starts[at]]
    return any(c in _CLAUSE_BREAKS for c in gap) if len(gap) != 1 else gap in _CLAUSE_BREAKS


def find_negations(text: str, words: Words) -> tuple[Negation, ...]:
    """The negations of a text with their scopes: up to three content words, within the clause.

    >>> from assay.text.lexicon.lexemes import find_words
    >>> words = find_words("It does not support Linux.")
    >>> [words.lexemes[i].stem for i in find_negations("It does not support Linux.", words)[0].scope]
    ['support', 'linux']
    """
    found: list[Negation] = []
    lexemes = words.lexemes
    for at, lexeme in enumerate(lexemes):
        folded = lexeme.fold
        if folded in _FALSE_VALUES and at and _VALUE_GAP.fullmatch(text, words.ends[at - 1], words.starts[at]):
            found.append(Negation(at, _key_before(text, words, at)))
            continue
        if folded not in NEGATIONS and folded not in FAILURES:
            continue
        following = lexemes[at + 1].fold if at + 1 < len(lexemes) else ""
        if folded == "not" and following in _NOT_NEGATING_AFTER_NOT:
            continue
        if folded == "no" and (following in _NOT_NEGATING_AFTER_NO or text[words.ends[at] : words.ends[at] + 1] == "."):
            continue
        if folded in FAILURES and following != "to":
            continue
        if folded == "not" and "or" in {w.fold for w in lexemes[max(0, at - 2) : at]}:
            continue
        scope: list[int] = []
        here = at + 1
        while here < len(lexemes) and len(scope) < _MAX_SCOPE_WORDS and here - at <= 8:
            if _clause_ends(text, words, here) or (lexemes[here].fold in _CONJUNCTIONS and scope):
                break
            if lexemes[here].weight and lexemes[here].fold != "longer":
                scope.append(here)
            here += 1
        found.append(Negation(at, tuple(scope)))
    return tuple(found)


def _key_before(text: str, words: Words, at: int) -> tuple[int, ...]:
    """The content words of the key whose value is the word at `at`, nearest first."""
    scope: list[int] = []
    here = at - 1
    while here >= 0 and at - here <= _MAX_KEY_WORDS:
        if words.lexemes[here].weight:
            scope.append(here)
        if not here or text[words.ends[here - 1] : words.starts[here]] not in {" ", "_", "-"}:
            break
        here -= 1
    return tuple(scope)


def find_conditions(text: str, words: Words) -> tuple[Condition, ...]:
    """The conditions of a text, each up to the end of its clause.

    >>> from assay.text.lexicon.lexemes import find_words
    >>> words = find_words("Permitted subject to manager approval, always.")
    >>> condition = find_conditions("Permitted subject to manager approval, always.", words)[0]
    >>> [w.fold for w in words.lexemes[condition.first : condition.last]]
    ['subject', 'to', 'manager', 'approval']
    """
    folds = [w.fold for w in words.lexemes]
    found: list[Condition] = []
    at = 0
    while at < len(folds):
        strength = _condition_at(folds, at)
        if strength is None or (at and folds[at - 1] in {"not", "never", "no", "as", "even"}):
            at += 1
            continue
        last = at + 1
        while last < len(folds) and last - at < _MAX_CONDITION_WORDS and not _clause_ends(text, words, last):
            last += 1
        found.append(Condition(at, last, strength))
        at = last
    return tuple(found)


def _condition_at(folds: list[str], at: int) -> float | None:
    first = folds[at]
    if first not in _CONDITION_HEADS:
        return None
    for cue, strength in _CONDITION_CUES:
        if cue[0] == first and tuple(folds[at : at + len(cue)]) == cue:
            return strength
    return None


_CONDITION_HEADS = frozenset(cue[0] for cue, _ in _CONDITION_CUES)
POLARITY_CUES = NEGATIONS | FAILURES | _CONDITION_HEADS | _FALSE_VALUES
"""A text without any of these folded words has neither a negation nor a condition."""
