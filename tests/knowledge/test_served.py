"""Sources of knowledge through the command and through the server, with the tenants of its callers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.console.site import site as console
from tests.knowledge.kinds import table
from tests.server.gateway_site import play, site

from assay.cli.reports.html_report import html_report
from assay.cli.reports.text_report import text_report
from assay.cli.terminal import plain
from assay.config import Guard
from assay.schema import HallucinationReport, coerce_evidence
from assay.server.console.views.claim_card import claim_card
from assay.server.console.views.report_parts import knowledge_view
from assay.server.guards import Guards
from assay.store.db import tables
from assay.store.records import CheckRecord, read_source_answers
from assay.store.records.erasure import erase_runs
from assay.testing import FakeScorer

EVIDENCE = "The Lark and the Heron are loudspeakers."
ANSWER = "The Heron costs 9 euros."


def configured(folder: Path, scope: str = '{tenants: "*", sends: claim}') -> Path:
    table(folder / "products.db")
    path = folder / "assay.yaml"
    path.write_text(
        "version: 1\npolicy: general\nknowledge:\n"  # noqa: S608 a file of settings
        "  - name: products\n    kind: sql\n    authority: database\n    url: sqlite:///products.db\n"
        f"    scope: {scope}\n"
        "    statements:\n"
        '      - {sql: "SELECT name, price FROM products WHERE name = :entity", '
        'passage: "The {name} costs EUR {price}."}\n',
        encoding="utf-8",
    )
    return path


def assay(*arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    return subprocess.run(
        [sys.executable, "-m", "assay", *arguments], capture_output=True, text=True, check=False, env=environ
    )


@pytest.mark.slow
def test_the_command_reads_the_sources_of_the_file_that_it_is_given(tmp_path: Path) -> None:
    configured(tmp_path)
    (tmp_path / "answer.md").write_text(ANSWER, encoding="utf-8")
    (tmp_path / "evidence.md").write_text(EVIDENCE, encoding="utf-8")
    told = ("check", str(tmp_path / "answer.md"), "--evidence", str(tmp_path / "evidence.md"), "--format", "json")
    with_sources = assay(*told, "--config", str(tmp_path / "assay.yaml"))
    report = json.loads(with_sources.stdout)
    assert with_sources.returncode == 1
    assert report["claims"][0]["external"]["status"] == "refuted"
    assert json.loads(assay(*told).stdout)["knowledge"] is None
    broken = assay(*told, "--config", str(tmp_path / "none.yaml"))
    assert broken.returncode == 2
    assert "none.yaml" in broken.stderr


def refuted(folder: Path) -> HallucinationReport:
    return Guard(configured(folder), environ={}).check(ANSWER, [EVIDENCE])


def test_both_reports_for_people_tell_who_said_what(tmp_path: Path) -> None:
    report = refuted(tmp_path)
    told = plain(text_report("answer", report))
    assert "Knowledge 1 claim: 0 verified, 1 refuted, 0 unverifiable; asked: products 1" in told
    assert "products says otherwise" in told
    page = html_report("answer", report, [])
    assert "Knowledge: refuted (it was unsupported)" in page
    assert "The Heron costs EUR 149.5." in page


def test_foreign_words_of_a_source_are_no_markup(tmp_path: Path) -> None:
    report = refuted(tmp_path)
    claim = report.claims[0]
    assert claim.external is not None
    word = claim.external.words[0].model_copy(update={"passage": "<script>alert(1)</script>", "place": "<b>x</b>"})
    external = claim.external.model_copy(update={"words": (word,), "message": "<img src=x>"})
    hostile = report.model_copy(update={"claims": (claim.model_copy(update={"external": external}),)})
    page = html_report("answer", hostile, []) + claim_card(0, hostile.claims[0], {}).html
    assert not [markup for markup in ("<script>alert", "<b>x</b>", "<img src=x>") if markup in page]


def test_the_page_of_a_run_tells_what_was_asked_when_and_how_long_it_took(tmp_path: Path) -> None:
    report = refuted(tmp_path)
    external = report.claims[0].external
    assert external is not None
    word = external.words[0]
    card = claim_card(0, report.claims[0], {}).html
    for told in (
        "Knowledge: refuted",
        "asked with Heron",
        word.at,
        f"{word.elapsed_ms:.0f} ms",
        (word.digest or "")[:12],
    ):
        assert told in card
    panel = knowledge_view(report)
    assert panel is not None
    assert "products" in panel.html
    assert "Sources of knowledge" in panel.html


def test_the_page_of_a_run_shows_out_of_the_record_what_came_back_with_its_digest(tmp_path: Path) -> None:
    guard = Guard(configured(tmp_path), environ={})
    report = guard.check(ANSWER, [EVIDENCE])
    with console(tmp_path) as (client, store):
        evidence = coerce_evidence([EVIDENCE])
        run = store.record(CheckRecord(report, {"answer": ANSWER}, evidence, guard.policy)).id
        page = client.get(f"/console/runs/{run}").text
        with store.reading("default") as connection:
            (told,) = read_source_answers(connection, "default", run)
        assert "What sources said" in page
        assert "The Heron costs EUR 149.5." in page
        assert told["digest"] in page
        assert told["at"] in page
        with store.engine.begin() as connection:  # somebody who can write the database
            tape = dict(report.tape or {})
            outcome = {**tape["knowledge"]["outcomes"][0], "passages": [{"id": "x", "text": "<b>EUR 9.</b>"}]}
            changed = {**tape, "knowledge": {**tape["knowledge"], "outcomes": [outcome]}}
            connection.execute(tables.runs.update().where(tables.runs.c.id == run).values(tape=changed))
        page = client.get(f"/console/runs/{run}").text
        assert "is not what its digest says" in page
        assert "EUR 9." not in page
        erase_runs(store, [run], "request of the person", "default")
        assert "149.5" not in client.get(f"/console/runs/{run}").text


def test_every_policy_of_a_server_has_the_operators_sources_and_each_caller_its_tenant(tmp_path: Path) -> None:
    path = configured(tmp_path, "{tenants: [acme], sends: claim}")
    guards = Guards(path, scorer=FakeScorer(), environ={})
    for name in (None, "rag", "high-stakes"):
        guard = guards.get(name)
        mine = guard.for_tenant("acme").check(ANSWER, [EVIDENCE])
        other = guard.for_tenant("globex").check(ANSWER, [EVIDENCE])
        for report, says in ((mine, "asked"), (other, "skipped")):
            words = [word for claim in report.claims if claim.external for word in claim.external.words]
            assert words
            assert all((word.says == "skipped") is (says == "skipped") for word in words)
    guards.close()


@pytest.mark.parametrize(("tenants", "asked"), [("[default]", True), ("[acme]", False)])
def test_a_check_over_http_asks_the_sources_as_the_tenant_of_its_caller(
    tenants: str, asked: bool, tmp_path: Path
) -> None:
    environ = {"ASSAY_CONFIG": str(configured(tmp_path, f"{{tenants: {tenants}, sends: claim}}"))}
    body = {"answer": ANSWER, "evidence": [EVIDENCE]}

    async def scene() -> None:
        async with site(environ=environ) as here:
            _, _, single = await here.post("/v1/check", body)
            _, _, several = await here.post("/v1/batch", {"requests": [body]})
            for report in (json.loads(single), json.loads(several)["results"][0]["report"]):
                (word,) = report["claims"][0]["external"]["words"]
                assert (word["says"] != "skipped") is asked

    play(scene)
