"""The normal form of a run: frozen, kept by the wire, and with one meaning of its final answer."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from assay.schema.run.arguments import Arguments, free_text, read_argument_object, read_arguments
from assay.schema.run.json_values import Fault
from assay.schema.run.model import (
    DataPart,
    Executor,
    ModelTurn,
    Opaque,
    Passage,
    Phase,
    ReasoningPart,
    RefusalPart,
    Run,
    Step,
    SystemPrompt,
    TextPart,
    ToolCall,
    ToolDeclaration,
    ToolResult,
    UserInput,
)

texts = st.text(st.characters(codec="utf-8"), max_size=10)
maybe = st.none() | texts
numbers = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
objects = st.dictionaries(texts, values, max_size=3)
faults = st.lists(
    st.builds(Fault, code=st.sampled_from(["item.unknown_type", "call.no_name"]), message=texts, place=maybe),
    max_size=2,
).map(tuple)
parts = st.lists(
    st.builds(TextPart, text=texts, extra=objects)
    | st.builds(RefusalPart, text=texts)
    | st.builds(ReasoningPart, text=texts, extra=objects)
    | st.builds(DataPart, name=texts, value=values),
    max_size=3,
).map(tuple)
arguments: st.SearchStrategy[Arguments] = (
    objects.map(read_argument_object) | values.map(json.dumps).map(read_arguments) | texts.map(free_text)
)
common: dict[str, Any] = {"place": maybe, "faults": faults, "extra": objects}
executors = st.sampled_from(Executor)
steps: st.SearchStrategy[Step] = st.one_of(
    st.builds(SystemPrompt, content=parts, role=texts, **common),
    st.builds(UserInput, content=parts, name=maybe, **common),
    st.builds(ModelTurn, content=parts, phase=st.none() | st.sampled_from(Phase), stop_reason=maybe, **common),
    st.builds(ToolDeclaration, name=texts, parameters=st.none() | objects, strict=st.none() | st.booleans(), **common),
    st.builds(ToolCall, id=maybe, name=texts, arguments=arguments, executor=executors, **common),
    st.builds(
        ToolResult, call_id=maybe, content=parts, structured=values, is_error=st.none() | st.booleans(), **common
    ),
    st.builds(Passage, id=maybe, text=texts, score=st.none() | st.floats(-10, 10), **common),
    st.builds(Opaque, type=texts, value=values, **common),
)
runs = st.builds(Run, run_id=texts.filter(bool), steps=st.lists(steps, max_size=6).map(tuple), extra=objects)


def _said(text: str, phase: Phase | None = None) -> ModelTurn:
    return ModelTurn(content=(TextPart(text=text),), phase=phase)


def _asked(text: str = "q") -> UserInput:
    return UserInput(content=(TextPart(text=text),))


CALL = ToolCall(id="c", name="f", arguments=read_arguments("{}"))
RESULT = ToolResult(call_id="c", content=(TextPart(text="r"),))


def _run(*steps: Step) -> Run:
    return Run(run_id="r", steps=steps)


@given(runs)
def test_the_wire_keeps_a_run(run: Run) -> None:
    assert Run.model_validate_json(run.model_dump_json()) == run
    assert Run.model_validate(json.loads(json.dumps(run.model_dump(mode="json")))) == run


@given(runs)
def test_a_run_on_the_wire_fits_the_published_schema(run: Run) -> None:
    VALIDATOR.validate(run.model_dump(mode="json"))


VALIDATOR = jsonschema_rs.validator_for(
    {"$schema": "https://json-schema.org/draft/2020-12/schema", **Run.model_json_schema(mode="serialization")},
    offline=True,
)


def test_values_are_frozen_and_unknown_fields_are_refused() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        _run().run_id = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="Extra inputs"):
        Run.model_validate({"run_id": "r", "stepz": []})
    with pytest.raises(ValidationError, match="at least 1"):
        Run(run_id="")


def test_appending_leaves_the_earlier_run_as_it_was() -> None:
    before = _run(_asked())
    after = before.append(_said("a"), CALL)
    assert len(before.steps) == 1
    assert after.steps[0] is before.steps[0]
    assert [step.kind for step in after.steps] == ["user_input", "model_turn", "tool_call"]
    assert after == _run(_asked(), _said("a"), CALL)


@pytest.mark.parametrize(
    ("run", "answer"),
    [
        (_run(), None),
        (_run(_asked()), None),
        (_run(_asked(), CALL), None),
        (_run(_asked(), _said("Let me look."), CALL), None),
        (_run(_asked(), CALL, RESULT), None),
        (_run(_asked(), CALL, RESULT, _said("Done.")), "Done."),
        (_run(_asked(), _said("Let me look."), CALL, RESULT, _said("Done.")), "Done."),
        (_run(_asked(), _said("One."), _said("Two.")), "One.\nTwo."),
        (_run(_asked(), _said("On it.", Phase.COMMENTARY), _said("Done.", Phase.FINAL_ANSWER)), "Done."),
        (_run(_asked(), _said("On it.", Phase.COMMENTARY)), None),
        (_run(_asked(), _said("Unmarked."), _said("Done.", Phase.FINAL_ANSWER)), "Done."),
        (_run(_asked(), _said("Done."), ModelTurn(content=(ReasoningPart(text="hm"),))), "Done."),
        (_run(_asked(), _said("Done."), Opaque(type="x", value=1), Passage(text="p")), "Done."),
        (_run(_asked(), ModelTurn(content=(RefusalPart(text="No."),))), "No."),
        (_run(_asked(), _said("Done."), _asked("And?")), None),
    ],
)
def test_the_final_answer_is_what_stands_behind_the_last_call_result_and_input(run: Run, answer: str | None) -> None:
    assert run.final_answer == answer


@given(runs)
def test_no_text_behind_the_last_call_and_input_is_left_out_of_the_final_answer(run: Run) -> None:
    last = max(
        (i for i, step in enumerate(run.steps) if isinstance(step, ToolCall | ToolResult | UserInput | SystemPrompt)),
        default=-1,
    )
    unmarked = [
        i
        for i, step in enumerate(run.steps)
        if i > last and isinstance(step, ModelTurn) and step.text and step.phase is None
    ]
    marked = any(
        isinstance(run.steps[i], ModelTurn) and getattr(run.steps[i], "phase", None) is Phase.FINAL_ANSWER
        for i in run.final_turns
    )
    assert marked or list(run.final_turns) == unmarked


def test_every_answer_of_a_conversation_can_be_found() -> None:
    run = _run(_asked(), _said("One."), _asked(), _said("Let me look."), CALL, RESULT, _said("Two."), _asked("Thanks."))
    assert run.answers == ((1,), (6,))
    assert run.final_turns == ()


def test_texts_of_a_turn_are_joined_as_they_are_and_of_an_input_by_lines() -> None:
    content = (
        TextPart(text="two "),
        ReasoningPart(text="hm"),
        TextPart(text="years"),
        DataPart(name="image", value={}),
    )
    assert ModelTurn(content=content).text == "two years"
    assert UserInput(content=content).text == "two \nyears"
    assert SystemPrompt(content=content).text == "two \nyears"


def test_a_result_without_words_reads_as_its_json() -> None:
    assert ToolResult(structured={"place": "Köln"}).text == '{"place": "Köln"}'
    assert ToolResult(content=(TextPart(text="in Köln"),), structured={"place": "Köln"}).text == "in Köln"
    assert ToolResult().text == ""


def test_malformed_arguments_cannot_be_given_a_value() -> None:
    fault = Fault(code="arguments.empty", message="m")
    with pytest.raises(ValidationError, match="exactly when"):
        Arguments(value={}, faults=(fault,))
    with pytest.raises(ValidationError, match="exactly when"):
        Arguments(verbatim="{}")
