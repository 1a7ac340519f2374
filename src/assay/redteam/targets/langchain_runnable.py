"""A LangChain runnable as a target: a chain, a chat model, a LangGraph agent.

It is invoked with messages, or with an input declared as a template. The extra `langchain` installs the requirements.
"""

import importlib
import json
from collections.abc import Mapping
from typing import Any, Final

from assay.errors import InputError, MissingPackageError
from assay.redteam.targets.bounded import call_within
from assay.redteam.targets.chat_endpoint import messages_of
from assay.redteam.targets.interface import Reply, Request, TargetError, text_of, token_count
from assay.redteam.targets.templates import Template, at_pointer

_FIELDS: Final = ("answer", "output", "result", "text", "content", "response")
"""The keys of a chain's output in which an answer is looked for, in this order."""


class LangChainRunnable:
    """Invokes a runnable for each request."""

    def __init__(
        self, runnable: Any, name: str, timeout_s: float = 60.0, template: Any = None, answer: str | None = None
    ) -> None:
        """Wraps a runnable.

        Args:
            runnable: the runnable, or a function without arguments that returns one.
            name: its name in records.
            timeout_s: seconds after which an answer is no longer waited for.
            template: the input: a value with placeholders, in which `{messages}` becomes LangChain messages. By default
                the messages, in the field `messages` if the runnable's input schema has that field.
            answer: the JSON Pointer of the answer in the output; by default the output's text, its last message, or one
                of the usual keys.

        Raises:
            MissingPackageError: LangChain is not installed.
            InputError: it is not a runnable, or the template is invalid.
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
        self._template = Template(_default_input(runnable) if template is None else template, name)

    def ask(self, request: Request) -> Reply:
        """The answer in the output of the runnable.

        Raises:
            TargetError: it raised, took too long, or its output contains no answer.
        """
        messages = self._messages.convert_to_messages(messages_of(request))
        value = self._template.filled(request, messages, self.name)
        result = call_within(lambda: self._runnable.invoke(value), self._timeout_s, self.name)
        if self._answer is not None:
            return Reply(text_of(self._declared_answer(result, self._answer), self.name))
        answer = _answer_of(result)
        if answer is None:
            raise TargetError(
                f"{self.name}: no answer in an output of {type(result).__name__}; declare where it stands"
            )
        usage = getattr(_last(result), "usage_metadata", None)
        counts = usage if isinstance(usage, Mapping) else {}
        return Reply(
            text_of(answer, self.name),
            token_count(counts.get("input_tokens")),
            token_count(counts.get("output_tokens")),
        )

    def _declared_answer(self, result: Any, pointer: str) -> str:
        """What is at a pointer: text and the text of a message as they are, anything else as JSON."""
        found = at_pointer(result, pointer)
        if found is None:
            raise TargetError(f"{self.name}: the response has nothing at {pointer}")
        text = None if isinstance(found, Mapping | list) else _text(found)
        if text is not None:
            return text
        try:
            return json.dumps(found, ensure_ascii=False, default=str)
        except Exception as error:  # `str` of the user's objects may raise anything
            raise TargetError(f"{self.name}: what is at {pointer} is neither text nor JSON: {error}") from error


def _default_input(runnable: Any) -> Any:
    """The default template, by the runnable's input schema: the state of an agent, or plain messages."""
    try:
        fields = runnable.get_input_jsonschema().get("properties", {})
    # Making the schema runs code of the user and of LangChain and may raise anything; messages are the default then,
    # and a runnable that does not accept them fails when it is invoked, which is a TargetError.
    except Exception:  # noqa: BLE001
        fields = {}
    return {"messages": "{messages}"} if "messages" in fields else "{messages}"


def _last(result: Any) -> Any:
    """The last message of an agent's state, or the result itself."""
    messages = result.get("messages") if isinstance(result, Mapping) else None
    return messages[-1] if isinstance(messages, list) and messages else result


def _answer_of(result: Any) -> str | None:
    last = _last(result)
    if isinstance(last, Mapping):
        return next((_text(last[name]) for name in _FIELDS if last.get(name) is not None), None)
    return _text(last)


def _text(value: Any) -> str | None:
    """The text of a string, a message, or its content blocks; none for anything else."""
    if isinstance(value, str):
        return value
    content = getattr(value, "content", value)
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [one if isinstance(one, str) else one.get("text") for one in content if isinstance(one, str | Mapping)]
        return "".join(one for one in parts if isinstance(one, str))
    return None
