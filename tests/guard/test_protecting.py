"""What does not pass does not come out of a protected function, and a rejected call is not executed."""

import asyncio
import functools
from collections.abc import Iterator
from typing import Any

import pytest
from tests.guard.runs import ASKED, FALSE, FOUND, ORDER, TRUE, transcript

from assay.errors import AssayError, CallRejectedError, InputError, WithheldError
from assay.guard import Answer, Guard
from assay.policy import PRESETS
from assay.schema import Action, HallucinationReport
from assay.schema.run.builder import RunBuilder
from assay.schema.run.model import Run, ToolResult
from assay.schema.traces import read_run
from assay.testing import FailingScorer, FakeScorer

EVIDENCE = ["The hall is painted red.", "The door costs 7 euros."]
GOOD = "The hall is painted red."
BAD = "The door costs 5 euros."

guard = Guard("general", scorer=FakeScorer())


# --- functions -----------------------------------------------------------------------------------------------------


def test_an_answer_that_passes_comes_back_as_it_is() -> None:
    @guard.protect(evidence=EVIDENCE)
    def answer(question: str) -> str:
        "Answers."
        return GOOD

    assert answer("What colour?") == GOOD
    assert answer.__doc__ == "Answers."


def test_an_answer_that_fails_raises_with_its_report_and_a_text_to_show() -> None:
    protected = guard.protect(lambda: BAD, evidence=EVIDENCE)
    with pytest.raises(WithheldError) as caught:
        protected()
    report = caught.value.report
    assert isinstance(report, HallucinationReport)
    assert report.action is Action.BLOCK
    assert str(caught.value) == report.decision.response
    assert "5 euros" not in str(caught.value)


def test_the_caller_may_have_the_safe_answer_instead() -> None:
    said = guard.protect(lambda: BAD, evidence=EVIDENCE, on_withheld="answer")()
    assert said.startswith("This answer was withheld.")


def test_an_answer_that_would_be_revised_is_withheld_where_nobody_revises_it() -> None:
    said = guard.protect(lambda: "The lamp is off.", evidence=EVIDENCE, on_withheld="answer")()
    assert said.startswith("This answer was withheld. The available documents do not support")


def test_evidence_and_question_may_hang_on_the_arguments() -> None:
    asked: list[Any] = []

    def evidence(topic: str) -> list[str]:
        asked.append(topic)
        return [f"The {topic} is painted red."]

    protected = guard.protect(lambda topic: f"The {topic} is painted red.", evidence=evidence, question=lambda t: t)
    assert protected("gate") == "The gate is painted red."
    assert asked == ["gate"]


def test_evidence_that_can_be_read_once_serves_every_call() -> None:
    def once() -> Iterator[str]:
        yield from EVIDENCE

    protected = guard.protect(lambda: GOOD, evidence=once())
    assert [protected(), protected()] == [GOOD, GOOD]


def test_without_evidence_nothing_passes() -> None:
    with pytest.raises(WithheldError):
        guard.protect(lambda: GOOD)()


def test_an_answer_may_bring_its_own_evidence() -> None:
    good = guard.protect(lambda: Answer(GOOD, EVIDENCE), on_withheld="answer")()
    bad = guard.protect(lambda: Answer(BAD, EVIDENCE), on_withheld="answer")()
    assert good == Answer(GOOD, EVIDENCE)
    assert bad.text.startswith("This answer was withheld.")


def test_a_run_comes_back_and_a_withheld_one_ends_with_the_safe_answer() -> None:
    good, bad = read_run(transcript(TRUE, FOUND)), read_run(transcript(FALSE, FOUND))
    assert guard.protect(lambda: good)() is good
    said = guard.protect(lambda: bad, on_withheld="answer")()
    assert isinstance(said, Run)
    assert (said.final_answer or "").startswith("This answer was withheld.")
    assert all(FALSE not in str(step) for step in said.steps)
    builder = RunBuilder.from_run(good)
    assert guard.protect(lambda: builder)() is builder


@pytest.mark.parametrize("value", [None, 7, b"text", ["text"], {"messages": []}])
def test_what_is_neither_text_nor_a_run_is_an_error(value: Any) -> None:
    with pytest.raises(InputError, match="read"):
        guard.protect(lambda: value, evidence=EVIDENCE, on_withheld="answer")()


def test_read_makes_an_answer_of_another_value() -> None:
    raw = {"text": GOOD}
    assert guard.protect(lambda: raw, evidence=EVIDENCE, read=lambda value: value["text"])() is raw
    assert guard.protect(lambda: transcript(TRUE, FOUND), read=read_run)() == transcript(TRUE, FOUND)


def test_every_report_is_handed_on() -> None:
    seen: list[Action] = []
    for text in (GOOD, BAD):
        guard.protect(
            lambda said=text: said,
            evidence=EVIDENCE,
            on_withheld="answer",
            on_report=lambda report: seen.append(report.action),
        )()
    assert seen == [Action.EMIT, Action.BLOCK]


def test_a_failing_answer_goes_back_to_its_author() -> None:
    protected = guard.protect(
        lambda: f"{GOOD} {BAD}", evidence=EVIDENCE, author=lambda feedback: feedback.output.replace("5", "7")
    )
    assert protected() == f"{GOOD} The door costs 7 euros."


def test_a_run_whose_answer_fails_goes_back_to_its_author() -> None:
    run = read_run(transcript(f"{TRUE} {FALSE}", FOUND))
    said = guard.protect(lambda: run, author=lambda _: TRUE)()
    assert said.final_answer == TRUE
    assert len(said.steps) == len(run.steps)


@pytest.mark.parametrize("policy", PRESETS)
def test_a_broken_checker_lets_nothing_out(policy: str) -> None:
    if policy == "creative":
        pytest.skip("creative holds no claims to evidence")
    broken = Guard(policy, scorer=FailingScorer())
    with pytest.raises(WithheldError):
        broken.protect(lambda: GOOD, evidence=EVIDENCE)()


def test_errors_of_the_function_pass_through() -> None:
    def fails() -> str:
        raise KeyError("gone")

    with pytest.raises(KeyError):
        guard.protect(fails, on_withheld="answer")()


def test_coroutine_functions_stay_coroutine_functions() -> None:
    async def answer(text: str) -> str:
        await asyncio.sleep(0)
        return text

    async def evidence(text: str) -> list[str]:
        await asyncio.sleep(0)
        return EVIDENCE

    async def author(feedback: Any) -> str:
        await asyncio.sleep(0)
        return str(feedback.output).replace("5", "7")

    protected = guard.protect(answer, evidence=evidence)
    revised = guard.protect(answer, evidence=evidence, author=author)
    assert asyncio.iscoroutinefunction(protected)
    assert asyncio.run(protected(GOOD)) == GOOD
    assert asyncio.run(revised(f"{GOOD} {BAD}")) == f"{GOOD} The door costs 7 euros."
    with pytest.raises(WithheldError):
        asyncio.run(protected(BAD))


def test_awaited_evidence_that_can_be_read_once_serves_every_version() -> None:
    async def answer() -> str:
        return f"{GOOD} {BAD}"

    async def evidence() -> Iterator[str]:
        return iter(EVIDENCE)

    async def author(feedback: Any) -> str:
        return str(feedback.output).replace("5", "7")

    protected = guard.protect(answer, evidence=evidence, author=author)
    assert asyncio.run(protected()) == f"{GOOD} The door costs 7 euros."


def test_sync_and_async_protection_agree() -> None:
    def answer(text: str) -> str:
        return text

    async def waited(text: str) -> str:
        return text

    for text in (GOOD, BAD, "", "Hello!", "The lamp is off."):
        direct = guard.protect(answer, evidence=EVIDENCE, on_withheld="answer")(text)
        later = asyncio.run(guard.protect(waited, evidence=EVIDENCE, on_withheld="answer")(text))
        assert direct == later


def test_an_awaitable_from_a_plain_function_does_not_slip_through() -> None:
    async def answer() -> str:
        return GOOD

    coroutine = answer()
    with pytest.raises(InputError):
        _ = guard.protect(lambda: coroutine, evidence=EVIDENCE)()
    coroutine.close()


def test_a_generator_is_refused() -> None:
    def answer() -> Iterator[str]:
        yield GOOD

    with pytest.raises(InputError, match="generator"):
        guard.protect(answer)


def test_settings_of_another_kind_are_refused() -> None:
    with pytest.raises(InputError):
        guard.protect(lambda: GOOD, on_withheld="emit")  # type: ignore[call-overload]
    with pytest.raises(InputError):
        guard.protect("text")  # type: ignore[call-overload]


# --- tools ---------------------------------------------------------------------------------------------------------


def get_order(order_id: str, *, fast: bool = False) -> str:
    "Gets an order."
    DONE.append(order_id)
    if order_id == "W-13":
        raise LookupError("no such order")
    return FOUND[2] or ""


async def get_order_later(order_id: str) -> dict[str, str]:
    "Gets an order."
    await asyncio.sleep(0)
    DONE.append(order_id)
    return {"order_id": order_id}


DONE: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    DONE.clear()


def test_a_good_call_is_executed_and_recorded() -> None:
    watch = guard.watch()
    watch.user(ASKED)
    tool = guard.protect_tool(get_order, watch=watch)
    assert tool("W-17") == FOUND[2]
    assert DONE == ["W-17"]
    watch.model(TRUE)
    report = watch.report()
    assert report.action is Action.EMIT
    assert [(v.tool, v.args, v.status, v.executed) for v in report.tool_call_validations] == [
        ("get_order", {"order_id": "W-17"}, "accepted", True)
    ]


def test_a_rejected_call_is_not_executed_and_the_model_is_told() -> None:
    watch = guard.watch()
    watch.user(ASKED)
    tool = guard.protect_tool(get_order, watch=watch)
    said = tool(order_id="W-99")
    assert DONE == []
    assert "W-99" in said
    assert "was not executed" in said
    result = watch.run().steps[-1]
    assert isinstance(result, ToolResult)
    assert result.is_error is True
    assert tool(order_id="W-17") == FOUND[2]
    watch.model(TRUE)
    report = watch.report()
    assert [v.status for v in report.tool_call_validations] == ["rejected", "accepted"]
    assert report.action is Action.EMIT


def test_a_rejected_call_raises_where_the_caller_wants_that() -> None:
    watch = guard.watch()
    watch.user(ASKED)
    tool = guard.protect_tool(get_order, watch=watch, on_rejected="raise")
    with pytest.raises(CallRejectedError) as caught:
        tool("W-99")
    assert "W-99" in str(caught.value)
    assert isinstance(caught.value, AssayError)
    assert DONE == []


@pytest.mark.parametrize("named", [{}, {"order_id": 7}, {"order_id": "W-17", "all": True}, {"order": "W-17"}])
def test_arguments_that_break_the_signature_never_reach_the_tool(named: dict[str, Any]) -> None:
    watch = guard.watch()
    watch.user(ASKED)
    assert "was not executed" in guard.protect_tool(get_order, watch=watch)(**named)
    assert DONE == []


@pytest.mark.parametrize(
    ("args", "named"), [(("W-17", True), {}), (("W-17",), {"order_id": "W-17"}), ((object(),), {})]
)
def test_arguments_that_cannot_be_read_are_an_error_and_never_reach_the_tool(
    args: tuple[Any, ...], named: dict[str, Any]
) -> None:
    with pytest.raises(InputError):
        guard.protect_tool(get_order, watch=guard.watch())(*args, **named)
    assert DONE == []


def test_a_tool_that_raises_is_recorded_as_failed() -> None:
    watch = guard.watch()
    watch.user("Where is order W-13?")
    with pytest.raises(LookupError):
        guard.protect_tool(get_order, watch=watch)("W-13")
    watch.model("Order W-13 is in Hamburg.")
    report = watch.report()
    assert report.tool_call_validations[0].executed is False
    assert report.action is not Action.EMIT


def test_a_declaration_may_be_given_beside_the_tool() -> None:
    watch = guard.watch()
    watch.user(ASKED)

    def any_tool(**named: Any) -> str:
        return str(named)

    declaration = {"type": "function", "function": {"name": "get_order", "parameters": ORDER}}
    tool = guard.protect_tool(any_tool, declaration, watch=watch)
    assert tool(order_id="W-17") == "{'order_id': 'W-17'}"
    assert "was not executed" in tool(id="W-17")


def test_asynchronous_tools_stay_asynchronous_and_parallel_calls_are_all_recorded() -> None:
    watch = guard.watch()
    watch.user("Where are orders W-1, W-2, W-3 and W-4?")
    tool = guard.protect_tool(get_order_later, watch=watch)

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(tool(order_id=f"W-{n}") for n in (1, 2, 3, 4, 5)))

    found = asyncio.run(all_of_them())
    assert sorted(DONE) == ["W-1", "W-2", "W-3", "W-4"]
    assert "was not executed" in found[4]
    statuses = [v.status for v in watch.report().tool_call_validations]
    assert sorted(statuses) == ["accepted"] * 4 + ["rejected"]


def test_a_plain_tool_that_gives_something_to_await_is_an_error() -> None:
    watch = guard.watch()
    watch.user(ASKED)
    made = []

    def tool(order_id: str) -> Any:
        "Gets an order."
        made.append(get_order_later(order_id))
        return made[0]

    with pytest.raises(InputError, match="async def"):
        guard.protect_tool(tool, watch=watch)("W-17")
    made[0].close()


def test_several_tools_share_one_run() -> None:
    watch = guard.watch()
    watch.user(ASKED)

    def cancel_order(order_id: str) -> str:
        "Cancels an order."
        return f"cancelled {order_id}"

    find, cancel = guard.protect_tools([get_order, cancel_order], watch=watch)
    find("W-17")
    assert cancel("W-17") == "cancelled W-17"
    watch.model("I have cancelled order W-17.")
    assert watch.report().action is Action.EMIT


def test_a_partial_function_is_a_tool_with_the_arguments_that_are_left() -> None:
    watch = guard.watch()
    watch.user(ASKED)
    tool = guard.protect_tool(
        functools.partial(get_order, fast=True), {"name": "get_order", "parameters": ORDER}, watch=watch
    )
    assert tool(order_id="W-17") == FOUND[2]


# --- a growing run -------------------------------------------------------------------------------------------------


class Counting(FakeScorer):
    """Counts the pairs that it is asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs = 0

    def _judge(self, premise: str, claim: str) -> tuple[float, float, float]:
        self.pairs += 1
        return super()._judge(premise, claim)


def test_checking_calls_asks_the_network_nothing() -> None:
    scorer = Counting()
    watch = Guard("general", scorer=scorer).watch(read_run(transcript(None, FOUND)))
    watch.add(*read_run(transcript(None, FOUND, FOUND)).steps[-2:])
    assert scorer.pairs == 0


def test_a_watched_run_gets_the_report_of_the_whole_run() -> None:
    run = read_run(transcript(f"{TRUE} {FALSE}", FOUND, ("cancel_order", {"id": 1}, "Error: bad")))
    watch = guard.watch(run.model_copy(update={"steps": run.steps[:3]}))
    for step in run.steps[3:]:
        watch.add(step)
    watched, whole = watch.report(), guard.check_run(run)
    assert watched.model_dump(exclude={"timing"}) == whole.model_dump(exclude={"timing"})
    assert asyncio.run(watch.areport()).model_dump(exclude={"timing"}) == whole.model_dump(exclude={"timing"})


def test_attempts_begin_anew_with_the_next_user_input() -> None:
    watch = guard.watch(retries=0)
    watch.user(ASKED)
    tool = guard.protect_tool(get_order, watch=watch)
    assert "Do not call it again" in tool("W-99")
    watch.user("And order W-18?")
    assert tool("W-18") == FOUND[2]
