"""The arguments of a tool call, as the model wrote them: read strictly, kept verbatim, and marked where malformed.

`json.loads` accepts `NaN`, keeps the last of two equal keys and turns 1e999 into infinity; different programs read
such text differently, so that what was checked would not be what is executed. Here each of these is a fault, and
malformed arguments have no value that could be taken for a clean one.
"""

import json
import math
import re
from enum import StrEnum
from typing import Any, Final, Self

from pydantic import model_validator

from assay.schema.base import Value
from assay.schema.run.json_values import (
    DEEPEST,
    LONGEST_NUMBER,
    Altered,
    Fault,
    has_lone_surrogate,
    json_kind,
    places,
    restored,
)

_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
"""A bracket, or a string up to its closing quotation mark or the end of the text, which keeps matching linear."""


class ArgumentsForm(StrEnum):
    """What the arguments of a tool are written in."""

    JSON = "json"
    """An object of named arguments."""
    TEXT = "text"
    """Free text, as custom tools take it; no schema applies."""


class Arguments(Value):
    """The arguments of one call: either a value, or text with the faults that forbid to read it as one.

    `faults` may be any of `arguments.empty`, `arguments.missing`, `arguments.invalid_json`, `arguments.not_an_object`,
    `arguments.duplicate_key`, `arguments.not_finite`, `arguments.number_too_long`, `arguments.lone_surrogate` and
    `arguments.too_deep`.
    """

    form: ArgumentsForm = ArgumentsForm.JSON
    verbatim: str | None = None
    """The text as the model wrote it; where the format carries an object and not text, none if it is well formed and
    otherwise its JSON with what JSON cannot hold as Python writes it."""
    value: dict[str, Any] | None = None
    """The named arguments; none where there is a fault and for free text."""
    faults: tuple[Fault, ...] = ()

    @model_validator(mode="after")
    def _malformed_arguments_have_no_value(self) -> Self:
        needs_value = self.form is ArgumentsForm.JSON and not self.faults
        if needs_value != (self.value is not None):
            raise ValueError(
                "arguments have a value exactly when they are JSON without faults: got "
                f"form {self.form}, {len(self.faults)} faults and {'no' if self.value is None else 'a'} value"
            )
        return self

    @property
    def well_formed(self) -> bool:
        """Whether they can be checked against a schema: an object, or free text for a tool that takes it."""
        return not self.faults


def free_text(text: str) -> Arguments:
    """The input of a custom tool, which is no JSON by design."""
    return Arguments(form=ArgumentsForm.TEXT, verbatim=text)


def read_arguments(text: str) -> Arguments:
    """Reads arguments that came as JSON text; never raises.

    >>> read_arguments('{"city": "Bonn"}').value
    {'city': 'Bonn'}
    >>> [fault.code for fault in read_arguments('{"n": NaN, "n": 1}').faults]
    ['arguments.not_finite', 'arguments.duplicate_key']
    """
    if not text.strip():
        return _malformed(text, [_fault("empty", "expected a JSON object, got no text")])
    if _too_deep(text):
        return _malformed(text, [_fault("too_deep", f"it is nested deeper than {DEEPEST} levels")])
    reader = _Strict()
    try:
        value = json.loads(
            text,
            object_pairs_hook=reader.members,
            parse_int=reader.whole,
            parse_float=reader.real,
            parse_constant=reader.constant,
        )
    except json.JSONDecodeError as error:
        detail = f"it is no JSON: {error.msg} at character {error.pos}"
        return _malformed(text, [_fault("invalid_json", detail)])
    faults = reader.faults
    if not isinstance(value, dict):
        faults.append(_not_an_object(value))
    elif not faults:
        faults = _faults_of(value)
    return _malformed(text, faults) if faults else Arguments(verbatim=text, value=value)


def read_argument_object(value: object) -> Arguments:
    """Reads arguments that came as a JSON value and not as text; never raises on what `plain_json` returns.

    >>> read_argument_object({"city": "Bonn"}).value
    {'city': 'Bonn'}
    >>> read_argument_object(["Bonn"]).faults[0].message
    'expected a JSON object of named arguments, got an array'
    """
    if value is None:
        return Arguments(faults=(_fault("missing", "expected a JSON object of named arguments, got none"),))
    faults = _faults_of(value)
    if not isinstance(value, dict):
        faults.insert(0, _not_an_object(value))
    if faults or not isinstance(value, dict):
        return _malformed(json.dumps(restored(value)), faults)
    return Arguments(value=value)


def _faults_of(value: object) -> list[Fault]:
    """Values that JSON cannot hold; one fault for each kind, with its first place."""
    faults: dict[str, Fault] = {}
    for place, item in places(value):
        original = item.original if isinstance(item, Altered) else item
        if isinstance(original, str) and has_lone_surrogate(original):
            fault = _fault("lone_surrogate", "a text contains half of a surrogate pair", place)
            faults.setdefault(fault.code, fault)
        elif isinstance(original, float) and not math.isfinite(original):
            fault = _fault("not_finite", f"the number {original} is no JSON", place)
            faults.setdefault(fault.code, fault)
    return list(faults.values())


def _not_an_object(value: object) -> Fault:
    return _fault("not_an_object", f"expected a JSON object of named arguments, got {json_kind(value)}")


class _Strict:
    """The hooks of one strict `json.loads`; keeps one fault of each code, since hostile text may hold thousands."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def members(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                self._add("duplicate_key", f"the member {ascii(key)[:80]} comes twice in one object")
            found[key] = value
        return found

    def whole(self, literal: str) -> int:
        if len(literal) > LONGEST_NUMBER:
            self._add("number_too_long", f"a number has {len(literal)} characters; at most {LONGEST_NUMBER} are read")
            return 0
        return int(literal)

    def real(self, literal: str) -> float:
        if len(literal) > LONGEST_NUMBER:
            self._add("number_too_long", f"a number has {len(literal)} characters; at most {LONGEST_NUMBER} are read")
            return 0.0
        value = float(literal)
        if not math.isfinite(value):
            self._add("not_finite", f"the number {literal[:40]} is too large to be held")
        return value

    def constant(self, literal: str) -> float:
        self._add("not_finite", f"{literal} is no JSON value")
        return 0.0

    def _add(self, code: str, message: str) -> None:
        fault = _fault(code, message)
        if all(earlier.code != fault.code for earlier in self.faults):
            self.faults.append(fault)


def _fault(code: str, message: str, place: str | None = None) -> Fault:
    return Fault(code=f"arguments.{code}", message=message, place=place)


def _malformed(text: str, faults: list[Fault]) -> Arguments:
    return Arguments(verbatim=text, faults=tuple(faults))


def _too_deep(text: str) -> bool:
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        sign = match.group()
        if sign in ("[", "{"):
            depth += 1
            if depth > DEEPEST:
                return True
        elif sign in ("]", "}"):
            depth -= 1
    return False
