"""Judges one answer of an agent by the share of its claims that its contexts do not support."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from assay.errors import InputError
from assay.schema import Action, ClaimReport, HallucinationReport, Verdict
from assay.skill.ledger import Ledger, Totals
from assay.skill.settings import SkillSettings

if TYPE_CHECKING:
    from assay.guard import Guard

Word = Literal["PASS", "WARN", "FAIL", "UNCHECKED"]
_JUDGED: Final = (Verdict.SUPPORTED, Verdict.UNSUPPORTED, Verdict.CONTRADICTED)


@dataclass(frozen=True, slots=True)
class Verification:
    """The result for one answer; its fields are the wire form of the skill (docs/skill.md)."""

    answer: str
    hallucination_score: float | None
    """The share of claims that are not supported, from 0 to 1; none where no claim could be judged."""
    verdict: Word
    num_claims: int
    num_verified: int
    num_unsupported: int
    unsupported_claims: tuple[str, ...]
    claim_details: tuple[Mapping[str, Any], ...]
    """Of each claim: `claim`, `is_supported`, `confidence`, `supporting_context`, `why`."""
    reasons: tuple[str, ...]
    """Why the verdict is not PASS, as sentences."""
    metrics: Totals
    """Over all checks, this one included."""

    def as_json(self) -> dict[str, Any]:
        """The wire form."""
        return asdict(self)


class SkillCheck:
    """Checks answers under the skill's settings.

    Args:
        guard: makes the guard, when the first answer has to be judged.
        settings: the settings of the skill.
        ledger: keeps results and metrics; none to keep nothing.
        basis: what results depend on besides the settings, such as the digest of the policy that they name: a kept
            result of another basis is not used. None where they depend on what may change unseen: then none is kept.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        guard: "Callable[[], Guard]",
        settings: SkillSettings,
        ledger: Ledger | None = None,
        clock: Callable[[], float] = time.time,
        basis: str | None = "",
    ) -> None:
        self._basis = basis
        self._guard, self._settings, self._ledger, self._clock = guard, settings, ledger, clock

    def verify(self, answer: str, contexts: Sequence[str], question: str | None = None) -> Verification:
        """Checks an answer, or takes the result from the ledger; either way it counts in the metrics.

        Args:
            answer: the answer of the agent.
            contexts: the evidence that the agent had.
            question: the question that it answers.

        Raises:
            InputError: answer or contexts cannot be read.
        """
        if not answer.strip():
            raise InputError("the answer is empty; expected the text that is to be checked")
        now, digest = self._clock(), self._digest(answer, contexts, question)
        verification = self._remembered(digest, now)
        if verification is None:
            verification = self._judge(answer, [context for context in contexts if context.strip()], question)
            self._remember(digest, now, verification)
        return replace(verification, metrics=self._count(verification, digest, now))

    def _digest(self, answer: str, contexts: Sequence[str], question: str | None) -> str:
        told = [self._settings.model_dump(mode="json"), self._basis, answer, list(contexts), question]
        content = json.dumps(told, sort_keys=True)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()

    def _remembered(self, digest: str, now: float) -> Verification | None:
        if self._ledger is None or not self._keeps_results:
            return None
        row = self._ledger.remembered(digest, now - self._settings.performance.cache_ttl_seconds)
        if row is None:
            return None
        try:
            lists = {name: tuple(row[name]) for name in ("unsupported_claims", "claim_details", "reasons")}
            return Verification(**{**row, **lists, "metrics": Totals()})
        except (KeyError, TypeError):
            return None  # written by another version or another program: the answer is checked again

    def _remember(self, digest: str, now: float, verification: Verification) -> None:
        # Where the text of claims is not to be kept, no result is: it holds that text.
        if self._ledger is not None and self._keeps_results and self._keeps_text:
            row = {name: value for name, value in verification.as_json().items() if name != "metrics"}
            self._ledger.remember(digest, now, row)

    @property
    def _keeps_results(self) -> bool:
        return self._settings.performance.cache_verifications and self._basis is not None

    @property
    def _keeps_text(self) -> bool:
        return self._settings.logging.log_unsupported_claims

    def _count(self, verification: Verification, digest: str, now: float) -> Totals:
        """The metrics over all checks, this one included."""
        if self._ledger is None or not self._settings.logging.enabled:
            return Totals()
        claims = verification.unsupported_claims
        if not self._keeps_text:
            claims = ("",) * len(claims)
        self._ledger.add(
            at=now,
            digest=digest,
            verdict=verification.verdict,
            score=verification.hallucination_score,
            supported=verification.num_verified,
            unsupported=claims,
        )
        return self._ledger.totals()

    def _judge(self, answer: str, contexts: Sequence[str], question: str | None) -> Verification:
        if not contexts:
            return _unchecked(answer, "there is no context to check the answer against")
        report = self._guard().check(answer, evidence=list(contexts), question=question)
        claims = [claim for claim in report.claims if self._is_counted(claim)]
        if len(claims) > self._settings.claims.max_claims_per_answer:
            return _unchecked(answer, f"the answer makes {len(claims)} claims, more than max_claims_per_answer")
        return self._verification(answer, claims, report)

    def _is_counted(self, claim: ClaimReport) -> bool:
        return claim.verdict is not Verdict.NOT_CHECKABLE or not self._settings.claims.ignore_meta_statements

    def _verification(self, answer: str, claims: Sequence[ClaimReport], report: HallucinationReport) -> Verification:
        unsupported = [claim for claim in claims if claim.verdict is not Verdict.SUPPORTED]
        score = len(unsupported) / len(claims) if claims else None
        word = self._word(score, [claim for claim in claims if claim.verdict not in _JUDGED], report)
        return Verification(
            answer=answer,
            hallucination_score=score,
            verdict=word,
            num_claims=len(claims),
            num_verified=len(claims) - len(unsupported),
            num_unsupported=len(unsupported),
            unsupported_claims=tuple(claim.text for claim in unsupported),
            claim_details=tuple(_detail(claim) for claim in claims),
            reasons=tuple(f"{_why(claim)}: {claim.text}" for claim in unsupported) or _policy_reasons(report, word),
            metrics=Totals(),
        )

    def _word(self, score: float | None, unjudged: Sequence[ClaimReport], report: HallucinationReport) -> Word:
        detection = self._settings.detection
        if score is not None and score >= detection.critical_threshold and score > 0:
            return "FAIL"
        if score is not None and score >= detection.threshold and score > 0:
            return "WARN"
        # Unread text is never a PASS, nor is an answer that the policy holds back although every claim is supported.
        if unjudged or report.coverage.unchecked or (not score and report.action is not Action.EMIT):
            return "UNCHECKED"
        return "PASS"


def _policy_reasons(report: HallucinationReport, word: Word) -> tuple[str, ...]:
    """Why an answer without unsupported claims is UNCHECKED: the reasons of the policy."""
    return report.decision.reasons if word == "UNCHECKED" else ()


def _unchecked(answer: str, reason: str) -> Verification:
    return Verification(answer, None, "UNCHECKED", 0, 0, 0, (), (), (reason,), Totals())


def _why(claim: ClaimReport) -> str:
    if claim.issues:
        return claim.issues[0].message.rstrip(".")
    reasons = {Verdict.CONTRADICTED: "the contexts say otherwise", Verdict.UNSUPPORTED: "no context says it"}
    return reasons.get(claim.verdict, "it could not be checked")


def _detail(claim: ClaimReport) -> dict[str, Any]:
    supported = claim.verdict is Verdict.SUPPORTED
    return {
        "claim": claim.text,
        "is_supported": supported,
        "confidence": claim.score,
        "supporting_context": claim.evidence_spans[0].text if supported and claim.evidence_spans else None,
        "why": None if supported else _why(claim),
    }
