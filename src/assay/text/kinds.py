# ruff: noqa: E501 one alternative of a pattern a line
"""What sort of statement a sentence is, and what of it is only a lead-in.

A sentence is called meta, abstention or opinion only where the whole of it is one: words that would let a claim
travel inside a courtesy go to the check.
"""

import re
from collections.abc import Iterator

from assay.schema.verdict import ClaimKind
from assay.text.critical import has_commitment
from assay.text.hedging import STRONG, hedge_score
from assay.text.pointers import NUMBERED, POINTER
from assay.text.tokens import tokenise

_SOURCE = (
    r"(?:(?:the|this|these|those|your|our|my|provided|given|available|retrieved|supplied|above|following|attached|"
    r"cited|search|source|reference|official|information|data|evidence|context|contexts|passages?|documents?|sources?|"
    r"texts?|articles?|excerpts?|results?|materials?|records?|files?|knowledge|base|policy|handbook|in|of|and|from|"
    r"you|i|have|has|shared|company|internal|documentation|snippets?|above)[ ,]+){1,10}?"
)
_GIVEN = r"(?:following|given|provided|supplied|retrieved|available|above|cited)"
_THESE = rf"(?:{POINTER}|(?:the|these|this|all|both|none of the)(?: of the)?\s(?:{_GIVEN}\s)?(?:passages?|documents?|sources?|contexts?|texts?|articles?|excerpts?|snippets?|search results?|evidence|information)(?:\s{_GIVEN})?)"
"""The given evidence as the subject of a sentence."""
_REPORTS = r"(?:states?|says?|mentions?|notes?|indicates?|shows?|confirms?|explains?|reports?|adds?|suggests?|reveals?|specif(?:y|ies)|describes?)"
_REPORTED = r"(?:stated|said|mentioned|noted|indicated|shown|confirmed|explained|reported|described|outlined|discussed|specified|suggested|recommended|provided|listed|seen|written)"
_CITED = (
    rf"(?:{POINTER}|(?:the\s|these\s)?(?:{_GIVEN}\s)?(?:passages?|excerpts?|snippets?|search results?)(?:\s{_GIVEN})?"
    rf"|(?:the\s|these\s)?{_GIVEN}\s(?:context|texts?|documents?|sources?|articles?|information|evidence)|the\s(?:context|texts?|documents?|sources?|information)\s{_GIVEN}(?:\sin\sthe\spassages?)?)"
)
"""The given evidence where a claim is ascribed to it: named by number, or by a word that means nothing else."""
_TAIL = re.compile(
    rf"(?:,?\s(?:as|which is|which was|as is|as was)\s{_REPORTED}(?:\s(?:in|by|on|from))?\s{_CITED}"
    rf"|,?\s(?:as per|according to|per|based on)\s{_CITED})(?=[.!]*$)",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    rf"(?:based (?:up)?on|according to|as (?:stated|described|noted|mentioned|per|outlined) (?:in|by)|as per|per|from|"
    rf"in|looking at|drawing on|given)\s+{_SOURCE}(?<=,)\s?"
    rf"|(?:according to|based on|as stated in|per|as per)\s(?:\[[^\[\]]{{1,40}}\]|(?:source|document|passage|section|page)\s[\w.\-]{{1,20}}),\s"
    rf"|{_THESE}\s(?:clearly |also |explicitly |further |specifically )?{_REPORTS}\sthat\s"
    rf"|(?:as {_REPORTED} (?:in|by|on)|as per|according to|based (?:up)?on|in|from)\s{_CITED},\s(?:it (?:is|was) {_REPORTED} that\s)?"
    rf"|{NUMBERED}:\s"
    rf"|it (?:is|was) (?:also )?{_REPORTED} (?:in|by)\s{_CITED}\sthat\s"
    r"|(?:we can|one can|it can be|i can) (?:infer|see|conclude|deduce|say|inferred|seen|concluded|deduced|said) that\s"
    r"|(?:to answer (?:your|the) question|in (?:answer|response) to (?:your|the) question)[,:]\s|(?:answer|response|summary|a):\s"
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
_PLAIN = r"(?!(?:that|which|who|whose|where|is|are|was|were|has|have|had)\b)[^\s;:.,\d]+"
"""A word that opens no clause."""
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
    rf"|{_THESE}\s(?:also )?(?:provides?|contains?|offers?|gives?|discuss(?:es)?|describes?|lists?|mentions?|suggests?|outlines?|includes?)\b[^.;!?\d]{{0,100}}:"
    r"|(?:some|several|a few|the)(?: of the)? (?:(?:key|main|common|important|relevant) ){1,2}(?:points|facts|details|takeaways|findings|information)\b[^.;!?\d]{0,80}:"
    rf"|{_THESE}\s(?:also )?(?:provides?|contains?|offers?|gives?) (?:(?:some|more|further|useful|detailed|general|various) ){{0,2}}(?:information|details|an overview) (?:about|on|regarding|of)\s{_PLAIN}(?:\s{_PLAIN}){{0,9}}[.!]*"
    rf"|(?:this|that|the) (?:information|answer|summary|response)?\s?(?:is|was|comes|can be) (?:(?:also )?(?:{_REPORTED}|found|based|taken|drawn|supported)\s)?(?:in|on|from|by)\s{_CITED}[.!]*"
    r"|(?:that|this|it)(?:['’]s| is| was| sounds) (?:so |very |really |pretty |quite |such )?(?:an? )?(?:interesting|cool|awesome|amazing|great|nice|wonderful|fascinating|fantastic|good question|great question|interesting question|good point|great point)[!.]*"
    r"|without (?:further|more|additional|any|other) (?:information|context|details|data|evidence), (?:it is|it['’]s|it would be|i am|i['’]m) (?:difficult|impossible|not possible|hard|unable) (?:for me )?to\b[^;:,.\d]{0,120}[.!]*"
    r"|(?:i see|i understand|i agree|i can see where you['’]re coming from|maybe|perhaps|lol|haha|oh|interesting|indeed)[!.]*"
    r"|(?:let me|i will now|i['’]ll now|let['’]s) (?:explain|summari[sz]e|answer|start|begin|break|walk|look|help)\b[^;,\d]{0,100}[.:!]*"
    r"|as an ai\b[^;,.\d]{0,60}[.!]*|(?:in summary|in conclusion|to summarize|to conclude|note|answer|summary|response|sources?|references?|citations?|conclusion|overview)\s?[:.]?"
    r"|(?:many )?congrat(?:ulation)?s(?: again)?(?: to you)?(?: on (?:the|your)(?-i:(?: [a-z]+){1,3}))?[!.]*|well done[!.]*|wow[!.]*"
    r"|(?:(?:what|that(?:['’]s| is)|this is) )?(?:an? )?(?:great|good|wonderful|fantastic|amazing|exciting|terrific|excellent|lovely) (?:news|to hear)[!.]*"
    r"|happy (?:birthday|holidays|new year|anniversary|to help)[!.]*|welcome(?: back)?[!.]*"
    r"|good luck[!.]*|have a (?:great|nice|good)[^;:.,\d]{0,30}[!.]*|(?:best|kind|warm) regards[,.]?|best[,.]|cheers[!,.]*|sincerely,?",
    re.IGNORECASE,
)
_SOURCES_NOUN = (
    r"(?:documents?|passages?|sources?|context|contexts|texts?|articles?|evidence|excerpts?|materials?|information|"
    r"records?|policy|handbook|data|files?|results?|documentation|knowledge base|snippets?|answer|question)"
)
_ABSTENTION = re.compile(
    r"(?:unfortunately,? |sorry,? (?:but )?|i(?:'|’| a)m (?:sorry|afraid),? (?:but )?(?:that )?|regrettably,? |based on [^,]{1,60}, |however,? |as an ai(?: language model| assistant| model)?,? )?"
    r"(?:i (?:really |simply |just )?(?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t|can not|did not|didn['’]t|was(?: not|n['’]t) able to|am(?: not)? (?:un)?able to|was unable to|['’]m (?:not able|unable) to|have no|lack)\s"
    r"(?:know|find|found|see|locate|answer|determine|provide|confirm|verify|have|tell|say|access|identify|information|way|any|enough|sufficient|data|knowledge|the)\b[^;]{0,300}"
    r"|i(?: am|['’]m) (?:not sure|unsure|not certain|uncertain)\b[^;,]{0,120}"
    rf"|(?:the|these|this|your|none of the|no)\s(?:[\w\-]+\s){{0,3}}{_SOURCES_NOUN}(?:\s(?:provided|above|given|available|supplied|retrieved|i have|you shared|you provided)){{0,2}}\s"
    r"(?:(?:do|does|did)(?: not|n['’]t)\s(?:\w+ )?(?:mention|say|state|specify|contain|include|provide|address|cover|discuss|give|indicate|answer|explain|describe|offer|list|tell|have|show|reveal)"
    r"|(?:is|are|was|were) (?:not |un|in)(?:available|sufficient|enough|silent|clear|mentioned|provided|specified|given|found|stated)|(?:is|are) silent|lacks?|mentions?|contains?|addresses)\b[^;]{0,300}"
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
    r"|(?:n/a|unknown|not (?:specified|mentioned|available|stated|provided|found)))"
    r"[.!]*",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"(?:,\s*|;\s*|\.\s*|\s+[—–-]\s+)(?:but|however|though|although|yet|and|so|because|since)\s+|,\s*(?:except|only)\s+",
    re.IGNORECASE,
)
_BARE_TURN = re.compile(
    r"\s(?:but|however|although|yet|and|so|because)\s+"
    r"(?=(?:\S+\s+){1,8}(?:is|are|was|were|has|have|had|will|can|must|may|costs?|takes?|gets?|receives?)\s)",
    re.IGNORECASE,
)
"""A turn without a comma: a conjunction and, soon after it, a finite verb."""
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
_QUESTION = re.compile(
    r"(?!did you know\b)(?:and |but |so |or )?(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|do|does|did|can|could|would|"
    r"will|shall|should|may|might|has|have|had|am|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|any|anything|need|want)\b",
    re.IGNORECASE,
)
_INFERENCE = re.compile(
    r"\b(?:therefore|thus|hence|consequently|as a result|accordingly|it follows|which means|this means|that means|"
    r"meaning that|implies|imply|implying|which suggests|this suggests|indicates that|doubled|tripled|quadrupled|halved|"
    r"in conclusion|can be concluded|we can infer|we can conclude|so that|in total|altogether|combined total|on average|"
    r"\w+ times (?:more|as|larger|higher|the))\b|^so,?\s",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"(?:please |then |next,? |first,? |finally,? |to \w+[^,]{0,60}, |if [^,]{1,100}, |step \d+:? ?)?"
    r"(?:do not|don['’]t|never|always|make sure|click|open|go|enter|press|type|fill|use|add|remove|delete|install|run|set|"
    r"turn|create|download|upload|save|restart|check|verify|contact|call|email|ask|visit|log|sign|submit|send|wait|mix|"
    r"stir|heat|pour|choose|confirm|copy|paste|edit|keep|read|review|select|start|stop|take|update|write|ensure|configure|"
    r"navigate|follow|connect|apply|see|refer|note|repeat|provide|attach|complete|bring|avoid|consider|try|insert|replace)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:i (?:think|believe|feel|guess|suppose|suspect|like|love|prefer|hope|wish|find|recommend|suggest|would (?:say|recommend|suggest))|in my (?:opinion|view)|"
    r"personally|if you ask me)\b",
    re.IGNORECASE,
)


def strip_lead_in(text: str) -> int:
    """How many characters of the sentence are only a lead-in: courtesies, discourse words, `Based on the passages,`.

    >>> text = "Based on the provided passages, the fee is $5."
    >>> text[strip_lead_in(text):]
    'the fee is $5.'
    """
    at = 0
    for _ in range(4):
        match = _LEAD_IN.match(text, at)
        if match is None or not any(c.isalnum() for c in text[match.end() :]):
            break
        at = match.end()
    return at


def strip_tail(text: str) -> int:
    """Where the sentence ends but for words that only ascribe it to the given evidence; its length without them.

    >>> text = "The fee is $5, as stated in passage 2."
    >>> text[:strip_tail(text)]
    'The fee is $5'
    """
    match = _TAIL.search(text)
    return match.start() if match is not None and any(c.isalnum() for c in text[: match.start()]) else len(text)


def is_question(text: str) -> bool:
    """Whether the sentence asks. A statement with a question mark behind it is still a statement.

    >>> is_question("Is it 5?"), is_question("Partners get 9 weeks?")
    (True, False)
    """
    bare = text.rstrip(" \"'”’)*_")
    return bare.endswith(("?", "？", "؟")) and (_QUESTION.match(bare) is not None or not bare.isascii())


def is_meta(text: str) -> bool:
    """Whether the whole sentence speaks of the conversation: a greeting, thanks, an offer, an introduction, a question.

    >>> is_meta("Let me know if you have questions."), is_meta("Here is a fact: it costs $5.")
    (True, False)
    """
    if is_question(text):
        return True
    return _META.fullmatch(text.strip()) is not None and _TURN.search(text) is None


def is_abstention(text: str) -> bool:
    """Whether the whole sentence says that there is no answer, with no `but` that brings one after all.

    >>> is_abstention("The documents do not mention a fee."), is_abstention("I don't know, but it costs $5.")
    (True, False)
    """
    match = _ABSTENTION.fullmatch(text.strip())
    if match is None or _spliced(text) >= 0:
        return False
    return (
        next(_turns(text), None) is None
        or re.match(r"(?:sorry|i(?:'|’| a)m (?:sorry|afraid)),? but", text.strip(), re.IGNORECASE) is not None
    )


def _spliced(text: str) -> int:
    """Where a statement that is only spliced on begins (`I cannot confirm it, partners get 9 weeks.`); -1 without one."""
    for seam in _SEAM.finditer(text):
        adverb = _ADVERB.match(text, seam.end())
        start = adverb.end() if adverb else seam.end()
        if _DEPENDENT.match(text, start) or _ABSTENTION.fullmatch(text[start:].strip()):
            continue
        tags = [token.tag for token in tokenise(text[start : start + 120])]
        listed = bool({"OR", "AND"} & set(tags))
        # Without a verb that the word lists know, four words that are no list are taken for a statement as well.
        if {"AUX", "V", "VN", "NUM"} & set(tags[1:]) or (
            len([tag for tag in tags if tag.isalpha()]) >= 4 and not listed
        ):
            return start
    return -1


def _turns(text: str) -> Iterator[re.Match[str]]:
    """Places where a sentence may turn from an abstention to a claim.

    Without a comma a conjunction is a turn only where no clause of a question is open: what "whether parking and meals
    are included" names is what is not known.
    """
    yield from _TURN.finditer(text)
    for turn in _BARE_TURN.finditer(text):
        if _SUBORDINATE.search(text, 0, turn.start()) is None:
            yield turn


def abstention_turn(text: str) -> int:
    """Where a sentence that begins as an abstention turns to a claim (`I don't know, but ...`); -1 where it does not."""
    for turn in _turns(text):
        if is_abstention(text[: turn.start()]):
            return turn.end()
    spliced = _spliced(text)
    return spliced if spliced >= 0 and is_abstention(text[:spliced].rstrip(" ,:—–-")) else -1


def is_opinion(text: str, reasons: tuple[str, ...]) -> bool:
    """Whether the sentence is pure opinion: it says that it is, and states nothing critical."""
    return _OPINION.search(text) is not None and not reasons


def statement_kind(text: str) -> ClaimKind:
    """The kind of a sentence that states something.

    >>> statement_kind("Thus revenue tripled.").value, statement_kind("Click Save.").value
    ('inferential', 'procedural')
    """
    if has_commitment(text):
        return ClaimKind.PROCEDURAL
    if hedge_score(text) >= STRONG:
        return ClaimKind.UNCERTAIN
    if _INFERENCE.search(text):
        return ClaimKind.INFERENTIAL
    order = _IMPERATIVE.match(text)
    if order is not None and not any(t.tag in {"AUX", "V"} for t in tokenise(text[order.end() : order.end() + 40])[:4]):
        return ClaimKind.PROCEDURAL
    return ClaimKind.FACTUAL
