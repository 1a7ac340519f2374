"""Courtesies that presuppose something which neither the question nor the evidence mentions are claims.

"Sorry about the delayed refund" implies that there is a refund and that it was delayed. If these words stand in the
question, in the evidence or in another checked claim of the output, the courtesy adds nothing; otherwise it does.
"""

from collections.abc import Sequence

from assay.guard.check.evidence_index import PreparedEvidence
from assay.schema import ClaimKind, ExtractedClaim
from assay.text.claims import named_in_small_talk
from assay.text.lexicon import find_words, lexeme


def with_courtesies(
    claims: Sequence[ExtractedClaim], evidence: PreparedEvidence, question: str | None
) -> tuple[ExtractedClaim, ...]:
    """The claims, in which courtesies that name something unmentioned elsewhere are checkable.

    Args:
        claims: the claims of the output.
        evidence: the evidence that they are checked against.
        question: the question that was asked.
    """
    known: set[str] | None = None
    completed = []
    for claim in claims:
        named = named_in_small_talk(claim.text) if claim.kind is ClaimKind.META and not claim.checkable else []
        if named and known is None:
            checked = [one.text for one in claims if one.checkable]
            known = {word.stem for text in (question or "", *checked) for word in find_words(text).lexemes}
            known.update(*(passage.heading for passage in evidence.index.passages), evidence.index.postings)
        new = known is not None and any(lexeme(word).stem not in known for word in named)
        completed.append(claim.model_copy(update={"checkable": True, "kind": ClaimKind.FACTUAL}) if new else claim)
    return tuple(completed)
