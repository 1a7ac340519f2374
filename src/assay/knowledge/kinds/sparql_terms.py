"""Values as SPARQL terms, typed literals and IRIs, which replace the `$` variables of a query.

The SPARQL protocol has no bound parameters. Instead, values are inserted by token: a query is cut into strings, IRIs,
comments and the rest when the configuration is read, and only `$` variables in the rest are replaced, each by one whole
term. A value cannot break out of its term: values with a backslash or a control character are refused, so that no
escape, not even `\\uXXXX` (which SPARQL 1.1, 19.2, decodes before anything else), can occur in one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from assay.errors import PolicyError, SourceError
from assay.knowledge.inquiries import PARAMETERS

_TOKEN: Final = re.compile(
    r"""(?P<long>\"\"\"(?:(?:\"|\"\")?(?:[^\"\\]|\\.))*\"\"\"|'''(?:(?:'|'')?(?:[^'\\]|\\.))*''')"""
    r"""|(?P<short>\"(?:[^\"\\\n\r]|\\.)*\"|'(?:[^'\\\n\r]|\\.)*')"""
    r"""|(?P<iri><[^<>\"{}|^`\\\x00-\x20]*>)|(?P<comment>\#[^\n\r]*)|(?P<place>\$(?P<name>\w+))""",
    re.DOTALL,
)
_REFUSED: Final = re.compile(r"[\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LANGUAGE: Final = re.compile(r"[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*")
_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_TYPES: Final = {
    "entity": "string",
    "terms": "string",
    "claim": "string",
    "number": "decimal",
    "year": "integer",
    "date": "date",
}
_READING_QUERY: Final = re.compile(
    r"\s*(?:(?:prefix\s+\S*:\s*<[^>]*>|base\s*<[^>]*>)\s*)*(?:select|ask|construct|describe)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TermRules:
    """How entities become terms."""

    language: str | None = None
    """The language tag of text; without one, text is an `xsd:string`."""
    iri: str | None = None
    """The beginning of the IRIs of entities; if set, `$entity` is an IRI and not a literal."""

    def check(self) -> None:
        """Validate the rules.

        Raises:
            PolicyError: the tag or the beginning of IRIs is malformed.
        """
        if self.language is not None and not _LANGUAGE.fullmatch(self.language):
            raise PolicyError(f"expected a language tag such as en, got {self.language!r}")
        if self.iri is not None and not re.fullmatch(r"[a-z][a-z0-9+.-]*:[^<>\"{}|^`\\\x00-\x20]*", self.iri):
            raise PolicyError(f"expected the beginning of IRIs such as http://example.org/product/, got {self.iri!r}")


def term(name: str, value: object, rules: TermRules) -> str:
    """A value as one term.

    Raises:
        SourceError: the value has a backslash or a control character.

    >>> term("entity", 'The "Aria"', TermRules())
    '"The \\\\"Aria\\\\""^^<http://www.w3.org/2001/XMLSchema#string>'
    """
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    if _REFUSED.search(text):
        raise SourceError("the claim has characters that no query can have")
    if name == "entity" and rules.iri is not None:
        return f"<{rules.iri}{quote(text.replace(' ', '_'), safe='')}>"
    literal = '"' + text.replace('"', '\\"') + '"'
    if _TYPES[name] == "string" and rules.language is not None:
        return f"{literal}@{rules.language}"
    return f"{literal}^^<{_XSD}{_TYPES[name]}>"


class QueryTemplate:
    """A query with `$` variables for a claim's values."""

    def __init__(self, text: str) -> None:
        """Cut a query into tokens.

        Raises:
            PolicyError: it is not a reading query, or has no `$` variable or one that is not a parameter.
        """
        self.text = text
        self._pieces: list[tuple[str, str | None]] = []
        begin = 0
        for found in _TOKEN.finditer(text):
            if found["place"] is None:
                continue
            if found["name"] not in PARAMETERS:
                known = ", ".join("$" + one for one in sorted(PARAMETERS))
                raise PolicyError(
                    f"${found['name']} is no parameter; there are {known}. Write the query's own variables with ?"
                )
            self._pieces.append((text[begin : found.start()], found["name"]))
            begin = found.end()
        self._pieces.append((text[begin:], None))
        plain = _TOKEN.sub(lambda one: " " if one["comment"] is not None else one.group(), text)
        if not _READING_QUERY.match(plain):
            raise PolicyError(f"expected a query that reads, SELECT or another, got {text[:60]!r}")
        if len(self._pieces) == 1:
            raise PolicyError("the query has no $ variable for anything of a claim: write $entity or another")

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the query."""
        return tuple(dict.fromkeys(name for _, name in self._pieces if name is not None))

    def bind(self, values: Mapping[str, object], rules: TermRules) -> str:
        """The query with one term for each of its parameters.

        Raises:
            SourceError: a value cannot be a term.

        >>> QueryTemplate('SELECT ?p { ?s ?p $number } # $number').bind({"number": "5"}, TermRules())
        'SELECT ?p { ?s ?p "5"^^<http://www.w3.org/2001/XMLSchema#decimal> } # $number'
        """
        terms = {name: term(name, values[name], rules) for name in self.names}
        return "".join(text if name is None else text + terms[name] for text, name in self._pieces)
