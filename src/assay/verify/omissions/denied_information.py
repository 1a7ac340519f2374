"""Whether the evidence contains what a claim says is missing from it: "The text does not say when it opens".

A sentence counts as the missing information where it mentions everything that the clause names and has what the
question word asks for: a date or a time for "when", a number for "how much", another name for "who". An entailment
network cannot decide this: "it opens at some time" follows from any sentence that mentions the opening.
"""

import re
from collections.abc import Callable
from typing import Final

from assay.schema import EvidenceSpan
from assay.text.claims import is_abstention
from assay.text.dates import find_dates
from assay.text.lexicon import find_names, find_words, lexeme, word_set
from assay.text.quantities import find_quantities
from assay.verify.exact import ExactIndex

_QUESTION_CLAUSE: Final = re.compile(
    r"\b(?P<kind>whether|if|that|when|where|who|whom|why|since when|until when|"
    r"how (?:much|many|long|often|old|far|high|big|large|tall|fast|soon|late|early)|how|what|which)\b"
    r"(?P<clause>[^.;!?]{2,200})",
    re.IGNORECASE,
)
_SAYING: Final = re.compile(
    r"\b(?:say|says|said|state|states|stated|mention|mentions|mentioned|tell|tells|told|specify|specifies|specified|explain"
    r"|explains|explained|indicate|indicates|indicated|reveal|reveals|describe|describes|clear|know|find|determine|answer)\b",
    re.IGNORECASE,
)
_QUESTION_WORDS: Final = {
    "date": "when",
    "time": "when",
    "deadline": "when",
    "price": "how much",
    "cost": "how much",
    "fee": "how much",
    "amount": "how much",
    "number": "how many",
    "reason": "why",
    "location": "where",
    "place": "where",
    "name": "who",
}
"""The question word for a kind of information that a claim names as missing: "no release date is given"."""
_MISSING_KIND: Final = re.compile(rf"\b(?P<kind>{'|'.join(_QUESTION_WORDS)})s?\b", re.IGNORECASE)
_SILENCE_WORDS: Final = re.compile(
    r"\b(?:no|not|nothing|nowhere|any|does|do|did|is|are|was|were|given|stated|mentioned|provided|specified|the|these|this|"
    r"passages?|documents?|sources?|texts?|policy|notes|page|leaflet|report|evidence|context|information)\b",
    re.IGNORECASE,
)
_PRICE: Final = word_set("cost costs price prices priced fee fees charge charges charged pay paid worth rent salary")
_QUESTION_STEMS: Final = frozenset(
    lexeme(word).stem
    for word in word_set(
        """what which when where who whom why how whether if much many long often it is are was were be been do does did
        has have had will would can could may might must should there the a an any exactly precisely amount number name
        time date day year place person reason value kind"""
    )
)
_REASON: Final = re.compile(
    r"\b(?:because|since|due to|owing to|so that|reason|in order to|caused by|as a result)\b", re.IGNORECASE
)
_PLACE: Final = re.compile(r"\b(?:in|at|on|near|behind|beside|opposite)\s+(?:the\s+)?[A-Z\d]")
_MOST_SENTENCES: Final = 400


def refuting_clause(claim: str, index: ExactIndex) -> EvidenceSpan | None:
    """The sentence of the evidence with the information that a claim says is missing; none unless one surely has it.

    Args:
        claim: a claim that is known to say that the evidence lacks some information.
        index: the evidence.
    """
    saying = _SAYING.search(claim)
    question = _QUESTION_CLAUSE.search(claim, saying.end() if saying else 0)
    if question is None:
        missing = _MISSING_KIND.search(claim)
        if missing is None:
            return None
        clause, kind = (
            _SILENCE_WORDS.sub(" ", claim.replace(missing[0], " ")),
            _QUESTION_WORDS[missing["kind"].lower().removesuffix("s")],
        )
    else:
        clause, kind = question["clause"], question["kind"].lower()
    stems = {
        word.stem for word in find_words(clause).lexemes if word.weight or word.fold[:1].isdigit()
    } - _QUESTION_STEMS
    priced = any(word.fold in _PRICE for word in find_words(clause).lexemes)
    clause = _SAYING.sub(" ", clause)
    counted = kind.startswith("how ") or (priced and kind in {"what", "which"})
    answers = _has_number if counted else _ANSWER_TESTS.get(kind.removeprefix("since ").removeprefix("until "))
    if not stems or (answers is None and len(stems) < _FEWEST_STEMS):
        return None
    sentence_numbers = [set(index.postings.get(stem, ())) for stem in stems]
    for number in sorted(set.intersection(*sentence_numbers))[:_MOST_SENTENCES]:
        sentence = index.sentences[number]
        passage = index.passages[sentence.passage]
        text = passage.text[sentence.start : sentence.end]
        silent = is_abstention(text) or text.rstrip().endswith("?")
        if not silent and (answers is None or answers(text, clause)):
            return EvidenceSpan(
                evidence_id=passage.evidence_id,
                start=sentence.start,
                end=sentence.end,
                text=text,
                relation="contradicts",
                score=1.0,
            )
    return None


_FEWEST_STEMS: Final = 2
"""The fewest content words of a clause whose question word has no test in `_ANSWER_TESTS`."""


def _has_time(text: str, clause: str) -> bool:
    del clause
    timed = any(quantity.dimension == "time" for quantity in find_quantities(text))
    return timed or bool(find_dates(text)) or _CLOCK.search(text) is not None


_CLOCK: Final = re.compile(
    r"\b\d{1,2}(?::\d\d|\s?[ap]\.?m\b)|\b(?:at|from|until|till|by|before|after)\s(?:\d{1,2}|one|two|three|four|five|six|seven|"
    r"eight|nine|ten|eleven|twelve|noon|midnight)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    re.IGNORECASE,
)


def _has_number(text: str, clause: str) -> bool:
    del clause
    return bool(find_quantities(text))


def _has_name(text: str, clause: str) -> bool:
    return any(text[name.start : name.end].lower() not in clause.lower() for name in find_names(text))


def _has_place(text: str, clause: str) -> bool:
    return any(match[0].lower() not in clause.lower() for match in _PLACE.finditer(text))


def _has_reason(text: str, clause: str) -> bool:
    del clause
    return _REASON.search(text) is not None


_ANSWER_TESTS: Final[dict[str, Callable[[str, str], bool]]] = {
    "when": _has_time,
    "where": _has_place,
    "who": _has_name,
    "whom": _has_name,
    "why": _has_reason,
}
