"""The `knowledge` list of a file becomes sources, or an error with its place."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from tests.knowledge.kinds import table

from assay.config import Guard, knowledge_file, read_knowledge, read_policy
from assay.errors import PolicyError
from assay.knowledge import Knowledge
from assay.knowledge.extraction import Extraction
from assay.knowledge.kinds.http import HttpSettings, HttpSource
from assay.knowledge.kinds.mcp import McpSettings, McpSource
from assay.testing import FakeScorer

HEAD = "version: 1\npolicy: rag\n"
HTTP = """
knowledge:
  - name: prices
    kind: http
    authority: api
    url: https://api.example/products/{entity}
    scope: {tenants: [acme], sends: entities}
    credential: {env: PRICES_KEY, scheme: Bearer}
    answer: {items: /items, fields: {name: /name}, passage: "{name} exists."}
"""


def read(tmp_path: Path, text: str, environ: dict[str, str] | None = None) -> Knowledge:
    path = tmp_path / "assay.yaml"
    path.write_text(HEAD + textwrap.dedent(text), encoding="utf-8")
    found = read_knowledge(path, environ or {})
    assert found is not None
    return found


def test_a_file_without_a_list_has_no_sources(tmp_path: Path) -> None:
    path = tmp_path / "assay.yaml"
    path.write_text(HEAD, encoding="utf-8")
    assert read_knowledge(path, {}) is None
    assert read_knowledge(None, {}) is None


def test_the_list_is_no_part_of_the_policy(tmp_path: Path) -> None:
    path = tmp_path / "assay.yaml"
    path.write_text(HEAD + HTTP, encoding="utf-8")
    assert read_policy(path, {}) == read_policy("rag", {})


def test_every_setting_reaches_the_source(tmp_path: Path) -> None:
    (profile,) = read(tmp_path, HTTP, {"PRICES_KEY": "s3cret"}).profiles
    assert (profile.name, profile.kind, profile.authority) == ("prices", "http", "api")
    assert (profile.scope.tenants, profile.scope.sends) == (("acme",), "entities")
    assert profile.authoritative
    assert not profile.complete


def test_no_secret_is_in_what_identifies_the_sources(tmp_path: Path) -> None:
    one = read(tmp_path, HTTP, {"PRICES_KEY": "s3cret"})
    other = read(tmp_path, HTTP, {"PRICES_KEY": "another"})
    assert one.digest == other.digest
    assert "s3cret" not in repr(one.profiles)


@pytest.mark.parametrize("field", ["items", "fields", "passage", "title", "link", "effective_date"])
@pytest.mark.parametrize("kind", ["http", "mcp"])
def test_each_pointer_is_in_what_identifies_a_source(kind: str, field: str) -> None:
    def digest(pointer: str) -> str:
        value: Any = (("a", pointer),) if field == "fields" else pointer
        answer = Extraction(**{field: value})
        if kind == "http":
            return HttpSource(HttpSettings("https://a.example/{entity}", answer=answer)).digest
        pytest.importorskip("mcp", reason="needs the extra mcp: pip install 'assay-ai[mcp]'")
        return McpSource(McpSettings("t", {"name": "{entity}"}, ("server",), answer=answer)).digest

    assert digest("/a") == digest("/a")
    assert digest("/a") != digest("/b")


def test_a_secret_that_the_environment_does_not_have_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"assay\.yaml:5:5: prices: expected the environment to have PRICES_KEY"):
        read(tmp_path, HTTP)


def test_paths_begin_in_the_folder_of_the_file(tmp_path: Path) -> None:
    table(tmp_path / "products.db")
    (tmp_path / "docs").mkdir()
    found = read(
        tmp_path,
        """
        knowledge:
          - {name: products, kind: sql, authority: database, url: sqlite:///products.db,
             statements: [{sql: "SELECT name, price FROM products WHERE name = :entity"}]}
          - {name: handbook, kind: files, authority: organisation, path: docs}
        """,
    )
    assert [one.name for one in found.profiles] == ["handbook", "products"]
    session = found.session(None, 5.0)
    from assay.knowledge import formulate

    (outcome,) = session.ask(1, [formulate("The Lark costs 20 euros.")])
    assert [one.text for one in outcome.found.passages] == ["name: Lark\nprice: 20"]
    found.close()


def test_a_search_engine_is_off_until_it_is_switched_on(tmp_path: Path) -> None:
    text = """
    knowledge:
      - {name: web, kind: search, authority: web, endpoint: "https://search.example/search", enabled: %s,
         scope: {tenants: "*", sends: terms}}
    """
    assert read(tmp_path, text % "false").profiles == ()
    assert [one.name for one in read(tmp_path, text % "true").profiles] == ["web"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{kind: files, authority: api, path: .}", "name: is required"),
        ("{name: a, kind: oracle, authority: api}", "expected one of the kinds"),
        ("{name: a, authority: api}", "expected a kind"),
        ("{name: a, kind: files, authority: best, path: .}", "authority"),
        ("{name: a, kind: files, authority: api, path: none}", "expected a folder"),
        ("{name: a, kind: files, authority: api, path: ., colour: red}", "colour: is no setting of this kind"),
        ('{name: a, kind: http, authority: api, url: "https://x.example/{entity}"}', "expected a scope"),
        (
            '{name: a, kind: http, authority: api, url: "https://x.example/{claim}", scope: {tenants: "*"}}',
            "its scope lets it see 'entities'",
        ),
        (
            '{name: a, kind: http, authority: api, url: "https://u:p@x.example/{entity}", scope: {tenants: "*"}}',
            "without a name or password",
        ),
        (
            (
                '{name: a, kind: sql, authority: database, url: "postgresql://u:p@h/d", '
                'statements: [{sql: "SELECT 1 WHERE 1 = :entity"}]}'
            ),
            "no password in the file",
        ),
        (
            '{name: a, kind: sql, authority: database, url: "sqlite:///x.db", statements: [{sql: "DROP TABLE a"}]}',
            "expected one statement that reads",
        ),
        (
            (
                '{name: a, kind: sparql, authority: public, endpoint: "https://x.example/q", scope: {tenants: "*"}, '
                'queries: [{sparql: "DELETE WHERE { ?s ?p $entity }"}]}'
            ),
            "expected a query that reads",
        ),
        (
            (
                '{name: a, kind: search, enabled: true, authority: web, endpoint: "https://x.example", complete: true, '
                'authoritative: false, scope: {tenants: "*", sends: terms}}'
            ),
            "only an authoritative source can be complete",
        ),
        (
            '{name: a, kind: mcp, authority: api, tool: t, arguments: {q: "{entity}"}, scope: {tenants: "*"}}',
            "either a command or a url",
        ),
        ("text", "expected a source with name"),
        (
            (
                '{name: a, kind: http, authority: api, url: "http://x.example/{entity}", scope: {tenants: "*"}, '
                "credential: {env: HOME}}"
            ),
            "over https alone",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(entry: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError) as caught:
        read(tmp_path, f"knowledge:\n  - {entry}\n")
    assert said in str(caught.value)
    assert "assay.yaml:" in str(caught.value)


def test_two_sources_of_one_name_are_refused(tmp_path: Path) -> None:
    entry = "{name: a, kind: files, authority: api, path: .}"
    with pytest.raises(PolicyError, match="names two sources"):
        read(tmp_path, f"knowledge:\n  - {entry}\n  - {entry}\n")


def test_a_list_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="expected a list of sources"):
        read(tmp_path, "knowledge: all of it\n")


def test_the_file_that_counts_is_the_policys_own_or_the_one_of_the_environment(tmp_path: Path) -> None:
    own, other, bare = tmp_path / "own.yaml", tmp_path / "other.yaml", tmp_path / "bare.yaml"
    listed = HEAD + "knowledge:\n  - {name: a, kind: files, authority: api, path: .}\n"
    own.write_text(listed, encoding="utf-8")
    other.write_text(listed, encoding="utf-8")
    bare.write_text(HEAD, encoding="utf-8")
    environ = {"ASSAY_CONFIG": str(other)}
    assert knowledge_file(str(own), environ) == own
    assert knowledge_file(bare, environ) == other
    assert knowledge_file("rag", environ) == other
    assert knowledge_file(None, {}) is None


def test_a_guard_without_sources_is_asked_for_with_false(tmp_path: Path) -> None:
    path = tmp_path / "assay.yaml"
    path.write_text(HEAD + "knowledge:\n  - {name: a, kind: files, authority: api, path: .}\n", encoding="utf-8")
    (tmp_path / "note.md").write_text("Partners get 4 weeks of leave.", encoding="utf-8")
    with_sources = Guard(path, scorer=FakeScorer(), environ={})
    without = Guard(path, scorer=FakeScorer(), environ={}, knowledge=False)
    answer, evidence = "Partners get 4 weeks of leave.", ["The office is in Ghent."]
    assert with_sources.check(answer, evidence).knowledge is not None
    assert without.check(answer, evidence).knowledge is None
