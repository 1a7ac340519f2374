"""DSPy: a module around a module whose answers come out only if they pass, a reward for `Refine`, a metric.

    from assay.integrations.dspy import Checked, reward
    rag = Checked(dspy.Refine(MyRAG(), N=3, reward_fn=reward(guard), threshold=1.0), guard)

`Refine` has the answer written again with advice until the guard emits it, or its attempts are used up; `Checked` then
keeps back what still does not pass. `metric` scores examples for `dspy.Evaluate` and for optimisers, so that a program
is compiled for answers that the evidence supports.

Evidence, question and answer are fields: of the call or, where the module retrieves by itself, of its prediction. The
extra `dspy` installs what this needs; tested with dspy 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from assay.errors import InputError, WithheldError
from assay.guard import AskedCheckOptions, Guard, require_options
from assay.guard.protect import OnWithheld
from assay.integrations.run_gate import missing
from assay.policy import answer_of, fallback_response
from assay.schema import Action, HallucinationReport

try:
    import dspy
except ImportError as error:
    raise missing("dspy", error) from error

__all__ = ["Checked", "Fields", "metric", "reward"]


@dataclass(frozen=True, slots=True)
class Fields:
    """Under which names a program has what a check needs."""

    answer: str = "answer"
    evidence: str = "context"
    question: str = "question"

    def check(
        self, guard: Guard, given: Mapping[str, Any], prediction: Any, **options: Unpack[AskedCheckOptions]
    ) -> HallucinationReport:
        """The report on the answer of a prediction.

        Args:
            guard: what checks.
            given: what the module was called with.
            prediction: what it gave.
            options: further ones of `Guard.check`.

        Raises:
            InputError: the prediction has no answer that is text, or neither it nor the call has the evidence.
        """
        answer = _of(self.answer, prediction)
        if not isinstance(answer, str):
            raise InputError(
                f"expected the prediction to have a text as {self.answer!r}, got {type(answer).__name__}; "
                "name the field with Fields(answer=...)"
            )
        # What the caller gave comes first: a field of this name in the prediction may be the model's own.
        evidence = _of(self.evidence, given, prediction)
        if evidence is None:
            raise InputError(
                f"expected {self.evidence!r} in what the module was called with or in the prediction, found it in "
                "neither; have the module return what it retrieved, or name the field with Fields(evidence=...)"
            )
        question = _of(self.question, given, prediction)
        return guard.check(answer, evidence, question=None if question is None else str(question), **options)


def _of(name: str, *places: Any) -> Any:
    for place in places:
        found = place.get(name) if isinstance(place, Mapping) else getattr(place, name, None)
        if found is not None:
            return found
    return None


class Checked(dspy.Module):
    """A module whose answers come out only if they pass.

    The prediction has the report besides, as `assay_report` (JSON) and `assay_action`. Only the answer is checked:
    other fields of a prediction that is emitted, such as `reasoning`, are the module's own words.
    """

    def __init__(
        self,
        module: Any,
        guard: Guard,
        *,
        fields: Fields | None = None,
        on_withheld: OnWithheld = "raise",
        on_report: Callable[[HallucinationReport], object] | None = None,
        **options: Unpack[AskedCheckOptions],
    ) -> None:
        """Make the module.

        Args:
            module: what answers.
            guard: what checks.
            fields: the names of answer, evidence and question.
            on_withheld: `raise`, or `answer` for the policy's words in the place of the answer.
            on_report: gets the report of every answer, emitted or not.
            options: further ones of `Guard.check`.
        """
        require_options(options, AskedCheckOptions)
        super().__init__()
        self.module = module
        self._guard, self._fields, self._options = guard, fields or Fields(), options
        self._on_withheld, self._on_report = on_withheld, on_report

    def forward(self, **given: Any) -> Any:
        """Ask the module, and check.

        Raises:
            WithheldError: the answer does not pass, and `on_withheld` is `raise`.
            InputError: the prediction or the call lacks what a check needs.
        """
        return self._settle(given, self.module(**given))

    async def aforward(self, **given: Any) -> Any:
        """As `forward`, with the check off the event loop."""
        import asyncio

        prediction = await self.module.acall(**given)
        return await asyncio.to_thread(self._settle, given, prediction)

    def _settle(self, given: Mapping[str, Any], prediction: Any) -> Any:
        report = self._fields.check(self._guard, given, prediction, **self._options)
        if self._on_report is not None:
            self._on_report(report)
        if report.action is not Action.EMIT and self._on_withheld == "raise":
            raise WithheldError(fallback_response(report), report)
        # What does not pass stays here, and so does what a module says on the way to it, such as its reasoning.
        kept = None if given.get(self._fields.evidence) is not None else self._fields.evidence
        emitted = report.action is Action.EMIT
        shown = {name: value for name, value in prediction.items() if emitted or name == kept}
        fields = {**shown, self._fields.answer: answer_of(report)}
        return dspy.Prediction(**fields, assay_action=report.action.value, assay_report=report.model_dump(mode="json"))


def reward(
    guard: Guard, *, fields: Fields | None = None, **options: Unpack[AskedCheckOptions]
) -> Callable[[Mapping[str, Any], Any], float]:
    """A reward for `dspy.Refine` and `dspy.BestOfN`: 1 where the guard emits, else the overall score, below 1.

    Give them `threshold=1.0`. An answer that cannot be checked is worth 0.

    Args:
        guard: what checks.
        fields: the names of answer, evidence and question.
        options: further ones of `Guard.check`.
    """
    require_options(options, AskedCheckOptions)
    names = fields or Fields()

    def rewarded(args: Mapping[str, Any], pred: Any) -> float:
        return _worth(names.check(guard, args, pred, **options))

    return rewarded


def metric(guard: Guard, *, fields: Fields | None = None, **options: Unpack[AskedCheckOptions]) -> Callable[..., float]:
    """A metric for `dspy.Evaluate` and for optimisers: as `reward`; with a trace, 1 or 0 for emitted or not.

    Optimisers that collect demonstrations pass a trace, and keep what is true: only what the guard emits.

    Args:
        guard: what checks.
        fields: the names of answer, evidence and question.
        options: further ones of `Guard.check`.
    """
    require_options(options, AskedCheckOptions)
    names = fields or Fields()

    def scored(example: Any, pred: Any, trace: Any = None, *_more: Any) -> float:
        report = names.check(guard, dict(example.items()), pred, **options)
        return float(report.action is Action.EMIT) if trace is not None else _worth(report)

    return scored


def _worth(report: HallucinationReport) -> float:
    if report.action is Action.EMIT:
        return 1.0
    return min(0.99, report.overall_score or 0.0)
