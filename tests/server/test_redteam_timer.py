"""A server that attacks by its schedule: over real sockets, told by webhook, without a request that waits for it."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.redteam.scripted_bot import CALLS, CASES, WRONG, reset
from tests.server.attacks import recorded
from tests.server.receiving import hook, mailbox
from tests.server.test_reports_routes import get, kept

from assay.redteam.cases import suite_text
from assay.server.notify.settings import NotifySettings, Target
from assay.store.redteam import list_runs


def test_a_server_runs_what_is_due_and_tells_of_a_regression_by_webhook_slack_and_mail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reset()
    WRONG.update(one.id for one in CASES[:20])
    (tmp_path / "static.jsonl").write_text(suite_text(CASES), encoding="utf-8")
    config = tmp_path / "assay.yaml"
    config.write_text(
        "version: 1\npolicy: general\nredteam:\n  schedules:\n    - {name: nightly, suite: static.jsonl, "
        "target: 'python:tests.redteam.scripted_bot:answer', every: 31d, budget: 0.2}\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("ASSAY_CONFIG", str(config))

    async def scene() -> None:
        async with hook() as program, hook() as slack, mailbox() as mail:
            targets = (
                Target("program", "webhook", program.url, "a secret of the operator"),
                Target("team", "slack", slack.url),
                Target(
                    "desk",
                    "email",
                    host="127.0.0.1",
                    port=mail.port,
                    security="none",
                    sender="a@assay.example",
                    to=("b@assay.example",),
                ),
            )
            from assay.store.db import Store

            with Store(str(tmp_path / "assay.db")) as before:
                recorded(before, 1_000, cases=CASES, schedule="nightly", source="schedule")
            async with kept(tmp_path, settings=lambda told: replace(told, notify=NotifySettings(targets))) as (
                here,
                store,
            ):
                while not (program.got and slack.got and mail.got):
                    assert (await get(here, "/v1/redteam/runs"))[0] == 200
                    await asyncio.sleep(0.1)
                with store.reading("default") as connection:
                    latest, _ = list_runs(connection, "default")
                assert (latest.schedule, latest.failed, latest.regressed) == ("nightly", 20, True)
                assert set(CALLS.values()) == {1}
                told = json.loads(program.got[0][1])
                assert (told["event"], told["kind"], told["urgency"]) == (
                    "alert.opened",
                    "redteam.regression",
                    "critical",
                )
                assert told["runbook"] == "docs/runbooks.md#redteam-regression"
                assert told["facts"]["run"] == latest.id
                assert "20 broke" in slack.got[0][1].decode()
                assert "redteam.regression" in mail.got[0]
                for said in (program.got[0][1].decode(), slack.got[0][1].decode(), mail.got[0]):
                    assert "90 weeks" not in said
                _, budget = await get(here, "/v1/monitor/budget")
                assert budget["attacks"] == 4.0

    asyncio.run(asyncio.wait_for(scene(), 240))


def test_the_runbooks_have_a_heading_for_each_alert_of_the_red_team() -> None:
    from assay.server.redteam.due_runs import FAILED, REGRESSION, UNJUDGED

    text = (Path(__file__).parents[2] / "docs" / "runbooks.md").read_text(encoding="utf-8")
    for kind in (REGRESSION, UNJUDGED, FAILED):
        assert f"\n## {kind.replace('.', '-')}\n" in text
