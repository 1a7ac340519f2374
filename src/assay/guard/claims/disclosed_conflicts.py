"""Conflicts that the answer discloses itself: it reports both sides, each as the word of one source.

"One document says that members park for free. Another says that parking costs them 3 euros a day." takes no side,
although each of its sentences is supported by one source and contradicted by the other.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assay.guard.check.verdicts import Judged
from assay.guard.conflicts.source_matching import passage_share_in_claim, values_of
from assay.schema import EvidenceSpan, ExtractedClaim, Verdict
from assay.text.citations import POINTER
from assay.text.lexicon import find_words
from assay.text.sentences import split_sentences
from assay.verify.network import Judgement

_SAYS: Final = (
    r"(?:says?|said|states?|stated|mentions?|notes?|gives?|gave|has|reports?|claims?|puts?|names?|lists?|shows?|"
    r"speaks?)"
)
_OF_ONE: Final = re.compile(
    rf"\b{POINTER}\b|\baccording to\b"
    rf"|\b(?:the )?(?:one|other|another|former|latter|first|second|third)(?: one)? {_SAYS}\b",
    re.IGNORECASE,
)
"""A sentence that reports what one of the sources says."""
_BARE: Final = re.compile(
    r"(?:however, |but |here )?(?:the|these|both|two|our|your|all)(?: (?:the|given|provided|two|of|these))*"
    r" (?:sources?|documents?|passages?|texts?|excerpts?|results?) "
    r"(?:disagree|differ|conflict|diverge|contradict (?:each other|one another|themselves)"
    r"|are (?:inconsistent|at odds|contradictory))"
    r"(?: with (?:each other|one another))?(?: (?:on|about|in|over) (?:this|that|it|this point|this matter))?[.:!]?",
    re.IGNORECASE,
)
"""A sentence that says that the sources disagree, and nothing else."""
FULLY_SUPPORTED: Final = 0.99
"""The support of such a sentence if a disagreement was found and the output reports both sides."""
DISCLOSES: Final = 0.6
"""The share of a source's sentence, by the weight of its content words, that reports what the source says."""
MOST_CLAIMS: Final = 200
"""The most claims in conflict that are looked at."""


def without_disclosed_conflicts(
    claims: Sequence[ExtractedClaim], judged: Sequence[Judged], output: str
) -> Sequence[Judged]:
    """The judgements of claims, without the conflicts of which the output reports both sides.

    Args:
        claims: the checkable claims that were judged, in order.
        judged: their judgements.
        output: the text that they are in.
    """
    disputed = [at for at, one in enumerate(judged) if one.conflict is not None][:MOST_CLAIMS]
    if not disputed:
        return judged
    sides = [
        at
        for at, (claim, one) in enumerate(zip(claims, judged, strict=False))
        if one.verdict is Verdict.SUPPORTED and _reports_one_source(claim, output)
    ][:MOST_CLAIMS]
    found = list(judged)
    for at in disputed:
        conflict = judged[at].conflict
        if conflict is None or at not in sides:
            continue
        if any(
            _is_disclosed(claims[at], conflict[1], _sentence(claims[other], output), judged[other])
            for other in sides
            if other != at
        ):
            found[at] = replace(judged[at], conflict=None)
    if any(one is not other for one, other in zip(found, judged, strict=True)):
        found = [
            _as_supported(one) if _BARE.fullmatch(claim.text) else one
            for claim, one in zip(claims, found, strict=False)
        ]
    return found


def _as_supported(found: Judged) -> Judged:
    """The judgement of a sentence which says that the sources disagree, when they do."""
    if found.judgement is None:
        return found
    return replace(found, verdict=Verdict.SUPPORTED, judgement=Judgement(FULLY_SUPPORTED, 0.0), conflict=None)


def _sentence(claim: ExtractedClaim, output: str) -> str:
    return output[claim.sentence.start : claim.sentence.end]


def _reports_one_source(claim: ExtractedClaim, output: str) -> bool:
    return _OF_ONE.search(_sentence(claim, output)) is not None


def _is_disclosed(claim: ExtractedClaim, against: EvidenceSpan, disclosed: str, found: Judged) -> bool:
    """Whether another claim's sentence reports what the passage against this claim says, from the same source.

    Args:
        claim: the claim in conflict.
        against: the passage against it.
        disclosed: the other claim's sentence.
        found: the other claim's judgement.
    """
    sources = {span.evidence_id for span in found.spans if span.relation == "supports"}
    if found.conflict is not None:
        sources = {found.conflict[0].evidence_id}
    if against.evidence_id not in sources:
        return False
    sentences = [against.text[one.start : one.end] for one in split_sentences(against.text)] or [against.text]
    nearest = max(sentences, key=lambda sentence: passage_share_in_claim(claim.text, sentence))
    news = values_of(nearest) - values_of(claim.text)
    if news and news.isdisjoint(word.fold for word in find_words(disclosed).lexemes):
        return False
    return passage_share_in_claim(disclosed, nearest) >= DISCLOSES or (
        bool(news) and not passage_share_in_claim(nearest, nearest)
    )
