"""Courtesies of an agent: sentences that keep a conversation going and assert nothing.

Thanks, wishes, sympathy, offers of help and plain refusals end nearly every run of a service agent. Checked against
evidence they come out unsupported, and keep honest runs from being emitted (measured on airline traces,
benchmarks/RESULTS.md). Only whole sentences without a number, a date, a name or an identifier count as courtesies; a
reason that is given with them is a claim.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from assay.schema import ClaimKind, ExtractedClaim

_HARMLESS: Final = frozenset({"commitment"})
"""Reasons for being critical that a courtesy may have, because it offers help."""
_LONGEST: Final = 240
_REASON: Final = re.compile(r"\b(?:because|due to|since|as (?:it|they|the|your|this)|which|whose)\b", re.IGNORECASE)
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
    |i'?\ ?(?:a?m|will\ be|'ll\ be)\ (?:here|happy|glad|ready)\ to\ (?:help|assist)\b{_TAIL}
    |you\ (?:may|might)\ (?:need|want|wish)\ to\ (?:contact|speak\ (?:to|with)|reach\ out\ to)
      \ (?:an?|our|the)\ {_STAFF}\b{_TAIL}
    |they\ (?:may|might|will|can|should)\ (?:be\ able\ to\ )?(?:further\ )?(?:assist|help)\ you\b{_TAIL}
    |(?:it\ (?:seems|appears|looks\ like)\ (?:that\ )?)?there\ (?:was|is|has\ been|may\ have\ been)
      \ (?:a|some)\ (?:misunderstanding|confusion)
    |i\ (?:still\ |will\ |would\ |do\ )?need\ (?:the|your)\ [^.!?;:,]{{1,60}}
      \ to\ (?:proceed|continue|assist|help)\b{_TAIL}
    )[.!]*""",
    re.IGNORECASE | re.VERBOSE,
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


def is_courtesy(claim: ExtractedClaim, tools: Collection[str] = ()) -> bool:
    """Whether a claim of an agent's answer is a mere courtesy.

    Args:
        claim: the claim as it was extracted.
        tools: the names of the agent's tools; an offer to hand over counts only if one of them does so.
    """
    text = claim.text.strip().replace("\u2019", "'")
    if len(text) > _LONGEST or set(claim.critical) - _HARMLESS or any(char.isdigit() for char in text):
        return False
    if _REASON.search(text):
        return False
    if opening := _SYMPATHY.match(text):
        text = text[opening.end() :]
    if _HANDOVER.fullmatch(text):
        return any(word in name.lower() for name in tools for word in ("transfer", "escalat", "handoff", "hand_off"))
    if _BUT.search(text):
        return False
    return bool(_COURTESY.fullmatch(text) or _REFUSAL.fullmatch(text))


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
