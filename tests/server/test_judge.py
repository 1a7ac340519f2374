"""A server with a judge: a chat model over real HTTP that its checks and its gateway ask."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.server.gateway_site import Site, play, serving
from tests.server.gateway_site import site as plain_site
from tests.server.test_chat_stream import shown, streamed, trailer
from tests.server.test_serve_command import options
from tests.server.upstream_script import chat_completion, chat_stream, json_answer, stream_answer
from tests.store.making import KEYS, RING
from tests.verify.judges import NOT_FOUND, Rule, answers

from assay.cli.operations.serve import startable_settings
from assay.config import Guard
from assay.errors import InputError, PolicyError
from assay.models.chat.interface import ChatRequest, Message
from assay.server.app import create_app
from assay.server.audit.replay import replay
from assay.server.guards import Guards
from assay.server.judge_settings import JudgeSettings
from assay.server.settings import Limits, Mode, Route, ServerSettings, parse_settings
from assay.server.settings import Upstream as UpstreamSetting
from assay.store.audit.export import run_content
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db.store import Store
from assay.testing import FakeScorer

PATH = "/v1/chat/completions"
EVIDENCE = [
    {"id": "a", "text": "The Arden office is led by Ines Duarte."},
    {"id": "b", "text": "Ines Duarte was born in Porto."},
]
HOP = "Whoever heads the Arden office is a native of Porto."
CHECK: dict[str, Any] = {
    "answer": HOP,
    "evidence": EVIDENCE,
    "question": "Where was the head of the Arden office born?",
}
CHAT: dict[str, Any] = {
    "model": "model-1",
    "messages": [{"role": "user", "content": CHECK["question"]}],
    "assay": {"evidence": EVIDENCE},
}


def everything(_statement: str, passages: Any) -> Any:
    return {1: ("PASS", tuple(passages.items()))}


def nothing(_statement: str, _passages: Any) -> Any:
    return NOT_FOUND


@dataclass
class JudgeServer:
    """A chat model that judges by a rule, over HTTP."""

    rule: Rule = everything
    fails: int | None = None
    """The status that it answers with in place of a verdict."""
    silent: bool = False
    url: str = ""
    keys: list[str | None] = field(default_factory=list)
    """What each request had in `authorization`."""

    async def handle(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self.keys.append(request.headers.get("authorization"))
        if self.silent:
            await asyncio.Event().wait()
        if self.fails is not None:
            return web.json_response({"error": {"message": "no", "type": "made_up"}}, status=self.fails)
        messages = tuple(Message(one["role"], one["content"]) for one in asked["messages"])
        said = json.dumps(answers(ChatRequest(messages), self.rule))
        return web.json_response(chat_completion(said))


@asynccontextmanager
async def judging(**more: Any) -> AsyncIterator[JudgeServer]:
    judge = JudgeServer(**more)
    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/v1/chat/completions", judge.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    judge.url = f"http://{host}:{port}/v1"
    try:
        yield judge
    finally:
        await runner.cleanup()


@asynccontextmanager
async def site(
    judge: JudgeServer, mode: Mode = Mode.ENFORCE, store: Store | None = None, **settings: Any
) -> AsyncIterator[Site]:
    """A gateway whose checks ask the judge."""
    asked = JudgeSettings(**{"model": "judge-1", "base_url": judge.url, "key": "secret-7", **settings})

    def with_judge() -> Guards:
        return Guards("general", scorer=FakeScorer(), judge=asked, environ={})

    async with plain_site(mode) as plain:
        upstream = UpstreamSetting("main", plain.upstream.url)
        told = ServerSettings(
            upstreams=(upstream,),
            routes={"chat_completions": Route(mode=mode, policies=("support-desk",))},
            judge=asked,
            limits=Limits(),
        )
        app = create_app(told, guards=with_judge, store=store)
        async with serving(app) as (url, server):
            yield Site(url, plain.upstream, app, plain.http, server)


def test_a_check_over_rest_asks_the_judge_with_the_key_that_the_server_holds() -> None:
    async def scene() -> None:
        async with judging() as judge, site(judge) as here:
            status, _, body = await here.post("/v1/check", CHECK)
            report = json.loads(body)
            assert (status, report["action"]) == (200, "emit")
            (claim,) = report["claims"]
            assert (claim["verdict"], claim["judgement"]["outcome"]) == ("supported", "supports")
            assert (report["judge"]["model"], report["judge"]["mode"]) == ("judge-1", "uncertain")
            assert set(judge.keys) == {"Bearer secret-7"}
            assert "secret-7" not in repr(here.app.services.settings)

    play(scene)


@pytest.mark.parametrize("rule", [everything, nothing])
def test_what_the_judge_decided_over_http_is_replayed_without_it(tmp_path: Path, rule: Rule) -> None:
    async def scene() -> list[dict[str, Any]]:
        ids: list[str] = []
        with Store(str(tmp_path / "assay.db")) as store:
            async with judging(rule=rule) as judge, site(judge, store=store) as here:
                for _ in range(2):  # the second time the judge's word is known
                    _, headers, _ = await here.post("/v1/check", CHECK)
                    ids.append(headers["x-assay-report-id"])
                for answer in (json_answer(chat_completion(HOP)), stream_answer(chat_stream(HOP))):
                    here.upstream.script(answer)
                    body = {**CHAT, "stream": True} if len(ids) == 3 else CHAT
                    _, headers, _ = await here.post(PATH, body)
                    ids.append(headers["x-assay-report-id"])
            make_checkpoint(store, KEYS, "default")
            with store.reading("default") as connection:
                assert verify_contents(connection, "default", verify_log(connection, "default", RING)).holds
                found = [run_content(connection, "default", id_) for id_ in ids]
        return [one for one in found if one is not None]

    contents: list[dict[str, Any]] = []

    async def kept() -> None:
        contents.extend(await scene())

    play(kept)
    assert len(contents) == 4
    for content in contents:
        assert json.loads(content["tape"])["model"] == "judge-1"
        again = replay(content, lambda policy, **more: Guard(policy, scorer=FakeScorer(), environ={}, **more))
        assert (again.same_decision, again.then.action == "emit") == (True, rule is everything)
        bare = {name: value for name, value in content.items() if name != "tape"}
        with pytest.raises(InputError, match="cannot be replayed without the completions of the judge"):
            replay(bare, lambda policy: Guard(policy, scorer=FakeScorer(), environ={}))


def test_without_a_judge_the_same_answer_is_not_let_out() -> None:
    async def scene() -> None:
        async with plain_site() as here:
            _, _, body = await here.post("/v1/check", CHECK)
            assert json.loads(body)["action"] != "emit"

    play(scene)


def test_an_answer_that_only_the_judge_finds_in_the_evidence_passes_the_gateway_as_it_came() -> None:
    async def scene() -> None:
        async with judging() as judge, site(judge) as here:
            here.upstream.script(json_answer(chat_completion(HOP)))
            _, headers, body = await here.post(PATH, CHAT)
            assert headers["x-assay-action"] == "emit"
            assert json.loads(body) == chat_completion(HOP)
            # The preset that a request names is judged too.
            _, headers, _ = await here.post(PATH, CHAT, x_assay_policy="support-desk")
            assert headers["x-assay-action"] == "emit"
            assert len(judge.keys) == 2

    play(scene)


def test_a_stream_is_judged_before_it_is_shown() -> None:
    async def scene() -> None:
        async with judging() as judge, site(judge) as here:
            here.upstream.script(stream_answer(chat_stream(HOP)))
            _, body = await streamed(here, body={**CHAT, "stream": True})
            assert (shown(body), trailer(body)["action"]) == (HOP, "emit")
            judge.rule = nothing
        async with judging(rule=nothing) as judge, site(judge) as here:
            here.upstream.script(stream_answer(chat_stream(HOP)))
            _, body = await streamed(here, body={**CHAT, "stream": True})
            assert HOP not in shown(body)
            assert trailer(body)["action"] != "emit"

    play(scene)


def broken(status: int) -> Callable[[JudgeServer], None]:
    def change(judge: JudgeServer) -> None:
        judge.fails = status

    return change


def fall_silent(judge: JudgeServer) -> None:
    judge.silent = True


@pytest.mark.parametrize("change", [broken(401), broken(500), fall_silent])
def test_where_the_judge_gives_no_answer_nothing_passes_that_it_was_to_hear(
    change: Callable[[JudgeServer], None],
) -> None:
    supported = {"answer": "Ines Duarte was born in Porto.", "evidence": EVIDENCE}

    async def scene() -> None:
        async with judging() as judge, site(judge, mode=Mode.ENFORCE, seconds=1.0) as plain:
            _, _, body = await plain.post("/v1/check", supported)
            assert json.loads(body)["action"] == "emit"
        async with judging() as judge, site(judge, seconds=1.0) as here:
            change(judge)
            begun = asyncio.get_running_loop().time()
            here.upstream.script(json_answer(chat_completion(HOP)))
            _, headers, body = await here.post(PATH, CHAT)
            assert headers["x-assay-action"] != "emit"
            assert json.loads(body)["choices"][0]["message"]["content"] != HOP
            assert judge.keys
            # Whatever the judge does, a check has its time.
            assert asyncio.get_running_loop().time() - begun < 20

    play(scene)


def test_a_judge_gets_no_more_requests_than_one_check_may_send() -> None:
    answer = " ".join(f"The head of the Arden office was born in Porto in room {n}." for n in range(1, 13))

    async def scene() -> None:
        async with judging(rule=nothing) as judge, site(judge, calls=1) as here:
            _, _, body = await here.post("/v1/check", {**CHECK, "answer": answer})
            assert json.loads(body)["action"] != "emit"
            assert len(judge.keys) <= 1

    play(scene)


# Settings


def test_the_stricter_of_the_policy_and_the_server_says_which_claims_are_heard(tmp_path: Path) -> None:
    own = tmp_path / "assay.yaml"
    own.write_text("version: 1\npolicy:\n  preset: general\n  judge: all\n", encoding="utf-8")
    for mode, policy, wanted in (
        ("uncertain", "general", "uncertain"),
        ("policy", "general", "off"),
        ("all", "rag", "all"),
        ("uncertain", own, "all"),
        ("policy", own, "all"),
    ):
        made = Guards(
            policy, scorer=FakeScorer(), judge=JudgeSettings("m", "http://127.0.0.1:9/v1", mode=mode), environ={}
        )
        assert made.default.policy.judge == wanted
        made.close()


def test_a_preset_that_a_request_names_keeps_its_name_and_has_another_digest() -> None:
    with_judge = Guards(None, scorer=FakeScorer(), judge=JudgeSettings("m", "http://127.0.0.1:9/v1"), environ={})
    without = Guards(None, scorer=FakeScorer(), environ={})
    one, other = with_judge.get("monitor").policy, without.get("monitor").policy
    assert (one.name, one.digest != other.digest) == (other.name, True)
    assert with_judge.get("rag").policy == without.get("rag").policy  # it asks a judge by itself
    assert with_judge.get("general") is with_judge.default


def test_a_gateway_file_names_the_judge_and_where_its_key_stands() -> None:
    section = {"model": "judge-1", "base_url": "https://models.example.com/v1", "key_env": "JUDGE_KEY", "calls": 4}
    made = parse_settings({"judge": section}, {"JUDGE_KEY": "k-1"}, ServerSettings()).judge
    assert made == JudgeSettings("judge-1", "https://models.example.com/v1", "k-1", calls=4)
    assert "k-1" not in repr(made)


@pytest.mark.parametrize(
    "section",
    [
        {"base_url": "https://models.example.com"},
        {"model": " "},
        {"model": "m", "base_url": "models.example.com"},
        {"model": "m", "mode": "off"},
        {"model": "m", "calls": 0},
        {"model": "m", "calls": True},
        {"model": "m", "tokens": 1.5},
        {"model": "m", "seconds": 0},
        {"model": "m", "seconds": float("nan")},
        {"model": "m", "seconds": 60},
        {"model": "m", "key": "in the file"},
        {"model": "m", "key_env": "NOT_SET"},
        "judge-1",
    ],
)
def test_a_judge_that_cannot_be_is_told_of_before_the_server_starts(section: Any) -> None:
    with pytest.raises(PolicyError, match="judge"):
        parse_settings({"judge": section}, {}, ServerSettings())


def test_the_command_names_the_judge() -> None:
    made = startable_settings(options(llm="judge-1", base_url="http://127.0.0.1:9/v1", judge="all"), {}).judge
    assert made == JudgeSettings("judge-1", "http://127.0.0.1:9/v1", mode="all")
    assert startable_settings(options(llm="judge-1"), {}).judge == JudgeSettings("judge-1")
    assert startable_settings(options(), {}).judge is None
    for alone in ({"judge": "all"}, {"base_url": "http://127.0.0.1:9/v1"}, {"llm": "m", "judge": "everything"}):
        with pytest.raises(PolicyError):
            startable_settings(options(**alone), {})
