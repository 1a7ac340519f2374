"""The guard: its parts and its methods.

A guard has one attribute, its parts, and no base classes. This file contains the checks of one output, of many outputs
and of single claims, and the asynchronous twins. The other methods live with their subject, as functions whose `self`
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
from assay.models import ConflictScorer, EmbeddedConflicts, PairScorer
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

    A guard keeps nothing of what it checked except caches keyed by content; threads and tasks may share it.
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
        conflicts: ConflictScorer | None = None,
    ) -> None:
        """Assembles a guard from its parts.

        Args:
            policy: a policy, or the name of a preset.
            scorer: the network that judges pairs of premise and claim.
            extractor: extracts claims; by rules by default.
            combination: turns signals into probabilities; the fitted one by default.
            limits: how much one check reads.
            locale: how numbers in the texts are written, such as `en` or `de`.
            receipts: issues receipts and admits outputs to `commit`; without it neither is possible.
            llm: the chat model for `generate` and `repair`, and for checks whose policy requires one, for example for
                `consistency_probes`; without it no model is asked.
            judging: how the model is asked as a judge, where the policy uses one.
            knowledge: sources outside the evidence that are asked about claims which the evidence does not support, as
                the policy's `external` says; without it none is asked.
            budget: what one check may spend on the model; questions beyond it keep the output from passing.
            conflicts: tells whether two sources cannot both be right; the network in the package by default.

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
            conflicts=conflicts or EmbeddedConflicts(),
        )

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._parts.policy

    @property
    def has_keys(self) -> bool:
        """Whether it has keys, so that it can issue receipts."""
        return self._parts.receipts is not None

    @property
    def fitted_prior(self) -> float:
        """The share of supported claims among the rows that the scores were fitted on, in (0, 1)."""
        return self._parts.combination.prior

    @property
    def tiers_digest(self) -> str:
        """The digest of everything that a signal depends on: the network, the rules and their version."""
        return self._parts.tiers_digest

    @property
    def verifier(self) -> Identity:
        """The identity of everything that a score depends on."""
        return self._parts.verifier

    @property
    def asks_nobody(self) -> bool:
        """Whether checks ask neither a chat model nor a source of knowledge, so that reports are reproducible."""
        return self._parts.llm is None and self._parts.knowledge is None

    def under(self, policy: Policy | str) -> Guard:
        """A guard of the same parts under another policy; it shares the scorer, including the scorer's caches.

        Raises:
            PolicyError: there is no such preset.
        """
        return self._of(self._parts.under(policy))

    def for_tenant(self, tenant: str | None) -> Self:
        """The same guard for the text of one tenant, which determines what may be sent to which source of knowledge."""
        if tenant == self._parts.tenant or self._parts.knowledge is None:
            return self
        return self._of(replace(self._parts, tenant=tenant))

    def with_token_budget(self, tokens: int) -> Self:
        """The same guard, a check of which may ask its chat model as often as it needs, for at most so many tokens; a
        lower bound on tokens stays, and so does that on seconds."""
        from assay.models.chat import Budget

        budget = self._parts.budget or Budget()
        most = tokens if budget.tokens is None else min(tokens, budget.tokens)
        return self._of(replace(self._parts, budget=replace(budget, tokens=most, calls=None)))

    def _of(self, parts: GuardParts) -> Self:
        """The same guard with other parts; further attributes of a derived class are kept."""
        guard = copy(self)
        guard._parts = parts  # noqa: SLF001 of its own class
        return guard

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
            question: the question that the output answers.
            stakes: how much depends on it: low, medium or high.
            task: the kind of task; the policy may exempt some, such as `creative`, from evidence.
            schema: a JSON Schema that the output has to satisfy.
            citations: citation objects as model providers return them.
            claim_free: whether the output is declared to contain no claims.
            revisions_failed: how many revisions of it have already failed.
            run_id: a name for the run; derived from the content by default.
            asks: whether the guard's chat model may be asked where the policy says so; if not, the report comes from
                the embedded verifier alone, and what the policy requires of a model is unchecked.
            structure: how a JSON answer is checked in addition to its schema: rules over several fields, references
                into the evidence, values that are not claims. With a schema every value is a claim with its JSON
                Pointer.
            as_of: the day on which the answer has to hold; evidence that has expired by then is reported. No clock is
                read, so without it evidence is only compared with other evidence.
            entropy: the normalised entropy of the output's tokens, from 0 to 1, if known; it matters where the policy
                decides whether to answer.

        Returns:
            The report; the same input gives the same report, timing aside, whatever the order of the evidence.

        Raises:
            InputError: an argument cannot be read.
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
        """Check outputs one after another; several of them share a call of the network.

        Args:
            requests: requests, or mappings with their fields.

        Yields:
            One report for each request, in order.

        Raises:
            InputError: a request cannot be read; the reports before it have been yielded.
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
        """Judge one text as a single claim, without splitting it; for evaluation and for testing the verifier.

        Raises:
            InputError: the claim is blank, or an argument cannot be read.
        """
        return self.judge_claims([(claim, evidence, question)])[0]

    async def ajudge_claim(self, claim: str, evidence: EvidenceLike, question: str | None = None) -> ClaimReport:
        """As `judge_claim`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.judge_claim, claim, evidence, question)

    def judge_claims(self, rows: Sequence[tuple[str, EvidenceLike, str | None]]) -> list[ClaimReport]:
        """Judge many single claims, each against its own evidence, in shared calls of the network.

        The verdict is the same as in a check. The score is not corrected to the share of supported claims in use (the
        policy's `prior`), which applies to answers and not to a labelled data set.

        Args:
            rows: claims, each with its evidence and the question that it answers, if any.

        Returns:
            One report for each row, in order.

        Raises:
            InputError: a claim is blank, or an argument cannot be read.
        """
        return judge_single_claims(rows, tiers_of(self._parts), self._parts.policy)

    async def ajudge_claims(self, rows: Sequence[tuple[str, EvidenceLike, str | None]]) -> list[ClaimReport]:
        """As `judge_claims`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.judge_claims, rows)

    def consensus(self, answers: Sequence[str]) -> Consensus:
        """The consensus of several answers to one request: the claims that most, some and few of them make.

        See docs/concepts.md#self-consistency. Nothing is checked against evidence; use `check` on the result.

        Args:
            answers: the answers of one or several models to one request.

        Raises:
            InputError: there is no answer, one is blank or not a text, or they have too many claims to compare.
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

    # Agent runs, and tool calls before they are executed.
    check_run = runs.check_run
    check_tool_call = runs.check_tool_call
    watch = runs.watch

    # Text while it is being generated.
    stream = streams.stream
    astream = streams.astream

    # Functions and tools behind the gate.
    protect = functions.protect
    protect_tool = functions.protect_tool
    protect_tools = functions.protect_tools

    # Answers and documents generated from evidence by a chat model.
    generate = generation.generate
    agenerate = generation.agenerate
    generate_document = document_generation.generate_document
    agenerate_document = document_generation.agenerate_document

    # Corrections of answers that do not pass.
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

    # Receipts, and commits of outputs to sinks.
    issue = sinks.issue
    commit = sinks.commit
    acommit = sinks.acommit
