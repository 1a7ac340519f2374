"""No text of a claim changes a statement, a query or an address, whatever it is made of."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.knowledge.kinds import COSTS, SQL, table

from assay.errors import PolicyError, SourceError
from assay.knowledge.extraction import Extraction
from assay.knowledge.inquiries import bindings, formulate
from assay.knowledge.interface import Deadline, Inquiry
from assay.knowledge.kinds.sparql import _rows as solutions
from assay.knowledge.kinds.sparql_terms import QueryTemplate, TermRules
from assay.knowledge.kinds.sql import SqlSettings, SqlSource, Statement
from assay.knowledge.kinds.templates import UrlTemplate, fill_tree

SIGNS = st.text(st.sampled_from("'\"\\`;{}<>()#/?&=%$:.-@ \t\n\r\x00abuU0022\u2028é"), max_size=40)
HOSTILE = SIGNS | st.text(max_size=40)


@given(HOSTILE)
@example("x' OR '1'='1")
@example("..")
def test_a_value_stays_in_its_segment_of_an_address(value: str) -> None:
    template = UrlTemplate.parse("http://knowledge.example:81/v1/{entity}/price?q={entity}&unit=eur")
    try:
        url = template.fill({"entity": value})
    except SourceError:
        return
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.fragment) == ("http", "knowledge.example:81", "")
    assert [unquote(one) for one in parts.path.split("/")] == ["", "v1", value, "price"]
    assert url.isascii()
    names = [pair.partition("=") for pair in parts.query.split("&")]
    assert [(name, unquote(text)) for name, _, text in names] == [("q", value), ("unit", "eur")]


@given(HOSTILE)
def test_a_value_stays_in_its_text_of_a_body(value: str) -> None:
    body = {"filter": [{"name": "{entity}"}], "limit": 1}
    try:
        made = fill_tree(body, {"entity": value})
    except SourceError:
        return
    assert made == {"filter": [{"name": value}], "limit": 1}


QUERY = """
# "$entity" in a comment is no place, and neither is <http://example.org/$entity>
PREFIX ex: <http://example.org/>
SELECT ?name ?other WHERE {
  ?item ex:name ?name . OPTIONAL { ?item ex:other ?other }
  FILTER(?name = $entity || ?name = '$entity')
}
"""


@given(HOSTILE)
@example('" } #')
@example("\\u0022 } #")
@example("\\")
def test_a_value_stays_in_its_term_of_a_query(value: str) -> None:
    template = QueryTemplate(QUERY)
    try:
        made = template.bind({"entity": value}, TermRules())
    except SourceError:
        return
    before, _, after = QUERY.rpartition("= $entity ||")
    assert made.startswith(before)
    assert made.endswith(after)
    literal = made[len(before) + 2 : len(made) - len(after) - 3]
    assert literal == '"' + value.replace('"', '\\"') + '"^^<http://www.w3.org/2001/XMLSchema#string>'
    assert "\\" not in literal.replace('\\"', "")


@given(HOSTILE)
@settings(max_examples=200, deadline=None)
def test_an_engine_reads_the_query_as_it_reads_a_bound_variable(value: str) -> None:
    ox = pytest.importorskip("pyoxigraph", reason="needs the extra knowledge: pip install 'assay-ai[knowledge]'")
    store = ox.Store()
    name = ox.NamedNode("http://example.org/name")
    held = value.encode("utf-8", "replace").decode()
    for number, text in enumerate({held, "canary", "$entity"}):
        store.add(ox.Quad(ox.NamedNode(f"http://example.org/{number}"), name, ox.Literal(text)))
    query = "SELECT ?s ?name WHERE { ?s <http://example.org/name> ?name FILTER(?name = $entity) }"
    try:
        made = QueryTemplate(query).bind({"entity": value}, TermRules())
    except SourceError:
        return
    known = query.replace("?name WHERE", "?name ?entity WHERE")
    bound = store.query(known, substitutions={ox.Variable("entity"): ox.Literal(value)})
    composed = store.query(made)
    assert [str(one["s"]) for one in composed] == [str(one["s"]) for one in bound]


@given(HOSTILE)
def test_an_entity_as_an_iri_is_one_iri(value: str) -> None:
    made: str
    try:
        made = QueryTemplate("SELECT ?p { $entity ?p ?o }").bind(
            {"entity": value}, TermRules(iri="http://example.org/product/")
        )
    except SourceError:
        return
    assert made.startswith("SELECT ?p { <http://example.org/product/")
    assert made.endswith("> ?p ?o }")
    assert not set(made[len("SELECT ?p { <") : -len("> ?p ?o }")]) & set('<>"{}|^`\\ ')


def test_the_database_sees_the_prepared_statement_and_nothing_else(tmp_path: Path) -> None:
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    path = table(tmp_path / "products.db")
    before = path.read_bytes()
    source = SqlSource(SqlSettings(f"sqlite:///{path}", (Statement(SQL, COSTS),)))
    seen: list[tuple[str, Any]] = []

    def note(_c: Any, _k: Any, statement: str, parameters: Any, _x: Any, _m: Any) -> None:
        seen.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        for text in ("Aria 2'; DROP TABLE products; --", "x' UNION SELECT name, sql FROM sqlite_master --"):
            source.ask(Inquiry(entities=(text,)), Deadline(5))
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert [parameters for _, parameters in seen] == [
        ("Aria 2'; DROP TABLE products; --",),
        ("x' UNION SELECT name, sql FROM sqlite_master --",),
    ]
    assert {statement for statement, _ in seen} == {SQL.replace(":entity", "?")}
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM products WHERE name = :entity",
        "SELECT 1 WHERE :entity = 'a'; DROP TABLE products",
        "SELECT name FROM products",
        "SELECT name FROM products WHERE name = :nonsense",
        "PRAGMA query_only = :entity",
        "ATTACH :entity AS other",
        "/* SELECT */ UPDATE products SET name = :entity",
    ],
)
def test_a_statement_that_does_more_than_read_is_refused_when_it_is_configured(sql: str, tmp_path: Path) -> None:
    path = table(tmp_path / "products.db")
    with pytest.raises(PolicyError):
        SqlSource(SqlSettings(f"sqlite:///{path}", (Statement(sql),)))


def test_a_statement_that_slips_through_still_cannot_write(tmp_path: Path) -> None:
    path = table(tmp_path / "products.db")
    writing = "WITH named AS (SELECT :entity AS n) DELETE FROM products WHERE name IN (SELECT n FROM named)"
    source = SqlSource(SqlSettings(f"sqlite:///{path}", (Statement(writing),)))
    with pytest.raises(SourceError, match="could not be asked"):
        source.ask(Inquiry(entities=("Lark",)), Deadline(5))
    with sqlite3.connect(path) as held:
        assert held.execute("SELECT count(*) FROM products").fetchone() == (3,)
    held.close()


def test_a_statement_that_never_ends_is_ended(tmp_path: Path) -> None:
    path = table(tmp_path / "products.db")
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT max(i) AS name FROM n WHERE i < 0 OR :entity = ''"
    )
    source = SqlSource(SqlSettings(f"sqlite:///{path}", (Statement(endless),)))
    with pytest.raises(SourceError, match="in time"):
        source.ask(Inquiry(entities=("Lark",)), Deadline(0.3))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/{entity}",
        "http://{entity}/x",
        "http://user:pass@host/{entity}",
        "//host/{entity}",
        "http:///x",
        "http://host/x?{entity}=1",
        "http://host/{entity}#top",
        "http://host:99999/{entity}",
        "http://host/{secret}",
        "http://[::1/{entity}",
        f"http://{'ä' * 80}.example/{{entity}}",
    ],
)
def test_an_address_with_a_place_where_none_may_be_is_refused(url: str) -> None:
    with pytest.raises(PolicyError):
        UrlTemplate.parse(url)


def test_an_answer_with_an_address_that_is_none_has_its_passage_without_a_link() -> None:
    extraction = Extraction(fields=(("text", "/text"),), link="/url")
    (passage,) = extraction.passages({"text": "Leave is 2 weeks.", "url": "http://[::1"}, "search")
    assert (passage.text, passage.link) == ("text: Leave is 2 weeks.", None)


def test_an_answer_of_sparql_with_a_number_that_is_none_is_an_error_of_the_source() -> None:
    with pytest.raises(SourceError, match="not in the JSON form"):
        solutions({"results": {"bindings": [{"price": {"value": "1e", "datatype": "http://x#decimal"}}]}})


@given(st.text(max_size=300))
@example('\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}\ud7fc"')  # a place that no character has
@settings(deadline=None)
def test_what_is_made_of_any_claim_can_be_bound(claim: str) -> None:
    inquiry = formulate(claim)
    for values in bindings({"entity", "number", "terms"}, inquiry, 5):
        QueryTemplate("SELECT ?s { ?s ?p $entity, $number, $terms }").bind(
            {name: str(value).replace("\\", "") for name, value in values.items()}, TermRules()
        )
    assert len(inquiry.entities) <= 8
    assert all(entity.isprintable() for entity in inquiry.entities)
