"""Ragas: a single-turn metric of claims that the retrieved contexts support, offline and without a judge.

    from assay.integrations.evaluators.ragas import AssaySupport
    evaluate(dataset, metrics=[AssaySupport()])

The extra `ragas` installs what this needs; tested with ragas 0.4.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from assay.config import Guard as ConfiguredGuard
from assay.guard import Guard
from assay.integrations.evaluators.verdicts import scored
from assay.integrations.run_gate import missing

try:
    from ragas.dataset_schema import SingleTurnSample
    from ragas.metrics.base import MetricType, SingleTurnMetric
except ImportError as error:
    raise missing("ragas", error, "assay.integrations.evaluators") from error

__all__ = ["AssaySupport"]


@dataclass
class AssaySupport(SingleTurnMetric):
    """The share of claims of a response that its retrieved contexts support, in [0, 1]."""

    name: str = "assay_support"
    _required_columns: dict[MetricType, set[str]] = field(
        default_factory=lambda: {MetricType.SINGLE_TURN: {"response", "retrieved_contexts"}}
    )
    guard: Guard | None = None
    options: dict[str, Any] = field(default_factory=dict)
    """Further ones of `Guard.check`."""

    def init(self, run_config: Any) -> None:
        """Load the verifier, once for all rows."""
        del run_config
        if self.guard is None:
            self.guard = ConfiguredGuard()

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Any) -> float:
        del callbacks
        guard = self.guard if self.guard is not None else ConfiguredGuard()
        found = await asyncio.to_thread(
            scored,
            guard,
            sample.response,
            sample.retrieved_contexts,
            sample.user_input,
            wants="`retrieved_contexts`",
            **self.options,
        )
        return found.score
