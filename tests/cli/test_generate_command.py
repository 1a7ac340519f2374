"""`assay generate` against a scripted endpoint over real HTTP."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.rewrite.grounded_models import FALSE, LEAVE, PAID, PAY, QUESTION, TRUE, Line
from tests.server.upstream_script import Answer, Upstream, chat_completion, json_answer, message, serving_upstream
from typer.testing import CliRunner, Result

from assay.cli import check as check_verb
from assay.cli.app import app
from assay.cli.generate import read_price
from assay.errors import InputError
from assay.guard import Guard
from assay.prompts import unfenced
from assay.rewrite.answers.grounded import ABSTENTION
from assay.testing import FakeScorer

Play = Callable[..., Result]


@pytest.fixture(autouse=True)
def guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_verb, "open_guard", lambda policy, model: Guard(policy or "general", scorer=FakeScorer()))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    where = tmp_path / "evidence"
    where.mkdir()
    for item in (LEAVE, PAY):
        (where / f"{item.id}.txt").write_text(item.text, encoding="utf-8")
    return where


class Speaking(Upstream):
    """An upstream whose model reads its prompt and makes these statements, the last list again and again."""

    def __init__(self, *answers: list[Line], form: str = "openai") -> None:
        super().__init__()
        self.lines = list(answers)
        self.form = form

    async def handle(self, request: Any) -> Any:
        body = await request.json()
        held = dict(unfenced(body["messages"][-1]["content"])[1])
        now = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        texts = {LEAVE.text: LEAVE.id, PAY.text: PAY.id}
        alias = {texts[one["text"]]: one["id"] for one in held["evidence"]}
        said = json.dumps(
            {
                "statements": [{"text": text, "sources": [alias[s] for s in sources]} for text, sources in now],
                "missing": "",
            }
        )
        self.answers = [json_answer(chat_completion(said) if self.form == "openai" else message(said))]
        return await super().handle(request)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Runs the command with arguments in which URL stands for the upstream."""

    def run(upstream: Upstream, *arguments: object) -> Result:
        async def scene() -> Result:
            from tests.server import upstream_script

            monkeypatch.setattr(upstream_script, "Upstream", lambda: upstream)
            async with serving_upstream() as served:
                told = [str(one).replace("URL", served.url) for one in arguments]
                return await asyncio.to_thread(CliRunner().invoke, app, ["generate", *told], catch_exceptions=False)

        return asyncio.run(asyncio.wait_for(scene(), 60))

    return run


def test_a_grounded_answer_goes_to_standard_output_alone(play: Play, folder: Path) -> None:
    upstream = Speaking([TRUE, PAID])
    result = play(upstream, QUESTION, "-e", folder, "-m", "model-1", "--base-url", "URL/v1", "--price", "1,2")
    assert result.exit_code == 0
    expected = "Partners are entitled to 2 weeks of leave [hr-2]. Leave of partners is paid in full [hr-3].\n"
    assert result.stdout == expected
    assert "EMIT" in result.stderr
    assert "1 answer, grounded; statements: 2 kept" in result.stderr
    assert "1 call, 9 tokens in, 12 out, 1.0 times a plain answer, 0.0000 USD" in result.stderr
    assert upstream.asked[0].path == "/v1/chat/completions"
    assert upstream.asked[0].json()["response_format"]["type"] == "json_schema"


def test_what_is_wrong_is_asked_for_again_and_told(play: Play, folder: Path) -> None:
    result = play(Speaking([FALSE, PAID], [TRUE, PAID]), QUESTION, "-e", folder, "-m", "m", "--base-url", "URL/v1")
    assert result.exit_code == 0
    assert "2 weeks" in result.stdout
    assert "2 answers, grounded; statements: 2 kept, 2 rejected" in result.stderr


def test_what_stays_wrong_does_not_come_out(play: Play, folder: Path) -> None:
    arguments = (QUESTION, "-e", folder, "-m", "m", "--base-url", "URL/v1", "--ungrounded", "remove")
    result = play(Speaking([FALSE, PAID]), *arguments)
    assert "4 weeks" not in result.stdout
    assert "removed: Partners are entitled to 4 weeks of leave." in result.stderr
    assert result.exit_code == 0
    alone = play(Speaking([FALSE]), *arguments)
    assert alone.stdout == f"{ABSTENTION}\n"


def test_a_flagged_answer_is_not_emitted_and_ends_with_status_1(play: Play, folder: Path) -> None:
    result = play(
        Speaking([FALSE, PAID]), QUESTION, "-e", folder, "-m", "m", "--base-url", "URL/v1", "--ungrounded", "flag"
    )
    assert result.exit_code == 1
    assert "4 weeks" not in result.stdout
    assert "flagged: Partners are entitled to 4 weeks" in result.stderr


def test_anthropic_is_asked_in_its_own_form(play: Play, folder: Path) -> None:
    upstream = Speaking([TRUE], form="anthropic")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", "k")
        result = play(upstream, QUESTION, "-e", folder, "-m", "anthropic:claude", "--base-url", "URL")
    assert result.exit_code == 0
    assert upstream.asked[0].path == "/v1/messages"


def test_the_report_can_be_had_as_json_and_html(play: Play, folder: Path, tmp_path: Path) -> None:
    arguments = (QUESTION, "-e", folder, "-m", "m", "--base-url", "URL/v1")
    report = json.loads(play(Speaking([TRUE]), *arguments, "--format", "json").stdout)
    assert report["generation"]["stopped"] == "grounded"
    assert report["spending"][0]["purpose"] == "draft"
    play(Speaking([TRUE]), *arguments, "--format", "html", "--out", tmp_path / "report.html")
    assert "2 weeks" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_answers_are_kept_where_a_cache_is_named(play: Play, folder: Path, tmp_path: Path) -> None:
    arguments = (QUESTION, "-e", folder, "-m", "m", "--base-url", "http://127.0.0.1:1/v1", "--cache", tmp_path / "c.db")
    upstream = Speaking([TRUE])
    first = [str(one).replace("http://127.0.0.1:1", "URL") for one in arguments]
    assert play(upstream, *first).exit_code == 0
    # Another address is another model: its answers are not those of the first.
    assert play(upstream, *arguments[:-2], "--cache", tmp_path / "c.db").exit_code == 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(b'{"error": {"message": "no such model"}}', status=404), "no such model"),
        (json_answer(chat_completion(None, refusal="I will not.")), "none of 3 answers"),
    ],
    ids=["status", "refusal"],
)
def test_a_model_that_gives_no_answer_ends_with_status_2(play: Play, folder: Path, answer: Answer, words: str) -> None:
    upstream = Upstream()
    upstream.script(answer)
    result = play(upstream, QUESTION, "-e", folder, "-m", "m", "--base-url", "URL/v1")
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("price", ["1", "a,b", "1,2,3", "-1,2", "nan,1", "inf,1"])
def test_a_price_is_two_numbers(price: str) -> None:
    with pytest.raises(InputError, match="two numbers"):
        read_price(price)
