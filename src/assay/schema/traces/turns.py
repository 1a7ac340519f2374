"""Splits one message into steps: its words are one turn until a call, a result or a passage comes between."""

from typing import Any, Final

from assay.schema.run.json_values import Fault
from assay.schema.run.model import ModelTurn, Part, Step, SystemPrompt, UserInput
from assay.schema.traces.fields import Fields

_SPOKEN: Final = (ModelTurn, SystemPrompt, UserInput)


class TurnBuilder:
    """The steps of one message, in the order of its parts."""

    def __init__(self, role: str, fields: Fields) -> None:
        self._role = role
        self._fields = fields
        self._steps: list[Step] = []
        self._words: list[Part] = []
        self.faults: list[Fault] = []
        """The faults of the words since the last step."""
        self._start = fields.place

    def say(self, part: Part, place: str) -> None:
        """Adds a part to the current turn."""
        if not self._words:
            self._start = place
        self._words.append(part)

    def add(self, *steps: Step) -> None:
        """Ends the current turn and adds steps that are not turns."""
        self._flush()
        self._steps += steps

    def finished(self, stop_reason: str | None = None) -> list[Step]:
        """The steps of the message; fields besides its content go with its first turn, which may be empty."""
        self._flush()
        rest, faults = self._fields.rest(), tuple(self._fields.faults)
        beside = bool(rest or stop_reason or faults)
        if not self._steps or (beside and not isinstance(self._steps[0], _SPOKEN)):
            self._steps.insert(0, self._turn((), self._fields.place, ()))
        if beside:
            first = self._steps[0]
            update: dict[str, Any] = {"extra": rest, "faults": (*first.faults, *faults)}
            if isinstance(first, ModelTurn):
                update["stop_reason"] = stop_reason
            elif stop_reason:
                update["extra"] = rest | {"stop_reason": stop_reason}
            self._steps[0] = first.model_copy(update=update)
        return self._steps

    def _flush(self) -> None:
        if self._words:
            self._steps.append(self._turn(tuple(self._words), self._start, tuple(self.faults)))
        self._words, self.faults = [], []

    def _turn(self, content: tuple[Part, ...], place: str, faults: tuple[Fault, ...]) -> Step:
        match self._role:
            case "assistant":
                return ModelTurn(content=content, place=place, faults=faults)
            case "user":
                return UserInput(content=content, place=place, faults=faults)
            case _:
                return SystemPrompt(content=content, role=self._role, place=place, faults=faults)
