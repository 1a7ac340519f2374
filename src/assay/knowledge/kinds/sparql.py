"""A graph with a SPARQL 1.1 endpoint: queries that the operator wrote, with terms for their `$` variables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from assay.errors import PolicyError, SourceError
from assay.knowledge.inquiries import bindings
from assay.knowledge.interface import Deadline, Inquiry, Limits, Passage, SourceAnswer, cut
from assay.knowledge.kinds.sparql_terms import QueryTemplate, TermRules
from assay.knowledge.kinds.templates import UrlTemplate, parse_json, render_row
from assay.knowledge.kinds.transport import Request, fetch, require_ok

_RESULTS: Final = "application/sparql-results+json"
_NUMBERS: Final = ("integer", "decimal", "double", "float", "int", "long", "gYear", "nonNegativeInteger")


@dataclass(frozen=True, slots=True)
class Query:
    """One query of the operator."""

    sparql: str
    passage: str | None = None
    """The wording of a result, with names of variables in braces."""


@dataclass(frozen=True, slots=True)
class SparqlSettings:
    """The settings of one endpoint."""

    endpoint: str
    queries: tuple[Query, ...]
    rules: TermRules = field(default_factory=TermRules)
    headers: tuple[tuple[str, str], ...] = ()
    credential: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class SparqlSource:
    """A SPARQL endpoint as a source."""

    def __init__(self, settings: SparqlSettings, limits: Limits | None = None) -> None:
        """Parse the queries.

        Raises:
            PolicyError: the endpoint is not an address, or a query is invalid.
        """
        self._settings, self._limits = settings, limits or Limits()
        address = UrlTemplate.parse(settings.endpoint)
        if address.names:
            raise PolicyError("the address of an endpoint has no places: they belong into the queries")
        self._url = address.fill({})
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
        """The digest of the endpoint and the queries."""
        s = self._settings
        settings = [s.endpoint, [(q.sparql, q.passage) for q in s.queries], s.rules.language, s.rules.iri, s.headers]
        return hashlib.sha256(json.dumps(settings).encode()).hexdigest()

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> SourceAnswer:
        """The results of every query, each for the first values that give any.

        Raises:
            SourceError: the endpoint could not be asked.
        """
        passages: list[Passage] = []
        asked: list[Mapping[str, object]] = []
        size = 0
        for number, (template, query) in enumerate(self._queries, start=1):
            for values in bindings(template.names, inquiry, self._limits.statements):
                try:
                    text = template.bind(values, self._settings.rules)
                except SourceError:
                    continue  # this value cannot be a term; another may be
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
                rows = _rows(parse_json(response.body))
                passages += [
                    Passage(f"query {number}, result {at}", render_row(query.passage, row), link=_link(row))
                    for at, row in enumerate(rows, start=1)
                ]
                if rows:
                    break
        kept, notes = cut(passages, self._limits)
        return SourceAnswer(kept, tuple(asked), size, notes)

    def close(self) -> None:
        """Do nothing; no connection is kept open."""


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
