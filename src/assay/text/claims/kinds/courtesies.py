# ruff: noqa: E501, SIM905 one alternative of a pattern a line
"""Sentences about the conversation itself: greetings, thanks, offers, introductions, questions."""

import re

from assay.text.claims.kinds.abstentions import TURN
from assay.text.claims.kinds.evidence_words import CITED, EVIDENCE_MENTION, REPORTED, THESE
from assay.text.claims.kinds.questions import is_question
from assay.text.claims.kinds.talk import (
    ATTITUDES,
    CONTENT_TAGS,
    LONGEST_COURTESY,
    PARTIES,
    TALK_WORDS,
    carried_statement,
    has_content_beyond_talk,
)
from assay.text.lexicon.tokens import tokenise

_PLAIN_WORD = r"(?!(?:that|which|who|whose|where|is|are|was|were|has|have|had)\b)[^\s;:.,\d]+"
"""A word that does not open a clause."""
_META = re.compile(
    r"(?:hello|hi|hey|greetings|good (?:morning|afternoon|evening|day)|dear)\b(?:[ ,]+[\w.\-]+){0,4}[!.,]*"
    r"|(?:many )?(?:thanks|thank you)(?:[ ,]+(?:so much|very much|for (?:your|the|asking|reaching|sharing)\b[^.;:,]{0,60}))?[!.]*"
    r"|you(?:'|’| a)re (?:very )?welcome[!.]*|(?:sure|certainly|of course|absolutely|great question|good question|okay|ok|yes|no|understood|got it|no problem)[!.]*"
    r"|(?:i )?hope (?:this|that|it|these|the)(?: (?:information|answer|summary|response|explanation|overview|tips|points|details))?"
    r" (?:helps?|(?:is|are|was|were) (?:helpful|useful)|answers your question)[^,;:.\d]{0,40}[!.]*"
    r"|(?:please )?(?:let me know(?! that\b)|feel free to (?:ask|reach out|contact me)|don['’]t hesitate to)\b[^;:.]{0,160}[!.]*"
    r"|if (?:you (?:have|need|require|want|would like)(?: (?:any|some|more|further|other|additional|questions?|concerns?|assistance|help|support|or|need|require)){1,9}"
    r"|there(?:['’]s| is) anything else(?: (?:within my capabilities|that|you|i|we|can|could|need|want|help|assist|assistance|support|with|do|for|to|know|about)){0,12}),?"
    r" (?:please )?(?:let me know|feel free to (?:ask|reach out|contact me|let me know)|don['’]t hesitate to (?:ask|reach out|contact me))\b[^;:.,\d]{0,40}[!.]*"
    r"|(?:i am|i['’]m|i['’]d be|i would be|we are|we['’]d be) (?:happy|glad|here|sorry|pleased)\b[^;:.,\d]{0,100}[!.]*"
    r"|(?:sorry|apologies|my apologies|i apologi[sz]e)\b[^;:.,\d]{0,80}[!.]*"
    r"|(?:here|below|the following|this)(?:['’]s| is| are)\b[^.;!?]{0,160}:"
    r"|(?:here (?:is|are)|here['’]s|below (?:is|are)) (?:a|an|the|my|your)\b[^;:.,\d]{0,80}[.]"
    r"|based on (?:the|your|these|this)\b[^.;!?\d]{0,80}:"
    rf"|{THESE}\s(?:also )?(?:provides?|contains?|offers?|gives?|discuss(?:es)?|describes?|lists?|mentions?|suggests?|outlines?|includes?)\b[^.;!?\d]{{0,100}}:"
    r"|(?:some|several|a few|the)(?: of the)? (?:(?:key|main|common|important|relevant) ){1,2}(?:points|facts|details|takeaways|findings|information)\b[^.;!?\d]{0,80}:"
    rf"|{THESE}\s(?:also )?(?:provides?|contains?|offers?|gives?) (?:(?:some|more|further|useful|detailed|general|various) ){{0,2}}(?:information|details|an overview) (?:about|on|regarding|of)\s{_PLAIN_WORD}(?:\s{_PLAIN_WORD}){{0,9}}[.!]*"
    rf"|(?:this|that|the) (?:information|answer|summary|response)?\s?(?:is|was|comes|can be) (?:(?:also )?(?:{REPORTED}|found|based|taken|drawn|supported)\s)?(?:in|on|from|by)\s{CITED}[.!]*"
    r"|(?:that|this|it)(?:['’]s| is| was| sounds) (?:so |very |really |pretty |quite |such )?(?:an? )?(?:interesting|cool|awesome|amazing|great|nice|wonderful|fascinating|fantastic|good question|great question|interesting question|good point|great point)[!.]*"
    r"|without (?:further|more|additional|any|other) (?:information|context|details|data|evidence), (?:it is|it['’]s|it would be|i am|i['’]m) (?:difficult|impossible|not possible|hard|unable) (?:for me )?to\b[^;:,.\d]{0,120}[.!]*"
    r"|(?:i see|i understand|i agree|i can see where you['’]re coming from|maybe|perhaps|lol|haha|oh|interesting|indeed)[!.]*"
    r"|(?:let me|i will now|i['’]ll now|let['’]s) (?:explain|summari[sz]e|answer|start|begin|break|walk|look|help)\b[^;,\d]{0,100}[.:!]*"
    r"|as an ai\b[^;,.\d]{0,60}[.!]*|p\.?\s?(?:p\.?\s?)?s\.?:?|(?:in summary|in conclusion|to summarize|to conclude|note|answer|summary|response|sources?|references?|citations?|conclusion|overview)\s?[:.]?"
    r"|(?:many )?congrat(?:ulation)?s(?: again)?(?: to you)?(?: on (?:the|your)(?-i:(?: [a-z]+){1,3}))?[!.]*|well done[!.]*|wow[!.]*"
    r"|(?:(?:what|that(?:['’]s| is)|this is) )?(?:an? )?(?:great|good|wonderful|fantastic|amazing|exciting|terrific|excellent|lovely) (?:news|to hear)[!.]*"
    r"|happy (?:birthday|holidays|new year|anniversary|to help)[!.]*|welcome(?: back)?[!.]*"
    r"|good luck[!.]*|have a (?:great|nice|good)[^;:.,\d]{0,30}[!.]*|(?:best|kind|warm) regards[,.]?|best[,.]|cheers[!,.]*|sincerely,?",
    re.IGNORECASE,
)
_YES_NO_QUESTION = re.compile(
    r"(?:and |but |so |or )?(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)\s(?!you\b|i\b|we\b)",
    re.IGNORECASE,
)
"""A yes-or-no question about neither party: what it names is what it asks, and so is not presupposed."""


def is_meta(text: str) -> bool:
    """Whether the whole sentence is about the conversation: a greeting, thanks, an offer, an introduction, a question.

    A sentence that embeds a statement or presupposes a number or a named thing is not: "thank you for your payment of
    500 dollars" says that it was paid.

    >>> is_meta("Let me know if you have questions."), is_meta("Here is a fact: it costs $5.")
    (True, False)
    >>> is_meta("Thank you for your payment of 500 dollars."), is_meta("Did you know that the fee is waived?")
    (False, False)
    """
    if is_question(text):
        yes_no = _YES_NO_QUESTION.match(text) is not None and _CONTRACTED.match(text) is None
        return not _embeds_statement(text) and (yes_no or not has_content_beyond_talk(text))
    plain = _META.fullmatch(text.strip()) is not None and TURN.search(text) is None
    return plain and not has_content_beyond_talk(text) and not _embeds_statement(text)


_CONTRACTED = re.compile(r"\w+n['’]t\b", re.IGNORECASE)
_OFFERING = frozenset("can could would may might should have need want 'd".split())
_VERBS = frozenset({"AUX", "V", "VN", "VA"})
_EMBEDDING = frozenset({"that", "why", "since", "because", "how"})


def _embeds_statement(text: str) -> bool:
    """Whether a clause about neither party is stated or presupposed: `why S`, `the fact that S`, `glad S`."""
    if carried_statement(text) >= 0:
        return True
    tokens = tokenise(text[:LONGEST_COURTESY])
    for i, token in enumerate(tokens[:-2]):
        reason = token.low == "as" and i > 0 and tokens[i - 1].tag == ","
        if (token.low not in _EMBEDDING and not reason) or tokens[i + 1].tag in {"AUX", "V"}:
            continue
        named = sum(
            t.tag in CONTENT_TAGS and t.low.replace("’", "'") not in TALK_WORDS | ATTITUDES for t in tokens[i + 2 :]
        )
        offered = named <= 1 and (tokens[i + 2].tag != "AUX" or tokens[i + 2].low in _OFFERING)
        has_object = tokens[i + 1].low not in PARTIES or tokens[i + 1].low == "there" or not offered
        asked = token.low == "how" and tokens[i + 1].low in {"much", "many", "long", "to"}
        if has_object and not asked and any(t.tag in _VERBS for t in tokens[i + 2 :]):
            return True
    return False


_COURTESY = re.compile(
    r"(?:(?:i am|i['’]m|we are|we['’]re) )?(?:so |very |really |truly )?(?:sorry|apologi|my apologies|congrat|thank|many thanks|"
    r"welcome|happy|glad|pleased|delighted|have a|good luck|i hope|hope|(?:please )?(?:let me know|feel free|don['’]t hesitate)|"
    r"i['’]d be|i would be|enjoy|best|kind|warm|well done|cheers|sincerely)",
    re.IGNORECASE,
)


def named_in_small_talk(text: str) -> list[str]:
    """The words of a courtesy that name what it takes for granted; empty for any other sentence.

    >>> named_in_small_talk("Sorry about the delayed refund."), named_in_small_talk("Thank you for your patience!")
    (['delayed', 'refund'], [])
    """
    if _COURTESY.match(text.strip()) is None or text.rstrip().endswith((":", "?", "？")):
        return []
    words = [
        t.low.replace("’", "'")
        for t in tokenise(EVIDENCE_MENTION.sub("this", text[:LONGEST_COURTESY]))
        if t.tag in CONTENT_TAGS
    ]
    return [word for word in words if word not in TALK_WORDS | ATTITUDES | _COURTESY_WORDS]


_COURTESY_WORDS = frozenset(
    """patience understanding inconvenience trouble confusion misunderstanding interest reading contacting reaching
    message request inquiry enquiry feedback day evening morning afternoon week weekend trip journey flight holiday
    regards wishes luck team service best kind warm apologies apologize apologise congratulations congrats cheers
    sincerely well done enjoy rest safe pleasant lovely concerns concern issue issues problem problems cause caused hear
    else today tomorrow soon clarification clarify explain explanation assistance helping one moment second back looking
    forward visit call touch appreciate provide provided giving give given able unable glad
    """.split()
)
"""Words that courtesies consist of, which name nothing that is taken for granted."""
