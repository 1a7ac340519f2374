"""External verification over a generated table and graph: python -m benchmarks.knowledge [--claims N] [--hostile N].

1. Claims about products (a table in SQLite behind prepared statements) and about towns and books (a graph in a real
   Oxigraph store behind the SPARQL protocol), in several wordings each, half of them wrong: with a value drawn from
   another row, or a number moved. Counted: right ones verified, wrong ones refuted. The evidence of the check says
   nothing of any of them. Beside them a quarter as many on what no source has: those should be unverifiable.
2. Checks with a source that hangs, refuses, lies about its length or sends 50 MB, beside one that works: answers past
   the latency budget, and claims that the working source decided all the same.
3. Hostile claims against SQL, SPARQL and addresses: statements that the engine saw other than those configured, queries
   that the engine reads otherwise than with a bound variable, requests to another path, rows changed.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from tests.knowledge.sites import MISBEHAVING, Graph, as_json, raw, refuses, served

from assay.config import Guard
from assay.errors import SourceError
from assay.guard import CheckRequest
from assay.knowledge import Knowledge, Profile, formulate
from assay.knowledge.extraction import Extraction
from assay.knowledge.interface import Deadline, Inquiry, Limits, Scope
from assay.knowledge.kinds.http import HttpSettings, HttpSource
from assay.knowledge.kinds.sparql import Query, SparqlSettings, SparqlSource
from assay.knowledge.kinds.sparql_terms import TermRules
from assay.knowledge.kinds.sql import SqlSettings, SqlSource, Statement
from assay.schema import Evidence

GOAL: Final = 0.95
BUDGET_S: Final = 1.0
ASIDE: Final = [
    Evidence(id="note", text="The catalogue and the almanac are kept up to date by the staff of the library.")
]

FIRST = [
    "Aria",
    "Lark",
    "Heron",
    "Tern",
    "Ibis",
    "Wren",
    "Kestrel",
    "Plover",
    "Avocet",
    "Dunlin",
    "Merlin",
    "Osprey",
    "Petrel",
    "Siskin",
    "Linnet",
    "Redpoll",
]
MAKERS = ["Finch Works", "Northlight Audio", "Bramble & Co", "Osei Instruments", "Tidewater Labs", "Halvorsen"]
LANDS = ["Portugal", "Norway", "Japan", "Chile", "Ghana", "Canada"]
COLOURS = ["black", "white", "green", "red", "silver"]
TOWNS = [
    "Harrowgate",
    "Tolmere",
    "Brackenford",
    "Sundvik",
    "Altona",
    "Vester",
    "Kilmory",
    "Ravenna",
    "Port-Ely",
    "Marlow",
    "Quillan",
    "Osterby",
    "Penhale",
    "Lindow",
    "Castelnau",
    "Fenwick",
    "Aldeia",
    "Morven",
    "Stavern",
    "Belmonte",
    "Thornbury",
    "Calder",
    "Juniper",
    "Elsdon",
    "Roskeld",
]
RIVERS = ["the Oder", "the Ember", "the Tamar", "the Lune", "the Ister"]
MAYORS = ["Ines Carvalho", "Tom Okafor", "Greta Lind", "Paul Reyes", "Mina Sato", "Omar Haddad", "Lucy Brandt"]
TITLES = """The Salt Road; A Winter Ledger; The Glass Orchard; Nine Harbours; The Quiet Engine; Letters to Brume;
The Copper Field; An Atlas of Rain; The Last Ferry; Small Machines; The Ninth Map; Blue Granite""".replace(
    "\n", " "
).split("; ")

PRODUCT = {
    "price": (
        "The {name} costs EUR {value}.",
        "The price of the {name} is {value} euros.",
        "You pay EUR {value} for the {name}.",
    ),
    "weight": (
        "The {name} weighs {value} kg.",
        "The weight of the {name} is {value} kg.",
        "The {name} has a weight of {value} kg.",
    ),
    "warranty": ("The {name} has a warranty of {value} years.", "The warranty on the {name} lasts {value} years."),
    "maker": ("The {name} is made by {value}.", "{value} makes the {name}.", "The {name} is a product of {value}."),
    "land": ("The {name} is made in {value}.", "The {name} comes from {value}."),
    "year": ("The {name} came out in {value}.", "The {name} was released in {value}."),
}
SQL: Final = (
    Statement(
        "SELECT name, price, weight, warranty, maker, land, year FROM products WHERE lower(name) = lower(:entity)",
        "{name} costs EUR {price}. {name} weighs {weight} kg. {name} has a warranty of {warranty} years. "
        "{name} is made by {maker}. {name} is made in {land}. {name} was released in {year}.",
    ),
)
TOWN = {
    "population": (
        "{name} has {value} inhabitants.",
        "The population of {name} is {value}.",
        "{value} people live in {name}.",
    ),
    "mayor": ("The mayor of {name} is {value}.", "{value} is the mayor of {name}."),
    "founded": ("{name} was founded in {value}.", "{name} has existed since {value}."),
    "river": ("{name} lies on {value}.", "{name} stands on {value}."),
}
BOOK = {
    "author": ("“{name}” was written by {value}.", "{value} is the author of “{name}”.", "{value} wrote “{name}”."),
    "published": ("“{name}” was published in {value}.", "“{name}” appeared in {value}."),
    "pages": ("“{name}” has {value} pages.", "“{name}” is {value} pages long."),
}
ABSENT = (
    (
        "The {name} has a battery life of {n} hours.",
        "The {name} was designed by {p}.",
        "The {name} is sold in {n} countries.",
        "The {name} won an award in {y}.",
        "The {name} measures {n} cm.",
    ),
    (
        "{name} has {n} schools.",
        "The cathedral of {name} is {n} metres tall.",
        "{p} was born in {name}.",
        "The university of {name} opened in {y}.",
        "{name} has a budget of EUR {n} million.",
    ),
    (
        "“{name}” was translated by {p}.",
        "“{name}” won a prize in {y}.",
        "“{name}” sold {n},000 copies.",
        "“{name}” was reprinted {n} times.",
    ),
)
"""Claims on what the table and the graph have no column and no predicate for."""
PREFIX: Final = "PREFIX ex: <http://example.org/> "
SPARQL: Final = (
    Query(
        PREFIX + "SELECT ?name ?population ?mayor ?founded ?river WHERE { ?t ex:town ?name ; "
        "ex:population ?population ; ex:mayor ?mayor ; ex:founded ?founded ; ex:river ?river . "
        "FILTER(LCASE(STR(?name)) = LCASE($entity)) }",
        "{name} has {population:,} inhabitants. The mayor of {name} is {mayor}. {name} was founded in {founded}. "
        "{name} lies on {river}.",
    ),
    Query(
        PREFIX + "SELECT ?name ?author ?published ?pages WHERE { ?b ex:book ?name ; ex:author ?author ; "
        "ex:published ?published ; ex:pages ?pages . FILTER(LCASE(STR(?name)) = LCASE($entity)) }",
        "“{name}” was written by {author}. “{name}” was published in {published}. “{name}” has {pages} pages.",
    ),
)


@dataclass(frozen=True, slots=True)
class Case:
    """One claim and whether it is so."""

    text: str
    right: bool
    kind: str
    """Table or graph, and what it is about."""


def products(rng: random.Random) -> list[dict[str, Any]]:
    """Rows of the table, each with a name of its own."""
    names = [f"{first} {number}" for first in FIRST for number in (2, 5, 300)]
    return [
        {
            "name": name,
            "price": rng.randrange(1_999, 89_999, 50) / 100,
            "weight": rng.randrange(4, 99) / 10,
            "warranty": rng.randrange(2, 9),
            "maker": rng.choice(MAKERS),
            "land": rng.choice(LANDS),
            "year": rng.randrange(2009, 2025),
        }
        for name in names
    ]


def towns(rng: random.Random) -> list[dict[str, Any]]:
    """Towns of the graph."""
    return [
        {
            "name": name,
            "population": rng.randrange(2_000, 900_000, 100),
            "mayor": rng.choice(MAYORS),
            "founded": rng.randrange(1100, 1900),
            "river": rng.choice(RIVERS),
        }
        for name in TOWNS
    ]


def books(rng: random.Random) -> list[dict[str, Any]]:
    """Books of the graph."""
    return [
        {
            "name": name,
            "author": rng.choice(MAYORS),
            "published": rng.randrange(1890, 2020),
            "pages": rng.randrange(90, 800),
        }
        for name in TITLES
    ]


def cases(
    rows: list[dict[str, Any]], wordings: dict[str, tuple[str, ...]], kind: str, count: int, rng: random.Random
) -> Iterator[Case]:
    """Claims about rows, half of them with a value that is another one's or, of a number, near the right one."""
    for number in range(count):
        row, field = rng.choice(rows), rng.choice(sorted(wordings))
        right = number % 2 == 0
        value = row[field]
        if not right:
            others = sorted({one[field] for one in rows} - {value}, key=str)
            value = rng.choice(others)
            if isinstance(row[field], int | float) and rng.random() < 0.5:
                step = 1 if isinstance(row[field], int) and row[field] < 2_100 else row[field] * 0.1
                value = round(row[field] + rng.choice((-1, 1)) * step, 2)
                value = int(value) if isinstance(row[field], int) else value
        said = (
            f"{value:,}"
            if isinstance(value, int) and value >= 10_000
            else f"{value:g}"
            if isinstance(value, float)
            else str(value)
        )
        yield Case(rng.choice(wordings[field]).format(name=row["name"], value=said), right, f"{kind} {field}")


def absent(rows: Sequence[list[dict[str, Any]]], count: int, rng: random.Random) -> Iterator[str]:
    """Claims about the same rows that neither source can settle."""
    for at in range(count):
        wordings, listed = ABSENT[at % 3], rows[at % 3]
        yield rng.choice(wordings).format(
            name=rng.choice(listed)["name"], n=rng.randrange(2, 60), p=rng.choice(MAYORS), y=rng.randrange(1900, 2024)
        )


def graph_of(rows: dict[str, list[dict[str, Any]]]) -> Graph:
    """A store with a node for each row."""
    made = Graph()
    ox = made.ox
    for kind, listed in rows.items():
        for at, row in enumerate(listed):
            node = ox.NamedNode(f"http://example.org/{kind}/{at}")
            for name, value in row.items():
                predicate = ox.NamedNode(f"http://example.org/{kind if name == 'name' else name}")
                made.store.add(ox.Quad(node, predicate, ox.Literal(value)))
    return made


def table_of(path: Path, rows: list[dict[str, Any]]) -> Path:
    """A table with the rows."""
    with sqlite3.connect(path) as made:
        made.execute(
            "CREATE TABLE products (name TEXT, price REAL, weight REAL, warranty INT, maker TEXT, land TEXT, year INT)"
        )
        made.executemany("INSERT INTO products VALUES (:name, :price, :weight, :warranty, :maker, :land, :year)", rows)
    made.close()
    return path


def profile(name: str, kind: str, authority: str = "database", **more: Any) -> Profile:
    """How a source is treated here."""
    settings: dict[str, Any] = {"latency_s": 0.0, "timeout_s": 30.0, "scope": Scope(None, "claim"), **more}
    return Profile(name, kind, authority, **settings)  # type: ignore[arg-type]


def accuracy(count: int, seed: int, show: int) -> float:
    """The share of claims that are verified or refuted rightly."""
    rng = random.Random(seed)
    listed, known = products(rng), {"town": towns(rng), "book": books(rng)}
    asked = [
        *cases(listed, PRODUCT, "table", count // 2, rng),
        *cases(known["town"], TOWN, "graph", count // 3, rng),
        *cases(known["book"], BOOK, "graph", count - count // 2 - count // 3, rng),
    ]
    with tempfile.TemporaryDirectory() as folder, served(graph_of(known)) as url:
        table = SqlSource(SqlSettings(f"sqlite:///{table_of(Path(folder) / 'p.db', listed)}", SQL))
        graph = SparqlSource(SparqlSettings(f"{url}/query", SPARQL, TermRules()))
        base = Knowledge([(profile("table", "sql"), table), (profile("graph", "sparql"), graph)])
        guard = Guard("general", knowledge=base, environ={})
        begun = time.perf_counter()
        reports = list(guard.check_many(CheckRequest(case.text, ASIDE) for case in asked))
        spent = time.perf_counter() - begun
        silent = list(absent((listed, known["town"], known["book"]), count // 4, rng))
        of_silent = Counter(
            one.external.status
            for report in guard.check_many(CheckRequest(text, ASIDE) for text in silent)
            for one in report.claims
            if one.external is not None
        )
        base.close()
    told: Counter[tuple[str, str]] = Counter()
    right: Counter[str] = Counter()
    misses: list[str] = []
    for case, report in zip(asked, reports, strict=True):
        statuses = {one.external.status for one in report.claims if one.external is not None}
        status = "refuted" if "refuted" in statuses else "verified" if statuses == {"verified"} else "undecided"
        told["right" if case.right else "wrong", status] += 1
        if status == ("verified" if case.right else "refuted"):
            right[case.kind] += 1
        else:
            external = next((one.external for one in report.claims if one.external is not None), None)
            misses.append(f"{case.kind}: {status}: {case.text} | {external.message if external else 'not asked'}")
    of = Counter(case.kind for case in asked)
    print(f"{len(asked)} claims, {spent / len(asked) * 1000:.0f} ms each")
    for (so, status), number in sorted(told.items()):
        print(f"  {so:5} {status:9} {number}")
    print("  " + ", ".join(f"{kind} {right[kind]}/{of[kind]}" for kind in sorted(of)))
    for line in misses[:show]:
        print("  -", line)
    told_silent = ", ".join(f"{status} {number}" for status, number in sorted(of_silent.items()))
    print(f"  {len(silent)} claims on what no source has: {told_silent}")
    share = sum(right.values()) / len(asked)
    print(f"verified or refuted rightly: {share:.1%} (goal {GOAL:.0%})")
    return share


def budgets(checks: int, seed: int) -> int:
    """Answers past the budget with sources that do not behave, beside one that works."""
    rng = random.Random(seed)
    listed = products(rng)
    texts = [case.text for case in cases(listed, PRODUCT, "table", checks * 3, rng)]
    late = 0
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path = table_of(Path(folder) / "p.db", listed)
        servers = {name: stack.enter_context(raw(speak)) for name, speak in MISBEHAVING.items()}
        servers["refuses"] = stack.enter_context(refuses())
        answer = Extraction("/items", (("name", "/name"),))
        for name, url in sorted(servers.items()):
            bad = HttpSource(HttpSettings(f"{url}/{{entity}}", answer=answer), Limits(response_bytes=1_000_000))
            good = SqlSource(SqlSettings(f"sqlite:///{path}", SQL))
            base = Knowledge(
                [
                    (profile("bad", "http", "organisation", timeout_s=0.4), bad),
                    (profile("good", "sql"), good),
                ]
            )
            worst, decided, past = 0.0, 0, 0
            for at in range(checks):
                session = base.session(None, BUDGET_S)
                asked = [formulate(text) for text in texts[3 * at : 3 * at + 3]]
                begun = time.perf_counter()
                first = session.ask(0, asked)
                second = session.ask(1, asked)
                took = time.perf_counter() - begun
                worst = max(worst, took)
                past += took > BUDGET_S + 0.25 and any(one.status == "answered" for one in second)
                past += any(one.status == "answered" for one in first)
                decided += sum(one.status == "answered" for one in second)
            late += past
            print(
                f"  {name:20} longest {worst:.2f} s of {BUDGET_S:g}; the working source answered {decided}/{3 * checks}"
            )
            base.close()
    print(f"answers past the latency budget, or of a source that does not behave: {late}")
    return late


PIECES: Final = (
    "'",
    '"',
    "\\",
    "`",
    ";",
    "--",
    "/*",
    "*/",
    "{",
    "}",
    "<",
    ">",
    "(",
    ")",
    "#",
    "/",
    "..",
    "?",
    "&",
    "=",
    "%00",
    "%27",
    "%2e%2e%2f",
    "\\u0022",
    "\\U00000022",
    "\n",
    "\r\n",
    "\t",
    "\x00",
    " OR 1=1",
    " UNION SELECT name FROM sqlite_master",
    "DROP TABLE products",
    "DELETE WHERE { ?s ?p ?o }",
    "INSERT DATA { <a:a> <a:b> <a:c> }",
    "SERVICE <http://127.0.0.1/>",
    "} UNION { ?s ?p ?o",
    "FILTER(true)",
    "$entity",
    ":entity",
    "?entity",
    "{entity}",
    "{claim}",
    "@evil.example",
    "http://127.0.0.1:1/",
    "Aria 2",
    "Lark",
    "O'Neill",
    '"""',
    "'''",
    "^^<http://www.w3.org/2001/XMLSchema#integer>",
    "\u2028",
)
BASE: Final = "SELECT ?name WHERE { ?item <http://example.org/name> ?name FILTER(STR(?name) = $entity) }"


def names_of(found: object) -> list[str]:
    """The names that a query for solutions found, in its order."""
    import pyoxigraph as ox

    if not isinstance(found, ox.QuerySolutions):
        raise TypeError(f"expected solutions of a query, got {type(found).__name__}")
    return [str(one["name"]) for one in found]


def hostile(count: int, seed: int) -> int:
    """Statements, queries and addresses that hostile claims changed."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    rng = random.Random(seed)
    texts = ["".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 9))) for _ in range(count)]
    claims = [
        f"{text} costs 5 euros." if at % 2 else f"The “{text}” is made in {text}." for at, text in enumerate(texts)
    ]
    statements: set[str] = set()
    paths: list[str] = []
    changed: Counter[str] = Counter()
    bound = 0

    def note(_c: Any, _k: Any, statement: str, *_: Any) -> None:
        statements.add(statement)

    def api(path: str, query: dict[str, list[str]], _body: bytes, headers: dict[str, str]) -> Any:
        paths.append(path)
        if set(query) != {"q"} or headers.get("X-Fixed") != "1":
            changed["addresses"] += 1
        return as_json({"items": []})

    graph = Graph()
    ox = graph.ox
    before = set(graph.store)
    with tempfile.TemporaryDirectory() as folder, served(graph) as url, served(api) as other:
        path = table_of(Path(folder) / "p.db", products(rng))
        content = path.read_bytes()
        table = SqlSource(SqlSettings(f"sqlite:///{path}", SQL))
        sparql = SparqlSource(SparqlSettings(f"{url}/query", (Query(BASE),), TermRules()))
        http = HttpSource(HttpSettings(f"{other}/v1/{{entity}}/price?q={{entity}}", headers=(("X-Fixed", "1"),)))
        event.listen(Engine, "before_cursor_execute", note)
        for text, claim in zip(texts, claims, strict=True):
            for inquiry in (formulate(claim), Inquiry(entities=(text,), claim=claim)):
                bound += bool(inquiry.entities)
                for source in (table, sparql, http):
                    try:
                        source.ask(inquiry, Deadline(30))
                    except SourceError as error:
                        changed["refused"] += 1
                        print("  refused:", str(error)[:100])
        event.remove(Engine, "before_cursor_execute", note)
        changed["sql"] += len(statements - {one.sql.replace(":entity", "?") for one in SQL})
        changed["rows"] += path.read_bytes() != content
    changed["rows"] += set(graph.store) != before
    changed["updates"] += graph.updates
    variable = ox.Variable("entity")
    for query in graph.asked:
        literal = query[len(BASE.partition("$entity")[0]) : len(query) - len(BASE.partition("$entity")[2])]
        value = literal.removesuffix("^^<http://www.w3.org/2001/XMLSchema#string>")[1:-1].replace('\\"', '"')
        known = BASE.replace("?name WHERE", "?name ?entity WHERE")
        mine = names_of(graph.store.query(query))
        theirs = names_of(graph.store.query(known, substitutions={variable: ox.Literal(value)}))
        changed["sparql"] += mine != theirs or not query.startswith(BASE.partition("$entity")[0])
    for one in paths:
        segments = urlsplit(one).path.split("/")
        changed["addresses"] += (
            len(segments) != 4 or segments[1] != "v1" or segments[3] != "price" or unquote(one) == ""
        )
    total = sum(number for name, number in changed.items() if name != "refused")
    print(
        f"{count} hostile claims ({bound} inquiries, {len(graph.asked)} queries, {len(paths)} requests): "
        f"{total} statements changed"
    )
    print(
        "  "
        + ", ".join(f"{name} {changed[name]}" for name in ("sql", "sparql", "addresses", "rows", "updates", "refused"))
    )
    return total


def main(arguments: list[str]) -> int:
    """Print the figures; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.knowledge", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--claims", type=int, default=480, help="claims about the table and the graph")
    parser.add_argument("--checks", type=int, default=5, help="checks beside each server that does not behave")
    parser.add_argument("--hostile", type=int, default=1_000, help="hostile claims")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--show", type=int, default=10, help="claims to show that went wrong")
    asked = parser.parse_args(arguments)
    share = accuracy(asked.claims, asked.seed, asked.show) if asked.claims else 1.0
    late = budgets(asked.checks, asked.seed) if asked.checks else 0
    changed = hostile(asked.hostile, asked.seed) if asked.hostile else 0
    return int(share < GOAL or late > 0 or changed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
