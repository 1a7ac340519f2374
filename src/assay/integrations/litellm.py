"""LiteLLM: a guardrail of its proxy that lets out only what passes.

    # config.yaml of the proxy
    guardrails:
      - guardrail_name: assay
        litellm_params:
          guardrail: assay.integrations.litellm.AssayGuardrail
          mode: post_call
          default_on: true
          policy: rag

Answers and tool calls of chat completions are checked against the request, as by `assay serve`: tool results, documents
and passages in it are the evidence, or what a member `assay` of the request has as such. What goes out is made of what
was checked: parts of a response that the gate does not read are left out. A stream is held back until it has ended,
checked, and then given out; where it has to be released sentence by sentence, put `assay serve` between the proxy and
the model instead.

The extra `litellm` installs what this needs; tested with litellm 1.108.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Collection, Mapping
from typing import Any
from uuid import uuid4

from assay.config import Guard as ConfiguredGuard
from assay.errors import AssayError, InputError
from assay.guard import Guard, Ruling, unchecked
from assay.integrations.run_gate import missing
from assay.policy import Mode
from assay.schema import Stakes
from assay.wire import (
    ChatCompletions,
    Exchange,
    RequestOptions,
    encoded,
    read_object,
    read_request_options,
    require_held,
    require_stakes,
    settled,
)

try:
    import litellm
    from litellm.integrations.custom_guardrail import CustomGuardrail
    from litellm.types.guardrails import GuardrailEventHooks
except ImportError as error:
    raise missing("litellm", error) from error

__all__ = ["AssayGuardrail"]

_log = logging.getLogger("assay.integrations")
FIELD = "assay"
"""The member of a request that says what its answer is checked against; it is not sent on."""
_OF_MESSAGE = ("role", "content", "refusal", "tool_calls", "function_call")
"""What a checked message is made of."""


class AssayGuardrail(CustomGuardrail):
    """Checks chat completions of a LiteLLM proxy after the model has answered.

    Text in any other form, such as a completion of the old kind, is withheld: nothing here reads it.
    """

    def __init__(
        self,
        guard: Guard | None = None,
        *,
        policy: str | None = None,
        stakes: str = "medium",
        fail_on: str = "revise",
        tasks: Collection[str] = (),
        **kept: Any,
    ) -> None:
        """Make the guardrail; the proxy does from its configuration.

        Args:
            guard: what checks; one under `policy` by default.
            policy: the name of a preset or of a file; what `ASSAY_CONFIG` names, else `general`, by default.
            stakes: how much hangs on answers; a request may raise them.
            fail_on: `revise`, or `block` to let answers pass that ask for a revision.
            tasks: of the tasks that the policy holds to no evidence, such as `creative`, those that a request may
                declare.
            kept: what LiteLLM's own class takes, such as `guardrail_name`, `event_hook` and `default_on`.

        Raises:
            PolicyError: there is no such policy.
        """
        super().__init__(supported_event_hooks=[GuardrailEventHooks.pre_call, GuardrailEventHooks.post_call], **kept)
        self._guard = guard if guard is not None else ConfiguredGuard(policy)
        self._stakes, self._fail_on, self._tasks = Stakes(stakes), fail_on, frozenset(tasks)

    async def async_pre_call_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002 the hook's own name
        cache: Any,  # noqa: ARG002
        data: dict[str, Any],
        call_type: Any,  # noqa: ARG002
    ) -> Any:
        """Keep what the answer is checked against, and send the rest on."""
        if FIELD in data:
            data.setdefault("metadata", {})[FIELD] = data.pop(FIELD)
        return data

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:  # noqa: ARG002 the hook's own names
        """The answer where it passes, the policy's words where it does not."""
        if not self.should_run_guardrail(data=data, event_type=GuardrailEventHooks.post_call):
            return response
        if isinstance(response, litellm.EmbeddingResponse):
            return response  # numbers: nothing in it is a claim
        return await asyncio.to_thread(self._settled, data, response)

    async def async_post_call_streaming_iterator_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002 the hook's own name
        response: Any,
        request_data: dict[str, Any],
    ) -> AsyncIterator[Any]:
        """The pieces of a stream after all of it was checked; in their place one with the policy's words."""
        if not self.should_run_guardrail(data=request_data, event_type=GuardrailEventHooks.post_call):
            async for piece in response:
                yield piece
            return
        pieces = [piece async for piece in response]
        whole = litellm.stream_chunk_builder(pieces, messages=request_data.get("messages"))
        found = await asyncio.to_thread(self._settled, request_data, whole)
        said = found.choices[0]
        delta = {name: value for name, value in said.message.model_dump().items() if name in _OF_MESSAGE and value}
        for place, call in enumerate(delta.get("tool_calls") or ()):
            call["index"] = place
        yield litellm.ModelResponseStream(
            id=found.id,
            model=found.model,
            created=found.created,
            choices=[{"index": 0, "delta": delta, "finish_reason": None}],
        )
        yield litellm.ModelResponseStream(
            id=found.id,
            model=found.model,
            created=found.created,
            choices=[{"index": 0, "delta": {}, "finish_reason": said.finish_reason}],
        )

    def _settled(self, data: Mapping[str, Any], response: Any) -> Any:
        """A response made of what was checked."""
        try:
            body = encoded(_canonical(response))
            request = {name: data[name] for name in ("model", "messages", "tools", "response_format") if name in data}
            asked = (data.get("metadata") or {}).get(FIELD)
            options = read_request_options(asked, None, None) if asked is not None else RequestOptions()
            if options.policy is not None:
                raise InputError("the policy is that of the proxy's configuration; a request cannot name another one")
            require_held(options.task, self._guard.policy, self._tasks)
            require_stakes(options.stakes, self._stakes)
            exchange = Exchange(
                ChatCompletions(),
                read_object(encoded(request), "the request"),
                options,
                self._guard,
                f"litellm_{uuid4().hex}",
                self._stakes,
                self._fail_on,
            )
            changed, ruling = settled(exchange, body, Mode.ENFORCE)
        except AssayError as error:
            ruling = unchecked(str(error))
            changed = _withheld(response, ruling)
        if not ruling.passes:
            _log.warning("an answer did not pass (%s): %s", ruling.action, "; ".join(ruling.reasons[:2]))
        return litellm.ModelResponse(**json.loads(changed))


def _canonical(response: Any) -> dict[str, Any]:
    """A chat completion with the parts that the gate reads, as the wire has them.

    Raises:
        InputError: the response is of another kind.
    """
    if not isinstance(response, litellm.ModelResponse):
        raise InputError(
            f"expected a chat completion, got {type(response).__name__}; run assay on chat completions only"
        )
    body = response.model_dump(mode="json")
    choices = [
        {
            "index": choice["index"],
            "finish_reason": choice["finish_reason"],
            "message": {name: value for name, value in choice["message"].items() if name in _OF_MESSAGE},
        }
        for choice in body["choices"]
    ]
    usage = {name: value for name, value in (body.get("usage") or {}).items() if isinstance(value, int)}
    shared = {name: body[name] for name in ("id", "object", "created", "model")}
    return {**shared, "choices": [{**one, "message": _plain(one["message"])} for one in choices], "usage": usage}


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """A message without what is not there."""
    return {name: value for name, value in message.items() if value is not None or name == "content"}


def _withheld(response: Any, ruling: Ruling) -> bytes:
    """What takes the place of a response that could not be read."""
    message = {"role": "assistant", "content": ruling.notice or "This answer was withheld."}
    choice = {"index": 0, "finish_reason": "content_filter", "message": message}
    shared = {name: getattr(response, name, None) for name in ("id", "created", "model")}
    return encoded({**shared, "object": "chat.completion", "choices": [choice]})
