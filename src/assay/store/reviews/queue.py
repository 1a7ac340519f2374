"""Acting on the review queue: claim, release, assign, decide, ask for evidence.

An act is one change: the item, a row among the decisions of its run, an entry in the audit log, and a message to the
recipients, all together or not at all. It runs while the tenant's log is locked, so that acts on one item are
serialized whichever process they come from; each sees the item as the previous one left it. So two people never decide
the same item, and a missed deadline is handled before an act that comes too late.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row

from assay.errors import ReviewError
from assay.policy import deadline_of
from assay.receipt import Receipt
from assay.schema import Evidence, HallucinationReport, ReviewAct, ReviewItem, ReviewState
from assay.schema.report_parts import Tier
from assay.store.audit.binding import touch
from assay.store.audit.entries import RECEIPT, entry
from assay.store.audit.log import Entry
from assay.store.audit.units import RUN
from assay.store.db.column_values import checked_tenant, micros, storable
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.run_events import receipt_fields
from assay.store.reviews.actions import (
    UNCLAIMED,
    ActResult,
    Move,
    apply_move,
    decision_move,
    further_report,
    held_by,
    optional_reason,
    overdue_move,
    report_id_in,
    require_as_seen,
    require_free,
    require_undecided,
    required_reason,
    reread,
    set_values,
    supplied_rows,
)
from assay.store.reviews.actions import ReviewDecision as ReviewDecision  # noqa: PLC0414
from assay.store.reviews.actions import Reviewer as Reviewer  # noqa: PLC0414 importers look for them here
from assay.store.reviews.items import item_of, read_row, rules_of

LEASE: Final = timedelta(minutes=15)
"""How long a claim lasts. Somebody who continues working claims again; somebody who vanishes loses the item."""

Step = Callable[[Connection, Row[Any], datetime], Move | None]
"""Returns the changes of an act on an item; None if there are none."""


class Reviews:
    """The review queue of a store."""

    def __init__(self, store: Store, *, lease: timedelta = LEASE) -> None:
        """Create the queue; a claim lasts for `lease`."""
        self._store, self._lease = store, lease

    @property
    def store(self) -> Store:
        """The store of the queue."""
        return self._store

    def claim(self, tenant: str, id_: str, who: Reviewer, version: int | None = None) -> ReviewItem:
        """Claim an item for a while; a further claim by its holder only extends the lease.

        Args:
            tenant: whose item.
            id_: the id of the item.
            who: the reviewer.
            version: the version that they have seen; any by default.

        Raises:
            ReviewError: there is no such item, somebody else holds it or is assigned to it, or it was decided.
        """

        def step(connection: Connection, row: Row[Any], now: datetime) -> Move | None:
            until = micros(now + self._lease)
            if held_by(row, now) == who.name:
                set_values(connection, row, {"held_until": until})
                return None
            require_free(connection, row, who, now)
            return Move(ReviewAct.CLAIM, who.name, {"holder": who.name, "claimed": micros(now), "held_until": until})

        return self._act(tenant, id_, version, step)

    def release(
        self, tenant: str, id_: str, who: Reviewer, reason: str | None = None, version: int | None = None
    ) -> ReviewItem:
        """Release an item, so that others can claim it.

        Raises:
            ReviewError: the reviewer does not hold it.
        """

        def step(_: Connection, row: Row[Any], now: datetime) -> Move:
            holder = held_by(row, now)
            if holder is None or (holder != who.name and not who.admin):
                raise ReviewError(f"expected an item that {who.name} has; this one is not theirs", "held")
            return Move(ReviewAct.RELEASE, who.name, {**UNCLAIMED, "assignee": None}, optional_reason(reason))

        return self._act(tenant, id_, version, step)

    def assign(
        self,
        tenant: str,
        id_: str,
        actor: str,
        *,
        to: str | None = None,
        expertise: str | None = None,
        reason: str | None = None,
        version: int | None = None,
    ) -> ReviewItem:
        """Assign an item to a reviewer, or require expertise for it; nobody else may claim it then.

        Args:
            tenant: whose item.
            id_: the id of the item.
            actor: who assigns it.
            to: the new assignee; nobody in particular by default.
            expertise: the expertise that a reviewer needs; unchanged by default.
            reason: the reason.
            version: the version that the actor has seen; any by default.

        Raises:
            ReviewError: it was decided, or somebody else holds it.
        """

        assignee, field = (None if text is None else storable(text) for text in (to, expertise))

        def step(_: Connection, row: Row[Any], now: datetime) -> Move:
            holder = held_by(row, now)
            if holder is not None and holder not in (to, actor):
                raise ReviewError(f"{holder} has the item; let them give it back first", "held")
            values = {**UNCLAIMED, "assignee": assignee, "expertise": field or row.expertise}
            return Move(ReviewAct.ASSIGN, actor, values, optional_reason(reason), committed=(assignee, field))

        return self._act(tenant, id_, version, step)

    def decide(
        self, tenant: str, id_: str, who: Reviewer, verdict: ReviewDecision, version: int | None = None
    ) -> ReviewItem:
        """Decide on an item, finally.

        It need not be claimed first, but nobody else may hold it.

        Raises:
            ReviewError: there is no such item, it was changed, somebody else holds it, or it was decided already.
        """
        reason = required_reason(verdict.reason)

        def step(connection: Connection, row: Row[Any], now: datetime) -> Move:
            if held_by(row, now) != who.name:
                require_free(connection, row, who, now)
            return decision_move(connection, row, who, verdict, reason, now)

        return self._act(tenant, id_, version, step)

    def ask(self, tenant: str, id_: str, who: Reviewer, reason: str, version: int | None = None) -> ReviewItem:
        """Ask the caller for evidence; the item waits for it, and its deadline stays.

        Raises:
            ReviewError: as for `decide`.
        """
        stored_reason = required_reason(reason)

        def step(connection: Connection, row: Row[Any], now: datetime) -> Move:
            if held_by(row, now) != who.name:
                require_free(connection, row, who, now)
            values = {**UNCLAIMED, "state": ReviewState.EVIDENCE.value, "assignee": who.name}
            return Move(ReviewAct.ASK, who.name, values, stored_reason, event="review.evidence")

        return self._act(tenant, id_, version, step)

    def supply(
        self,
        tenant: str,
        id_: str,
        actor: str,
        evidence: Sequence[Evidence],
        report: HallucinationReport,
        version: int | None = None,
    ) -> ReviewItem:
        """Add evidence that the caller supplied, and the report of the output checked against all evidence; the item is
        open again.

        Raises:
            ReviewError: it was decided, or there is no evidence to add.
        """
        if not evidence:
            raise ReviewError("expected at least one piece of evidence", "refused")

        def step(connection: Connection, row: Row[Any], now: datetime) -> Move:
            rules, weight = rules_of(row)
            rows, ids, digests = supplied_rows(connection, row, evidence, micros(now))
            new, body = further_report(row, report, now)
            values = {
                "state": ReviewState.OPEN.value,
                "report": report_id_in(new),
                "deadline": micros(deadline_of(rules, Tier(row.tier), now)),
                "risk": weight * (1 - (report.overall_score or 0.0)),
            }
            return Move(
                ReviewAct.SUPPLY,
                actor,
                values,
                details={"supplied": len(digests)},
                committed=(ids, digests, body),
                rows={**rows, **new},
                event="review.supplied",
            )

        return self._act(tenant, id_, version, step)

    def settle(self, tenant: str, id_: str) -> ReviewItem:
        """Apply the policy to an item whose deadline has passed; nothing happens if it has not.

        Raises:
            ReviewError: there is no such item.
        """
        return self._act(tenant, id_, None, None)

    def keep_receipt(self, tenant: str, id_: str, receipt: Receipt) -> ReviewItem:
        """Store the receipt of a released text with the item, unless it has one, and log it.

        Raises:
            ReviewError: there is no such item, or nothing of it was released.
        """
        data = receipt_fields(receipt)

        def work(connection: Connection, row: Row[Any], _: datetime) -> ActResult:
            outcome = item_of(row).outcome
            if outcome is None or outcome.output is None:
                return (), ReviewError("nothing of this item was released", "refused")
            if outcome.receipt is not None:
                return (), None
            touch(connection, RUN, [row.run])
            kept = outcome.model_copy(update={"receipt": receipt.to_text()}).model_dump(mode="json")
            set_values(connection, row, {"outcome": kept})
            return [entry(RECEIPT, row.run, data)], None

        return self._run(tenant, id_, work)

    # One act

    def _act(self, tenant: str, id_: str, version: int | None, step: Step | None) -> ReviewItem:
        def work(connection: Connection, row: Row[Any], now: datetime) -> ActResult:
            entries: list[Entry] = []
            try:
                require_as_seen(row, version)
                missed = overdue_move(row, now)
                if missed is not None:
                    entries.append(apply_move(connection, row, missed, now))
                    row = reread(connection, row)
                if step is not None:
                    require_undecided(row)
                    move = step(connection, row, now)
                    entries += () if move is None else (apply_move(connection, row, move, now),)
            except ReviewError as error:
                return entries, error
            return entries, None

        return self._run(tenant, id_, work)

    def _run(self, tenant: str, id_: str, work: Callable[[Connection, Row[Any], datetime], ActResult]) -> ReviewItem:
        """Run a function on an item while nobody else can change it; returns the item after that."""
        now = self._store.now()
        result: list[ReviewItem | ReviewError] = []

        def act(connection: Connection) -> Sequence[Entry]:
            # It may run twice, if another change of its transaction could not be stored.
            result.clear()
            row = read_row(connection, tenant, id_)
            if row is None:
                result.append(ReviewError(f"expected an item of {tenant}, and there is none with this id", "missing"))
                return ()
            entries, error = work(connection, row, now)
            result.append(item_of(reread(connection, row)) if error is None else error)
            return entries

        self._store.apply(Change(checked_tenant(tenant), act=act))
        if isinstance(result[0], ReviewError):
            raise result[0]
        return result[0]
