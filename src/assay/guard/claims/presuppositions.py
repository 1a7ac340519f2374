"""What courtesies take for granted: of what neither the question nor the evidence knows, it is a claim.

"Sorry about the delayed refund" says that there is a refund and that it was delayed. Where the words stand in what was
asked, in the evidence, or in what the output claims and is checked for, the courtesy adds nothing; otherwise it does.
"""

from collections.abc import Sequence

from assay.guard.check.evidence_index import PreparedEvidence
from assay.schema import ClaimKind, ExtractedClaim
from assay.text.claims import named_in_small_talk
from assay.text.lexicon import find_words, lexeme


def with_courtesies(
    claims: Sequence[ExtractedClaim], evidence: PreparedEvidence, question: str | None
) -> tuple[ExtractedClaim, ...]:
    """The claims, those courtesies checkable that name something that is known from nowhere.

    Args:
        claims: what was read from the output.
        evidence: what it is checked against.
        question: what was asked.
    """
    known: set[str] | None = None
    out = []
    for claim in claims:
        named = named_in_small_talk(claim.text) if claim.kind is ClaimKind.META and not claim.checkable else []
        if named and known is None:
            said = [one.text for one in claims if one.checkable]
            known = {word.stem for text in (question or "", *said) for word in find_words(text).lexemes}
            known.update(*(passage.heading for passage in evidence.index.passages), evidence.index.postings)
        new = known is not None and any(lexeme(word).stem not in known for word in named)
        out.append(claim.model_copy(update={"checkable": True, "kind": ClaimKind.FACTUAL}) if new else claim)
    return tuple(out)
