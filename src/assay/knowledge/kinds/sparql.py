"""A graph behind the SPARQL 1.1 protocol: queries that the operator wrote, with terms for their `$` variables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from assay.errors import PolicyError, SourceError
from assay.knowledge.formulating import bindings
from assay.knowledge.interface import Deadline, Found, Inquiry, Limits, Passage, cut
from assay.knowledge.kinds.sparql_terms import QueryTemplate, TermRules
from assay.knowledge.kinds.templates import UrlTemplate, parsed_json, worded
from assay.knowledge.kinds.transport import Request, fetch, require_ok

_RESULTS: Final = "application/sparql-results+json"
_NUMBERS: Final = ("integer", "decimal", "double", "float", "int", "long", "gYear", "nonNegativeInteger")


@dataclass(frozen=True, slots=True)
class Query:
    """One query."""

    sparql: str
    passage: str | None = None
    """The wording of a result, with the names of its variables in braces."""


@dataclass(frozen=True, slots=True)
class SparqlSettings:
    """One endpoint."""

    endpoint: str
    queries: tuple[Query, ...]
    rules: TermRules = field(default_factory=TermRules)
    headers: tuple[tuple[str, str], ...] = ()
    credential: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class SparqlSource:
    """Asks a SPARQL endpoint."""

    def __init__(self, settings: SparqlSettings, limits: Limits | None = None) -> None:
        """Read the queries.

        Raises:
            PolicyError: the endpoint is no address, or a query cannot be used.
        """
        self._settings, self._limits = settings, limits or Limits()
        address = UrlTemplate.parse(settings.endpoint)
        if address.names:
            raise PolicyError("the address of an endpoint has no places: they belong into the queries")
        self._url = address.filled({})
        settings.rules.check()
        self._queries = [(QueryTemplate(one.sparql), one) for one in settings.queries]
        if not self._queries:
            raise PolicyError("expected at least one query")

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the queries."""
        return tuple(dict.fromkeys(name for template, _ in self._queries for name in template.names))

    @property
    def digest(self) -> str:
        """Of the endpoint and the queries."""
        s = self._settings
        settings = [s.endpoint, [(q.sparql, q.passage) for q in s.queries], s.rules.language, s.rules.iri, s.headers]
        return hashlib.sha256(json.dumps(settings).encode()).hexdigest()

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> Found:
        """The results of every query, for the first values that give any.

        Raises:
            SourceError: the endpoint could not be asked.
        """
        passages: list[Passage] = []
        asked: list[Mapping[str, object]] = []
        size = 0
        for number, (template, query) in enumerate(self._queries, start=1):
            for values in bindings(template.names, inquiry, self._limits.statements):
                try:
                    text = template.bound(values, self._settings.rules)
                except SourceError:
                    continue  # the value makes no term; another may
                asked.append({"query": query.sparql, **values})
                body = f"query={quote(text, safe='')}".encode()
                response = fetch(
                    Request(
                        self._url,
                        "POST",
                        (
                            ("Content-Type", "application/x-www-form-urlencoded"),
                            *self._settings.headers,
                            *self._settings.credential,
                        ),
                        body,
                    ),
                    deadline,
                    self._limits.response_bytes,
                    accept=_RESULTS,
                )
                size += len(response.body)
                require_ok(response)
                rows = _rows(parsed_json(response.body))
                passages += [
                    Passage(f"query {number}, result {at}", worded(query.passage, row), link=_link(row))
                    for at, row in enumerate(rows, start=1)
                ]
                if rows:
                    break
        kept, notes = cut(passages, self._limits)
        return Found(kept, tuple(asked), size, notes)

    def close(self) -> None:
        """Nothing is held."""


def _rows(answer: Any) -> list[dict[str, object]]:
    """The solutions of an answer in SPARQL 1.1 Query Results JSON.

    Raises:
        SourceError: it has another form.
    """
    try:
        if "boolean" in answer:
            return [{"answer": "yes"}] if answer["boolean"] is True else []
        return [
            {str(name): _value(term) for name, term in solution.items()} for solution in answer["results"]["bindings"]
        ]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise SourceError("its answer is not in the JSON form of SPARQL results") from error


def _value(term: Mapping[str, Any]) -> object:
    value = str(term["value"])
    kind = str(term.get("datatype", "")).rpartition("#")[2]
    if kind == "boolean":
        return value in {"true", "1"}
    if kind in _NUMBERS and "e" in value.lower():
        return float(value)
    return value


def _link(row: Mapping[str, object]) -> str | None:
    found = row.get("source") or row.get("item")
    return found if isinstance(found, str) and found.startswith(("http://", "https://")) else None
