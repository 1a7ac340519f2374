"""Citations within a check: they are found, paired with their statements for the network, and finished afterwards."""

import re
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
"""The length of a statement, in characters, from which finding it in the evidence with its mark is no coincidence."""
LONGEST_COPY = 2_000
"""The most characters, from a statement to the end of its mark, that are looked for in the evidence. A longer text is
held to its citation: a row of marks has one statement, and each would be looked for with all marks before it."""
MOST_PLACES = 100
"""The most places of the evidence, of those that end in the same `SHORTEST_COPY` characters, that a statement with its
mark is compared with. Where it stands only at a later one, it is held to its citation."""
Prepare = Callable[[Sequence[Evidence]], PreparedEvidence]


@dataclass(frozen=True, slots=True)
class Citing:
    """The citations of an output and the jobs that judge them."""

    objects: tuple[Mapping[str, Any], ...] = ()
    """Citation objects as they were given."""
    citations: tuple[Citation, ...] = ()
    resolved: tuple[ResolvedCitation, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    """Evidence id and statement of each of the first jobs."""
    passages: tuple[tuple[str, str], ...] = ()
    """Cited passage and statement of each of the remaining jobs."""
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
    """Finds and resolves the citations and creates the jobs that judge them; nothing if citations are off.

    If there are more pairs than the limit, only the first are judged; a citation that needs another one is unchecked.
    """
    objects = tuple(request.citations or ())
    if policy.citations == "off":
        return Citing(objects)
    written = find_citations(text, source_names(evidence.evidence))
    citations = (
        *without_copies(written, text, evidence.evidence),
        *read_citation_objects(objects, text, evidence.given_order),
    )
    by_name = {item.id: item for item in evidence.evidence}
    resolved = tuple(resolve_citations(citations, [by_name[name] for name in evidence.given_order], claims))
    pairs = tuple(pending_pairs(resolved))[: limits.citation_pairs]
    passages = tuple(pending_passages(resolved)) if policy.citations == "strict" else ()
    passages = passages[: limits.citation_pairs - len(pairs)]
    by_id = {name: prepare([by_name[name]]) for name in {name: None for name, _ in pairs}}
    jobs = [Job(statement, by_id[name]) for name, statement in pairs]
    jobs += [Job(statement, prepare([Evidence(id="cited", text=passage)])) for passage, statement in passages]
    return Citing(objects, citations, resolved, pairs, passages, tuple(jobs))


def without_copies(written: Sequence[Citation], text: str, evidence: Sequence[Evidence]) -> list[Citation]:
    """The marks without those that were copied with their statement from the evidence, whose own sources they name.

    A sentence of an encyclopedia ends with a footnote; an answer that quotes it with its `[3]` does not cite evidence.
    """
    cited = [_cited(citation, text) for citation in written]
    long_enough = [one for one in cited if one is not None]
    if not long_enough:
        return list(written)
    places = _Places(long_enough, [" ".join(item.text.split()) for item in evidence])
    return [one for one, words in zip(written, cited, strict=True) if words is None or not places.have(words)]


def _cited(citation: Citation, text: str) -> str | None:
    """A statement with its mark, white space as single spaces; None if it is too short or too long to be a copy."""
    if citation.end - citation.cited_start > LONGEST_COPY:
        return None
    words = " ".join(text[citation.cited_start : citation.end].split())
    return words if len(words) - len(citation.marker) >= SHORTEST_COPY else None


class _Places:
    """Where in the evidence texts may end, found in one pass, so that not each text is looked for in all of it."""

    def __init__(self, texts: Sequence[str], plain: Sequence[str]) -> None:
        self._plain = plain
        self._ends: dict[str, list[tuple[int, int]]] = {one[-SHORTEST_COPY:]: [] for one in texts}
        last = re.compile(f"[{re.escape(''.join(sorted({one[-1] for one in texts})))}]")
        for at, words in enumerate(plain):
            for match in last.finditer(words):
                ends = self._ends.get(words[max(0, match.end() - SHORTEST_COPY) : match.end()])
                if ends is not None and len(ends) < MOST_PLACES:
                    ends.append((at, match.end()))

    def have(self, text: str) -> bool:
        """Whether one of the texts stands in the evidence."""
        return any(self._plain[at].endswith(text, 0, end) for at, end in self._ends[text[-SHORTEST_COPY:]])


def end_citations(
    citing: Citing,
    judged: Sequence[Judged],
    claims: Sequence[ExtractedClaim],
    of_claims: Sequence[Judged],
    policy: Policy,
) -> tuple[CitationReport, ...]:
    """The reports of all citations, from the judgements of their jobs and of the claims."""
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
    """The issue of a citation that does not hold; none for one that does."""
    if citation.status == "verified":
        return None
    return Issue(code=f"citation.{citation.status}", message=citation.message, span=citation.span)


@dataclass(frozen=True, slots=True)
class Attachments:
    """The claims at which each citation is reported."""

    at_claim: Mapping[int, Sequence[CitationReport]]
    """The citations of a claim, by its place among all claims."""
    loose: tuple[CitationReport, ...]
    """The citations that belong to no claim."""


def attach(claims: Sequence[ExtractedClaim], citations: Sequence[CitationReport]) -> Attachments:
    """Assigns every citation to the claims at which it is reported.

    These are the checkable claims of the sentence that contains its marker, or, if the citation names its statement,
    only those in it. Where there are none, it is the last claim before the marker with the cited text, or else the
    first one after it.
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
