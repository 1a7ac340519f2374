"""Citations within a check: found, paired with their statements for the network, and finished once it has spoken."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.guard.judging import Job, Judged
from assay.guard.prepared import PreparedEvidence
from assay.guard.request import CheckRequest
from assay.policy import Policy
from assay.schema import CitationReport, Evidence, ExtractedClaim, Issue
from assay.text.citation_objects import read_citation_objects
from assay.text.citations import Citation, find_citations
from assay.verify.citation import (
    ResolvedCitation,
    finish_citations,
    missing_citations,
    pending_pairs,
    pending_passages,
    resolve_citations,
)
from assay.verify.source_index import source_names

Prepare = Callable[[Sequence[Evidence]], PreparedEvidence]


@dataclass(frozen=True, slots=True)
class Citing:
    """The citations of an output and what has to be judged about them."""

    objects: tuple[Mapping[str, Any], ...] = ()
    """Citation objects as they were given."""
    citations: tuple[Citation, ...] = ()
    resolved: tuple[ResolvedCitation, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    """Evidence id and statement, one for each of the first jobs."""
    passages: tuple[tuple[str, str], ...] = ()
    """Cited passage and statement, one for each of the other jobs."""
    jobs: tuple[Job, ...] = ()

    def uncited(self, claims: Sequence[ExtractedClaim]) -> int:
        """How many of the claims have no citation."""
        return len(missing_citations(claims, self.citations))


def begin_citations(
    request: CheckRequest,
    text: str,
    evidence: PreparedEvidence,
    claims: Sequence[ExtractedClaim],
    policy: Policy,
    prepare: Prepare,
) -> Citing:
    """Find and resolve the citations and list what the network has to say about them; none where they are off."""
    objects = tuple(request.citations or ())
    if policy.citations == "off":
        return Citing(objects)
    found = (
        *find_citations(text, source_names(evidence.evidence)),
        *read_citation_objects(objects, text, evidence.given_order),
    )
    by_name = {item.id: item for item in evidence.evidence}
    resolved = tuple(resolve_citations(found, [by_name[name] for name in evidence.given_order], claims))
    pairs = tuple(pending_pairs(resolved))
    passages = tuple(pending_passages(resolved)) if policy.citations == "strict" else ()
    by_id = {item.id: prepare([item]) for item in evidence.evidence if any(name == item.id for name, _ in pairs)}
    jobs = [Job(statement, by_id[name]) for name, statement in pairs]
    jobs += [Job(statement, prepare([Evidence(id="cited", text=passage)])) for passage, statement in passages]
    return Citing(objects, found, resolved, pairs, passages, tuple(jobs))


def end_citations(
    citing: Citing,
    judged: Sequence[Judged],
    claims: Sequence[ExtractedClaim],
    of_claims: Sequence[Judged],
    policy: Policy,
) -> tuple[CitationReport, ...]:
    """The reports of all citations, given what the tiers found of their jobs and of the claims."""
    if not citing.resolved:
        return ()
    scores = dict(zip((*citing.pairs, *citing.passages), (_support(one) for one in judged), strict=True))
    checkable = (claim for claim in claims if claim.checkable)
    elsewhere = {
        claim.text: (one.spans[0].evidence_id, one.judgement.support)
        for claim, one in zip(checkable, of_claims, strict=False)
        if one.judgement is not None and one.spans and one.spans[0].relation == "supports"
    }
    return tuple(
        finish_citations(
            citing.resolved,
            {pair: scores[pair] for pair in citing.pairs},
            elsewhere,
            threshold=policy.support_threshold,
            strict=policy.citations == "strict",
            passages={pair: scores[pair] for pair in citing.passages},
        )
    )


def _support(judged: Judged) -> float | None:
    return judged.judgement.support if judged.judgement is not None else None


def citation_issue(citation: CitationReport) -> Issue | None:
    """What a citation that does not hold is reported as; nothing for one that does."""
    if citation.status == "verified":
        return None
    return Issue(code=f"citation.{citation.status}", message=citation.message, span=citation.span)


def attached_to(claim: ExtractedClaim, citation: CitationReport) -> bool:
    """Whether a citation is reported at a claim: its marker or its statement stands there."""
    inside = claim.sentence.start <= citation.span.start < claim.sentence.end + 1
    return claim.checkable and (claim.text == citation.claim or (inside and _only_marker_near(claim, citation)))


def _only_marker_near(claim: ExtractedClaim, citation: CitationReport) -> bool:
    return citation.claim is None or claim.text in citation.claim
