"""Citations within a check: found, paired with their statements for the network, and finished once it has spoken."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from assay.guard.check.evidence_index import Limits, PreparedEvidence
from assay.guard.check.verdicts import Job, Judged
from assay.guard.request import CheckRequest
from assay.policy import Policy
from assay.schema import CitationReport, Evidence, ExtractedClaim, Issue
from assay.text.citations import Citation, find_citations, read_citation_objects
from assay.verify.citations import (
    ResolvedCitation,
    finish_citations,
    missing_citations,
    pending_pairs,
    pending_passages,
    resolve_citations,
    source_names,
)

SHORTEST_COPY = 20
"""Characters of a statement from which finding it in the evidence, its mark included, is no accident."""
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

    def uncited(self, claims: Sequence[ExtractedClaim]) -> Sequence[ExtractedClaim]:
        """The claims that have no citation."""
        return missing_citations(claims, self.citations)


def begin_citations(
    request: CheckRequest,
    text: str,
    evidence: PreparedEvidence,
    claims: Sequence[ExtractedClaim],
    policy: Policy,
    prepare: Prepare,
    limits: Limits,
) -> Citing:
    """Find and resolve the citations and list what the network has to say about them; none where they are off.

    Of more pairs than the limit the first are judged; a citation that needs one of the others comes out unchecked.
    """
    objects = tuple(request.citations or ())
    if policy.citations == "off":
        return Citing(objects)
    written = find_citations(text, source_names(evidence.evidence))
    plain = [" ".join(item.text.split()) for item in evidence.evidence] if written else []
    found = (
        *(one for one in written if not _copied(one, text, plain)),
        *read_citation_objects(objects, text, evidence.given_order),
    )
    by_name = {item.id: item for item in evidence.evidence}
    resolved = tuple(resolve_citations(found, [by_name[name] for name in evidence.given_order], claims))
    pairs = tuple(pending_pairs(resolved))[: limits.citation_pairs]
    passages = tuple(pending_passages(resolved)) if policy.citations == "strict" else ()
    passages = passages[: limits.citation_pairs - len(pairs)]
    by_id = {name: prepare([by_name[name]]) for name in {name: None for name, _ in pairs}}
    jobs = [Job(statement, by_id[name]) for name, statement in pairs]
    jobs += [Job(statement, prepare([Evidence(id="cited", text=passage)])) for passage, statement in passages]
    return Citing(objects, found, resolved, pairs, passages, tuple(jobs))


def _copied(citation: Citation, text: str, plain: Sequence[str]) -> bool:
    """Whether a mark was copied with its statement out of the evidence, where it names a source of the evidence's own.

    A sentence of an encyclopedia ends in its footnote; who quotes it with its `[3]` cites nothing of ours.
    """
    said = " ".join(text[citation.cited_start : citation.end].split())
    if len(said) - len(citation.marker) < SHORTEST_COPY:
        return False
    return any(said in evidence for evidence in plain)


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
    supports = [_support(one) for one in judged]
    pairs, passages = supports[: len(citing.pairs)], supports[len(citing.pairs) :]
    checkable = (claim for claim in claims if claim.checkable)
    elsewhere = {
        claim.text: (one.spans[0].evidence_id, one.judgement.support)
        for claim, one in zip(checkable, of_claims, strict=False)
        if one.judgement is not None and one.spans and one.spans[0].relation == "supports"
    }
    return tuple(
        finish_citations(
            citing.resolved,
            dict(zip(citing.pairs, pairs, strict=True)),
            elsewhere,
            threshold=policy.support_threshold,
            strict=policy.citations == "strict",
            passages=dict(zip(citing.passages, passages, strict=True)),
        )
    )


def _support(judged: Judged) -> float | None:
    return judged.judgement.support if judged.judgement is not None else None


def citation_issue(citation: CitationReport) -> Issue | None:
    """What a citation that does not hold is reported as; nothing for one that does."""
    if citation.status == "verified":
        return None
    return Issue(code=f"citation.{citation.status}", message=citation.message, span=citation.span)


@dataclass(frozen=True, slots=True)
class Attachments:
    """Which claim each citation is reported at."""

    at_claim: Mapping[int, Sequence[CitationReport]]
    """By the claim's place among all claims."""
    loose: tuple[CitationReport, ...]
    """Those that follow no claim."""


def attach(claims: Sequence[ExtractedClaim], citations: Sequence[CitationReport]) -> Attachments:
    """Give every citation to the claims that it is reported at.

    These are the checkable claims of the sentence that its marker is in, of several only those that it is cited
    for; where there are none, the last claim before it with the text that it is cited for, else the first one after.
    """
    places = sorted((i for i, claim in enumerate(claims) if claim.checkable), key=lambda i: claims[i].sentence.start)
    starts = [claims[i].sentence.start for i in places]
    reach = list(accumulate((claims[i].sentence.end for i in places), max))
    same_text: dict[str, list[int]] = {}
    for i in places:
        same_text.setdefault(claims[i].text, []).append(i)
    at_claim: dict[int, list[CitationReport]] = {}
    loose: list[CitationReport] = []
    for citation in citations:
        at = citation.span.start
        before = bisect_right(starts, at)
        found: list[int] = []
        while before and reach[before - 1] >= at:
            before -= 1
            claim = claims[places[before]]
            if claim.sentence.end >= at and (citation.claim is None or claim.text in citation.claim):
                found.append(places[before])
        if not found and citation.claim in same_text:
            equal = same_text[citation.claim]
            found = [equal[max(0, bisect_right(equal, at, key=lambda i: claims[i].sentence.start) - 1)]]
        for i in found:
            at_claim.setdefault(i, []).append(citation)
        if not found:
            loose.append(citation)
    return Attachments(at_claim, tuple(loose))
