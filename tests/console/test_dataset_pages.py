"""Datasets, experiments, saved views, bulk acts and exports in the console and by REST, over real checks."""

import csv
import io
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.console.site import GUARD, app_over, record, site
from tests.console.test_pages import HOSTILE, is_harmless

from assay.evaluation.rows.reading import read_rows
from assay.schema import Evidence
from assay.schema.access import PERMISSIONS, Role
from assay.server.caller import Caller
from assay.server.console.pages import run_bulk
from assay.server.console.pages.run_bulk import CSV_COLUMNS
from assay.server.datasets.experiments import run_experiments
from assay.server.http.spreadsheets import csv_text
from assay.store.db.store import Store, read_check
from assay.store.records.erasure import erase_evidence, erase_runs
from assay.store.records.interface import CheckRecord
from assay.store.records.row_evidence import NoRow, why_no_row

EVIDENCE = {"hr-2": "Partners are entitled to 2 weeks of leave. It may be split into two parts."}
RIGHT, WRONG = "Partners are entitled to 2 weeks of leave.", "Partners are entitled to 4 weeks of leave."
VIEWER = Caller("vera", PERMISSIONS[Role.VIEWER], kind="user", id="u-vera")
AUDITOR = Caller("otto", PERMISSIONS[Role.AUDITOR], kind="user", id="u-otto")
FORM = {"content-type": "application/x-www-form-urlencoded"}


def post(client: TestClient, path: str, status: int = 303, **fields: Any) -> Any:
    answer = client.post(path, content=urlencode(fields, doseq=True), headers=FORM)
    assert answer.status_code == status, answer.text[-800:]
    return answer


def dataset(client: TestClient, store: Store) -> tuple[str, list[str]]:
    runs = [record(store, text, EVIDENCE, "How long?") for text in (RIGHT, WRONG)]
    made = post(client, "/console/runs/bulk", run=runs, act="dataset", name="Leave")
    return made.headers["location"].partition("?")[0], runs


def run_all(store: Store) -> None:
    run_experiments(store, lambda: GUARD, "me", lambda work: work(), threading.Event())


def test_the_list_shows_chosen_columns_and_refuses_unknown_ones(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        record(store, RIGHT, EVIDENCE, "How long?")
        page = client.get("/console/runs?columns=tokens&columns=cost").text
        assert ">Tokens<" in page
        assert ">Policy</span></th>" not in page
        assert client.get("/console/runs?columns=password").status_code == 422
        assert RIGHT in client.get("/console/runs").text  # the beginning of the output


@pytest.mark.parametrize("query", ["verdict=zz", "hour=9999-12-31T23&hours=9999", "hour=0000-01-01T00", "hours=-1"])
def test_a_filter_that_cannot_be_is_told_of(tmp_path: Path, query: str) -> None:
    with site(tmp_path) as (client, store):
        record(store, RIGHT, EVIDENCE, "How long?")
        for path in ("/console/runs", "/console/runs.csv"):
            assert client.get(f"{path}?{query}").status_code == 422, path
        post(client, "/console/runs/views", 422, name="x", query=query)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"verdict": "maybe"}, 422),
        ({"verdict": "wrong", "claim": "-1"}, 422),
        ({"verdict": "wrong", "claim": "999"}, 404),
        ({"verdict": "wrong", "comment": "x" * 10_001}, 422),
    ],
)
def test_feedback_that_cannot_be_is_refused_and_not_taken_for_another(
    tmp_path: Path, said: dict[str, str], status: int
) -> None:
    with site(tmp_path) as (client, store):
        run = record(store, RIGHT, EVIDENCE, "How long?")
        post(client, f"/console/runs/{run}/feedback", status, **said)
        assert "Nobody has said anything about this output yet" in client.get(f"/console/runs/{run}").text


def test_a_view_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        record(store, RIGHT, EVIDENCE)
        post(client, "/console/runs/views", name="Blocked <b>", query="action=block&columns=cost")
        page = client.get("/console/runs").text
        assert "Blocked &lt;b&gt;" in page
        assert is_harmless(page)
        other = TestClient(app_over(store, VIEWER), base_url="http://127.0.0.1", follow_redirects=False)
        assert "Blocked" not in other.get("/console/runs").text.partition("<main")[2].partition("filters")[0]
        post(client, "/console/runs/views", 422, name="x", query="action=explode")
        here = client.get("/console/runs?action=block&columns=decision%2Cquestion%2Ccost").text
        id_ = here.partition("/console/runs/views/")[2].partition("/drop")[0]
        post(other, f"/console/runs/views/{id_}/drop", 404)
        post(client, f"/console/runs/views/{id_}/drop")


def test_an_export_holds_no_formula(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        record(store, "=HYPERLINK(A1) and 2 weeks of leave.", EVIDENCE, "@SUM(1)", caller="+cmd")
        text = client.get("/console/runs.csv").text.removeprefix("\ufeff")
        [head, line] = csv.reader(io.StringIO(text))
    assert tuple(head) == CSV_COLUMNS
    told = dict(zip(head, line, strict=True))
    assert (told["question"][0], told["output"][0], told["caller"][0]) == ("'", "'", "'")
    assert float(told["duration_ms"]) > 0


_CELLS = st.text(st.sampled_from("=+-@\uff1d;\t\n\r \"',a1"), max_size=12)


@given(st.lists(st.lists(_CELLS, min_size=2, max_size=2), min_size=1, max_size=3), st.sampled_from([",", ";", "\t"]))
def test_no_cell_of_an_export_is_a_formula_whatever_separates_cells_for_its_reader(
    rows: list[list[str]], separator: str
) -> None:
    text = csv_text(("one", "two"), rows)
    for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
        for cell in line:
            assert cell.lstrip(' \t\r\n"')[:1] not in set("=+-@\uff1d"), (cell, text)


def test_an_export_that_is_not_all_says_so_in_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_bulk, "MOST_EXPORTED", 2)
    with site(tmp_path) as (client, store):
        for number in range(3):
            assert 'filename="assay-runs.csv"' in client.get("/console/runs.csv").headers["content-disposition"]
            record(store, RIGHT, EVIDENCE, f"How long, {number}?")
        answer = client.get("/console/runs.csv")
    assert 'filename="assay-runs-newest-2.csv"' in answer.headers["content-disposition"]


def test_an_export_has_the_filters_of_the_list(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        record(store, RIGHT, EVIDENCE, "How long?")
        record(store, WRONG, EVIDENCE, "How long?")
        assert len(client.get("/console/runs.csv?action=emit").text.splitlines()) == 2


def test_feedback_on_many_runs_is_recorded_for_each(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        _, runs = dataset(client, store)
        post(client, "/console/runs/bulk", run=runs, act="wrong")
        for run in runs:
            assert "wrong" in client.get(f"/console/runs/{run}").text.partition('id="feedback"')[2]
        post(client, "/console/runs/bulk", 404, run=["0" * 32], act="wrong")
        assert post(client, "/console/runs/bulk", act="wrong").headers["location"].endswith("done=runs.none")


def test_labels_become_rows_that_assay_eval_reads(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        path, (right, wrong) = dataset(client, store)
        post(client, f"{path}/rows/{right}", label="right")
        post(client, f"{path}/rows/{wrong}", label="wrong", claim=["0"])
        text = client.get(f"{path}/export.jsonl?labelled=true").text
    file = tmp_path / "rows.jsonl"
    file.write_text(text, encoding="utf-8")
    rows = {row.id: row for row in read_rows(file)}
    assert (rows[right].label, rows[wrong].label) == ("supported", "not_supported")
    assert rows[wrong].spans == ((0, len(WRONG)),)
    assert rows[right].evidence[0].text == EVIDENCE["hr-2"]


def test_an_erased_run_stands_in_no_export_and_no_figure(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        path, runs = dataset(client, store)
        erase_runs(store, runs[:1], "request", "default")
        answer = client.get(f"{path}/export.jsonl")
        assert answer.headers["x-assay-left-out"] == "1"
        assert [json.loads(line)["id"] for line in answer.text.splitlines()] == runs[1:]
        assert RIGHT not in client.get(f"{path}/rows/{runs[0]}").text
        begun = post(client, f"{path}/experiments", policy="general").headers["location"].partition("?")[0]
        run_all(store)
        assert "1 erased since" in client.get(begun).text


def test_a_run_that_lost_its_evidence_stands_in_no_export_though_another_has_the_same(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        path, (bare, whole) = dataset(client, store)
        erase_evidence(store, [bare], "retention", "default")
        answer = client.get(f"{path}/export.jsonl")
        assert [json.loads(line)["id"] for line in answer.text.splitlines()] == [whole]
        assert answer.headers["x-assay-left-out-why"] == "evidence_erased=1"
        assert "Rows for assay eval leave out 1 evidence erased" in client.get(path).text
        for page in (f"{path}/rows/{bare}", f"/console/runs/{bare}"):
            assert EVIDENCE["hr-2"] not in client.get(page).text, page  # it was erased of this run
        assert EVIDENCE["hr-2"] in client.get(f"/console/runs/{whole}").text
        assert "Exports leave it out: evidence erased" in client.get(f"{path}/rows/{bare}").text


def test_a_run_that_lost_a_part_of_its_evidence_makes_no_row(tmp_path: Path) -> None:
    with site(tmp_path) as (_, store):
        run = record(store, RIGHT, {**EVIDENCE, "hr-3": "Leave has to be asked for in writing."}, "How long?")
        with store.reading("default") as connection:
            check = read_check(connection, "default", run)
        assert check is not None
        (name, digest, _), *others = check.evidence
        assert why_no_row(check) is None
        part = replace(check, evidence=((name, digest, None), *others))
        assert why_no_row(part) is NoRow.EVIDENCE_ERASED


def test_the_run_of_an_agent_makes_no_row_of_a_part_of_its_evidence(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        run = record_run(store)
        path = post(client, "/console/runs/bulk", run=[run], act="dataset", name="Agents").headers["location"]
        path = path.partition("?")[0]
        answer = client.get(f"{path}/export.jsonl")
        assert (answer.text, answer.headers["x-assay-left-out-why"]) == ("", "agent_run=1")
        assert "Rows for assay eval leave out 1 run of an agent" in client.get(path).text
        begun = post(client, f"{path}/experiments", policy="general").headers["location"].partition("?")[0]
        run_all(store)
        assert "erased since" not in client.get(begun).text  # it can be checked again


def test_what_was_erased_is_not_taken_into_a_dataset(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        path, _ = dataset(client, store)
        erased, bare, whole = (record(store, RIGHT, EVIDENCE, f"How long, {number}?") for number in range(3))
        erase_runs(store, [erased], "request", "default")
        erase_evidence(store, [bare], "retention", "default")
        id_ = path.rpartition("/")[2]
        refused = post(client, "/console/runs/bulk", 422, run=[erased, bare, whole], act="dataset", dataset=id_)
        assert f"leave out {erased[:12]}, {bare[:12]}" in refused.text
        assert whole not in client.get(path).text
        post(client, "/console/runs/bulk", run=[whole], act="dataset", dataset=id_)


def record_run(store: Store) -> str:
    """A real check of an agent's run, with evidence beside its transcript, recorded; its id."""
    transcript = [
        {"role": "user", "content": "How long is my leave?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "leave", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": EVIDENCE["hr-2"]},
        {"role": "assistant", "content": RIGHT},
    ]
    beside = (Evidence(id="other", text="The canteen opens at noon."),)
    report = GUARD.check_run(transcript, evidence=beside)
    made = CheckRecord(report, {"run": transcript}, beside, GUARD.policy, "run", "agent", "default")
    store.record(made)
    return made.id


def test_an_experiment_shows_both_rates_and_what_flipped(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        path, (right, wrong) = dataset(client, store)
        post(client, f"{path}/rows", run=[right], act="right")
        post(client, f"{path}/rows", run=[wrong], act="wrong")
        begun = post(client, f"{path}/experiments", policy="creative", name="Loose").headers["location"]
        run_all(store)
        page = client.get(begun).text
        assert is_harmless(page)
        assert "Honest emitted" in page
        assert "decisions flipped" in page
        assert ">worse<" in page  # what is wrong is let out under it
        other = post(client, f"{path}/experiments", policy=GUARD.policy.digest).headers["location"]
        run_all(store)
        id_ = other.partition("?")[0].rpartition("/")[2]
        assert "Runs that flipped" in client.get(f"{begun.partition('?')[0]}?against={id_}").text
        post(client, f"{path}/experiments", 422, policy="none such")
        post(client, f"{begun.partition('?')[0]}/stop", 422)


def test_who_may_only_read_is_told_so_and_changes_nothing(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        path, runs = dataset(client, store)
        reader = TestClient(app_over(store, AUDITOR), base_url="http://127.0.0.1", follow_redirects=False)
        for page in (path, "/console/datasets", f"{path}/rows/{runs[0]}"):
            assert "You may read this and change nothing" in reader.get(page).text, page
        assert "You may read this and decide nothing" in reader.get("/console/review").text
        post(reader, "/console/datasets", 403, name="x")
        post(reader, f"{path}/rows", 403, run=runs, act="right")
        post(reader, f"{path}/experiments", 403, policy="general")


def test_another_tenant_finds_nothing_of_it(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        path, runs = dataset(client, store)
        begun = post(client, f"{path}/experiments", policy="general").headers["location"].partition("?")[0]
        stranger = Caller("eve", PERMISSIONS[Role.ADMIN], tenant="globex", kind="user", id="u-eve")
        other = TestClient(app_over(store, stranger), base_url="http://127.0.0.1", follow_redirects=False)
        for page in (path, f"{path}/rows/{runs[0]}", f"{path}/export.jsonl", begun):
            assert other.get(page).status_code == 404, page
        post(other, "/console/runs/bulk", 404, run=runs, act="dataset", name="Mine")
        post(other, f"{path}/rows", 404, run=runs, act="right")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text(tmp_path: Path, name: str) -> None:
    named = name.replace("\x00", "").encode("utf-8", "replace").decode()[:100]
    with site(tmp_path) as (client, _):
        path = post(client, "/console/datasets", name=named).headers["location"].partition("?")[0]
        assert is_harmless(client.get(path).text)
        assert is_harmless(client.get("/console/datasets").text)
