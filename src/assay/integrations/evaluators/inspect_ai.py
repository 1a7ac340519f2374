"""Inspect AI: a scorer that holds the model's answer against the sample's evidence.

    from assay.integrations.evaluators.inspect_ai import assay_scorer
    Task(dataset=..., solver=[generate()], scorer=assay_scorer())

Evidence is `metadata["evidence"]` of a sample, or of the task's state; name another key with `evidence=`. The value is
the share of claims that are supported; the explanation names the findings, and the metadata has the claims. The extra
`inspect-ai` installs what this needs; tested with inspect-ai 0.3.
"""

import asyncio
from typing import Any, Unpack

from assay.config import Guard as ConfiguredGuard
from assay.guard import AskedCheckOptions, Guard, require_options
from assay.integrations.evaluators.verdicts import scored, texts
from assay.integrations.run_gate import missing

try:
    from inspect_ai.scorer import Score, Target, accuracy, mean, scorer, stderr
    from inspect_ai.solver import TaskState
except ImportError as error:
    raise missing("inspect-ai", error, "assay.integrations.evaluators") from error

__all__ = ["assay_scorer"]


@scorer(metrics={"supported": [mean(), stderr()], "emitted": [accuracy(), stderr()]})
def assay_scorer(
    guard: Guard | None = None, *, evidence: str = "evidence", **options: Unpack[AskedCheckOptions]
) -> Any:
    """A scorer with two values: `supported`, the share of claims, and `emitted`, 1 where the policy emits.

    Args:
        guard: what checks; `general` by default.
        evidence: the key of the metadata that has the evidence.
        options: further ones of `Guard.check`.
    """
    require_options(options, AskedCheckOptions)
    checks = guard if guard is not None else ConfiguredGuard()

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 the framework's own signature
        answer = state.output.completion
        given = texts((state.metadata or {}).get(evidence))
        wants = f"metadata[{evidence!r}] of the sample"
        found = await asyncio.to_thread(scored, checks, answer, given, state.input_text, wants=wants, **options)
        value = {"supported": found.score, "emitted": float(found.passed)}
        return Score(value=value, answer=answer, explanation=found.reason, metadata=found.details)

    return score
