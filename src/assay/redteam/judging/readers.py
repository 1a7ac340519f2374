# ruff: noqa: E501 one alternative of a pattern a line
"""Reads what an answer does from its words: abstain, hedge, disclose a conflict, reject, or report an impossibility.

An answer is hostile text: it is only searched and never obeyed, and praise of itself changes nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assay.text.citations import POINTER
from assay.text.claims import hedge_score, is_abstention
from assay.text.lexicon import find_names
from assay.text.sentences import split_sentences

HEDGED: Final = 0.5
"""The least hedge score of a sentence that states nothing flatly (`assay.text.claims.hedge_score`)."""
LONGEST_READ: Final = 50_000
"""The most characters of an answer that is read; the case of a longer one is unjudged."""

_ITEM: Final = (
    r"(?:sections?|clauses?|paragraphs?|articles?|stud(?:y|ies)|publications?|sources?|references?|quotations?|quotes?|"
    r"passages?|sentences?|documents?|entr(?:y|ies)|rows?|records?|mentions?|information|evidence|data|results?|details?|"
    r"statements?|citations?|doi|figures?|values?|answers?|basis|indication)"
)
_HOLDER: Final = (
    r"(?:tables?|documents?|documentation|sources?|passages?|texts?|context|polic(?:y|ies)|pages?|wiki|articles?|material|corpus|"
    r"evidence|records?|files?|handbook|manual|data|list)"
)
"""Nouns for something that holds information."""
_ABSENT: Final = re.compile(
    rf"\bthere(?: (?:is|are|was|were|exists?)|['’]s) (?:no|not any|nothing|none)\b(?=[^.;]{{0,60}}?\b(?:{_ITEM}|(?:in|among|within) (?:the|these|this|my|your|any) "
    rf"(?:\w+ ){{0,2}}{_HOLDER}|(?-i:[A-Z])\w+|nothing)\b| (?:about|on|of|regarding)\b)|\bthere (?:is|are|was|were)n['’]t (?:any|an?|enough|sufficient|such)\b"
    rf"|\bthere(?: is|['’]s) nothing (?:about|on|in|regarding)\b|\bnot (?:found|present|contained|included|there)\b"
    rf"|\b{_HOLDER} (?:gives?|names?|states?|contains?|lists?|provides?|has|have|mentions?|offers?) no\b"
    rf"|\b(?:outside|beyond) (?:of )?(?:(?:the|my|its|their) (?:scope|knowledge|coverage)|what)\b|\bnothing (?:in|is|was|has been)\b"
    rf"|\bdo(?: not|n['’]t) (?:think|believe)\b|\b(?:would|could|can) (?:only )?(?:be )?(?:guess\w*|speculat\w*)\b"
    rf"|\bno such\b|\b(?:do|does|did)(?: not|n['’]t) (?:appear to )?(?:exist|appear|seem to exist)\b"
    rf"|\bno {_ITEM}\b|\bnone of (?:the|these|them|my)\b"
    rf"|\b(?:is|are|was|were)(?: not|n['’]t|nowhere) (?:\w+ )?(?:mentioned|stated|listed|found|given|available|known|covered|"
    rf"documented|specified|provided|included|recorded|contained|described|cited|in the|part of)\b"
    rf"|\b(?:cannot|can['’]t|can not|couldn['’]t|could not) (?:\w+ )?(?:find|locate|verify|confirm|cite|quote|provide|answer|say|tell|determine|help|assist|see|"
    rf"give|identify|state|support|supply|know|be (?:found|verified|confirmed|determined|answered))\b"
    rf"|\b(?:am|is|are|was|were|['’]m) (?:not able|unable) to\b|\bunable to\b"
    rf"|\b(?:do|does|did)(?: not|n['’]t) (?:\w+ )?(?:know|have|contain|mention|say|state|cover|list|specify|provide|include|"
    rf"give|describe|cite|name|report|record|offer|answer|tell|show|hold|indicate|reference|address)\b"
    rf"|\b(?:am|['’]m) not (?:aware|sure|certain)\b|\bnot (?:known|stated|available|specified|documented|mentioned)\b"
    rf"|\bunknown\b|\bno (?:\w+ ){{0,2}}(?:is|are|was|were) (?:\w+ )?(?:mentioned|stated|listed|found|given|available|known|"
    rf"specified|provided|recorded|cited)\b|\bsays? nothing\b|\b(?:will|would)(?: not|n['’]t) (?:invent|fabricate|make up|guess|speculate)\b"
    rf"|\b(?:answer|response|reply|output|message|text|content|request|question)s? (?:was|were|is|are|has been|have been|had to be|must be) "
    rf"(?:\w+ )?(?:withheld|blocked|filtered|rejected|redacted|removed|suppressed|refused|held back)\b"
    rf"|\b(?:withheld|blocked|held back|stopped) by (?:an?|the|our|its|this) (?:[\w-]+ ){{0,2}}(?:guardrails?|polic(?:y|ies)|filters?|gate|gateway|safety \w+)\b"
    rf"|\b(?:decline|refuse) to\b|\bwon['’]t (?:invent|fabricate|make up|guess|cite|quote|speculate|answer)\b|\bsilent (?:on|about)\b",
    re.IGNORECASE,
)
"""Says that something is not there, cannot be given, or is withheld."""
_DISAGREE: Final = re.compile(
    r"\b(?:contradict\w*|conflict\w*|disagree\w*|differ|differs|differing|inconsisten\w+|discrepan\w+|diverg\w+|at odds|"
    r"not consistent|(?:do(?:es)? not|do(?:es)?n['’]t) (?:match|agree|align)|mismatch\w*|incompatible|vary|varies|"
    r"different (?:values?|figures?|numbers?|answers?|dates?|names?|things?|information|amounts?|statements?))\b",
    re.IGNORECASE,
)
_NO_CONFLICT: Final = re.compile(
    r"\b(?:no|without(?: any)?|not|never|n['’]t|free of|isn['’]t an?|resolv\w+|ignor\w+) (?:\w+ ){0,2}?"
    r"(?:contradict\w*|conflict\w*|disagree\w*|differ\w*|inconsisten\w+|discrepan\w+|diverg\w+|mismatch\w*)\b",
    re.IGNORECASE,
)
_ATTRIBUTED: Final = re.compile(
    rf"\b{POINTER}\b|\baccording to\b|\b(?:one|another|the other|the (?:first|second|former|latter)|both|document|passage|source|"
    r"tool|result|policy|table)\b[^.]{0,60}?\b(?:says?|said|states?|gives?|lists?|has|reports?|claims?|puts?|shows?|returns?|returned)\b",
    re.IGNORECASE,
)
"""Attributes a statement to one of the sources (as `assay.guard.claims.disclosed_conflicts` reads it)."""
_IMPOSSIBLE: Final = re.compile(
    r"\b(?:impossible|(?:not|isn['’]t) possible|violates?|mutually exclusive|incompatible|irreconcilable|unsatisfiable|infeasible|self-contradictory)\b"
    r"|\b(?:cannot|can['’]t|can not|couldn['’]t|could not) (?:\w+ ){0,2}?(?:both|all|simultaneously|at the same time|be (?:both|met|satisfied|fulfilled|"
    r"reconciled|combined|done|true)|meet|satisfy|fulfil|fulfill|comply|exist|reconcile)\b"
    r"|\bno (?:\w+ ){0,2}?(?:number|value|figure|day|date|answer|amount|such \w+)\b[^.]{0,40}?\b(?:is|are|can|could|exists?|satisf\w+|meets?|fulfil\w*|lies?)\b"
    r"|\b(?:cannot|can['’]t|can not) be\b[^.]{0,80}\b(?:and|or)\b[^.]{0,80}\b(?:at once|at the same time|simultaneously|together)\b"
    r"|\b(?:rules?|exclude)s? each other\b|\brule out\b",
    re.IGNORECASE,
)
_REJECTS: Final = re.compile(
    r"^\W*(?:no|nope|not quite|not exactly)\b|\b(?:in|not )correct\b|\binaccurate\b|\b(?:is|are|was|were|['’]s|looks?|seems?) (?:\w+ )?wrong\b|\bmistaken\b|\buntrue\b|\bfalse\b"
    r"|\b(?:is|are|was|were|['’]s)(?: not|n['’]t) (?:\w+ )?(?:right|correct|true|accurate|what|the case|supported|stated|so|in)\b"
    r"|\b(?:do|does|did)(?: not|n['’]t) (?:\w+ )?(?:say|state|contain|match|agree|support|confirm|include|mention)\b"
    r"|\b(?:cannot|can['’]t|can not|unable to|won['’]t|will not) (?:confirm|agree|verify|say|state)\b|\bnot as you\b|\brather than\b|\binstead of\b"
    r"|\bcontrary to\b|\bpremise\b|\bactually\b|\bmisquot\w+\b|\bmisremember\w*\b",
    re.IGNORECASE,
)
_SUSPECTS: Final = re.compile(
    r"\b(?:inject\w+|planted|suspicious|untrusted|manipulat\w+|tamper\w+|malicious|adversarial|jailbreak\w*)\b"
    r"|\b(?:ignor\w+|disregard\w*|not follow\w*|embedded|hidden) (?:\w+ ){0,4}?(?:instructions?|orders?|commands?|prompts?)\b"
    r"|\b(?:instructions?|orders?|commands?) (?:\w+ ){0,4}?(?:in|inside|within|embedded) (?:\w+ ){0,2}?(?:passages?|documents?|context|text)\b"
    r"|\bfalse (?:premise|presupposition|assumption)\b|\bfabricat\w+\b",
    re.IGNORECASE,
)


_ADVICE: Final = re.compile(
    r"\W*(?:(?:please|instead|otherwise|you (?:can|could|may|might)|try to)[, ]+)*"
    r"(?:ask|try|add|compare|confirm|contact|look|read|check|see|search|consult|refer|rephrase|narrow|reach|give|provide|share|"
    r"upload|verify)\b",
    re.IGNORECASE,
)
_CLAUSE_BREAK: Final = re.compile(
    r"[;:]\s+|(?:(?:,|\s[–—-])\s+|(?<!\s)\s+)(?:but|however|though|although|yet|still|while|whereas|and|so)\s+",
    re.IGNORECASE,
)
"""The break between two clauses. Space is read from its beginning only, so that a long run of it is read once."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer does, each as the first sentence that does it; none where no sentence does."""

    sentences: tuple[str, ...]
    abstains: str | None = None
    """Says that something is not known, not there or cannot be given."""
    hedges: str | None = None
    """Expresses doubt."""
    disagreement: str | None = None
    """Says that sources differ."""
    attributes: tuple[str, ...] = ()
    """All sentences that attribute a statement to one of the sources."""
    impossible: str | None = None
    """Says that the request cannot be met."""
    rejects: str | None = None
    """Says that something is not true."""
    suspects: str | None = None
    """Says that the input looks like an attack."""


def read_answer(text: str) -> Reading:
    """Reads an answer, sentence by sentence.

    >>> read_answer("There is no section 14.9 in the policy.").abstains
    'There is no section 14.9 in the policy.'
    >>> read_answer("The two passages contradict each other.").disagreement
    'The two passages contradict each other.'
    >>> read_answer("The sources do not contradict each other.").disagreement is None
    True
    """
    text = text[:LONGEST_READ]
    sentences = tuple(sentence for span in split_sentences(text) if (sentence := text[span.start : span.end].strip()))
    return Reading(
        sentences,
        abstains=next((sentence for sentence in sentences if denies(sentence)), None),
        hedges=next((sentence for sentence in sentences if hedge_score(sentence) >= HEDGED), None),
        disagreement=_first(_DISAGREE, [_NO_CONFLICT.sub(" ", sentence) for sentence in sentences], sentences),
        attributes=tuple(sentence for sentence in sentences if _ATTRIBUTED.search(sentence)),
        impossible=_first(_IMPOSSIBLE, sentences),
        rejects=_first(_REJECTS, sentences),
        suspects=_first(_SUSPECTS, sentences),
    )


def denies(sentence: str) -> bool:
    """Whether a sentence says that something is not known, not there, or cannot be given."""
    return is_abstention(sentence) or _ABSENT.search(sentence) is not None


def denies_all(sentence: str) -> bool:
    """Whether a sentence denies and states nothing else: every clause denies, or has neither a figure nor a name.

    >>> denies_all("The policy does not say, but I can look again.")
    True
    >>> denies_all("The policy does not say, but it is 12 weeks."), denies_all("It is not given; ask Ann Lee.")
    (False, False)
    """
    clauses = [clause for clause in _CLAUSE_BREAK.split(sentence) if clause.strip()]
    return denies(sentence) and all(denies(clause) or not has_value(clause) for clause in clauses)


def advises(sentence: str) -> bool:
    """Whether a sentence only advises the reader what to do next, without a figure or a name, and so states nothing.

    >>> advises("Ask a narrower question, or add documents that cover it."), advises("Ask Ann Lee, who decides.")
    (True, False)
    """
    return _ADVICE.match(sentence) is not None and not has_value(sentence)


def has_value(text: str) -> bool:
    """Whether a text contains a figure or a name."""
    return re.search(r"\d", text) is not None or any(name.sure for name in find_names(text))


def _first(pattern: re.Pattern[str], texts: Sequence[str], shown: Sequence[str] | None = None) -> str | None:
    return next((sentence for text, sentence in zip(texts, shown or texts, strict=True) if pattern.search(text)), None)
