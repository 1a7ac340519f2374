"""How strongly a text is hedged: a graded signal from phrases that weaken a statement.

Each phrase has a weight by how much it weakens. `approximately 5` still claims about five; `I think` or `might` leaves
open whether the statement is true at all.
"""

import re
from dataclasses import dataclass

STRONG = 0.5
"""The lowest score at which a statement is of the kind uncertain."""

WEIGHTS: dict[str, float] = {
    "i'm not sure": 0.9,
    "i am not sure": 0.9,
    "not certain": 0.8,
    "i'm not certain": 0.9,
    "hard to say": 0.8,
    "i guess": 0.8,
    "i think": 0.6,
    "i believe": 0.6,
    "i suspect": 0.7,
    "i assume": 0.7,
    "i suppose": 0.7,
    "i feel": 0.6,
    "in my opinion": 0.7,
    "in my view": 0.7,
    "as far as i know": 0.6,
    "to my knowledge": 0.6,
    "if i recall": 0.7,
    "if i remember": 0.7,
    "may or may not": 0.9,
    "it is unclear": 0.7,
    "it's unclear": 0.7,
    "it's possible": 0.6,
    "it is possible": 0.6,
    "possibly": 0.55,
    "perhaps": 0.6,
    "maybe": 0.65,
    "might": 0.55,
    "may be": 0.45,
    "could be": 0.45,
    "probably": 0.5,
    "presumably": 0.5,
    "likely": 0.4,
    "unlikely": 0.4,
    "it seems": 0.5,
    "seems to": 0.4,
    "seems": 0.35,
    "it appears": 0.45,
    "appears to": 0.35,
    "apparently": 0.45,
    "supposedly": 0.5,
    "allegedly": 0.45,
    "reportedly": 0.35,
    "suggests": 0.2,
    "tends to": 0.2,
    "potentially": 0.45,
    "conceivably": 0.6,
    "in theory": 0.4,
    "usually": 0.15,
    "generally": 0.15,
    "typically": 0.15,
    "often": 0.1,
    "sometimes": 0.15,
    "approximately": 0.1,
    "roughly": 0.12,
    "around": 0.08,
    "about": 0.08,
    "nearly": 0.08,
    "almost": 0.08,
    "more or less": 0.2,
    "somewhat": 0.2,
    "kind of": 0.3,
    "sort of": 0.3,
    "an estimated": 0.12,
}
"""Weight of each phrase in (0, 1]: the share of a plain assertion that it takes back. Set by judgement, not fitted."""

_NEEDS_NUMBER = frozenset({"around", "about", "nearly", "almost"})
_PHRASES = re.compile(
    r"(?<![\w'])(?:" + "|".join(re.escape(p) for p in sorted(WEIGHTS, key=len, reverse=True)) + r")(?!\w)",
    re.IGNORECASE,
)
_NUMBER_NEXT = re.compile(
    r"\s+(?:[$€£]?\d|half|a |an |one|two|three|four|five|six|seven|eight|nine|ten|all|every)", re.IGNORECASE
)


_ADVERB = r"perhaps|maybe|probably|possibly|presumably|apparently|supposedly|conceivably|seemingly|arguably"
_MOSTLY = (
    r"in general|as a (?:general )?rule|usually|generally|typically|normally|by and large|on the whole|"
    r"for the most part|in most cases"
)
"""Phrases for how generally something holds: "it usually is open" claims that it is open."""
_OPENING = (
    r"(?:i(?:['’]d| would)? (?:think|say|guess|suppose|assume|suspect|believe|reckon)|"
    r"it (?:seems|appears)(?: to me)?(?! to\b)|"
    r"it (?:is|['’]s) (?:possible|probable|likely)|it looks (?:like|as if|as though)|chances are)(?: that)?,?"
    r"|(?:as far as i (?:can (?:tell|see|judge)|know|understand)|to (?:my|the best of my) knowledge|"
    r"if i (?:remember|recall|read|see|understand)[^,.;]{0,30}|in my (?:opinion|view)|from what i can (?:tell|see)),"
)
_REMOVABLE = re.compile(
    rf"(?:^\s*|(?<=[.;:]\s))(?:{_OPENING}|(?:{_ADVERB}|{_MOSTLY}),?)\s+"
    rf"|(?<!\s)\s+(?:{_ADVERB}|{_MOSTLY})\b(?=\s)"
    rf"|,\s*(?:i (?:think|believe|guess|suppose)|as far as i (?:know|can tell|can see)|if i [^,.;]{{3,40}}|{_ADVERB})"
    rf"(?=\s*(?:[.!?]\s*)?$|,)",
    re.IGNORECASE,
)
# Each run of letters or spaces is tried only from its beginning, so that a long one does not take quadratic time.
_MIGHT = re.compile(r"(?<![\w’'])(?P<subject>[\w’']+)\s+might\s+(?P<verb>be|have|[a-z]+)\b", re.IGNORECASE)
_SEEMS = re.compile(r"\b(?P<form>seems?|appears?)\s+to\s+(?P<verb>be|have)\b", re.IGNORECASE)
_PLURAL = frozenset({"i", "you", "we", "they", "these", "those", "all", "both", "people", "children", "men", "women"})


def without_hedges(text: str) -> list[tuple[int, int, str]]:
    """The replacements that turn a hedged text into plain assertions: (start, end, words to put there).

    Only hedges about the truth of the statement whose removal leaves a sentence: "Perhaps it is open", "it seems that
    it is open", "it might be open". "May" and "could" stay, since they grant permission as often as they express doubt.

    >>> text = "Perhaps partners might get 4 weeks, I think."
    >>> for start, end, words in reversed(without_hedges(text)):
    ...     text = text[:start] + words + text[end:]
    >>> text
    'partners do get 4 weeks.'
    """
    found = [(match.start(), match.end(), "") for match in _REMOVABLE.finditer(text)]
    for match in _MIGHT.finditer(text):
        subject, verb = match["subject"].lower(), match["verb"].lower()
        if verb in {"not", "as", "of", "and"}:
            continue
        plural = subject in _PLURAL or (subject.endswith("s") and not subject.endswith(("ss", "us", "is")))
        end = match.end("verb") if verb in {"be", "have"} else match.start("verb")
        flat = {"be": ("is", "are"), "have": ("has", "have")}.get(verb, ("does ", "do "))[plural]
        found.append((match.end("subject") + 1, end, flat))
    for match in _SEEMS.finditer(text):
        plural = not match["form"].lower().endswith("s")
        found.append((*match.span(), {"be": ("is", "are"), "have": ("has", "have")}[match["verb"].lower()][plural]))
    found.sort()
    return [one for n, one in enumerate(found) if n == 0 or one[0] >= found[n - 1][1]]


@dataclass(frozen=True, slots=True)
class Hedge:
    """One weakening phrase with its place and weight."""

    start: int
    end: int
    phrase: str
    """The phrase in lower case."""
    weight: float
    """In (0, 1]."""


def hedges(text: str) -> list[Hedge]:
    """The weakening phrases of the text, in order and without overlaps.

    >>> [(h.phrase, h.weight) for h in hedges("I think it might be about 5.")]
    [('i think', 0.6), ('might', 0.55), ('about', 0.08)]
    """
    plain = text.replace("’", "'")
    found = []
    for match in _PHRASES.finditer(plain):
        phrase = match.group().lower()
        if len(phrase) > 40 or (phrase in _NEEDS_NUMBER and _NUMBER_NEXT.match(plain, match.end()) is None):
            continue
        if phrase in WEIGHTS:
            found.append(Hedge(match.start(), match.end(), phrase, WEIGHTS[phrase]))
    return found


def hedge_score(text: str) -> float:
    """How strongly the wording is hedged, in [0, 1]: `1 - product of (1 - weight)` over the weakening phrases.

    This is the noisy-or of the weights: 0 without a hedge, more with each further one, never above 1.

    >>> hedge_score("It is 5."), round(hedge_score("I think it might be 5."), 2)
    (0.0, 0.82)
    """
    flat = 1.0
    for hedge in hedges(text):
        flat *= 1.0 - hedge.weight
    return round(1.0 - flat, 6)
