"""A crew with checked tools and a guardrail: nothing unchecked is executed, and no wrong output is told."""

import json
from typing import Any

import pytest
from pydantic import BaseModel
from tests.integrations.orders import ASKED, FALSE, TRUE, WITHHELD, Shop, guard

from assay.errors import InputError, WithheldError

pytest.importorskip("crewai", reason="needs the extra crewai: pip install 'assay-ai[crewai]'")

from crewai import Agent, BaseLLM, Crew, Task
from crewai.hooks.dispatch import HookAborted, InterceptionPoint, clear
from crewai.tools import tool

from assay.integrations.agents.crewai import CrewChecks

pytestmark = pytest.mark.filterwarnings("default")  # the framework's own, of its dependencies


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CREWAI_DISABLE_TELEMETRY", "OTEL_SDK_DISABLED", "CREWAI_DISABLE_TRACKING", "CREWAI_TESTING"):
        monkeypatch.setenv(name, "true")


class Scripted(BaseLLM):
    """Says what a test wrote down; the last of it again and again."""

    said: list[str]
    asked: list[str]

    def call(self, messages: Any, *args: Any, **how: Any) -> str:
        self.asked.append("\n".join(str(one["content"]) for one in messages))
        return self.said.pop(0) if len(self.said) > 1 else self.said[0]

    def supports_function_calling(self) -> bool:
        return False


def order(order_id: str) -> str:
    return f'Thought: I look it up.\nAction: get_order\nAction Input: {{"order_id": "{order_id}"}}'


def answer(text: str) -> str:
    return f"Thought: I know it now.\nFinal Answer: {text}"


def crew(shop: Shop, *said: str, asked: str = ASKED, checks: CrewChecks | None = None, **options: Any) -> Any:
    model = Scripted(model="scripted", said=list(said), asked=[])
    made = checks or CrewChecks(guard, **options)

    @tool("get_order")
    def get_order(order_id: str) -> str:
        """Gets an order."""
        return shop.get_order(order_id)

    clerk = Agent(
        role="Clerk", goal="Answer.", backstory="You work in a shop.", llm=model, tools=made.tools([get_order])
    )
    task = Task(description=asked, expected_output="Where it is.", agent=clerk, guardrail=made.guardrail)
    return Crew(agents=[clerk], tasks=[task], cache=False), model


def raw(kicked: Any) -> str:
    return kicked[0].kickoff().raw


def test_an_honest_output_comes_out() -> None:
    shop = Shop()
    assert raw(crew(shop, order("W-17"), answer(TRUE))) == TRUE
    assert shop.asked == ["W-17"]


def test_an_invented_id_never_reaches_the_tool_and_the_model_is_told_why() -> None:
    shop = Shop()
    made = crew(shop, order("W-99"), order("W-17"), answer(TRUE))
    assert raw(made) == TRUE
    assert shop.asked == ["W-17"]
    assert "was not executed" in made[1].asked[1]


def test_an_invented_id_that_was_refused_once_is_refused_again() -> None:
    """The refusal quotes it, and is no source."""
    shop = Shop()
    assert raw(crew(shop, order("W-99"), order("W-17"), order("W-99"), answer(TRUE))) == TRUE
    assert shop.asked == ["W-17"]


def test_a_tool_of_another_crew_with_the_same_name_changes_nothing() -> None:
    shop, checks = Shop(), CrewChecks(guard)
    made = crew(shop, order("W-17"), answer(TRUE), checks=checks)

    @tool("get_order")
    def of_the_warehouse(number: int, warehouse: str) -> str:
        """Gets an order of the warehouse."""
        raise AssertionError("not this one")

    checks.tools([of_the_warehouse])
    assert raw(made) == TRUE
    assert shop.asked == ["W-17"]


def test_each_call_is_checked_against_the_tool_that_it_calls() -> None:
    """Two agents of one task may have two tools of one name."""
    seen: list[int] = []

    @tool("get_order")
    def by_number(number: int) -> str:
        """Gets an order by its number."""
        seen.append(number)
        return f"Order 17 is W-17. {TRUE}"

    checks, shop = CrewChecks(guard), Shop()
    boss_model = Scripted(
        model="boss",
        said=[
            'Thought: I look.\nAction: get_order\nAction Input: {"number": 17}',
            "Thought: I ask.\nAction: delegate_work_to_coworker\nAction Input: "
            + json.dumps({"task": ASKED, "context": "None.", "coworker": "Clerk"}),
            'Thought: I look.\nAction: get_order\nAction Input: {"number": 18}',
            answer(TRUE),
        ],
        asked=[],
    )
    made, _ = crew(shop, order("W-17"), answer(TRUE), checks=checks)
    boss = Agent(
        role="Boss",
        goal="Answer.",
        backstory="You lead.",
        llm=boss_model,
        tools=checks.tools([by_number]),
        allow_delegation=True,
    )
    task = Task(
        description=f"{ASKED} It is number 17.", expected_output="Where it is.", agent=boss, guardrail=checks.guardrail
    )
    assert Crew(agents=[boss, *made.agents], tasks=[task], cache=False).kickoff().raw == TRUE
    assert shop.asked == ["W-17"]
    assert seen == [17]


def test_a_wrong_output_goes_back_to_the_agent_with_what_is_wrong() -> None:
    made = crew(Shop(), order("W-17"), answer(FALSE), answer(TRUE))
    assert raw(made) == TRUE
    assert "3 May 2026" in made[1].asked[-1]


def test_an_output_that_stays_wrong_is_withheld_as_an_error_or_in_words() -> None:
    with pytest.raises(WithheldError):
        raw(crew(Shop(), order("W-17"), answer(FALSE)))
    said = raw(crew(Shop(), order("W-17"), answer(FALSE), on_withheld="answer"))
    assert said.startswith(WITHHELD)
    assert "9 May" not in said


def test_a_model_that_does_not_listen_gets_nothing_out() -> None:
    shop = Shop()
    said = raw(crew(shop, *(order(f"X-{n}") for n in range(6)), answer(TRUE), on_withheld="answer"))
    assert said.startswith(WITHHELD)
    assert shop.asked == []


def test_a_later_task_has_the_evidence_of_the_output_that_it_quotes() -> None:
    checks = CrewChecks(guard)
    first, _ = crew(Shop(), order("W-17"), answer(TRUE), checks=checks)
    writer = Agent(
        role="Writer", goal="Write.", backstory="You write.", llm=Scripted(model="s", said=[answer(TRUE)], asked=[])
    )
    letter = Task(description="Write a letter.", expected_output="A letter.", agent=writer, guardrail=checks.guardrail)
    assert Crew(agents=[*first.agents, writer], tasks=[*first.tasks, letter]).kickoff().raw == TRUE
    alone = Agent(
        role="Writer", goal="Write.", backstory="You write.", llm=Scripted(model="s", said=[answer(TRUE)], asked=[])
    )
    letter = Task(description="Write a letter.", expected_output="A letter.", agent=alone, guardrail=checks.guardrail)
    with pytest.raises(WithheldError):
        Crew(agents=[alone], tasks=[letter]).kickoff()


class Status(BaseModel):
    """Where an order is."""

    answer: str


def test_a_structured_output_is_checked_and_never_replaced() -> None:
    def structured(said: str) -> Any:
        made, _ = crew(Shop(), order("W-17"), answer(Status(answer=said).model_dump_json()), on_withheld="answer")
        made.tasks[0].output_pydantic = Status
        return made.kickoff()

    assert structured(TRUE).pydantic == Status(answer=TRUE)
    with pytest.raises(WithheldError):
        structured(FALSE)


DETAIL = "Order W-17 arrives on 3 May 2026."
"""What the tool says besides, and no output before has said."""
PACKED = "Order W-17 was packed by Maria."
"""What no tool says."""


@pytest.mark.parametrize("form", ["output_pydantic", "output_json"])
def test_what_the_converter_makes_of_a_checked_text_is_checked(form: str) -> None:
    """CrewAI asks the model once more for the structure, after the guardrails."""

    def converted(said: str) -> Any:
        made, _ = crew(Shop(), order("W-17"), answer(TRUE), Status(answer=said).model_dump_json())
        setattr(made.tasks[0], form, Status)
        return made.kickoff()

    found = converted(TRUE)
    assert found.to_dict() == {"answer": TRUE}
    assert json.loads(found.raw) == {"answer": TRUE}
    with pytest.raises(WithheldError):
        converted(FALSE)


def test_a_text_beside_the_structured_output_does_not_come_out() -> None:
    made, _ = crew(Shop(), order("W-17"), answer(f"{FALSE} {Status(answer=TRUE).model_dump_json()}"))
    made.tasks[0].output_pydantic = Status
    found = made.kickoff()
    assert found.pydantic == Status(answer=TRUE)
    assert "9 May" not in found.raw


def test_an_output_that_is_changed_after_its_check_ends_the_task() -> None:
    checks = CrewChecks(guard)
    made, _ = crew(Shop(), order("W-17"), answer(TRUE), checks=checks)
    first = made.tasks[0]
    task = Task(
        description=ASKED,
        expected_output="Where it is.",
        agent=first.agent,
        guardrails=[checks.guardrail, lambda output: (True, FALSE)],
    )
    with pytest.raises(HookAborted, match="guardrail last"):
        Crew(agents=made.agents, tasks=[task], cache=False).kickoff()


@pytest.mark.parametrize("on_withheld", ["answer", "raise"])
def test_a_second_kickoff_has_nothing_of_a_first_one_that_was_withheld(on_withheld: Any) -> None:
    made, model = crew(Shop(), order("W-17"), answer(FALSE), on_withheld=on_withheld)
    try:
        assert made.kickoff().raw.startswith(WITHHELD)
    except WithheldError:
        assert on_withheld == "raise"
    model.said[:] = [answer(TRUE)]
    try:
        assert made.kickoff().raw.startswith(WITHHELD)
    except WithheldError:
        assert on_withheld == "raise"


def test_a_prompt_that_happens_to_have_an_output_of_another_crew_has_not_its_evidence() -> None:
    checks = CrewChecks(guard, on_withheld="answer")
    assert raw(crew(Shop(), order("W-17"), answer(TRUE), checks=checks)) == TRUE
    asked = f"I was told: {TRUE} When does it arrive?"
    assert raw(crew(Shop(), answer(DETAIL), asked=asked, checks=checks)).startswith(WITHHELD)


def test_outputs_of_an_earlier_kickoff_trace_no_argument_of_a_later_one() -> None:
    checks, shop = CrewChecks(guard, on_withheld="answer"), Shop()
    first, model = crew(shop, answer("I do not know."), asked="Look for the order.", checks=checks)
    second, other = crew(shop, order("W-17"), answer(TRUE), checks=checks)
    both = Crew(agents=[*first.agents, *second.agents], tasks=[*first.tasks, *second.tasks], cache=False)
    assert both.kickoff().raw == TRUE
    assert shop.asked == ["W-17"]
    model.said[:], other.said[:] = [order("W-17"), answer("I do not know.")], [answer("I do not know.")]
    both.kickoff()
    assert shop.asked == ["W-17"]


def test_a_call_is_made_and_seen_in_every_kickoff_of_a_crew_that_caches() -> None:
    shop = Shop()
    made, model = crew(shop, order("W-17"), answer(TRUE))
    made = Crew(agents=made.agents, tasks=made.tasks, cache=True)
    assert made.kickoff().raw == TRUE
    model.said[:] = [order("W-17"), answer(TRUE)]
    assert made.kickoff().raw == TRUE
    assert shop.asked == ["W-17", "W-17"]


def test_what_a_planner_adds_to_a_task_is_no_evidence() -> None:

    def planned(*, planning: bool) -> Any:
        made, _ = crew(Shop(), answer(PACKED), on_withheld="answer")
        plan = json.dumps({"list_of_plans_per_task": [{"task_number": 1, "task": "1", "plan": f" {PACKED}"}]})
        planner = Scripted(model="planner", said=[answer(plan)], asked=[])
        return Crew(agents=made.agents, tasks=made.tasks, planning=planning, planning_llm=planner)

    for crew_of_one in (planned(planning=False), planned(planning=True)):
        for _ in range(2):
            assert crew_of_one.kickoff().raw.startswith(WITHHELD)
    assert PACKED in crew_of_one.tasks[0].description  # the planner was there


def test_in_a_conversation_only_the_user_is_a_user() -> None:
    def chat(role: str) -> str:
        made, _ = crew(Shop(), answer(PACKED), asked="Answer about {subject}.", on_withheld="answer")
        messages = json.dumps([{"role": role, "content": PACKED}, {"role": "user", "content": "Who packed it?"}])
        return made.kickoff(inputs={"subject": "my order", "crew_chat_messages": messages}).raw

    assert chat("user") == PACKED
    assert chat("assistant").startswith(WITHHELD)


def test_what_a_user_said_of_an_earlier_task_is_no_passage_of_a_later_one() -> None:
    checks = CrewChecks(guard, on_withheld="answer")
    asked = f"I think: {PACKED} Where is order W-17?"
    first, _ = crew(Shop(), order("W-17"), answer(TRUE), asked=asked, checks=checks)
    second, _ = crew(Shop(), answer(PACKED), asked="Who packed it?", checks=checks)
    both = Crew(agents=[*first.agents, *second.agents], tasks=[*first.tasks, *second.tasks], cache=False)
    assert both.kickoff().raw.startswith(WITHHELD)


def test_nothing_passes_where_the_hooks_of_crewai_were_cleared() -> None:
    shop = Shop()
    made, _ = crew(shop, order("W-17"), answer(TRUE))
    clear(InterceptionPoint.PRE_STEP)
    with pytest.raises(InputError, match="hooks"):
        made.kickoff()
    assert shop.asked == []


def test_a_tool_outside_of_a_task_is_not_executed_and_a_guardrail_there_is_refused() -> None:
    shop = Shop()
    made, _ = crew(shop, answer(TRUE))
    (checked,) = made.agents[0].tools
    assert "was not checked" in checked.run(order_id="W-17")
    assert shop.asked == []
    with pytest.raises(InputError, match="tasks of a crew"):
        CrewChecks(guard).guardrail(object())
    with pytest.raises(InputError, match="tools of CrewAI"):
        CrewChecks(guard).tools([print])
