"""One request with its answer, and everything needed to check the answer, which is read once, off the event loop."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from assay.errors import InputError
from assay.guard import (
    Guard,
    Ruling,
    joint_ruling,
    ruling_on_calls,
    ruling_on_part,
    ruling_on_report,
    ruling_on_structure,
    unchecked,
)
from assay.guard.streams import Job
from assay.policy import without_disclosure
from assay.receipt import Receipt, refusal
from assay.schema import Action, HallucinationReport, Stakes
from assay.schema.run import ModelTurn, Run, TextPart, ToolCall
from assay.schema.traces import read_run
from assay.verify.documents import check_structure
from assay.verify.tools import CallCheck, check_tools
from assay.wire.fields import Fields, RequestContent
from assay.wire.interface import FIELD, Json, Wire, calls_of
from assay.wire.request_options import RequestOptions

CallChecker = Callable[[Run, Sequence[ToolCall]], Sequence[CallCheck]]
"""Checks the calls that a model requests against the run so far; returns one check for each call."""

MOST_DEPTH: Final = 100
"""Levels of nesting that a message may have by default. What walks through messages takes up to four calls a level,
and Python allows 1,000 of them."""
_DECODER: Final = json.JSONDecoder()


def check_new_calls(run: Run, calls: Sequence[ToolCall], now: datetime | None = None) -> Sequence[CallCheck]:
    """The checks of stage 1 on new calls, each against everything in the run before it.

    Relative dates count from `now`, by default the current time.
    """
    grown = run.append(*calls)
    return check_tools(grown, now=now or datetime.now(UTC)).calls[-len(calls) :]


@dataclass(frozen=True)
class Exchange:
    """One request and what its answer is checked against.

    The run is read when it is first needed, on the thread of that check; the checks of one exchange run one at a time.
    """

    wire: Wire
    request: Json
    asked: RequestOptions
    guard: Guard
    report_id: str
    stakes: Stakes = Stakes.MEDIUM
    fail_on: str = "revise"
    check_calls: CallChecker = check_new_calls

    @cached_property
    def now(self) -> datetime:
        """The time from which relative dates count."""
        return datetime.now(UTC)

    @cached_property
    def run(self) -> Run:
        """The run that the request describes, without the field `assay`."""
        request = {name: value for name, value in self.request.items() if name != FIELD}
        return read_run(request, format=self.wire.name, run_id=self.report_id)

    def whole(self, answer: Json) -> Ruling:
        """The ruling on a complete answer."""
        fault = Fields.of(self.wire.name).fault("answer", answer, RequestContent(self.request))
        if fault is not None:
            return unchecked(f"the answer has {fault}")
        shown = self.wire.shown(answer)
        if shown.unreadable is not None:
            return unchecked(shown.unreadable)
        rulings = [self._text(text, with_calls=bool(shown.calls)) for text in shown.texts.values()]
        if shown.calls:
            rulings.append(ruling_on_calls(self.check_calls(self.run, shown.calls)))
        return joint_ruling(rulings)

    def part(self, job: Job) -> dict[str, Ruling]:
        """The rulings on what a stream has shown since the last job, by channel and by call."""
        rulings: dict[str, Ruling] = {}
        for text in job.texts:
            if text.final:
                ruling = self._text(text.text, with_calls=job.with_calls)
                # A text that needs a disclosure does not pass here: its first sentences went out without one.
                needs_no_disclosure = ruling.action == Action.EMIT.value or ruling.notice is None
                rulings[text.channel] = ruling if needs_no_disclosure else replace(ruling, passes=False)
            else:
                report = self.report(text.text, claim_free=True)
                rulings[text.channel] = ruling_on_part(report, self.fail_on, begun=text.begun)
        calls: list[ToolCall] = []
        for answer in job.calls.values():
            read, unknown = calls_of(answer, self.wire.name)
            if unknown is not None or not read:
                ruling = unchecked(unknown or "a call cannot be read")
                return rulings | dict.fromkeys(job.calls, ruling)
            calls += read
        if calls:
            rulings |= dict.fromkeys(job.calls, ruling_on_calls(self.check_calls(self.run, calls)))
        return rulings

    def on_revised(self, report: HallucinationReport) -> Ruling:
        """The ruling on a revised text, from the report of its check."""
        return ruling_on_report(report, self.fail_on)

    def _text(self, text: str, *, with_calls: bool) -> Ruling:
        # Text beside tool calls is not the final answer yet: it need not contain claims, nor answer the question.
        report = self.report(text, claim_free=self.asked.claim_free or with_calls)
        ruling = ruling_on_report(without_disclosure(report) if with_calls else report, self.fail_on)
        schema = self.wire.schema(self.request)
        if schema is None or with_calls or not ruling.passes:
            return ruling
        faults = check_structure(text, schema)
        return ruling if not faults else ruling_on_structure(ruling, faults)

    def receipt(self, report: HallucinationReport, *, discloses: bool) -> Receipt | None:
        """The receipt of a text of this answer; none where the text may not go out, or only in another form.

        Args:
            report: the report on the text.
            discloses: whether disclosures are added to texts.

        Raises:
            ReceiptError: there is no key to sign with; then the text must not go out.
        """
        disclosed = discloses and report.decision.response is not None
        if refusal(report, with_disclosure=disclosed) is not None:
            return None
        return self.guard.issue(report, with_disclosure=disclosed)

    def report(self, text: str, *, claim_free: bool | None = None, revisions_failed: int = 0) -> HallucinationReport:
        """The report on the run with this text as its answer.

        Args:
            text: the answer.
            claim_free: whether it is declared to contain no claims; by default what the request says.
            revisions_failed: the number of earlier revisions of it that failed.
        """
        options = self.asked
        return self.guard.check_run(
            self.run.append(ModelTurn(content=(TextPart(text=text),))),
            now=self.now,
            sources=options.counted,
            evidence=options.evidence,
            question=options.question,
            stakes=options.stakes or self.stakes,
            task=options.task,
            claim_free=options.claim_free if claim_free is None else claim_free,
            revisions_failed=revisions_failed,
            run_id=self.report_id,
        )


def read_object(body: bytes, what: str, *, most_depth: int = MOST_DEPTH) -> Json:
    """The JSON object in a body.

    Args:
        body: the body, in UTF-8.
        what: what the body is, for the message of an error, such as "the request".
        most_depth: the deepest level of nesting that is accepted.

    Raises:
        InputError: it is no JSON object, names a member twice, or is nested more than `most_depth` levels deep.
    """
    try:
        # Bytes in another encoding would be read by some, and as something else by others.
        value = json.loads(body.decode("utf-8-sig"), object_pairs_hook=members_once)
    except (ValueError, RecursionError) as error:
        # ValueError: no JSON, or bytes that are no text.
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"{what} must be a JSON object: {why}") from error
    if not isinstance(value, dict):
        raise InputError(f"{what} must be a JSON object, got {type(value).__name__}")
    if body.count(b"{") + body.count(b"[") > most_depth:  # as many levels take as many brackets
        require_depth(value, most_depth, what)
    return value


def members_once(pairs: list[tuple[str, Any]]) -> Json:
    """The members of a JSON object, for `object_pairs_hook` of `json.loads`.

    Raises:
        InputError: a name occurs twice.
    """
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


def require_depth(value: object, most: int, what: str = "the request") -> None:
    """Refuses a value that is nested too deep.

    Raises:
        InputError: it is nested more than `most` levels deep.
    """
    if depth_of(value, most) > most:
        raise InputError(f"{what} is nested more than {most} levels deep")


def without_member(body: bytes, name: str) -> bytes:
    """The JSON object in a body without one of its members; every other byte is unchanged.

    `read_object` must accept the body.

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
