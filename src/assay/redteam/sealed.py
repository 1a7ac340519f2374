"""Asks a chat model about hostile data: an answer counts only if it repeats the seal of its prompt."""

from typing import Any

from assay.errors import AnswerError
from assay.models.chat import ChatModel, ChatRequest, Message, read_structured
from assay.prompts import Rendered


def ask_sealed(model: ChatModel, prompt: Rendered, schema: dict[str, Any], max_tokens: int) -> Any:
    """The answer of a model as a value of a schema, which has a field `seal`.

    Args:
        model: the chat model.
        prompt: the prompt; its token is the seal.
        schema: the JSON Schema of the answer, such as `object_schema` makes.
        max_tokens: the most tokens of the answer.

    Raises:
        AnswerError: the answer does not fit the schema, or has another seal.
        ChatError: the request failed.
    """
    messages = (Message("system", prompt.system), Message("user", prompt.user))
    request = ChatRequest(messages, schema=schema, max_tokens=max_tokens)
    value = read_structured(model.complete(request).choices[0], schema)
    if value["seal"] != prompt.token:
        raise AnswerError("The answer does not have the sign that it was asked for.")
    return value


def object_schema(**properties: Any) -> dict[str, Any]:
    """The JSON Schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
