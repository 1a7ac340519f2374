"""The report on one claim: its status, its issues, its wrong spans and suggestions."""

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import Final

from assay.guard.check.llm_judge import judge_issues
from assay.guard.check.report.knowledge import knowledge_issues
from assay.guard.check.verdicts import SURE, Judged
from assay.guard.claims.corrections import suggestions_for
from assay.guard.claims.wrong_spans import wrong_pieces, wrong_places
from assay.policy import Policy, claim_signal, claim_status, is_logic_fault, severity
from assay.policy.findings import Grounds, attribute, is_denied
from assay.schema import (
    Action,
    Category,
    ClaimKind,
    ClaimReport,
    ClaimStatus,
    Decision,
    EvidenceSpan,
    ExtractedClaim,
    Issue,
    OutsideWord,
    Severity,
    Span,
    Stakes,
    Suggestion,
    Verdict,
)
from assay.stats import shown_score
from assay.verify.exact import ExactFinding

LOGICAL_CODES = ("arithmetic.", "date.order")
"""Beginnings of the codes of findings that are errors of reasoning rather than of reading."""
MIN_SHOWN_CONFIDENCE = 0.3
"""Findings of the exact tier with less confidence stay in the signals and are not shown."""

QUOTED = 80
"""The most characters of a claim that a message repeats; the span holds all of them."""
WORTH_A_LOOK = 0.5
"""Findings with at least this confidence are shown even if the claim as a whole counts as supported."""
CONTEXT = 40
"""How many characters on either side of some words tell their places in a sentence apart."""
MOST_PLACES = 64
"""How many places of the same words in one sentence are compared: the first so many."""


def locate(start: int, end: int, output: str, claim: ExtractedClaim) -> Span:
    """Where the characters `start` to `end` of a claim's text stand in the output.

    A claim may carry words from elsewhere in its sentence, such as an elided subject, so the sentence is searched after
    the claim's own span. Of several places the one whose surroundings are most like the claim counts, and a number is
    never found inside a longer one. For words that rewriting put in, the place is the whole claim.
    """
    surface = claim.text[start:end]
    if not surface:
        return claim.span
    if output.startswith(claim.text, claim.span.start):
        return Span(start=claim.span.start + start, end=claim.span.start + end)
    for place in (claim.span, claim.sentence):
        found = list(islice(_occurrences(surface, output, place), MOST_PLACES))
        if found:
            at = max(found, key=lambda at: _likeness(claim.text, start, end, output, at))
            return Span(start=at, end=at + len(surface))
    return claim.span


def _occurrences(surface: str, output: str, place: Span) -> Iterator[int]:
    """Where the words stand within a place, except inside longer words and numbers."""
    at = output.find(surface, place.start, place.end)
    while at >= 0:
        end = at + len(surface)
        if not _inside_word(output, at) and not _inside_word(output, end):
            yield at
        at = output.find(surface, at + 1, place.end)


def _inside_word(output: str, at: int) -> bool:
    """Whether this place is inside a word or a number."""
    before, behind = output[max(0, at - 2) : at], output[at : at + 2]
    if not before or not behind:
        return False
    if before[-1].isalnum() and behind[0].isalnum():
        return True
    seam = before[-1] + behind if before[-1].isdigit() else before + behind[0]
    return len(seam) == 3 and seam[0].isdigit() and seam[1] in ".,'" and seam[2].isdigit()


def _likeness(text: str, start: int, end: int, output: str, at: int) -> int:
    """How many characters before and after a place of the output equal those around the words in the claim."""
    behind = zip(text[end : end + CONTEXT], output[at + end - start : at + end - start + CONTEXT], strict=False)
    before = zip(
        reversed(text[max(0, start - CONTEXT) : start]), reversed(output[max(0, at - CONTEXT) : at]), strict=False
    )
    return sum(sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) for pairs in (before, behind))


def category_of(judged: Judged) -> Category | None:
    """The category of a claim that is wrong (docs/concepts.md#categories); None for one that is not."""
    if judged.verdict not in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED):
        return None
    if judged.by_judge is not None and judged.by_judge.changed and judged.by_judge.outcome == "omits":
        return Category.COMPLETENESS
    shown = [f for f in judged.exact.findings if f.confidence >= MIN_SHOWN_CONFIDENCE]
    if any(f.code.startswith(LOGICAL_CODES) for f in shown):
        return Category.LOGICAL
    if any(f.code.startswith("condition.") for f in shown) and judged.verdict is Verdict.UNSUPPORTED:
        return Category.COMPLETENESS
    # A detail that no evidence has, and that no finding contradicts, is an invention, whatever the network says of the
    # rest.
    invented = any(f.effect == "missing" for f in shown) and all(f.effect != "contradicts" for f in shown)
    return Category.CONFABULATORY if invented else Category.CONTEXTUAL


def issues_of(judged: Judged, output: str, claim: ExtractedClaim) -> tuple[Issue, ...]:
    """Everything found against the claim, the surest first, each with its place in the output.

    For a cell of a table the messages name its row and column.
    """
    found = _issues_of(judged, output, claim)
    if claim.cell is None:
        return found
    row, column = (name if len(name) <= QUOTED else name[: QUOTED - 1] + "…" for name in claim.cell)
    where = f"in row “{row}”, column “{column}”" if row else f"in column “{column}”"
    return tuple(
        issue.model_copy(update={"message": f"{issue.message} ({where})", "span": issue.span or claim.span})
        for issue in found
    )


def _issues_of(judged: Judged, output: str, claim: ExtractedClaim) -> tuple[Issue, ...]:
    if judged.failed is not None:
        return (Issue(code="claim.unchecked", message=f"This could not be checked: {judged.failed}", span=claim.span),)
    if judged.verdict is Verdict.SUPPORTED:
        shown = [f for f in judged.exact.findings if f.effect == "note" or f.confidence >= WORTH_A_LOOK]
        return tuple(_from_finding(f, output, claim) for f in shown)
    if claim.kind is ClaimKind.ABSTENTION and judged.verdict is Verdict.UNSUPPORTED:
        closest = judged.spans[0] if judged.spans else None
        message = "A passage may tell this after all. Read the closest one, and say what it tells or what it lacks."
        return (Issue(code="claim.unsupported", message=message, span=claim.span, evidence=closest),)
    findings = sorted(judged.exact.findings, key=lambda f: (-f.confidence, f.claim_start, f.code))
    shown = [f for f in findings if f.confidence >= MIN_SHOWN_CONFIDENCE]
    return (*(_from_finding(f, output, claim) for f in shown), *_from_network(judged, output, claim, shown))


def _from_finding(finding: ExactFinding, output: str, claim: ExtractedClaim) -> Issue:
    place = locate(finding.claim_start, finding.claim_end, output, claim)
    return Issue(code=finding.code, message=finding.message, span=place, evidence=finding.evidence)


def _from_network(judged: Judged, output: str, claim: ExtractedClaim, shown: Sequence[ExactFinding]) -> Iterator[Issue]:
    """Issues at the wrong words that the exact tier did not name, or at the claim as a whole if there are none."""
    against = judged.verdict is Verdict.CONTRADICTED
    closest = _passage_of_network(judged)
    code = "claim.contradicted" if against else "claim.unsupported"
    pieces = wrong_pieces(judged, claim.text)
    new = [(a, b) for a, b in pieces if all(b <= f.claim_start or f.claim_end <= a for f in shown)]
    for start, end in new:
        words = claim.text[start:end]
        what = f"\u201c{words if len(words) <= QUOTED else words[: QUOTED - 1] + '…'}\u201d"
        message = f"The evidence says otherwise of {what}." if against else f"No evidence supports {what}."
        yield Issue(code=code, message=message, span=locate(start, end, output, claim), evidence=closest)
    if new or (against and any(f.effect == "contradicts" and f.confidence >= SURE for f in shown)):
        return  # what differs has been named
    if against:
        message = "The evidence says otherwise." if shown else "The evidence contradicts this as a whole."
    elif closest is None:
        message = "No evidence mentions this."
    else:
        message = "No evidence says this; the closest passage does not support it."
    yield Issue(code=code, message=message, span=claim.span, evidence=closest)


def _passage_of_network(judged: Judged) -> EvidenceSpan | None:
    """The passage that the network went by: not one that only a finding of the exact tier points to."""
    shown_places = {
        (f.evidence.evidence_id, f.evidence.start, f.evidence.end) for f in judged.exact.findings if f.evidence
    }
    own = [span for span in judged.spans if (span.evidence_id, span.start, span.end) not in shown_places]
    return next(iter(own or judged.spans), None)


def _conflict_issue(judged: Judged, claim: ExtractedClaim) -> Iterator[Issue]:
    """The issue that one source says what the claim does and another says something else."""
    if judged.conflict is None:
        return
    behind, other = judged.conflict
    said = other.text if len(other.text) <= QUOTED else other.text[: QUOTED - 1] + "…"
    message = (
        f"{behind.evidence_id} supports this, {other.evidence_id} contradicts it: “{said}”. Say that the sources "
        "disagree, or which of them applies."
    )
    yield Issue(code="evidence.conflict", message=message, span=claim.span, evidence=other)


def claim_report(
    claim: ExtractedClaim,
    judged: Judged | None,
    output: str,
    policy: Policy,
    stakes: Stakes,
    extra: Sequence[Issue] = (),
    structural: bool = False,
) -> ClaimReport:
    """The report on one claim.

    Args:
        claim: the claim as extracted.
        judged: its judgement; None for a claim that is not checkable.
        output: the text that the spans index.
        policy: the policy that gives severity and status.
        stakes: how much depends on the output.
        extra: issues found elsewhere, such as a citation that fails.
        structural: whether the claim is a value that breaks the schema or a rule of its document.
    """
    if judged is None:
        return _not_checkable(claim)
    score, contradiction = _support(judged), _contradiction(judged)
    graded = _severity(claim, judged, policy, stakes)
    signal = claim_signal(
        score=score,
        verdict=judged.verdict,
        critical=bool(claim.critical),
        severity=graded.score if graded else None,
        contradiction=contradiction,
        codes=[issue.code for issue in extra],
        part_of=claim.sentence_index if claim.whole is not None else None,
    )
    category, origin = attribute(
        Grounds(
            judged.verdict,
            read=category_of(judged),
            fabricated=signal.fabricated_citation,
            structural=structural,
            faults=[issue.code for issue in extra if is_logic_fault(issue)],
            outside=judged.outside,
            hidden=judged.external is not None and judged.external.before is not Verdict.CONTRADICTED,
        )
    )
    return ClaimReport(
        text=claim.text,
        span=claim.span,
        kind=claim.kind,
        critical=bool(claim.critical),
        critical_reasons=claim.critical,
        hedge=claim.hedge,
        verdict=judged.verdict,
        score=score,
        contradiction=contradiction,
        status=claim_status(policy, signal),
        evidence_spans=judged.spans,
        category=category,
        origin=origin,
        severity=graded,
        issues=_all_issues(claim, judged, output, extra),
        wrong_spans=_wrong_spans(judged, output, claim),
        suggestions=_suggestions(judged, output, claim),
        conflict=judged.conflict is not None,
        decided_by=judged.decided_by,
        judgement=judged.by_judge,
        external=judged.external,
        signals=judged.signals,
        path=claim.path,
        part_of=signal.part_of,
    )


def _support(judged: Judged) -> float | None:
    return judged.judgement.support if judged.judgement else None


def _contradiction(judged: Judged) -> float | None:
    return judged.judgement.contradiction if judged.judgement else None


def _all_issues(claim: ExtractedClaim, judged: Judged, output: str, extra: Sequence[Issue]) -> tuple[Issue, ...]:
    """All issues of a claim: by the tiers, a judge, sources outside of the evidence, and others."""
    said = judge_issues(judged.by_judge, claim.span) if judged.by_judge is not None else ()
    issues = (*issues_of(judged, output, claim), *_conflict_issue(judged, claim), *said, *extra)
    issues += tuple(_from_outside(word, claim) for word in judged.outside if is_denied([word]))
    if judged.external is not None:
        issues += knowledge_issues(judged.external, claim.span)
    traced = any(issue.code.startswith("action.") for issue in extra)
    settled = judged.external is not None and judged.external.changed
    if traced or settled:
        # The trace or an outside source says what is wrong; that no passage supports the claim is then no finding.
        issues = tuple(issue for issue in issues if issue.code not in _WHOLE_CLAIM_CODES)
    if claim.path is not None:
        issues = tuple(issue.model_copy(update={"path": issue.path or claim.path}) for issue in issues)
    return issues


_WHOLE_CLAIM_CODES: Final = ("claim.contradicted", "claim.unsupported")
"""The codes of issues about a claim as a whole."""


def _from_outside(word: OutsideWord, claim: ExtractedClaim) -> Issue:
    if word.relation == "silent":
        message = f"{word.source} has no such thing, and it has all there are."
    else:
        said = f": “{word.words[:QUOTED]}”" if word.words else ""
        message = f"{word.source} says otherwise{said}."
    return Issue(code="knowledge.denied", message=message, span=claim.span)


def with_doubts(claims: Sequence[ClaimReport], decision: Decision, policy: Policy) -> tuple[ClaimReport, ...]:
    """The claims, with an issue at those that hold an output back although they count as supported.

    An output that is held back because all its claims together are not probable enough has no wrong claim to point at.
    So the weak claims are named: those below the probability that each would need for all of them to pass.
    """
    checked = [claim.score for claim in claims if claim.score is not None]
    if decision.action is Action.EMIT or not policy.groundedness or not checked:
        return tuple(claims)
    needed = policy.emit_threshold ** (1 / len(checked)) if policy.aggregation == "joint" else policy.emit_threshold
    return tuple(_with_doubt(claim, needed) for claim in claims)


def _with_doubt(claim: ClaimReport, needed: float) -> ClaimReport:
    """The claim, with an issue if it is supported with less than the probability that is needed."""
    if claim.verdict is not Verdict.SUPPORTED or claim.score is None or claim.score >= needed:
        return claim
    message = (
        f"Not certain: the evidence supports this with a probability of {shown_score(claim.score)}. "
        "Keep closer to the wording of the source, or cite the passage that it rests on."
    )
    closest = claim.evidence_spans[0] if claim.evidence_spans else None
    issue = Issue(code="claim.uncertain", message=message, span=claim.span, evidence=closest, path=claim.path)
    return claim.model_copy(update={"issues": (*claim.issues, issue)})


def _wrong_spans(judged: Judged, output: str, claim: ExtractedClaim) -> tuple[Span, ...]:
    """The places of the wrong words in the output, without overlaps; words that rewriting put in have no place."""
    found = [locate(start, end, output, claim) for start, end in wrong_places(judged, claim.text)]
    places = sorted({(span.start, span.end) for span in found if span != claim.span})
    apart: list[Span] = []
    for start, end in places:
        if not apart or start >= apart[-1].end:
            apart.append(Span(start=start, end=end))
    return tuple(apart)


def _suggestions(judged: Judged, output: str, claim: ExtractedClaim) -> tuple[Suggestion, ...]:
    if judged.verdict is not Verdict.CONTRADICTED:
        return ()
    against = [f for f in judged.exact.findings if f.effect == "contradicts"]
    places = [(f, locate(f.claim_start, f.claim_end, output, claim)) for f in against]
    return suggestions_for(judged, places, output, claim)


def _severity(claim: ExtractedClaim, judged: Judged, policy: Policy, stakes: Stakes) -> Severity | None:
    if judged.verdict not in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED):
        return None
    return severity(
        policy,
        verdict=judged.verdict,
        kind=claim.kind,
        critical_reasons=claim.critical,
        stakes=stakes,
        hedge=claim.hedge,
        contradiction=_contradiction(judged),
        has_specifics=bool(claim.critical),
        feeds_action=claim.kind is ClaimKind.PROCEDURAL,
    )


def _not_checkable(claim: ExtractedClaim) -> ClaimReport:
    return ClaimReport(
        text=claim.text,
        span=claim.span,
        kind=claim.kind,
        critical=bool(claim.critical),
        critical_reasons=claim.critical,
        hedge=claim.hedge,
        verdict=Verdict.NOT_CHECKABLE,
        status=ClaimStatus.NOT_CHECKABLE,
        path=claim.path,
    )
