# ruff: noqa: E501 one alternative of a pattern a line
# ruff: noqa: SIM905 word lists read better as running text
"""Whether a claim is critical (docs/concepts.md#claims): a number, a date, a citation, a name, an identifier, a
commitment.

The detection is deliberately simple: it decides which claims need more care, not what is true.
"""

import re

from assay.text.lexicon.lexemes import STOP_WORDS

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?|May(?=\s+\d))"
)
_DATE = re.compile(
    rf"\b{_MONTH}\b\.?|\b\d{{4}}-\d{{2}}(?:-\d{{2}})?\b|\b\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}\b|\b(?:1[5-9]|20|21)\d{{2}}s?\b"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b(?:yesterday|today|tomorrow|tonight)\b|\b\d{1,2}:\d{2}\b"
    r"|\b\d{1,2}\s?[ap]\.?m\b|\b(?:last|next|this)\s(?:year|month|week|quarter)\b|\d{1,4}[年月日]"
)
_NUMBER_WORDS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|trillion|dozen|half|twice|double[sd]?|triple[sd]?|first|second|third|percent"
_NUMBER = re.compile(
    rf"(?<![\w-])[$€£¥+-]?\d|\b(?:{_NUMBER_WORDS})\b|\d\s?%|[一二两三四五六七八九十百千万亿億]+[周年月日天个個人名元円週間]",
    re.IGNORECASE,
)
_CITATION = re.compile(
    r"\[\^?[\w.:#/ ,;\-–]{1,60}\](?!\()|【[^【】\n]{1,80}】|(?<=\w)[.,]?[⁰¹²³⁴-⁹]+(?!\w)|\b(?:et al\.?|ibid)|\([A-Z]\w+,? \d{4}\)"
    r"|\((?:source|see|ref)\b|\b(?:Section|Article|Clause|Chapter|Sec\.|Art\.|§)\s?\d|\b(?:according to|as stated in)\b",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"https?://\S|www\.\w|\b[\w.+-]{1,64}@[\w-]{1,64}\.\w|(?<![\w/])/\w[\w.-]*/\w|\b[A-Z]{2,10}-\d[\w-]*|\bv?\d+\.\d+\.\d+\b"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-|#\d{2,}|\b(?=\w{0,30}\d)(?=\w{0,30}[A-Z])[A-Z0-9]{6,30}\b|\b\w+_\w+\b|\b\w+\.(?:py|ya?ml|json|md|txt|pdf|csv|exe|js)\b"
)
_ENTITY = re.compile(r"(?<![.!?:]\s)(?<!^)(?<![\w'’\"“(])[A-Z][\w’'&.-]*\w|\b[A-Z]{2,}\w*\b|\b[A-Z]\w*[a-z][A-Z]\w*")
_OPENING_NAME = re.compile(r"^[\"“(]?[A-Z]\w+(?:\s(?:of\s|de\s|van\s|von\s)?[A-Z]\w+)+")
_OPENING_AGENT = re.compile(
    r"^[\"“(]?([A-Z][\w&-]{1,30})(?:['’]s\s\w|\s(?:(?:has|had|have|was|is|will)\s)?(?:been\s)?(?:also\s|recently\s|currently\s|later\s|first\s|never\s|not\s)?"
    r"(?:(?:paid|bought|acquired|purchased|sold|owns?|owned|founded|co-founded|born|married|divorced|died|wrote|composed|directed|starred|"
    r"invented|patented|hired|fired|employs?|employed|manufactures?|manufactured|announced|launched|unveiled|headquartered|incorporated|"
    r"merged|sued|signed|resigned|joined|graduated|enrolled|elected|appointed|nominated|knighted|emigrated|lived|lives|studied|studies|"
    r"said|told|won|lost|scored|defeated|coached|captained|conquered|annexed|invaded|borders)\b"
    r"|is\s(?:the\s|an?\s)?(?:capital|ceo|cto|cfo|author|founder|co-founder|president|chair|chairman|chairwoman|director|son|daughter|wife|husband)\sof\b))"
)
"""One capitalised word that opens the claim, followed by a verb or role that only people, companies and places have."""
_COMMON_AGENTS = frozenset(
    """everyone everybody someone somebody anyone anybody nobody everything nothing one two three another others
    management staff police parliament government leadership council court congress senate army labour labor industry
    business team company research evidence data press media crew audience public family half part whoever today
    yesterday tomorrow people men women children mankind humanity god king queen mother father nature demand supply
    revenue income profit leave coverage insurance software hardware equipment money water food time then there
    here let land deal judge parent please overall first second third last finally lastly also maybe perhaps once twice""".split()
)
_COMMON_ENDING = re.compile(r"(?:s|tion|sion|ment|ness|ity|ship|ance|ence|ing|ism|ware|age|ly|ology|hood|dom|body)$")
_NOT_NAMES = frozenset("I I'm I've I'll I'd OK PDF FAQ ID AM PM".split())
_COMMITMENT = re.compile(
    r"\b(?:I|we)(?:\s(?:will|shall|am going to|are going to|have(?:\sjust|\salready|\snow)?)|['’](?:ll|ve)(?:\sjust|\salready|\snow)?)\s"
    r"(?!be (?:happy|glad)|seen|found|read|been|no\b|not\b|never\b)\w+"
    r"|\b(?:I|we)\s(?:just\s|already\s)?(?:sent|booked|scheduled|cancell?ed|refunded|processed|submitted|created|updated|deleted|"
    r"transferred|ordered|issued|emailed|forwarded|escalated|confirmed|reserved|paid|changed|reset)\b"
    r"|\byour \w+(?: \w+)? (?:has|have) been (?:sent|booked|scheduled|cancell?ed|refunded|processed|submitted|created|updated|"
    r"deleted|transferred|ordered|issued|confirmed|reserved|changed|reset)\b|\bwe (?:guarantee|promise|commit)\b",
    re.IGNORECASE,
)


def has_commitment(text: str) -> bool:
    """Whether the text promises an action of the speaker or says that one was done.

    >>> has_commitment("I have booked your flight."), has_commitment("I have seen it.")
    (True, False)
    """
    return _COMMITMENT.search(text) is not None


def _opens_with_agent(claim: str) -> bool:
    """Whether the first word alone is a name, judged by the verb after it since every first word has a capital.

    Precise rather than complete: words with endings of plurals and mass nouns, which need no article, are left out.
    """
    match = _OPENING_AGENT.match(claim)
    if match is None:
        return False
    low = match.group(1).lower()
    return low not in STOP_WORDS and low not in _COMMON_AGENTS and _COMMON_ENDING.search(low) is None


def _has_entity(claim: str) -> bool:
    if _OPENING_NAME.match(claim) or _opens_with_agent(claim):
        return True
    return any(m.group() not in _NOT_NAMES and not re.fullmatch(_MONTH, m.group()) for m in _ENTITY.finditer(claim))


def critical_reasons(claim: str, source: str) -> tuple[str, ...]:
    """Why a claim is critical, in the order of docs/concepts.md#claims; empty where it is not.

    Args:
        claim: the text of the claim.
        source: the part of the output that it was read from, with citation markers.

    >>> critical_reasons("Acme paid $5 in May 2020.", "Acme paid $5 in May 2020 [1].")
    ('number', 'date', 'citation', 'entity')
    """
    undated = _DATE.sub(" ", claim)
    present = {
        "number": _NUMBER.search(undated) is not None,
        "date": _DATE.search(claim) is not None,
        "citation": _CITATION.search(source) is not None,
        "entity": _has_entity(undated),
        "identifier": _IDENTIFIER.search(claim) is not None,
        "commitment": has_commitment(claim),
    }
    return tuple(reason for reason, is_present in present.items() if is_present)
