"""LangGraph: a node that checks the answer in a graph's state, and the edge that goes by the action."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, Unpack

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda

from assay.errors import InputError
from assay.guard import AskedCheckOptions, Guard
from assay.integrations.agents.turns import ended_early
from assay.integrations.frameworks.langchain_chain import passages_of
from assay.integrations.frameworks.langchain_messages import is_plain, stop_reason, with_text
from assay.integrations.run_gate import RunGate
from assay.policy import Cause, answer_of, refusal
from assay.schema import Action, HallucinationReport

_ENDED: Final = frozenset({Action.EMIT.value, Action.BLOCK.value, Action.ESCALATE.value})
"""Actions behind which no further version of an answer is asked for: what failed before them is of another turn."""


_WHOLE: Final = "Your answer was cut off before its end. Give the whole of it, in fewer words."
"""What the author of an answer is told that was cut off and has nothing else to mend."""


def check_node(
    guard: Guard,
    *,
    answer: str = "answer",
    evidence: str = "documents",
    question: str = "question",
    attempts: int | None = None,
    on_report: Callable[[HallucinationReport], object] | None = None,
    **options: Unpack[AskedCheckOptions],
) -> Any:
    """A node for graphs whose state holds question, passages and answer, as graphs of retrieval do.

    It writes what may be said in the place of the answer, and besides `assay_action` (`emit`; `revise` where a new
    version is worth asking for; else `block` or `escalate`), `assay_report` (JSON, with the gate's own action),
    `assay_feedback` (what the author of the answer has to mend, empty where nothing is left to try) and `assay_failed`
    (how many answers of this turn have failed). The state of the graph needs these keys.

    A turn ends with `emit`, `block` or `escalate`: the next answer in the same state is the first one of another turn.
    Of a message that passes only its text and its reasoning stay; one that was cut off never passes, whatever its
    report says of its text.

    What the model's own node writes into the state can be read in streams of the graph before this node has run;
    `checked_answer_node` asks the model and checks within one step.

    Args:
        guard: what checks.
        answer: the key of the answer: a text or a message.
        evidence: the key of the passages: texts, documents or mappings.
        question: the key of the question.
        attempts: how many corrected versions may be asked for; the policy's `max_revisions` by default. When they are
            used up, `revise` becomes `block`.
        on_report: gets every report.
        options: further ones of `Guard.check`, such as `stakes`.
    """
    most = guard.attempts(attempts)
    gate = RunGate(guard)

    def node(state: Any) -> dict[str, Any]:
        said = _under(answer, state)
        failed = 0 if _under("assay_action", state) in _ENDED else _under("assay_failed", state) or 0
        passages, asked = _brought(said, answer, evidence, state), _under(question, state)
        further: AskedCheckOptions = {**options, "revisions_failed": failed}
        words = asked if isinstance(asked, str) else None
        report = guard.check(_text_of(said), passages, question=words, **further)
        if on_report is not None:
            on_report(report)
        cut = isinstance(said, BaseMessage) and ended_early(stop_reason(said))
        passes, left = report.action is Action.EMIT and not cut, most - failed
        feedback = gate.feedback(report, left) if not passes and left > 0 else None
        if cut and feedback is None and left > 0:
            feedback = _WHOLE
        answered = refusal({Cause.RUN}, Action.BLOCK) if cut and report.action is Action.EMIT else answer_of(report)
        same = isinstance(said, BaseMessage) and answered == said.text and is_plain(said)
        return {
            answer: said if same else with_text(said, answered) if isinstance(said, BaseMessage) else answered,
            "assay_action": _action(report, passes, feedback).value,
            "assay_report": report.model_dump(mode="json"),
            "assay_feedback": feedback or "",
            "assay_failed": failed + (not passes),
        }

    async def anode(state: Any) -> dict[str, Any]:
        return await asyncio.to_thread(node, state)

    return RunnableLambda(node, afunc=anode, name="assay_check")


def by_action(state: Any) -> str:
    """Where a graph goes on behind `check_node`: the action, for `add_conditional_edges`.

    A state that was not checked goes where what is blocked goes.

    >>> by_action({"assay_action": "emit"}), by_action({})
    ('emit', 'block')
    """
    found = _under("assay_action", state)
    return found if isinstance(found, str) and found in set(Action) else Action.BLOCK.value


def _brought(said: Any, answer: str, evidence: str, state: Any) -> Any:
    """The passages of a state.

    Raises:
        InputError: it has none, or no answer that is text.
    """
    if not isinstance(said, str | BaseMessage):
        raise InputError(
            f"expected the state to have a text or a message as {answer!r}, got {type(said).__name__}; "
            "name the key with check_node(answer=...)"
        )
    passages = _under(evidence, state)
    if passages is None:
        raise InputError(f"expected {evidence!r} in the state; name the key with check_node(evidence=...)")
    return passages_of(passages)


def _text_of(said: str | BaseMessage) -> str:
    return said if isinstance(said, str) else str(said.text)


def _action(report: HallucinationReport, passes: bool, feedback: str | None) -> Action:
    """What the graph does: it asks again where there is something to mend and an attempt left."""
    if passes:
        return Action.EMIT
    if feedback is not None:
        return Action.REVISE
    return report.action if report.action is Action.ESCALATE else Action.BLOCK


def _under(key: str, state: Any) -> Any:
    """What a state has: a mapping, or an object as pydantic and dataclasses make them."""
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
