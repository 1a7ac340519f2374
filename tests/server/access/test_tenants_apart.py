"""The wall between tenants, tried from every route that there is: the routes are read from the application itself.

What the routes say to an administrator of one tenant about an id of another tenant has to be what they say about an id
that nobody has: the same status and the same words. And nothing of the other tenant may change.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.server.access.desk import Client, Desk, desk_over
from tests.store.conftest import empty_postgres, postgres, url
from tests.store.making import record_of
from tests.store.reviewing import held

from assay.schema import Evidence
from assay.schema.access import Permission, Role
from assay.server.access.settings import AccessSettings
from assay.server.console.router import make_console_router
from assay.server.datasets.router import ID
from assay.store.access.api_keys import create_key
from assay.store.db import tables
from assay.store.records.run_events import give_feedback

__all__ = ["empty_postgres", "postgres", "url"]  # fixtures

UNHURRIED = AccessSettings(user_rate=1e6, user_burst=1e6, sign_in_rate=1e6, sign_in_burst=1e6)
"""Hundreds of requests in a moment are what these tests are about."""
MARK = "zanzibar"
"""Stands in every text of the other tenant."""
OWN = "globex"
OTHER = "acme"


PLACES = {"act": "disable", "index": "0", "number": "0", "entry": "0"}
"""What stands in the places of a page's path that are not of an id."""


OF_NAMES = {
    "/v1/monitor/panels/{name}",
    "/v1/redteam/proposals/{case}",
    "/v1/redteam/proposals/{case}/decision",
}
"""Routes whose place is no id of a row: one of a few names, or the name of a case, which follows from what it says
(`tests/server/test_redteam_routes.py` has another tenant ask for it)."""
NO_CASE = "rt-0123456789abcdef"
WITHOUT_ROWS = {
    ("GET", "/openapi.json"): "the description itself",
    ("GET", "/healthz"): "whether the process lives",
    ("GET", "/readyz"): "whether the network is loaded",
    ("GET", "/console/static/{digest}/{name}"): "files of the package",
    ("GET", "/console/{rest:path}"): "a page that is not there",
    ("POST", "/console/{rest:path}"): "a page that is not there",
    ("POST", "/console/logout"): "ends the session that these tests ask with",
    ("POST", "/console/theme"): "a cookie",
}
"""Routes that read and write nothing of a tenant, with what they give instead. A new route belongs here only if no
query of it could forget the tenant; else the tests below find it by themselves."""


@dataclass
class Walls:
    """A server with two tenants, and who asks: an administrator of `globex`, who wants to know of `acme`."""

    desk: Desk
    eve: Client
    ids: tuple[str, ...]
    """Everything in `acme` that has an id."""

    def rows(self) -> dict[str, list[str]]:
        """All rows of `acme`."""
        found = {}
        with self.desk.store.reading(OTHER) as connection:
            for table in tables.metadata.sorted_tables:
                query = select(table).where(table.c.tenant == OTHER)
                found[table.name] = sorted(repr(row) for row in connection.execute(query))
            search = tables.report_search
            query = select(search.c.id, search.c.words).where(search.c.owner == OTHER)
            found["report_search"] = sorted(repr(row) for row in connection.execute(query))
        return found


@pytest.fixture
def walls(database: Path) -> Iterator[Walls]:
    with desk_over(database, access=UNHURRIED) as desk:
        yield walls_of(desk)


def walls_of(desk: Desk) -> Walls:
    store = desk.store
    plain = record_of(
        f"The office in {MARK} is open.",
        tenant=OTHER,
        caller=f"crm-{MARK}",
        evidence=(Evidence(id=f"e-{MARK}", text=f"{MARK} is open."),),
    )
    waiting = held(f"Partners in {MARK} get 4 weeks.", tenant=OTHER)
    for record in (plain, waiting):
        store.record(record)
    said = give_feedback(store, plain.id, "wrong", tenant=OTHER, comment=f"not in {MARK}", author=f"ann-{MARK}")
    ada = desk.user(f"ada-{MARK}", Role.ADMIN, tenant=OTHER)
    key = create_key(store, f"crm-{MARK}", [Permission.READ], tenant=OTHER)[1]
    browser = desk.client()
    browser.sign_in(f"ada-{MARK}", tenant=OTHER)
    session = browser.ask("GET", "/v1/sessions").json["items"][0]["id"]
    with store.reading(OTHER) as connection:
        digests = [
            *connection.execute(select(tables.policies.c.digest).where(tables.policies.c.tenant == OTHER)).scalars(),
            *connection.execute(select(tables.evidence.c.digest).where(tables.evidence.c.tenant == OTHER)).scalars(),
        ]
    eve = desk.signed_in("eve", Role.ADMIN, tenant=OWN)
    return Walls(desk, eve, (plain.id, waiting.id, said, ada.id, key.id, session, *digests))


def api_routes(walls: Walls) -> list[tuple[str, str, dict[str, Any]]]:
    document = walls.eve.ask("GET", "/openapi.json").json
    return [
        (method.upper(), path, {**operation, "components": document["components"]["schemas"]})
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]


def all_routes(router: Any) -> list[tuple[str, str]]:
    """Every method and path that a router answers, whatever it was put together from."""
    found: list[tuple[str, str]] = []
    for route in router.routes:
        if hasattr(route, "original_router"):
            found += all_routes(route.original_router)
        else:
            # What has no methods (a mount, a websocket) would not be tried by any test here: teach them first.
            found += [(method, route.path) for method in route.methods if method != "HEAD"]
    return found


def page_routes(walls: Walls) -> list[tuple[str, str]]:
    found = all_routes(make_console_router(walls.desk.app.services))
    return [one for one in found if one not in WITHOUT_ROWS]


def example(schema: Any, known: dict[str, Any], depth: int = 0) -> Any:
    """A small value that a schema describes."""
    if "$ref" in schema:
        return example(known[schema["$ref"].rpartition("/")[2]], known, depth + 1)
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return example(schema[name][0], known, depth + 1)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    if kind == "object":
        needed = schema.get("required", ())
        return {
            name: example(one, known, depth + 1) for name, one in schema.get("properties", {}).items() if name in needed
        }
    if kind == "array":
        return [example(schema["items"], known, depth + 1)] * schema.get("minItems", 0)
    if schema.get("pattern") == ID:
        return "0" * 32
    choice = re.fullmatch(r"\^\((\w+)[|)].*", schema.get("pattern", ""))
    if choice is not None:
        return choice[1]
    return {"string": "a reason of its own", "integer": 1, "number": 1.0, "boolean": False}.get(kind)


def body_of(operation: dict[str, Any]) -> Any:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return None if content is None else example(content["schema"], operation["components"])


def nobodys(id_: str) -> str:
    """An id that nobody has, of the same form and at the same place of an order, which a cursor goes by."""
    return id_[:-1] + "1032547698badcfe"[int(id_[-1], 16)]


def told(client: Client, method: str, path: str, id_: str, body: Any = None, **more: Any) -> tuple[int, str]:
    """What is said, with the id itself taken out."""
    answer = client.ask(method, path, body, **more)
    text = answer.body.decode("utf-8", "replace").replace(id_, "ID")
    assert MARK not in text, (method, path)
    return answer.status, text


def test_no_route_of_the_application_is_left_out(walls: Walls) -> None:
    there = all_routes(walls.desk.app.api)
    tried = {(method, path) for method, path, _ in api_routes(walls)} | set(page_routes(walls))
    assert [one for one in there if one not in tried and one not in WITHOUT_ROWS] == []
    assert [one for one in WITHOUT_ROWS if one not in there] == []
    assert len(there) > 80


def filled(value: Any, words: str) -> Any:
    """A body with some words in the place of every text in it."""
    if isinstance(value, dict):
        return {name: filled(one, words) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, words) for one in value] or [words]
    return words if isinstance(value, str) else value


def test_an_id_of_another_tenant_in_a_body_is_as_good_as_one_that_nobody_has(walls: Walls) -> None:
    before = walls.rows()
    own = walls.desk.with_key(*Permission, tenant=OWN)
    tried = 0
    for method, path, operation in api_routes(walls):
        body = body_of(operation)
        if body is None or method == "GET":
            continue
        place = path.replace("{id}", nobodys(walls.ids[0])).replace("{case}", NO_CASE)
        assert "{" not in place, f"{path} has another place; teach this test"
        for id_ in walls.ids:
            statuses = set()
            for one in (id_, nobodys(id_)):
                answer = own.ask(method, place, filled(body, one), if_match='"1"')
                assert MARK not in answer.body.decode("utf-8", "replace"), (method, path)
                statuses.add(answer.status)
                tried += 1
            assert len(statuses) == 1, (method, path, statuses)
    assert tried > 150
    assert walls.rows() == before


def test_every_route_says_of_another_tenants_ids_what_it_says_of_ids_that_nobody_has(walls: Walls) -> None:
    before = walls.rows()
    tried = 0
    walls.eve.leaves_after = 2.0
    for method, path, operation in api_routes(walls):
        if "{" not in path:
            continue
        head, _, tail = path.partition("{")
        rest = tail.partition("}")[2]
        assert "{" not in rest, f"{path} has two places; teach this test"
        for id_ in walls.ids:
            for etag in ('"0"', '"1"', None) if method != "GET" else (None,):
                foreign, free = (
                    told(walls.eve, method, f"{head}{one}{rest}", one, body_of(operation), if_match=etag)
                    for one in (id_, nobodys(id_))
                )
                assert foreign == free, (method, path, id_)
                assert 400 <= foreign[0] < 500, (method, path, foreign)
                tried += 1
        # With a body and an ETag of the right form nothing but the id can be wrong.
        fitting = {
            told(walls.eve, method, f"{head}{id_}{rest}", id_, body_of(operation), if_match='"1"')[0]
            for id_ in walls.ids
        }
        # A place for one of a few names, which are the same for everybody, takes no id at all.
        assert (404 in fitting) or (path in OF_NAMES and fitting == {422}), (method, path, fitting)
    assert tried > 150
    assert walls.rows() == before


def test_every_list_and_every_filter_is_blind_to_another_tenant(walls: Walls) -> None:
    before = walls.rows()
    walls.eve.leaves_after = 0.3
    for method, path, operation in api_routes(walls):
        if method != "GET" or "{" in path or path in ("/healthz", "/readyz"):
            continue
        plain = walls.eve.ask(method, path).body.decode()
        assert MARK not in plain
        assert not any(id_ in plain for id_ in walls.ids), path
        for parameter in operation.get("parameters", ()):
            if parameter["in"] != "query" or parameter.get("schema", {}).get("type") in ("integer", "boolean"):
                continue
            for id_ in walls.ids:
                foreign, free = (
                    told(walls.eve, method, f"{path}?{parameter['name']}={one}", one) for one in (id_, nobodys(id_))
                )
                assert foreign == free, (path, parameter["name"])
    assert walls.rows() == before


def test_a_search_finds_nothing_of_another_tenant(walls: Walls) -> None:
    ann = walls.desk.client()
    ann.sign_in(f"ada-{MARK}", tenant=OTHER)
    assert MARK in ann.ask("GET", f"/v1/reports?q={MARK}").body.decode()
    assert walls.eve.ask("GET", f"/v1/reports?q={MARK}").json["items"] == []
    for name in ("caller", "run_id", "policy", "route"):
        assert walls.eve.ask("GET", f"/v1/reports?{name}=crm-{MARK}").json["items"] == []


def test_every_page_is_blind_to_another_tenant(walls: Walls) -> None:
    before = walls.rows()
    tried = 0
    for method, path in page_routes(walls):
        places = path.count("{")
        for id_ in walls.ids if places else walls.ids[:1]:
            for one in (id_, nobodys(id_)):
                filled = re.sub(r"\{(\w+)[^}]*\}", lambda place: PLACES.get(place[1], one), path)  # noqa: B023
                form = {"csrf": walls.eve.csrf or "", "version": "1", "reason": "mine"} if method == "POST" else None
                answer = walls.eve.ask(method, filled, form=form)
                text = answer.body.decode()
                assert MARK not in text, (method, filled)
                assert answer.status in (*range(200, 500), 503), (method, filled)
                tried += 1
    assert tried > 50
    assert walls.rows() == before


def test_a_key_with_every_permission_stays_in_its_tenant(walls: Walls) -> None:
    before = walls.rows()
    program = walls.desk.with_key(*Permission, tenant=OWN)
    program.leaves_after = 0.3
    for method, path, operation in api_routes(walls):
        head, _, tail = path.partition("{")
        for id_ in walls.ids if tail else ():
            told(program, method, f"{head}{id_}{tail.partition('}')[2]}", id_, body_of(operation), if_match='"1"')
    assert walls.rows() == before


def test_the_log_of_another_tenant_is_not_exported(walls: Walls) -> None:
    text = walls.eve.ask("GET", "/v1/audit/export").body.decode()
    assert json.loads(text.splitlines()[0])
    for id_ in walls.ids[:6]:
        assert id_ not in text
        assert walls.eve.ask("GET", f"/v1/audit/proof?report={id_}").status == 404
        assert walls.eve.ask("GET", f"/v1/audit/export?report={id_}").status == 404


@pytest.mark.slow
@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_the_walls_stand_on_postgresql_too(url: str) -> None:
    with desk_over(url, access=UNHURRIED) as desk:
        walls = walls_of(desk)
        test_every_route_says_of_another_tenants_ids_what_it_says_of_ids_that_nobody_has(walls)
        test_every_list_and_every_filter_is_blind_to_another_tenant(walls)
        # After the lists: what it makes has the other tenant's ids for names, and is in them.
        test_an_id_of_another_tenant_in_a_body_is_as_good_as_one_that_nobody_has(walls)
        test_every_page_is_blind_to_another_tenant(walls)
        test_a_search_finds_nothing_of_another_tenant(walls)
        test_the_log_of_another_tenant_is_not_exported(walls)
