"""One answer of an agent, judged by the share of its claims that its contexts do not support."""

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
    """What the skill says of an answer; its fields are the skill's wire form (docs/skill.md)."""

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
    """Why it is no PASS, for people."""
    metrics: Totals
    """Over all checks, this one included."""

    def as_json(self) -> dict[str, Any]:
        """The wire form."""
        return asdict(self)


class SkillCheck:
    """Checks answers under the skill's settings.

    Args:
        guard: makes the guard that judges, when the first answer has to be judged.
        settings: the skill's.
        ledger: what remembers; none to remember nothing.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        guard: "Callable[[], Guard]",
        settings: SkillSettings,
        ledger: Ledger | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._guard, self._settings, self._ledger, self._clock = guard, settings, ledger, clock

    def verify(self, answer: str, contexts: Sequence[str], question: str | None = None) -> Verification:
        """The verification of an answer; each counts in the metrics, a remembered one too.

        Args:
            answer: what the agent says.
            contexts: what it had before it.
            question: what it was asked.

        Raises:
            InputError: answer or contexts cannot be read.
        """
        if not answer.strip():
            raise InputError("the answer is empty; expected the text that is to be checked")
        now, digest = self._clock(), self._digest(answer, contexts, question)
        found = self._remembered(digest, now)
        if found is None:
            found = self._judged(answer, [one for one in contexts if one.strip()], question)
            self._remember(digest, now, found)
        return replace(found, metrics=self._counted(found, digest, now))

    def _digest(self, answer: str, contexts: Sequence[str], question: str | None) -> str:
        asked = json.dumps([self._settings.model_dump(mode="json"), answer, list(contexts), question], sort_keys=True)
        return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()

    def _remembered(self, digest: str, now: float) -> Verification | None:
        performance = self._settings.performance
        if self._ledger is None or not performance.cache_verifications:
            return None
        remembered = self._ledger.remembered(digest, now - performance.cache_ttl_seconds)
        if remembered is None:
            return None
        try:
            lists = {name: tuple(remembered[name]) for name in ("unsupported_claims", "claim_details", "reasons")}
            return Verification(**{**remembered, **lists, "metrics": Totals()})
        except (KeyError, TypeError):
            return None  # of another version, or somebody else's: it is checked again

    def _remember(self, digest: str, now: float, found: Verification) -> None:
        # With claims that are not to be kept, nothing that holds their text is.
        if self._ledger is not None and self._settings.performance.cache_verifications and self._keeps_text:
            self._ledger.remember(digest, now, {k: v for k, v in found.as_json().items() if k != "metrics"})

    @property
    def _keeps_text(self) -> bool:
        return self._settings.logging.log_unsupported_claims

    def _counted(self, found: Verification, digest: str, now: float) -> Totals:
        if self._ledger is None or not self._settings.logging.enabled:
            return Totals()
        claims = found.unsupported_claims if self._keeps_text else tuple("" for _ in found.unsupported_claims)
        self._ledger.add(
            at=now,
            digest=digest,
            verdict=found.verdict,
            score=found.hallucination_score,
            supported=found.num_verified,
            unsupported=claims,
        )
        return self._ledger.totals()

    def _judged(self, answer: str, contexts: Sequence[str], question: str | None) -> Verification:
        if not contexts:
            return _unchecked(answer, "there is no context to check the answer against")
        report = self._guard().check(answer, evidence=list(contexts), question=question)
        claims = [one for one in report.claims if self._counts(one)]
        if len(claims) > self._settings.claims.max_claims_per_answer:
            return _unchecked(answer, f"the answer makes {len(claims)} claims, more than max_claims_per_answer")
        return self._worded(answer, claims, report)

    def _counts(self, claim: ClaimReport) -> bool:
        return claim.verdict is not Verdict.NOT_CHECKABLE or not self._settings.claims.ignore_meta_statements

    def _worded(self, answer: str, claims: Sequence[ClaimReport], report: HallucinationReport) -> Verification:
        wrong = [one for one in claims if one.verdict is not Verdict.SUPPORTED]
        score = len(wrong) / len(claims) if claims else None
        word = self._word(score, [one for one in claims if one.verdict not in _JUDGED], report)
        return Verification(
            answer=answer,
            hallucination_score=score,
            verdict=word,
            num_claims=len(claims),
            num_verified=len(claims) - len(wrong),
            num_unsupported=len(wrong),
            unsupported_claims=tuple(one.text for one in wrong),
            claim_details=tuple(_detail(one) for one in claims),
            reasons=tuple(f"{_why(one)}: {one.text}" for one in wrong) or _left_over(report, word),
            metrics=Totals(),
        )

    def _word(self, score: float | None, unread: Sequence[ClaimReport], report: HallucinationReport) -> Word:
        detection = self._settings.detection
        if score is not None and score >= detection.critical_threshold and score > 0:
            return "FAIL"
        if score is not None and score >= detection.threshold and score > 0:
            return "WARN"
        # Nothing that was not read passes as clean, nor what the policy holds back although no claim is unsupported.
        if unread or report.coverage.unchecked or (not score and report.action is not Action.EMIT):
            return "UNCHECKED"
        return "PASS"


def _left_over(report: HallucinationReport, word: Word) -> tuple[str, ...]:
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
