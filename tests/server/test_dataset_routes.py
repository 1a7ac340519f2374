"""`/v1/datasets` and `/v1/experiments`: made, labelled, exported and run again by a program."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.console.site import GUARD, record

from assay.server.app import create_app
from assay.server.datasets.experiments import run_experiments
from assay.server.settings import ServerSettings
from assay.store.db.store import Store

EVIDENCE = {"hr-2": "Partners are entitled to 2 weeks of leave."}
RIGHT, WRONG = "Partners are entitled to 2 weeks of leave.", "Partners are entitled to 4 weeks of leave."


@pytest.fixture
def there(tmp_path: Path) -> Iterator[tuple[TestClient, Store]]:
    with Store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        yield TestClient(create_app(ServerSettings(), store=store), base_url="http://127.0.0.1:8080"), store


def test_a_dataset_is_made_filled_labelled_and_exported(there: tuple[TestClient, Store]) -> None:
    client, store = there
    right, wrong = (record(store, text, EVIDENCE, "How long?") for text in (RIGHT, WRONG))
    made = client.post("/v1/datasets", json={"name": "Leave"})
    assert made.status_code == 201
    path = f"/v1/datasets/{made.json()['id']}"
    taken = client.post("/v1/datasets", json={"name": "Leave"})
    assert (taken.status_code, taken.json()["type"]) == (409, "urn:assay:problem:dataset.taken")
    assert client.post(f"{path}/rows", json={"runs": [right, wrong]}).json() == {"count": 2}
    assert client.post(f"{path}/rows", json={"runs": ["0" * 32]}).status_code == 404
    labels = [{"run": right, "label": "right"}, {"run": wrong, "label": "wrong", "wrong_claims": [0]}]
    assert client.post(f"{path}/labels", json={"labels": labels}).status_code == 204
    assert client.post(f"{path}/labels", json={"labels": [{"run": right, "label": "maybe"}]}).status_code == 422
    rows = [json.loads(line) for line in client.get(f"{path}/export?labelled=true").text.splitlines()]
    assert {row["id"]: row["label"] for row in rows} == {right: "supported", wrong: "not_supported"}
    assert client.get(path).json()["labelled"] == 2
    assert client.post(f"{path}/rows/remove", json={"runs": [right]}).json() == {"count": 1}
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


def test_an_experiment_tells_both_rates_and_what_flipped(there: tuple[TestClient, Store]) -> None:
    client, store = there
    right, wrong = (record(store, text, EVIDENCE, "How long?") for text in (RIGHT, WRONG))
    path = f"/v1/datasets/{client.post('/v1/datasets', json={'name': 'Leave'}).json()['id']}"
    begin = {"name": "Loose", "policy": "creative"}
    assert client.post(f"{path}/experiments", json=begin).status_code == 422  # nothing in it yet
    client.post(f"{path}/rows", json={"runs": [right, wrong]})
    labels = [{"run": right, "label": "right"}, {"run": wrong, "label": "wrong"}]
    client.post(f"{path}/labels", json={"labels": labels})
    assert client.post(f"{path}/experiments", json={**begin, "policy": "none such"}).status_code == 422
    begun = client.post(f"{path}/experiments", json=begin)
    assert begun.status_code == 202
    here = f"/v1/experiments/{begun.json()['id']}"
    assert client.get(here).json()["experiment"]["state"] == "running"
    run_experiments(store, lambda: GUARD, "me", lambda work: work(), threading.Event())
    told = client.get(here).json()
    assert (told["experiment"]["state"], told["compared"], told["left_out"]) == ("done", 2, 0)
    assert told["before"]["wrong_stopped"]["rate"] == 1.0
    assert told["after"]["wrong_stopped"]["rate"] == 0.0
    assert [(one["run"], one["regression"]) for one in told["flipped"]] == [(wrong, True)]
    assert told["before"]["wrong_stopped"]["low"] < 1.0
    assert client.post(f"{here}/stop").status_code == 422
    assert client.get(f"{here}?against={'0' * 32}").status_code == 404
    assert len(client.get(f"{path}/experiments").json()["items"]) == 1
