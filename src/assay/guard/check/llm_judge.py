"""The judge's part in a check: which claims it judges, the effect of its answers, and what an output leaves out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from assay._lru import LruCache
from assay.errors import InputError
from assay.guard.check.evidence_index import PreparedEvidence
from assay.guard.check.verdicts import Judged
from assay.policy import Policy, claim_signal, claim_status
from assay.schema import ClaimStatus, EvidenceSpan, ExtractedClaim, Issue, Span, Verdict
from assay.schema.report_parts import ClaimJudgement, JudgeReport, Omission
from assay.text.claims import is_fragment
from assay.verify.network import Judgement

if TYPE_CHECKING:  # loaded with the first check that asks a judge or looks for omissions
    from assay.models.chat import Meter
    from assay.verify.judge import JudgedStatement, JudgeOptions, JudgeResults, Source
    from assay.verify.omissions import AnswerClaim

MOST_SPANS: Final = 4
NOT_ASKED: Final = (
    "The policy requires a judge's word on every claim, and no chat model was asked: give the guard one with llm=, "
    "the command one with --llm, or the server one under `judge` of its gateway file."
)
NO_MODEL: Final = "The policy has a judge asked, and no chat model is at hand."


@dataclass(frozen=True, slots=True)
class JudgeStage:
    """The results of the judge for an output, and the output's omissions."""

    judged: tuple[Judged, ...] | None = None
    """The judgement of each claim after the judge has answered; None if nothing was asked."""
    report: JudgeReport | None = None
    omissions: tuple[Omission, ...] = ()

    @property
    def left_out(self) -> int:
        """The number of omissions that count: all but those that the judge denied with the output's own words."""
        return sum(one.judged != "denied" for one in self.omissions)

    def issues(self, known: Sequence[Issue]) -> tuple[Issue, ...]:
        """The omissions as issues, except those that a claim's own issues already name."""
        named = [one.evidence for one in known if one.code == "condition.dropped" and one.evidence is not None]
        return tuple(
            Issue(code=f"completeness.{one.kind}", message=one.message, span=one.span, evidence=one.evidence)
            for one in self.omissions
            if one.judged != "denied" and not any(_overlap(one.evidence, other) for other in named)
        )


def _overlap(first: EvidenceSpan, second: EvidenceSpan) -> bool:
    return first.evidence_id == second.evidence_id and first.start < second.end and second.start < first.end


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """The context in which the judge is asked."""

    policy: Policy
    evidence: PreparedEvidence
    answer: str
    question: str | None
    meter: Meter | None
    """The account of the check; None if no model is available."""
    required: bool
    """Whether claims that the policy wants judged and that were not are unchecked, instead of left to a later check."""
    options: JudgeOptions | None
    memory: LruCache[JudgedStatement]
    """Earlier answers of the judge, keyed by everything that they depend on, so that the claims of a text that grows or
    is revised are not judged again."""


def judge_stage_of(
    claims: Sequence[tuple[ExtractedClaim, Judged]], context: JudgeContext, skipped: frozenset[int] = frozenset()
) -> JudgeStage:
    """Asks the judge about the claims that need it, and looks for omissions of the output.

    Args:
        claims: every judged claim with its judgement by the other tiers.
        context: the context in which the judge is asked.
        skipped: places of claims that are not a matter of evidence, such as actions of a run.
    """
    policy = context.policy
    if not context.evidence.readable or not policy.groundedness:
        return JudgeStage()
    if policy.judge == "off":
        return JudgeStage(omissions=_omissions(claims, context)) if policy.omissions != "off" else JudgeStage()
    if context.meter is None and policy.judge == "all" and context.required:
        return _Session(claims, context, skipped).run()
    if context.meter is None:
        report = JudgeReport(mode=policy.judge, notes=(NO_MODEL,))
        return JudgeStage(report=report, omissions=_omissions(claims, context) if policy.omissions != "off" else ())
    return _Session(claims, context, skipped).run()


def _omissions(claims: Sequence[tuple[ExtractedClaim, Judged]], context: JudgeContext) -> tuple[Omission, ...]:
    from assay.verify.omissions import find_omissions

    return find_omissions(_stated(claims, context.question), context.answer, context.question, context.evidence.index)


def _stated(claims: Sequence[tuple[ExtractedClaim, Judged]], question: str | None) -> list[AnswerClaim]:
    """The claims whose omissions matter: those that do not fail, or fail only because of an omission."""
    from assay.verify.omissions import AnswerClaim

    holds = [
        claim
        for claim, found in claims
        if found.verdict is Verdict.SUPPORTED or any(f.code == "condition.dropped" for f in found.exact.findings)
    ]
    return [
        AnswerClaim(f"{question} {claim.text}" if question and is_fragment(claim.text) else claim.text, claim.span)
        for claim in holds
    ]


class _Session:
    """One session with the judge about the claims of an output."""

    def __init__(
        self, claims: Sequence[tuple[ExtractedClaim, Judged]], context: JudgeContext, skipped: frozenset[int]
    ) -> None:
        from assay.prompts import load_prompt
        from assay.verify.judge import PROMPT, JudgeOptions

        self._claims = claims
        self._context = context
        self._policy = context.policy
        self._options = context.options or JudgeOptions()
        self._prompt = load_prompt(PROMPT).identity
        self._chosen = self._choose(skipped)
        self._sources, self._complete = self._shown()
        self._seen = self._digest()

    def run(self) -> JudgeStage:
        """Asks the judge and applies its answers."""
        known = self._known()
        asked = [at for at in self._chosen if at not in known]
        results = self._ask(asked)
        responses = {**known, **dict(zip(asked, results.statements, strict=True))}
        judged = [found for _, found in self._claims]
        for at, response in responses.items():
            judged[at] = settle(self._claims[at][0], judged[at], response, self._chosen[at], self._policy)
            if response.outcome.kind != "unchecked":
                self._context.memory.get(self._key(at), partial(_same, response))
        prompts, notes = [self._prompt] if asked else [], []
        omissions: tuple[Omission, ...] = ()
        if self._policy.omissions != "off":
            omissions, used, note = self._left_out(judged, results.requests)
            prompts += used
            notes += [note] if note else []
        report = self._report(responses, known, judged, prompts, notes)
        return JudgeStage(tuple(judged), report.model_copy(update={"asked_again": results.asked_again}), omissions)

    def _choose(self, skipped: frozenset[int]) -> dict[int, tuple[str, ...]]:
        """The claims for the judge, each with the reasons, the most important first."""
        from assay.verify.judge import reasons_to_judge

        reasons: dict[int, tuple[str, ...]] = {}
        for at, (claim, found) in enumerate(self._claims):
            if at in skipped or (found.judgement is None and not found.unread):
                continue
            if found.judgement is None:
                reasons[at] = ("language",)
                continue
            weak = reasons_to_judge(claim.kind, found.verdict, found.judgement, found.exact, found.entailment)
            if self._policy.judge == "all" or weak:
                reasons[at] = (*(("all",) if self._policy.judge == "all" else ()), *weak)
        order = sorted(reasons, key=lambda at: (not self._claims[at][0].critical, -len(reasons[at]), at))
        return {at: reasons[at] for at in order}

    def _shown(self) -> tuple[tuple[Source, ...], bool]:
        """The evidence that the judge is shown, and whether that is all of it."""
        from assay.rewrite.answers import choose_evidence
        from assay.verify.judge import Source

        evidence = self._context.evidence
        query = " ".join((self._context.question or "", *(self._claims[at][0].text for at in self._chosen)))
        context = choose_evidence(evidence.evidence, query, self._options.evidence_tokens)
        whole = all(one.characters == len(one.evidence.text) for one in context.passages)
        sources = tuple(Source(one.alias, one.evidence, one.text) for one in context.passages)
        return sources, whole and not context.left_out and not evidence.unread

    def _digest(self) -> str:
        """A digest of what the judge is shown of the evidence.

        Which passages are shown depends on all claims it is asked about. Their order and aliases do too, and are left
        out: else every answer would be asked for anew as a text grows.
        """
        from assay.prompts import evidence_record

        shown = [evidence_record(one.evidence.id, one.evidence, one.text) for one in self._sources]
        content = [self._complete, sorted(shown, key=lambda record: str(record["id"]))]
        return hashlib.sha256(json.dumps(content).encode("ascii")).hexdigest()

    def _key(self, at: int) -> tuple[object, ...]:
        context = self._context
        model = context.meter.asking("judge").digest if context.meter is not None else ""
        claim = self._claims[at][0].text
        confidence = self._policy.judge_confidence
        return context.evidence.key, self._seen, context.question, claim, model, self._prompt, self._options, confidence

    def _known(self) -> dict[int, JudgedStatement]:
        """Earlier answers on claims: from this guard's memory, or from the record of a check that is replayed."""
        found: dict[int, JudgedStatement] = {}
        meter = self._context.meter
        if meter is not None and meter.known:
            known = {at: meter.known.get(self._claims[at][0].text) for at in self._chosen}
            return {at: _from_record(one) for at, one in known.items() if one is not None}
        for at in self._chosen:
            try:
                found[at] = self._context.memory.get(self._key(at), _unknown)
            except KeyError:
                continue
            if meter is not None:
                meter.tape.knew(self._claims[at][0].text, _as_json(found[at]))
        return found

    def _ask(self, asked: Sequence[int]) -> JudgeResults:
        from assay.verify.judge import JudgeAnswers, JudgedStatement, JudgeResults, Outcome, ask_judge

        context = self._context
        if not asked:
            return JudgeResults((), 0)
        if context.meter is None:
            return JudgeResults((JudgedStatement(Outcome("unchecked", NOT_ASKED), JudgeAnswers()),) * len(asked), 0)
        return ask_judge(
            context.meter.asking("judge"),
            [self._claims[at][0].text for at in asked],
            context.question,
            self._sources,
            most_calls=self._policy.judge_calls,
            complete=self._complete,
            confidence=self._policy.judge_confidence,
            options=self._options,
        )

    def _left_out(self, judged: Sequence[Judged], used: int) -> tuple[tuple[Omission, ...], list[str], str | None]:
        """The omissions that rules find, reviewed by the judge where a request is left; prompts used, and a note."""
        from assay.prompts import load_prompt
        from assay.verify.omissions import PROMPT, review_omissions

        context = self._context
        claims = [(claim, found) for (claim, _), found in zip(self._claims, judged, strict=True)]
        stated, found = _stated(claims, context.question), _omissions(claims, context)
        if not stated or context.meter is None:
            return found, [], None
        if used >= self._policy.judge_calls:
            kept = tuple(one.model_copy(update={"judged": "unchecked"}) for one in found)
            return kept, [], "The judge was not asked about what is left out: its requests are used up."
        reviewed = review_omissions(
            context.meter.asking("judge_omissions"),
            found,
            stated,
            context.answer,
            context.question,
            self._sources,
            context.evidence.index,
            most_calls=self._policy.judge_calls - used,
            confidence=self._policy.judge_confidence,
            options=self._options,
        )
        return reviewed.omissions, [load_prompt(PROMPT).identity], reviewed.failed

    def _report(
        self,
        responses: Mapping[int, JudgedStatement],
        known: Mapping[int, JudgedStatement],
        judged: Sequence[Judged],
        prompts: Sequence[str],
        notes: Sequence[str],
    ) -> JudgeReport:
        unusable = [one.outcome.reason for one in responses.values() if one.outcome.kind == "unchecked"]
        meter = self._context.meter
        return JudgeReport(
            mode=self._policy.judge,
            model=meter.asking("judge").name if meter is not None else None,
            prompts=tuple(prompts),
            chosen=len(self._chosen),
            answered=len(responses) - len(unusable),
            changed=sum(one.by_judge is not None and one.by_judge.changed for one in judged),
            unchecked=len(unusable),
            remembered=len(known),
            evidence_complete=self._complete,
            notes=(*dict.fromkeys(unusable), *notes),
        )


def _as_json(response: JudgedStatement) -> Any:
    return _adapter().dump_python(response, mode="json")


def _from_record(recorded: Any) -> JudgedStatement:
    """The judge's answer on a claim as recorded on a tape.

    Raises:
        InputError: the record is malformed.
    """
    try:
        return _adapter().validate_python(recorded, strict=False)
    except ValidationError as error:
        raise InputError("expected what a judge had said of a claim, but it cannot be read") from error


@cache
def _adapter() -> TypeAdapter[JudgedStatement]:
    from assay.verify.judge import JudgedStatement

    return TypeAdapter(JudgedStatement)


def _same(response: JudgedStatement) -> JudgedStatement:
    return response


def _unknown() -> JudgedStatement:
    raise KeyError


_NOTHING_KNOWN: Final = Judgement(0.5, 0.0)
"""The judgement of a claim in a language that the network does not read."""


def settle(
    claim: ExtractedClaim, found: Judged, response: JudgedStatement, because: Sequence[str], policy: Policy
) -> Judged:
    """The judgement of a claim after the judge has answered."""
    from assay.verify.judge import ClaimState, apply_outcome, support_barrier

    if found.judgement is None and not found.unread:
        return found
    known = found.judgement or _NOTHING_KNOWN
    before = ClaimState(Verdict.UNSUPPORTED if found.unread else found.verdict, known.support, known.contradiction)
    bar = support_barrier(found.exact, before, conflict=found.conflict is not None)
    after = apply_outcome(
        before,
        response.outcome.kind,
        confidence=policy.judge_confidence,
        threshold=policy.support_threshold,
        bar=bar,
        passes=_passes(claim, found, policy),
    )
    changed = after != before
    reason = response.outcome.reason
    if response.outcome.kind == "supports" and bar is not None and before.verdict is not Verdict.SUPPORTED:
        reason = f"{reason} It does not count: {bar}."
    by_judge = ClaimJudgement(
        asked_because=tuple(because),
        outcome=response.outcome.kind,
        reason=reason,
        answers=response.reading.answers,
        before=before.verdict,
        changed=changed,
    )
    if found.unread and not changed:
        return replace(found, by_judge=by_judge)
    if after.verdict is Verdict.UNCHECKED:
        return replace(found, verdict=after.verdict, judgement=None, failed=reason, by_judge=by_judge)
    judgement = Judgement(after.support, after.contradiction)
    found = replace(found, failed=None, unread=False) if found.unread else found
    return replace(
        found, verdict=after.verdict, judgement=judgement, spans=_spans(found, response, changed), by_judge=by_judge
    )


def _passes(claim: ExtractedClaim, found: Judged, policy: Policy) -> bool:
    """Whether the claim would pass the gate by the judgement of the other tiers."""
    if found.judgement is None:
        return False
    signal = claim_signal(
        score=found.judgement.support,
        verdict=found.verdict,
        critical=bool(claim.critical),
        severity=None,
        contradiction=found.judgement.contradiction,
        codes=(),
        part_of=None,
    )
    return claim_status(policy, signal) is ClaimStatus.PASS


def _spans(found: Judged, response: JudgedStatement, changed: bool) -> tuple[EvidenceSpan, ...]:
    """The evidence spans of a claim, the judge's quotes first where its answer changed the verdict."""
    quotes = [span for answer in response.outcome.telling for span in answer.quotes]
    if not changed or not quotes:
        return found.spans
    unique = {(one.evidence_id, one.start, one.end): one for one in reversed((*quotes, *found.spans))}
    return tuple(reversed(unique.values()))[:MOST_SPANS]


def judge_issues(judgement: ClaimJudgement, span: Span) -> tuple[Issue, ...]:
    """The issues of a claim that follow from the judge's answer."""
    issues: list[Issue] = []
    quote = next((span for answer in judgement.answers for span in answer.quotes if answer.verdict == "FAIL"), None)
    if judgement.outcome == "unchecked":
        if not judgement.changed:
            issues.append(Issue(code="judge.unchecked", message=judgement.reason, span=span))
        return tuple(issues)
    if judgement.outcome != "uncertain" and (
        judgement.changed or judgement.outcome != "supports" or judgement.before is not Verdict.SUPPORTED
    ):
        issues.append(Issue(code=f"judge.{judgement.outcome}", message=judgement.reason, span=span, evidence=quote))
    cited = next((answer for answer in judgement.answers if answer.question == 3 and answer.verdict == "FAIL"), None)
    if cited is not None:
        message = f"The judge cannot trace a citation: {cited.justification}"
        issues.append(Issue(code="judge.citation", message=message, span=span))
    return tuple(issues)
