"""One well-behaved source of each kind over the same three products, for the contract that all of them keep."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.knowledge.sites import PRODUCTS, Graph, searxng, served, shop

from assay.knowledge.extraction import Extraction
from assay.knowledge.interface import Limits
from assay.knowledge.kinds.files import FilesSettings, FilesSource
from assay.knowledge.kinds.http import HttpSettings, HttpSource
from assay.knowledge.kinds.mcp import McpSettings, McpSource
from assay.knowledge.kinds.search import SearchSettings, SearchSource
from assay.knowledge.kinds.sparql import Query, SparqlSettings, SparqlSource
from assay.knowledge.kinds.sparql_terms import TermRules
from assay.knowledge.kinds.sql import SqlSettings, SqlSource, Statement

SQL = "SELECT name, price FROM products WHERE name = :entity"
SPARQL = (
    "PREFIX ex: <http://example.org/> SELECT ?name ?price WHERE { ?item ex:name ?name ; ex:price ?price . "
    "FILTER(STR(?name) = $entity) }"
)
COSTS = "{name} costs EUR {price}."


def table(path: Path) -> Path:
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE products (name TEXT, price REAL)")
        made.executemany("INSERT INTO products VALUES (?, ?)", PRODUCTS.items())
    made.close()
    return path


@contextmanager
def files(folder: Path, limits: Limits) -> Iterator[Any]:
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    for name, price in PRODUCTS.items():
        (docs / f"{name}.md").write_text(f"# {name}\n\n{name} costs EUR {price}.\n", encoding="utf-8")
    yield FilesSource(FilesSettings(docs, refresh_s=0), limits)


@contextmanager
def sql(folder: Path, limits: Limits) -> Iterator[Any]:
    path = table(folder / "products.db")
    yield SqlSource(SqlSettings(f"sqlite:///{path}", (Statement(SQL, COSTS),)), limits)


@contextmanager
def http(folder: Path, limits: Limits) -> Iterator[Any]:
    with served(shop) as url:
        answer = Extraction("/items", (("name", "/name"), ("price", "/price/amount")), COSTS)
        yield HttpSource(HttpSettings(f"{url}/products/{{entity}}", answer=answer), limits)


@contextmanager
def sparql(folder: Path, limits: Limits) -> Iterator[Any]:
    import pytest

    pytest.importorskip("pyoxigraph", reason="needs the extra knowledge: pip install 'assay-ai[knowledge]'")
    with served(Graph()) as url:
        yield SparqlSource(SparqlSettings(f"{url}/query", (Query(SPARQL, COSTS),), TermRules()), limits)


@contextmanager
def search(folder: Path, limits: Limits) -> Iterator[Any]:
    with served(searxng) as url:
        yield SearchSource(SearchSettings(f"{url}/search", asks="entity", domains=(("shops.example", 0.9),)), limits)


@contextmanager
def mcp(folder: Path, limits: Limits) -> Iterator[Any]:
    import pytest

    pytest.importorskip("mcp.server.mcpserver", reason="needs the extra mcp: pip install 'assay-ai[mcp]'")
    server = Path(__file__).with_name("tool_server.py")
    yield McpSource(McpSettings("price", {"name": "{entity}"}, (sys.executable, str(server))), limits)


KINDS: dict[str, Callable[[Path, Limits], Any]] = {
    "files": files,
    "sql": sql,
    "http": http,
    "sparql": sparql,
    "search": search,
    "mcp": mcp,
}
