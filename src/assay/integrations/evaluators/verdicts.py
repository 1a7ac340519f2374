"""The verdict that all evaluators share: a score, whether the answer passes, and why."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

from assay.errors import InputError
from assay.guard import AskedCheckOptions, EvidenceLike, Guard
from assay.schema import Action, HallucinationReport


@dataclass(frozen=True, slots=True)
class Scored:
    """The verdict on one answer, for an evaluation tool."""

    report: HallucinationReport

    @property
    def passed(self) -> bool:
        """Whether the policy emits the answer."""
        return self.report.action is Action.EMIT

    @property
    def score(self) -> float:
        """The share of checkable claims that are supported, in [0, 1]; 1 where there is nothing to check.

        It is `factscore` of the report (docs/metrics.md). What could not be checked counts as unsupported.
        """
        value = self.report.metrics["factscore"].value
        return 1.0 if value is None and self.passed else float(value or 0.0)

    @property
    def reason(self) -> str:
        """Why, in a few lines: the summary and the first findings with their codes."""
        findings = [
            f"{issue.code}: {issue.message}"
            for claim in self.report.claims
            for issue in claim.issues[:1]
            if claim.verdict.value not in {"supported", "not_checkable"}
        ]
        return "\n".join([self.report.summary(), *findings[:5]])

    @property
    def details(self) -> dict[str, Any]:
        """What a tool may keep beside the score: action, overall score, metrics and claims with verdicts."""
        report = self.report
        return {
            "action": report.action.value,
            "overall_score": report.overall_score,
            "policy": report.policy.name,
            "metrics": {name: one.value for name, one in report.metrics.items() if one.value is not None},
            "claims": [{"text": one.text, "verdict": one.verdict.value, "score": one.score} for one in report.claims],
        }


def scored(
    guard: Guard,
    answer: object,
    evidence: EvidenceLike,
    question: object = None,
    *,
    wants: str,
    **options: Unpack[AskedCheckOptions],
) -> Scored:
    """The verdict on an answer.

    Args:
        guard: what checks.
        answer: the answer.
        evidence: what it is checked against; none at all is an error, an empty list is not.
        question: the question that it answers, where it is known.
        wants: where the tool keeps evidence, for the message of the error.
        options: further ones of `Guard.check`.

    Raises:
        InputError: there is no answer, or no evidence.
    """
    if not isinstance(answer, str):
        raise InputError(f"expected an answer that is text, got {type(answer).__name__}")
    if evidence is None:
        raise InputError(f"expected evidence in {wants}, found none; an answer is only measured against evidence")
    asked = question if isinstance(question, str) and question.strip() else None
    return Scored(guard.check(answer, evidence, question=asked, **options))


def texts(value: object) -> list[str] | None:
    """Evidence as tools give it: a text, a list of texts or documents, or nothing."""
    if value is None:
        return None
    if isinstance(value, str):
        return [value]
    if isinstance(value, Iterable):
        return [str(getattr(one, "page_content", getattr(one, "content", one))) for one in value]
    raise InputError(f"expected evidence as a text or a list of texts, got {type(value).__name__}")
