# ruff: noqa: E501, SIM905 one alternative of a pattern a line
"""What sort of statement a sentence is, and what of it is only a lead-in.

A sentence is called meta, abstention or opinion only where the whole of it is one: words that would let a claim
travel inside a courtesy go to the check.
"""

import re
from collections.abc import Iterator, Sequence

from assay.schema import ClaimKind
from assay.text.citations.passage_references import NUMBERED, POINTER
from assay.text.claims.clauses import find_verb, stands_alone
from assay.text.claims.criticality import critical_reasons, has_commitment
from assay.text.claims.hedging import STRONG, hedge_score
from assay.text.lexicon.tokens import Token, tokenise

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
    rf"|{_THESE}\s(?:clearly |also |explicitly |further |specifically )?{_REPORTS}\sthat\s(?![^.;]*,\s(?:(?:and|but|while|whereas)\s)?(?:the other|another)\b)"
    rf"|(?:the\s)?(?:one|other|another|former|latter)(?:\sone)?\s{_REPORTS}\sthat\s(?![^.;]*,\s(?:(?:and|but|while|whereas)\s)?(?:the other|another)\b)"
    r"|according to (?:one|another|the (?:other|first|second|former|latter))(?: one)?,\s"
    rf"|(?:as {_REPORTED} (?:in|by|on)|as per|according to|based (?:up)?on|in|from)\s{_CITED},\s(?:it (?:is|was) {_REPORTED} that\s)?"
    rf"|{NUMBERED}:\s"
    rf"|it (?:is|was) (?:also )?{_REPORTED} (?:in|by)\s{_CITED}\sthat\s"
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
_TELLS = re.compile(
    r"(?:the|these|this|all|both)\s(?:given\s|provided\s)?(?:passages?|documents?|sources?|texts?|articles?|excerpts?)\s"
    r"(?:all |both |clearly |also |explicitly )?(?:says?|states?|mentions?|notes?|reports?|explains?|confirms?),?\s(?!that\s)",
    re.IGNORECASE,
)
"""A lead-in without "that", which it is only before a whole clause."""
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
    r"|as an ai\b[^;,.\d]{0,60}[.!]*|p\.?\s?(?:p\.?\s?)?s\.?:?|(?:in summary|in conclusion|to summarize|to conclude|note|answer|summary|response|sources?|references?|citations?|conclusion|overview)\s?[:.]?"
    r"|(?:many )?congrat(?:ulation)?s(?: again)?(?: to you)?(?: on (?:the|your)(?-i:(?: [a-z]+){1,3}))?[!.]*|well done[!.]*|wow[!.]*"
    r"|(?:(?:what|that(?:['’]s| is)|this is) )?(?:an? )?(?:great|good|wonderful|fantastic|amazing|exciting|terrific|excellent|lovely) (?:news|to hear)[!.]*"
    r"|happy (?:birthday|holidays|new year|anniversary|to help)[!.]*|welcome(?: back)?[!.]*"
    r"|good luck[!.]*|have a (?:great|nice|good)[^;:.,\d]{0,30}[!.]*|(?:best|kind|warm) regards[,.]?|best[,.]|cheers[!,.]*|sincerely,?",
    re.IGNORECASE,
)
_SOURCES_NOUN = (
    r"(?:documents?|passages?|sources?|context|contexts|texts?|articles?|evidence|excerpts?|materials?|information|"
    r"records?|policy|handbook|data|files?|results?|documentation|knowledge base|snippets?|answer|question|pages?|leaflet|"
    r"reports?|menu|notes|minutes|manual|guide|brochure|contract|letter|notice|terms|instructions|listing|agreement|website)"
)
_EVIDENCE_NOUN = r"(?:documents?|passages?|sources?|contexts?|texts?|articles?|evidence|excerpts?|snippets?|information|materials?|search results?)"
"""What can only mean the given evidence: "the policy does not cover it" is of the world, "the passage" is not."""
_AT_HAND = r"(?:\s(?:provided|above|given|available|supplied|retrieved|i have|you shared|you provided)){0,2}"
_NOT = r"(?:do|does|did)(?: not|n['’]t)\s(?:(?:explicitly|specifically|directly|actually|clearly|even) )?"
_NEWS = r"(?:(?:any|enough|sufficient|an?|the|specific|explicit|direct|further|more|detailed|relevant) ){0,3}(?:information|details?|mention|data|evidence|answers?|indication|guidance|references?|explanation|specifics)"
"""What a source is said not to have, where the saying is about the source."""
_SAY = r"(?:mention|say|state|specify|indicate|explain|describe|tell|discuss|reveal|disclose|clarify|answer)"
_GIVE = rf"(?:(?:contain|include|provide|give|offer|list|have|show) {_NEWS})"
_HOLD = r"(?:contain|include|provide|address|cover|give|offer|list|have|show)"
_TOLD = r"(?:mentioned|said|stated|specified|discussed|addressed|disclosed|written|told|explained|described|indicated)"
_ABOUT = r"(?:about|on|of|regarding|concerning|as to)"
_SILENT = (
    rf"nothing (?:is|was|has been|had been) {_TOLD}\s{_ABOUT}\b[^;]{{0,200}}"
    rf"|nothing in (?:the|these|this|your)\s(?:[\w\-]+\s){{0,3}}{_SOURCES_NOUN}{_AT_HAND}\s"
    r"(?:mentions?|says?|states?|tells?|specif(?:y|ies)|indicates?|explains?)\b[^;]{0,200}"
    r"|no (?:explicit |direct )?mention (?:is|was) made of\b[^;]{0,200}"
    rf"|(?:it|they|(?:the|these|this|your)\s(?:[\w\-]+\s){{0,3}}(?:page|leaflet|report|{_SOURCES_NOUN}){_AT_HAND})\s"
    rf"(?:says?|said|tells? us|mentions?|states?|gives?|gave|provides?|contains?|reveals?) "
    rf"(?:nothing|no (?:\w+ ){{0,2}}(?:information|details?|mention|data|indication|guidance|explanation|specifics))"
    rf"\s{_ABOUT}\b[^;]{{0,200}}"
    rf"|it {_NOT}{_SAY}\b[^;]{{0,200}}"
    rf"|(?:[\w’'\-]+ ){{1,8}}(?:is|are|was|were) (?:not|never|nowhere) (?:(?:explicitly|specifically|further) )?{_TOLD}"
    rf"(?: (?:in|by|on) (?:the|these|this|any|your)\s(?:[\w\-]+\s){{0,3}}(?:page|leaflet|report|{_SOURCES_NOUN}){_AT_HAND})?"
    r"|no (?:[\w\-]+ ){0,3}(?:dates?|times?|prices?|amounts?|numbers?|names?|reasons?|locations?|deadlines?|figures?|details?)"
    r"(?: (?:for|of|to|on) (?:[\w\-]+ ){0,3}[\w\-]+)? (?:is|are|was|were) (?:given|provided|listed|available|indicated|included)"
    rf"|no (?:[\w\-]+ ){{1,4}}(?:is|are|was|were) (?:mentioned|stated|specified)"
    rf"(?: (?:in|by|on) (?:the|these|this|any|your)\s(?:[\w\-]+\s){{0,3}}(?:page|leaflet|report|{_SOURCES_NOUN}){_AT_HAND})?"
)
"""Sentences that say of the sources that they are silent on something, with verbs of saying alone: what is not given or
not included may be a matter of the world."""
_WANTING = (
    r"(?:is|are|was|were) (?:not (?:clear|sufficient|enough|specific|explicit)|(?:un|in)(?:sufficient|clear)|silent)\b"
)
_ABSTENTION = re.compile(
    r"(?:unfortunately,? |sorry,? (?:but )?|i(?:'|’| a)m (?:sorry|afraid),? (?:but )?(?:that )?|regrettably,? |based on [^,]{1,60}, |however,? |as an ai(?: language model| assistant| model)?,? )?"
    r"(?:i (?:really |simply |just )?(?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t|can not|did not|didn['’]t|was(?: not|n['’]t) able to|am(?: not)? (?:un)?able to|was unable to|['’]m (?:not able|unable) to|have no|lack)\s"
    r"(?:know|find|found|see|locate|answer|determine|provide|confirm|verify|have|tell|say|access|identify|information|way|any|enough|sufficient|data|knowledge|the)\b[^;]{0,300}"
    r"|i(?: am|['’]m) (?:not sure|unsure|not certain|uncertain)\b[^;,]{0,120}"
    rf"|(?:the|these|this|your|none of the|no)\s(?:[\w\-]+\s){{0,3}}{_SOURCES_NOUN}{_AT_HAND}\s(?:{_NOT}(?:{_SAY}|{_GIVE})\b|{_WANTING}|(?:is|are) silent\b|lacks? {_NEWS}\b)[^;]{{0,300}}"
    rf"|(?:the|these|this|your|none of the|no)\s(?:[\w\-]+\s){{0,3}}{_EVIDENCE_NOUN}{_AT_HAND}\s(?:{_NOT}{_HOLD}|{_WANTING}|lacks?|mentions?|contains?|address(?:es)?)\b[^;]{{0,300}}"
    rf"|no\s(?:[\w\-]+\s){{0,3}}{_SOURCES_NOUN}{_AT_HAND}\s(?:mentions?|says?|states?|specif(?:y|ies))\b[^;]{{0,300}}"
    rf"|(?:the|this|that|such|no)\s(?:[\w\-]+\s){{0,2}}(?:information|answer|details?){_AT_HAND}\s(?:is|are|was|were) (?:not |un)(?:available|mentioned|provided|specified|given|found|stated)\b[^;]{{0,300}}"
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


_LONGEST_COURTESY = 400
"""Characters; a longer sentence is no courtesy."""
_TOPIC_WORDS = 5
"""How many content words of other things a courtesy or a question may hold (`... about the parental leave policy`)."""
_LONGEST_PRAISE = 5
_CONTENT = frozenset({"NAME", "W", "V", "VN", "VA", "NUM", "QUOTE", "ASIDE"})
_SUBJECTS = frozenset({"DET", "NAME", "W", "NUM", "QUOTE", "VA", "VN", "V", "PRON"})
_PARTIES = frozenset("i you we this that it's i'm you're we're me us".split())
"""The parties to the talk, of whom a courtesy may speak without a claim about the world."""
_TALK = frozenset(
    """i you we it me us my our your yours this that these here there i'm i'd i'll i've we're we'd we'll we've you're
    you'll it's that's here's there's let's what's am is are was be been being do does did have has had will would can
    could may might shall should must to of for in on with and or so as at by from about up out a an the any some more
    most very really just also now then please sure yes well ok okay hello hi hey dear thanks thank thankful grateful
    welcome help helpful hope hoping hopeful helps assist assistance support question questions answer answers ask asking asked information
    detail details further anything something everything everyone all both else need needs want like would reach
    reaching contact feel free hesitate happy hope quick great good nice interesting wonderful fascinating amazing
    important useful worth fact facts point point's topic news did next time always truly how what when where why who
    which tell sharing share let
    """.split()
)
"""Words of talk itself: whoever says only these says nothing of the world."""
_ATTITUDES = frozenset(
    """glad happy pleased delighted thrilled excited proud relieved sorry afraid trust believe think
    thinking feel guess suppose assume imagine know knowing knew known aware see understand agree sure certain confident
    convinced positive clear true confirm confirming confirmed say saying tell telling inform informed informing
    informs mention mentioning mentioned add adding note noting noted remember remind reminded assure assured report
    announce announcing learn learned hear hearing heard share say state stating stress emphasize emphasise recall
    great good nice interesting wonderful fantastic amazing fascinating worth important right correct appreciate
    advised notice noticed realize realise love like conclude answer summary short
    """.split()
)
"""How a speaker stands to what follows: what it introduces is stated."""


def strip_lead_in(text: str) -> int:
    """How many characters of the sentence are only a lead-in: courtesies, discourse words, `Based on the passages,`.

    >>> text = "Based on the provided passages, the fee is $5."
    >>> text[strip_lead_in(text):]
    'the fee is $5.'
    """
    at = 0
    for _ in range(4):
        match = _LEAD_IN.match(text, at) or _telling(text, at)
        if match is None or not any(c.isalnum() for c in text[match.end() :]):
            break
        at = match.end()
    inner = carried(text[at:])
    return at + inner if inner > 0 else at


def _telling(text: str, at: int) -> re.Match[str] | None:
    """`The documents say ` where a whole clause follows it."""
    match = _TELLS.match(text, at)
    if match is None or not stands_alone(tokenise(text[match.end() : match.end() + _LONGEST_COURTESY])):
        return None
    return match


def strip_tail(text: str) -> int:
    """Where the sentence ends but for words that only ascribe it to the given evidence; its length without them.

    >>> text = "The fee is $5, as stated in passage 2."
    >>> text[:strip_tail(text)]
    'The fee is $5'
    """
    match = _TAIL.search(text)
    return match.start() if match is not None and any(c.isalnum() for c in text[: match.start()]) else len(text)


_ASKING_WORDS = re.compile(
    r"[¿吗嗎呢么麼什哪谁誰几幾怎]|为何|為何|如何|是否|多少|か[？?]|까[？?]|니[？?]|나요|"
    r"\b(?:кто|что|где|когда|почему|зачем|как|какой|какая|какие|ли|сколько)\b|est-ce\b|(?:^|\s)(?:هل|ما|من|متى|أين|كيف|لماذا)\s|"
    r"^(?:wer|wen|wem|was|wann|wo|wie|warum|weshalb|welche[rsmn]?|haben|hast|hat|ist|sind|kann|können|kannst|möchten|möchtest|soll|sollen|darf|wollen|gibt|"
    r"qui|que|quel|quelle|quels|quelles|quand|où|comment|pourquoi|combien|est-ce|avez|voulez|souhaitez|puis-je|pouvez|"
    r"qué|quién|cuándo|dónde|cómo|cuánto|cuántos|cuál|necesita|necesitas|quiere|quieres|puedo|desea|"
    r"chi|che|cosa|quando|dove|come|perché|quanto|quanti|quale|quali|vuole|vuoi|posso|desidera|"
    r"quem|quê|onde|porque|quantos|qual|quais|deseja|quer|precisa)\b",
    re.IGNORECASE,
)
"""Words with which other languages ask; without one of them a sentence with a question mark states."""


_LED_QUESTION = re.compile(
    r"(?:(?:in order )?to \w+|before (?:i|we) \w+|so (?:that )?(?:i|we) can \w+|for (?:that|this)|first|just to be sure|if (?:you (?:like|wish|want)|so)|"
    r"(?:sure|okay|ok|certainly|of course|great|thanks|thank you|hello|hi|sorry|understood|alright)\b)[^,.;:?!]{0,80}[,!—–-]\s+",
    re.IGNORECASE,
)
"""What a question opens with: for what it is asked, a courtesy."""


def is_question(text: str) -> bool:
    """Whether the sentence asks. A statement with a question mark behind it is still a statement.

    >>> is_question("Is it 5?"), is_question("Partners get 9 weeks?"), is_question("Partners’ leave is 9 weeks?")
    (True, False, False)
    """
    bare = text.rstrip(" \"'”’)*_")
    if not bare.endswith(("?", "？", "؟")):
        return False
    led = _LED_QUESTION.match(bare)
    if led is not None and _QUESTION.match(bare, led.end()) is not None:
        return True
    if _QUESTION.match(bare) is not None:
        return not _ends_in_statement(bare)
    return _ASKING_WORDS.search(bare) is not None


def _ends_in_statement(text: str) -> bool:
    """Whether a clause comes first and a statement behind it: `When he started, Garrity was a foreman?`."""
    tokens = tokenise(text[:_LONGEST_COURTESY])
    comma = next((i for i, token in enumerate(tokens) if token.tag == ","), len(tokens))
    rest = [token for token in tokens[comma + 1 :] if token.text != "?"]
    return bool(rest) and rest[0].tag in _SUBJECTS and rest[0].low not in _PARTIES and stands_alone(rest)


def carried(text: str) -> int:
    """Where the statement begins that a courtesy, an opinion or a question carries; -1 where it carries none.

    What stands before it is said by words of talk alone, and the statement is a sentence of its own. What follows "if"
    and "whether" is not stated.

    >>> text = "I am glad that partners get four weeks of leave."
    >>> text[carried(text):]
    'partners get four weeks of leave.'
    >>> carried("I would be glad to help you."), carried("I cannot say that partners get leave.")
    (-1, -1)
    """
    tokens = tokenise(text[:_LONGEST_COURTESY])
    attitude = False
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else None
        low = token.low.replace("’", "'")
        if low == "like" and before is not None and before.low in {"would", "'d", "d", "should", "i'd", "you'd"}:
            return -1  # what somebody would like is not so yet
        seam = before is not None and (
            before.low in {"that", ",", ":", "-", "–", "—", "!", ";"} or before.low in _ATTITUDES
        )
        opens = attitude and seam and low != "that" and token.tag in _SUBJECTS and low not in _PARTIES
        if opens and stands_alone(tokens[i:]) and not _praises(tokens[i:]) and not _interrupted(tokens[i:]):
            return token.start
        if low not in _TALK and low not in _ATTITUDES and token.tag not in {",", ":", "-", "–", "—", "!"}:
            return -1
        attitude = attitude or low in _ATTITUDES
    return -1


_POINTED = re.compile(_CITED, re.IGNORECASE)
_ASKS = re.compile(
    r"(?:and |but |so |or )?(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)\s(?!you\b|i\b|we\b)",
    re.IGNORECASE,
)
"""A question about a third that is answered by yes or no: what it names is what it asks."""


def _weighs(text: str) -> bool:
    """Whether a courtesy or a question holds more than talk: a number, a quotation, an identifier, many other words."""
    tokens = tokenise(_POINTED.sub("this", text[:_LONGEST_COURTESY]))
    other = [t for t in tokens if t.tag in _CONTENT and t.low.replace("’", "'") not in _TALK | _ATTITUDES]
    return (
        len(text) > _LONGEST_COURTESY
        or len(_UNSPACED.findall(text)) > _LETTERS_A_WORD * _TOPIC_WORDS
        or any(t.tag in {"NUM", "QUOTE"} and t.low != "one" for t in tokens)
        or "identifier" in critical_reasons(text, text)
        or len(other) > _TOPIC_WORDS
    )


def is_meta(text: str) -> bool:
    """Whether the whole sentence speaks of the conversation: a greeting, thanks, an offer, an introduction, a question.

    None that carries a statement, and none that presupposes a number or a name of things: "thank you for your payment
    of 500 dollars" says that it was paid.

    >>> is_meta("Let me know if you have questions."), is_meta("Here is a fact: it costs $5.")
    (True, False)
    >>> is_meta("Thank you for your payment of 500 dollars."), is_meta("Did you know that the fee is waived?")
    (False, False)
    """
    if is_question(text):
        asks = _ASKS.match(text) is not None and _CONTRACTED.match(text) is None
        return not _embeds(text) and (asks or not _weighs(text))
    plain = _META.fullmatch(text.strip()) is not None and _TURN.search(text) is None
    return plain and not _weighs(text) and not _embeds(text)


_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
"""Letters of scripts whose words no blanks part, or whose words carry their endings in few letters."""
_LETTERS_A_WORD = 2
_CONTRACTED = re.compile(r"\w+n['’]t\b", re.IGNORECASE)
_OFFERING = frozenset("can could would may might should have need want 'd".split())
_VERBS = frozenset({"AUX", "V", "VN", "VA"})
_EMBEDDING = frozenset({"that", "why", "since", "because", "how"})


def _embeds(text: str) -> bool:
    """Whether a clause about a third is embedded, stated or presupposed: `why S`, `the fact that S`, `glad S`."""
    if carried(text) >= 0:
        return True
    tokens = tokenise(text[:_LONGEST_COURTESY])
    for i, token in enumerate(tokens[:-2]):
        reason = token.low == "as" and i > 0 and tokens[i - 1].tag == ","
        if (token.low not in _EMBEDDING and not reason) or tokens[i + 1].tag in {"AUX", "V"}:
            continue
        named = sum(t.tag in _CONTENT and t.low.replace("’", "'") not in _TALK | _ATTITUDES for t in tokens[i + 2 :])
        offered = named <= 1 and (tokens[i + 2].tag != "AUX" or tokens[i + 2].low in _OFFERING)
        told = tokens[i + 1].low not in _PARTIES or tokens[i + 1].low == "there" or not offered
        asked = token.low == "how" and tokens[i + 1].low in {"much", "many", "long", "to"}
        if told and not asked and any(t.tag in _VERBS for t in tokens[i + 2 :]):
            return True
    return False


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


_COURTESY = re.compile(
    r"(?:(?:i am|i['’]m|we are|we['’]re) )?(?:so |very |really |truly )?(?:sorry|apologi|my apologies|congrat|thank|many thanks|"
    r"welcome|happy|glad|pleased|delighted|have a|good luck|i hope|hope|(?:please )?(?:let me know|feel free|don['’]t hesitate)|"
    r"i['’]d be|i would be|enjoy|best|kind|warm|well done|cheers|sincerely)",
    re.IGNORECASE,
)


def named_in_courtesy(text: str) -> list[str]:
    """The words of a courtesy that are none of talk: what it takes for granted, "delayed refund" in "sorry about the
    delayed refund"; none of what is no courtesy.

    >>> named_in_courtesy("Sorry about the delayed refund."), named_in_courtesy("Thank you for your patience!")
    (['delayed', 'refund'], [])
    """
    if _COURTESY.match(text.strip()) is None or text.rstrip().endswith((":", "?", "？")):
        return []
    words = [
        t.low.replace("’", "'") for t in tokenise(_POINTED.sub("this", text[:_LONGEST_COURTESY])) if t.tag in _CONTENT
    ]
    return [word for word in words if word not in _TALK | _ATTITUDES | _OF_COURTESY]


_OF_COURTESY = frozenset(
    """patience understanding inconvenience trouble confusion misunderstanding interest reading contacting reaching
    message request inquiry enquiry feedback day evening morning afternoon week weekend trip journey flight holiday
    regards wishes luck team service best kind warm apologies apologize apologise congratulations congrats cheers
    sincerely well done enjoy rest safe pleasant lovely concerns concern issue issues problem problems cause caused hear
    else today tomorrow soon clarification clarify explain explanation assistance helping one moment second back looking
    forward visit call touch appreciate provide provided giving give given able unable glad
    """.split()
)
"""What courtesies are made of."""


def names_topic(text: str) -> bool:
    """Whether an abstention says what it is that the evidence lacks, so that the evidence can refute it.

    >>> names_topic("I don't know."), names_topic("The documents do not mention a fee.")
    (False, True)
    """
    words = [t for t in tokenise(_POINTED.sub("this", text)) if t.tag in _CONTENT]
    return any(t.low.replace("’", "'") not in _TALK | _ATTITUDES | _OF_SILENCE for t in words)


_OF_SILENCE = frozenset(
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
"""Words with which a denial speaks of the evidence and of itself."""


def _spliced(text: str) -> int:
    """Where a statement that is only spliced on begins (`I cannot confirm it, partners get 9 weeks.`); -1 without
    one."""
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
    """Where a sentence that begins as an abstention turns to a claim (`I don't know, but ...`); -1 where it does
    not."""
    for turn in _turns(text):
        if is_abstention(text[: turn.start()]):
            return turn.end()
    spliced = _spliced(text)
    return spliced if spliced >= 0 and is_abstention(text[:spliced].rstrip(" ,:—–-")) else -1


def is_opinion(text: str, reasons: tuple[str, ...]) -> bool:
    """Whether the sentence is pure opinion: it says that it is, states nothing critical, and no clause about a third.

    >>> is_opinion("I love this song.", ()), is_opinion("I think the policy covers water damage.", ())
    (True, False)
    """
    match = _OPINION.search(text)
    if match is None or reasons or _weighs(text):
        return False
    tokens = tokenise(text)
    after = [i for i, token in enumerate(tokens) if token.start >= match.end()]
    inner = (tokens[i:] for i in after if tokens[i].tag in _SUBJECTS and tokens[i].low not in _PARTIES)
    return not any(find_verb(rest) > 0 and not _praises(rest) for rest in inner)


def _interrupted(tokens: Sequence[Token]) -> bool:
    """Whether a comma parts what would be the subject from its verb: `(I see) your point, but I am unable ...`."""
    return any(token.tag == "," for token in tokens[: find_verb(tokens)])


def _praises(tokens: Sequence[Token]) -> bool:
    """`it is lovely`: what the speaker makes of something already named."""
    return tokens[0].low == "it" and tokens[1].low in {"is", "was"} and len(tokens) <= _LONGEST_PRAISE


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
