"""What a guard is made of: one value, out of which each of its capabilities takes what it needs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, Unpack

from assay._version import __version__
from assay.guard.check.evidence_index import Limits
from assay.guard.commit.receipts import ReceiptDesk
from assay.guard.conflicts.disagreement import load_disagreement
from assay.guard.lru import LruCache
from assay.guard.options import CheckOptions, RunOptions
from assay.guard.request import EvidenceLike
from assay.models import PairScorer
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
    """What a guard remembers: results that depend on their key alone. Safe to use from several threads."""

    judged: LruCache[JudgedStatement] = field(default_factory=lambda: LruCache(2_048))
    """What a chat model said of claims when it was asked as a judge."""
    screened: LruCache[Screening] = field(default_factory=lambda: LruCache(64))
    indices: IndexCache = field(default_factory=IndexCache)
    """Evidence, cut and indexed."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GuardParts:
    """What a guard is made of. Another guard of nearly the same parts is `dataclasses.replace` of them."""

    policy: Policy
    scorer: PairScorer
    """The network that judges pairs."""
    extractor: ClaimExtractor
    combination: Combination
    """What turns signals into probabilities."""
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
    """Whose text is checked: what of it may go to which source of knowledge depends on that."""
    caches: Caches = field(default_factory=Caches)

    def under(self, policy: Policy | str) -> GuardParts:
        """The same parts under another policy, with nothing remembered but what the scorer remembers.

        Raises:
            PolicyError: there is no such preset.
        """
        return replace(self, policy=policy_of(policy), caches=Caches())

    @property
    def tiers_digest(self) -> str:
        """Identifies everything that a signal depends on: the network, the rules and their version."""
        parts = (self.scorer.digest, self.extractor.name, self.locale, __version__)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def verifier(self) -> Identity:
        """Identifies everything that a score depends on."""
        parts = (self.tiers_digest, self.combination.digest, load_disagreement().digest)
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return Identity(name=f"assay {__version__} with {self.scorer.name}", digest=digest)

    @property
    def policy_identity(self) -> Identity:
        """Identifies the policy in force."""
        return Identity(name=self.policy.name, digest=self.policy.digest, overlays=self.policy.overlays)


def policy_of(policy: Policy | str) -> Policy:
    """A policy, or a preset by its name.

    A policy is validated again: a value made by `model_copy` or `model_construct` may hold NaN, which no score is ever
    below.

    Raises:
        PolicyError: there is no such preset.
    """
    return preset(policy) if isinstance(policy, str) else validated(policy)


class Assembled(Protocol):
    """What is made of parts: a guard, as the methods see it that stand with their subject (docs/adr/0080)."""

    @property
    def _parts(self) -> GuardParts: ...


class Checking(Assembled, Protocol):
    """What checks answers and runs, for what checks several versions of an output or every part of a stream."""

    def check(
        self, answer: str | bytes, evidence: EvidenceLike = None, **options: Unpack[CheckOptions]
    ) -> HallucinationReport:
        """As `Guard.check`."""
        ...

    def check_run(self, run: Run | RunBuilder | object, **options: Unpack[RunOptions]) -> HallucinationReport:
        """As `Guard.check_run`."""
        ...
