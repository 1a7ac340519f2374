"""One request with its answer: what is needed to check it, read once and off the event loop."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from assay.errors import InputError
from assay.guard import Guard
from assay.schema import HallucinationReport, Stakes
from assay.schema.run import ModelTurn, Run, TextPart, ToolCall
from assay.schema.run_formats import read_run
from assay.server.gateway.decide import Ruling, on_calls, on_part, on_report, on_structure, together, unchecked
from assay.server.gateway.evidence import Asked
from assay.server.gateway.stream import Job
from assay.server.gateway.wire import Json, Wire, calls_of
from assay.verify.structure import check_structure
from assay.verify.tool_call.check import CallCheck
from assay.verify.tool_call.runs import check_tools

CallChecker = Callable[[Run, Sequence[ToolCall]], Sequence[CallCheck]]
"""Checks calls that a model asked for against the run that led to them; one check for each call."""

FIELD: Final = "assay"
"""The member of a request's body that is read here and not forwarded."""

_DECODER: Final = json.JSONDecoder()


def check_new_calls(run: Run, calls: Sequence[ToolCall]) -> Sequence[CallCheck]:
    """The checks of stage 1 on new calls, each against everything that the run has seen before it."""
    grown = run.append(*calls)
    return check_tools(grown, now=datetime.now(UTC)).calls[-len(calls) :]


@dataclass(frozen=True)
class Exchange:
    """One request and what its answer is checked against.

    The run is read when it is first needed, on the thread of that check; the checks of one exchange follow each other.
    """

    wire: Wire
    request: Json
    asked: Asked
    guard: Guard
    report_id: str
    stakes: Stakes = Stakes.MEDIUM
    fail_on: str = "revise"
    check_calls: CallChecker = check_new_calls

    @cached_property
    def run(self) -> Run:
        """The run that the request tells of, without the field that is not forwarded."""
        told = {name: value for name, value in self.request.items() if name != FIELD}
        return read_run(told, format=self.wire.name, run_id=self.report_id)

    def whole(self, answer: Json) -> Ruling:
        """The ruling on an answer that is all there."""
        shown = self.wire.shown(answer)
        if shown.unreadable is not None:
            return unchecked(shown.unreadable)
        rulings = [self._text(text, with_calls=bool(shown.calls)) for text in shown.texts.values()]
        if shown.calls:
            rulings.append(on_calls(self.check_calls(self.run, shown.calls)))
        return together(rulings)

    def part(self, job: Job) -> dict[str, Ruling]:
        """The rulings on what a stream has shown since the last job, by channel and by call."""
        found: dict[str, Ruling] = {}
        for text in job.texts:
            if text.final:
                found[text.channel] = self._text(text.text, with_calls=job.with_calls)
            else:
                report = self._check(text.text, claim_free=True)
                found[text.channel] = on_part(report, self.fail_on, begun=text.begun)
        calls: list[ToolCall] = []
        for answer in job.calls.values():
            read, strange = calls_of(answer, self.wire.name)
            if strange is not None or not read:
                ruling = unchecked(strange or "a call cannot be read")
                return found | dict.fromkeys(job.calls, ruling)
            calls += read
        if calls:
            found |= dict.fromkeys(job.calls, on_calls(self.check_calls(self.run, calls)))
        return found

    def _text(self, text: str, *, with_calls: bool) -> Ruling:
        # What a model says beside its calls is on the way to an answer: it need not claim anything.
        found = on_report(self._check(text, claim_free=self.asked.claim_free or with_calls), self.fail_on)
        schema = self.wire.schema(self.request)
        if schema is None or with_calls or not found.passes:
            return found
        broken = check_structure(text, schema)
        return found if not broken else on_structure(found, broken)

    def _check(self, text: str, *, claim_free: bool) -> HallucinationReport:
        """The report of the run as it would be with this text as its answer."""
        asked = self.asked
        return self.guard.check_run(
            self.run.append(ModelTurn(content=(TextPart(text=text),))), now=datetime.now(UTC), sources=asked.counted,
            evidence=asked.evidence, question=asked.question, stakes=asked.stakes or self.stakes, task=asked.task,
            claim_free=claim_free, run_id=self.report_id,
        )  # fmt: skip


def read_object(body: bytes, what: str) -> Json:
    """The JSON object in a body.

    Raises:
        InputError: it is no JSON object, names a member twice, or is nested too deep.
    """
    try:
        value = json.loads(body, object_pairs_hook=_members)
    except (ValueError, RecursionError) as error:
        # ValueError: no JSON, or bytes that are no text.
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"{what} must be a JSON object: {why}") from error
    if not isinstance(value, dict):
        raise InputError(f"{what} must be a JSON object, got {type(value).__name__}")
    return value


def _members(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("a member is named twice in one object; readers would disagree")
    return found


def depth_of(value: object, most: int) -> int:
    """How deep a value is nested; stops counting beyond `most`.

    >>> depth_of({"a": [[]]}, 10), depth_of([[[[]]]], 2)
    (3, 3)
    """
    layer: list[Any] = [value]
    depth = 0
    while depth <= most:
        layer = [item for item in layer if isinstance(item, dict | list)]
        if not layer:
            break
        depth += 1
        layer = [inner for item in layer for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


def require_depth(value: object, most: int) -> None:
    """Refuses a value that is nested too deep.

    Raises:
        InputError: it is nested more than `most` levels deep.
    """
    if depth_of(value, most) > most:
        raise InputError(f"the request is nested more than {most} levels deep")


def without_member(body: bytes, name: str) -> bytes:
    """The JSON object in a body without one of its members; every other byte stays as it is.

    The body must be one that `read_object` reads.

    >>> without_member(b'{"a": 1,  "assay": {"x": [2]} , "b": 3}', "assay")
    b'{"a": 1,  "b": 3}'
    >>> without_member(b'{ "assay": 1 }', "assay")
    b'{ }'
    """
    text = body.decode("utf-8-sig")
    at = _blank(text, text.index("{") + 1)
    start = at
    while text[at] != "}":
        key, end = _DECODER.raw_decode(text, at)
        value_at = _blank(text, text.index(":", end) + 1)
        _, end = _DECODER.raw_decode(text, value_at)
        after = _blank(text, end)
        following = _blank(text, after + 1) if text[after] == "," else after
        if key == name:
            if text[after] != "," and start != at:
                # The last of several members: the comma before it goes with it.
                return (text[: text.rindex(",", 0, at)] + text[after:]).encode()
            return (text[:at] + text[following:]).encode()
        at = following
    return body


def _blank(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at
