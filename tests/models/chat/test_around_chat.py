"""What stands around a chat model: retries, the bound on requests at once, the cache, several answers, the account."""

import asyncio
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.chat.chat_contract import asking, play

from assay.errors import BudgetError, ChatError, InputError
from assay.models.chat.cache import Cached, ChatCache, is_repeatable
from assay.models.chat.interface import ChatModel, ChatRequest, Choice, Completion, Finish, Message, TokenLogprob, Usage
from assay.models.chat.limit import Limited, Slots
from assay.models.chat.load import Chat, ChatOptions, form_of
from assay.models.chat.meter import Budget, Meter, Price
from assay.models.chat.providers.openai_chat import OpenAIChat
from assay.models.chat.retry import Retries, Retrying
from assay.models.chat.several_answers import Several
from assay.models.chat.tape import request_key
from assay.testing import Said, ScriptedChat

BUSY = "the endpoint is busy"


def busy(wait: float | None = None) -> ChatError:
    return ChatError(BUSY, retryable=True, wait=wait, calls=1)


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Callable[[ChatModel, ChatRequest], Completion]:
    def complete(model: ChatModel, asked: ChatRequest) -> Completion:
        return model.complete(asked) if request.param == "sync" else asyncio.run(_acomplete(model, asked))

    return complete


async def _acomplete(model: ChatModel, asked: ChatRequest) -> Completion:
    return await model.acomplete(asked)


class Time:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waited: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)


def retrying(script: Iterable[Said], retries: Retries | None = None) -> tuple[Retrying, ScriptedChat, Time]:
    clock, chat = Time(), ScriptedChat(script)
    made = Retrying(chat, retries, draw=lambda most: most, clock=clock, sleep=clock.sleep, asleep=clock.asleep)
    return made, chat, clock


Asks = Callable[[ChatModel, ChatRequest], Completion]


# Retries


def test_a_failure_that_passes_is_asked_again_and_counted(ask: Asks) -> None:
    model, _, clock = retrying([busy(), busy(), "Two."])
    made = ask(model, asking())
    assert (made.text, made.calls, made.retries) == ("Two.", 3, 2)
    assert clock.waited == [0.5, 1.0]


def test_a_failure_that_does_not_pass_is_not_asked_again(ask: Asks) -> None:
    model, chat, _ = retrying([ChatError("wrong key", calls=1), "never"])
    with pytest.raises(ChatError, match="wrong key"):
        ask(model, asking())
    assert len(chat.requests) == 1


def test_asking_ends_after_the_number_of_retries(ask: Asks) -> None:
    model, chat, _ = retrying([busy() for _ in range(9)], Retries(most=2))
    with pytest.raises(ChatError, match=BUSY) as caught:
        ask(model, asking())
    assert len(chat.requests) == 3
    assert caught.value.calls == 3


def test_the_pause_that_an_endpoint_asks_for_is_kept_with_jitter(ask: Asks) -> None:
    model, _, clock = retrying([busy(4.0), "Two."])
    ask(model, asking())
    assert clock.waited == [4.5]


def test_an_endpoint_that_asks_for_too_long_a_pause_is_not_asked_again(ask: Asks) -> None:
    model, _, clock = retrying([busy(3_600.0), "Two."])
    with pytest.raises(ChatError):
        ask(model, asking())
    assert clock.waited == []


def test_no_retry_goes_beyond_the_time_of_the_request(ask: Asks) -> None:
    model, chat, clock = retrying([busy() for _ in range(9)], Retries(most=9, first_s=1.0))
    with pytest.raises(ChatError):
        ask(model, asking(timeout=4.0))
    assert clock.now - 100 < 4.0
    assert [request.timeout for request in chat.requests] == [4.0, 3.0, 1.0]


def test_a_slow_failure_leaves_no_time_for_a_pause_and_is_what_is_raised(ask: Asks) -> None:
    clock = Time()

    def slow_failure(request: ChatRequest) -> ChatError:
        clock.now += 3.0
        return busy(2.0)

    chat = ScriptedChat(slow_failure)
    model = Retrying(chat, draw=lambda most: 0.0, clock=clock, sleep=clock.sleep, asleep=clock.asleep)
    with pytest.raises(ChatError, match=BUSY):
        ask(model, asking(timeout=4.0))
    assert clock.waited == []


def test_no_retry_goes_beyond_the_calls_of_the_request(ask: Asks) -> None:
    model, chat, _ = retrying([busy() for _ in range(9)], Retries(most=9))
    with pytest.raises(ChatError):
        ask(model, asking(most_calls=2))
    assert [request.most_calls for request in chat.requests] == [2, 1]


@given(st.integers(0, 200), st.floats(0, 1))
def test_pauses_are_drawn_from_nothing_up_to_a_bound_that_doubles(tried: int, share: float) -> None:
    model = Retrying(ScriptedChat([]), Retries(most=1_000), draw=lambda most: share * most)
    pause = model._pause(busy(), tried, asking(), 1)
    assert pause is not None
    assert 0 <= pause <= min(20.0, 0.5 * 2.0**tried)


def test_pauses_differ_from_one_client_to_the_next() -> None:
    pauses = {Retrying(ScriptedChat([]))._pause(busy(), 2, asking(), 1) for _ in range(20)}
    assert len(pauses) > 10


def test_retries_are_not_negative() -> None:
    with pytest.raises(InputError, match="0 or more"):
        Retries(most=-1)


# At once


class Counting:
    """A model that keeps how many requests were under way at once."""

    name = "counting"
    digest = "d"

    def __init__(self) -> None:
        self.under_way = self.most = 0
        self.lock = threading.Lock()
        self.gate = threading.Event()

    def _enter(self) -> None:
        with self.lock:
            self.under_way += 1
            self.most = max(self.most, self.under_way)

    def _leave(self) -> Completion:
        with self.lock:
            self.under_way -= 1
        return Completion((Choice("x"),))

    def complete(self, request: ChatRequest) -> Completion:
        self._enter()
        self.gate.wait(5)
        return self._leave()

    async def acomplete(self, request: ChatRequest) -> Completion:
        self._enter()
        for _ in range(3):
            await asyncio.sleep(0)
        return self._leave()


def test_tasks_share_the_places() -> None:
    counting = Counting()
    model = Limited(counting, 3)

    async def scene() -> None:
        await asyncio.gather(*(model.acomplete(asking()) for _ in range(20)))

    play(scene)
    assert counting.most == 3


def test_threads_and_tasks_share_the_places() -> None:
    counting = Counting()
    model = Limited(counting, 2)
    threads = [threading.Thread(target=model.complete, args=(asking(),)) for _ in range(4)]

    async def scene() -> None:
        for thread in threads:
            thread.start()
        while counting.under_way < 2:
            await asyncio.sleep(0.001)
        tasks = [asyncio.create_task(model.acomplete(asking())) for _ in range(5)]
        await asyncio.sleep(0.01)
        counting.gate.set()
        await asyncio.gather(*tasks)

    play(scene)
    for thread in threads:
        thread.join(5)
    assert counting.most == 2


def test_whoever_gives_up_waiting_leaves_no_place_taken() -> None:
    slots = Slots(1)

    async def hold() -> None:
        async with slots.aheld():
            await asyncio.sleep(0)

    async def scene() -> None:
        async with slots.aheld():
            waiting = [asyncio.create_task(hold()) for _ in range(3)]
            await asyncio.sleep(0)
            waiting[0].cancel()
            await asyncio.sleep(0)
        # The place is given to the second in the moment in which the second gives up.
        waiting[1].cancel()
        await asyncio.wait(waiting)
        await asyncio.wait_for(hold(), 5)

    play(scene)
    assert slots._free == 1


def test_an_error_gives_the_place_back() -> None:
    model = Limited(ScriptedChat([busy(), "Two."]), 1)
    with pytest.raises(ChatError):
        model.complete(asking())
    assert model.complete(asking()).text == "Two."


def test_there_is_at_least_one_place() -> None:
    with pytest.raises(InputError, match="at least one"):
        Limited(ScriptedChat([]), 0)


# Several answers


def test_answers_that_were_left_out_are_asked_for(ask: Asks) -> None:
    chat = ScriptedChat(["a", "b", "c"])
    single = _First(chat)
    made = ask(Several(single), asking(n=3, temperature=0.7, seed=5))
    assert sorted(choice.text for choice in made.choices) == ["a", "b", "c"]
    assert made.calls == 3
    assert sorted(request.seed or 0 for request in chat.requests) == [5, 6, 7]


def test_a_further_answer_that_fails_is_passed_over_and_counted(ask: Asks) -> None:
    made = ask(Several(_First(ScriptedChat(["a", busy(), "c"]))), asking(n=3))
    assert len(made.choices) == 2
    assert made.calls == 3


def test_the_first_failure_is_told(ask: Asks) -> None:
    with pytest.raises(ChatError, match=BUSY):
        ask(Several(_First(ScriptedChat([busy()]))), asking(n=3))


@pytest.mark.parametrize(("spent", "timeouts"), [(3.0, [4.0, 1.0, 1.0]), (4.0, [4.0])])
def test_further_answers_stay_within_the_time(ask: Asks, spent: float, timeouts: list[float]) -> None:
    clock = Time()

    def slow(request: ChatRequest) -> str:
        clock.now += spent if request.timeout == 4.0 else 0.0
        return "Two."

    chat = ScriptedChat(slow)
    made = ask(Several(_First(chat), clock=clock), asking(n=3, timeout=4.0))
    assert [request.timeout for request in chat.requests] == timeouts
    assert len(made.choices) == len(timeouts)


def test_further_answers_stay_within_the_calls(ask: Asks) -> None:
    chat = ScriptedChat(["a"] * 9)
    assert len(ask(Several(_First(chat)), asking(n=5, most_calls=3)).choices) == 3
    assert len(chat.requests) == 3


class _First:
    """A model whose endpoint gives one answer at a time, whatever it is asked for."""

    def __init__(self, model: ScriptedChat) -> None:
        self.model = model
        self.name, self.digest = model.name, model.digest

    def complete(self, request: ChatRequest) -> Completion:
        return self.model.complete(replace(request, n=1))

    async def acomplete(self, request: ChatRequest) -> Completion:
        return self.complete(request)


# The cache


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def cache(tmp_path: Path, clock: Time) -> ChatCache:
    return ChatCache(tmp_path / "deep" / "answers.db", keep_s=60.0, most=3, clock=clock)


def test_the_same_request_is_answered_once(ask: Asks, cache: ChatCache) -> None:
    chat = ScriptedChat(["Two."])
    model = Cached(chat, cache)
    first, second = ask(model, asking()), ask(model, asking())
    assert (first.cached, second.cached, second.calls) == (False, True, 0)
    assert second.text == "Two."
    assert second.usage == first.usage
    assert len(chat.requests) == 1


def test_how_long_an_answer_may_take_does_not_change_it(cache: ChatCache) -> None:
    model = Cached(ScriptedChat(["Two."]), cache)
    model.complete(asking(timeout=1.0))
    assert model.complete(asking(timeout=2.0, most_calls=1)).cached


@pytest.mark.parametrize(
    "changed",
    [{"text": "Other?"}, {"seed": 2}, {"max_tokens": 5}, {"schema": {}}, {"n": 2}, {"logprobs": True}],
    ids=str,
)
def test_whatever_changes_the_answer_changes_the_key(changed: dict[str, Any]) -> None:
    assert request_key("m", asking(seed=1)) != request_key("m", asking(**{"seed": 1, **changed}))
    assert request_key("m", asking()) != request_key("n", asking())


@given(st.lists(st.text(), min_size=1, max_size=3), st.lists(st.text(), min_size=1, max_size=3))
def test_messages_that_differ_have_keys_that_differ(left: list[str], right: list[str]) -> None:
    keys = {request_key("m", ChatRequest(tuple(Message("user", text) for text in texts))) for texts in (left, right)}
    assert (len(keys) == 1) == (left == right)


def test_a_fresh_draw_is_never_a_kept_one(cache: ChatCache) -> None:
    model = Cached(ScriptedChat(["a", "b"]), cache)
    warm = asking(temperature=0.7)
    assert not is_repeatable(warm)
    assert [model.complete(warm).text, model.complete(warm).text] == ["a", "b"]
    assert is_repeatable(asking(temperature=0.7, seed=1))


def test_an_answer_grows_old(cache: ChatCache, clock: Time) -> None:
    model = Cached(ScriptedChat(["a", "b"]), cache)
    model.complete(asking())
    clock.now += 59.0
    assert model.complete(asking()).text == "a"
    clock.now += 2.0
    assert model.complete(asking()).text == "b"


def test_an_answer_from_the_future_does_not_count(cache: ChatCache, clock: Time) -> None:
    model = Cached(ScriptedChat(["a", "b"]), cache)
    model.complete(asking())
    clock.now -= 10.0
    assert model.complete(asking()).text == "b"


def test_the_oldest_answers_go_first(cache: ChatCache, clock: Time) -> None:
    chat = ScriptedChat(lambda request: request.messages[-1].content)
    model = Cached(chat, cache)
    for text in "abcd":
        model.complete(asking(text))
        clock.now += 1.0
    assert [model.complete(asking(text)).cached for text in "dcb"] == [True, True, True]
    assert not model.complete(asking("a")).cached


@pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.REFUSAL, Finish.OTHER])
def test_what_is_not_whole_is_not_kept(cache: ChatCache, finish: Finish) -> None:
    model = Cached(ScriptedChat([Choice("Tw", finish), "Two."]), cache)
    model.complete(asking())
    assert model.complete(asking()).text == "Two."


def test_log_probabilities_and_every_sign_survive(cache: ChatCache) -> None:
    choice = Choice("\ud800\0\u2028🎈", logprobs=(TokenLogprob("🎈", -0.25, (("a", -1.5), ("🎈", -0.25))),))
    model = Cached(ScriptedChat([choice]), cache)
    model.complete(asking("\ud800"))
    assert model.complete(asking("\ud800")).choices == (choice,)


@pytest.mark.parametrize("body", ["", "[]", '{"choices": []}', '{"choices": [{"text": 3}], "usage": {}, "model": ""}'])
def test_a_kept_answer_that_cannot_be_read_is_asked_for_again(tmp_path: Path, body: str) -> None:
    path = tmp_path / "answers.db"
    model = Cached(ScriptedChat(["a", "b"]), ChatCache(path))
    model.complete(asking())
    database = sqlite3.connect(path)
    database.execute("UPDATE answers SET body = ?", (body,))
    database.commit()
    database.close()
    assert model.complete(asking()).text == "b"


def test_a_damaged_file_counts_as_empty_and_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "answers.db"
    path.write_bytes(b"no database at all" * 100)
    assert Cached(ScriptedChat(["Two."]), ChatCache(path)).complete(asking()).text == "Two."
    assert "counts as empty" in caplog.text
    assert "cannot be written" in caplog.text


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_a_file_whose_path_cannot_be_looked_up_counts_as_empty(caplog: pytest.LogCaptureFixture) -> None:
    assert ChatCache("x" * 300).get(b"key") is None
    assert "cannot be read" in caplog.text


def test_only_its_owner_reads_the_cache(cache: ChatCache, tmp_path: Path) -> None:
    Cached(ScriptedChat(["Two."]), cache).complete(asking())
    for path in (tmp_path / "deep").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_threads_share_the_cache(tmp_path: Path) -> None:
    chat = ScriptedChat(lambda request: request.messages[-1].content)
    model = Cached(chat, ChatCache(tmp_path / "answers.db"))
    found: list[bool] = []

    def work() -> None:
        found.extend(model.complete(asking(str(i))).text == str(i) for i in range(10))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [True] * 40


def test_a_cache_keeps_something() -> None:
    with pytest.raises(InputError, match="keeps at least one"):
        ChatCache("x", keep_s=0)


# The account


def cost(prompt: int, completion: int, cached: int = 0) -> Completion:
    return Completion((Choice("x"),), Usage(prompt, completion, cached), "m")


def test_what_was_spent_is_told_by_purpose(ask: Asks) -> None:
    chat = ScriptedChat([cost(100, 10), cost(200, 20, 50), busy(), replace(cost(9, 9), cached=True, calls=0)])
    meter = Meter(chat, price=Price(prompt=1.0, completion=10.0, cached=0.5, currency="EUR"))
    ask(meter.asking("draft"), asking())
    ask(meter.asking("answers"), asking())
    with pytest.raises(ChatError):
        ask(meter.asking("answers"), asking())
    ask(meter.asking("answers"), asking())
    draft, answers = meter.spending
    assert (draft.purpose, draft.calls, draft.prompt_tokens, draft.completion_tokens) == ("draft", 1, 100, 10)
    assert draft.cost == pytest.approx(200e-6)
    assert (answers.requests, answers.from_cache, answers.failures, answers.calls) == (3, 1, 1, 2)
    assert (answers.prompt_tokens, answers.cached_tokens) == (200, 50)
    assert answers.cost == pytest.approx((150 + 25 + 200) / 1e6)
    assert answers.currency == "EUR"


def test_without_a_price_nothing_is_said_of_money() -> None:
    meter = Meter(ScriptedChat(["x"]))
    meter.asking("draft").complete(asking())
    assert meter.spending[0].cost is None


def test_calls_are_bounded_retries_included(ask: Asks) -> None:
    chat = ScriptedChat([busy() for _ in range(9)])
    meter = Meter(Retrying(chat, Retries(most=9, first_s=0.0)), Budget(calls=4))
    with pytest.raises(ChatError, match=BUSY):
        ask(meter.asking("draft"), asking())
    assert len(chat.requests) == 4
    with pytest.raises(BudgetError, match="4 calls"):
        ask(meter.asking("draft"), asking())
    assert len(chat.requests) == 4


def test_tokens_are_bounded_before_they_are_spent(ask: Asks) -> None:
    chat = ScriptedChat([cost(100, 100)] * 9)
    meter = Meter(chat, Budget(tokens=450))
    model = meter.asking("draft")
    ask(model, asking(max_tokens=150))
    ask(model, asking(max_tokens=150))
    with pytest.raises(BudgetError, match="450 tokens"):
        ask(model, asking(max_tokens=150))
    assert len(chat.requests) == 2


def test_time_is_bounded_and_a_request_gets_what_is_left(ask: Asks, clock: Time) -> None:
    chat = ScriptedChat(["x"] * 3)
    model = Meter(chat, Budget(seconds=10.0), clock=clock).asking("draft")
    ask(model, asking())
    clock.now += 7.0
    ask(model, asking(timeout=60.0))
    assert [request.timeout for request in chat.requests] == [10.0, 3.0]
    clock.now += 3.0
    with pytest.raises(BudgetError, match="10 seconds"):
        ask(model, asking())


def test_money_is_bounded_and_needs_a_price(ask: Asks) -> None:
    with pytest.raises(InputError, match="needs the price"):
        Meter(ScriptedChat([]), Budget(cost=1.0))
    model = Meter(ScriptedChat(["x"]), Budget(cost=0.001), Price(1.0, 1.0)).asking("draft")
    with pytest.raises(BudgetError, match=r"may cost 0\.001"):
        ask(model, asking(max_tokens=2_000))


def test_requests_under_way_count_against_the_budget() -> None:
    async def scene() -> None:
        counting = Counting()
        model = Meter(counting, Budget(calls=3)).asking("draft")
        made = await asyncio.gather(*(model.acomplete(asking()) for _ in range(10)), return_exceptions=True)
        assert sum(isinstance(one, Completion) for one in made) == 3
        assert sum(isinstance(one, BudgetError) for one in made) == 7

    play(scene)


def test_a_request_that_was_broken_off_counts_as_spent() -> None:
    async def scene() -> None:
        meter = Meter(_Endless())
        task = asyncio.create_task(meter.asking("draft").acomplete(asking(max_tokens=500)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        (spending,) = meter.spending
        assert (spending.calls, spending.failures, spending.completion_tokens) == (1, 1, 500)

    play(scene)


class _Endless:
    name = "endless"
    digest = "d"

    def complete(self, request: ChatRequest) -> Completion:
        raise AssertionError

    async def acomplete(self, request: ChatRequest) -> Completion:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("bound", [{"calls": -1}, {"tokens": -1}, {"seconds": float("nan")}, {"cost": -0.5}], ids=str)
def test_a_budget_is_not_negative(bound: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="0 or more"):
        Budget(**bound)


# The whole


@pytest.mark.parametrize(
    "settings", [{"n": 0}, {"n": 33}, {"max_tokens": 0}, {"temperature": -0.1}, {"temperature": 2.1}], ids=str
)
def test_a_request_that_no_endpoint_can_answer_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        asking(**settings)
    with pytest.raises(InputError, match="at least one message"):
        ChatRequest(())


@pytest.mark.parametrize(
    ("model", "url", "form"),
    [
        ("gpt-5", None, ("openai", "gpt-5")),
        ("llama3.2:3b", "http://localhost:11434/v1", ("openai", "llama3.2:3b")),
        ("claude-sonnet", None, ("anthropic", "claude-sonnet")),
        ("claude-sonnet", "http://localhost/v1", ("openai", "claude-sonnet")),
        ("anthropic:claude-sonnet", "http://localhost", ("anthropic", "claude-sonnet")),
        ("azure:team", None, ("azure", "team")),
        ("openai:claude-like", None, ("openai", "claude-like")),
    ],
)
def test_the_form_of_an_endpoint_is_in_the_name(model: str, url: str | None, form: tuple[str, str]) -> None:
    assert form_of(model, url) == form
    assert Chat(model, base_url=url, api_key="k").name == form[1]


def test_a_blank_name_is_refused() -> None:
    with pytest.raises(InputError, match="a name"):
        Chat("  ")


def test_a_chat_keeps_answers_where_it_is_told_to(tmp_path: Path) -> None:
    options = ChatOptions(cache=tmp_path / "answers.db", retries=Retries(most=0))
    with Chat("m", base_url="http://127.0.0.1:1/v1", api_key="k", options=options) as chat:
        ChatCache(tmp_path / "answers.db").put(request_key(chat.digest, asking()), Completion((Choice("Two."),)))
        assert chat.complete(asking()).cached
        with pytest.raises(ChatError):
            chat.complete(asking("Something else?"))


def test_a_local_server_needs_no_key_and_the_service_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ChatError, match="could not be reached"):
        OpenAIChat("m", base_url="http://127.0.0.1:1/v1").complete(asking())
    with pytest.raises(ChatError, match="client cannot be made"):
        OpenAIChat("m").complete(asking())


@pytest.mark.parametrize("model", ["m", "anthropic:m", "azure:m"])
@pytest.mark.parametrize(
    "address", ["http://[::1", "http://exa\x00mple/", "http://x:port/v1", "http://a..b/", f"http://{'a' * 64}/v1"]
)
def test_a_base_url_that_cannot_be_read_is_a_chat_error(model: str, address: str) -> None:
    async def both() -> None:
        with Chat(
            model, base_url=address, api_key="k", api_version="1", options=ChatOptions(retries=Retries(0))
        ) as chat:
            with pytest.raises(ChatError):
                chat.complete(asking())
            with pytest.raises(ChatError):
                await chat.acomplete(asking())
            await chat.aclose()

    asyncio.run(both())
