"""The `knowledge` list of `assay.yaml`: the sources and what each may be asked (docs/knowledge.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assay.errors import PolicyError
from assay.knowledge.extraction import Extraction
from assay.knowledge.interface import Authority, Limits, Profile, Scope, Sends, Source
from assay.knowledge.sessions import Knowledge
from assay.policy import Part, parse_part
from assay.text.lexicon import find_words

if TYPE_CHECKING:
    from assay.models import PairScorer

MAX_SOURCES: Final = 50
NAME: Final = "knowledge"
"""The part of the file."""
_VARIABLE: Final = r"^[A-Za-z_][A-Za-z0-9_]*$"
_HEADER: Final = r"^[A-Za-z0-9-]{1,60}$"
_EXPECTED_LATENCY: Final[Mapping[str, float]] = {
    "files": 0.05,
    "sql": 0.05,
    "sparql": 0.3,
    "http": 0.3,
    "mcp": 0.5,
    "search": 1.0,
}
"""By kind, the seconds that an answer is expected to take."""
_LOCAL_KINDS: Final = frozenset({"files", "sql"})
"""Kinds that are always the operator's own. Questions to the others leave the process, so their entries must say whose
text may be sent."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ScopeSettings(_Part):
    """Whose text may be sent to a source, and how much of it."""

    tenants: tuple[str, ...] | Literal["*"]
    sends: Sends = "entities"


class Credential(_Part):
    """A secret in the environment, and the header that it is sent in."""

    env: str = Field(pattern=_VARIABLE)
    header: str = Field(default="Authorization", pattern=_HEADER)
    scheme: str = Field(default="", pattern=r"^[A-Za-z]*$")
    """The word before it, such as `Bearer`."""


class Answer(_Part):
    """Where the passages are in a JSON answer."""

    items: str = ""
    fields: dict[str, str] = Field(default_factory=dict)
    passage: str | None = None
    title: str | None = None
    link: str | None = None
    effective_date: str | None = None

    def extraction(self) -> Extraction:
        """These settings as an `Extraction`."""
        return Extraction(
            self.items, tuple(self.fields.items()), self.passage, self.title, self.link, self.effective_date
        )


class _Common(_Part):
    name: str = Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")
    authority: Authority
    latency_s: float | None = Field(default=None, ge=0, le=600)
    timeout_s: float = Field(default=2.0, gt=0, le=600)
    scope: ScopeSettings | None = None
    authoritative: bool | None = None
    complete: bool = False
    about: tuple[str, ...] = ()
    cache_s: float = Field(default=300.0, ge=0)
    per_minute: int | None = Field(default=None, ge=1)
    at_once: int = Field(default=4, ge=1, le=64)
    failures: int = Field(default=3, ge=1)
    rest_s: float = Field(default=30.0, ge=0)
    response_bytes: int = Field(default=1_000_000, ge=1_000, le=100_000_000)
    passages: int = Field(default=8, ge=1, le=50)


class Files(_Common):
    """A folder."""

    kind: Literal["files"]
    path: str
    index: str | None = None
    refresh_s: float = Field(default=2.0, ge=0)
    candidates: int = Field(default=12, ge=1, le=100)
    rerank: bool = True


class SqlStatement(_Part):
    """One prepared statement."""

    sql: str
    passage: str | None = None


class Sql(_Common):
    """A database."""

    kind: Literal["sql"]
    url: str | None = None
    url_env: str | None = Field(default=None, pattern=_VARIABLE)
    statements: tuple[SqlStatement, ...] = Field(min_length=1)


class Http(_Common):
    """A JSON API."""

    kind: Literal["http"]
    url: str
    method: Literal["GET", "POST"] = "GET"
    body: Any = None
    headers: dict[Annotated[str, Field(pattern=_HEADER)], str] = Field(default_factory=dict)
    credential: Credential | None = None
    answer: Answer = Answer()
    missing: tuple[int, ...] = (404,)


class SparqlQuery(_Part):
    """One query."""

    sparql: str
    passage: str | None = None


class Sparql(_Common):
    """A graph."""

    kind: Literal["sparql"]
    endpoint: str
    queries: tuple[SparqlQuery, ...] = Field(min_length=1)
    language: str | None = None
    iri: str | None = None
    headers: dict[Annotated[str, Field(pattern=_HEADER)], str] = Field(default_factory=dict)
    credential: Credential | None = None


class Search(_Common):
    """A search engine."""

    kind: Literal["search"]
    enabled: bool = False
    endpoint: str
    shape: Literal["searxng", "brave"] = "searxng"
    asks: Literal["entity", "terms", "claim"] = "terms"
    domains: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    default: float = Field(default=0.2, ge=0, le=1)
    least: float = Field(default=0.5, ge=0, le=1)
    credential: Credential | None = None


class Mcp(_Common):
    """A tool of an MCP server."""

    kind: Literal["mcp"]
    tool: str = Field(min_length=1)
    arguments: dict[str, Any]
    command: tuple[str, ...] = ()
    url: str | None = None
    environment: tuple[Annotated[str, Field(pattern=_VARIABLE)], ...] = ()
    answer: Answer | None = None


Entry = Annotated[Files | Sql | Http | Sparql | Search | Mcp, Field(discriminator="kind")]
_ENTRY: Final[TypeAdapter[Entry]] = TypeAdapter(Entry)


def parse_knowledge(
    text: str, source: str, folder: Path, environ: Mapping[str, str], scorer: PairScorer | None = None
) -> Knowledge | None:
    """The sources listed in a file of the form of `assay.yaml`; none where it lists none.

    Args:
        text: the content of the file.
        source: its name in errors.
        folder: the folder that relative paths in it start from.
        environ: the environment, which has the credentials by the names in the file.
        scorer: the network that ranks documents.

    Raises:
        PolicyError: the list is invalid; each fault is a line `source:line:column: expected, got`.
        MissingPackageError: a kind of source needs a package that is not installed.
    """
    part = parse_part(text, source, NAME)
    if part is None:
        return None
    if not isinstance(part.value, tuple):
        part.fault((NAME,), "expected a list of sources, each with name, kind and authority")
        part.raise_faults()
        return None
    if len(part.value) > MAX_SOURCES:
        part.fault((NAME,), f"expected at most {MAX_SOURCES} sources, got {len(part.value)}")
    entries = [_entry(part, at, value) for at, value in enumerate(part.value[:MAX_SOURCES])]
    names: set[str] = set()
    for at, entry in enumerate(entries):
        if entry is not None and entry.name in names:
            part.fault((NAME, at, "name"), f"{entry.name!r} names two sources; reports tell them apart by it")
        if entry is not None:
            names.add(entry.name)
    part.raise_faults()
    members: list[tuple[Profile, Source]] = []
    for at, entry in enumerate(entries):
        if entry is None or (isinstance(entry, Search) and not entry.enabled):
            continue
        try:
            members.append(_build(entry, folder, environ, scorer))
        except PolicyError as error:
            part.fault((NAME, at), f"{entry.name}: {error}")
    part.raise_faults()
    return Knowledge(members)


def _entry(part: Part, at: int, value: object) -> Any:
    """One entry of the list; none where it is invalid, which is added to the faults."""
    if not isinstance(value, Mapping):
        part.fault((NAME, at), "expected a source with name, kind and authority")
        return None
    try:
        return _ENTRY.validate_python(_plain(value), strict=True)
    except ValidationError as error:
        for fault in error.errors():
            # pydantic puts the kind of a union into the path; the file has no such level.
            path = tuple(step for step in fault["loc"] if step not in _EXPECTED_LATENCY or step == "search")
            part.fault((NAME, at, *path), f"{'.'.join(map(str, path)) or 'source'}: {_message(fault)}")
    return None


def _message(fault: Any) -> str:
    match fault["type"]:
        case "union_tag_not_found":
            return f"expected a kind: {', '.join(sorted(_EXPECTED_LATENCY))}"
        case "union_tag_invalid":
            return f"expected one of the kinds {', '.join(sorted(_EXPECTED_LATENCY))}, got {fault['ctx']['tag']!r}"
        case "missing":
            return "is required"
        case "extra_forbidden":
            return "is no setting of this kind"
        case _:
            return str(fault["msg"])


def _plain(value: object) -> Any:
    """A copy of a parsed value in plain dicts and tuples, as pydantic requires in strict mode."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return tuple(_plain(one) for one in value)
    return value


def _build(entry: Any, folder: Path, environ: Mapping[str, str], scorer: PairScorer | None) -> tuple[Profile, Source]:
    limits = Limits(response_bytes=entry.response_bytes, passages=entry.passages)
    source = _source(entry, folder, environ, scorer, limits)
    scope = _scope(entry)
    names = source.names
    required: Sends = "claim" if "claim" in names else "terms" if "terms" in names else "entities"
    order: tuple[Sends, ...] = ("entities", "terms", "claim")
    if order.index(scope.sends) < order.index(required):
        raise PolicyError(
            f"it asks with {required!r}, and its scope lets it see {scope.sends!r}: "
            f"write `sends: {required}` if that may be"
        )
    # A search engine returns results of many authors, whose credibility is set by domain.
    authoritative = entry.authoritative
    if authoritative is None:
        authoritative = entry.authority != "web" or entry.kind == "search"
    if entry.complete and not authoritative:
        raise PolicyError("only an authoritative source can be complete")
    return Profile(
        name=entry.name,
        kind=entry.kind,
        authority=entry.authority,
        latency_s=_EXPECTED_LATENCY[entry.kind] if entry.latency_s is None else entry.latency_s,
        timeout_s=entry.timeout_s,
        scope=scope,
        limits=limits,
        authoritative=authoritative,
        complete=entry.complete,
        about=frozenset(word.stem for one in entry.about for word in find_words(one).lexemes),
        cache_s=0.0 if entry.kind == "files" else entry.cache_s,
        per_minute=entry.per_minute,
        at_once=entry.at_once,
        failures=entry.failures,
        rest_s=entry.rest_s,
    ), source


def _scope(entry: Any) -> Scope:
    if entry.scope is None:
        if entry.kind not in _LOCAL_KINDS:
            raise PolicyError(
                'expected a scope: whose text may go there (`tenants: "*"` or a list of names), and how much of a '
                "claim (`sends: entities`, `terms` or `claim`)"
            )
        return Scope(None, "claim")
    tenants = None if entry.scope.tenants == "*" else tuple(entry.scope.tenants)
    return Scope(tenants, entry.scope.sends)


def _source(entry: Any, folder: Path, environ: Mapping[str, str], scorer: PairScorer | None, limits: Limits) -> Any:
    match entry:
        case Files():
            from assay.knowledge.kinds.files import FilesSettings, FilesSource

            index = None if entry.index is None else folder / entry.index
            settings = FilesSettings(folder / entry.path, index, entry.refresh_s, entry.candidates)
            return FilesSource(settings, limits, scorer if entry.rerank else None)
        case Sql():
            from assay.knowledge.kinds.sql import SqlSettings, SqlSource, Statement

            statements = tuple(Statement(one.sql, one.passage) for one in entry.statements)
            return SqlSource(SqlSettings(_url(entry, folder, environ), statements), limits)
        case Http():
            from assay.knowledge.kinds.http import HttpSettings, HttpSource

            return HttpSource(
                HttpSettings(
                    entry.url,
                    entry.method,
                    entry.body,
                    tuple(entry.headers.items()),
                    _secret(entry.credential, entry.url, environ),
                    entry.answer.extraction(),
                    entry.missing,
                ),
                limits,
            )
        case Sparql():
            from assay.knowledge.kinds.sparql import Query, SparqlSettings, SparqlSource
            from assay.knowledge.kinds.sparql_terms import TermRules

            queries = tuple(Query(one.sparql, one.passage) for one in entry.queries)
            rules = TermRules(entry.language, entry.iri)
            secret = _secret(entry.credential, entry.endpoint, environ)
            return SparqlSource(
                SparqlSettings(entry.endpoint, queries, rules, tuple(entry.headers.items()), secret), limits
            )
        case Search():
            from assay.knowledge.kinds.search import SearchSettings, SearchSource

            return SearchSource(
                SearchSettings(
                    entry.endpoint,
                    entry.shape,
                    entry.asks,
                    tuple(entry.domains.items()),
                    entry.default,
                    entry.least,
                    _secret(entry.credential, entry.endpoint, environ),
                ),
                limits,
            )
        case Mcp():
            from assay.knowledge.kinds.mcp import McpSettings, McpSource

            environment = tuple((name, _variable(name, environ)) for name in entry.environment)
            answer = None if entry.answer is None else entry.answer.extraction()
            return McpSource(
                McpSettings(entry.tool, entry.arguments, entry.command, entry.url, answer, environment), limits
            )
    raise AssertionError(entry)


def _url(entry: Sql, folder: Path, environ: Mapping[str, str]) -> str:
    if (entry.url is None) == (entry.url_env is None):
        raise PolicyError("expected either `url`, or `url_env` with the name of a variable that has it")
    url = entry.url if entry.url is not None else _variable(entry.url_env or "", environ)
    if entry.url is not None and re.match(r"^[a-z+0-9]+://[^/@]*:[^/@]*@", entry.url):
        raise PolicyError(
            "expected no password in the file: put the whole address into a variable and name it in url_env"
        )
    found = re.fullmatch(r"sqlite(?:\+pysqlite)?:///(?P<path>[^?]+)", url)
    if found is not None and not Path(found["path"]).is_absolute():
        return f"sqlite:///{(folder / found['path']).absolute()}"
    return url


def _secret(credential: Credential | None, url: str, environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The header with a secret, which is never sent to another machine unencrypted."""
    if credential is None:
        return ()
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise PolicyError(f"expected an address such as https://host/path, got {url!r}: {error}") from error
    if parts.scheme == "http" and parts.hostname not in {"127.0.0.1", "::1", "localhost"}:
        raise PolicyError("a credential goes over https alone, or to this machine")
    value = _variable(credential.env, environ)
    return ((credential.header, f"{credential.scheme} {value}".strip()),)


def _variable(name: str, environ: Mapping[str, str]) -> str:
    value = environ.get(name, "").strip()
    if not value:
        raise PolicyError(f"expected the environment to have {name}")
    if not value.isascii() or not value.isprintable():
        raise PolicyError(f"expected {name} to be printable ASCII")
    return value
