# ruff: noqa: E501 one alternative of a pattern a line
"""Parts of a sentence that only lead in (`Based on the passages,`) or only name a source (`as stated in passage 2`)."""

import re

from assay.text.citations.passage_references import NUMBERED
from assay.text.claims.clauses import stands_alone
from assay.text.claims.kinds.evidence_words import CITED, REPORTED, REPORTS, SOURCE, THESE
from assay.text.claims.kinds.talk import LONGEST_COURTESY, carried_statement
from assay.text.lexicon.tokens import tokenise

_TAIL = re.compile(
    rf"(?:,?\s(?:as|which is|which was|as is|as was)\s{REPORTED}(?:\s(?:in|by|on|from))?\s{CITED}"
    rf"|,?\s(?:as per|according to|per|based on)\s{CITED})(?=[.!]*$)",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    rf"(?:based (?:up)?on|according to|as (?:stated|described|noted|mentioned|per|outlined) (?:in|by)|as per|per|from|"
    rf"in|looking at|drawing on|given)\s+{SOURCE}(?<=,)\s?"
    rf"|(?:according to|based on|as stated in|per|as per)\s(?:\[[^\[\]]{{1,40}}\]|(?:source|document|passage|section|page)\s[\w.\-]{{1,20}}),\s"
    rf"|{THESE}\s(?:clearly |also |explicitly |further |specifically )?{REPORTS}\sthat\s(?![^.;]*,\s(?:(?:and|but|while|whereas)\s)?(?:the other|another)\b)"
    rf"|(?:the\s)?(?:one|other|another|former|latter)(?:\sone)?\s{REPORTS}\sthat\s(?![^.;]*,\s(?:(?:and|but|while|whereas)\s)?(?:the other|another)\b)"
    r"|according to (?:one|another|the (?:other|first|second|former|latter))(?: one)?,\s"
    rf"|(?:as {REPORTED} (?:in|by|on)|as per|according to|based (?:up)?on|in|from)\s{CITED},\s(?:it (?:is|was) {REPORTED} that\s)?"
    rf"|{NUMBERED}:\s"
    rf"|it (?:is|was) (?:also )?{REPORTED} (?:in|by)\s{CITED}\sthat\s"
    r"|(?:we can|one can|it can be|i can) (?:infer|see|conclude|deduce|say|inferred|seen|concluded|deduced|said) that\s"
    r"|(?:in (?:my|our) (?:own |humble |honest |personal )?(?:opinion|view|understanding)|to my (?:mind|knowledge)|as far as i (?:know|can (?:see|tell))|"
    r"if i(?: am|['’]m) not mistaken|if i (?:read|understand|see) (?:this|it) (?:right|correctly)|correct me if i(?: am|['’]m) wrong(?:, but)?)"
    r"(?:\s?[,:;!.–—]|(?= (?:the|a|an|it|they|he|she|you|we|there|\d+|(?:one|two|three|four|five|six|seven|eight|nine|ten))\b))\s"
    r"|(?:(?:you can |please )?rest assured|do(?: not|n['’]t) worry|no worries|have no fear|make no mistake|trust me|believe me|mark my words|fun fact|"
    r"good news|hint|tip|fyi|for your information|p\.?\s?s\.?)(?:\s?[,:;!–—]|(?: -| that)(?= ))\s"
    r"|(?:actually|in (?:actual )?fact|as a matter of fact|in (?:reality|truth)|of course|indeed|frankly|to be (?:honest|precise|exact|fair|clear)|"
    r"by the way|as it (?:happens|turns out)|needless to say|after all|naturally)"
    r"(?:\s?[,:;–—]|(?= (?:the|an?|it|they|he|she|you|we|there|this|that|these|those|our|your|their|its|my|his|her|all|each|every|no|\d+|(?:one|two|three|four|five|six|seven|eight|nine|ten))\b))\s"
    r"|if (?:you(?:['’]re| are)?|anyone|anybody|someone) (?:wonders?|wondering|ask(?:s|ing)?(?: yourself)?|curious|want(?:s)? to know) (?:about )?why\s"
    r"|(?:is|was)(?:n['’]t| not) it (?:[\w\-]+ ){1,3}that\s"
    r"|(?:to answer (?:your|the) question|in (?:answer|response) to (?:your|the) question)[,:]\s|(?:answer|response|summary|question|a|q):\s"
    r"|(?:here|below)(?:['’]s| is| are)\s[^:;.\d]{1,80}:\s"
    r"|(?:did you know|please note|note|it is worth noting|it should be noted|it's worth noting|keep in mind|remember|"
    r"it is (?:also )?important to (?:note|remember|mention)|it['’]s (?:also )?important to (?:note|remember|mention)|importantly|please (?:be aware|keep in mind|remember))(?:,\s|:\s| that\s)"
    r"|(?:sure|certainly|of course|great question|good question|yes|no|hello|hi|thanks|thank you|absolutely|okay|ok|"
    r"well|actually|in short|in summary|to summarize|in conclusion|overall|in fact)(?:[!,:—]| -)\s"
    r"|(?:however|moreover|furthermore|additionally|in addition|also|besides|meanwhile|finally|similarly|likewise|"
    r"therefore|thus|hence|consequently|as a result|accordingly|so|for example|for instance|specifically|notably|"
    r"in particular|in other words|that is|then|next),\s",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"(?:the|these|this|all|both)\s(?:given\s|provided\s)?(?:passages?|documents?|sources?|texts?|articles?|excerpts?)\s"
    r"(?:all |both |clearly |also |explicitly )?(?:says?|states?|mentions?|notes?|reports?|explains?|confirms?),?\s(?!that\s)",
    re.IGNORECASE,
)
"""A lead-in without "that", which counts only before a complete clause."""


def strip_lead_in(text: str) -> int:
    """The number of characters that are only a lead-in: courtesies, discourse words, `Based on the passages,`.

    >>> text = "Based on the provided passages, the fee is $5."
    >>> text[strip_lead_in(text):]
    'the fee is $5.'
    """
    at = 0
    for _ in range(4):
        match = _LEAD_IN.match(text, at) or _report(text, at)
        if match is None or not any(c.isalnum() for c in text[match.end() :]):
            break
        at = match.end()
    inner = carried_statement(text[at:])
    return at + inner if inner > 0 else at


def _report(text: str, at: int) -> re.Match[str] | None:
    """The match of `The documents say ` where a complete clause follows it."""
    match = _REPORT.match(text, at)
    if match is None or not stands_alone(tokenise(text[match.end() : match.end() + LONGEST_COURTESY])):
        return None
    return match


def strip_tail(text: str) -> int:
    """The length of the sentence without final words that only ascribe it to the given evidence.

    >>> text = "The fee is $5, as stated in passage 2."
    >>> text[:strip_tail(text)]
    'The fee is $5'
    """
    match = _TAIL.search(text)
    return match.start() if match is not None and any(c.isalnum() for c in text[: match.start()]) else len(text)
