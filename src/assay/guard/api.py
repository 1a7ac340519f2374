"""The guard: its parts, and all that can be done with it.

A guard has one attribute, its parts, and no base classes. What is in this file is what checks outputs, many outputs
and single claims, and the asynchronous twins. The other methods stand with their subject, as functions of which `self`
is a guard, and are listed at the end of the class (docs/adr/0080).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Self, Unpack

from assay.errors import InputError
from assay.guard.authors import document_generation, generation, revision
from assay.guard.authors import repair as repairs
from assay.guard.check.evidence_index import Limits
from assay.guard.check.pipeline import check_many, check_one, ports_of
from assay.guard.check.single_claims import judge_single_claims
from assay.guard.check.tiers import tiers_of
from assay.guard.commit import sinks
from assay.guard.commit.receipts import ReceiptDesk
from assay.guard.options import CheckOptions, RunOptions, ScreenOptions, ToolCallOptions
from assay.guard.parts import GuardParts, policy_of
from assay.guard.protect import functions
from assay.guard.request import CheckRequest, EvidenceLike
from assay.guard.runs import checking as runs
from assay.guard.screening import screener as screening
from assay.guard.streams import checking as streams
from assay.models import PairScorer
from assay.policy import Policy
from assay.receipt import Receipt
from assay.schema import ClaimReport, HallucinationReport, Identity, Screening, Stakes, Structure, coerce_text
from assay.schema.run import Run, RunBuilder, ToolCall
from assay.text.claims import ClaimExtractor, RuleClaimExtractor
from assay.verify.network import Combination, load_combination

if TYPE_CHECKING:  # what checks runs is loaded with the first run, not with the first answer
    from assay.guard.runs.watch import CallDecision
    from assay.knowledge import KnowledgeBase
    from assay.models.chat import Budget, ChatModel
    from assay.rewrite.probes import Consensus
    from assay.verify.judge import JudgeOptions


class Guard:
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
            knowledge: the sources outside of the evidence that are asked about claims which it does not support, as
                the policy's `external` says; none is asked without it.
            budget: what one check may spend on the model; what it then could not ask keeps the output from passing.

        Raises:
            PolicyError: there is no such preset.
            VerifierError: the coefficients of the combination cannot be read.
        """
        self._parts = GuardParts(
            policy=policy_of(policy),
            scorer=scorer,
            extractor=extractor or RuleClaimExtractor(),
            combination=combination or load_combination(),
            limits=limits or Limits(),
            locale=locale,
            receipts=receipts,
            llm=llm,
            budget=budget,
            judging=judging,
            knowledge=knowledge,
        )

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._parts.policy

    @property
    def has_keys(self) -> bool:
        """Whether it was given keys, so that it issues receipts."""
        return self._parts.receipts is not None

    @property
    def fitted_prior(self) -> float:
        """The share of supported claims among the rows that the scores were fitted on, in (0, 1)."""
        return self._parts.combination.prior

    @property
    def tiers_digest(self) -> str:
        """Identifies everything that a signal depends on: the network, the rules and their version."""
        return self._parts.tiers_digest

    @property
    def verifier(self) -> Identity:
        """Identifies everything that a score depends on."""
        return self._parts.verifier

    @property
    def asks_nobody(self) -> bool:
        """Whether checks ask neither a chat model nor a source of knowledge: then equal ones have equal reports."""
        return self._parts.llm is None and self._parts.knowledge is None

    def under(self, policy: Policy | str) -> Guard:
        """A guard of the same parts under another policy; with the scorer it shares what that remembers.

        Raises:
            PolicyError: there is no such preset.
        """
        return self._of(self._parts.under(policy))

    def for_tenant(self, tenant: str | None) -> Self:
        """The same guard for the text of one tenant: what of it may go to which source of knowledge depends on that."""
        if tenant == self._parts.tenant or self._parts.knowledge is None:
            return self
        return self._of(replace(self._parts, tenant=tenant))

    def _of(self, parts: GuardParts) -> Self:
        """The same guard of other parts; what a class derived from this one keeps besides goes along."""
        made = copy(self)
        made._parts = parts  # noqa: SLF001 of its own class
        return made

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
            stakes: how much depends on it: low, medium or high.
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
            answer,
            evidence,
            question,
            stakes,
            task,
            schema,
            citations,
            claim_free,
            revisions_failed,
            run_id,
            asks,
            structure,
            as_of,
            entropy,
        )
        return check_one(request, self._parts)

    async def acheck(
        self, answer: str | bytes, evidence: EvidenceLike = None, **options: Unpack[CheckOptions]
    ) -> HallucinationReport:
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
        return check_many(requests, ports_of(self._parts))

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
        return judge_single_claims(rows, tiers_of(self._parts), self._parts.policy)

    async def ajudge_claims(self, rows: Sequence[tuple[str, EvidenceLike, str | None]]) -> list[ClaimReport]:
        """As `judge_claims`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.judge_claims, rows)

    def consensus(self, answers: Sequence[str]) -> Consensus:
        """What several answers to one request come to: the claims that most make, some, and few.

        See docs/concepts.md#self-consistency. Nothing of it is checked against evidence; `check` what it comes to.

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
        return consensus_of(texts, self._parts.scorer)

    async def ascreen(
        self, question: str, passages: Iterable[Any] | str | None, **options: Unpack[ScreenOptions]
    ) -> Screening:
        """As `screen`, off the event loop: the same options, the same result."""
        import asyncio

        return await asyncio.to_thread(self.screen, question, passages, **options)

    async def acheck_run(self, run: Run | RunBuilder | object, **options: Unpack[RunOptions]) -> HallucinationReport:
        """As `check_run`, off the event loop: the same options, the same report."""
        import asyncio

        if isinstance(run, RunBuilder):
            run = run.run()  # the builder may grow while the check runs
        return await asyncio.to_thread(self.check_run, run, **options)

    async def acheck_tool_call(
        self, run: Run | RunBuilder | object, call: ToolCall, **options: Unpack[ToolCallOptions]
    ) -> CallDecision:
        """As `check_tool_call`, off the event loop."""
        import asyncio

        if isinstance(run, RunBuilder):
            run = run.run()
        return await asyncio.to_thread(self.check_tool_call, run, call, **options)

    async def aissue(self, report: HallucinationReport, *, with_disclosure: bool = False) -> Receipt:
        """As `issue`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.issue, report, with_disclosure=with_disclosure)

    # Which passages may be evidence.
    screen = screening.screen
    contradictions = screening.contradictions

    # Agent runs, and their calls before they are executed.
    check_run = runs.check_run
    check_tool_call = runs.check_tool_call
    watch = runs.watch

    # Text while it is being made.
    stream = streams.stream
    astream = streams.astream

    # Functions and tools that let nothing out that does not pass.
    protect = functions.protect
    protect_tool = functions.protect_tool
    protect_tools = functions.protect_tools

    # Answers and documents out of evidence, by a chat model.
    generate = generation.generate
    agenerate = generation.agenerate
    generate_document = document_generation.generate_document
    agenerate_document = document_generation.agenerate_document

    # Answers that do not pass, corrected.
    repair = repairs.repair
    arepair = repairs.arepair
    revise = revision.revise
    arevise = revision.arevise
    revise_run = revision.revise_run
    arevise_run = revision.arevise_run
    checks = revision.checks
    run_checks = revision.run_checks
    attempts = revision.attempts_of
    settled = revision.settled

    # Receipts, and outputs handed to sinks by them.
    issue = sinks.issue
    commit = sinks.commit
    acommit = sinks.acommit
