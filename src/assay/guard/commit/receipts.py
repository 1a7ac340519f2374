"""Committing: nothing reaches a sink through a guard without a receipt that holds.

The order is fixed. 1. The receipt is verified for exactly this output, under the ring as it is now and under the
guard's own policy. 2. Its age is looked at. 3. Its one use is claimed, where all who share the record see it. 4. Only
then is the sink called, with the text that was verified. 5. What became of it is noted. Whatever fails before 4 is an
error, and the sink is not called; who dies between 3 and 5 has used the receipt up: a sink sees it at most once.
"""

import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar, cast

from assay.errors import CommitError, MissingPackageError, ReceiptError, StoreError
from assay.policy import Policy, Route
from assay.policy.calibration import undecided
from assay.receipt import (
    Claim,
    Keys,
    Outcome,
    Receipt,
    ReceiptLike,
    Use,
    Uses,
    UsesInMemory,
    instant,
    moment_of,
    new_receipt_id,
    sign,
    verify,
)
from assay.schema import Action, HallucinationReport, Identity

LIFETIME: Final = timedelta(hours=1)
"""How long a receipt can be committed after it was issued. An output that waited longer is checked again: evidence
changes. It also bounds what has to be remembered of used receipts."""
CLOCK_SKEW: Final = timedelta(minutes=5)
"""How far the clock of the signer may be ahead of ours."""

Output = TypeVar("Output", str, bytes)
Result = TypeVar("Result")


class Idempotent:
    """Marks a sink that may be called twice with the same output without harm, such as a write under a fixed key.

    >>> Idempotent(len)("four")
    4
    """

    __slots__ = ("_sink",)

    def __init__(self, sink: Callable[..., Any]) -> None:
        """Mark a sink."""
        self._sink = sink

    @property
    def sink(self) -> Callable[..., Any]:
        """The sink itself."""
        return self._sink

    def __call__(self, output: str | bytes) -> Any:
        """Call the sink."""
        return self._sink(output)


_USED: Final = UsesInMemory()
"""Those of this process, whichever guard committed them."""
_log = logging.getLogger("assay.guard")


def _now() -> datetime:
    return datetime.now(UTC)


class ReceiptDesk:
    """Issues receipts and lets outputs through that have one."""

    def __init__(
        self,
        keys: Keys,
        *,
        lifetime: timedelta = LIFETIME,
        clock: Callable[[], datetime] = _now,
        used: Uses = _USED,
    ) -> None:
        """Set up a desk.

        Args:
            keys: where public and private keys come from; asked at every use, so that a revocation counts at once.
            lifetime: how long a receipt can be committed after it was issued.
            clock: the time, with its zone.
            used: where used receipts are remembered; the memory of this process by default, so that another process
                may commit the same receipt once more.

        Raises:
            ReceiptError: the lifetime is not above zero.
        """
        if lifetime <= timedelta(0):
            raise ReceiptError(f"expected a lifetime of receipts above zero, got {lifetime}")
        self._keys = keys
        self._lifetime = lifetime
        self._clock = clock
        self._used = used

    def issue(
        self, report: HallucinationReport, policy: Identity, verifier: Identity, *, with_disclosure: bool = False
    ) -> Receipt:
        """A receipt for a report that this policy and this verifier made.

        Raises:
            ReceiptError: others made it, it lets nothing out, or there is no key to sign with.
        """
        for what, ours, theirs in (("policy", policy, report.policy), ("verifier", verifier, report.verifier)):
            if ours != theirs:
                raise ReceiptError(
                    f"expected a report under this guard's own {what}, got one under another; nothing was signed"
                )
        return sign(
            report, self._keys.signer(), issued_at=self._clock(), receipt_id=new_receipt_id(),
            with_disclosure=with_disclosure,
        )  # fmt: skip

    def admit(self, output: str | bytes, receipt: ReceiptLike | None, policy: Identity, *, again: bool) -> Use:
        """Let an output through, or raise; steps 1 to 3.

        Args:
            output: what is to go out.
            receipt: what it carries.
            policy: the policy that it must have passed.
            again: whether a receipt that was used already is good once more.

        Returns:
            What was claimed; `settle` is told of it.

        Raises:
            CommitError: there is no receipt, it does not hold, or it cannot be told whether it was used.
            ReceiptError: the ring cannot be read, or `cryptography` is not installed.
        """
        found = verify(output, receipt, self._keys.ring(), policy=policy.digest)
        if not found.valid or found.receipt is None:
            raise CommitError(f"nothing was committed: {found.message}", found.codes)
        held, now = found.receipt, self._clock()
        issued = moment_of(held.statement.issued_at)
        if issued > now + CLOCK_SKEW:
            raise CommitError(
                f"nothing was committed: the receipt was issued at {held.statement.issued_at}, which lies ahead; "
                "set the clocks of the signer and of this machine right", {"issued_ahead"},
            )  # fmt: skip
        use = Use.of(held, issued + self._lifetime)
        if now > use.until:
            raise CommitError(
                f"nothing was committed: the receipt was issued at {held.statement.issued_at} and could be used for "
                f"{self._lifetime}; check the output again", {"too_old"},
            )  # fmt: skip
        self._claim(use, now, again=again)
        return use

    def _claim(self, use: Use, now: datetime, *, again: bool) -> None:
        try:
            claim = self._used.claim(use, now)
        except (StoreError, MissingPackageError) as error:
            raise CommitError(
                "nothing was committed: it cannot be told whether this receipt was used already, because the record of "
                f"used receipts cannot be written: {error}", {"no_record"},
            ) from error  # fmt: skip
        if claim is Claim.FIRST or (claim is Claim.USED and again):
            return
        if claim is Claim.LATE:
            raise CommitError(
                f"nothing was committed: by the record of used receipts, one issued at {instant(use.issued)} can no "
                "longer be committed; check the output again, and give all who share the record the same lifetime of "
                "receipts", {"too_old"},
            )  # fmt: skip
        if claim is Claim.TAKEN:
            raise CommitError(
                "nothing was committed: the id of this receipt was used already by another receipt, or for another "
                "tenant; issue another receipt", {"used"},
            )  # fmt: skip
        raise CommitError(
            "nothing was committed: this receipt was used already; issue another for another commit, or mark the "
            "sink with assay.guard.Idempotent if calling it twice does no harm", {"used"},
        )  # fmt: skip

    def settle(self, use: Use, outcome: Outcome) -> None:
        """Note what became of the sink; step 5. The commit is over by then: what fails here is only logged."""
        try:
            self._used.settle(use, outcome)
        except Exception as error:  # noqa: BLE001 the sink was called; its result or its error is what counts
            _log.warning("the use of the receipt %s stays without an outcome: %s", use.receipt_id, error)


class Committing(ABC):
    """The part of a guard that issues receipts and commits outputs; it needs what the guard has."""

    _receipts: ReceiptDesk | None
    _policy: Policy

    @property
    @abstractmethod
    def _identities(self) -> tuple[Identity, Identity]:
        """The policy and the verifier in force."""

    @property
    def has_keys(self) -> bool:
        """Whether it was given keys, so that it issues receipts."""
        return self._receipts is not None

    def issue(self, report: HallucinationReport, *, with_disclosure: bool = False) -> Receipt:
        """A receipt for a report of this guard that lets its output out.

        What the report holds is decided on once more: one that was given another output, other claims, another score
        or another decision than a check has made is refused. What a reviewer approved is only held against its digests.

        Args:
            report: what `check` found.
            with_disclosure: for a report with the route `serve_with_disclosure`, and for one that is emitted and whose
                reader is told something: a receipt for the output with that, in one text (`assay.receipt.disclosed`).

        Raises:
            ReceiptError: the report lets nothing out, another policy or verifier made it, or there is no key.
        """
        policy, verifier = self._identities
        lets_out = report.action is Action.EMIT or with_disclosure
        if lets_out and report.decision.route != Route.SERVE_APPROVED and report.policy == policy:
            why = undecided(report.model_dump(mode="json", exclude={"timing"}), self._policy)
            if why is not None:
                raise ReceiptError(f"expected a report that lets its output out, but {why}; nothing was signed")
        return self._desk.issue(report, policy, verifier, with_disclosure=with_disclosure)

    async def aissue(self, report: HallucinationReport, *, with_disclosure: bool = False) -> Receipt:
        """As `issue`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.issue, report, with_disclosure=with_disclosure)

    def commit(self, output: Output, receipt: ReceiptLike | None, sink: Callable[[Output], Result]) -> Result:
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
        desk = self._desk
        use = desk.admit(exact, receipt, self._identities[0], again=isinstance(sink, Idempotent))
        try:
            result = sink(exact)
        except BaseException:
            desk.settle(use, Outcome.RAISED)
            raise
        desk.settle(use, Outcome.RETURNED)
        return result

    async def acommit(
        self,
        output: Output,
        receipt: ReceiptLike | None,
        sink: Callable[[Output], Awaitable[Result]] | Callable[[Output], Result],
    ) -> Result:
        """As `commit`, with the receipt verified and its use recorded off the event loop.

        The sink is called on the loop, and what it returns is awaited if it can be.
        """
        import asyncio

        exact = _exact(output)
        desk, again = self._desk, isinstance(sink, Idempotent)
        use = await asyncio.to_thread(desk.admit, exact, receipt, self._identities[0], again=again)
        try:
            result = sink(exact)
            done = cast("Result", await result if inspect.isawaitable(result) else result)
        except GeneratorExit:
            raise  # nobody awaits this any more, and nothing can be awaited here: the use stays without an outcome
        except BaseException:
            await asyncio.to_thread(desk.settle, use, Outcome.RAISED)
            raise
        await asyncio.to_thread(desk.settle, use, Outcome.RETURNED)
        return done

    @property
    def _desk(self) -> ReceiptDesk:
        if self._receipts is None:
            raise CommitError(
                "nothing was committed: this guard has no keys; give it some with Guard(keys=...) or "
                "ASSAY_RECEIPT_KEYS, made with `assay receipt create-key`", {"no_keys"},
            )  # fmt: skip
        return self._receipts


def _exact(output: Output) -> Output:
    """The text itself: a subclass could show one text to the verifier and another to the sink.

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
