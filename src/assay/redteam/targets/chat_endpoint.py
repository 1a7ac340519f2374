"""An endpoint with OpenAI's chat completions as a target: a model, a RAG service, assay's own gateway.

The wire form is that of `POST /v1/chat/completions` in OpenAI's API reference. The context goes into the system message
as numbered passages, as a plain RAG service would put it there.
"""

import http.client
import json
import time
from typing import Any, Final
from urllib.parse import urlsplit

from assay.errors import InputError
from assay.redteam.targets.interface import Request, TargetError, text_of

_SYSTEM: Final = "Answer the question from the passages below. Say so if they do not answer it."
_RETRIED: Final = frozenset({429, 500, 502, 503, 504})
_ATTEMPTS: Final = 3
_LONGEST_WAIT_S: Final = 30.0
_MOST_BYTES: Final = 8_000_000
"""Bytes of a response that are read."""


class ChatEndpoint:
    """Posts each request to one endpoint; redirects are not followed, since a key goes along."""

    def __init__(self, url: str, model: str, key: str | None = None, timeout_s: float = 60.0) -> None:
        """Names an endpoint.

        Args:
            url: `http://HOST`, `http://HOST/v1` or the whole address that ends in `/chat/completions`.
            model: the model's name there.
            key: sent as a bearer token.
            timeout_s: seconds that one response may take.

        Raises:
            InputError: it is no such address.
        """
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(f"expected the address of an endpoint such as http://localhost:8080/v1, got {url}")
        if parts.username or parts.password:
            raise InputError("an address with a password in it would stand in records: give OPENAI_API_KEY instead")
        path = parts.path.rstrip("/")
        if not path.endswith("/chat/completions"):
            path = f"{path or '/v1'}/chat/completions"
        self._path = path + (f"?{parts.query}" if parts.query else "")
        try:
            self._host, self._port, self._secure = parts.hostname, parts.port, parts.scheme == "https"
        except ValueError as error:
            raise InputError(f"{url}: {error}") from error
        self._model, self._key, self._timeout_s = model, key, timeout_s
        self.name = f"{parts.scheme}://{parts.netloc}{path}#{model}"

    def ask(self, request: Request) -> str:
        """The content of the first choice; what a refusal says where there is no content.

        Raises:
            TargetError: unreachable, another status than 200, or no chat completion.
        """
        body = json.dumps({"model": self._model, "messages": messages_of(request), "temperature": 0}).encode()
        for attempt in range(1, _ATTEMPTS + 1):
            status, wait, data = self._post(body)
            if status == 200:
                return text_of(content_of(data, self.name), self.name)
            if status not in _RETRIED or attempt == _ATTEMPTS:
                break
            time.sleep(min(_LONGEST_WAIT_S, wait if wait is not None else 0.5 * 2**attempt))
        raise TargetError(f"{self.name}: status {status}: {data[:300].decode('utf-8', 'replace')}")

    def _post(self, body: bytes) -> tuple[int, float | None, bytes]:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=self._timeout_s)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            connection.request("POST", self._path, body, headers)
            response = connection.getresponse()
            data = response.read(_MOST_BYTES)
            after = response.headers.get("retry-after", "")
            return response.status, float(after) if after.isdecimal() else None, data
        except (OSError, http.client.HTTPException) as error:
            raise TargetError(f"{self.name}: cannot be reached: {error or type(error).__name__}") from error
        finally:
            connection.close()


def messages_of(request: Request) -> list[dict[str, str]]:
    """A request as the messages of a chat."""
    passages = "\n\n".join(f"[{one['id']}]\n{one['text']}" for one in request["context"])
    system = [{"role": "system", "content": f"{_SYSTEM}\n\n{passages}"}] if passages else []
    turns = [{"role": turn["role"], "content": turn["content"]} for turn in request["turns"]]
    return [*system, *turns, {"role": "user", "content": request["prompt"]}]


def content_of(data: bytes, where: str) -> str:
    """The text of a chat completion.

    Raises:
        TargetError: it is none.
    """
    try:
        value: Any = json.loads(data)
        message = value["choices"][0]["message"]
        content = message.get("content")
        if content is None:
            content = message.get("refusal")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise TargetError(
            f"{where}: expected a chat completion, got {data[:200].decode('utf-8', 'replace')!r}"
        ) from error
    if content is None:
        raise TargetError(f"{where}: the message has neither content nor a refusal")
    return text_of(content, where)
