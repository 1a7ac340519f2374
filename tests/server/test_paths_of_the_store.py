"""A server without a database names what is missing at every path that needs one."""

from pathlib import Path

from starlette.testclient import TestClient

from assay.server.app import Application, create_app
from assay.server.guards import Guards
from assay.server.settings import ServerSettings
from assay.testing import FakeScorer


def server(database: str | None) -> Application:
    return create_app(ServerSettings(database=database), guards=lambda: Guards(scorer=FakeScorer(), environ={}))


def paths(app: Application) -> set[str]:
    return {path for path in app.api.openapi()["paths"] if path.startswith("/v1/")}


def test_paths_that_need_a_database_are_answered_with_what_is_missing(tmp_path: Path) -> None:
    without = server(None)
    missing = paths(server(str(tmp_path / "assay.db"))) - paths(without)
    assert len(missing) > 60
    with TestClient(without, base_url="http://127.0.0.1") as client:
        for path in sorted(missing):
            problem = client.get(path.replace("{", "").replace("}", "")).json()
            assert (path, problem["type"]) == (path, "urn:assay:problem:store.absent")


def test_a_path_that_only_begins_with_the_same_letters_needs_no_database() -> None:
    """`/v1/metrics` is not below `/v1/me`: a database would not make it exist."""
    with TestClient(server(None), base_url="http://127.0.0.1") as client:
        for path in ("/v1/metrics", "/v1/keystone", "/consoles"):
            assert client.get(path).json()["type"] == "urn:assay:problem:route.unknown"
