"""Any HTTP service as a target: a template declares the request, and JSON Pointers locate the answer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.redteam.targets.bounded import Address
from assay.redteam.targets.chat_endpoint import messages_of
from assay.redteam.targets.interface import Reply, Request, TargetError, text_of, token_count
from assay.redteam.targets.templates import Template, at_pointer, text_at


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """The settings of one service."""

    url: str
    body: Any
    """The template of the body: a JSON value with placeholders."""
    method: str = "POST"
    answer: str = ""
    """The JSON Pointer of the answer; empty where the response is the answer as plain text."""
    tokens_in: str | None = None
    """The JSON Pointer of the tokens of the request."""
    tokens_out: str | None = None
    """The JSON Pointer of the tokens of the answer."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers with their values, which may be secrets and are never recorded."""


class HttpTemplate:
    """Fills a template for each request and sends it."""

    def __init__(self, settings: HttpSettings, name: str, timeout_s: float = 60.0) -> None:
        """Reads the template.

        Raises:
            InputError: the address or the template is invalid.
        """
        self.name = name
        self._settings, self._timeout_s = settings, timeout_s
        self._address = Address.of(settings.url)
        self._template = Template(settings.body, name)

    def ask(self, request: Request) -> Reply:
        """The answer of the service.

        Raises:
            TargetError: the service cannot be reached, its status is not 2xx, or there is no answer at the pointer.
        """
        settings = self._settings
        body = self._template.filled(request, messages_of(request), self.name)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/plain", **settings.headers}
        status, data = self._address.send(
            settings.method, json.dumps(body, ensure_ascii=True).encode(), headers, self._timeout_s, self.name
        )
        if not 200 <= status < 300:
            raise TargetError(f"{self.name}: status {status}: {data[:300].decode('utf-8', 'replace')}")
        try:
            if not settings.answer:
                return Reply(text_of(data.decode("utf-8"), self.name))
            value: Any = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise TargetError(f"{self.name}: expected JSON, got {data[:200].decode('utf-8', 'replace')!r}") from error
        token_counts = [
            None if pointer is None else token_count(at_pointer(value, pointer))
            for pointer in (settings.tokens_in, settings.tokens_out)
        ]
        return Reply(text_of(text_at(value, settings.answer, self.name), self.name), *token_counts)
