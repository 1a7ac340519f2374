"""Reads a run from a transcript in any of the formats, which is recognised where it is not named."""

import hashlib
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError

from assay.errors import InputError
from assay.schema.coerce import coerce_text
from assay.schema.run.json_values import Fault, Plain, parse_json, plain_json
from assay.schema.run.model import Run, Step
from assay.schema.traces import anthropic_messages, mcp, openai_chat, openai_responses
from assay.schema.traces.otel import genai
from assay.schema.traces.outcome import ReadTrace
from assay.schema.traces.recognition import recognise

FORMATS: Final[Mapping[str, Callable[[Any, str], ReadTrace]]] = MappingProxyType(
    {module.NAME: module.read for module in (openai_chat, openai_responses, anthropic_messages, genai, mcp)}
)
"""The reader of each format, by its name."""


def read_run(raw: object, *, format: str | None = None, run_id: str | None = None) -> Run:  # noqa: A002
    """Reads a run from a transcript in any of `FORMATS`, or from the run's own JSON.

    Args:
        raw: JSON text or bytes, JSON Lines, mappings and lists, or values of the official clients; a request with its
            response is given as `{"request": ..., "response": ...}`.
        format: the name of the format, where it is known; otherwise it is recognised.
        run_id: the id of the run; without one the transcript's own, or else a digest of the transcript.

    Raises:
        InputError: the transcript is in no known format, is no JSON, or is nested too deep.

    >>> run = read_run([
    ...     {"role": "user", "content": "Where is order A-17?"},
    ...     {"role": "assistant", "content": "In Hamburg."},
    ... ])
    >>> run.format, run.final_answer
    ('openai_chat', 'In Hamburg.')
    """
    if isinstance(raw, Run):
        return raw
    plain = _plain(raw)
    value = plain.value
    if format is None and isinstance(value, dict) and isinstance(value.get("steps"), list):
        return _own(plain, run_id)
    name = _name(value, format)
    reading = _read(value, name)
    steps, faults = _marked(reading.steps, plain.faults + reading.faults)
    own_id = reading.run_id or _text(reading.beside().get("id"))
    return Run(
        run_id=run_id or own_id or _digest(value),
        format=name,
        steps=tuple(steps),
        extra=reading.beside(),
        faults=(*(reading.fields.faults if reading.fields else ()), *faults),
    )


def read_steps(raw: object, *, format: str) -> tuple[Step, ...]:  # noqa: A002
    """Reads what comes next in a growing run: the steps of one message, item, span or response, or of several.

    Raises:
        InputError: there is no such format, or what came is no JSON.

    >>> [step.kind for step in read_steps({"role": "user", "content": "Go on."}, format="openai_chat")]
    ['user_input']
    """
    plain = _plain(raw)
    reading = _read(plain.value, _name(plain.value, format))
    return tuple(_marked(reading.steps, plain.faults + reading.faults)[0])


def _plain(raw: object) -> Plain:
    if isinstance(raw, str | bytes | bytearray):
        text = raw if isinstance(raw, str) else coerce_text(bytes(raw), "a transcript")
        return plain_json(parse_json(text, "a transcript"))
    return plain_json(raw)


def _name(value: Any, name: str | None) -> str:
    if name is not None and name not in FORMATS:
        raise InputError(f"a transcript is in one of the formats {', '.join(FORMATS)}, got the name {name!r}")
    if not isinstance(value, dict | list):
        raise InputError("a transcript is a JSON object or an array, got a single value")
    return name or recognise(value)


def _read(value: Any, name: str) -> ReadTrace:
    reader = FORMATS[name]
    if not is_exchange(value):
        return reader(value, "")
    first, second = reader(value["request"], "/request"), reader(value["response"], "/response")
    beside = {key: member for key, member in value.items() if key not in ("request", "response")}
    extra = beside | {"request": first.beside(), "response": second.beside()}
    known = {_content_key(step) for step in first.steps}
    # A response repeats the tools and instructions of its request.
    steps = first.steps + [
        step for step in second.steps if step.kind not in _REPEATED or _content_key(step) not in known
    ]
    faults = [*first.faults, *second.faults]
    for reading in (first, second):
        faults += reading.fields.faults if reading.fields else []
    return ReadTrace(steps, faults=faults, extra=extra, run_id=_text(second.beside().get("id")))


_REPEATED: Final = frozenset({"tool_declaration", "system_prompt"})


def is_exchange(value: Any) -> bool:
    """Whether it is a request together with its response."""
    return isinstance(value, dict) and all(isinstance(value.get(key), dict) for key in ("request", "response"))


def _content_key(step: Step) -> str:
    """Identifies a step that a response may repeat, wherever it stands; empty for every other step."""
    return step.model_dump_json(exclude={"place"}) if step.kind in _REPEATED else ""


def _own(plain: Plain, run_id: str | None) -> Run:
    """A run from its own JSON; values in it that had to be altered become faults of the run."""
    try:
        run = Run.model_validate(plain.value)
    except ValidationError as error:
        first = error.errors()[0]
        place = "/".join(str(part) for part in first["loc"])
        raise InputError(f"it has `steps` like a run of assay, but at {place}: {first['msg']}") from None
    return run.model_copy(update={"run_id": run_id or run.run_id, "faults": (*run.faults, *plain.faults)})


def _marked(steps: list[Step], faults: list[Fault]) -> tuple[list[Step], list[Fault]]:
    """The steps with the faults of the values inside of them, and the faults that belong to no step."""
    if not faults:
        return steps, []
    at: dict[str, int] = {}
    for index, step in enumerate(steps):
        at.setdefault(step.place or "", index)
    faults_by_step: dict[int, list[Fault]] = {}
    outside = []
    for fault in faults:
        place = fault.place or ""
        while place and place not in at:
            place = place.rpartition("/")[0]
        if place in at:
            faults_by_step.setdefault(at[place], []).append(fault)
        else:
            outside.append(fault)
    marked = list(steps)
    for index, more in faults_by_step.items():
        marked[index] = steps[index].model_copy(update={"faults": (*steps[index].faults, *more)})
    return marked, outside


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _digest(value: Any) -> str:
    """An id from the content of the transcript, so that the same transcript gives the same run."""
    written = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return f"run-{hashlib.sha256(written.encode()).hexdigest()[:16]}"
