"""DeepEval: a metric of claims that the retrieval context supports, offline and without a judge.

    from assay.integrations.evaluators.deepeval import AssayMetric
    assert_test(LLMTestCase(input=..., actual_output=..., retrieval_context=[...]), [AssayMetric()])

The extra `deepeval` installs what this needs; tested with deepeval 4.
"""

import asyncio
from typing import Any, Unpack

from assay.config import Guard as ConfiguredGuard
from assay.errors import InputError
from assay.guard import AskedCheckOptions, Guard, require_options
from assay.integrations.evaluators.verdicts import scored, texts
from assay.integrations.run_gate import missing

try:
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase
except ImportError as error:
    raise missing("deepeval", error, "assay.integrations.evaluators") from error

__all__ = ["AssayMetric"]


class AssayMetric(BaseMetric):
    """The share of claims of `actual_output` that `retrieval_context`, else `context`, supports."""

    def __init__(
        self, guard: Guard | None = None, *, threshold: float | None = None, **options: Unpack[AskedCheckOptions]
    ) -> None:
        """Make the metric.

        Args:
            guard: what checks; `general` by default.
            threshold: the share from which a case passes; by default it passes where the policy emits.
            options: further ones of `Guard.check`.

        Raises:
            InputError: the threshold is not from 0 to 1.
            TypeError: there is no such option.
        """
        require_options(options, AskedCheckOptions)
        if threshold is not None and not 0 <= threshold <= 1:
            raise InputError(f"expected a threshold from 0 to 1, got {threshold!r}")
        self._guard, self._options = guard if guard is not None else ConfiguredGuard(), options
        self._decides_by_share = threshold is not None
        self.threshold = 1.0 if threshold is None else threshold
        self.score: float | None = None
        self.reason: str | None = None
        self.success: bool | None = None
        self.error: str | None = None
        self.score_breakdown: dict[str, Any] | None = None
        self.async_mode, self.include_reason, self.strict_mode = True, True, False
        self.evaluation_model, self.evaluation_cost, self.skipped = self._guard.verifier.name, 0.0, False

    def measure(self, test_case: LLMTestCase, *_args: Any, **_kwargs: Any) -> float:
        """The share of supported claims.

        Raises:
            InputError: the case has no answer or no context.
        """
        context = test_case.retrieval_context if test_case.retrieval_context is not None else test_case.context
        found = scored(
            self._guard,
            test_case.actual_output,
            texts(context),
            test_case.input,
            wants="`retrieval_context`",
            **self._options,
        )
        self.score, self.reason, self.score_breakdown = found.score, found.reason, found.details["metrics"]
        self.success = found.score >= self.threshold if self._decides_by_share else found.passed
        return found.score

    async def a_measure(self, test_case: LLMTestCase, *_args: Any, **_kwargs: Any) -> float:
        """As `measure`, off the event loop."""
        return await asyncio.to_thread(self.measure, test_case)

    def is_successful(self) -> bool:
        """Whether the last case passed."""
        return bool(self.success)

    @property
    def __name__(self) -> str:
        """The name in reports."""
        return "assay"
