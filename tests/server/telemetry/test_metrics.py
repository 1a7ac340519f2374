"""`/metrics` over real sockets: what is counted, for whom, and that every file that names a figure names a real one."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families as families
from tests.monitor.recording import plant
from tests.server.gateway_site import Site, play, site
from tests.server.upstream_script import chat_completion, json_answer
from tests.store.making import record_of
from tests.store.test_sketches import counted, made

from assay.monitor import MonitorSettings, WatchSettings
from assay.server.access.key_file import KeyFile
from assay.server.monitoring.service import Monitor
from assay.server.settings import Mode, ServerSettings
from assay.store.alerts import Alert, raise_alert
from assay.store.db.store import Store
from assay.store.records import give_feedback, micros

CHECK = {"answer": "Partners get 2 weeks of leave.", "evidence": ["Partners get 2 weeks of leave."]}
DEPLOY = Path(__file__).parents[3] / "deploy"
GRAFANA = DEPLOY / "grafana" / "assay.json"
RULES = DEPLOY / "prometheus" / "alerts.yml"


async def scraped(there: Site, **headers: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """The samples of a scrape, by name and labels."""
    async with there.http.get(f"{there.url}/metrics", headers=headers) as answer:
        assert answer.status == 200
        assert answer.headers["content-type"].startswith("text/plain")
        text = (await answer.read()).decode()
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def of(found: Mapping[str, Mapping[tuple[tuple[str, str], ...], float]], name: str, /, **labels: str) -> float:
    """The sum of the samples of a name that have some labels."""
    wanted = set(labels.items())
    return sum(value for key, value in found.get(name, {}).items() if wanted <= set(key))


def test_requests_checks_scores_and_coverage_are_counted() -> None:
    async def scene() -> None:
        async with site() as there:
            for _ in range(3):
                assert (await there.post("/v1/check", CHECK))[0] == 200
            assert (await there.post("/v1/check", {"answer": 5}))[0] == 422
            async with there.http.get(f"{there.url}/no/such/{'x' * 50}") as answer:
                assert answer.status == 404
            found = await scraped(there)
            assert of(found, "assay_requests_total", route="/v1/check", status="200", method="POST") == 3
            assert of(found, "assay_requests_total", route="/v1/check", status="422") == 1
            assert of(found, "assay_requests_total", route="other", status="404") == 1
            assert of(found, "assay_checks_total", kind="check") == 3
            assert of(found, "assay_check_score_count", kind="check") == 3
            assert of(found, "assay_claims_total") >= 3
            assert of(found, "assay_output_characters_total") == 3 * len(str(CHECK["answer"]))
            assert of(found, "assay_check_stage_seconds_count", stage="judging") == 3
            assert of(found, "assay_check_queue_limit") == there.app.services.settings.limits.check_queue
            assert of(found, "assay_check_queue_depth") == 0
            assert of(found, "assay_requests_in_flight") == 1  # the scrape itself
            assert of(found, "process_resident_memory_bytes") > 0

    play(scene)


def test_answers_of_the_gateway_are_counted_with_their_overhead() -> None:
    async def scene() -> None:
        async with site(Mode.ANNOTATE) as there:
            there.upstream.script(json_answer(chat_completion("Partners get 2 weeks of leave.")))
            body = {"model": "m", "messages": [{"role": "user", "content": "Partners get 2 weeks of leave."}]}
            assert (await there.post("/v1/chat/completions", body))[0] == 200
            found = await scraped(there)
            assert of(found, "assay_checks_total", kind="gateway") == 1
            assert of(found, "assay_gateway_overhead_seconds_count", route="chat_completions") == 1
            assert of(found, "assay_requests_total", route="/v1/chat/completions", status="200") == 1

    play(scene)


def test_whoever_has_no_permission_does_not_read_the_figures(tmp_path: Path) -> None:
    async def scene() -> None:
        keys = KeyFile(tmp_path / "keys.json")
        checks, reads = keys.create("checks"), keys.create("reads", ("metrics",))

        def told(settings: ServerSettings) -> ServerSettings:
            return replace(settings, keys=tmp_path / "keys.json")

        async with site(settings=told) as there:
            for key, status in ((None, 401), (checks, 401), (reads, 200)):
                headers = {} if key is None else {"authorization": f"Bearer {key}"}
                async with there.http.get(f"{there.url}/metrics", headers=headers) as answer:
                    assert answer.status == status, key
            async with there.http.post(f"{there.url}/v1/check", json=CHECK, headers={"x-assay-key": reads}) as answer:
                assert answer.status == 401

    play(scene)


def test_figures_of_the_record_are_read_from_the_database(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "m.db")) as store:
            records = [record_of(report=made(score, score)) for score in (0.9, 0.3)]
            for record in records:
                store.record(record)
            give_feedback(store, records[0].id, "wrong", claim=0)
            counted(store)
            raise_alert(store, "default", Alert("k", "a.b", "It fell."))
            async with site(store=store) as there:
                found = await scraped(there)
        assert of(found, "assay_monitor_value", metric="faithfulness") == pytest.approx(0.6)
        assert of(found, "assay_monitor_value", metric="corrected") == pytest.approx(0.5)
        assert of(found, "assay_monitor_outputs", metric="faithfulness") == 2
        assert of(found, "assay_verifier_judged", of="claim") == 1
        assert of(found, "assay_verifier_calibration_error", of="claim") == pytest.approx(0.97)
        assert of(found, "assay_alerts_open", urgency="warning") == 1
        assert "assay_reviews_overdue" in found

    play(scene)


# What is deployed beside it

_NAME = re.compile(r"\b(?:assay|process)_[a-z0-9_]+\b")
_LABELLED = re.compile(r"\b((?:assay|process)_[a-z0-9_]+)\{([^}]*)\}")


def expressions() -> list[tuple[str, str]]:
    """Every expression of the dashboard and the rules, with where it stands."""
    board = json.loads(GRAFANA.read_text(encoding="utf-8"))
    found = [(panel["title"], target["expr"]) for panel in board["panels"] for target in panel.get("targets", ())]
    rules = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    found += [(rule["alert"], rule["expr"]) for group in rules["groups"] for rule in group["rules"]]
    return found


async def everything(there: Site) -> dict[str, Any]:
    """A scrape of a server that has done all that it counts."""
    there.upstream.script(json_answer(chat_completion("Partners get 2 weeks of leave.")))
    body = {"model": "m", "messages": [{"role": "user", "content": "Partners get 2 weeks of leave."}]}
    await there.post("/v1/chat/completions", body)
    await there.post("/v1/check", {**CHECK, "answer": "Partners get 9 weeks of leave."})
    return await scraped(there)


def test_every_figure_that_is_named_in_the_files_is_exported(tmp_path: Path) -> None:
    named = {name for _, text in expressions() for name in _NAME.findall(text)}
    labels = {
        (name, label.split("=")[0].strip(" !~"))
        for _, text in expressions()
        for name, inside in _LABELLED.findall(text)
        for label in inside.split(",")
        if label.strip()
    }
    assert len(named) > 12

    async def scene() -> None:
        with Store(str(tmp_path / "m.db")) as store:
            record = record_of(report=made(0.9, 0.9))
            store.record(record)
            give_feedback(store, record.id, "wrong", claim=0)
            counted(store)
            raise_alert(store, "default", Alert("k", "a.b", "It fell."))
            plant(store, [(300, 0.2)], 5, micros(store.now()) - 1_000_000_000)
            watch = WatchSettings(metrics={"bad": ("all",)}, baselines={"bad": 0.05})
            Monitor(store, MonitorSettings(watch)).run("default")
            async with site(Mode.ANNOTATE, store=store) as there:
                found = await everything(there)
        assert sorted(named - found.keys()) == []
        for name, label in sorted(labels):
            assert any(label in dict(key) for key in found[name]), (name, label)

    play(scene)


def test_every_rule_says_what_to_do_and_its_runbook_is_there() -> None:
    runbooks = (DEPLOY.parent / "docs" / "runbooks.md").read_text(encoding="utf-8")
    anchors = {line.removeprefix("## ").strip() for line in runbooks.splitlines() if line.startswith("## ")}
    rules = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    for group in rules["groups"]:
        for rule in group["rules"]:
            assert rule["labels"]["severity"] in {"info", "warning", "critical"}
            assert rule["annotations"]["summary"]
            anchor = rule["annotations"]["runbook"].removeprefix("docs/runbooks.md#")
            assert anchor in anchors, anchor


def test_several_workers_add_their_figures_up(tmp_path: Path) -> None:
    """Real processes over one folder: whoever is asked tells of all."""
    import os
    import subprocess
    import sys

    program = (
        "import sys; sys.path[:0] = sys.argv[2].split(':')\n"
        "from assay.server.telemetry.metrics import Metrics\n"
        "import os\n"
        "m = Metrics()\n"
        "m.requests.labels('GET', '/x', '200').inc(int(sys.argv[1])); m.in_flight.set(2)\n"
        "print(m.exposition('')[0].decode() if sys.argv[1] == '4' else os.getpid())\n"
    )
    path = ":".join(one for one in sys.path if one)
    environ = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", program, str(number), path], env=environ, capture_output=True, text=True, check=True
        ).stdout
        for number in (1, 2, 4)
    ]
    found = {sample.name: sample.value for family in families(said[-1]) for sample in family.samples}
    assert found["assay_requests_total"] == 7
    assert found["assay_requests_in_flight"] == 6
