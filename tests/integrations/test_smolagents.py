"""A smolagents agent behind the guard: no rejected call is executed and no answer that does not pass comes out."""

from typing import Any

import pytest
from tests.integrations.orders import ASKED, FALSE, TRUE, WITHHELD, Shop, guard

from assay.errors import CallRejectedError, InputError, WithheldError
from assay.schema import HallucinationReport

pytest.importorskip("smolagents", reason="needs the extra smolagents: pip install 'assay-ai[smolagents]'")

from smolagents import ChatMessage, CodeAgent, Model, PythonInterpreterTool, ToolCallingAgent, tool
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


def clerk(shop: Shop, *said: Any, **options: Any) -> Any:
    return ToolCallingAgent(
        tools=[shop_tool(shop)],
        model=Scripted(*said),
        name="clerk",
        description="Looks up orders.",
        verbosity_level=0,
        **options,
    )


def ask(task: str) -> list[tuple[str, dict[str, str]]]:
    return [("clerk", {"task": task})]


def managing(inner: Any, *said: Any) -> Any:
    manager = ToolCallingAgent(tools=[], managed_agents=[inner], model=Scripted(*said), verbosity_level=0)
    return checked_agent(manager, guard, on_withheld="answer")


PACKED = "Order W-17 was packed by Maria."
"""What no tool says."""


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


def test_a_managed_agent_is_behind_the_guard_and_its_manager_has_what_its_tools_returned() -> None:
    shop = Shop()
    manager = managing(clerk(shop, order("W-17"), answer(TRUE)), ask("Where is order W-17?"), answer(TRUE))
    assert manager.run(ASKED) == TRUE
    assert shop.asked == ["W-17"]


def test_what_a_manager_asks_is_no_evidence_of_what_it_says() -> None:
    """The words of its task are a model's: they bear out no answer and trace no argument."""
    shop = Shop()
    assert managing(clerk(shop, answer(PACKED)), ask(PACKED), answer(PACKED)).run(ASKED).startswith(WITHHELD)
    inner = clerk(shop, order("W-99"), answer("I do not know."))
    managing(inner, ask("Where is order W-99?"), answer("I do not know.")).run(ASKED)
    assert shop.asked == []


def test_a_managed_agent_has_the_evidence_of_its_manager() -> None:
    shop = Shop()
    inner = clerk(Shop(), answer(TRUE))
    manager = ToolCallingAgent(
        tools=[shop_tool(shop)],
        managed_agents=[inner],
        model=Scripted(order("W-17"), ask("Say where it is."), answer(TRUE)),
        verbosity_level=0,
    )
    assert checked_agent(manager, guard).run(ASKED) == TRUE


@pytest.mark.parametrize("summary", [False, True])
def test_what_a_managed_agent_reports_is_no_evidence(summary: bool) -> None:
    """A summary has the answers that were rejected, too."""
    inner = clerk(Shop(), order("W-17"), answer(PACKED), answer(TRUE), provide_run_summary=summary)
    assert managing(inner, ask("Where is order W-17?"), answer(PACKED)).run(ASKED).startswith(WITHHELD)


def test_a_managed_agent_that_is_asked_by_itself_later_has_nothing_of_the_manager() -> None:
    inner = clerk(Shop(), answer("I do not know."), answer(PACKED))
    managing(inner, ask(PACKED), answer("I do not know.")).run(ASKED)
    assert inner.run(f"I say: {PACKED} Who packed it?") == PACKED  # a user says so
    managing_again = clerk(Shop(), answer("I do not know."), answer(PACKED))
    managing(managing_again, ask(PACKED), answer("I do not know.")).run(ASKED)
    assert managing_again.run("Who packed it?", reset=False).startswith(WITHHELD)


def test_what_a_model_lets_a_program_print_is_no_evidence() -> None:
    code = [("python_interpreter", {"code": f"print({PACKED!r})"})]
    agent = ToolCallingAgent(tools=[PythonInterpreterTool()], model=Scripted(code, answer(PACKED)), verbosity_level=0)
    assert checked_agent(agent, guard, on_withheld="answer").run(ASKED).startswith(WITHHELD)


def test_an_invented_id_that_was_refused_once_is_refused_again() -> None:
    """The refusal quotes it, and is no source."""
    shop = Shop()
    calling(shop, Scripted(order("W-99"), order("W-17"), order("W-99"), answer(TRUE))).run(ASKED)
    assert shop.asked == ["W-17"]


@pytest.mark.parametrize(
    "code",
    [
        'get_order._inner(order_id="W-99")',
        'get_order.forward(order_id="W-99")',
        'getattr(get_order, "_inner")(order_id="W-99")',
        'get_order._checked._agent.tools["get_order"]._inner(order_id="W-99")',
        'get_order("W-17", "W-99")',
        'get_order("W-17", order_id="W-99")',
        'get_order({"order_id": "W-99"})',
        "frames = (x for x in [1])\nprint(frames.gi_frame.f_back)",
        """class Name(str):
    def startswith(self, *found):
        return False
    def endswith(self, *found):
        return False
cells = getattr(get_order, Name("__closure__"))
for cell in cells:
    for way in (cell.cell_contents, getattr(cell.cell_contents, "_inner")):
        way(order_id="W-99")""",
        """class Order(str):
    def __str__(self):
        return "W-99"
get_order(Order("W-17"))""",
    ],
)
def test_code_finds_no_way_around_the_check_of_a_tool(code: str) -> None:
    shop = Shop()
    assert coding(shop, code, f'get_order("W-17")\nfinal_answer("{TRUE}")').run(ASKED) == TRUE
    assert "W-99" not in shop.asked


def test_what_comes_out_is_plain_data_as_it_was_checked() -> None:
    hides = f"""get_order("W-17")
class Answer:
    text = "{FALSE}"
    def __repr__(self):
        return "{TRUE}"
final_answer(Answer())"""
    found = coding(Shop(), hides).run(ASKED)
    assert found == TRUE
    assert type(found) is str
    assert coding(Shop(), f'get_order("W-17")\nfinal_answer({{"where": ("{TRUE}",)}})').run(ASKED) == {"where": [TRUE]}


@pytest.mark.parametrize("said", [TRUE, None, [], {}])
def test_the_names_in_a_structured_answer_are_checked_where_they_are_sentences(said: Any) -> None:
    with pytest.raises(WithheldError):
        calling(Shop(), Scripted(order("W-17"), answer({"where": TRUE, FALSE: said}))).run(ASKED)


def test_tools_that_are_added_later_are_checked_as_well() -> None:
    shop = Shop()
    agent = ToolCallingAgent(
        tools=[], model=Scripted(order("W-99"), order("W-17"), answer(TRUE)), max_steps=8, verbosity_level=0
    )
    checked_agent(agent, guard)
    agent.tools["get_order"] = shop_tool(shop)
    assert agent.run(ASKED) == TRUE
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
    without_tools = CodeAgent(tools=[], model=Scripted("x"), verbosity_level=0)
    checked_agent(without_tools, guard)
    with pytest.raises(InputError, match="already"):
        checked_agent(without_tools, guard)
    assert len(without_tools.final_answer_checks) == 1


def test_an_agent_whose_code_has_had_its_tools_unchecked_is_refused() -> None:
    code = 'Thought.\n<code>\nkept = get_order\nfinal_answer("I do not know.")\n</code>'
    agent = CodeAgent(tools=[shop_tool(Shop())], model=Scripted(code), verbosity_level=0)
    agent.run(ASKED)
    with pytest.raises(InputError, match="before its first run"):
        checked_agent(agent, guard)


def test_where_one_agent_is_refused_none_is_changed() -> None:
    inner = clerk(Shop(), answer(TRUE))
    checked_agent(inner, guard)
    manager = ToolCallingAgent(
        tools=[shop_tool(Shop())], managed_agents=[inner], model=Scripted(answer(TRUE)), verbosity_level=0
    )
    before = dict(manager.tools)
    with pytest.raises(InputError, match="already"):
        checked_agent(manager, guard)
    assert manager.tools == before
