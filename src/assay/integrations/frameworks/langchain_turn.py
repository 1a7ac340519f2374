"""One step of a LangChain agent's model: what it may call and say, and that nothing of it is streamed before."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from langchain.agents.middleware import ExtendedModelResponse, ModelResponse
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import ensure_config
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.types import Command

from assay.errors import CallRejectedError
from assay.integrations.agents.turns import correction
from assay.integrations.frameworks.langchain_messages import (
    is_plain,
    only_read,
    request_facts,
    run_of,
    stop_reason,
    with_text,
    without_text,
)
from assay.integrations.run_gate import RunGate, before_call, in_words
from assay.rewrite.revise import Author, Feedback
from assay.schema.run import Run

_NO_STREAM = "nostream"
"""LangGraph's tag for models whose tokens are not streamed."""


class Turn:
    """One question to the model, with what the run has come to then."""

    def __init__(self, gate: RunGate, request: Any) -> None:
        self.gate = gate
        self.request = request
        self.request_facts = request_facts(request.system_message, request.tools)

    def run(self, *messages: Any) -> Run:
        """The run with these messages behind those of the request."""
        return run_of(
            self.gate.declared(self.request_facts["tools"]),
            self.request_facts["system"],
            [*self.request.messages, *messages],
        )

    def gave_up(self, response: Any) -> str | None:
        """What is said in the place of calls that are still wrong though the model was told to stop."""
        last = _last(response)
        answered = {message.tool_call_id for message in response.result if isinstance(message, ToolMessage)}
        run = self.run(last)
        try:
            for call in last.tool_calls:
                if call["id"] not in answered:
                    self.gate.decide(*before_call(run, call["id"]))
        except CallRejectedError as error:
            return self.gate.instead_of_calls(error)
        return None

    def answered(self, response: Any) -> Run | None:
        """The run with the final answer; none where the model asks for tools."""
        if response.structured_response is not None:
            return self.run(AIMessage(content=in_words(response.structured_response)))
        return None if _last(response).tool_calls else self.run(_last(response))

    def beside(self, response: Any) -> Run | None:
        """The run with what the model says beside its calls; none where it says nothing there."""
        last = _last(response)
        if not last.tool_calls or not str(last.text).strip():
            return None
        return self.run(AIMessage(content=str(last.text), response_metadata=last.response_metadata))

    def silent(self, response: Any) -> Any:
        """The response without what the model says beside its calls."""
        last = _last(response)
        quiet = last.model_copy(update={"content": without_text(last.content)})
        result = [quiet if message is last else message for message in response.result]
        return ModelResponse(result=result, structured_response=response.structured_response)

    def gate_of(self, response: Any) -> RunGate:
        """The gate of an answer: no words can stand in the place of a structured one."""
        return self.gate if response.structured_response is None else replace(self.gate, on_withheld="raise")

    def author(self, response: Any, ask: Callable[[Any], Any]) -> Author | None:
        """Who corrects the answer: the model, asked within the same step; nobody corrects a structured one."""
        if response.structured_response is not None:
            return None

        def corrected(feedback: Feedback, found: Any) -> str:
            last = _last(found)
            return correction(feedback, str(last.text), stop_reason(last), calls=bool(last.tool_calls))

        def author(feedback: Feedback) -> Any:
            more = [AIMessage(content=feedback.output), HumanMessage(content=feedback.text)]
            found = ask(self.request.override(messages=[*self.request.messages, *more]))
            if not inspect.isawaitable(found):
                return corrected(feedback, found)

            async def later() -> str:
                return corrected(feedback, await found)

            return later()

        return author

    def settled(self, response: Any, said: str | None) -> Any:
        """The response with what was read and may be said, and what tool calls are traced to in the graph's state."""
        last = _last(response)
        if said is not None and response.structured_response is None:
            same = said == str(last.text) and is_plain(last)
            response = response if same else ModelResponse(result=[with_text(last, said)])
        elif (read := only_read(last)) is not last:
            result = [read if message is last else message for message in response.result]
            response = ModelResponse(result=result, structured_response=response.structured_response)
        return ExtendedModelResponse(response, Command(update={"assay_told": self.request_facts}))


def _last(response: Any) -> Any:
    """The model's own message."""
    found = [message for message in response.result if isinstance(message, AIMessage)]
    return found[-1] if found else AIMessage(content="")


@contextmanager
def unstreamed() -> Iterator[None]:
    """What is asked of a model in here is not streamed token by token: it was not checked yet."""
    config = ensure_config()
    tags = [*(config.get("tags") or []), _NO_STREAM]
    quiet = {**config, "tags": tags, "callbacks": _without_streams(config.get("callbacks"))}
    token = var_child_runnable_config.set(quiet)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _without_streams(callbacks: Any) -> Any:
    """The callbacks without those that make a stream of what the model says, such as those of `astream_events`."""

    def quiet(handlers: Sequence[Any]) -> list[Any]:
        return [handler for handler in handlers if not hasattr(handler, "tap_output_iter")]

    if callbacks is None or isinstance(callbacks, list):
        return callbacks and quiet(callbacks)
    kept = callbacks.copy()
    kept.handlers, kept.inheritable_handlers = quiet(kept.handlers), quiet(kept.inheritable_handlers)
    return kept
