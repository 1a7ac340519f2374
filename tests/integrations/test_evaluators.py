"""assay in evaluation tools, with their real packages: the share of supported claims, what passes, and why."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError, PolicyError
from assay.guard import Guard
from assay.integrations.evaluators.promptfoo import get_assert
from assay.integrations.evaluators.verdicts import scored, texts
from assay.testing import FakeScorer

EVIDENCE = ["Partners are entitled to 2 weeks of leave.", "Leave is paid in full."]
RIGHT = "Partners are entitled to 2 weeks of leave. Leave is paid in full."
HALF = "Partners are entitled to 4 weeks of leave. Leave is paid in full."
ASKED = "How long is leave?"


def guard() -> Guard:
    return Guard("general", scorer=FakeScorer())


def test_the_score_is_the_share_of_claims_that_are_supported() -> None:
    right = scored(guard(), RIGHT, EVIDENCE, ASKED, wants="`context`")
    half = scored(guard(), HALF, EVIDENCE, ASKED, wants="`context`")
    assert (right.score, right.passed) == (1.0, True)
    assert (half.score, half.passed) == (0.5, False)
    assert "number.mismatch" in half.reason
    assert [one["verdict"] for one in half.details["claims"]] == ["contradicted", "supported"]


def test_nothing_is_scored_without_an_answer_or_evidence() -> None:
    with pytest.raises(InputError, match="`context`"):
        scored(guard(), RIGHT, texts(None), wants="`context`")
    with pytest.raises(InputError, match="answer"):
        scored(guard(), None, EVIDENCE, wants="`context`")
    with pytest.raises(InputError, match="evidence as a text"):
        texts(3)


class TestPromptfoo:
    """The function that promptfoo calls, and promptfoo itself where it is installed."""

    def test_an_output_passes_if_the_policy_emits_it_or_by_a_threshold(self) -> None:
        context: dict[str, Any] = {"vars": {"context": EVIDENCE, "question": ASKED}}
        assert get_assert(RIGHT, context)["pass"]
        told = get_assert(HALF, context)
        assert (told["pass"], told["score"]) == (False, 0.5)
        assert get_assert(HALF, {**context, "config": {"threshold": 0.5}})["pass"]

    def test_what_is_wrong_with_a_test_is_an_error(self) -> None:
        with pytest.raises(InputError, match=r"vars\.context"):
            get_assert(RIGHT, {"vars": {}})
        with pytest.raises(InputError, match="threshold"):
            get_assert(RIGHT, {"vars": {"context": EVIDENCE}, "config": {"threshold": 3}})
        with pytest.raises(PolicyError):
            get_assert(RIGHT, {"vars": {"context": EVIDENCE}, "config": {"policy": "no such"}})

    def test_promptfoo_runs_the_assertion(self, tmp_path: Path) -> None:
        command = shutil.which("promptfoo", path=os.environ.get("ASSAY_PROMPTFOO", os.environ["PATH"]))
        if command is None:
            pytest.skip("no promptfoo here: npm install promptfoo, and name its folder in ASSAY_PROMPTFOO")
        (tmp_path / "assay_assert.py").write_text(
            "from assay.integrations.evaluators.promptfoo import get_assert as get_assert\n", encoding="utf-8"
        )
        rows = [{"said": said, "context": " ".join(EVIDENCE), "question": ASKED} for said in (RIGHT, HALF)]
        check = [{"type": "python", "value": "file://assay_assert.py"}]
        config = {
            "prompts": ["{{said}}"],
            "providers": ["echo"],
            "tests": [{"vars": row, "assert": check} for row in rows],
        }
        (tmp_path / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
        environ = {
            **os.environ,
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
            "PROMPTFOO_CONFIG_DIR": str(tmp_path),
            "PROMPTFOO_PYTHON": sys.executable,
        }
        subprocess.run(
            [command, "eval", "-c", "promptfooconfig.json", "--output", "out.json", "--no-cache", "--no-write"],
            cwd=tmp_path,
            env=environ,
            check=False,
            capture_output=True,
            timeout=300,
        )
        results = json.loads((tmp_path / "out.json").read_text("utf-8"))["results"]["results"]
        results.sort(key=lambda one: one["testIdx"])
        assert [one["success"] for one in results] == [True, False]
        assert "number.mismatch" in results[1]["gradingResult"]["reason"]


def test_inspect_scores_samples_in_its_own_log(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="needs the extra inspect-ai: pip install 'assay-ai[inspect-ai]'")
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate

    from assay.integrations.evaluators.inspect_ai import assay_scorer

    said = [ModelOutput.from_content("mockllm/model", text) for text in (RIGHT, HALF)]
    for output in said:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # or it is counted, with a download
    samples = [Sample(input=ASKED, metadata={"evidence": EVIDENCE}) for _ in said]
    task = inspect_ai.Task(dataset=MemoryDataset(samples), solver=generate(), scorer=assay_scorer(guard()))
    model = get_model("mockllm/model", custom_outputs=said)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", max_connections=1, max_samples=1)
    assert log.status == "success", log.error
    assert log.results is not None
    means = {one.name: {name: metric.value for name, metric in one.metrics.items()} for one in log.results.scores}
    assert means["supported"]["mean"] == 0.75
    assert means["emitted"]["accuracy"] == 0.5
    assert "number.mismatch" in (log.samples or [])[1].scores["assay_scorer"].explanation


def test_a_metric_of_deepeval_measures_cases() -> None:
    pytest.importorskip("deepeval", reason="needs the extra deepeval: pip install 'assay-ai[deepeval]'")
    from deepeval import assert_test
    from deepeval.test_case import LLMTestCase

    from assay.integrations.evaluators.deepeval import AssayMetric

    right, half = (LLMTestCase(input=ASKED, actual_output=said, retrieval_context=EVIDENCE) for said in (RIGHT, HALF))
    assert_test(right, [AssayMetric(guard())], run_async=False)
    with pytest.raises(AssertionError, match="assay"):
        assert_test(half, [AssayMetric(guard())], run_async=False)
    metric = AssayMetric(guard(), threshold=0.5)
    assert metric.measure(half) == 0.5
    assert metric.is_successful()
    assert "number.mismatch" in (metric.reason or "")
    with pytest.raises(InputError, match="retrieval_context"):
        metric.measure(LLMTestCase(input=ASKED, actual_output=RIGHT))


def test_a_metric_of_ragas_scores_a_dataset() -> None:
    pytest.importorskip("ragas", reason="needs the extra ragas: pip install 'assay-ai[ragas]'")
    from ragas import EvaluationDataset, evaluate

    from assay.integrations.evaluators.ragas import AssaySupport

    rows = [{"user_input": ASKED, "response": said, "retrieved_contexts": EVIDENCE} for said in (RIGHT, HALF)]
    found = evaluate(EvaluationDataset.from_list(rows), metrics=[AssaySupport(guard=guard())], show_progress=False)
    assert found["assay_support"] == [1.0, 0.5]


def test_a_scorer_of_mlflow_gives_feedback_and_a_report_is_logged(tmp_path: Path) -> None:
    pytest.importorskip("mlflow", reason="needs the extra mlflow: pip install 'assay-ai[mlflow]'")
    import mlflow

    from assay.integrations.evaluators.mlflow import assay_support, log_report

    score = assay_support(guard())
    inputs = {"question": ASKED, "context": EVIDENCE}
    feedback = score(inputs=inputs, outputs={"answer": HALF})
    assert (feedback.value, feedback.metadata["action"]) == (0.5, "block")
    assert "number.mismatch" in feedback.rationale
    assert score(inputs=inputs, outputs=RIGHT).value == 1.0
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    report = guard().check(HALF, EVIDENCE)
    with mlflow.start_run() as run:
        log_report(report)
    kept = mlflow.get_run(run.info.run_id).data.metrics
    assert kept["assay.factscore"] == 0.5
