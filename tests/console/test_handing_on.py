"""Reviews in daily work: handing items on, one or many, what is confirmed, who did it; and the short ways in."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.console.site import site
from tests.console.test_pages import is_harmless
from tests.console.test_people_pages import OTHER, REVIEWER, client_of, escalated, text_of, version_of

from assay.schema.access import PERMISSIONS, Role
from assay.server.app import create_app
from assay.server.caller import Caller
from assay.server.settings import ServerSettings
from assay.store.access.users import create_user
from assay.store.db.store import Store
from assay.store.reviews.items import read_item

VIEWER = Caller("vera", PERMISSIONS[Role.VIEWER], kind="user", id="u-vera")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with site(tmp_path) as (_, opened):
        for one in (REVIEWER, OTHER):
            create_user(opened, one.name, [Role.REVIEWER])
        yield opened


def assignee(store: Store, id_: str) -> str | None:
    with store.reading("default") as connection:
        found = read_item(connection, "default", id_)
    assert found is not None
    return found.assignee


def test_an_item_is_handed_on_to_somebody_who_may_review(store: Store) -> None:
    id_, rosa = escalated(store), client_of(store, REVIEWER)
    page = rosa.get(f"/console/review/{id_}").text
    assert f">{OTHER.name}</option>" in page
    version = version_of(page)
    done = rosa.post(f"/console/review/{id_}/assign", data={"to": OTHER.name, "version": version})
    assert done.headers["location"].endswith("done=review.assign")
    assert assignee(store, id_) == OTHER.name
    assert rosa.post(f"/console/review/{id_}/assign", data={"to": "mallory"}).status_code == 422
    stale = rosa.post(f"/console/review/{id_}/assign", data={"to": "", "version": version})
    assert stale.status_code == 412
    assert f"for {OTHER.name}" in text_of(rosa.get("/console/review").text)


def test_several_items_are_handed_on_at_once_and_nothing_is_decided(store: Store) -> None:
    ids, rosa = [escalated(store, f"The dose is {at} mg a day.") for at in (7, 8)], client_of(store, REVIEWER)
    assert is_harmless(rosa.get("/console/review").text)
    rosa.post("/console/review/bulk", data={"item": ids, "act": "assign", "to": OTHER.name})
    assert [assignee(store, id_) for id_ in ids] == [OTHER.name] * 2
    assert rosa.post("/console/review/bulk", data={"item": ids, "act": "approve"}).status_code == 422
    some = rosa.post("/console/review/bulk", data={"item": [*ids, "0" * 32], "act": "assign", "to": ""})
    assert some.headers["location"].endswith("done=review.some")
    assert rosa.post("/console/review/bulk", data={"act": "claim"}).headers["location"].endswith("done=runs.none")


def test_what_is_confirmed_stands_beside_its_claims_and_evidence(store: Store) -> None:
    id_, rosa = escalated(store), client_of(store, REVIEWER)
    version = version_of(rosa.get(f"/console/review/{id_}").text)
    page = rosa.post(f"/console/review/{id_}/confirm", data={"act": "reject", "version": version}).text
    assert 'id="claim-1"' in page
    assert "The dose is 5 mg a day." in text_of(page)


def test_who_may_only_read_is_told_so(store: Store) -> None:
    id_, vera = escalated(store), client_of(store, VIEWER)
    for path in ("/console/review", f"/console/review/{id_}"):
        page = vera.get(path).text
        assert "You may read this and decide nothing" in page
        assert "Hand it on" not in page
        assert 'class="choose"' not in page
    assert vera.post("/console/review/bulk", data={"item": [id_], "act": "claim"}).status_code == 403


def test_the_pages_of_the_log_name_reviewers(store: Store) -> None:
    id_, rosa = escalated(store), client_of(store, REVIEWER)
    rosa.post(f"/console/review/{id_}/assign", data={"to": OTHER.name})
    admin = client_of(store, Caller("ada", PERMISSIONS[Role.ADMIN], kind="user", id="u-ada"))
    page = admin.get("/console/audit").text
    assert f">{REVIEWER.name}<" in page
    assert is_harmless(page)


def test_the_root_leads_to_the_console_and_docs_to_the_api(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        client = TestClient(create_app(ServerSettings(), store=opened), base_url="http://127.0.0.1:8080")
        home, docs = (client.get(path, follow_redirects=False) for path in ("/", "/docs"))
        page = client.get("/console/api")
    assert (home.status_code, home.headers["location"]) == (307, "/console")
    assert (docs.status_code, docs.headers["location"]) == (307, "/console/api")
    for path in ("/v1/check", "/v1/datasets/{id}/export", "/v1/experiments/{id}", "/v1/chat/completions"):
        assert path in page.text
