# ruff: noqa: E501, SIM905 one alternative of a pattern a line
"""Sentences that decline to answer, and the place where one turns to a claim after all."""

import re
from collections.abc import Iterator

from assay.text.citations.passage_references import POINTER
from assay.text.claims.kinds.evidence_words import AT_HAND, EVIDENCE_MENTION, EVIDENCE_NOUN, SOURCES_NOUN
from assay.text.claims.kinds.talk import ATTITUDES, CONTENT_TAGS, TALK_WORDS
from assay.text.lexicon.tokens import tokenise

_NOT = r"(?:do|does|did)(?: not|n['’]t)\s(?:(?:explicitly|specifically|directly|actually|clearly|even) )?"
_MISSING_INFORMATION = r"(?:(?:any|enough|sufficient|an?|the|specific|explicit|direct|further|more|detailed|relevant) ){0,3}(?:information|details?|mention|data|evidence|answers?|indication|guidance|references?|explanation|specifics)"
"""What a source is said to lack, in a sentence about the source."""
_SAY = r"(?:mention|say|state|specify|indicate|explain|describe|tell|discuss|reveal|disclose|clarify|answer)"
_GIVE = rf"(?:(?:contain|include|provide|give|offer|list|have|show) {_MISSING_INFORMATION})"
_HOLD = r"(?:contain|include|provide|address|cover|give|offer|list|have|show)"
_REPORTED_WORDS = (
    r"(?:mentioned|said|stated|specified|discussed|addressed|disclosed|written|told|explained|described|indicated)"
)
_ABOUT = r"(?:about|on|of|regarding|concerning|as to)"
_SILENT = (
    rf"nothing (?:is|was|has been|had been) {_REPORTED_WORDS}\s{_ABOUT}\b[^;]{{0,200}}"
    rf"|nothing in (?:the|these|this|your)\s(?:[\w\-]+\s){{0,3}}{SOURCES_NOUN}{AT_HAND}\s"
    r"(?:mentions?|says?|states?|tells?|specif(?:y|ies)|indicates?|explains?)\b[^;]{0,200}"
    r"|no (?:explicit |direct )?mention (?:is|was) made of\b[^;]{0,200}"
    rf"|(?:it|they|(?:the|these|this|your)\s(?:[\w\-]+\s){{0,3}}(?:page|leaflet|report|{SOURCES_NOUN}){AT_HAND})\s"
    rf"(?:says?|said|tells? us|mentions?|states?|gives?|gave|provides?|contains?|reveals?) "
    rf"(?:nothing|no (?:\w+ ){{0,2}}(?:information|details?|mention|data|indication|guidance|explanation|specifics))"
    rf"\s{_ABOUT}\b[^;]{{0,200}}"
    rf"|it {_NOT}{_SAY}\b[^;]{{0,200}}"
    rf"|(?:[\w’'\-]+ ){{1,8}}(?:is|are|was|were) (?:not|never|nowhere) (?:(?:explicitly|specifically|further) )?{_REPORTED_WORDS}"
    rf"(?: (?:in|by|on) (?:the|these|this|any|your)\s(?:[\w\-]+\s){{0,3}}(?:page|leaflet|report|{SOURCES_NOUN}){AT_HAND})?"
    r"|no (?:[\w\-]+ ){0,3}(?:dates?|times?|prices?|amounts?|numbers?|names?|reasons?|locations?|deadlines?|figures?|details?)"
    r"(?: (?:for|of|to|on) (?:[\w\-]+ ){0,3}[\w\-]+)? (?:is|are|was|were) (?:given|provided|listed|available|indicated|included)"
    rf"|no (?:[\w\-]+ ){{1,4}}(?:is|are|was|were) (?:mentioned|stated|specified)"
    rf"(?: (?:in|by|on) (?:the|these|this|any|your)\s(?:[\w\-]+\s){{0,3}}(?:page|leaflet|report|{SOURCES_NOUN}){AT_HAND})?"
)
"""Sentences that say that the sources are silent on something, with verbs of saying only: "is not given" or "is not
included" may be facts about the world."""
_LACKING = (
    r"(?:is|are|was|were) (?:not (?:clear|sufficient|enough|specific|explicit)|(?:un|in)(?:sufficient|clear)|silent)\b"
)
_ABSTENTION = re.compile(
    r"(?:unfortunately,? |sorry,? (?:but )?|i(?:'|’| a)m (?:sorry|afraid),? (?:but )?(?:that )?|regrettably,? |based on [^,]{1,60}, |however,? |as an ai(?: language model| assistant| model)?,? )?"
    r"(?:i (?:really |simply |just )?(?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t|can not|did not|didn['’]t|was(?: not|n['’]t) able to|am(?: not)? (?:un)?able to|was unable to|['’]m (?:not able|unable) to|have no|lack)\s"
    r"(?:know|find|found|see|locate|answer|determine|provide|confirm|verify|have|tell|say|access|identify|information|way|any|enough|sufficient|data|knowledge|the)\b[^;]{0,300}"
    r"|i(?: am|['’]m) (?:not sure|unsure|not certain|uncertain)\b[^;,]{0,120}"
    rf"|(?:the|these|this|your|none of the|no)\s(?:[\w\-]+\s){{0,3}}{SOURCES_NOUN}{AT_HAND}\s(?:{_NOT}(?:{_SAY}|{_GIVE})\b|{_LACKING}|(?:is|are) silent\b|lacks? {_MISSING_INFORMATION}\b)[^;]{{0,300}}"
    rf"|(?:the|these|this|your|none of the|no)\s(?:[\w\-]+\s){{0,3}}{EVIDENCE_NOUN}{AT_HAND}\s(?:{_NOT}{_HOLD}|{_LACKING}|lacks?|mentions?|contains?|address(?:es)?)\b[^;]{{0,300}}"
    rf"|no\s(?:[\w\-]+\s){{0,3}}{SOURCES_NOUN}{AT_HAND}\s(?:mentions?|says?|states?|specif(?:y|ies))\b[^;]{{0,300}}"
    rf"|(?:the|this|that|such|no)\s(?:[\w\-]+\s){{0,2}}(?:information|answer|details?){AT_HAND}\s(?:is|are|was|were) (?:not |un)(?:available|mentioned|provided|specified|given|found|stated)\b[^;]{{0,300}}"
    r"|there (?:is|was|are|were) (?:not enough|insufficient|no(?:t any)?) (?:\w+ ){0,2}(?:information|evidence|mention|data|details?|indication|answer|context|documents?|references?|passages?)\b[^;]{0,300}"
    rf"|{POINTER}\s(?:do|does|did)(?: not|n['’]t)\s(?:\w+ )?(?:mention|say|state|specify|contain|include|provide|address|cover|discuss|give|indicate|answer|explain|describe|offer|list|tell|show|reveal)\b[^;]{{0,300}}"
    r"|(?:neither (?:of the )?(?:given |provided )?(?:passages?|documents?|sources?)|none of (?:them|these))\s(?:mentions?|says?|states?|specif(?:y|ies)|contains?|provides?|address(?:es)?|answers?)\b[^;]{0,300}"
    r"|(?:unable|not able|not possible|impossible) to (?:answer|determine|say|tell|provide an answer)\b[^;:,\d]{0,120}"
    r"|(?:it )?(?:cannot|can['’]t|can not|could not) be (?:answered|determined|inferred) (?:from|based on|with|using|by) (?:the|these|this|given|provided)\b[^;:,\d]{0,100}"
    r"|no (?:\w+ ){0,2}(?:information|mention|details?|data) (?:about|on|regarding|of|as to|for|is|are|was|were)\b[^;:,]{0,160}?(?:given|provided|available|mentioned|found|specified|stated|included)\b[^;:,\d]{0,60}"
    r"|the information (?:provided|given|available|contained)?(?: in the (?:\w+ )?(?:passages?|documents?|sources?|text|context))? is (?:limited|insufficient|incomplete)"
    r"|(?:this|that|the|your) question (?:cannot|can not|could not|can['’]t|couldn['’]t) be (?:fully |completely )?answered\b[^;]{0,200}"
    r"|(?:not enough|insufficient|no relevant) (?:information|evidence|data|context|documents?)\b[^;,]{0,120}"
    r"|(?:it is|this is|that is|it['’]s) (?:not (?:mentioned|stated|specified|known|clear)|unknown|unclear) (?:in|from|whether|what|who|when|where|how|why|if|based)\b[^;,]{0,200}"
    rf"|{_SILENT}"
    r"|(?:n/a|unknown|not (?:specified|mentioned|available|stated|provided|found)))"
    r"[.!]*",
    re.IGNORECASE,
)
TURN = re.compile(
    r"(?:,\s*|;\s*|\.\s*|\s+[—–-]\s+)(?:but|however|though|although|yet|and|so|because|since)\s+|,\s*(?:except|only)\s+",
    re.IGNORECASE,
)
_TURN_WITHOUT_COMMA = re.compile(
    r"\s(?:but|however|although|yet|and|so|because)\s+"
    r"(?=(?:\S+\s+){1,8}(?:is|are|was|were|has|have|had|will|can|must|may|costs?|takes?|gets?|receives?)\s)",
    re.IGNORECASE,
)
"""A turn without a comma: a conjunction soon followed by a finite verb."""
_SUBORDINATE = re.compile(r"\b(?:whether|if|how|what|which|who|whom|when|where|why|that)\b", re.IGNORECASE)
_SEAM = re.compile(r",\s+|\s+[-–]\s+|\s*—\s*|:\s+")
_ADVERB = re.compile(
    r"(?:however|nevertheless|nonetheless|still|instead|also|actually|in fact|that said)\b,?\s*", re.IGNORECASE
)
_DEPENDENT = re.compile(
    r"(?:which|who|whom|whose|when|where|whether|what|how|why|if|as|or|nor|and|including|such|e\.g|i\.e|like|for|in|on|at|to|"
    r"from|of|by|with|without|about|than|given|based|sorry|please|unfortunately|let me|but|though|although|yet|so|because|"
    r"since|except|only)\b",
    re.IGNORECASE,
)


def is_abstention(text: str) -> bool:
    """Whether the whole sentence declines to answer, without a `but` that gives an answer after all.

    >>> is_abstention("The documents do not mention a fee."), is_abstention("I don't know, but it costs $5.")
    (True, False)
    """
    match = _ABSTENTION.fullmatch(text.strip())
    if match is None or _comma_splice(text) >= 0:
        return False
    return (
        next(_turns(text), None) is None
        or re.match(r"(?:sorry|i(?:'|’| a)m (?:sorry|afraid)),? but", text.strip(), re.IGNORECASE) is not None
    )


def names_topic(text: str) -> bool:
    """Whether an abstention names what the evidence lacks, so that the evidence can refute it.

    >>> names_topic("I don't know."), names_topic("The documents do not mention a fee.")
    (False, True)
    """
    words = [t for t in tokenise(EVIDENCE_MENTION.sub("this", text)) if t.tag in CONTENT_TAGS]
    return any(t.low.replace("’", "'") not in TALK_WORDS | ATTITUDES | _ABSTENTION_WORDS for t in words)


_ABSTENTION_WORDS = frozenset(
    """document documents passage passages source sources context contexts text texts article articles evidence excerpt
    excerpts material materials record records policy handbook data file files result results documentation knowledge
    base snippet snippets search mention mentioned specify specified state stated indicate indicated contain contains
    provide provided include included cover covered discuss discussed give given enough sufficient insufficient find
    found able unable determine determined verify locate access available unavailable limited based ai language model
    lack lacks none neither no not unclear unknown cannot can't couldn't don't doesn't didn't unfortunately regrettably
    sorry however provide reach definitive relevant specific retrieved supplied shared difficult possible impossible
    question answered request conclusive complete fully personal experience say says address reliable basis
    """.split()
)
"""Words of an abstention for the evidence and for itself, which name no topic."""


def _comma_splice(text: str) -> int:
    """Where a statement begins that is joined by punctuation alone (`I cannot confirm it, partners get 9 weeks.`); -1
    where there is none."""
    for seam in _SEAM.finditer(text):
        adverb = _ADVERB.match(text, seam.end())
        start = adverb.end() if adverb else seam.end()
        if _DEPENDENT.match(text, start) or _ABSTENTION.fullmatch(text[start:].strip()):
            continue
        tags = [token.tag for token in tokenise(text[start : start + 120])]
        listed = bool({"OR", "AND"} & set(tags))
        # Without a verb that the word lists know, four words that are not a list count as a statement too.
        if {"AUX", "V", "VN", "NUM"} & set(tags[1:]) or (
            len([tag for tag in tags if tag.isalpha()]) >= 4 and not listed
        ):
            return start
    return -1


def _turns(text: str) -> Iterator[re.Match[str]]:
    """The places where a sentence may turn from an abstention to a claim.

    Without a comma, a conjunction is a turn only outside of an indirect question: in "whether parking and meals are
    included" it joins two parts of what is not known.
    """
    yield from TURN.finditer(text)
    for turn in _TURN_WITHOUT_COMMA.finditer(text):
        if _SUBORDINATE.search(text, 0, turn.start()) is None:
            yield turn


def abstention_turn(text: str) -> int:
    """Where a sentence that begins as an abstention turns to a claim (`I don't know, but ...`); -1 if nowhere."""
    for turn in _turns(text):
        if is_abstention(text[: turn.start()]):
            return turn.end()
    splice = _comma_splice(text)
    return splice if splice >= 0 and is_abstention(text[:splice].rstrip(" ,:—–-")) else -1
