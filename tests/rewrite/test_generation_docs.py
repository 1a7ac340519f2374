"""Every command of docs/generation.md runs, against a scripted endpoint over real HTTP."""

import asyncio
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.server.upstream_script import Upstream, chat_completion, json_answer, message, serving_upstream
from typer.testing import CliRunner, Result

from assay.cli import calibrate as calibrate_verb
from assay.cli import check as check_verb
from assay.cli.app import app
from assay.config import read_policy
from assay.guard import Guard
from assay.policy import Policy
from assay.policy.calibration.strictness import loosest
from assay.prompts import unfenced
from assay.testing import FakeScorer

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "generation.md").read_text(encoding="utf-8")
LEAVE = "Partners are entitled to 2 weeks of leave."
WRONG = "Partners are entitled to 4 weeks of leave."
PAID = "Leave of partners is paid in full."
BLOCKS = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines() if line.startswith("assay ")]


class Talking(Upstream):
    """An upstream whose model reads its prompt and says what is right."""

    async def handle(self, request: Any) -> Any:
        body = await request.json()
        said = self.said(dict(unfenced(self.prompt(body))[1]))
        chat = "completions" in request.path
        self.answers = [json_answer(chat_completion(said) if chat else message(said))]
        return await super().handle(request)

    @staticmethod
    def prompt(body: dict[str, Any]) -> str:
        content = body["messages"][-1]["content"]
        return content if isinstance(content, str) else content[0]["text"]

    @staticmethod
    def said(held: dict[str, list[dict[str, Any]]]) -> str:
        if "claims" in held:
            asked = [{"claim": one["claim"], "question": "How long is it?"} for one in held["claims"]]
            return json.dumps({"questions": asked})
        if "questions" in held:
            given = [{"question": one["question"], "answer": LEAVE, "sources": []} for one in held["questions"]]
            return json.dumps({"answers": given})
        sources = [one["id"] for one in held["evidence"] if LEAVE in one["text"]]
        if "corrections" in held:
            return json.dumps({"corrections": [{"number": 1, "text": LEAVE, "sources": sources}]})
        if "attempt" in held or "{" not in json.dumps(held):
            return LEAVE
        return json.dumps({"statements": [{"text": LEAVE, "sources": sources}], "missing": ""})


def rows() -> str:
    """Labelled rows that a confidence and a promise can be fitted on."""
    lines = []
    for number in range(80):
        evidence = f"Team {number} of the depot in Ghent gets {number + 2} weeks of paid leave."
        right = number < 30
        claim = evidence if right else f"Team {number} gets {number + 3} weeks of leave and a new bicycle."
        label = "supported" if right else "not_supported"
        lines.append(json.dumps({"id": str(number), "evidence": [evidence], "claim": claim, "label": label}))
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with what the page names, and a guard without the network's weights."""

    def open_guard(policy: str | None, model: Path | None, llm: Any = None) -> Guard:
        del model
        return Guard(read_policy(policy, {}), scorer=FakeScorer(), llm=llm)

    def open_loosest(policy: Policy, model: Path | None) -> Guard:
        del model
        return Guard(loosest(policy), scorer=FakeScorer())

    monkeypatch.setattr(check_verb, "open_guard", open_guard)
    monkeypatch.setattr(calibrate_verb, "open_loosest", open_loosest)
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "none")
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "hr-2.txt").write_text(f"{LEAVE} {PAID}", encoding="utf-8")
    (tmp_path / "answer.md").write_text(f"{PAID} {WRONG}", encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text(rows(), encoding="utf-8")
    for name, text in re.findall(r"```yaml\n# (\S+)\n(.*?)```", TEXT, re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(command: str) -> tuple[Result, Upstream]:
    async def scene() -> tuple[Result, Upstream]:
        from tests.server import upstream_script

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(upstream_script, "Upstream", Talking)
            async with serving_upstream() as upstream:
                patch.setenv("OPENAI_BASE_URL", f"{upstream.url}/v1")
                patch.setenv("ANTHROPIC_BASE_URL", upstream.url)
                told = shlex.split(re.sub(r"http://localhost:\d+", upstream.url, command))[1:]
                result = await asyncio.to_thread(CliRunner().invoke, app, told, catch_exceptions=False)
                return result, upstream

    return asyncio.run(asyncio.wait_for(scene(), 120))


def test_the_page_has_commands_for_every_part() -> None:
    for part in ("generate", "--chain", "--ungrounded", "--repair", "--remove", "--llm", "--abstention", "--alpha"):
        assert any(part in command for command in COMMANDS)


@pytest.mark.parametrize("command", [one for one in COMMANDS if " generate " in one])
def test_generating_gives_the_grounded_answer(command: str) -> None:
    result, upstream = run(command)
    assert result.exit_code == 0, result.output
    assert result.stdout == "Partners are entitled to 2 weeks of leave [hr-2].\n"
    assert upstream.asked


@pytest.mark.parametrize("command", [one for one in COMMANDS if "--repair" in one])
def test_repairing_corrects_the_sentence_that_failed(command: str) -> None:
    result, upstream = run(command)
    assert result.exit_code == 0, result.output
    assert "passes now" in result.stdout
    assert bool(upstream.asked) == ("--llm" in command)


def test_asking_again_asks_about_what_the_evidence_supports(place: Path) -> None:
    (command,) = [one for one in COMMANDS if "asking.yaml" in one]
    held_back, nobody = run(command)
    assert (held_back.exit_code, nobody.asked) == (1, [])
    (place / "answer.md").write_text(LEAVE, encoding="utf-8")
    result, upstream = run(command)
    assert result.exit_code == 0, result.output
    assert len(upstream.asked) >= 1  # as often as the risk says


def test_a_fitted_policy_decides_whether_to_answer(place: Path) -> None:
    fitting, checking = [one for one in COMMANDS if "assay.yaml" in one]
    result, _ = run(fitting)
    assert result.exit_code == 0, result.output
    assert read_policy(place / "assay.yaml", {}).abstention is not None
    (place / "answer.md").write_text(LEAVE, encoding="utf-8")
    checked, _ = run(f"{checking} --format json")
    assert checked.exit_code in (0, 1), checked.output
    assert json.loads(checked.stdout)["policy"]["name"] == "general-calibrated"
