"""Any JSON API: a declared request with placeholders for a claim's values, and pointers into its answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.errors import PolicyError, SourceError
from assay.knowledge.extraction import Extraction
from assay.knowledge.inquiries import bindings
from assay.knowledge.interface import Deadline, Inquiry, Limits, Passage, SourceAnswer, cut
from assay.knowledge.kinds.templates import UrlTemplate, check_tree, fill_tree, parse_json
from assay.knowledge.kinds.transport import Request, fetch, require_ok


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """The settings of one JSON API."""

    url: str
    """With placeholders: `https://api.example/products/{entity}?year={year}`."""
    method: str = "GET"
    body: Any = None
    """A JSON value whose texts may have placeholders; sent with POST."""
    headers: tuple[tuple[str, str], ...] = ()
    """Headers without secrets."""
    credential: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Headers with secrets, which are in no digest and no message."""
    answer: Extraction = field(default_factory=Extraction)
    missing: tuple[int, ...] = (404,)
    """Status codes that mean that the API does not have the thing."""


class HttpSource:
    """A JSON API as a source."""

    def __init__(self, settings: HttpSettings, limits: Limits | None = None) -> None:
        """Parse the templates.

        Raises:
            PolicyError: the address, the body or a pointer is invalid.
        """
        self._settings, self._limits = settings, limits or Limits()
        self._url = UrlTemplate.parse(settings.url)
        if settings.body is not None and settings.method == "GET":
            raise PolicyError("a body goes with `method: POST`")
        settings.answer.check()
        self._names = tuple(dict.fromkeys((*self._url.names, *check_tree(settings.body))))
        if not self._names:
            raise PolicyError("the request has no place for anything of a claim: write {entity}, {terms} or another")

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the request."""
        return self._names

    @property
    def digest(self) -> str:
        """The digest of the request and the pointers."""
        s = self._settings
        settings = [s.url, s.method, s.body, s.headers, repr(s.answer), s.missing]
        return hashlib.sha256(json.dumps(settings, default=str).encode()).hexdigest()

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> SourceAnswer:
        """One request for each value of the placeholders, until one has an answer.

        Raises:
            SourceError: it could not be asked.
        """
        passages: list[Passage] = []
        asked: list[Mapping[str, object]] = []
        size = 0
        for values in bindings(self._names, inquiry, self._limits.statements):
            try:
                url = self._url.fill(values)
            except SourceError:
                continue  # this value is not allowed in an address; another may be
            asked.append({"request": f"{self._settings.method} {self._settings.url}", **values})
            body = None
            if self._settings.body is not None:
                body = json.dumps(fill_tree(self._settings.body, values), ensure_ascii=True).encode()
            kind = () if body is None else (("Content-Type", "application/json"),)
            request = Request(
                url, self._settings.method, (*self._settings.headers, *kind, *self._settings.credential), body
            )
            response = fetch(request, deadline, self._limits.response_bytes)
            size += len(response.body)
            if response.status in self._settings.missing:
                continue
            require_ok(response)
            passages += self.read(parse_json(response.body), url)
            if passages:
                break
        kept, notes = cut(passages, self._limits)
        return SourceAnswer(kept, tuple(asked), size, notes)

    def read(self, answer: Any, url: str) -> list[Passage]:
        """The passages of an answer."""
        return self._settings.answer.passages(answer, url)

    def close(self) -> None:
        """Do nothing; no connection is kept open."""
