"""A crew with checked tools and a guardrail: nothing unchecked is executed, and no wrong output is told."""

from typing import Any

import pytest
from pydantic import BaseModel
from tests.integrations.orders import ASKED, FALSE, TRUE, WITHHELD, Shop, guard

from assay.errors import InputError, WithheldError

pytest.importorskip("crewai", reason="needs the extra crewai: pip install 'assay-ai[crewai]'")

from crewai import Agent, BaseLLM, Crew, Task
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
