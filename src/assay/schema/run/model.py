"""The run of an agent in one normal form: what it was told, what it said, what it called, what came back.

A run is a sequence of steps in the order in which they happened. Whatever the wire format of the transcript,
the same happenings give the same steps; `assay.schema.traces.read_run` reads the formats. A step is one of

    SystemPrompt, UserInput    what the agent was told, by its maker and by its user
    ModelTurn                  what the model said: text, reasoning, refusals
    ToolDeclaration            a tool that it may call, with the schema of its arguments
    ToolCall, ToolResult       what it called with which arguments, and what came back
    Passage                    a retrieved passage, from a tool, a provider's search or the request itself
    Opaque                     an item of a type that no reader knows: kept as it came, and named

Nothing is lost on the way: what a reader does not interpret is in `extra` of the step that it belongs to (a field
that is null is taken as absent), and what is wrong with an item is kept as it came and marked with a `Fault`.
"""

import json
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from assay.schema.base import Value
from assay.schema.run.arguments import Arguments
from assay.schema.run.json_values import Fault

RUN_VERSION = "1.0"
"""The version of the run's form."""


class Executor(StrEnum):
    """Who executes a tool."""

    CLIENT = "client"
    """The agent's own program: it can be stopped before the tool runs."""
    PROVIDER = "provider"
    """The provider of the model, or a server that it calls: it has run when the transcript shows it."""


class Phase(StrEnum):
    """What the model itself says that a turn is, where the format carries it."""

    COMMENTARY = "commentary"
    """On the way: before or between tool calls."""
    FINAL_ANSWER = "final_answer"
    """The answer."""


class TextPart(Value):
    """Text that was said or returned."""

    type: Literal["text"] = "text"
    text: str
    extra: dict[str, Any] = Field(default_factory=dict)
    """What else the part carried: citations, annotations, cache marks."""


class RefusalPart(Value):
    """The words of a refusal, where the format keeps them apart."""

    type: Literal["refusal"] = "refusal"
    text: str
    extra: dict[str, Any] = Field(default_factory=dict)


class ReasoningPart(Value):
    """The model's reasoning or a summary of it: not shown as an answer, and no evidence of anything."""

    type: Literal["reasoning"] = "reasoning"
    text: str
    """Empty where it came encrypted or redacted; `extra` then has what came."""
    extra: dict[str, Any] = Field(default_factory=dict)


class DataPart(Value):
    """A part that is no text: an image, audio, a file, or of a type that no reader knows."""

    type: Literal["data"] = "data"
    name: str
    """The type on the wire, such as `image_url`."""
    value: Any
    """The part as it came."""
    extra: dict[str, Any] = Field(default_factory=dict)


Part = Annotated[TextPart | RefusalPart | ReasoningPart | DataPart, Field(discriminator="type")]
"""One piece of what was said or returned."""


class _Step(Value):
    """What every step carries."""

    place: str | None = None
    """The JSON Pointer of the item in the transcript that it was read from."""
    faults: tuple[Fault, ...] = ()
    """What is wrong with the item."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """The fields of the item that have no place in the normal form."""


class SystemPrompt(_Step):
    """What the maker of the agent told it."""

    kind: Literal["system_prompt"] = "system_prompt"
    content: tuple[Part, ...]
    role: str = "system"
    """The role on the wire: `system`, `developer` or what the format calls it."""

    @property
    def text(self) -> str:
        """Its text; separate parts are on separate lines."""
        return _lines(self.content)


class UserInput(_Step):
    """What the user said."""

    kind: Literal["user_input"] = "user_input"
    content: tuple[Part, ...]
    name: str | None = None
    """The participant's name, where the format has one."""

    @property
    def text(self) -> str:
        """Its text; separate parts are on separate lines."""
        return _lines(self.content)


class ModelTurn(_Step):
    """What the model said between two other steps; without parts where it only called tools."""

    kind: Literal["model_turn"] = "model_turn"
    content: tuple[Part, ...] = ()
    phase: Phase | None = None
    """What the model says that it is; most formats do not say."""
    name: str | None = None
    """The participant's name, where the format has one."""
    stop_reason: str | None = None
    """Why the model stopped, in the format's own word."""

    @property
    def text(self) -> str:
        """What its reader sees: texts and refusals without anything in between, as providers join them."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart | RefusalPart))

    @property
    def refused(self) -> bool:
        """Whether any part is marked as a refusal."""
        return any(isinstance(part, RefusalPart) for part in self.content)


class ToolDeclaration(_Step):
    """A tool that the model may call from here on; a later declaration of the same name replaces it."""

    kind: Literal["tool_declaration"] = "tool_declaration"
    name: str
    type: str = "function"
    """The type on the wire: `function`, `custom`, or a tool of the provider such as `web_search`."""
    description: str | None = None
    parameters: dict[str, Any] | None = None
    """The JSON Schema of its arguments. None on a `function` says that it takes none, and on any other type that the
    transcript does not say; where the schema was malformed, a fault says so and `extra` has it."""
    output_schema: dict[str, Any] | None = None
    """The JSON Schema of its structured result, where one is declared."""
    strict: bool | None = None
    """Whether the provider was asked to hold the model to the schema."""
    namespace: str | None = None
    """The group or server that it belongs to."""
    executor: Executor = Executor.CLIENT


class ToolCall(_Step):
    """A call that the model asked for."""

    kind: Literal["tool_call"] = "tool_call"
    id: str | None = None
    """The name by which the result refers to it; formats without one give none."""
    name: str
    arguments: Arguments
    type: str = "function"
    """The type on the wire."""
    namespace: str | None = None
    """The group or server of the tool."""
    executor: Executor = Executor.CLIENT


class ToolResult(_Step):
    """What a tool returned."""

    kind: Literal["tool_result"] = "tool_result"
    call_id: str | None = None
    """The `id` of the call; none where the format has no ids."""
    name: str | None = None
    """The tool's name, where the result carries it."""
    content: tuple[Part, ...] = ()
    structured: Any = None
    """The result as JSON, where it came as JSON and not as text."""
    is_error: bool | None = None
    """Whether the tool failed, as the format says; none where it does not say."""
    executor: Executor = Executor.CLIENT

    @property
    def text(self) -> str:
        """What it says: its text, separate parts on separate lines, or where it has none its JSON."""
        said = _lines(self.content)
        if said or self.structured is None:
            return said
        return json.dumps(self.structured, ensure_ascii=False)


class Passage(_Step):
    """A retrieved passage: evidence from a search, a file or the request."""

    kind: Literal["passage"] = "passage"
    id: str | None = None
    """The name that the format gives it: a file id, an index."""
    text: str
    """What it says; empty where the transcript has only its address or an encrypted form."""
    title: str | None = None
    source: str | None = None
    """Where it comes from: a URL, a file name."""
    call_id: str | None = None
    """The call that retrieved it; none where it was given with the request."""
    score: float | None = None
    """The retriever's own score, on its own scale."""


class Opaque(_Step):
    """An item of a type that no reader knows."""

    kind: Literal["opaque"] = "opaque"
    type: str
    """The type on the wire."""
    role: str | None = None
    """The role on the wire, where there was one."""
    call_id: str | None = None
    """The call that it belongs to, where the item says so."""
    value: Any
    """The item as it came."""


Step = Annotated[
    SystemPrompt | UserInput | ModelTurn | ToolDeclaration | ToolCall | ToolResult | Passage | Opaque,
    Field(discriminator="kind"),
]
"""One happening of a run."""


class Run(Value):
    """The steps of one agent run, in the order in which they happened.

    >>> from assay.schema.run.arguments import read_arguments
    >>> run = Run(run_id="r-1").append(
    ...     UserInput(content=(TextPart(text="Where is order A-17?"),)),
    ...     ToolCall(id="c1", name="find_order", arguments=read_arguments('{"order": "A-17"}')),
    ... )
    >>> run.final_answer is None  # a call is still open
    True
    >>> run = run.append(
    ...     ToolResult(call_id="c1", content=(TextPart(text="in Hamburg"),)),
    ...     ModelTurn(content=(TextPart(text="It is in Hamburg."),)),
    ... )
    >>> run.final_answer
    'It is in Hamburg.'
    >>> Run.model_validate_json(run.model_dump_json()) == run
    True
    """

    run_id: str = Field(min_length=1)
    version: str = RUN_VERSION
    format: str | None = None
    """The wire format that it was read from, such as `openai_chat`; none where it was built step by step."""
    steps: tuple[Step, ...] = ()
    extra: dict[str, Any] = Field(default_factory=dict)
    """The fields of the transcript that belong to no step: the model's name, the sampling parameters, usage."""
    faults: tuple[Fault, ...] = ()
    """What is wrong with the transcript outside of its steps."""

    def append(self, *steps: Step) -> Self:
        """The run with more steps at its end; the steps are shared, and only what is new is looked at.

        For a run that grows step by step `assay.schema.run.builder.RunBuilder` costs less still.
        """
        return self.model_copy(update={"steps": (*self.steps, *steps)})

    @property
    def final_answer(self) -> str | None:
        """What the run ends with for its reader; none while it waits for a tool or for the model.

        Turns that follow each other without a call between them are on separate lines.
        """
        turns = [self.steps[index] for index in self.final_turns]
        return "\n".join(turn.text for turn in turns if isinstance(turn, ModelTurn)) if turns else None

    @property
    def final_turns(self) -> tuple[int, ...]:
        """The places in `steps` of the turns that make up the final answer.

        They are the turns with text behind the last call, result and input. Where the model marks some as its final
        answer these are it, and what it marks as commentary never is.
        """
        return self._turns_before(len(self.steps))

    @property
    def answers(self) -> tuple[tuple[int, ...], ...]:
        """The answer to each user input, as `final_turns` gives the last one: the turns before the next input."""
        ends = [index for index, step in enumerate(self.steps) if isinstance(step, UserInput)]
        found = (self._turns_before(end) for end in (*ends, len(self.steps)))
        return tuple(turns for turns in found if turns)

    def _turns_before(self, end: int) -> tuple[int, ...]:
        found: list[int] = []
        final: list[int] = []
        for index in range(end - 1, -1, -1):
            step = self.steps[index]
            if isinstance(step, ToolCall | ToolResult | UserInput | SystemPrompt):
                break
            if isinstance(step, ModelTurn) and step.text and step.phase is not Phase.COMMENTARY:
                found.append(index)
                if step.phase is Phase.FINAL_ANSWER:
                    final.append(index)
        return tuple(reversed(final or found))


def _lines(content: tuple[Part, ...]) -> str:
    return "\n".join(part.text for part in content if isinstance(part, TextPart | RefusalPart))
