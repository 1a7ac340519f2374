"""The gate between a client and its model without the input and output: what to send, and what becomes of answers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from assay.errors import AssayError, InputError, VerifierError
from assay.guard import Ruling, unchecked
from assay.guard.streams import Check, ruled
from assay.integrations.clients.calls import Call, ClientGate, current_call
from assay.integrations.clients.paths import Paths
from assay.policy import Mode
from assay.wire import (
    FIELD,
    Ask,
    Exchange,
    Json,
    Reviser,
    Wire,
    WireFlow,
    encoded,
    read_object,
    resettled,
    sends_back,
    settled,
    with_member,
)
from assay.wire.parts import without_reasoning

OF_BODY: Final = ("content-length", "content-encoding", "transfer-encoding")
"""Headers about the bytes of a body, dropped where the gate changes the body."""
OF_REQUEST: Final = (b"content-length", b"idempotency-key", b"content-digest", b"content-md5", b"digest")
"""Headers about the body of one request, dropped when the model is asked again; a repeated idempotency key would
return the same answer."""
ASKING_S: Final = 300.0
"""Seconds after which a model is not asked again for an answer."""

T = TypeVar("T")


@dataclass(slots=True)
class Plan:
    """What is done with one request."""

    call: Call
    wire: Wire | None = None
    exchange: Exchange | None = None
    body: bytes | None = None
    """The body to send, where it is another one."""
    refused: str | None = None
    """Why it is not sent."""

    @property
    def checked(self) -> Exchange:
        """What the answer is checked against.

        Raises:
            InputError: it is not checked.
        """
        if self.exchange is None:
            raise InputError("this answer is not checked")
        return self.exchange


@dataclass(frozen=True, slots=True)
class Settled:
    """What becomes of an answer."""

    body: bytes
    ruling: Ruling
    lost: bool = False
    """Whether it could not even be read."""
    revision: Json | None = None
    """What asking again came to."""


class _Threads:
    """Runs checks on threads."""

    async def run(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work)


class Gatekeeper:
    """What both kinds of transports do between waiting."""

    def __init__(self, gate: ClientGate, paths: Paths) -> None:
        """A keeper of one client's gate."""
        self.gate, self.paths = gate, paths

    def plan(self, method: str, path: str) -> Plan:
        """The plan from what is known before the body is read."""
        call = current_call()
        call.error = call.outcome = None  # an earlier attempt of the client may have set them
        wire = self.paths.wire(method, path)
        if wire is None and self.gate.enforces and not self.paths.is_plain(method, path):
            return self._refuse(Plan(call), InputError(_no_path(method, path)))
        return Plan(call, wire)

    def read(self, plan: Plan, body: bytes) -> Plan:
        """The plan completed from the body of the request."""
        if plan.wire is None:
            return plan
        try:
            plan.exchange, forwarded = self.gate.exchange(plan.wire, body, plan.call)
        except InputError as error:
            if not self.gate.enforces and FIELD.encode() not in body:
                return plan  # sent on: the provider reports the fault best
            return self._refuse(plan, error)
        plan.body = forwarded if forwarded is not body else None
        return plan

    @staticmethod
    def _refuse(plan: Plan, error: AssayError) -> Plan:
        plan.call.error = error
        plan.refused = str(error)
        return plan

    def settle(self, plan: Plan, body: bytes) -> Settled:
        """Rules on a whole answer."""
        try:
            changed, ruling = settled(plan.checked, body, self.gate.mode, hides=self.gate.hides)
        except AssayError as error:
            return self._unchecked(plan, body, error)
        return Settled(changed, ruling)

    def _unchecked(self, plan: Plan, body: bytes, error: AssayError) -> Settled:
        """An answer that could not be checked; where not even its form can be kept, it is lost."""
        ruling = unchecked(str(error))
        summary = ruling.summary(plan.call.report_id)
        if self.gate.mode is Mode.ANNOTATE:
            return Settled(with_member(body, summary) if body.rstrip().endswith(b"}") else body, ruling)
        try:
            answer = self._shown(plan, read_object(body, "the model's answer"))
        except InputError:
            return Settled(b"{}", ruling, lost=True)
        return Settled(encoded(plan.checked.wire.withhold(answer, ruling.notice or "", summary)), ruling)

    def goes_back(self, found: Settled) -> bool:
        """Whether the model is asked again."""
        return self.gate.enforces and self.gate.attempts > 0 and not found.lost and sends_back("block", found.ruling)

    async def again(self, plan: Plan, body: bytes, found: Settled, ask: Ask) -> Settled:
        """Asks the model for a better answer; the withheld one where none passes."""
        exchange = plan.checked
        reviser = Reviser(exchange, _Threads(), ask, attempts=self.gate.attempts, seconds=ASKING_S)
        try:
            answer, ruling = await reviser.run(read_object(body, "the model's answer"), found.ruling)
        except AssayError as error:
            return self._unchecked(plan, body, error)
        if not reviser.cost.requests:
            return found
        cost = reviser.cost.summary()
        return Settled(resettled(exchange, self._shown(plan, answer), ruling, cost), ruling, revision=cost)

    def _shown(self, plan: Plan, answer: Json) -> Json:
        """What of an answer's reasoning may go out with it."""
        return without_reasoning(plan.checked.wire.name, answer) if self.gate.hides else answer

    def take(self, plan: Plan, found: Settled) -> bytes:
        """The body of an answer as the client gets it; an error to raise is put in the call."""
        self.gate.note(plan.call, found.ruling, revision=found.revision)
        if found.lost:
            plan.call.error = VerifierError(f"the model's answer was withheld: {found.ruling.reasons[0]}")
        else:
            self.gate.raise_where_asked(plan.call)
        return found.body

    def check(self, plan: Plan) -> Check:
        """What rules on the parts of a stream."""
        return plan.checked.part

    def flow(self, plan: Plan) -> WireFlow:
        """The flow of a stream."""
        says = self.gate.on_withheld == "answer"
        gate, wire = self.gate, plan.checked.wire
        return WireFlow(
            wire,
            plan.call.report_id,
            enforces=gate.enforces,
            says=says,
            hides=gate.hides,
            request=plan.checked.request,
        )

    def finish(self, plan: Plan, flow: WireFlow) -> None:
        """Records the ruling on a stream at its end."""
        ruling = flow.ruling
        if not flow.complete:
            ruling = unchecked("the stream was left before its end")
        self.gate.note(plan.call, ruling or unchecked("there was nothing to check"), timing=flow.timing)

    def look(self, plan: Plan, body: bytes, *, streamed: bool) -> None:
        """Checks an answer that has gone out."""
        try:
            if not streamed:
                _, ruling = settled(plan.checked, body, Mode.SHADOW)
                self.gate.note(plan.call, ruling)
                return
        except AssayError as error:
            self.gate.note(plan.call, unchecked(str(error)))
            return
        flow = self.flow(plan)
        flow.take(body, 0.0)
        flow.end(0.0)
        while (job := flow.job()) is not None:
            flow.settle(job, ruled(plan.checked.part, job), 0.0)
        flow.close()
        self.finish(plan, flow)

    def headers(self, plan: Plan, headers: Any) -> list[tuple[str, str]]:
        """The headers of an answer whose body was changed."""
        kept = [(name, value) for name, value in headers.multi_items() if name.lower() not in OF_BODY]
        outcome = plan.call.outcome
        action = outcome.action if outcome is not None else "pending"
        return [*kept, ("x-assay-action", action), ("x-assay-report-id", plan.call.report_id)]


def _no_path(method: str, path: str) -> str:
    return (
        f"{method} {path} is not sent, because what it answers could not be checked. Ask an unprotected client, or "
        "name it in `plain` where its answers hold no text of a model"
    )
