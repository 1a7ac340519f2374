"""Whatever an upstream sends, an official SDK shows its client what was checked, and nothing else."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any
from zlib import crc32

import pytest
from tests.wire.sdk_eyes import CHAT, MESSAGES, RESPONSES, Seen, compact, eyes
from tests.wire.wire_grammar import LIES, Message, message_of

from assay.errors import InputError
from assay.guard.rulings import Ruling
from assay.guard.streams.holdback import Job
from assay.guard.streams.runner import drive
from assay.policy import labels_for
from assay.policy.modes import Mode
from assay.schema import Action, Coverage, Decision, HallucinationReport, Identity, Retrieval, Timing
from assay.schema.run.model import Run, ToolCall
from assay.verify.tools.call_check import CallCheck, CallStatus
from assay.wire.answers import settled
from assay.wire.exchange import Exchange
from assay.wire.flow import WireFlow
from assay.wire.formats.chat_completions import ChatCompletions
from assay.wire.formats.messages import Messages
from assay.wire.formats.responses import Responses
from assay.wire.interface import Json, Wire
from assay.wire.request_options import RequestOptions

WIRES: dict[str, Wire] = {CHAT: ChatCompletions(), RESPONSES: Responses(), MESSAGES: Messages()}
REQUESTS: dict[str, Json] = {
    CHAT: {"model": "model-1", "messages": [{"role": "user", "content": "?"}]},
    RESPONSES: {"model": "model-1", "input": "?"},
    MESSAGES: {"model": "model-1", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]},
}
NOTICE = "withheld"
TOLD = "Nothing is said of mothers."
NAMED = Identity(name="any", digest="0" * 64)
SEEDS = 400
MANY = 10_000
"""Messages of a format in the slow test; `benchmarks.wire_fuzz` tries ten times as many."""


@dataclass
class Checked:
    """What a check was given to read."""

    texts: dict[str, str] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)


def report_of(text: str, told: str | None) -> HallucinationReport:
    """The report of a text that is emitted, and behind which something may have to be told."""
    decision = Decision(action=Action.EMIT, route="serve", reasons=("It holds.",), response=told)
    return HallucinationReport(
        run_id="run_1",
        output=text,
        action=Action.EMIT,
        decision=decision,
        labels=labels_for(decision),
        retrieval=Retrieval(evidence=1, windows=1, pairs=1, pairs_possible=1),
        coverage=Coverage(characters=len(text), checked=len(text), not_checkable=0, unchecked=0),
        policy=NAMED,
        verifier=NAMED,
        timing=Timing(total_ms=0.0),
    )


class Reader(Exchange):
    """An exchange whose check lets out whatever says nothing of the lies, and remembers what it read.

    Behind some of the texts that pass it has the reader told something, which is then a part of what may be seen.
    """

    def begin(self) -> Checked:
        self.__dict__["read"] = Checked()
        return self.checked

    @property
    def checked(self) -> Checked:
        found: Checked = self.__dict__["read"]
        return found

    def whole(self, answer: Json) -> Ruling:
        ruling = super().whole(answer)
        shown = self.wire.shown(answer)
        self.checked.texts |= {
            name: _with_told(text) if ruling.passes else text for name, text in shown.texts.items() if text
        }
        return ruling

    def _text(self, text: str, *, with_calls: bool) -> Ruling:
        if any(lie in text for lie in LIES):
            return Ruling(Action.BLOCK.value, False, NOTICE)
        told = TOLD if _tells(text) else None
        return Ruling(Action.EMIT.value, True, told, reports=(report_of(text, told),))

    def part(self, job: Job) -> dict[str, Ruling]:
        found = super().part(replace(job, texts=()))
        for text in job.texts:
            ruling = self._text(text.text, with_calls=False)
            if text.final:
                self.checked.texts[text.channel] = _with_told(text.text) if ruling.passes else text.text
            found[text.channel] = ruling if text.final or not ruling.passes else replace(ruling, notice=None)
        return found

    def judge(self, run: Run, calls: Sequence[ToolCall]) -> Sequence[CallCheck]:
        made = []
        for call in calls:
            args = call.arguments
            words = args.verbatim if args.value is None else json.dumps(args.value, ensure_ascii=False)
            bad = any(lie in f"{call.name} {words} {call.model_dump_json()}" for lie in LIES)
            status = CallStatus.REJECTED if bad or not args.well_formed or not call.name else CallStatus.ACCEPTED
            if call.type in ("function", "custom"):
                self.checked.calls.append((call.name, compact(words or "")))
            made.append(CallCheck(call.name, args.value or {}, status, call_id=call.id))
        return made


def _tells(text: str) -> bool:
    return bool(text) and crc32(text.encode("utf-8", "surrogatepass")) % 3 == 0


def _with_told(text: str) -> str:
    return f"{text}\n\n{TOLD}" if _tells(text) else text


def reader(kind: str) -> Reader:
    guard: Any = None
    made = Reader(WIRES[kind], REQUESTS[kind], RequestOptions(), guard, "run_1")
    object.__setattr__(made, "check_calls", made.judge)
    made.begin()
    return made


def passed_on(sent: Message) -> tuple[bytes, Checked, bool]:
    """What goes out of a message, what was checked of it, and whether all of it passed."""
    exchange = reader(sent.kind)
    if not sent.streamed:
        try:
            body, ruling = settled(exchange, sent.body, Mode.ENFORCE, hides=True)
        except InputError:
            return b"", exchange.checked, False
        return body, exchange.checked, ruling.passes
    flow = WireFlow(exchange.wire, "run_1", enforces=True, hides=True, request=exchange.request)
    rng = Random(len(sent.body))
    pieces: list[bytes] = []
    at = 0
    while at < len(sent.body):
        end = at + rng.choice((1, 7, 64, 5_000))
        pieces.append(sent.body[at:end])
        at = end
    out = list(drive(pieces, flow, exchange.part))
    return b"".join(out), exchange.checked, flow.stopped is None


def difference(sent: Message) -> str | None:
    """How what an SDK shows differs from what was checked; none where it does not."""
    body, checked, passed = passed_on(sent)
    if not body:
        return None
    for number, seen in enumerate(eyes(sent.kind, body, streamed=sent.streamed)):
        said = {name: text for name, text in seen.texts.items() if text}
        lies = [lie for lie in LIES if lie in _told(seen)]
        if lies:
            return f"way {number} of looking shows {lies[0]!r}"
        if seen.raised and not passed:
            continue
        if passed and not seen.raised and not _shows(said, checked, sent):
            return f"way {number} of looking shows {said}, checked was {checked.texts}"
        all_shown = sorted(seen.calls) == sorted(checked.calls) or (sent.kind == RESPONSES and sent.streamed)
        if passed and not seen.raised and not all_shown:
            return f"way {number} of looking shows the calls {seen.calls}, checked were {checked.calls}"
        if any(call not in checked.calls for call in seen.calls) and not seen.raised:
            return f"way {number} of looking shows the calls {seen.calls}, checked were {checked.calls}"
        if not passed and not all(_begins(text, checked.texts, sent.kind) for text in said.values()):
            return f"way {number} of looking shows {said} of a withheld answer, checked was {checked.texts}"
    return None


def _told(seen: Seen) -> str:
    return " ".join((*seen.texts.values(), *map(str, seen.calls), seen.dumped))


def _shows(said: dict[str, str], checked: Checked, sent: Message) -> bool:
    """Whether what a client sees of an answer that passed is what was checked.

    A stream of responses says everything several times. A client that looks at one of these only misses what an
    upstream did not say there; but what it sees is one of the texts that were checked, all of it, and in their order.
    """
    known = {name: text for name, text in checked.texts.items() if text}
    if sent.kind != RESPONSES:
        return said == known
    shown = [said[name] for name in sorted(said, key=int)]
    left = iter(known[name] for name in sorted(known, key=int))
    return all(text in left for text in shown) and (sent.streamed or len(shown) == len(known))


def _begins(text: str, checked: dict[str, str], kind: str) -> bool:
    """Whether a text of a withheld answer is the notice, behind a beginning of what was checked or alone."""
    return text.removesuffix(NOTICE) != text or NOTICE in text or any(one.startswith(text) for one in checked.values())


def tried(kind: str, seeds: range) -> list[str]:
    """The messages in which the two differ."""
    wrong = []
    for seed in seeds:
        sent = message_of(Random(f"{kind}/{seed}"), kind)
        found = difference(sent)
        if found is not None:
            wrong.append(f"{kind}/{seed} ({', '.join(sent.done)}): {found}")
    return wrong


@pytest.mark.parametrize("kind", sorted(WIRES))
def test_what_an_sdk_shows_is_what_was_checked(kind: str) -> None:
    assert tried(kind, range(SEEDS)) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(WIRES))
def test_what_an_sdk_shows_is_what_was_checked_in_many_messages(kind: str) -> None:
    assert tried(kind, range(MANY)) == []


@pytest.mark.parametrize("kind", sorted(WIRES))
def test_what_a_provider_would_send_goes_out_as_it_came_unless_it_lies(kind: str) -> None:
    sent = [one for one in (message_of(Random(f"{kind}/{n}"), kind) for n in range(600)) if not one.done]
    lying = [any(lie in _heard(one) for lie in LIES) for one in sent]
    assert 5 < sum(lying) < len(sent) / 2
    for one, lies in zip(sent, lying, strict=True):
        out, _, passed = passed_on(one)
        thinks = b"reasoning" in one.body or b"thinking" in one.body
        assert passed != lies, one.body.decode()
        assert thinks or lies or TOLD.encode() in out or out == one.body


def _heard(sent: Message) -> str:
    """The words and the calls that an SDK would show of a message if it came as it is."""
    seen = next(eyes(sent.kind, sent.body, streamed=sent.streamed))
    commands = re.findall(r'"command": \[.*?\]', sent.body.decode())
    return " ".join((*seen.texts.values(), *map(str, seen.calls), *commands))


@pytest.mark.parametrize("name", ["name", "namespace"])
@pytest.mark.parametrize("kind", ["function_call", "custom_tool_call"])
@pytest.mark.parametrize(("begun", "ended"), [(None, "x"), ("", "x"), ("y", "x"), ("x", None), ("x", "")])
def test_a_call_of_responses_that_ends_with_another_name_than_it_began_with_does_not_go_out(
    kind: str, name: str, begun: str | None, ended: str | None
) -> None:
    words = {"function_call": "arguments", "custom_tool_call": "input"}[kind]
    part = {"function_call": "function_call_arguments", "custom_tool_call": "custom_tool_call_input"}[kind]
    item = {"id": "i0", "type": kind, "call_id": "c0", "name": "find", "status": "completed", words: "{}"}
    item = {**item, "namespace": "ours"} if name == "namespace" else item
    first = {**item, "status": "in_progress", words: "", name: begun}
    last = {**item, name: ended}
    answer = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    events: list[Json] = [
        {"type": "response.created", "response": {**answer, "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": first},
        {"type": f"response.{part}.delta", "item_id": "i0", "output_index": 0, "delta": "{}"},
        {"type": f"response.{part}.done", "item_id": "i0", "output_index": 0, words: "{}"},
        {"type": "response.output_item.done", "output_index": 0, "item": last},
        {"type": "response.completed", "response": {**answer, "status": "completed", "output": [last]}},
    ]
    body = "".join(
        f"event: {one['type']}\ndata: {json.dumps({**one, 'sequence_number': number})}\n\n"
        for number, one in enumerate(events)
    )
    out, _, passed = passed_on(Message(RESPONSES, True, body.encode(), ()))
    assert not passed
    assert b'"delta":"{}"' not in out.replace(b" ", b"")


def test_messages_in_which_the_two_once_differed_do_not_go_out() -> None:
    for seed in (35468, 63396, 69954, 75530, 90948, 2010451):
        assert difference(message_of(Random(f"{RESPONSES}/{seed}"), RESPONSES)) is None
    assert difference(message_of(Random(f"{CHAT}/2074106"), CHAT)) is None
