"""The wordings in which a claim is judged, and how their judgements become one.

A claim that refers to the sentence before it is judged by itself and after that sentence, and the worse judgement
counts: by itself it may be true of something else, and after a true sentence nearly anything looks likely. An answer
that only says no is judged as the denial and as the opposite of what it denies. A phrase that answers a question is
judged as a statement and after the question, and again the worse counts. A value or a yes that repeats a statement of
the user is judged as that statement as well: what a user says is no evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from assay.guard.claims.context import NOWHERE, claim_in_context
from assay.schema import EvidenceSpan, Verdict
from assay.text.rewording import AgreedStatement, agreed_statement, agrees, value_alone
from assay.verify.exact import ExactFinding, ExactResult
from assay.verify.network import EntailmentResult, Judgement

if TYPE_CHECKING:
    from assay.guard.check.verdicts import Job, Judged


def wordings(job: Job) -> tuple[Job, ...]:
    """The jobs to judge in place of this one: the job itself if its claim can be understood by itself.

    Empty for an answer that only says yes or no to a question which could not be turned into a statement.
    """
    if job.abstains or job.is_name or job.field is not None:
        return (job,)
    own, agreed = _own_wordings(job), _agreed(job)
    if agreed is None:
        return own
    repeated = replace(job, claim=agreed.text, question=None, whole=None, before=None)
    return (repeated,) if agreed.only_agrees else (*own, repeated)


def _agreed(job: Job) -> AgreedStatement | None:
    """The user's statement that the claim of a job repeats."""
    return agreed_statement(job.question, job.claim) if job.question else None


def _own_wordings(job: Job) -> tuple[Job, ...]:
    """The jobs to judge in place of this one, by the question and the sentence before the claim."""
    if (job.question or job.before) and restates(job.evidence.exact(job.claim, job.question), job.claim):
        short = claim_in_context(job.claim, job.question).at > 0
        return (replace(job, before=(job.question or "").strip() if short else None),)
    found = claim_in_context(job.claim, job.question)
    if found.text and not found.stated and found.at and agrees(job.claim) is not None:
        return ()
    if found.stated:
        stated = replace(job, claim=found.text, question=None, whole=None, before=None)
        if found.denial is not None:
            return (stated, replace(stated, claim=found.denial))
        asked = (job.question or "").strip()
        return (stated,) if found.at >= NOWHERE else (stated, replace(job, whole=None, before=asked))
    if job.before is None:
        return (job,)
    return (replace(job, before=None), replace(job, whole=None))


def restates(exact: ExactResult, claim: str) -> bool:
    """Whether the claim is a whole sentence of the evidence, with more words than a mere answer has."""
    return exact.signals.get("verbatim", 0.0) >= 1 and len(claim.split()) >= _WORDS_OF_SENTENCE


_WORDS_OF_SENTENCE = 4


def merged_wordings(job: Job, asked: Sequence[Job], judged: Sequence[Judged]) -> Judged:
    """One judgement of a job out of those of its wordings, of which there is at least one."""
    if job.abstains or job.is_name or job.field is not None:
        return _merged(job, asked, judged)
    agreed = _agreed(job)
    if agreed is None:
        return _without_unfounded_value(job, _merged(job, asked, judged))
    repeated = _moved(judged[-1], NOWHERE if agreed.offset is None else agreed.offset, len(job.claim))
    if agreed.only_agrees:
        return _without_unfounded_value(job, repeated, repeated.exact)
    return _without_unfounded_value(job, _worse([_merged(job, asked[:-1], judged[:-1]), repeated]))


UNFOUNDED: Final = 0.5
"""The highest support of an answer that is nothing but a value which the evidence lacks."""
_SURELY_MISSING: Final = 0.6
"""The confidence from which a value neither stands in the evidence nor follows from it."""
_NO_SUCH_CODE: Final = 0.8
"""The confidence from which an identifier does not stand in the evidence; identifiers do not follow from others."""


def _without_unfounded_value(job: Job, found: Judged, exact: ExactResult | None = None) -> Judged:
    """The judgement of an answer that is nothing but a value, bounded if the evidence lacks the value.

    A number may follow from the evidence in a way that nobody has computed, but hardly one that the user gave. An
    identifier follows from nothing. If the answer repeats a statement, `exact` is the result for that statement: a
    number by itself is not the same as one with its bound.
    """
    if found.judgement is None or found.judgement.support <= UNFOUNDED:
        return found
    value = value_alone(job.claim)
    if value is None:
        return found
    said_by_user = value[0].casefold() in (job.question or "").casefold()
    exact = exact or job.evidence.exact(job.claim, None)
    missing = tuple(
        one
        for one in exact.findings
        if one.effect == "missing"
        and (
            (said_by_user and one.confidence >= _SURELY_MISSING)
            or (one.code == "identifier.missing" and one.confidence >= _NO_SUCH_CODE)
        )
    )
    if not missing:
        return found
    lacking = found.exact if missing[0] in found.exact.findings else replace(found.exact, findings=missing)
    verdict = Verdict.UNSUPPORTED if found.verdict is Verdict.SUPPORTED else found.verdict
    return replace(found, verdict=verdict, judgement=replace(found.judgement, support=UNFOUNDED), exact=lacking)


def _merged(job: Job, asked: Sequence[Job], judged: Sequence[Judged]) -> Judged:
    if len(asked) == 1 and asked[0].claim == job.claim:
        return judged[0]
    found = claim_in_context(job.claim, job.question)
    if not found.stated:
        return _worse(judged)
    if found.denial is not None:
        return _moved(_denial(judged[0], judged[1]), found.at, len(job.claim))
    stated = _moved(judged[0], found.at, len(job.claim))
    return _worse([stated, *judged[1:]])


_ORDER = (Verdict.UNCHECKED, Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.SUPPORTED)


def _worse(judged: Sequence[Judged]) -> Judged:
    """The worst judgement of several wordings; the first of equals."""
    return min(judged, key=lambda one: (_ORDER.index(one.verdict), one.support))


def _denial(asserted: Judged, denied: Judged) -> Judged:
    """The judgement of a denial, from the judgement of what it denies (`asserted`) and its own (`denied`)."""
    if asserted.judgement is None or denied.judgement is None:
        return asserted if asserted.judgement is None else denied
    if asserted.verdict is Verdict.SUPPORTED:
        against = min(asserted.support, 1.0)
        spans = tuple(_turned(span) for span in asserted.spans)
        judgement = Judgement(min(denied.support, 1 - against), against)
        return replace(
            denied,
            verdict=Verdict.CONTRADICTED,
            judgement=judgement,
            spans=spans,
            conflict=None,
            exact=replace(denied.exact, findings=()),
            entailment=replace(denied.entailment, words=()),
        )
    if asserted.verdict is Verdict.CONTRADICTED and denied.verdict is not Verdict.CONTRADICTED:
        # The value that contradicts what is denied supports the denial.
        support = max(denied.support, asserted.judgement.contradiction)
        spans = tuple(_turned(span) for span in asserted.spans)
        exact = replace(denied.exact, findings=(), supporting=())
        judgement = Judgement(support, min(denied.judgement.contradiction, 1 - support))
        return replace(denied, judgement=judgement, spans=spans or denied.spans, exact=exact)
    return denied


_TURNED = {"supports": "contradicts", "contradicts": "supports"}


def _turned(span: EvidenceSpan) -> EvidenceSpan:
    return span.model_copy(update={"relation": _TURNED.get(span.relation, span.relation)})


def _moved(judged: Judged, at: int, length: int) -> Judged:
    """The judgement with places in a statement turned into places in the claim, which begins at `at` in it."""
    exact = judged.exact
    moved = ExactResult(
        tuple(_moved_finding(one, at, length) for one in exact.findings),
        exact.signals,
        exact.best,
        exact.supporting,
        _inside(exact.changed, at, length),
        _inside(exact.settled, at, length),
        (),
    )
    read: EntailmentResult = replace(judged.entailment, claim_at=at)
    return replace(judged, exact=moved, entailment=read)


def _moved_finding(found: ExactFinding, at: int, length: int) -> ExactFinding:
    """The finding at its words in the claim, or at the whole claim if they are words of the question."""
    inside = at <= found.claim_start and found.claim_end <= at + length and at < NOWHERE
    start, end = (found.claim_start - at, found.claim_end - at) if inside else (0, length)
    words = _inside(found.words, at, length)
    return replace(found, claim_start=start, claim_end=end, words=words)


def _inside(places: Sequence[tuple[int, int]], at: int, length: int) -> tuple[tuple[int, int], ...]:
    return tuple((a - at, b - at) for a, b in places if at <= a and b <= at + length)
