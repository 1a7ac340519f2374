"""Committing: nothing reaches a sink through a guard without a valid receipt.

The order is fixed. 1. The receipt is verified for exactly this output, under the current key ring and the guard's own
policy. 2. Its age is checked. 3. Its one use is claimed, where all who share the record see it. 4. Only then is the
sink called, with the text that was verified. 5. The outcome is noted. If anything fails before 4, it is an error and
the sink is not called. A process that dies between 3 and 5 has used the receipt up: a sink sees it at most once.
"""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from assay.errors import CommitError, MissingPackageError, ReceiptError, StoreError
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
from assay.schema import HallucinationReport, Identity

LIFETIME: Final = timedelta(hours=1)
"""How long a receipt can be committed after it was issued. An output that waited longer must be checked again, because
evidence changes. It also bounds how long used receipts must be remembered."""
CLOCK_SKEW: Final = timedelta(minutes=5)
"""How far the signer's clock may be ahead of ours."""


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
"""The used receipts of this process, whichever guard committed them."""
_log = logging.getLogger("assay.guard")


def _now() -> datetime:
    return datetime.now(UTC)


class ReceiptDesk:
    """Issues receipts, and admits outputs that have one."""

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
        """A receipt for a report that was made under this policy and by this verifier.

        Raises:
            ReceiptError: another policy or verifier made it, it lets nothing out, or there is no key to sign with.
        """
        for what, ours, theirs in (("policy", policy, report.policy), ("verifier", verifier, report.verifier)):
            if ours != theirs:
                raise ReceiptError(
                    f"expected a report under this guard's own {what}, got one under another; nothing was signed"
                )
        return sign(
            report,
            self._keys.signer(),
            issued_at=self._clock(),
            receipt_id=new_receipt_id(),
            with_disclosure=with_disclosure,
        )

    def admit(self, output: str | bytes, receipt: ReceiptLike | None, policy: Identity, *, again: bool) -> Use:
        """Admits an output, or raises; steps 1 to 3.

        Args:
            output: the output that is to go out.
            receipt: its receipt.
            policy: the policy that it must have passed.
            again: whether a receipt that was used already may be used again.

        Returns:
            The claimed use, to be given to `settle`.

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
                "set the clocks of the signer and of this machine right",
                {"issued_ahead"},
            )
        use = Use.of(held, issued + self._lifetime)
        if now > use.until:
            raise CommitError(
                f"nothing was committed: the receipt was issued at {held.statement.issued_at} and could be used for "
                f"{self._lifetime}; check the output again",
                {"too_old"},
            )
        self._claim(use, now, again=again)
        return use

    def _claim(self, use: Use, now: datetime, *, again: bool) -> None:
        try:
            claim = self._used.claim(use, now)
        except (StoreError, MissingPackageError) as error:
            raise CommitError(
                "nothing was committed: it is not known whether this receipt was used already, because the record of "
                f"used receipts cannot be written: {error}",
                {"no_record"},
            ) from error
        if claim is Claim.FIRST or (claim is Claim.USED and again):
            return
        if claim is Claim.LATE:
            raise CommitError(
                f"nothing was committed: by the record of used receipts, one issued at {instant(use.issued)} can no "
                "longer be committed; check the output again, and give all who share the record the same lifetime of "
                "receipts",
                {"too_old"},
            )
        if claim is Claim.TAKEN:
            raise CommitError(
                "nothing was committed: the id of this receipt was used already by another receipt, or for another "
                "tenant; issue another receipt",
                {"used"},
            )
        raise CommitError(
            "nothing was committed: this receipt was used already; issue another for another commit, or mark the "
            "sink with assay.guard.Idempotent if calling it twice does no harm",
            {"used"},
        )

    def settle(self, use: Use, outcome: Outcome) -> None:
        """Notes the outcome of the sink; step 5. The commit is over by then, so a failure here is only logged."""
        try:
            self._used.settle(use, outcome)
        # The record of uses may be anybody's code. The sink has been called already: its result, or its own error,
        # must reach the caller whatever the record raises, and the use stays claimed.
        except Exception as error:  # noqa: BLE001
            _log.warning("the use of the receipt %s stays without an outcome: %s", use.receipt_id, error)
