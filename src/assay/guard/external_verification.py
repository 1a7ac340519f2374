"""External verification: claims that the evidence does not support are looked up in sources of knowledge, by authority.

1. Claims are selected: those without support, as severe as the policy requires, and of a kind that can be looked up.
2. Rules turn each claim into an inquiry; the sources are asked from the highest authority down, within one time budget.
3. The answer of a source is judged by the same verifier as the evidence, with one call of the network per source.
4. When all sources of one authority have answered, the claim is settled if one of them was sure enough. A lower
   authority never overrules a higher one, and two sources of the same authority that disagree settle nothing.
5. A settled claim changes its verdict where the policy says so. See docs/knowledge.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import groupby
from typing import Any, Final

from assay.guard.check.evidence_index import PreparedEvidence
from assay.guard.check.report.knowledge import knowledge_report
from assay.guard.check.verdicts import Job, Judged
from assay.guard.conflicts.superseded_sources import superseded
from assay.knowledge import Inquiry, Outcome, Passage, Profile, Session, formulate
from assay.policy import Policy, claim_weight
from assay.schema import (
    ClaimKind,
    Evidence,
    EvidenceSpan,
    External,
    ExtractedClaim,
    KnowledgeReport,
    OutsideWord,
    SourceWord,
    Stakes,
    Verdict,
)
from assay.stats import shown_score
from assay.text.sentences import split_sentences
from assay.verify.exact import ExactFinding, ExactResult
from assay.verify.network import EntailmentResult, Judgement

SILENCE: Final = 0.8
"""The confidence with which a complete source denies what it does not contain."""
HEDGED: Final = 0.5
"""The degree of hedging from which a claim is an opinion."""
QUOTED: Final = 300
"""The most characters of a passage that the word of a source quotes."""
_PRONOUNS: Final = frozenset("it he she they this that these those its his her their".split())  # noqa: SIM905 as elsewhere


@dataclass(frozen=True, slots=True)
class Lookup:
    """The context of the external verification in one check."""

    policy: Policy
    session: Session
    stakes: Stakes
    question: str | None
    today: date | None
    judge: Callable[[Sequence[Job]], list[Judged]]
    """The verifier, without the correction to the share of supported claims in use."""
    prepare: Callable[[Sequence[Evidence]], PreparedEvidence]


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of external verification."""

    judged: tuple[Judged, ...] | None = None
    """The judgement of each claim afterwards; None if nothing was asked."""
    report: KnowledgeReport | None = None
    texts: tuple[str, ...] = ()
    """The passages that decided claims."""

    @property
    def verified(self) -> int:
        """The number of claims that count as supported because of a source."""
        return sum(
            one.external is not None and one.external.changed and one.verdict is Verdict.SUPPORTED
            for one in self.judged or ()
        )

    @property
    def accuracy(self) -> tuple[bool, ...] | None:
        """For each claim that a source decided whether it was verified; None if nothing was asked."""
        if self.judged is None:
            return None
        statuses = [one.external.status for one in self.judged if one.external is not None]
        return tuple(status == "verified" for status in statuses if status != "unverifiable")


@dataclass(slots=True)
class _Case:
    """One claim and what the sources have said about it so far."""

    claim: ExtractedClaim
    found: Judged
    inquiry: Inquiry
    words: list[SourceWord] = field(default_factory=list)
    answers: dict[str, Judged] = field(default_factory=dict)
    settled: str | None = None
    """`verifies` or `refutes` once the claim is settled; `disagreement` where sources of one authority say both."""
    by: SourceWord | None = None


def selected_claims(claims: Sequence[tuple[ExtractedClaim, Judged]], policy: Policy, stakes: Stakes) -> list[int]:
    """The places of the claims that are looked up.

    verify_externally(c) <=> verdict(c) = unsupported and sev(c) >= theta_sev and verifiable(c)

    A claim that counts as contradicted, but by no passage that could be shown, is treated as unsupported.
    """
    verdicts = {Verdict.UNSUPPORTED}
    if policy.external.claims != "unsupported":
        verdicts |= {Verdict.SUPPORTED, Verdict.CONTRADICTED}
    return [
        at
        for at, (claim, found) in enumerate(claims)
        if (found.verdict in verdicts or _is_denied_by_nothing(found))
        and verifiable(claim)
        and _severity(claim, policy, stakes) >= policy.external.severity
    ]


def _severity(claim: ExtractedClaim, policy: Policy, stakes: Stakes) -> float:
    """The severity that a claim has if it is unsupported, in [0, 1]."""
    return claim_weight(
        policy,
        kind=claim.kind,
        critical_reasons=claim.critical,
        stakes=stakes,
        hedge=claim.hedge,
        has_specifics=bool(claim.critical),
    )


def _is_denied_by_nothing(found: Judged) -> bool:
    """Whether a claim counts as contradicted although no passage or value denies it: the network may say so of evidence
    that does not mention the claim."""
    return (
        found.verdict is Verdict.CONTRADICTED
        and not any(span.relation == "contradicts" for span in found.spans)
        and not any(one.effect == "contradicts" for one in found.exact.findings)
    )


def verifiable(claim: ExtractedClaim) -> bool:
    """Whether a claim can be looked up: it is not an opinion, a conclusion or an act of the speaker."""
    return claim.kind is ClaimKind.FACTUAL and claim.hedge < HEDGED and "commitment" not in claim.critical


def verification_of(
    claims: Sequence[tuple[ExtractedClaim, Judged]], lookup: Lookup, skipped: frozenset[int] = frozenset()
) -> Verification:
    """Looks claims up in the sources.

    Args:
        claims: every judged claim with its judgement by the evidence.
        lookup: the context of the verification.
        skipped: places of claims that are not a matter of evidence, such as actions of a run.
    """
    places = [at for at in selected_claims(claims, lookup.policy, lookup.stakes) if at not in skipped]
    if not places:
        return Verification()
    cases = {at: _Case(*claims[at], _inquiry(claims[at][0], lookup.question)) for at in places}
    numbered = list(enumerate(lookup.session.profiles))
    for _, group in groupby(numbered, key=lambda one: one[1].rank):
        ranked = list(group)
        for source, profile in ranked:
            open_ = [case for case in cases.values() if case.settled is None or lookup.policy.external.ask_all]
            if open_:
                _ask_source(open_, source, profile, lookup)
        for case in cases.values():
            _settle(case, {profile.name for _, profile in ranked}, lookup.policy)
    judged = [found for _, found in claims]
    for at, case in cases.items():
        judged[at] = _judged(case, lookup)
    texts = tuple(case.by.passage for case in cases.values() if case.by is not None and case.by.passage)
    words = [word for case in cases.values() for word in case.words]
    statuses = [_external(case, lookup.policy, case.found.verdict).status for case in cases.values()]
    report = knowledge_report(lookup.policy.external.mode, lookup.session.profiles, words, statuses)
    return Verification(tuple(judged), report, texts)


def _inquiry(claim: ExtractedClaim, question: str | None) -> Inquiry:
    """The inquiry for a claim; if the claim names nothing itself, the entities of the sentence before it and of the
    question are added."""
    inquiry = formulate(claim.text)
    first = claim.text.split(maxsplit=1)[0].casefold() if claim.text.split() else ""
    if inquiry.entities and first not in _PRONOUNS and claim.before is None:
        return inquiry
    surroundings = formulate(f"{claim.before or ''} {question or ''}")
    merged = dict.fromkeys((*inquiry.entities, *surroundings.entities))
    return replace(inquiry, entities=tuple(merged)[:8])


def _ask_source(cases: Sequence[_Case], source: int, profile: Profile, lookup: Lookup) -> None:
    """Asks one source about the claims and adds its words to their cases."""
    outcomes = lookup.session.ask(source, [case.inquiry for case in cases])
    jobs: list[tuple[_Case, Outcome, Job, Mapping[str, Passage]]] = []
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.status != "answered":
            case.words.append(_word_without_answer(profile, outcome))
            continue
        passages = {f"{profile.name}: {one.id}": one for one in outcome.found.passages}
        evidence = [_evidence(name, one) for name, one in passages.items()]
        out = superseded(evidence, lookup.today)
        held = lookup.prepare([one for one in evidence if one.id not in out] or evidence)
        jobs.append(
            (
                case,
                outcome,
                Job(case.claim.text, held, lookup.question, before=case.claim.before),
                passages,
            )
        )
    judged = lookup.judge([job for _, _, job, _ in jobs]) if jobs else []
    for (case, outcome, _, named), found in zip(jobs, judged, strict=True):
        case.words.append(_word_of_answer(profile, outcome, found, named))
        case.answers[profile.name] = found


def _evidence(name: str, one: Passage) -> Evidence:
    return Evidence(
        id=name,
        text=one.text,
        title=one.title,
        version=one.version,
        effective_date=one.effective_date,
        expiry_date=one.expiry_date,
    )


def _word_without_answer(profile: Profile, outcome: Outcome) -> SourceWord:
    """The word of a source that gave no answer."""
    denies = outcome.status == "nothing" and profile.complete and bool(outcome.found.asked)
    says = "refutes" if denies else outcome.status
    reason = f"{profile.name} has no such thing, and it has all there are." if denies else outcome.reason
    return _source_word(profile, outcome, says, SILENCE if denies else None, reason=reason)


def _word_of_answer(profile: Profile, outcome: Outcome, found: Judged, passages: Mapping[str, Passage]) -> SourceWord:
    """The word of a source that answered, as the verifier judges it."""
    if found.judgement is None:
        return _source_word(
            profile, outcome, "failed", None, reason=f"What it says could not be judged: {found.failed}"
        )
    if found.conflict is not None:
        return _source_word(profile, outcome, "neither", None, reason=f"What {profile.name} has contradicts itself.")
    confidence: float | None = None
    relation = "neither"
    share = entailed(found.judgement, found.exact)
    if share is not None and max(share, 1 - share) >= UNDECIDED:
        relation, confidence = ("verifies", share) if share > 0.5 else ("refutes", 1 - share)
    span = _deciding_span(found, relation)
    passage = passages.get(span.evidence_id) if span is not None else None
    passage = passage or (next(iter(passages.values())) if len(passages) == 1 else None)
    if passage is not None and passage.credibility is not None and confidence is not None:
        confidence = min(confidence, passage.credibility)
    quoted = passage.text if passage is not None else None
    if span is not None:
        quoted = span.text if passage is None else _sentence(passage.text, span)
    reason = f"What {profile.name} has neither entails nor denies it." if relation == "neither" else None
    return _source_word(
        profile,
        outcome,
        relation,
        confidence,
        reason=reason,
        passage=quoted,
        place=passage.id if passage else None,
        link=passage.link if passage else None,
    )


def entailed(judgement: Judgement, exact: ExactResult) -> float | None:
    """The probability, in [0, 1], that a source entails a claim rather than denies it; none if it does not mention it.

        p = support / (support + contradiction)        where support + contradiction >= SPEAKS
        logit p' = logit p + VALUES                    if it has every number, date and name of the claim
                 = logit p - VALUES                    if it lacks one, or has another in its place

    The probabilities refer to the rows that they were fitted on and not to claims in use: a claim that is looked up has
    found no support and is right less often than others. Since the source was looked up by the subject of the claim, a
    value that is missing there is stronger evidence than one that is missing from an arbitrary passage.
    """
    relevance = judgement.support + judgement.contradiction
    if relevance < SPEAKS:
        return None
    share = min(max(judgement.support / relevance, 1e-6), 1 - 1e-6)
    logit = math.log(share / (1 - share))
    if any(map(_speaks_against, exact.findings)):
        logit -= VALUES
    elif not exact.findings and all(exact.signals.get(name, 1.0) >= 1 for name in _FOUND):
        logit += VALUES
    return 1 / (1 + math.exp(-logit))


SPEAKS: Final = 0.55
"""The probability that a source entails or denies the claim from which the source counts as mentioning it."""
VALUES: Final = 1.0
"""The weight of the claim's values, in logits."""
AGAINST: Final = 0.5
LACKS: Final = 0.6
"""The least confidence of the exact tier in a differing value, and in a missing one."""
UNDECIDED: Final = 0.6
"""The confidence below which a source counts as saying neither, whatever the policy allows."""
_FOUND: Final = ("numbers_found", "dates_found", "names_found")


def _speaks_against(finding: ExactFinding) -> bool:
    """Whether a source surely has another value than a claim, or surely lacks one."""
    if finding.effect == "contradicts":
        return finding.confidence >= AGAINST
    return finding.effect == "missing" and finding.confidence >= LACKS


def _deciding_span(found: Judged, relation: str) -> EvidenceSpan | None:
    """The span that the verifier's judgement rests on; the first one where no span has the relation."""
    span_relation = {"verifies": "supports", "refutes": "contradicts"}.get(relation)
    return next((span for span in found.spans if span.relation == span_relation), next(iter(found.spans), None))


def _sentence(text: str, span: EvidenceSpan) -> str:
    """The sentence around a span of a passage, since a value alone tells a reader little."""
    around = [one for one in split_sentences(text) if one.start < span.end and span.start < one.end]
    return text[min(one.start for one in around) : max(one.end for one in around)] if around else span.text


def _source_word(
    profile: Profile,
    outcome: Outcome,
    says: str,
    confidence: float | None,
    *,
    reason: str | None = None,
    passage: str | None = None,
    place: str | None = None,
    link: str | None = None,
) -> SourceWord:
    return SourceWord(
        source=profile.name,
        authority=profile.authority,
        says=says,
        confidence=confidence,
        passage=None if passage is None else passage[:QUOTED],
        place=place,
        link=link,
        reason=reason,
        asked=tuple(_json(one) for one in outcome.found.asked),
        at=outcome.at,
        elapsed_ms=outcome.elapsed_ms,
        age_s=outcome.age_s,
        digest=outcome.digest,
        counts=profile.authoritative and confidence is not None,
    )


def _json(asked: Mapping[str, object]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in asked.items()}


def _settle(case: _Case, names: set[str], policy: Policy) -> None:
    """Settles a claim by the words of the sources of one authority, unless a higher authority has settled it."""
    if case.settled is not None:
        return
    counting = [word for word in case.words if word.source in names and _sure(word, policy) and word.counts]
    relations = {word.says for word in counting}
    if len(relations) == 2:
        case.settled = "disagreement"
    elif relations:
        case.by = max(counting, key=lambda word: word.confidence or 0.0)
        case.settled = case.by.says


def _sure(word: SourceWord, policy: Policy) -> bool:
    return word.confidence is not None and word.confidence >= policy.external.confidence


def _judged(case: _Case, lookup: Lookup) -> Judged:
    """The judgement of a claim after the sources have answered."""
    policy, before = lookup.policy, case.found.verdict
    external = _external(case, policy, before)
    outside = tuple(_outside(word, case, policy) for word in external.words if word.says in _RELATIONS)
    updated = replace(case.found, external=external, outside=(*case.found.outside, *outside))
    decides = policy.external.mode == "decide" and case.by is not None
    if not decides or case.by is None:
        # Where sources do not decide, nothing that they say may count against the claim.
        shown = tuple(word.model_copy(update={"authoritative": False, "complete": False}) for word in outside)
        return replace(updated, outside=(*case.found.outside, *shown))
    verdict = Verdict.SUPPORTED if external.status == "verified" else Verdict.CONTRADICTED
    denied = before is Verdict.CONTRADICTED and not _is_denied_by_nothing(case.found)
    if verdict is before or (verdict is Verdict.SUPPORTED and denied):
        # A claim that the evidence itself denies stays contradicted, even if a source verifies it; both are shown.
        return updated
    read = case.answers.get(case.by.source)
    sure = case.by.confidence or 0.0
    judgement = Judgement(sure, 1 - sure) if verdict is Verdict.SUPPORTED else Judgement(1 - sure, sure)
    exact = ExactResult((), {}, ()) if read is None else _without_places(read.exact)
    return replace(
        updated,
        verdict=verdict,
        judgement=judgement,
        exact=exact,
        entailment=EntailmentResult(),
        conflict=None,
        spans=tuple(
            span
            for span in case.found.spans
            if span.relation == "related" or (verdict is Verdict.SUPPORTED and span.relation == "supports")
        ),
        external=external.model_copy(update={"changed": True}),
    )


def _without_places(exact: ExactResult) -> ExactResult:
    """The findings of the exact tier without places in the source's passages, which are not evidence of the check."""
    return replace(exact, findings=tuple(replace(one, evidence=None) for one in exact.findings))


_RELATIONS: Final = {"verifies": "entails", "refutes": "denies", "neither": "silent"}


def _outside(word: SourceWord, case: _Case, policy: Policy) -> OutsideWord:
    """The word of a source as the gate reads it: it is ground truth only where it settled the claim."""
    decides = case.by is not None and word.says == case.settled and word.counts and _sure(word, policy)
    if word.says == "refutes" and word.digest is None and decides:
        return OutsideWord(
            source=word.source, relation="silent", confidence=word.confidence or 0.0, authoritative=True, complete=True
        )
    return OutsideWord(
        source=word.source,
        relation=_RELATIONS[word.says],
        confidence=word.confidence or 0.0,
        authoritative=decides,
        words=word.passage or "",
    )


def _external(case: _Case, policy: Policy, before: Verdict) -> External:
    relations = {word.says for word in case.words if word.says in {"verifies", "refutes"} and _sure(word, policy)}
    disagreement = len(relations) == 2
    words = tuple(
        word.model_copy(
            update={
                "counts": case.by is not None
                and word.counts
                and word.says == case.settled
                and word.authority == case.by.authority
                and _sure(word, policy)
            }
        )
        for word in case.words
    )
    if case.by is None:
        why, message = _unverifiable(case)
        return External(
            status="unverifiable", why=why, message=message, disagreement=disagreement, words=words, before=before
        )
    status, verb = ("verified", "supports it") if case.settled == "verifies" else ("refuted", "says otherwise")
    quoted = f": “{case.by.passage}”" if case.by.passage else ""
    others = " Other sources disagree." if disagreement else ""
    sentence = f"{case.by.source} {verb} ({shown_score(case.by.confidence or 0.0)}){quoted}."
    if case.by.reason is not None:
        sentence = case.by.reason
    return External(
        status=status,
        why="decided",
        message=f"{sentence}{others}",
        source=case.by.source,
        authority=case.by.authority,
        passage=case.by.passage,
        confidence=case.by.confidence,
        disagreement=disagreement,
        words=words,
        before=before,
    )


def _unverifiable(case: _Case) -> tuple[str, str]:
    """Why a claim stays unverifiable: the code of the reason, and a sentence."""
    if case.settled == "disagreement":
        sides = " and ".join(word.source for word in case.words if word.says in {"verifies", "refutes"})
        return "disagreement", f"Sources of the same authority disagree: {sides}."
    says = [word.says for word in case.words]
    late = [word for word in case.words if word.reason is not None and "latency budget" in word.reason]
    undecided = "undecided", "What the sources have neither entails nor denies it surely enough."
    if "verifies" in says or "refutes" in says:
        return undecided
    if late:
        return "budget", f"The latency budget was used up: {late[0].reason}"
    if "failed" in says:
        failed = next(word for word in case.words if word.says == "failed")
        return "failed", failed.reason or "No source could be asked."
    if "neither" in says:
        return undecided
    if "nothing" in says:
        return "nothing", "No source has anything on it."
    return "no_source", "No source may be asked about it."
