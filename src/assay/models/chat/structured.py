"""Reads structured answers: an answer that is cut off, declined or of another form is an error as a whole."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from assay.errors import AnswerError
from assay.models.chat.interface import Choice, Finish

LONGEST: Final = 200_000
"""Characters of a structured answer that are read."""


def read_structured(choice: Choice, schema: Mapping[str, Any]) -> Any:
    """The value of an answer that satisfies a JSON Schema.

    A single code fence around the whole is removed, since some local models always write one. Nothing else is repaired.

    Raises:
        AnswerError: the answer is declined, cut off, no JSON, nested too deep, or does not satisfy the schema.
    """
    if choice.finish is Finish.REFUSAL or choice.refusal is not None:
        raise AnswerError("The model declined to answer.")
    if choice.finish is Finish.LENGTH:
        raise AnswerError("The answer was cut off at the limit of tokens.")
    if choice.finish is not Finish.STOP:
        raise AnswerError("The answer ended for a reason that is not known.")
    if len(choice.text) > LONGEST:
        raise AnswerError(f"The answer has {len(choice.text):,} characters; at most {LONGEST:,} are read.")
    try:
        value = json.loads(
            _without_fence(choice.text),
            object_pairs_hook=_no_duplicates,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"The answer is not JSON: {str(error)[:120]}.") from error
    problem = _problem(value, schema)
    if problem:
        raise AnswerError(f"The answer is not of the form that was asked for: {problem}.")
    return value


def satisfies(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value satisfies a JSON Schema.

    >>> satisfies(3, {"type": "string"})
    False
    """
    return not _problem(value, schema)


def _without_fence(text: str) -> str:
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text[text.index("\n") : -3].strip()
    return text


def _problem(value: Any, schema: Mapping[str, Any]) -> str:
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(dict(schema))
    try:
        first = next(iter(validator.iter_errors(value)), None)
    except ValueError:  # the validator gives up at fewer levels of lists and objects than `json.loads`
        return "it is nested too deep"
    if first is None:
        return ""
    place = "/".join(str(part) for part in first.instance_path) or "the whole"
    return f"{place}: {first.message[:120]}"


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name appears twice in one object")
    return made


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError(f"{literal[:20]} is too large for a number")
    return number


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
