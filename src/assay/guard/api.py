"""The guard itself. One code path serves single checks, many checks and the judging of single claims."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Self

from assay._version import __version__
from assay.errors import InputError
from assay.guard.authors.document_generation import Documenting
from assay.guard.authors.generation import Generating
from assay.guard.authors.repair import Repairing
from assay.guard.check.chat_budget import meter_of, needs_model, probe, prober_of, wants_model
from assay.guard.check.claim_reports import claim_report
from assay.guard.check.evidence_index import Limits, PreparedEvidence, prepare
from assay.guard.check.pipeline import Draft, claim_results, draft_of, finish, hidden_from, with_logic_audit
from assay.guard.check.probes import HELD_BACK, UNASKED, UNPROBED, UNWISHED, unprobed
from assay.guard.check.verdicts import Job, Judged, Thresholds, judge_jobs
from assay.guard.commit.receipts import Committing, ReceiptDesk
from assay.guard.conflicts.disagreement import load_disagreement
from assay.guard.lru import LruCache
from assay.guard.protect.functions import Protecting
from assay.guard.request import CheckRequest, EvidenceLike, day_of
from assay.guard.runs.checking import Running
from assay.guard.screening import Screens
from assay.guard.streams.checking import Streaming
from assay.models import PairScorer
from assay.policy import Policy, concerns, preset, validated
from assay.retrieve import IndexCache
from assay.schema import (
    ClaimKind,
    ClaimReport,
    ExtractedClaim,
    HallucinationReport,
    Identity,
    Screening,
    Span,
    Stakes,
    Structure,
    coerce_evidence,
    coerce_text,
)
from assay.text.claims import ClaimExtractor, RuleClaimExtractor, critical_reasons, hedge_score
from assay.verify.network import Combination, load_combination
from assay.verify.omissions import find_irrelevant

if TYPE_CHECKING:  # what checks runs is loaded with the first run, not with the first answer
    from assay.guard.runs.context import RunContext
    from assay.knowledge import KnowledgeBase, Session
    from assay.models.chat import Budget, ChatModel
    from assay.rewrite.probes import Consensus
    from assay.verify.judge import JudgedStatement, JudgeOptions

CLAIMS_PER_CALL = 512
"""Single claims that are judged in one call of the network."""
CHECKS_PER_CALL = 16
"""Outputs that share one call of the network when many are checked: enough to fill it, few enough to wait for."""


class Guard(Protecting, Screens, Running, Streaming, Generating, Documenting, Repairing, Committing):
    """Checks outputs against evidence under one policy.

    A guard keeps nothing of what it checked but caches by content; it may be shared by threads and tasks.
    """

    def __init__(
        self,
        policy: Policy | str = "general",
        *,
        scorer: PairScorer,
        extractor: ClaimExtractor | None = None,
        combination: Combination | None = None,
        limits: Limits | None = None,
        locale: str = "en",
        receipts: ReceiptDesk | None = None,
        llm: ChatModel | None = None,
        budget: Budget | None = None,
        judging: JudgeOptions | None = None,
        knowledge: KnowledgeBase | None = None,
    ) -> None:
        """Make a guard out of its parts.

        Args:
            policy: a policy, or the name of a preset.
            scorer: the network that judges pairs.
            extractor: what finds claims; rules by default.
            combination: what turns signals into probabilities; the fitted one by default.
            limits: how much one check reads.
            locale: how numbers in the texts are written, such as `en` or `de`.
            receipts: what issues receipts and admits outputs to `commit`; without it neither is possible.
            llm: the chat model that `generate` and `repair` ask, and checks where the policy has them ask one, as
                with `consistency_probes`; without it nothing is asked.
            judging: how the model is asked as a judge, where the policy has one asked.
            knowledge: the sources outside of the evidence that are asked about claims which it does not bear out, as
                the policy's `external` says; none is asked without it.
            budget: what one check may spend on the model; what it then could not ask keeps the output from passing.

        Raises:
            PolicyError: there is no such preset.
            VerifierError: the coefficients of the combination cannot be read.
        """
        # Validated again: a value made by `model_copy` or `model_construct` may hold NaN, which no score is ever below.
        self._policy = preset(policy) if isinstance(policy, str) else validated(policy)
        self._scorer = scorer
        self._extractor = extractor or RuleClaimExtractor()
        self._combination = combination or load_combination()
        self._limits = limits or Limits()
        self._locale = locale
        self._receipts = receipts
        self._llm = llm
        self._budget = budget
        self._judging = judging
        self._knowledge = knowledge
        self._tenant: str | None = None
        self._judged_before: LruCache[JudgedStatement] = LruCache(2_048)
        self._screened_before = LruCache[Screening](64)
        self._indices = IndexCache()
        self._thresholds = Thresholds(
            self._policy.support_threshold, self._policy.contradiction_threshold, prior=self._policy.prior
        )

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._policy

    @property
    def asks_nobody(self) -> bool:
        """Whether checks ask neither a chat model nor a source of knowledge: then equal ones have equal reports."""
        return self._llm is None and self._knowledge is None

    def under(self, policy: Policy | str) -> Guard:
        """A guard of the same parts under another policy; with the scorer it shares what that remembers.

        Raises:
            PolicyError: there is no such preset.
        """
        made = Guard(
            policy, scorer=self._scorer, extractor=self._extractor, combination=self._combination, limits=self._limits,
            locale=self._locale, receipts=self._receipts, llm=self._llm, budget=self._budget, judging=self._judging,
            knowledge=self._knowledge,
        )  # fmt: skip
        made._tenant = self._tenant
        return made

    def for_tenant(self, tenant: str | None) -> Self:
        """The same guard for the text of one tenant: what of it may go to which source of knowledge depends on that."""
        if tenant == self._tenant or self._knowledge is None:
            return self
        made = copy(self)
        made._tenant = tenant  # noqa: SLF001 of its own class
        return made

    @property
    def fitted_prior(self) -> float:
        """The share of supported claims among the rows that the scores were fitted on, in (0, 1)."""
        return self._combination.prior

    @property
    def tiers_digest(self) -> str:
        """Identifies everything that a signal depends on: the network, the rules and their version."""
        parts = (self._scorer.digest, self._extractor.name, self._locale, __version__)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def verifier(self) -> Identity:
        """Identifies everything that a score depends on."""
        parts = (self.tiers_digest, self._combination.digest, load_disagreement().digest)
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return Identity(name=f"assay {__version__} with {self._scorer.name}", digest=digest)

    @property
    def _identities(self) -> tuple[Identity, Identity]:
        return Identity(name=self._policy.name, digest=self._policy.digest), self.verifier

    def check(
        self,
        answer: str | bytes,
        evidence: EvidenceLike = None,
        *,
        question: str | None = None,
        stakes: Stakes | str = Stakes.MEDIUM,
        task: str = "qa",
        schema: Mapping[str, Any] | bool | None = None,
        citations: Iterable[Mapping[str, Any]] | None = None,
        claim_free: bool = False,
        revisions_failed: int = 0,
        run_id: str | None = None,
        asks: bool = True,
        structure: Structure | Mapping[str, Any] | None = None,
        as_of: date | str | None = None,
        entropy: float | None = None,
    ) -> HallucinationReport:
        """Check one output against its evidence.

        Args:
            answer: the output; bytes must be UTF-8.
            evidence: texts, mappings or `Evidence`; ids must be unique.
            question: what the output answers.
            stakes: how much hangs on it: low, medium or high.
            task: the kind of task; the policy may hold some, such as `creative`, to no evidence.
            schema: a JSON Schema that the output has to satisfy.
            citations: citation objects as model providers give them.
            claim_free: whether the output is declared to contain no claims.
            revisions_failed: how many revisions of it have failed already.
            run_id: a name for the run; derived from the content by default.
            asks: whether the guard's chat model may be asked where the policy says so; without it the report is one of
                the embedded verifier alone, and what the policy requires of a model is unchecked.
            structure: how a JSON answer is checked beside its schema: rules over several fields, references into the
                evidence, which values are no claims. With a schema every value is a claim with its JSON Pointer.
            as_of: the day that the answer is to hold on; evidence that has expired by then is said to have. No clock is
                read, so without it evidence is only compared with evidence.
            entropy: the normalised entropy of the output's tokens, from 0 to 1, where it is known; it counts where the
                policy decides whether to answer.

        Returns:
            The report; the same input gives the same report, timing aside, whatever the order of the evidence.

        Raises:
            InputError: something given cannot be read as what it should be.
        """
        request = CheckRequest(
            answer, evidence, question, stakes, task, schema, citations, claim_free, revisions_failed, run_id,
            asks, structure, as_of, entropy,
        )  # fmt: skip
        return self._finish([self._draft(request)])[0]

    def _check_before(
        self, answer: str | bytes, evidence: EvidenceLike = None, **options: Any
    ) -> HallucinationReport:  # fmt: skip
        """As `check`, of what another check follows: no chat model is asked, and nothing is unchecked for that."""
        return self._finish([self._draft(CheckRequest(answer, evidence, asks=False, later=True, **options))])[0]

    def _asking(self, model: ChatModel | None) -> Self:
        """The guard with a model to ask, where it has none and its policy requires one."""
        if self._llm is not None or model is None or not needs_model(self._policy):
            return self
        made = copy(self)
        made._llm = model  # noqa: SLF001 of its own class
        return made

    async def acheck(self, answer: str | bytes, evidence: EvidenceLike = None, **options: Any) -> HallucinationReport:
        """As `check`, off the event loop: the same options, the same report."""
        import asyncio

        return await asyncio.to_thread(self.check, answer, evidence, **options)

    def check_many(self, requests: Iterable[CheckRequest | Mapping[str, Any]]) -> Iterator[HallucinationReport]:
        """Check outputs one after the other, several of them sharing a call of the network.

        Args:
            requests: requests, or mappings with their fields.

        Yields:
            One report for each request, in order.

        Raises:
            InputError: a request cannot be read; the reports before it have been given.
        """
        waiting: list[Draft] = []
        for request in requests:
            try:
                asked = request if isinstance(request, CheckRequest) else CheckRequest.from_mapping(request)
                waiting.append(self._draft(asked))
            except InputError:
                yield from self._finish(waiting)
                raise
            if len(waiting) == CHECKS_PER_CALL:
                yield from self._finish(waiting)
                waiting = []
        yield from self._finish(waiting)

    async def acheck_many(
        self, requests: Iterable[CheckRequest | Mapping[str, Any]]
    ) -> AsyncIterator[HallucinationReport]:
        """As `check_many`, off the event loop: the same requests, the same reports."""
        import asyncio

        reports = self.check_many(requests)
        while (report := await asyncio.to_thread(next, reports, None)) is not None:
            yield report

    def judge_claim(self, claim: str, evidence: EvidenceLike, question: str | None = None) -> ClaimReport:
        """Judge one text as a single claim, without splitting it; for evaluation and for probing the verifier.

        Raises:
            InputError: the claim is blank, or something given cannot be read.
        """
        return self.judge_claims([(claim, evidence, question)])[0]

    async def ajudge_claim(self, claim: str, evidence: EvidenceLike, question: str | None = None) -> ClaimReport:
        """As `judge_claim`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.judge_claim, claim, evidence, question)

    def consensus(self, answers: Sequence[str]) -> Consensus:
        """What several answers to one request come to: the claims that most make, some, and few.

        See docs/concepts.md#self-consistency. Nothing of it is held against evidence; `check` what it comes to.

        Args:
            answers: the answers of one model, or of several, to one request.

        Raises:
            InputError: there is no answer, one is no text or blank, or they have too many claims to compare.
            VerifierError: the network failed.
        """
        from assay.rewrite.probes import consensus_of

        texts = [coerce_text(answer, "answer") for answer in answers]
        if not all(text.strip() for text in texts):
            raise InputError("expected answers that say something, got a blank one")
        return consensus_of(texts, self._scorer)

    def judge_claims(self, rows: Sequence[tuple[str, EvidenceLike, str | None]]) -> list[ClaimReport]:
        """Judge many single claims, each against its own evidence, in shared calls of the network.

        The verdict is the one that a check gives. The score is not corrected to the share of supported claims in use
        (`prior` of the policy), which is that of answers and not that of a labelled data set.

        Args:
            rows: claim, evidence and the question that it answers, if any.

        Returns:
            One report for each row, in order.

        Raises:
            InputError: a claim is blank, or something given cannot be read.
        """
        claims = [whole_claim(coerce_text(claim, "claim")) for claim, _, _ in rows]
        jobs: list[Job] = []
        last: tuple[Any, PreparedEvidence] | None = None
        for claim, (_, evidence, question) in zip(claims, rows, strict=True):
            items = coerce_evidence(evidence)
            if last is None or last[0] != items:
                last = (items, self._prepare(items))
            jobs.append(Job(claim.text, last[1], question))
        judged = [
            one
            for begin in range(0, len(jobs), CLAIMS_PER_CALL)
            for one in self._judge(jobs[begin : begin + CLAIMS_PER_CALL], replace(self._thresholds, corrects=False))
        ]
        return [
            claim_report(claim, one, claim.text, self._policy, Stakes.MEDIUM)
            for claim, one in zip(claims, judged, strict=True)
        ]

    async def ajudge_claims(self, rows: Sequence[tuple[str, EvidenceLike, str | None]]) -> list[ClaimReport]:
        """As `judge_claims`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.judge_claims, rows)

    def _prepare(self, evidence: Sequence[Any]) -> PreparedEvidence:
        return prepare(evidence, self._scorer, self._indices, self._limits, self._locale)

    def _judge(self, jobs: Sequence[Job], thresholds: Thresholds | None = None) -> list[Judged]:
        asked = thresholds or self._thresholds
        return judge_jobs(jobs, self._scorer, self._combination, asked, self._policy.windows_per_claim)

    def _draft(self, request: CheckRequest, run: RunContext | None = None) -> Draft:
        """The first half of every check: what is asked, read and cut into jobs."""
        begun = time.perf_counter()
        text = coerce_text(request.answer, "answer")
        if run is None:  # of a run what the caller gives beside it is screened, and not what its tools returned
            request = self._with_screening(request)
        screened = time.perf_counter()
        evidence = self._prepare(coerce_evidence(request.evidence))
        prepared = time.perf_counter()
        draft = draft_of(request, text, evidence, self._extractor, self._limits, self._policy, self._prepare, run)
        if request.asks and self._llm is not None and wants_model(self._policy):
            draft = replace(draft, meter=meter_of(self._llm, self._budget))
        stages = {"evidence": prepared - screened, "claims": time.perf_counter() - prepared}
        return draft.timed(stages if request.screening is None else {"screening": screened - begun, **stages})

    def _finish(self, drafts: Sequence[Draft], known: Sequence[Judged] | None = None) -> list[HallucinationReport]:
        """The second half: one judging of the jobs of all drafts unless they are judged already, then each report."""
        begun = time.perf_counter()
        judged = iter(self._judge([job for draft in drafts for job in draft.jobs]) if known is None else known)
        spent = time.perf_counter() - begun
        return [
            self._finished(draft, hidden_from(draft, [next(judged) for _ in draft.jobs]), spent / len(drafts))
            for draft in drafts
        ]  # fmt: skip

    def _finished(self, draft: Draft, judged: Sequence[Judged], spent: float) -> HallucinationReport:
        begun = time.perf_counter()
        draft = with_logic_audit(draft, judged, self._policy, self._scorer)
        stages = {**draft.stages, "logic": time.perf_counter() - begun}
        if self._policy.judge != "off" or self._policy.omissions != "off":
            begun = time.perf_counter()
            draft = self._heard(draft, judged)
            stages = {**stages, "judge": time.perf_counter() - begun}
        session = self._looking_up(draft)
        if session is not None:
            begun = time.perf_counter()
            draft = self._verified(draft, judged, session)
            stages = {**stages, "knowledge": time.perf_counter() - begun}
        if self._policy.consistency_probes and draft.probing == UNASKED and not draft.request.later:
            begun = time.perf_counter()
            draft = self._probed(draft, judged)
            stages = {**stages, "probing": time.perf_counter() - begun}
        made = finish(draft.timed(stages), judged, self._policy, self.verifier, spent)
        told = None if session is None else session.tape()
        if draft.meter is None and told is None:
            return made
        from assay.models.chat import with_knowledge

        return made.taped(with_knowledge(None if draft.meter is None else draft.meter.recorded(), told))

    def _looking_up(self, draft: Draft) -> Session | None:
        """A session with the sources, where this check may ask any."""
        external, request = self._policy.external, draft.request
        grounded = self._policy.groundedness and request.task not in self._policy.ungrounded_tasks
        if self._knowledge is None or external.mode == "off" or not grounded:
            return None
        if not request.looks_up or not (request.asks or request.later):
            return None
        return self._knowledge.session(self._tenant, external.budget_s)

    def _verified(self, draft: Draft, judged: Sequence[Judged], session: Session) -> Draft:
        """The draft with what sources of knowledge say of the claims that the evidence does not bear out."""
        from assay.guard.verifying import Lookup, verification_of

        checkable = [claim for claim in draft.claims if claim.checkable]
        of_claims = list(zip(checkable, claim_results(draft, judged, self._policy), strict=False))
        done = frozenset(at for at, (claim, _) in enumerate(of_claims) if draft.run and draft.run.states_done(claim))
        unprimed = replace(self._thresholds, prior=None)
        lookup = Lookup(
            self._policy, session, draft.stakes, draft.question, day_of(draft.request),
            lambda jobs: self._judge(jobs, unprimed), self._prepare,
        )  # fmt: skip
        found = verification_of(of_claims, lookup, done)
        if draft.irrelevant is not None and found.texts and find_irrelevant(
            draft.question, found.texts, draft.text[: draft.read]
        ) is None:  # fmt: skip
            draft = replace(draft, irrelevant=None)
        return replace(draft, verification=found)

    def _probed(self, draft: Draft, judged: Sequence[Judged]) -> Draft:
        """The draft with what the model says when it is asked again; of an answer that is held back anyway, nothing."""
        if not concerns(finish(draft, judged, self._policy, self.verifier, 0.0).decision):
            return replace(draft, probing=HELD_BACK)
        checkable = [claim for claim in draft.claims if claim.checkable]
        of_claims = list(zip(checkable, claim_results(draft, judged, self._policy), strict=False))
        if draft.meter is None:
            return replace(draft, probing=unprobed(of_claims, UNPROBED if draft.request.asks else UNWISHED))
        prober = prober_of(draft.meter, self._scorer, self._policy)
        found = probe(prober, of_claims, draft.text, draft.question, draft.evidence_items)
        return replace(draft, probing=found)

    def _heard(self, draft: Draft, judged: Sequence[Judged]) -> Draft:
        """The draft with what a judge says of its claims, and what its text leaves out."""
        from assay.guard.check.llm_judge import JudgeContext, judge_stage_of

        checkable = [claim for claim in draft.claims if claim.checkable]
        of_claims = list(zip(checkable, claim_results(draft, judged, self._policy), strict=False))
        done = frozenset(at for at, (claim, _) in enumerate(of_claims) if draft.run and draft.run.states_done(claim))
        asking = JudgeContext(
            self._policy, draft.evidence, draft.text[: draft.read], draft.question, draft.meter,
            not draft.request.later, self._judging, self._judged_before,
        )  # fmt: skip
        return replace(draft, hearing=judge_stage_of(of_claims, asking, done))


def whole_claim(text: str) -> ExtractedClaim:
    """A text as one claim, whatever it says.

    Raises:
        InputError: the text is blank.
    """
    if not text.strip():
        raise InputError("A claim must say something; got a blank text.")
    span = Span(start=0, end=len(text))
    return ExtractedClaim(
        text=text, span=span, sentence=span, kind=ClaimKind.FACTUAL, checkable=True,
        critical=critical_reasons(text, text), hedge=hedge_score(text),
    )  # fmt: skip
