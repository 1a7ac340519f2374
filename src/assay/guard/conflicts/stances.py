"""Opposite stances of two sentences on one thing: duties, permissions and prices.

"Passwords have to be changed" and "there is no need to change passwords" have nearly the same words, and a network that
judges a claim by all evidence takes the second for irrelevant. Here the stance of each sentence is read: two stances on
the same thing that exclude each other are a disagreement.
"""

import re
from dataclasses import dataclass
from typing import Final

from assay.text.lexicon import find_words

_DUTY: Final = (
    r"must(?! not\b)|shall(?! not\b)|(?:has|have|had|having) to\b|needs? to\b|(?:is|are|was|were) to be\b|"
    r"required|obliged|obligatory|compulsory|mandatory|bound to|needed|requires?|necessary"
)
_FREED: Final = (
    r"(?:(?:do|does|did)(?: not|n['’]t) (?:have|need) to|need(?: not|n['’]t)\b|no need (?:to|for)|no obligation|"
    r"(?:is|are|was|were)(?: not|n['’]t| no longer) "
    r"(?:required|obliged|needed|necessary|compulsory|mandatory|obligatory)|"
    r"needs? no|requires? no|"
    r"no (?:[\w-]+ ){1,3}(?:is|are|was|were) (?:required|needed|necessary)|optional|voluntary|voluntarily|"
    r"(?:decide|choose) for (?:them|your|him|her|our|it|one)(?:self|selves)|(?:is|are) free to (?:choose|decide)|"
    r"at (?:their|your|his|her|our) (?:own )?discretion)"
)
_BANNED: Final = (
    r"must not|mustn['’]t|may not|cannot|can not|can['’]t|forbidden|prohibited|banned|"
    r"not (?:allowed|permitted|admitted|welcome)|(?:does|do) not (?:allow|permit|admit)|"
    r"(?:nobody|no one) (?:may|can|is allowed)|"
    r"no (?:[\w-]+ ){1,3}(?:may|can|(?:is|are) (?:allowed|permitted|admitted))"
)
_LEAVE: Final = r"may|can|allowed|permitted|admitted|welcome|free to"
_STANDS: Final = re.compile(
    rf"\b(?:(?P<freed>{_FREED})|(?P<banned>{_BANNED})|(?P<duty>{_DUTY})|(?P<leave>{_LEAVE}))(?!\w)", re.IGNORECASE
)
_WITHOUT: Final = re.compile(
    r"\bwithout (?:(?:an?|any|the|prior|giving|having|showing) ){0,2}(?P<what>[\w-]+)", re.IGNORECASE
)
_AGAINST: Final = {
    "duty": frozenset({"freed"}),
    "freed": frozenset({"duty"}),
    "banned": frozenset({"leave", "duty"}),
    "leave": frozenset({"banned"}),
}
_DENIED: Final = re.compile(
    r"\b(?:not|never|no longer|nor|neither|if|unless|when|until|once|before|after|whether)\b|n['’]t\b", re.IGNORECASE
)
_FREE: Final = re.compile(
    r"\b(?:for free|free of charge|at no (?:cost|charge)|costs? nothing|(?:is|are|be) free(?! to\b)|"
    r"without charge|gratis)\b",
    re.IGNORECASE,
)
_PRICED: Final = re.compile(
    r"(?P<sum>[€$£¥]\s?\d|\b\d[\d.,]*\s?(?:€|\$|£|euros?\b|dollars?\b|pounds?\b|cents?\b|(?:EUR|USD|GBP|CHF)\b))",
    re.IGNORECASE,
)
_COSTS: Final = re.compile(r"\b(?:pays?|costs?|charged?|fees?|price|admission|fare)\b", re.IGNORECASE)
_LIMITED: Final = re.compile(
    r"\b(?:if|unless|from|over|above|below|under|after|before|until|except|otherwise|only|first|per additional|than)\b",
    re.IGNORECASE,
)
SAYS_MOST: Final = 0.5
"""The share of one of two sentences, apart from their stances, that the other must say too."""
SAYS_OF_IT: Final = 0.3
"""The lowest share of either sentence that the other must say too."""


@dataclass(frozen=True, slots=True)
class _Stance:
    """What a sentence says may, must or need not be done."""

    kind: str
    """`duty`, `freed`, `banned` or `leave`."""
    places: tuple[tuple[int, int], ...]
    """Where the words of the stance stand."""
    needs: str | None = None
    """The stem of the thing without which something may or may not be done."""


def clashes(claim: str, sentence: str) -> bool:
    """Whether a sentence takes a stance that excludes the claim's stance on the same thing.

    >>> clashes("Passwords have to be changed every 90 days.", "There is no need to change passwords regularly.")
    True
    >>> clashes("Members park for free.", "Parking costs members 3 euros a day.")
    True
    >>> clashes("Passwords have to be changed every 90 days.", "There is no need to change the lock.")
    False
    """
    return _permissions_clash(claim, sentence) or _prices_clash(claim, sentence)


def _permissions_clash(claim: str, sentence: str) -> bool:
    mine, theirs = _stance_of(claim), _stance_of(sentence)
    if mine is None or theirs is None or theirs.kind not in _AGAINST[mine.kind]:
        return False
    ours, others = _stems_without(claim, mine.places), _stems_without(sentence, theirs.places)
    if mine.kind in {"banned", "leave"} and theirs.kind in {"banned", "leave"}:
        # One thing may be allowed and another not: one of the two sentences must say no more than the other.
        return _alike(ours, others) and (ours.keys() <= others.keys() or others.keys() <= ours.keys())
    needed = {one.needs for one in (mine, theirs) if one.needs is not None}
    if needed:
        return needed <= ours.keys() & others.keys() and _alike(ours, others, SAYS_OF_IT)
    return _alike(ours, others)


def _stance_of(text: str) -> _Stance | None:
    """The stance of a text on what may or must be done; None unless it takes exactly one."""
    found = list(_STANDS.finditer(text))
    kinds = {one.lastgroup for one in found}
    if "freed" in kinds:
        kinds.discard("leave")  # "can decide for themselves"
    if len(kinds) != 1:
        return None
    kind = kinds.pop() or ""
    places = tuple(place for one in found for place in _words_of(one))
    lacking = _WITHOUT.search(text)
    if lacking is not None and kind in {"leave", "banned"}:
        # What may be done without a thing does not need it; what may not be done without it does.
        needs = next(iter(_stems_without(lacking["what"], ())), None)
        places = (*places, (lacking.start(), lacking.start("what")))
        return _Stance("freed" if kind == "leave" else "duty", places, needs)
    return _Stance(kind, places)


def _words_of(match: re.Match[str]) -> tuple[tuple[int, int], ...]:
    """The words that take the stance: "no ... needed" in "no ticket is needed"."""
    start, end = match.span()
    words = match.group().split()
    if len(words) < 3 or words[0].lower() != "no":
        return ((start, end),)
    return (start, start + len("no")), (end - len(words[-1]), end)


def _prices_clash(claim: str, sentence: str) -> bool:
    for one, other in ((claim, sentence), (sentence, claim)):
        free, priced = _FREE.search(one), _PRICED.search(other)
        if free is None or priced is None or _PRICED.search(one) is not None or _FREE.search(other) is not None:
            continue
        if _COSTS.search(other) is None or _LIMITED.search(one + " " + other) is not None:
            continue
        if _DENIED.search(one) is not None or _DENIED.search(other) is not None:
            continue
        return _alike(_stems_without(one, (free.span(),)), _stems_without(other, (priced.span(),)))
    return False


def _alike(first: dict[str, float], second: dict[str, float], most: float = SAYS_MOST) -> bool:
    if not first or not second:
        return False
    shared = first.keys() & second.keys()
    shares = sorted(sum(words[stem] for stem in shared) / sum(words.values()) for words in (first, second))
    return shares[1] >= most and shares[0] >= SAYS_OF_IT


def _stems_without(text: str, left_out: tuple[tuple[int, int], ...]) -> dict[str, float]:
    """The stems of content words and numbers with their weights, except those in places that are left out."""
    words = find_words(text)
    return {
        word.stem: word.weight or 1.0
        for word, start, end in zip(words.lexemes, words.starts, words.ends, strict=True)
        if (word.weight or word.fold[:1].isdigit())
        and not any(start < there and end > here for here, there in left_out)
    }
