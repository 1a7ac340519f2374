"""`assay check --judge` and `--omissions`: a judge over real HTTP, and what is said of it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.server.upstream_script import Upstream, chat_completion, json_answer, serving_upstream
from tests.verify.judges import Rule, answers, data_of, seal_of
from typer.testing import CliRunner, Result

from assay.cli import check as check_verb
from assay.cli.app import app
from assay.cli.reports.judge_words import adjusted_policy, judge_words
from assay.guard import Guard
from assay.models.chat.interface import ChatRequest, Message
from assay.policy import Policy, preset
from assay.testing import FakeScorer

HOPS = {"a.txt": "The Arden office is led by Ines Duarte.", "b.txt": "Ines Duarte was born in Porto."}
HOP = "The head of the Arden office was born in Porto."


@pytest.fixture(autouse=True)
def guard(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_guard(policy: Policy | str | None, model: Path | None, llm: Any = None) -> Guard:
        del model
        chosen = preset(policy or "general") if policy is None or isinstance(policy, str) else policy
        # At a share of one in two the scorer's overlap of words is no support, as a claim of two hops should have none.
        return Guard(chosen.model_copy(update={"prior": 0.5}), scorer=FakeScorer(), llm=llm)

    monkeypatch.setattr(check_verb, "open_guard", open_guard)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.delenv("ASSAY_CONFIG", raising=False)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    answer, evidence = tmp_path / "answer.md", tmp_path / "evidence"
    answer.write_text(HOP, encoding="utf-8")
    evidence.mkdir()
    for name, text in HOPS.items():
        (evidence / name).write_text(text, encoding="utf-8")
    return answer, evidence


class Judging(Upstream):
    """An upstream whose model judges by a rule, or says always the same."""

    def __init__(self, rule: Rule | str) -> None:
        super().__init__()
        self.rule = rule

    async def handle(self, request: Any) -> Any:
        body = await request.json()
        asked = ChatRequest(tuple(Message(one["role"], one["content"]) for one in body["messages"]))
        if isinstance(self.rule, str):
            said = self.rule
        elif "statements" in data_of(asked):
            said = json.dumps(answers(asked, self.rule))
        else:
            said = json.dumps({"seal": seal_of(asked), "answers": [], "more": []})
        self.answers = [json_answer(chat_completion(said))]
        return await super().handle(request)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, arguments)], catch_exceptions=False)


def judged(monkeypatch: pytest.MonkeyPatch, rule: Rule | str, *arguments: object) -> tuple[Result, Upstream]:
    from tests.server import upstream_script

    upstream = Judging(rule)
    monkeypatch.setattr(upstream_script, "Upstream", lambda: upstream)

    async def scene() -> Result:
        async with serving_upstream() as served:
            return await asyncio.to_thread(run, *arguments, "--llm", "m1", "--base-url", f"{served.url}/v1")

    return asyncio.run(asyncio.wait_for(scene(), 60)), upstream


def everything(_: str, passages: Any) -> Any:
    return {1: ("PASS", tuple(passages.items()))}


def test_a_judge_is_asked_and_its_part_is_told(monkeypatch: pytest.MonkeyPatch, files: tuple[Path, Path]) -> None:
    result, upstream = judged(monkeypatch, everything, files[0], "-e", files[1], "--judge", "uncertain")
    assert result.exit_code == 0, result.stdout
    assert "Judge     m1 on 1 claim (uncertain): 1 changed, 0 unchecked; 1 call" in result.stdout
    assert "decided by the judge" in result.stdout
    assert "policy general-adjusted" in result.stdout
    assert upstream.asked[0].json()["response_format"]["type"] == "json_schema"


def test_a_judge_that_speaks_prose_lets_nothing_pass(monkeypatch: pytest.MonkeyPatch, files: tuple[Path, Path]) -> None:
    files[0].write_text("Ines Duarte was born in Porto.", encoding="utf-8")
    assert run(files[0], "-e", files[1]).exit_code == 0
    result, _ = judged(monkeypatch, "All of it is PASS.", files[0], "-e", files[1], "--judge", "all", "-f", "json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["claims"][0]["verdict"] == "unchecked"
    assert report["judge"]["unchecked"] == 1
    assert report["spending"][0]["purpose"] == "judge"


def test_a_judge_needs_a_model(files: tuple[Path, Path]) -> None:
    result = run(files[0], "-e", files[1], "--judge", "all")
    assert result.exit_code == 2
    assert "--judge goes with --llm NAME" in result.stderr
    assert run(files[0], "-e", files[1], "--judge", "off").exit_code == 1


def test_omissions_are_told_or_send_the_answer_back(tmp_path: Path) -> None:
    answer, evidence = tmp_path / "answer.md", tmp_path / "evidence.txt"
    answer.write_text("Remote work is permitted.", encoding="utf-8")
    evidence.write_text("Remote work is permitted. It requires the approval of a manager.", encoding="utf-8")
    plain, note, revise = (
        run(answer, "-e", evidence, *more) for more in ((), ("--omissions", "note"), ("--omissions", "revise"))
    )
    assert "leaves out" not in plain.stdout
    assert "leaves out a condition of the evidence: “requires the approval of a manager”" in note.stdout
    assert [one.exit_code for one in (plain, note, revise)] == [0, 0, 1]
    assert "Judge" not in note.stdout


def test_switches_change_the_policy_and_its_name_only_where_they_differ() -> None:
    assert adjusted_policy("rag", None, None, None) == "rag"
    changed = adjusted_policy("rag", "all", "revise", "m")
    assert isinstance(changed, Policy)
    assert (changed.name, changed.judge, changed.omissions) == ("rag-adjusted", "all", "revise")
    same = adjusted_policy("rag", "uncertain", "note", "m")
    assert isinstance(same, Policy)
    assert same.name == "rag"


def test_a_report_without_a_judge_says_so() -> None:
    assert judge_words(Guard("general", scorer=FakeScorer()).check("It is.", ["It is."])) == "not asked"
