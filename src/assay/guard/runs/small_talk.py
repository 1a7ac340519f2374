"""Courtesies of an agent: sentences that keep a conversation going and assert nothing.

Thanks, wishes, sympathy, offers of help and plain refusals end nearly every run of a service agent. Checked against
evidence they come out unsupported, and keep honest runs from being emitted (measured on airline traces,
benchmarks/RESULTS.md). Only whole sentences without a number, a date, a name or an identifier count as courtesies; a
reason that is given with them is a claim, and so is a clause inside them that states something of the world: "I am
sorry that you are upset" is a courtesy, "I am sorry that the courier lost the parcel" says what happened.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from enum import Enum
from typing import Final, NamedTuple

from assay.guard.runs.user_statements import UserStatements, statements_of_users
from assay.schema import ClaimKind, ExtractedClaim
from assay.text.claims import find_verb
from assay.text.lexicon import MODAL, Token, render, tokenise

_HARMLESS: Final = frozenset({"commitment"})
"""Reasons for being critical that a courtesy may have, because it offers help."""
_LONGEST: Final = 240
_REASON: Final = re.compile(
    r"\b(?:because|due to|since|as (?:it|they|the|your|this)|which|whose|owing to|thanks to)\b"
    r"|\bby law\b|\b(?:under|according to|pursuant to|in (?:line|accordance) with)\b(?! *"
    r"(?:(?:the|our|my|your|this|that|these|those|any|current|present|given|such|its|\w+'s) ){0,3}"
    r"(?:polic(?:y|ies)|conditions?|circumstances?|guidelines?)\b)",
    re.IGNORECASE,
)
"""What gives a reason. An agent that names its own policy only refuses; one that names a law says what it says."""
_LEAD: Final = (
    r"(?:(?:you'?re (?:very )?welcome|thank you|thanks|great|certainly|of course|okay|otherwise)\b[^.!?]{0,60}[.!,] *)?"
)
_TAIL: Final = r"[^.!?;:,]{0,120}(?:,\ (?:and|or)\ (?:i'll\ be|take\ care)\b[^.!?;:,]{0,100})?"
"""A courtesy is one clause: what follows a comma may state something."""
_CONTACT: Final = r"(?:feel\ free|let\ me\ know|reach\ out|(?:don't|do\ not)\ hesitate|tell\ me)"
_STAFF: Final = r"(?:(?:human|live)\ )?(?:agents?|specialists?|representatives?|supervisors?|support|customer\ service)"
_COURTESY: Final = re.compile(
    rf"""{_LEAD.replace(" ", "[ ]")}(?:
    (?:if|whenever|should)\ you\b[^.!?]{{0,200}}?\b(?:please\ )?{_CONTACT}\b{_TAIL}
    |(?:please\ )?{_CONTACT}\b{_TAIL}
    |(?:safe\ travels?|take\ care|good\ luck)\b{_TAIL}(?:,\ and\ i\ hope\b[^.!?;:,]{{0,80}})?
    |(?:(?:given|in|under|considering)\ (?:the|these|your)\ circumstances?,[ ]
      |if\ (?:you|your|there|this|it)\b[^.!?;]{{0,140}},\ )?
      i\ (?:would\ |['’]d\ )?(?:recommend|suggest|advise)
      \ (?:contacting|speaking\ (?:to|with)|talking\ to|reaching\ out\ to)
      \ (?:an?|our|the)\ {_STAFF}(?:\ (?:who|that)\ (?:can|could|might|may|will|would)
      (?:\ (?:be\ able\ to|further|also|then))*
      \ (?:assist|help|investigate|explore|verify|review|look\ into|advise)\b[^.!?;:,]{{0,60}})?
    |(?:one|just\ a)\ (?:moment|second|minute)(?:,?\ please)?(?:\ while\b{_TAIL})?
    |(?:let\ me|i'll|i\ will|allow\ me\ to)\ (?:now\ |just\ |first\ |quickly\ ){{0,2}}
      (?:check|look|search|find|verify|see|pull\ up|retrieve|get|review|fetch)\b[^.!?;:,]{{0,100}}(?:,\ please)?
    |(?:have|enjoy)\ (?:a|your)\ (?:\w+\ (?:and\ \w+\ )?)?(?:day|trip|flight|journey|time|one)\b{_TAIL}
    |i\ hope\b[^.!?;:,]{{0,100}}
    |i\ (?:\w+\ )?(?:understand|empathi[sz]e|apologi[sz]e|appreciate)\b[^.!?;:,]{{0,80}}
    |i'?\ ?a?m\ (?:\w+\ )?sorry\ (?:to\ hear\ (?:about|of)|for|about)\ (?:your|the|this|that|any)(?:\ [\w'-]+){{1,4}}
    |i'?\ ?a?m\ (?:\w+\ )?sorry\ (?:that\ )?(?:this|it|you)\b[^.!?;:,]{{0,80}}
    |i'?\ ?(?:a?m|will\ be|'ll\ be)\ (?:here|happy|glad|ready)\ to\ (?:help|assist)\b{_TAIL}
    |you\ (?:may|might)\ (?:need|want|wish)\ to\ (?:contact|speak\ (?:to|with)|reach\ out\ to)
      \ (?:an?|our|the)\ {_STAFF}\b{_TAIL}
    |they\ (?:may|might|will|can|should)\ (?:be\ able\ to\ )?(?:further\ )?(?:assist|help)\ you\b{_TAIL}
    |i\ (?:still\ |will\ |would\ |do\ )?need\ (?:the|your)\ [^.!?;:,]{{1,60}}
      \ to\ (?:proceed|continue|assist|help)\b{_TAIL}
    )[.!]*""",
    re.IGNORECASE | re.VERBOSE,
)
_MISUNDERSTANDING: Final = re.compile(
    r"(?:it (?:seems|appears|looks like) (?:that )?)?there (?:was|is|has been|may have been)"
    r" (?:a|some) (?:misunderstanding|confusion)[.!]*",
    re.IGNORECASE,
)
_REFUSAL: Final = re.compile(
    r"(?:(?:unfortunately|i'?m sorry|however)\b,? *(?:but )?)?i(?:(?: am|'m) (?:unable|not able) to| cannot| can't)\b"
    r"[^.!?;:,]{0,160}[.!]*",
    re.IGNORECASE,
)
_HANDOVER: Final = re.compile(
    r"(?:(?:however|otherwise|alternatively),? *)?(?:(?:if you|for further)\b[^.!?]{0,140}, *)?"
    r"i (?:can|could|(?:would|will) need to) (?:transfer|connect|escalate)\b[^.!?,]{0,40}"
    r"\b(?:human|agent|specialist|representative|supervisor)\b[^.!?;:,]{0,90}[.!]*",
    re.IGNORECASE,
)
_BUT: Final = re.compile(r"\b(?:but|however|although)\b", re.IGNORECASE)
_SYMPATHY: Final = re.compile(
    r"i (?:\w+ )?(?:understand|empathi[sz]e with|appreciate) (?:your|the|this|how|that this)\b[^.!?;:,]{0,80}"
    r"(?:, (?:but|and|however,?)|\.) +(?:unfortunately,? +)?",
    re.IGNORECASE,
)
"""An opening of a reply; the statement after it is judged by itself."""

_CONTRACTED: Final = (
    (re.compile(r"\b(i)'m\b", re.IGNORECASE), r"\1 am"),
    (re.compile(r"\b(\w+)'re\b"), r"\1 are"),
    (re.compile(r"\b(\w+)'ve\b"), r"\1 have"),
    (re.compile(r"\b(\w+)'ll\b"), r"\1 will"),
    (re.compile(r"\b(\w+)'d\b"), r"\1 would"),
    (re.compile(r"\b(it|that|there|this|who|everything|what|he|she)'s\b", re.IGNORECASE), r"\1 is"),
    (re.compile(r"'s (?=(?:now|already|not|been|gone|lost)\b)", re.IGNORECASE), " is "),
)
_UNLISTED_PAST: Final = re.compile(r"[a-z]+[^e\W]ed")
"""A word that ends like the past of a verb that the word lists lack: "refunded", "cancelled"."""
_TAKEN_AS_SO: Final = frozenset(
    {"understand", "apologize", "apologise", "appreciate", "sorry", "empathize", "empathise", "apologies"}
)
"""Words after which a clause says what is the case."""
_LEFT_OPEN: Final = frozenset({"hope", "believe", "feel", "think", "suspect"})
"""Verbs after which a clause is wished or supposed."""
_UNTOLD: Final = frozenset({"confirm", "verify", "tell", "say", "guarantee", "promise", "know"})
"""What an agent cannot do with a clause that it leaves open: "I cannot confirm that it has arrived"."""
_INABILITY: Final = frozenset({"cannot", "can't", "unable", "not"})
_CONDITIONS: Final = frozenset({"if", "whether", "unless", "should"})
_SPEAKERS: Final = frozenset({"i", "we"})
_NOTHING: Final = frozenset({"this", "that", "it", "there", "everything", "things"})
"""Subjects that name nothing."""
_MATTERS: Final = frozenset({"situation", "experience", "news", "waiting", "wait", "delay", "delays"})
"""What a party has feelings about, if it has no words of its own beside an article or a pronoun."""
_UNWANTED: Final = re.compile(
    r"\bnot (?:quite |exactly )?what you (?:had )?(?:wanted|hoped|expected|were (?:hoping|expecting))"
    r"(?: to hear| for)?(?=[.!,]|$)",
    re.IGNORECASE,
)
"""A disappointment in the words of a statement."""
_MEANWHILE: Final = re.compile(
    r" (?:while|as) (?:i|we) (?:looked into|checked|reviewed|worked on) (?:this|it|that)(?: for you)?(?=[.!]*$)",
    re.IGNORECASE,
)
_RELATIVES: Final = frozenset({"who", "that"})
_PREDICATES: Final = frozenset({"AUX", "V", "VN"})
_FEELING: Final = re.compile(
    r"\b(?:feel(?:s|ing)?|frustrat(?:ed|ing)|disappoint(?:ed|ing)|upset(?:ting)?|concern(?:ed|ing)|worr(?:ied|ying)|"
    r"unhappy|sad|angry|anxious|confus(?:ed|ing)|stress(?:ed|ful)|annoy(?:ed|ing)|difficult|hard|important|inconvenient|"
    r"inconvenienced|unpleasant|urgent|eager|excit(?:ed|ing)|(?:having|had) (?:trouble|difficult(?:y|ies)|problems|"
    r"to wait)|happen(?:s|ed)?|have (?:any |some )?(?:questions|concerns)|occurred|"
    r"caused (?:you )?(?:any |some |this )?(?:trouble|inconvenience|stress|frustration)|"
    r"(?:took|taken|taking) the time|reach(?:ed|ing) out|waited|waiting)\b",
    re.IGNORECASE,
)
"""What a party feels, or that something happened, without saying what."""
_DEAR: Final = re.compile(r"(?:means?|matters?)(?: a lot| so much)? to you\b", re.IGNORECASE)
_UNABLE: Final = re.compile(r"(?:can ?not|can't|could not|couldn't|(?:am|are) (?:unable|not able))\b", re.IGNORECASE)


def is_courtesy(claim: ExtractedClaim, tools: Collection[str] = ()) -> bool:
    """Whether a claim of an agent's answer is a mere courtesy.

    Args:
        claim: the claim as it was extracted.
        tools: the names of the agent's tools; an offer to hand over counts only if one of them does so.
    """
    text = claim.text.strip().replace("\u2019", "'")
    if len(text) > _LONGEST or set(claim.critical) - _HARMLESS or any(char.isdigit() for char in text):
        return False
    if _MISUNDERSTANDING.fullmatch(text):
        return True
    if _REASON.search(text) or _states_something(text):
        return False
    if opening := _SYMPATHY.match(text):
        text = text[opening.end() :]
    if _HANDOVER.fullmatch(text):
        return any(word in name.lower() for name in tools for word in ("transfer", "escalat", "handoff", "hand_off"))
    if _BUT.search(text):
        return False
    return bool(_COURTESY.fullmatch(text) or _REFUSAL.fullmatch(text))


class _Mode(Enum):
    """How a clause stands in its sentence."""

    PLAIN = "plain"
    TAKEN_AS_SO = "taken as so"
    LEFT_OPEN = "left open"


class _Part(NamedTuple):
    """A stretch of a sentence that has at most one clause from its beginning."""

    words: list[Token]
    mode: _Mode
    opened: bool
    """Whether a word that takes a clause opens it."""


def _states_something(text: str) -> bool:
    """Whether a clause of a sentence states something of the world, and not only what a party feels, wants or can do.

    >>> _states_something("I am sorry that you are upset."), _states_something("I am sorry that the shop was shut.")
    (False, True)
    """
    for pattern, spelled in _CONTRACTED:
        text = pattern.sub(spelled, text)
    text = _MEANWHILE.sub("", _UNWANTED.sub("disappointing", text))
    subject = ""
    tokens = tokenise(text)
    words = [t._replace(tag="VN") if t.tag == "W" and _UNLISTED_PAST.fullmatch(t.low) else t for t in tokens]
    for part in _parts(words):
        begin, verbs = 0, _finite_verbs(part)
        open_ = part.mode is _Mode.LEFT_OPEN
        if not verbs and part.words and part.words[0].tag == "PRON":
            subject = part.words[0].low
        for at in verbs:
            named = [word for word in part.words[begin:at] if word.tag != "ADV" and word.low not in {"please", "just"}]
            if named:
                subject = named[-1].low
            rest = part.words[at:]
            mode = part.mode if named or subject not in _SPEAKERS else _Mode.PLAIN
            if not open_ and subject and not _is_harmless(subject, len(named), rest, mode):
                return True
            open_ = rest[0].low in _LEFT_OPEN
            begin = at + 1
    return False


def _parts(tokens: Sequence[Token]) -> Iterator[_Part]:
    """The sentence, cut where a clause can begin."""
    words: list[Token] = []
    mode, opened = _Mode.PLAIN, False
    for at, token in enumerate(tokens):
        before = tokens[at - 1].low if at else ""
        after = tokens[at + 1].tag if at + 1 < len(tokens) else ""
        relative = token.low in _RELATIVES and after in {*_PREDICATES, "ADV"}
        pronoun = token.low == "that" and (before in _CONDITIONS or before in _LEFT_OPEN)
        if token.tag in {",", ".", "!", ";", ":"} or token.tag in {"AND", "OR", "BUT"}:
            yield _Part(words, mode, opened)
            speaks = at + 1 < len(tokens) and tokens[at + 1].low in _SPEAKERS
            joined = token.tag in {"AND", "OR"} and mode is _Mode.TAKEN_AS_SO and not speaks
            words, mode, opened = [], mode if joined else _Mode.PLAIN, joined
        elif (token.tag == "SUB" or token.low == "that" or (token.low == "should" and not words)) and not pronoun:
            yield _Part(words, mode, opened)
            words, mode, opened = [token] if relative else [], _mode_after(tokens, at), True
        elif before in _TAKEN_AS_SO or (before == "hope" and at > 1):
            yield _Part(words, mode, opened)
            bare = token.tag != "PREP"
            words, mode, opened = [token], _Mode.TAKEN_AS_SO if before != "hope" else _Mode.LEFT_OPEN, bare
        else:
            words.append(token)
    yield _Part(words, mode, opened)


def _mode_after(tokens: Sequence[Token], at: int) -> _Mode:
    """How the clause stands that the word at `at` opens, by the words beside it."""
    opener, before = tokens[at].low, tokens[at - 1] if at else None
    felt = opener == "how" and at + 1 < len(tokens) and _FEELING.fullmatch(tokens[at + 1].low) is not None
    if felt or opener in _CONDITIONS or (before is not None and before.low in _LEFT_OPEN):
        return _Mode.LEFT_OPEN
    said = [token.low for token in tokens[:at]]
    if opener in {"that", "when", "where"} and not _UNTOLD.isdisjoint(said[-2:]) and not _INABILITY.isdisjoint(said):
        return _Mode.LEFT_OPEN
    taken = before is not None and (before.low in _TAKEN_AS_SO or before.tag in {"V", "VN"})
    return _Mode.TAKEN_AS_SO if taken and opener in {"that", "how", "why"} else _Mode.PLAIN


def _finite_verbs(part: _Part) -> list[int]:
    """The places of the finite verbs of a part of a sentence."""
    words = part.words
    first = find_verb(words) if part.opened else -1
    return [at for at in range(len(words)) if _is_finite(words, at) or (at == first and _is_sure(part, at))]


def _is_sure(part: _Part, at: int) -> bool:
    """Whether the word that could be the verb of a clause is one, and no participle or plural: "the delay caused"."""
    words = part.words
    after = words[at + 1].tag if at + 1 < len(words) else ""
    if words[at].tag == "VA":
        return after not in {"", "PREP"} or words[at - 1].low in _NOTHING
    return words[at].tag != "VN" or part.mode is not _Mode.TAKEN_AS_SO or after not in {"", "PREP"}


def _is_finite(words: Sequence[Token], at: int) -> bool:
    """Whether a word is a finite verb wherever it stands."""
    token = words[at]
    before = next((word for word in reversed(words[:at]) if word.tag != "ADV" and word.low != "not"), None)
    if token.tag not in {"AUX", "V", "VN", "VA"} or (
        before is not None and (before.tag == "AUX" or before.low == "to")
    ):
        return False
    if token.tag == "AUX":
        return True
    if before is None or before.tag in {"DET", "PREP"}:
        return token.tag == "V" and before is None
    after = words[at + 1].tag if at + 1 < len(words) else ""
    return token.tag == "V" or (before.tag in {"W", "NAME", "VA", "PRON"} and after in {"DET", "NUM", "PRON", "NAME"})


def _is_harmless(subject: str, length: int, rest: Sequence[Token], mode: _Mode) -> bool:
    """Whether a clause states nothing of the world.

    Args:
        subject: the last word of its subject.
        length: the number of words before its verb; a subject with words of its own names something.
        rest: the clause from its verb on.
        mode: how it stands in its sentence.
    """
    verb, said = rest[0].low, render(list(rest))
    if subject in _RELATIVES and length <= 1 and verb in MODAL:
        return True
    if subject in _SPEAKERS:
        past = verb in {"have", "had", "did", "was", "were"} or rest[0].tag in {"V", "VN"}
        return not past if mode is not _Mode.TAKEN_AS_SO else _UNABLE.match(said) is not None
    feels = _FEELING.search(said) is not None
    if subject == "you":
        wish = statements_of_users(f"You {said}", ()) is UserStatements.ALL
        return mode is not _Mode.TAKEN_AS_SO or feels or wish
    if subject == "they":
        return verb in MODAL and mode is not _Mode.TAKEN_AS_SO
    return (feels and (subject in _NOTHING or (subject in _MATTERS and length <= 2))) or _DEAR.match(said) is not None


def without_courtesies(claims: Sequence[ExtractedClaim], tools: Collection[str]) -> tuple[ExtractedClaim, ...]:
    """The claims, in which courtesies are not checkable and refusals are abstentions."""
    return tuple(
        claim.model_copy(update={"kind": _kind(claim), "checkable": False})
        if claim.checkable and is_courtesy(claim, tools)
        else claim
        for claim in claims
    )


def _kind(claim: ExtractedClaim) -> ClaimKind:
    text = claim.text.strip().replace("\u2019", "'")
    opening = _SYMPATHY.match(text)
    return ClaimKind.ABSTENTION if _REFUSAL.fullmatch(text, opening.end() if opening else 0) else ClaimKind.META
