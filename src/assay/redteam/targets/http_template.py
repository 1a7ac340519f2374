"""Any service over HTTP as a target: the request is declared as a template, the answer by JSON Pointers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.redteam.targets.bounded import Address
from assay.redteam.targets.chat_endpoint import messages_of
from assay.redteam.targets.interface import Reply, Request, TargetError, counted, text_of
from assay.redteam.targets.templates import Template, at_pointer, text_at


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """One service."""

    url: str
    body: Any
    """A tree of JSON with places."""
    method: str = "POST"
    answer: str = ""
    """Where the answer stands in a JSON response; empty where the response is the answer as plain text."""
    tokens_in: str | None = None
    """Where the response tells the tokens of the request."""
    tokens_out: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers with their values, secrets among them; they stand in no record."""


class HttpTemplate:
    """Sends each request as its template says."""

    def __init__(self, settings: HttpSettings, name: str, timeout_s: float = 60.0) -> None:
        """Reads the template.

        Raises:
            InputError: no such address, or a template that cannot be used.
        """
        self.name = name
        self._settings, self._timeout_s = settings, timeout_s
        self._address = Address.of(settings.url)
        self._template = Template(settings.body, name)

    def ask(self, request: Request) -> Reply:
        """The answer of the service.

        Raises:
            TargetError: unreachable, a status that is none of success, or no answer where it was declared.
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
        spent = [
            None if at is None else counted(at_pointer(value, at)) for at in (settings.tokens_in, settings.tokens_out)
        ]
        return Reply(text_of(text_at(value, settings.answer, self.name), self.name), *spent)
