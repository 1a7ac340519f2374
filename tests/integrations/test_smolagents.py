"""A smolagents agent behind the guard: no rejected call is executed and no answer that does not pass comes out."""

from typing import Any

import pytest
from tests.integrations.orders import ASKED, FALSE, TRUE, WITHHELD, Shop, guard

from assay.errors import CallRejectedError, InputError, WithheldError
from assay.schema import HallucinationReport

pytest.importorskip("smolagents", reason="needs the extra smolagents: pip install 'assay-ai[smolagents]'")

from smolagents import ChatMessage, CodeAgent, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

from assay.integrations.agents.smolagents import checked_agent


class Scripted(Model):
    """Says what a test wrote down; the last of it again and again."""

    def __init__(self, *said: Any) -> None:
        super().__init__(model_id="scripted")
        self.said = list(said)
        self.asked: list[Any] = []

    def generate(self, messages: Any, **how: Any) -> ChatMessage:
        self.asked.append(messages)
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        if isinstance(said, str):
            return ChatMessage(role="assistant", content=said)
        calls = [
            ChatMessageToolCall(
                id=f"c{len(self.asked)}-{n}",
                type="function",
                function=ChatMessageToolCallFunction(name=name, arguments=arguments),
            )
            for n, (name, arguments) in enumerate(said)
        ]
        return ChatMessage(role="assistant", content=None, tool_calls=calls)


def order(*ids: str) -> list[tuple[str, dict[str, str]]]:
    return [("get_order", {"order_id": one}) for one in ids]


def answer(text: Any) -> list[tuple[str, dict[str, Any]]]:
    return [("final_answer", {"answer": text})]


def shop_tool(shop: Shop) -> Any:
    def get_order(order_id: str) -> str:
        """Gets an order.

        Args:
            order_id: which one.
        """
        return shop.get_order(order_id)

    return tool(get_order)


def calling(shop: Shop, model: Scripted, *, max_steps: int = 8, **options: Any) -> Any:
    agent = ToolCallingAgent(tools=[shop_tool(shop)], model=model, max_steps=max_steps, verbosity_level=0)
    return checked_agent(agent, guard, **options)


def coding(shop: Shop, *said: str, **options: Any) -> Any:
    model = Scripted(*(f"Thought.\n<code>\n{code}\n</code>" for code in said))
    agent = CodeAgent(tools=[shop_tool(shop)], model=model, max_steps=6, verbosity_level=0)
    return checked_agent(agent, guard, **options)


def told(model: Scripted) -> str:
    """What the model was told last."""
    return str(model.asked[-1][-1].content)


def test_an_honest_answer_comes_out_with_its_report() -> None:
    shop = Shop()
    seen: list[HallucinationReport] = []
    agent = calling(shop, Scripted(order("W-17"), answer(TRUE)), on_report=seen.append)
    assert agent.run(ASKED) == TRUE
    assert shop.asked == ["W-17"]
    assert [type(one) for one in seen] == [HallucinationReport]


def test_an_invented_id_never_reaches_the_tool_and_the_model_is_told_why() -> None:
    shop, model = Shop(), Scripted(order("W-99"), order("W-17"), answer(TRUE))
    assert calling(shop, model).run(ASKED) == TRUE
    assert shop.asked == ["W-17"]
    assert "was not executed" in str(model.asked[1][-1].content)


def test_of_parallel_calls_only_the_honest_one_is_executed() -> None:
    shop = Shop()
    agent = calling(shop, Scripted(order("W-17", "W-99"), answer(TRUE)))
    assert agent.run(ASKED) == TRUE
    assert shop.asked == ["W-17"]


def test_a_wrong_answer_goes_back_to_the_model_with_what_is_wrong() -> None:
    model = Scripted(order("W-17"), answer(FALSE), answer(TRUE))
    assert calling(Shop(), model).run(ASKED) == TRUE
    assert "3 May 2026" in told(model)


def test_an_answer_that_stays_wrong_is_withheld_long_before_the_last_step() -> None:
    model = Scripted(order("W-17"), answer(FALSE))
    with pytest.raises(WithheldError):
        calling(Shop(), model, max_steps=20).run(ASKED)
    assert len(model.asked) <= 5
    said = calling(Shop(), Scripted(order("W-17"), answer(FALSE)), on_withheld="answer").run(ASKED)
    assert said.startswith(WITHHELD)
    assert "9 May" not in said


def test_the_answer_that_is_asked_for_when_the_steps_are_used_up_is_checked_too() -> None:
    """smolagents asks for it outside of `final_answer_checks`."""
    script = [order("W-17"), order("W-17"), FALSE]
    with pytest.raises(WithheldError):
        calling(Shop(), Scripted(*script), max_steps=2).run(ASKED)
    said = calling(Shop(), Scripted(*script), max_steps=2, on_withheld="answer").run(ASKED)
    assert said.startswith(WITHHELD)
    assert calling(Shop(), Scripted(order("W-17"), order("W-17"), TRUE), max_steps=2).run(ASKED) == TRUE


def test_a_model_that_does_not_listen_is_stopped() -> None:
    shop, model = Shop(), Scripted(*(order(f"X-{n}") for n in range(50)))
    with pytest.raises(CallRejectedError):
        calling(shop, model, max_steps=40).run(ASKED)
    assert shop.asked == []
    assert len(model.asked) < 6
    model = Scripted(*(order(f"X-{n}") for n in range(50)))
    assert calling(Shop(), model, max_steps=40, on_withheld="answer").run(ASKED).startswith(WITHHELD)


def test_calls_that_code_makes_are_checked_and_traced_alike() -> None:
    shop = Shop()
    assert coding(shop, 'found = get_order("W-17")\nprint(found)', f'final_answer("{TRUE}")').run(ASKED) == TRUE
    assert coding(shop, f'get_order(order_id="W-17")\nfinal_answer("{TRUE}")').run(ASKED) == TRUE
    assert shop.asked == ["W-17", "W-17"]
    with pytest.raises(WithheldError):
        coding(shop, f'get_order("W-17")\nfinal_answer("{FALSE}")').run(ASKED)
    refused = coding(shop, 'get_order("W-99")', f'get_order("W-17")\nfinal_answer("{TRUE}")')
    assert refused.run(ASKED) == TRUE
    assert "W-99" not in shop.asked


def test_a_structured_answer_is_never_replaced_by_words_of_its_own() -> None:
    agent = calling(Shop(), Scripted(order("W-17"), answer({"answer": TRUE})))
    assert agent.run(ASKED) == {"answer": TRUE}
    with pytest.raises(WithheldError):
        calling(Shop(), Scripted(order("W-17"), answer({"answer": FALSE}))).run(ASKED)


def test_a_conversation_goes_on_with_what_was_seen_and_a_new_one_does_not() -> None:
    model = Scripted(order("W-17"), answer(TRUE), answer(TRUE))
    agent = calling(Shop(), model)
    agent.run(ASKED)
    assert agent.run("And once more?", reset=False) == TRUE
    with pytest.raises(WithheldError):
        agent.run(ASKED)


def test_a_managed_agent_is_behind_the_guard_as_well() -> None:
    shop = Shop()
    inner = ToolCallingAgent(
        tools=[shop_tool(shop)],
        model=Scripted(order("W-17"), answer(TRUE)),
        name="clerk",
        description="Looks up orders.",
        verbosity_level=0,
    )
    asked = [("clerk", {"task": "Where is order W-17?"})]
    manager = ToolCallingAgent(tools=[], managed_agents=[inner], model=Scripted(asked, answer(TRUE)), verbosity_level=0)
    assert checked_agent(manager, guard).run(ASKED) == TRUE
    assert shop.asked == ["W-17"]


def test_a_full_result_has_the_answer_that_may_be_said() -> None:
    agent = calling(Shop(), Scripted(order("W-17"), answer(FALSE)), on_withheld="answer", attempts=0)
    found = agent.run(ASKED, return_full_result=True)
    assert found.output.startswith(WITHHELD)
    agent = calling(Shop(), Scripted(order("W-17"), answer(TRUE)))
    assert agent.run(ASKED, return_full_result=True).output == TRUE


def test_what_would_go_around_the_check_is_refused() -> None:
    agent = calling(Shop(), Scripted(answer(TRUE)))
    with pytest.raises(InputError, match="stream"):
        agent.run(ASKED, stream=True)
    with pytest.raises(InputError, match="already"):
        checked_agent(agent, guard)
    with pytest.raises(InputError, match="agent of smolagents"):
        checked_agent(object(), guard)
