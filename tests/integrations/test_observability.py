"""Scores in Langfuse and Phoenix: their own clients, against a server that keeps what it was sent."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.client_site import upstream
from tests.integrations.orders import ASKED, FALSE, FOUND, TRUE, guard
from tests.server.upstream_script import Answer

from assay.integrations.evaluators.langfuse import score_export, score_report
from assay.integrations.evaluators.phoenix import annotate_export, annotate_report

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def answered(body: Any) -> Answer:
    return Answer(body=json.dumps(body).encode())


def scores_sent(asked: list[Any]) -> dict[tuple[str, str | None, str], Any]:
    """The scores that were sent, by trace, observation and name."""
    sent = [one.json() for one in asked if one.path.startswith("/api/public/scores")]
    bodies = [score for batch in sent for score in (batch if isinstance(batch, list) else [batch])]
    return {(one["traceId"], one.get("observationId"), one["name"]): one for one in bodies}


def langfuse_client(url: str) -> Any:
    langfuse = pytest.importorskip("langfuse", reason="needs the extra langfuse: pip install 'assay-ai[langfuse]'")
    return langfuse.Langfuse(public_key=f"pk-{url}", secret_key="sk", base_url=url, tracing_enabled=True)  # noqa: S106


@pytest.mark.filterwarnings("default")
def test_a_report_becomes_scores_of_a_trace_in_langfuse() -> None:
    with upstream(answered({"id": "s1"})) as here:
        client = langfuse_client(here.url)
        report = guard.check(FALSE, [FOUND], question=ASKED)
        score_report(client, report, trace_id=TRACE, observation_id=SPAN)
        client.flush()
        sent = scores_sent(here.asked)
        client.shutdown()
    assert sent[TRACE, SPAN, "assay_action"]["value"] == report.action.value
    assert sent[TRACE, SPAN, "assay_support"]["value"] == pytest.approx(report.overall_score)
    assert sent[TRACE, SPAN, "assay_support"]["comment"] == " ".join(report.decision.reasons)
    metrics = {name for name, metric in report.metrics.items() if metric.value is not None}
    assert {f"assay_{name}" for name in metrics} <= {name for _, _, name in sent}


@pytest.mark.filterwarnings("default")
def test_every_answer_of_an_export_is_scored_where_it_came_from(tmp_path: Path) -> None:
    path = tmp_path / "observations.jsonl"
    rows = [
        {
            "id": f"o{n}",
            "traceId": f"t{n}",
            "type": "SPAN",
            "input": {"question": ASKED, "context": [FOUND]},
            "output": s,
        }
        for n, s in enumerate((TRUE, FALSE))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with upstream(answered({"id": "s1"})) as here:
        client = langfuse_client(here.url)
        reports = score_export(client, guard, path)
        sent = scores_sent(here.asked)
        client.shutdown()
    assert [report.action.value for report in reports] == [
        sent[f"t{n}", f"o{n}", "assay_action"]["value"] for n in range(2)
    ]
    assert reports[0].action.value == "emit"
    assert reports[1].action.value != "emit"


def phoenix_client(url: str) -> Any:
    phoenix = pytest.importorskip("phoenix.client", reason="needs the extra phoenix: pip install 'assay-ai[phoenix]'")
    return phoenix.Client(base_url=url, api_key="k")


@pytest.mark.filterwarnings("default")
def test_a_report_becomes_annotations_of_a_span_in_phoenix() -> None:
    with upstream(answered({"data": []})) as here:
        report = guard.check(FALSE, [FOUND], question=ASKED)
        annotate_report(phoenix_client(here.url), report, span_id=SPAN)
        (asked,) = [one for one in here.asked if "span_annotations" in one.path]
    first, *metrics = asked.json()["data"]
    assert (first["span_id"], first["name"], first["annotator_kind"]) == (SPAN, "assay", "CODE")
    assert first["result"]["label"] == report.action.value
    assert first["result"]["score"] == pytest.approx(report.overall_score)
    assert all(one["result"]["score"] is not None for one in metrics)


@pytest.mark.filterwarnings("default")
def test_every_answer_of_an_export_of_phoenix_is_annotated(tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl"
    table = [
        {"context.span_id": f"s{n}", "input": ASKED, "output": said, "reference": FOUND}
        for n, said in enumerate((TRUE, FALSE))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")
    with upstream(answered({"data": []})) as here:
        reports = annotate_export(phoenix_client(here.url), guard, path)
        sent = [one.json()["data"][0] for one in here.asked if "span_annotations" in one.path]
    assert [(one["span_id"], one["result"]["label"]) for one in sent] == [
        (f"s{n}", report.action.value) for n, report in enumerate(reports)
    ]
