"""Two results of a run that contradict each other: a disagreement, or a change that happened in between.

Two searches that contradict each other disagree, in whichever order they were made. A result that was read after an
action that changed something, or by repeating the same call, replaces the earlier one, which is then no source against
it. A claim that follows the earlier result keeps its conflict.
"""

import re
from dataclasses import replace
from typing import Final

from assay.guard.check.verdicts import Judged
from assay.schema.run import Run, ToolCall, ToolResult
from assay.verify.tools import failure_of, reads_only

_STEP: Final = re.compile(r"step:(\d+)/")


def without_overtaken(judged: Judged, run: Run) -> Judged:
    """The judgement of a claim, without a conflict with a result that a later one has replaced.

    Args:
        judged: the judgement, with places in the run's evidence.
        run: the run.
    """
    if judged.conflict is None:
        return judged
    supporting, contradicting = (_result_at(run, span.evidence_id) for span in judged.conflict)
    if supporting is None or contradicting is None or supporting <= contradicting:
        return judged
    again = _call_of(run, supporting) == _call_of(run, contradicting) is not None
    changed = any(_changes(run, step) for step in range(contradicting + 1, supporting))
    return replace(judged, conflict=None) if again or changed else judged


def _result_at(run: Run, name: str) -> int | None:
    """The step of a tool's result, from the id of its evidence; None if it is not a result."""
    match = _STEP.match(name)
    step = int(match[1]) if match else -1
    return step if 0 <= step < len(run.steps) and isinstance(run.steps[step], ToolResult) else None


def _call_of(run: Run, place: int) -> tuple[str, str] | None:
    """Name and arguments of the call that a result answers: the call with its id, or else the last one before it."""
    result = run.steps[place]
    if not isinstance(result, ToolResult):
        return None
    calls = [step for step in run.steps[:place] if isinstance(step, ToolCall)]
    own = [step for step in calls if result.call_id is not None and step.id == result.call_id]
    found = (own or (calls if result.call_id is None else []))[-1:]
    return (found[0].name, str(found[0].arguments)) if found else None


def _changes(run: Run, place: int) -> bool:
    """Whether a step is a call that may have changed something and did not fail."""
    call = run.steps[place]
    if not isinstance(call, ToolCall) or reads_only(call.name):
        return False
    results = (step for step in run.steps[place + 1 :] if isinstance(step, ToolResult))
    answer = next((one for one in results if call.id is None or one.call_id == call.id), None)
    return answer is not None and failure_of(answer) is None
