"""A LangChain runnable as a target: a chain, a chat model, an agent of LangGraph.

It is invoked with messages, or with an input that is declared as a template. The extra `langchain` installs what this
needs.
"""

import importlib
from collections.abc import Mapping
from typing import Any, Final

from assay.errors import InputError, MissingPackageError
from assay.redteam.targets.bounded import in_time
from assay.redteam.targets.chat_endpoint import messages_of
from assay.redteam.targets.interface import Reply, Request, TargetError, counted, text_of
from assay.redteam.targets.templates import Template, text_at

_FIELDS: Final = ("answer", "output", "result", "text", "content", "response")
"""The keys of a chain's output in which an answer is looked for, in this order."""


class LangChainRunnable:
    """Invokes a runnable for each request."""

    def __init__(
        self, runnable: Any, name: str, timeout_s: float = 60.0, template: Any = None, answer: str | None = None
    ) -> None:
        """Wraps a runnable.

        Args:
            runnable: it, or a function without arguments that makes it.
            name: what it is called in records.
            timeout_s: seconds after which an answer is no longer waited for.
            template: the input: a tree with places, in which `{messages}` are messages of LangChain. Without one the
                messages, in the field `messages` where the runnable says that it takes such a state.
            answer: where the answer stands in the output; found by itself in text, messages and the usual keys.

        Raises:
            MissingPackageError: LangChain is not installed.
            InputError: it is no runnable.
        """
        try:
            self._messages = importlib.import_module("langchain_core.messages")
        except ImportError as error:
            raise MissingPackageError(
                "a target of kind langchain needs LangChain: pip install 'assay-ai[langchain]'"
            ) from error
        if not callable(getattr(runnable, "invoke", None)) and callable(runnable):
            runnable = runnable()
        if not callable(getattr(runnable, "invoke", None)):
            raise InputError(f"{name}: expected a runnable with `invoke`, got {type(runnable).__name__}")
        self.name = name
        self._runnable, self._timeout_s, self._answer = runnable, timeout_s, answer
        self._template = Template(_usual(runnable) if template is None else template, name)

    def ask(self, request: Request) -> Reply:
        """What the runnable gives.

        Raises:
            TargetError: it raised, took too long, or gave nothing that is an answer.
        """
        messages = self._messages.convert_to_messages(messages_of(request))
        value = self._template.filled(request, messages, self.name)
        result = in_time(lambda: self._runnable.invoke(value), self._timeout_s, self.name)
        if self._answer is not None:
            return Reply(text_of(_text(text_at(result, self._answer, self.name)), self.name))
        found = _said(result)
        if found is None:
            raise TargetError(
                f"{self.name}: no answer in an output of {type(result).__name__}; declare where it stands"
            )
        usage = getattr(_last(result), "usage_metadata", None)
        counts = usage if isinstance(usage, Mapping) else {}
        return Reply(
            text_of(found, self.name), counted(counts.get("input_tokens")), counted(counts.get("output_tokens"))
        )


def _usual(runnable: Any) -> Any:
    """The input that a runnable takes by its own schema: the state of an agent, or messages."""
    try:
        fields = runnable.get_input_jsonschema().get("properties", {})
    except Exception:  # noqa: BLE001 a runnable of which no schema can be made takes messages
        fields = {}
    return {"messages": "{messages}"} if "messages" in fields else "{messages}"


def _last(result: Any) -> Any:
    """The last message of a state with messages, else the result itself."""
    messages = result.get("messages") if isinstance(result, Mapping) else None
    return messages[-1] if isinstance(messages, list) and messages else result


def _said(result: Any) -> str | None:
    last = _last(result)
    if isinstance(last, Mapping):
        return next((_text(last[name]) for name in _FIELDS if last.get(name) is not None), None)
    return _text(last)


def _text(value: Any) -> str | None:
    """Text of a text, a message, or its content blocks."""
    if isinstance(value, str):
        return value
    content = getattr(value, "content", value)
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [one if isinstance(one, str) else one.get("text") for one in content if isinstance(one, str | Mapping)]
        return "".join(one for one in parts if isinstance(one, str))
    return None
