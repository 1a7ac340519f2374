"""The parts of a guard: one value from which each of its methods takes what it needs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, Unpack

from assay._lru import LruCache
from assay._version import __version__
from assay.guard.check.evidence_index import Limits
from assay.guard.commit.receipts import ReceiptDesk
from assay.guard.conflicts.disagreement import load_disagreement
from assay.guard.options import CheckOptions, RunOptions
from assay.guard.request import EvidenceLike
from assay.models import ConflictScorer, EmbeddedConflicts, PairScorer
from assay.policy import Policy, preset, validated
from assay.retrieve import IndexCache
from assay.schema import HallucinationReport, Identity, Screening
from assay.schema.run import Run, RunBuilder
from assay.text.claims import ClaimExtractor
from assay.verify.network import Combination

if TYPE_CHECKING:
    from assay.knowledge import KnowledgeBase
    from assay.models.chat import Budget, ChatModel
    from assay.verify.judge import JudgedStatement, JudgeOptions


@dataclass(frozen=True, slots=True, eq=False)
class Caches:
    """The caches of a guard: results that depend on their key alone. Safe to use from several threads."""

    judged: LruCache[JudgedStatement] = field(default_factory=lambda: LruCache(2_048))
    """Judgements of claims by a chat model as a judge."""
    screened: LruCache[Screening] = field(default_factory=lambda: LruCache(64))
    indices: IndexCache = field(default_factory=IndexCache)
    """Evidence, split into windows and indexed."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GuardParts:
    """The parts of a guard. Use `dataclasses.replace` to get another guard with nearly the same parts."""

    policy: Policy
    scorer: PairScorer
    """The network that judges pairs of premise and claim."""
    conflicts: ConflictScorer = field(default_factory=EmbeddedConflicts)
    """The network that tells whether two passages of two sources cannot both be right."""
    extractor: ClaimExtractor
    combination: Combination
    """Turns signals into probabilities."""
    limits: Limits
    locale: str
    """How numbers in the texts are written."""
    receipts: ReceiptDesk | None = None
    llm: ChatModel | None = None
    budget: Budget | None = None
    """What one check may spend on the chat model."""
    judging: JudgeOptions | None = None
    """How the chat model is asked as a judge."""
    knowledge: KnowledgeBase | None = None
    tenant: str | None = None
    """The tenant whose text is checked, which determines what may be sent to which source of knowledge."""
    caches: Caches = field(default_factory=Caches)

    def under(self, policy: Policy | str) -> GuardParts:
        """The same parts under another policy and with empty caches; the scorer keeps its own.

        Raises:
            PolicyError: there is no such preset.
        """
        return replace(self, policy=policy_of(policy), caches=Caches())

    @property
    def tiers_digest(self) -> str:
        """The digest of everything that a signal depends on: the network, the rules and their version."""
        parts = (self.scorer.digest, self.extractor.name, self.locale, __version__)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def verifier(self) -> Identity:
        """The identity of everything that a score depends on."""
        parts = (self.tiers_digest, self.combination.digest, load_disagreement().digest, self.conflicts.digest)
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return Identity(name=f"assay {__version__} with {self.scorer.name}", digest=digest)

    @property
    def policy_identity(self) -> Identity:
        """The identity of the policy in force."""
        return Identity(name=self.policy.name, digest=self.policy.digest, overlays=self.policy.overlays)


def policy_of(policy: Policy | str) -> Policy:
    """A policy, or the preset with that name.

    A policy is validated again: a value made by `model_copy` or `model_construct` may contain NaN, and no score is ever
    below NaN.

    Raises:
        PolicyError: there is no such preset.
    """
    return preset(policy) if isinstance(policy, str) else validated(policy)


class HasParts(Protocol):
    """A guard as seen by the methods that live with their subject: an object with parts (docs/adr/0080)."""

    @property
    def _parts(self) -> GuardParts: ...


class Checker(HasParts, Protocol):
    """A guard that checks answers and runs, for methods that check several versions or the parts of a stream."""

    def check(
        self, answer: str | bytes, evidence: EvidenceLike = None, **options: Unpack[CheckOptions]
    ) -> HallucinationReport:
        """As `Guard.check`."""
        ...

    def check_run(self, run: Run | RunBuilder | object, **options: Unpack[RunOptions]) -> HallucinationReport:
        """As `Guard.check_run`."""
        ...
