"""An endpoint with OpenAI's chat completions as a target: a model, a RAG service, assay's own gateway.

The wire format is that of `POST /v1/chat/completions` in OpenAI's API reference. The context is put into the system
message as passages with their ids, as in a simple RAG service.
"""

import json
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from assay.redteam.targets.bounded import Address
from assay.redteam.targets.interface import Reply, Request, TargetError, text_of, token_count

_SYSTEM: Final = "Answer the question from the passages below. Say so if they do not answer it."


class ChatEndpoint:
    """Posts each request to one endpoint. Redirects are not followed, since requests carry a key."""

    def __init__(self, url: str, model: str, key: str | None = None, timeout_s: float = 60.0) -> None:
        """Describes an endpoint.

        Args:
            url: `http://HOST`, `http://HOST/v1` or the full address that ends in `/chat/completions`.
            model: the name of the model at the endpoint.
            key: the API key, sent as a bearer token.
            timeout_s: the most seconds of one response.

        Raises:
            InputError: the address is invalid.
        """
        address = Address.of(url)
        parts = urlsplit(url)
        path = parts.path.rstrip("/")
        if not path.endswith("/chat/completions"):
            path = f"{path or '/v1'}/chat/completions"
        self._address = replace(address, path=path + (f"?{parts.query}" if parts.query else ""))
        self._model, self._key, self._timeout_s = model, key, timeout_s
        self.name = f"{parts.scheme}://{parts.netloc}{path}#{model}"

    def ask(self, request: Request) -> Reply:
        """The content of the first choice, or its refusal where there is no content.

        Raises:
            TargetError: the endpoint cannot be reached, or answers with a status other than 200 or with something other
                than a chat completion.
        """
        body = json.dumps({"model": self._model, "messages": messages_of(request), "temperature": 0}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        status, data = self._address.send("POST", body, headers, self._timeout_s, self.name)
        if status != 200:
            raise TargetError(f"{self.name}: status {status}: {data[:300].decode('utf-8', 'replace')}")
        return completion_of(data, self.name)


def messages_of(request: Request) -> list[dict[str, str]]:
    """A request as the messages of a chat."""
    passages = "\n\n".join(f"[{one['id']}]\n{one['text']}" for one in request["context"])
    system = [{"role": "system", "content": f"{_SYSTEM}\n\n{passages}"}] if passages else []
    turns = [{"role": turn["role"], "content": turn["content"]} for turn in request["turns"]]
    return [*system, *turns, {"role": "user", "content": request["prompt"]}]


def completion_of(data: bytes, where: str) -> Reply:
    """The text of a chat completion, with the token counts of its `usage`.

    Args:
        data: the body of the response.
        where: the name of the target, for messages.

    Raises:
        TargetError: it is not a chat completion, or has neither content nor a refusal.
    """
    try:
        value: Any = json.loads(data)
        message = value["choices"][0]["message"]
        content = message.get("content")
        if content is None:
            content = message.get("refusal")
        usage = value.get("usage")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise TargetError(
            f"{where}: expected a chat completion, got {data[:200].decode('utf-8', 'replace')!r}"
        ) from error
    if content is None:
        raise TargetError(f"{where}: the message has neither content nor a refusal")
    counts = usage if isinstance(usage, dict) else {}
    return Reply(
        text_of(content, where), token_count(counts.get("prompt_tokens")), token_count(counts.get("completion_tokens"))
    )
