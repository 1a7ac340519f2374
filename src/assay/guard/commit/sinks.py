"""Committing outputs to sinks, in the order that `assay.guard.commit.receipts` fixes.

The functions with `self` are methods of `Guard` (docs/adr/0080).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from assay.errors import CommitError, ReceiptError
from assay.guard.commit.receipts import Idempotent, ReceiptDesk
from assay.guard.parts import GuardParts, HasParts
from assay.policy import Route
from assay.policy.calibration import objection_to_release
from assay.receipt import Outcome, Receipt, ReceiptLike
from assay.schema import Action, HallucinationReport

Output = TypeVar("Output", str, bytes)
Result = TypeVar("Result")


def issue(self: HasParts, report: HallucinationReport, *, with_disclosure: bool = False) -> Receipt:
    """A receipt for a report of this guard that lets its output out.

    What the report holds is decided on once more: one that was given another output, other claims, another score
    or another decision than a check has made is refused. What a reviewer approved is only checked against its digests.

    Args:
        report: what `check` found.
        with_disclosure: for a report with the route `serve_with_disclosure`, and for one that is emitted and whose
            reader is told something: a receipt for the output with that, in one text (`assay.receipt.disclosed`).

    Raises:
        ReceiptError: the report lets nothing out, another policy or verifier made it, or there is no key.
    """
    parts = self._parts
    policy, verifier = parts.policy_identity, parts.verifier
    lets_out = report.action is Action.EMIT or with_disclosure
    if lets_out and report.decision.route != Route.SERVE_APPROVED and report.policy == policy:
        objection = objection_to_release(report.model_dump(mode="json", exclude={"timing"}), parts.policy)
        if objection is not None:
            raise ReceiptError(f"expected a report that lets its output out, but {objection}; nothing was signed")
    return _desk_of(parts).issue(report, policy, verifier, with_disclosure=with_disclosure)


def commit(self: HasParts, output: Output, receipt: ReceiptLike | None, sink: Callable[[Output], Result]) -> Result:
    """Hand an output to a sink, if its receipt holds for it under this guard's policy.

    A receipt can be used once by all who share the record of used receipts (a database, or else this process), also
    if the sink then raises or the process dies: whether it took effect is not known. A sink marked with
    `Idempotent` may have it again.

    Args:
        output: exactly what the receipt was issued for.
        receipt: the receipt, its text, or its object.
        sink: what to call with the output; its exceptions pass through.

    Returns:
        What the sink returned.

    Raises:
        CommitError: there is no receipt, it does not hold, is too old or was used, or the record of used receipts
            cannot be written; the sink was not called.
        ReceiptError: the keys cannot be read; the sink was not called.
    """
    if _is_async(sink):
        raise CommitError("nothing was committed: the sink is asynchronous; use acommit", {"async_sink"})
    exact = _exact(output)
    desk = _desk_of(self._parts)
    use = desk.admit(exact, receipt, self._parts.policy_identity, again=isinstance(sink, Idempotent))
    try:
        result = sink(exact)
    except BaseException:  # the sink is anybody's code, and an interrupt counts too: noted and raised again
        desk.settle(use, Outcome.RAISED)
        raise
    desk.settle(use, Outcome.RETURNED)
    return result


async def acommit(
    self: HasParts,
    output: Output,
    receipt: ReceiptLike | None,
    sink: Callable[[Output], Awaitable[Result]] | Callable[[Output], Result],
) -> Result:
    """As `commit`, with the receipt verified and its use recorded off the event loop.

    The sink is called on the loop, and what it returns is awaited if it can be.
    """
    import asyncio

    exact = _exact(output)
    desk, again = _desk_of(self._parts), isinstance(sink, Idempotent)
    use = await asyncio.to_thread(desk.admit, exact, receipt, self._parts.policy_identity, again=again)
    try:
        result = sink(exact)
        done = cast("Result", await result if inspect.isawaitable(result) else result)
    except GeneratorExit:
        raise  # nobody awaits this any more, and nothing can be awaited here: the use stays without an outcome
    except BaseException:  # as in `commit`; a cancellation counts too
        await asyncio.to_thread(desk.settle, use, Outcome.RAISED)
        raise
    await asyncio.to_thread(desk.settle, use, Outcome.RETURNED)
    return done


def _desk_of(parts: GuardParts) -> ReceiptDesk:
    if parts.receipts is None:
        raise CommitError(
            "nothing was committed: this guard has no keys; give it some with Guard(keys=...) or "
            "ASSAY_RECEIPT_KEYS, made with `assay receipt create-key`",
            {"no_keys"},
        )
    return parts.receipts


def _exact(output: Output) -> Output:
    """The output as plain `str` or `bytes`: a subclass could show one text to the verifier and another to the sink.

    Raises:
        CommitError: it is neither text nor bytes.
    """
    if isinstance(output, str):
        return str.__str__(output)
    if isinstance(output, bytes):
        return bytes.__getitem__(output, slice(None))
    raise CommitError(
        f"nothing was committed: expected an output as str or bytes, got {type(output).__name__}", {"other_output"}
    )


def _is_async(sink: Callable[..., Any]) -> bool:
    called = sink.sink if isinstance(sink, Idempotent) else sink
    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(getattr(called, "__call__", None))  # noqa: B004 the method
