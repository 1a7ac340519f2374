"""Decides how far each citation holds: the four levels of docs/concepts.md#citations.

1. `resolve_citations` finds the evidence of every cited source, the statements that it is cited for, and whether quoted
   words and numbered sections are there.
2. `pending_pairs` (and `pending_passages` for level 4) lists the pairs that need an entailment score; the caller scores
   them together with everything else.
3. `finish_citations` turns scores into reports: exists, text matches, entails, and one status with a message.

A citation is `fabricated` where its source is not among the evidence, `misquoted` where its quoted words are not in the
source, `misattributed` where other evidence supports the statement and the cited one does not (or where the document
lacks the cited section), `non_entailing` where no evidence supports it, `verified` where everything holds, and
`unchecked` where that could not be determined.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from assay.errors import InputError
from assay.schema import CitationReport, Evidence, ExtractedClaim, Span
from assay.text.citations import Citation
from assay.verify.citations.quotations import QuotedSource, QuoteMatch
from assay.verify.citations.source_index import NO_MATCH, SourceIndex, SourceMatch

OWN_SHARE: Final = 0.6
"""A citation covers a claim if at least this share of the claim's characters is in the cited range."""

Scores = Mapping[tuple[str, str], float | None]
"""The probability that the first text supports the second; none where it could not be scored."""


@dataclass(frozen=True, slots=True)
class ResolvedCitation:
    """One source of one citation, with everything that needs no network."""

    citation: Citation
    source_id: str
    """The source as written."""
    match: SourceMatch
    """The evidence that the source refers to."""
    statements: tuple[str, ...]
    """What it is cited for; empty for pointers and entries of a reference list."""
    cocited_ids: tuple[str, ...]
    """The other evidence that is cited for one of the same statements, by this marker or another."""
    quotes: tuple[QuoteMatch, ...]
    """Every quotation, compared with the evidence that matches it best."""
    quoted_in: str | None
    """Other evidence that contains the misquoted words."""
    section_found: bool | None
    """Whether a named document has the cited section; none where no section is cited or the document numbers none."""
    evidence_count: int
    """The number of pieces of evidence of the check."""

    @property
    def evidence_id(self) -> str | None:
        """The first evidence that the source refers to."""
        return self.match.evidence_ids[0] if self.match.evidence_ids else None

    @property
    def claim_text(self) -> str | None:
        """The statements joined by spaces."""
        return " ".join(self.statements) or None


def resolve_citations(
    citations: Iterable[Citation], evidence: Sequence[Evidence], claims: Sequence[ExtractedClaim] = ()
) -> list[ResolvedCitation]:
    """Find the evidence and the statements of every cited source, in the order of the text.

    Args:
        citations: the result of `find_citations` or `read_citation_objects`.
        evidence: all evidence of the check.
        claims: the claims of the output. With them, a citation covers the checkable claims in its range; without, the
            words of that range.
    """
    resolver = _Resolver(evidence, claims)
    resolved = [item for citation in citations for item in resolver.resolve(citation)]
    cited: dict[str, dict[str, None]] = {}
    for item in resolved:
        for statement in item.statements:
            cited.setdefault(statement, {}).update(dict.fromkeys(item.match.evidence_ids))
    return [replace(item, cocited_ids=_other_ids(item, cited)) for item in resolved]


def pending_pairs(resolved: Iterable[ResolvedCitation]) -> list[tuple[str, str]]:
    """The pairs of evidence id and statement that need an entailment score, each once, in order.

    A statement cited together with several sources is paired with each of them.
    """
    pairs = {
        (name, statement): None
        for item in resolved
        if item.match.evidence_ids
        for statement in item.statements
        for name in (*item.match.evidence_ids, *item.cocited_ids)
    }
    return list(pairs)


def pending_passages(resolved: Iterable[ResolvedCitation]) -> list[tuple[str, str]]:
    """For level 4: the pairs of cited passage and statement that need an entailment score.

    Only citation objects carry a passage; words in quotation marks are part of the statement itself.
    """
    pairs = {(p, s): None for item in resolved for p in _passages(item) for s in item.statements}
    return list(pairs)


def finish_citations(
    resolved: Sequence[ResolvedCitation],
    entailment: Scores,
    elsewhere: Mapping[str, tuple[str, float]] | None = None,
    *,
    threshold: float,
    strict: bool = False,
    passages: Scores | None = None,
) -> list[CitationReport]:
    """The reports, one for each source of each citation.

    Args:
        resolved: the result of `resolve_citations`.
        entailment: scores of `pending_pairs`, and of any other pair of evidence id and statement. Where a check knows
            that a passage contradicts the statement, the score must reflect that.
        elsewhere: for a statement, the evidence that supports it best, and its score.
        threshold: the least probability of a supported statement.
        strict: level 4: quotations are verbatim, and every cited source alone entails the statement, as does the
            passage that a citation object carries.
        passages: scores of `pending_passages`; only read with `strict`.

    Raises:
        InputError: the threshold is not a number from 0 to 1.
    """
    if not (isinstance(threshold, int | float) and math.isfinite(threshold) and 0 <= threshold <= 1):
        raise InputError(f"the threshold of citations must be a number from 0 to 1, got {threshold!r}")
    best = dict(elsewhere or {})
    for (name, statement), score in entailment.items():
        if score is not None and score > best.get(statement, ("", -1.0))[1]:
            best[statement] = (name, score)
    judge = _Judge(entailment, best, threshold, strict, passages or {})
    return [judge.report(item) for item in resolved]


def missing_citations(claims: Iterable[ExtractedClaim], citations: Collection[Citation]) -> list[ExtractedClaim]:
    """The checkable claims that no citation covers (level 2, the violation `missing_citation`)."""
    ranges = sorted((c.cited_start, c.cited_end) for c in citations if c.cited_end > c.cited_start)
    starts = [start for start, _ in ranges]
    reach = list(accumulate((end for _, end in ranges), max))

    def cited(span: Span) -> bool:
        before = bisect_left(starts, span.end)
        return before > 0 and reach[before - 1] > span.start

    return [claim for claim in claims if claim.checkable and not cited(claim.span)]


class _Resolver:
    """Looks up names and compares quotations; each source is normalised once."""

    def __init__(self, evidence: Sequence[Evidence], claims: Sequence[ExtractedClaim]) -> None:
        self.index = SourceIndex(evidence)
        self.claims = sorted(claims, key=lambda claim: claim.span.start)
        self.starts = [claim.span.start for claim in self.claims]
        self.reach = list(accumulate((claim.span.end for claim in self.claims), max))
        self._sources: dict[str, QuotedSource] = {}

    def resolve(self, citation: Citation) -> list[ResolvedCitation]:
        """One value for each source of the citation."""
        statements = self.statements(citation)
        return [self.resolve_source(citation, name, statements) for name in citation.source_ids]

    def resolve_source(self, citation: Citation, name: str, statements: tuple[str, ...]) -> ResolvedCitation:
        """One source of a citation."""
        source_match = self.find(citation, name)
        quotes = (
            tuple(self.match_quote(quote, source_match.evidence_ids) for quote in citation.quotes)
            if source_match.evidence_ids
            else ()
        )
        section = None
        if citation.kind == "authority" and citation.location and source_match.evidence_ids:
            section = self.index.section(source_match.evidence_ids, citation.location)
        missing = next((match.quote for match in quotes if not match.matches), None)
        quoted_in = self.find_quote(missing, source_match.evidence_ids) if missing is not None else None
        return ResolvedCitation(
            citation, name, source_match, statements, (), quotes, quoted_in, section, len(self.index.evidence)
        )

    def find(self, citation: Citation, name: str) -> SourceMatch:
        """The evidence that a name refers to, else the evidence of another name of the same source."""
        if citation.kind == "authority":
            return self.index.find_authority(name, citation.location)
        names = (name, *citation.aliases) if len(citation.source_ids) == 1 else (name,)
        return next((found for alias in names if (found := self.index.find(alias)).evidence_ids), NO_MATCH)

    def statements(self, citation: Citation) -> tuple[str, ...]:
        """The claims in the cited range, else the words of the range."""
        start, end = citation.cited_start, citation.cited_end
        if not citation.cited_text:
            return ()
        nearby = self.claims[bisect_right(self.reach, start) : bisect_left(self.starts, end)]
        touched = [claim for claim in nearby if claim.span.end > start]
        if not touched:
            return (citation.cited_text,)
        own = [c for c in touched if _share(c.span, start, end) >= OWN_SHARE]
        if not own:
            return (citation.cited_text,) if any(c.checkable for c in touched) else ()
        return tuple(dict.fromkeys(c.text for c in own if c.checkable))

    def match_quote(self, quote: str, evidence_ids: Sequence[str]) -> QuoteMatch:
        """The best match of the quotation among the pieces of the cited document."""
        matches = [self.source(name).match(quote) for name in evidence_ids]
        return max(matches, key=lambda match: (match.matches, match.exact))

    def find_quote(self, quote: str, cited: Collection[str]) -> str | None:
        """Other evidence that contains the quoted words."""
        others = (item.id for item in self.index.evidence if item.id not in cited)
        return next((name for name in others if self.source(name).match(quote).matches), None)

    def source(self, name: str) -> QuotedSource:
        """The evidence, normalised for comparison with quotations."""
        if name not in self._sources:
            self._sources[name] = QuotedSource(self.index.by_id[name].text)
        return self._sources[name]


@dataclass(frozen=True, slots=True)
class _Ruling:
    """The part of a report that the levels decide."""

    status: str
    message: str
    text_matches: bool | None = None
    entails: bool | None = None
    score: float | None = None
    evidence_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Judge:
    """The steps of the algorithm in docs/concepts.md#citations, for one source at a time."""

    entailment: Scores
    best: Mapping[str, tuple[str, float]]
    threshold: float
    strict: bool
    passages: Scores

    def report(self, item: ResolvedCitation) -> CitationReport:
        """The finished report."""
        ruling = self.rule(item)
        citation = item.citation
        return CitationReport(
            marker=citation.marker,
            span=Span(start=citation.start, end=citation.end),
            source_id=item.source_id,
            evidence_id=ruling.evidence_id or item.evidence_id,
            claim=item.claim_text,
            quote=next((m.quote for m in item.quotes if not self.quote_holds(m)), citation.quote),
            exists=item.evidence_id is not None,
            text_matches=ruling.text_matches,
            entails=ruling.entails,
            score=ruling.score,
            status=ruling.status,
            message=ruling.message,
        )

    def quote_holds(self, match: QuoteMatch) -> bool:
        """Whether a quotation holds at this level."""
        return match.exact if self.strict else match.matches

    def rule(self, item: ResolvedCitation) -> _Ruling:
        """Existence, then the quoted words, then the section, then entailment."""
        name = item.source_id
        if item.evidence_id is None:
            given = f"the {item.evidence_count} given" if item.evidence_count else "the evidence, which is empty"
            return _Ruling("fabricated", f"The cited source '{name}' is not among {given}.")
        failed = next((match for match in item.quotes if not self.quote_holds(match)), None)
        if failed is not None:
            reason = failed.reason or "it differs from the source in a word, and strict quotations are verbatim"
            holder = f" The words stand in '{item.quoted_in}' instead." if item.quoted_in else ""
            return _Ruling(
                "misquoted", f"The quotation does not hold in '{name}': {reason}.{holder}", text_matches=False
            )
        if item.section_found is False:
            message = f"'{name}' has no {item.citation.location} in the evidence."
            return _Ruling("misattributed", message, text_matches=False)
        if not item.statements:
            return self.without_statement(item)
        return self.entails(item)

    def without_statement(self, item: ResolvedCitation) -> _Ruling:
        """The outcome of a citation without a statement: a pointer, a list entry, or an object without a range."""
        if item.citation.kind == "object":
            message = f"The source '{item.source_id}' exists, but the citation does not say what it stands for."
            return _Ruling("unchecked", message, text_matches=True)
        return _Ruling(
            "verified", f"The source '{item.source_id}' exists; no statement rests on it.", text_matches=True
        )

    def entails(self, item: ResolvedCitation) -> _Ruling:
        """Whether the evidence supports every statement; below level 4, together with the sources cited beside it."""
        support_of = {s: self.support(item.match.evidence_ids, s) for s in item.statements}
        supported = {s for s, (score, _, _) in support_of.items() if score is not None and score >= self.threshold}
        lowest = min((score for score, _, _ in support_of.values() if score is not None), default=None)
        top = next((by for score, by, _ in support_of.values() if score is not None and by), item.evidence_id)
        unsupported = [s for s in item.statements if s not in supported]
        if unsupported and supported and not self.strict and all(self.supported_beside(item, s) for s in unsupported):
            score = min(support_of[s][0] or 0.0 for s in supported)
            message = f"'{item.source_id}' supports the statement together with the sources cited beside it."
            return _Ruling("verified", message, True, True, score, top)
        unscored = [s for s in unsupported if not support_of[s][2]]
        if unsupported and len(unscored) == len(unsupported):
            message = f"The source '{item.source_id}' exists, but whether it supports the statement was not checked."
            return _Ruling("unchecked", message, True, None, None, top)
        if unsupported:
            return self.unsupported(
                item, unsupported[0] if not unscored else next(s for s in unsupported if support_of[s][2]), lowest, top
            )
        return self.at_level_four(item, lowest, top)

    def support(self, evidence_ids: Sequence[str], statement: str) -> tuple[float | None, str | None, bool]:
        """The best score of the evidence for a statement, the id of that evidence, and whether all of it was scored."""
        scores = [(self.entailment.get((name, statement)), name) for name in evidence_ids]
        known = [(score, name) for score, name in scores if score is not None]
        top = max(known, default=None, key=lambda pair: pair[0])
        return (top[0], top[1], len(known) == len(scores)) if top is not None else (None, None, False)

    def supported_beside(self, item: ResolvedCitation, statement: str) -> bool:
        """Whether a source cited for the same statement supports it."""
        score = self.support(item.cocited_ids, statement)[0]
        return score is not None and score >= self.threshold

    def unsupported(self, item: ResolvedCitation, statement: str, score: float | None, top: str | None) -> _Ruling:
        """The outcome of a statement that the cited source does not support: whether other evidence does."""
        other, support = self.best.get(statement, ("", 0.0))
        if other and other not in item.match.evidence_ids and support >= self.threshold:
            beside = ", cited beside it," if other in item.cocited_ids else ""
            message = (
                f"'{item.source_id}' does not support the statement '{_shorten(statement)}'; '{other}'{beside} does."
            )
            return _Ruling("misattributed", message, True, False, score, top)
        message = f"Neither '{item.source_id}' nor any other evidence supports the statement '{_shorten(statement)}'."
        return _Ruling("non_entailing", message, True, False, score, top)

    def at_level_four(self, item: ResolvedCitation, score: float | None, top: str | None) -> _Ruling:
        """The last steps: an unlocated section is unchecked; with `strict`, the passage alone must entail the claim."""
        name = item.source_id
        if item.citation.kind == "authority" and item.citation.location and item.section_found is None:
            message = f"'{name}' supports the statement, but nothing shows that it stands in {item.citation.location}."
            return _Ruling("unchecked", message, True, True, score, top)
        if self.strict:
            for passage in _passages(item):
                scores = [self.passages.get((passage, s)) for s in item.statements]
                if any(value is None for value in scores):
                    message = (
                        f"Whether the passage cited from '{name}' supports the statement by itself was not checked."
                    )
                    return _Ruling("unchecked", message, True, None, score, top)
                least = min(value for value in scores if value is not None)
                if least < self.threshold:
                    message = f"'{name}' supports the statement, but the passage cited from it does not by itself."
                    return _Ruling("non_entailing", message, True, False, least, top)
        return _Ruling("verified", f"'{name}' supports the statement.", True, True, score, top)


def _other_ids(item: ResolvedCitation, cited: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The evidence that other sources contribute to the statements of this one."""
    names = (name for statement in item.statements for name in cited[statement])
    return tuple(dict.fromkeys(name for name in names if name not in item.match.evidence_ids))


def _passages(item: ResolvedCitation) -> tuple[str, ...]:
    return item.citation.quotes if item.citation.kind == "object" and item.match.evidence_ids else ()


def _share(span: Span, start: int, end: int) -> float:
    length = span.end - span.start
    return max(0, min(end, span.end) - max(start, span.start)) / length if length else 0.0


def _shorten(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:157]}..."
