# ruff: noqa: E501, SIM905 one alternative of a pattern a line; word lists read better as running text
"""Joins a short answer and its question into one statement.

"16 weeks" in reply to "How long is the leave?" says that the leave is 16 weeks. A question followed by a short answer is
not a sentence, and a verifier that was made for sentences considers "Do partners get 4 weeks? Yes." supported by anything
that mentions partners and weeks. The statement has the question's words in the order of a statement, so that "yes" is as
wrong as what it affirms. It need not be good English, only plain ("the policy does cover it"); it is not displayed.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from assay.text.claims.clauses import stands_alone
from assay.text.lexicon import verbs
from assay.text.lexicon.tokens import PRONOUNS, Token, tokenise

_MAX_QUESTION_LENGTH: Final = 500
"""Characters; a longer question gives no statement."""
AGREEING: Final = (
    r"yes|yep|yeah|yup|true|correct|right|exactly|affirmative|indeed|absolutely|certainly|definitely|of course|sure|"
    r"surely|naturally|without (?:a )?doubt|(?:that|this|it)(?:['’]s| is) (?:right|correct|true|so)|"
    r"you(?:['’]re| are) (?:right|correct)|i (?:think|believe|suppose|guess) so|"
    r"ja|jawohl|doch|stimmt|richtig|oui|si|sí|sì|correcto|claro|sim|да|верно|так|tak|对|對|是|是的|是啊|没错|沒錯|"
    r"はい|ええ|そうです|네|예|نعم|evet|ano|igen|kyllä|jo"
)
"""Words that mean yes, as alternatives of a pattern."""
_NO: Final = (
    r"no|nope|nah|never|false|wrong|incorrect|negative|not at all|by no means|(?:certainly|definitely|absolutely|of "
    r"course|surely|probably|apparently|clearly) not|(?:that|this|it)(?:['’]s| is) (?:not (?:right|correct|true|so)|wrong|false|incorrect)|"
    r"i (?:think|believe|suppose|guess|am afraid) not|i (?:don['’]t|do not) (?:think|believe) so|"
    r"nein|non|não|нет|неверно|nie|不|不是|没有|沒有|いいえ|いや|아니요|아니오|لا|hayır|ne|nem|ei|nee|nej"
)
_AUX: Final = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|may|might|must|shall|should)"
_AUX_NOT: Final = rf"(?:{_AUX}(?: not|n['’]t)|cannot|can['’]t|won['’]t)"
_POLITE: Final = r"(?:[,.!\s]+(?:please|sir|madam|indeed|of course|certainly|absolutely))*"
_AGREES: Final = re.compile(
    rf"(?:(?:oh|well|hmm|ah)[,.!]?\s+)?(?:{AGREEING})(?:[,.!\s]+(?:they|it|he|she|we|you|i|there)\s{_AUX})?{_POLITE}\s*[.!。！]*",
    re.IGNORECASE,
)
_DENIES: Final = re.compile(
    rf"(?:(?:oh|well|hmm|ah)[,.!]?\s+)?(?:{_NO})(?:[,.!\s]+(?:they|it|he|she|we|you|i|there)\s{_AUX_NOT})?{_POLITE}\s*[.!。！]*",
    re.IGNORECASE,
)
_BARE_ECHO: Final = re.compile(
    rf"(?:they|it|he|she|we|you|i|there)\s(?:(?P<no>{_AUX_NOT})|{_AUX})\s*[.!]*", re.IGNORECASE
)
_OPENING: Final = re.compile(
    rf"\s*(?:(?P<yes>{AGREEING})|(?P<no>{_NO}))(?=\s*[,;:.!—–-]|\s+(?:because|since|as|but|and|they|it|he|she|we|you|i|there)\b)",
    re.IGNORECASE,
)
_CONFIRMATION_REQUEST: Final = re.compile(
    r"(?:is|was) (?:it|that|this) (?:true|so|right|correct|the case|a fact) that\s+|(?:do|did) you (?:know|think|agree) (?:that )?"
    r"|(?:can|could) you (?:please )?(?:confirm|tell me) (?:that|whether|if)\s+|(?:please )?(?:confirm|tell me) (?:that|whether|if)\s+",
    re.IGNORECASE,
)
_QUESTION_TAG: Final = re.compile(
    rf"[,.]?\s*(?:right|correct|true|yes|no|{_AUX}(?:n['’]t)?\s(?:it|they|he|she|we|you|i|there)(?: not)?)$",
    re.IGNORECASE,
)
_OPENING_WORDS: Final = re.compile(r"(?:(?:and|but|so|or|then|please|now|hi|hello|ok|okay|well)[,\s]+)+", re.IGNORECASE)
_PARTICIPLE: Final = re.compile(r".*(?:able|ible|ed|ing|en|ful|less|ous)$")
_WH: Final = frozenset("what which who whom whose when where how why".split())
_MEASURES: Final = frozenset(
    "long much many old far big large high tall wide deep heavy often soon fast late early expensive".split()
)


def agrees(text: str) -> bool | None:
    """True if the text only says yes, false if it only says no, none if it says anything else.

    >>> agrees("Yes, they do."), agrees("Certainly not!"), agrees("Yes, 4 weeks."), agrees("是的")
    (True, False, None, True)
    """
    stripped = text.strip().strip("*_\"“”'`")
    if len(stripped) > _MAX_YES_LENGTH:
        return None
    echo = _BARE_ECHO.fullmatch(stripped)
    if echo is not None:
        return echo["no"] is None
    if _DENIES.fullmatch(stripped) is not None:
        return False
    return True if _AGREES.fullmatch(stripped) is not None else None


_MAX_YES_LENGTH: Final = 60


def opening_word(text: str) -> tuple[int, int, bool] | None:
    """The range of the yes or no that opens a longer answer, and whether it is a yes; none where there is neither.

    >>> opening_word("No, the fee is 5 euros."), opening_word("Nothing is due.")
    ((0, 2, False), None)
    """
    match = _OPENING.match(text[:_MAX_YES_LENGTH])
    if match is None:
        return None
    name = "yes" if match["yes"] is not None else "no"
    return match.start(name), match.end(name), name == "yes"


@lru_cache(maxsize=256)
def asked_statement(question: str) -> str | None:
    """The content of a yes-or-no question as a statement; none for any other question.

    >>> asked_statement("Do partners get 4 weeks of leave?"), asked_statement("Is the fee waived for members?")
    ('partners do get 4 weeks of leave', 'the fee is waived for members')
    >>> asked_statement("Partners get 4 weeks, right?"), asked_statement("How long is it?")
    ('Partners get 4 weeks', None)
    """
    stripped = _last_question(question)
    if not stripped:
        return None
    so = _CONFIRMATION_REQUEST.match(stripped)
    if so is not None:
        stripped = stripped[so.end() :]
        return stripped if stands_alone(tokenise(stripped)) else None
    tagged = _QUESTION_TAG.search(stripped)
    if tagged is not None and (tagged[0].startswith(",") or stands_alone(tokenise(stripped[: tagged.start()]))):
        return stripped[: tagged.start()].rstrip(" ,")
    tokens = tokenise(stripped)
    if tokens[0].low in verbs.AUXILIARY:
        return _in_statement_order(stripped, tokens, 0)
    return stripped if stands_alone(tokens) and tokens[0].low not in _WH else None


@lru_cache(maxsize=256)
def denied_statement(question: str) -> str | None:
    """The denial of what `asked_statement` returns.

    >>> denied_statement("Do partners get 4 weeks?"), denied_statement("Partners get 4 weeks, right?")
    ('partners do not get 4 weeks', 'it is not so that Partners get 4 weeks')
    """
    stripped = _last_question(question)
    tokens = tokenise(stripped)
    asks = bool(tokens) and tokens[0].low in verbs.AUXILIARY and _CONFIRMATION_REQUEST.match(stripped) is None
    statement = _in_statement_order(stripped, tokens, 0, denied=True) if asks else None
    if statement is not None:
        return statement
    asked = asked_statement(question)
    return None if asked is None else f"it is not so that {asked}"


@lru_cache(maxsize=256)
def answer_as_statement(question: str, answer: str) -> tuple[str, int] | None:
    """The question with the short answer inserted as one statement, and the answer's offset in it; none if unsure.

    >>> answer_as_statement("How long is partner leave?", "16 weeks")
    ('partner leave is 16 weeks', 17)
    >>> answer_as_statement("Who gets two weeks?", "Partners."), answer_as_statement("When does the shop open?", "at nine")
    (('Partners gets two weeks', 0), ('the shop does open at nine', 19))
    >>> answer_as_statement("Tell me more.", "16 weeks") is None
    True
    """
    stripped = _last_question(question)
    answer_text = answer.strip().rstrip(".!")
    if (
        not stripped
        or _PHRASE.fullmatch(answer_text) is None
        or re.split(r"['’\s]", answer_text.lower(), maxsplit=1)[0] in PRONOUNS
    ):
        return None
    tokens = tokenise(stripped)
    at = next((i for i, t in enumerate(tokens[:4]) if t.low in _WH), -1)
    if at < 0 or (at and tokens[at - 1].tag != "PREP") or tokens[at].low == "why":
        return None
    aux = next((i for i in range(at + 1, len(tokens)) if tokens[i].low in verbs.AUXILIARY), -1)
    subject_asked = _asks_for_subject(tokens, at, aux)
    if subject_asked:
        rest = stripped[tokens[subject_asked].start :]
        return f"{answer_text} {rest}", 0
    if aux < 0 or aux - at > _MAX_WORDS_TO_VERB or aux + 1 >= len(tokens):
        return None
    statement = _in_statement_order(stripped, tokens, aux, has_predicate=False)
    if statement is None:
        return None
    preposition = (
        f"{stripped[: tokens[at].start].strip().lower()} " if at and not _opens_with_preposition(answer_text) else ""
    )
    joined = f"{statement} {preposition}"
    return joined + answer_text, len(joined)


_PHRASE: Final = re.compile(r"[^\W_][\w\s,.'’%$€£¥()/&+\-–]{0,120}|[$€£¥][\d.,]+")
"""A phrase that can replace a question word, unlike a label with its value, a row or a sign."""
_MAX_WORDS_TO_VERB: Final = 5
"""The most words between the question word and its verb: "how many days a week do"."""


_PAST_AUXILIARIES: Final = frozenset({"did", "was", "were", "had"})


def presupposed(question: str) -> str | None:
    """What a question presupposes about anyone but the two parties, as a statement; none where it presupposes nothing.

    "Why is it so" presupposes that it is, and "when was it done" that it was. Possibilities, and questions about the
    parties to the conversation, presuppose nothing.

    >>> presupposed("Why does the policy cover water damage?"), presupposed("Who approved the free upgrade?")
    ('the policy does cover water damage', 'somebody approved the free upgrade')
    >>> presupposed("What is your order number?"), presupposed("Why do you ask?")
    (None, None)
    >>> presupposed("Doesn't the approval take 9 weeks?"), presupposed("Are the 9 weeks of leave too long for you?")
    ('the approval does take 9 weeks', 'there are 9 weeks of leave')
    """
    stripped = _last_question(question)
    tokens = tokenise(stripped)
    if len(tokens) < _MIN_TOKENS:
        return None
    if tokens[0].low in verbs.AUXILIARY:
        agreed = tokens[0].low.endswith(("n't", "n’t")) and tokens[1].low not in _PARTIES
        return (_in_statement_order(stripped, tokens, 0) if agreed else None) or _known_amount(stripped)
    if tokens[0].low not in _WH:
        return None
    low, following = tokens[0].low, tokens[1]
    if low == "who" and following.tag in {"V", "VN"}:
        return f"somebody {stripped[following.start :]}"
    aux = 1 if low in {"why", "when", "where", "how"} else 0
    if (
        not aux
        or following.low not in verbs.AUXILIARY - verbs.MODAL
        or (low != "why" and following.low not in _PAST_AUXILIARIES)
    ):
        return None
    if len(tokens) < _MIN_TOKENS + 1 or tokens[2].low in {"you", "i", "we", "n't", "not", "it", "this", "that"}:
        return None
    return _in_statement_order(stripped, tokens, aux)


def _known_amount(question: str) -> str | None:
    """The amount that a question presupposes: "Are the 9 weeks of leave enough?"."""
    found = _KNOWN_AMOUNT.search(question)
    return f"there are {found[1]}" if found is not None else None


_KNOWN_AMOUNT: Final = re.compile(
    r"\bthe\s((?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s(?!of\b)[a-z]+s"
    r"(?:\sof\s(?:the\s)?[a-z]+)?)\b",
    re.IGNORECASE,
)
_PARTIES: Final = frozenset({"you", "i", "we", "it", "this", "that", "there"})
_MIN_TOKENS: Final = 4
"""The fewest tokens of a question that presupposes something."""


def _last_question(question: str) -> str:
    """The last question of a text, without opening words and the question mark."""
    text = " ".join(question[-_MAX_QUESTION_LENGTH:].split()) if len(question) <= _MAX_QUESTION_LENGTH else ""
    pieces = [one for one in re.split(r"(?<=[.!?])\s+", text) if one.strip()]
    asking = [one for one in pieces if one.rstrip().endswith("?")] or pieces[-1:]
    if not asking:
        return ""
    last = asking[-1].strip()
    return last[(front.end() if (front := _OPENING_WORDS.match(last)) else 0) :].rstrip(" ?!.")


def _opens_with_preposition(answer_text: str) -> bool:
    return tokenise(answer_text[:60])[0].tag == "PREP"


def _asks_for_subject(tokens: Sequence[Token], at: int, aux: int) -> int:
    """The index of the verb whose subject the question words are (`Who gets`, `How many people work`); 0 if not."""
    if tokens[at].low not in {"who", "what", "which", "how"} or at:
        return 0
    verb = next(
        (i for i in range(1, min(len(tokens), _MAX_WORDS_TO_VERB + 1)) if tokens[i].tag in {"V", "VN", "VA"}), 0
    )
    if tokens[at].low == "who" and aux == 1 and len(tokens) > aux + 1:
        following = tokens[aux + 1]
        if following.tag in {"VN", "V", "PREP"} or (tokens[aux].low in verbs.MODAL and following.low in verbs.BASE):
            return aux  # `Who is entitled to it`, `Who can approve`
    if verb and (aux < 0 or verb < aux):
        return verb
    if tokens[at].low == "how" and len(tokens) > 3 and tokens[1].low == "many" and aux < 0:
        return next((i for i in range(3, len(tokens)) if tokens[i].low in verbs.BASE), 0)
    return 0


def _in_statement_order(
    stripped: str, tokens: Sequence[Token], aux: int, *, has_predicate: bool = True, denied: bool = False
) -> str | None:
    """The words after an auxiliary that precedes its subject, with the auxiliary moved after the subject.

    "Isn't it free?" is answered by "yes" where it is free, so its negation is left out. Where the question asks for the
    predicate (not `has_predicate`), all words after a form of `be` but a participle are the subject.
    """
    rest = list(tokens[aux + 1 :])
    if not rest:
        return None
    end = (
        _subject_length(rest, tokens[aux].low)
        if has_predicate or tokens[aux].low not in verbs.BE
        else _question_subject_length(rest)
    )
    if not end:
        return None
    verb = tokens[aux].text.lower()
    first = stripped[rest[0].start : rest[end - 1].end]
    last = stripped[rest[end].start :] if end < len(rest) else ""
    verb = verb[:-3] if verb.endswith(("n't", "n’t")) else verb
    verb = {"ca": "can", "wo": "will"}.get(verb, verb)
    return " ".join(f"{first} {verb} {'not ' if denied else ''}{last.removeprefix('not ')}".split())


def _question_subject_length(rest: Sequence[Token]) -> int:
    """The number of words after a form of `be` that are asked about: all but a participle and what follows it."""
    return next(
        (i for i in range(1, len(rest)) if _is_participle(rest[i]) and rest[i - 1].tag not in {"DET", "PREP", "ADV"}),
        len(rest),
    )


def _subject_length(rest: Sequence[Token], aux: str) -> int:
    """The number of words that are the subject of a question; 0 where that is uncertain."""
    if rest[0].tag == "PRON" or rest[0].low in {"it", "there", "he", "she", "they", "we", "you", "i", "this", "that"}:
        lone = rest[0].low not in {"this", "that", "these"} or len(rest) < 2 or rest[1].tag not in {"W", "NAME", "VA"}
        if lone:
            return 1
    if aux in verbs.BE or (aux in verbs.HAVE and not any(_is_participle(t) for t in rest[1:])):
        return _length_before_predicate(rest)
    if aux in verbs.HAVE:
        return next((i for i in range(1, len(rest)) if _is_participle(rest[i])), 0)
    led = False
    for i in range(1, len(rest)):
        before = rest[i - 1]
        led = before.tag in {"DET", "PREP"} or before.low == "to"
        if rest[i].low in verbs.BASE | {"be", "have", "do"} and not led and not _verb_follows(rest, i):
            return i
    return 0


def _verb_follows(rest: Sequence[Token], i: int) -> bool:
    """Whether a verb follows directly, so that this word is part of the subject (`does the cover plan include`)."""
    following = rest[i + 1 : i + 2]
    return bool(following) and following[0].low in verbs.BASE and following[0].tag == "W"


def _is_participle(token: Token) -> bool:
    return token.tag in {"VN", "V"} or token.low in verbs.PARTICIPLE or token.low == "been"


def _length_before_predicate(rest: Sequence[Token]) -> int:
    """The index at which the predicate begins after a form of `be`: the first word that cannot be in the subject."""
    inside = False
    for i in range(1, len(rest)):
        token, before = rest[i], rest[i - 1]
        if before.tag == "PREP":
            inside = True
        opens = token.tag in {"DET", "NUM", "ADV", "QUOTE"} and before.tag not in {"PREP", "DET", "NUM", "ADV"}
        states = (_is_participle(token) or _PARTICIPLE.match(token.low)) and before.tag not in {"DET", "PREP", "ADV"}
        if opens or states or token.low in {"not", "more", "less"}:
            return i
        if token.tag == "PREP" and inside:
            return i
    led = next((i for i in range(1, len(rest)) if rest[i].tag == "PREP" or rest[i].low in {"than", "to"}), len(rest))
    if led == len(rest):
        return len(rest) - 1 if len(rest) > 1 and rest[-2].tag not in {"DET", "PREP"} else len(rest)
    of = rest[led].low == "of"
    return led - 1 if led > 1 and not of and rest[led - 2].tag not in {"DET", "PREP"} else led if not of else len(rest)
