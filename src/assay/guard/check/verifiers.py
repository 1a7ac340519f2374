"""Verifiers: the further looks at an output once the tiers have judged its claims.

Each verifier takes the draft of a check and adds what it finds; none of them decides. The cheaper ones come first, so
that the dearer ones see what they found: 1. the output's own logic, 2. a chat model as a judge, and omissions,
3. sources of knowledge, 4. probes, for which the model is asked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Protocol

from assay._lru import LruCache
from assay.guard.check.chat_budget import probe, prober_of
from assay.guard.check.draft import Draft
from assay.guard.check.logic_audit import reasoning_of
from assay.guard.check.probes import HELD_BACK, NO_MODEL, NOT_ALLOWED, UNASKED, unprobed
from assay.guard.check.report.assembly import report_of
from assay.guard.check.tiers import Tiers
from assay.guard.check.verdicts import Judged
from assay.guard.parts import GuardParts
from assay.guard.request import day_of
from assay.models import PairScorer
from assay.policy import Policy, concerns
from assay.schema import Identity
from assay.verify.omissions import find_irrelevant

if TYPE_CHECKING:
    from assay.knowledge import KnowledgeBase
    from assay.verify.judge import JudgedStatement, JudgeOptions


class Verifier(Protocol):
    """One further look at an output."""

    name: ClassVar[str]
    """The name of its stage in the report's timing."""

    def applies(self, draft: Draft) -> bool:
        """Whether this verifier is to look at this output."""
        ...

    def verify(self, draft: Draft, judged: Sequence[Judged]) -> Draft:
        """The draft with what this verifier found.

        Args:
            draft: the draft of the check.
            judged: the judgements of its jobs, in order.
        """
        ...


@dataclass(frozen=True, slots=True)
class LogicVerifier:
    """Audits the output by itself: sums, dates, orders, steps of reasoning."""

    policy: Policy
    scorer: PairScorer
    name: ClassVar[str] = "logic"

    def applies(self, draft: Draft) -> bool:  # noqa: ARG002 the audit looks at the policy itself
        """Always."""
        return True

    def verify(self, draft: Draft, judged: Sequence[Judged]) -> Draft:
        """The draft with the findings about the output's own reasoning."""
        places = (place for place, claim in enumerate(draft.claims) if claim.checkable)
        found = dict(zip(places, judged[: draft.judged_claims], strict=False))
        texts = [item.text for item in draft.evidence_items]
        reasoning = reasoning_of(draft.text[: draft.read], draft.claims, found, self.policy, self.scorer, texts)
        return replace(draft, reasoning=reasoning)


@dataclass(frozen=True, slots=True)
class JudgeVerifier:
    """Asks a chat model as a judge of claims, and looks for omissions of the output."""

    policy: Policy
    options: JudgeOptions | None
    memory: LruCache[JudgedStatement]
    name: ClassVar[str] = "judge"

    def applies(self, draft: Draft) -> bool:  # noqa: ARG002 the policy says so of all outputs
        """Whether the policy has either done."""
        return self.policy.judge != "off" or self.policy.omissions != "off"

    def verify(self, draft: Draft, judged: Sequence[Judged]) -> Draft:
        """The draft with the judge's word on its claims, and with the omissions of its text."""
        from assay.guard.check.llm_judge import JudgeContext, judge_stage_of

        claims = draft.of_claims(judged, self.policy)
        context = JudgeContext(
            self.policy,
            draft.evidence,
            draft.text[: draft.read],
            draft.question,
            draft.meter,
            not draft.request.later,
            self.options,
            self.memory,
        )
        return replace(draft, judge_stage=judge_stage_of(claims, context, draft.done(claims)))


@dataclass(frozen=True, slots=True)
class KnowledgeVerifier:
    """Asks sources outside of the evidence about claims that the evidence does not support."""

    policy: Policy
    sources: KnowledgeBase
    tenant: str | None
    tiers: Tiers
    name: ClassVar[str] = "knowledge"

    def applies(self, draft: Draft) -> bool:
        """Whether the policy and the caller let sources be asked, and the task is held to evidence."""
        request = draft.request
        grounded = self.policy.groundedness and request.task not in self.policy.ungrounded_tasks
        if self.policy.external.mode == "off" or not grounded:
            return False
        return request.looks_up and (request.asks or request.later)

    def verify(self, draft: Draft, judged: Sequence[Judged]) -> Draft:
        """The draft with the words of sources of knowledge on the claims that the evidence does not support."""
        from assay.guard.external_verification import Lookup, verification_of

        session = self.sources.session(self.tenant, self.policy.external.budget_s)
        claims = draft.of_claims(judged, self.policy)
        lookup = Lookup(
            self.policy,
            session,
            draft.stakes,
            draft.question,
            day_of(draft.request),
            self.tiers.at_fitted_prior().judge,
            self.tiers.prepare,
        )
        found = verification_of(claims, lookup, draft.done(claims))
        draft = replace(draft, verification=found, consulted=session.tape())
        if draft.irrelevant is None or not found.texts:
            return draft
        # A source may mention what was asked although the evidence does not.
        silent = find_irrelevant(draft.question, found.texts, draft.text[: draft.read]) is not None
        return draft if silent else replace(draft, irrelevant=None)


@dataclass(frozen=True, slots=True)
class ProbeVerifier:
    """Asks the model again about critical claims, unless the answer is held back anyway."""

    policy: Policy
    scorer: PairScorer
    identity: Identity
    name: ClassVar[str] = "probing"

    def applies(self, draft: Draft) -> bool:
        """Whether the policy has it done, nobody has asked yet, and no later check will."""
        return self.policy.consistency_probes and draft.probing == UNASKED and not draft.request.later

    def verify(self, draft: Draft, judged: Sequence[Judged]) -> Draft:
        """The draft with the model's answers when it is asked again."""
        if not concerns(report_of(draft, judged, self.policy, self.identity, 0.0).decision):
            return replace(draft, probing=HELD_BACK)
        claims = draft.of_claims(judged, self.policy)
        if draft.meter is None:
            return replace(draft, probing=unprobed(claims, NO_MODEL if draft.request.asks else NOT_ALLOWED))
        prober = prober_of(draft.meter, self.scorer, self.policy)
        found = probe(prober, claims, draft.text, draft.question, draft.evidence_items)
        return replace(draft, probing=found)


def verifiers_of(parts: GuardParts, tiers: Tiers) -> tuple[Verifier, ...]:
    """The verifiers of a guard, in their order."""
    policy = parts.policy
    sources = parts.knowledge
    return (
        LogicVerifier(policy, parts.scorer),
        JudgeVerifier(policy, parts.judging, parts.caches.judged),
        *(() if sources is None else (KnowledgeVerifier(policy, sources, parts.tenant, tiers),)),
        ProbeVerifier(policy, parts.scorer, parts.verifier),
    )
