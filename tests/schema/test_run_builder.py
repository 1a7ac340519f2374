"""A growing run knows its tools and its open calls, and gives the same run as one built at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.schema.run.arguments import read_arguments
from assay.schema.run.builder import RunBuilder
from assay.schema.run.model import (
    Executor,
    ModelTurn,
    Run,
    Step,
    TextPart,
    ToolCall,
    ToolDeclaration,
    ToolResult,
    UserInput,
)


def _call(number: str | None, name: str = "f", executor: Executor = Executor.CLIENT) -> ToolCall:
    return ToolCall(id=number, name=name, arguments=read_arguments("{}"), executor=executor)


ids = st.sampled_from(["a", "b", "c"]) | st.none()
steps: st.SearchStrategy[Step] = st.one_of(
    ids.map(_call),
    st.builds(ToolResult, call_id=ids),
    st.sampled_from(["f", "g"]).map(lambda name: ToolDeclaration(name=name)),
    st.just(UserInput(content=(TextPart(text="q"),))),
)


@given(st.lists(steps, max_size=20))
def test_a_run_grown_step_by_step_is_the_run_built_at_once(grown: list[Step]) -> None:
    builder = RunBuilder("r")
    for index, step in enumerate(grown):
        assert builder.add(step) == index
        assert builder.run() == Run(run_id="r", steps=tuple(grown[: index + 1]))
    assert len(builder) == len(grown)
    assert RunBuilder.from_run(builder.run()).open_calls() == builder.open_calls()


@given(st.lists(steps, max_size=20))
def test_results_close_calls_and_nothing_else_does(grown: list[Step]) -> None:
    waiting: list[ToolCall] = []
    for step in grown:
        if isinstance(step, ToolCall):
            waiting.append(step)
        elif isinstance(step, ToolResult):
            match = next((call for call in waiting if call.id == step.call_id), None)
            if match is not None:
                waiting.remove(match)
    builder = RunBuilder("r")
    builder.extend(grown)
    assert list(builder.open_calls()) == waiting


def test_a_run_taken_earlier_does_not_grow() -> None:
    builder = RunBuilder("r", format="mcp", extra={"a": 1})
    builder.add(_call("a"))
    run = builder.run()
    builder.add(ModelTurn())
    assert len(run.steps) == 1
    assert (run.format, run.extra) == ("mcp", {"a": 1})


def test_the_last_declaration_of_a_name_holds() -> None:
    builder = RunBuilder("r")
    builder.extend([ToolDeclaration(name="f"), ToolDeclaration(name="g"), ToolDeclaration(name="f", description="new")])
    assert [tool.name for tool in builder.declarations()] == ["f", "g"]
    found = builder.declaration("f")
    assert found is not None
    assert found.description == "new"
    assert builder.declaration("h") is None


def test_a_result_without_an_id_answers_the_first_open_call_of_its_tool() -> None:
    builder = RunBuilder("r")
    builder.extend([_call(None, "f"), _call(None, "g"), ToolResult(name="g")])
    assert [call.name for call in builder.open_calls()] == ["f"]


def test_what_the_provider_executes_is_never_open() -> None:
    builder = RunBuilder("r")
    builder.add(_call("a", executor=Executor.PROVIDER))
    assert builder.open_calls() == ()
    found = builder.call("a")
    assert found is not None
    assert found.name == "f"


def test_a_run_needs_an_id() -> None:
    with pytest.raises(InputError, match="a run needs an id"):
        RunBuilder("")
