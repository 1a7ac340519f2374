"""`assay check --repair`: with a model over real HTTP, with the evidence alone, and what is said of it."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.server.upstream_script import Upstream, chat_completion, json_answer, serving_upstream
from typer.testing import CliRunner, Result

from assay.cli import check as check_verb
from assay.cli.app import app
from assay.guard import Guard
from assay.rewrite.revise.convergence import Convergence, convergence_of
from assay.testing import FakeScorer

GOOD, BAD, RIGHT = "The hall is painted red.", "The door costs 5 euros.", "The door costs 7 euros."
Play = Callable[..., Result]


@pytest.fixture(autouse=True)
def guard(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_guard(policy: str | None, model: Path | None, llm: Any = None) -> Guard:
        del model
        return Guard(policy or "general", scorer=FakeScorer(), llm=llm)

    monkeypatch.setattr(check_verb, "open_guard", open_guard)
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    answer, evidence = tmp_path / "answer.md", tmp_path / "evidence.txt"
    answer.write_text(f"{GOOD} {BAD}", encoding="utf-8")
    evidence.write_text(f"{GOOD} {RIGHT}", encoding="utf-8")
    return answer, evidence


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def test_without_a_model_the_values_of_the_evidence_are_put_in(files: tuple[Path, Path]) -> None:
    result = run("check", files[0], "-e", files[1], "--repair")
    assert result.exit_code == 0
    assert f"{GOOD}}} {{✓2 {RIGHT}" in result.stdout
    assert "Repair    passes now (passed), 1 attempt, 1 finding before, 0 after, by evidence" in result.stdout
    assert "- 5  + 7" in result.stdout


def test_a_check_without_it_suggests_the_value_and_changes_nothing(files: tuple[Path, Path]) -> None:
    result = run("check", files[0], "-e", files[1])
    assert result.exit_code == 1
    assert BAD in result.stdout
    assert "suggest  “5” → “7”" in result.stdout


def test_a_model_corrects_what_failed(files: tuple[Path, Path]) -> None:
    said = json.dumps({"corrections": [{"number": 1, "text": RIGHT, "sources": []}]})

    async def scene() -> tuple[Result, Upstream]:
        async with serving_upstream() as upstream:
            upstream.script(json_answer(chat_completion(said)))
            arguments = ("check", files[0], "-e", files[1], "--repair", "-f", "json")
            more = ("--llm", "m1", "--base-url", f"{upstream.url}/v1")
            return await asyncio.to_thread(run, *arguments, *more), upstream

    result, upstream = asyncio.run(asyncio.wait_for(scene(), 60))
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert (report["output"], report["revision"]["author"]) == (f"{GOOD} {RIGHT}", "m1")
    assert report["spending"][0]["purpose"] == "repair"
    assert len(upstream.asked) == 1


def test_over_several_answers_the_rate_is_told(files: tuple[Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    for name, text in (("a", GOOD), ("b", BAD), ("c", "Trains run at night.")):
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    result = run("check", folder, "-e", files[1], "--repair")
    assert result.exit_code == 1
    assert "repair: 1 of 2 answers that failed passes now" in result.stderr


def test_taking_out_goes_with_repairing(files: tuple[Path, Path]) -> None:
    assert run("check", files[0], "-e", files[1], "--remove").exit_code == 2
    files[0].write_text(f"{GOOD} Trains run at night.", encoding="utf-8")
    assert run("check", files[0], "-e", files[1], "--repair").exit_code == 1
    assert run("check", files[0], "-e", files[1], "--repair", "--remove").exit_code == 0


def test_an_endpoint_needs_a_model(files: tuple[Path, Path]) -> None:
    result = run("check", files[0], "-e", files[1], "--base-url", "http://localhost:1/v1")
    assert result.exit_code == 2
    assert "--llm NAME" in result.stderr


def test_convergence_is_counted_over_what_was_revised() -> None:
    guard = Guard("general", scorer=FakeScorer())
    reports = [guard.repair(text, [f"{GOOD} {RIGHT}"]) for text in (GOOD, BAD, "Trains run at night.")]
    found = convergence_of(reports)
    assert (found.outputs, found.revised, found.converged, found.rate) == (3, 2, 1, 0.5)
    assert found.failed_after < found.failed_before
    assert Convergence().rate is None
    assert Convergence(outputs=1).words == "every answer passed as it was"


def test_a_report_tells_of_asking_again_and_of_whether_to_answer() -> None:
    from assay.cli.reports.text_report import text_report
    from assay.cli.terminal import plain
    from assay.policy import Policy, preset
    from assay.testing import ScriptedChat

    changed = {"consistency_probes": True, "abstention": {"high": 1.0}}
    policy = Policy.model_validate({**preset("general").model_dump(), **changed})
    chat = ScriptedChat(lambda request: RIGHT if request else "")
    report = Guard(policy, scorer=FakeScorer(), llm=chat).check(RIGHT, [RIGHT], question="What does the door cost?")
    told = plain(text_report("answer", report))
    assert "Asked     again about 1 claim, agreement 1.00" in told
    assert "Answering PARTIAL_WITH_CAVEATS (low confidence), confidence, not fitted, " in told
    denying = Guard(policy, scorer=FakeScorer(), llm=ScriptedChat(lambda request: BAD if request else ""))
    told = plain(text_report("answer", denying.check(RIGHT, [RIGHT], question="What does the door cost?")))
    assert f"{RIGHT}  said: {BAD}" in told
