"""The pages of the red team without a browser: what they show, to whom, and what a form may decide."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.console.site import app_over, site
from tests.console.test_pages import HOSTILE, is_harmless
from tests.server.attacks import recorded, suite

from assay.schema import PERMISSIONS, Role
from assay.server.caller import Caller
from assay.server.console.redteam.page import chart_mark
from assay.server.panels.charts import Marker
from assay.store.monitoring import ChangeRow, add_changes
from assay.store.records import micros
from assay.store.redteam import list_proposals

NOW = datetime(2026, 3, 20, 12, 30, tzinfo=UTC)
CASES = suite(3)


def person(role: Role, tenant: str = "default", kind: str = "user") -> Caller:
    return Caller(role.value, PERMISSIONS[role], tenant, kind, id=f"{kind}-1")


def test_the_page_shows_the_latest_run_its_trend_and_the_changes(tmp_path: Path) -> None:
    with site(tmp_path, now=NOW) as (client, store):
        for days, failing in ((9, (0,)), (5, ()), (1, (2, 4, 7))):
            last = recorded(
                store, micros(NOW - timedelta(days=days)), failing=failing, cases=CASES, target_version="v3"
            )
        add_changes(store, "default", [ChangeRow("c", micros(NOW - timedelta(days=3)), "model", "llama-4")])
        page = client.get("/console/redteam").text
        assert "0.900" in page
        assert f"/console/redteam/runs/{last.id}" in page
        assert "model: llama-4" in page
        assert page.count('class="mark"') == 4  # a line and a point, in the wide and in the narrow chart
        assert "It gives 90 weeks" not in page
        assert "How many weeks of leave" in page
        of = client.get("/console/redteam?category=scale_stress&of=99").text
        assert "ARS of scale stress" in of
        run = client.get(f"/console/redteam/runs/{last.id}").text
        assert '<span class="piece contradicted">It gives 90 weeks.</span>' in run
        assert client.get("/console/redteam/runs/" + "0" * 32).status_code == 404


def test_a_case_far_down_is_where_its_link_leads(tmp_path: Path) -> None:
    with site(tmp_path, now=NOW) as (client, store):
        run = recorded(store, micros(NOW), failing=tuple(range(30)), cases=CASES)
        here = f"/console/redteam/runs/{run.id}"
        assert f'id="{CASES[29].id}"' not in client.get(here).text
        assert f'id="{CASES[29].id}"' in client.get(f"{here}?case={CASES[29].id}").text
        assert f'id="{CASES[29].id}"' in client.get(f"{here}?after=19").text
        assert client.get(f"{here}?after=x&show=y&case=z").status_code == 200


def test_runs_and_proposals_are_seen_by_their_tenant_alone_and_decided_by_reviewers(tmp_path: Path) -> None:
    with site(tmp_path, now=NOW) as (_, store):
        run = recorded(store, micros(NOW), failing=(0, 11), cases=CASES, proposes=True)
        with store.reading("default") as connection:
            one = list_proposals(connection, "default")[0]
        paths = [f"/console/redteam/runs/{run.id}", f"/console/redteam/proposals/{one.id}"]
        decide = f"/console/redteam/proposals/{one.id}/decide"
        fields = {"act": "approve", "reason": "It happens.", "version": "1"}

        def client_of(caller: Caller) -> TestClient:
            return TestClient(app_over(store, caller), base_url="http://127.0.0.1", follow_redirects=False)

        other = client_of(person(Role.ADMIN, "globex"))
        assert [other.get(path).status_code for path in paths] == [404, 404]
        assert "No run is recorded" in other.get("/console/redteam").text
        assert other.post(decide, data=fields).status_code == 404
        viewer = client_of(person(Role.VIEWER))
        assert [viewer.get(path).status_code for path in paths] == [200, 200]
        assert decide not in viewer.get(paths[1]).text
        assert viewer.post(decide, data=fields).status_code == 403
        assert client_of(person(Role.ADMIN, kind="key")).post(decide, data=fields).status_code == 403
        reviewer = client_of(person(Role.REVIEWER))
        assert decide in reviewer.get(paths[1]).text
        refused = (
            ({"reason": " "}, 422),
            ({"version": "7"}, 412),
            ({"version": ""}, 422),
            ({"act": "x"}, 422),
        )
        for bad, status in refused:
            assert reviewer.post(decide, data={**fields, **bad}).status_code == status, bad
        done = reviewer.post(decide, data=fields)
        assert (done.status_code, done.headers["location"]) == (303, "/console/redteam/proposals?done=proposal.approve")
        assert reviewer.post(decide, data={**fields, "version": "2"}).status_code == 409
        shown = reviewer.get(paths[1]).text
        assert "approved" in shown
        assert "It happens." in shown
        assert "1 proposal of the red team" in reviewer.get("/console/review").text


def test_hostile_texts_are_shown_and_do_nothing(tmp_path: Path) -> None:
    with site(tmp_path, now=NOW) as (client, store):
        # A suite is UTF-8: halves of surrogate pairs are refused where it is read.
        for at, text in enumerate(one.replace("\ud800", "") for one in HOSTILE):
            run = recorded(
                store,
                micros(NOW) + at,
                failing=(0,),
                cases=suite(1, words=text[:500]),
                answer=f"{text}. Yes.",
                target=text[:300] or "x",
                suite_name=text[:100] or "x",
                proposes=True,
            )
            for path in (f"/console/redteam?of={at}", f"/console/redteam/runs/{run.id}"):
                assert is_harmless(client.get(path).text)
        with store.reading("default") as connection:
            ids = [one.id for one in list_proposals(connection, "default")]
        for path in ("/console/redteam/proposals", *(f"/console/redteam/proposals/{one}" for one in ids)):
            assert is_harmless(client.get(path).text)


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=20, unique=True), st.integers(0, 10**15))
def test_a_mark_stands_between_the_runs_before_and_after_it(moments: list[int], at: int) -> None:
    moments = sorted(moments)
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    mark = chart_mark(Marker(when, "model", "m"), moments)
    before = sum(one <= at for one in moments)
    if before == 0:
        assert mark is None
    else:
        assert mark is not None
        assert before - 0.5 <= mark.place <= before + 0.5
        assert mark.place <= len(moments)


def test_an_edited_case_goes_in_as_it_was_written(tmp_path: Path) -> None:
    with site(tmp_path, person(Role.REVIEWER), now=NOW) as (client, store):
        recorded(store, micros(NOW), failing=(0,), cases=CASES, proposes=True)
        path = f"/console/redteam/proposals/{CASES[0].id}"
        fields = {
            "act": "edit",
            "reason": "Clearer.",
            "version": "1",
            "prompt": "How long is it?\r\nIn weeks.",
            "expected_behavior": "answer",
            "ground_truth": "1 week",
            "accepted": "1 week\r\n one week \r\n\r\n",
            "planted": "",
        }
        assert client.post(f"{path}/decide", data={**fields, "expected_behavior": "dance"}).status_code == 422
        assert client.post(f"{path}/decide", data={**fields, "prompt": ""}).status_code == 422
        assert client.post(f"{path}/decide", data=fields).status_code == 303
        with store.reading("default") as connection:
            (row,) = list_proposals(connection, "default")
        made = row.body["approved"]
        assert (made["prompt"], made["accepted"]) == ("How long is it?\nIn weeks.", ["1 week", "one week"])
        assert row.kept == made["id"] != CASES[0].id


@pytest.mark.parametrize("path", ["/console/redteam", "/console/redteam/proposals"])
def test_who_may_not_read_sees_nothing(tmp_path: Path, path: str) -> None:
    nobody = Caller("nobody", frozenset(), kind="user")
    with site(tmp_path, nobody) as (client, _):
        assert client.get(path).status_code == 403
