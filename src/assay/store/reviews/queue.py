"""Acting on the review queue: claim, release, assign, decide, ask for evidence.

An act is one change: the item, a row among the decisions of its run, an entry in the audit log, and a message for those
who are to hear of it, all together or not at all. It runs while the tenant's log is locked, so that acts on one item
follow each other whichever process they come from; each looks at the item as the one before it has left it. So two
people never decide the same item, and a deadline that has passed is settled before whoever comes too late.
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
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.recording import checked_tenant, micros, storable
from assay.store.reviews.actions import (
    LET_GO,
    Move,
    Worked,
    carry_out,
    deciding,
    further_report,
    held_by,
    lateness,
    named_of,
    require_as_seen,
    require_free,
    require_undecided,
    required_words,
    reread,
    set_values,
    supplied_rows,
    words_of,
)
from assay.store.reviews.actions import Reviewer as Reviewer  # noqa: PLC0414 the queue is where others look for them
from assay.store.reviews.actions import Verdicts as Verdicts  # noqa: PLC0414
from assay.store.reviews.items import item_of, read_row, rules_of

LEASE: Final = timedelta(minutes=15)
"""How long a claim holds. Whoever goes on working claims again; whoever vanishes loses it."""

Step = Callable[[Connection, Row[Any], datetime], Move | None]
"""Looks at an item and says what an act changes; nothing where it is none."""


class Reviews:
    """The review queue of a store."""

    def __init__(self, store: Store, *, lease: timedelta = LEASE) -> None:
        """The queue; a claim holds for `lease`."""
        self._store, self._lease = store, lease

    @property
    def store(self) -> Store:
        """The store that it is in."""
        return self._store

    def claim(self, tenant: str, id_: str, who: Reviewer, version: int | None = None) -> ReviewItem:
        """Take an item for a while; taken again by its holder, it is held for longer, and nothing else changes.

        Args:
            tenant: whose.
            id_: the item.
            who: the reviewer.
            version: the version that they have seen, where that matters.

        Raises:
            ReviewError: it is not there, somebody else has it or is meant to have it, or it was decided.
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
        """Give an item back, so that others can take it.

        Raises:
            ReviewError: they do not have it.
        """

        def step(_: Connection, row: Row[Any], now: datetime) -> Move:
            holder = held_by(row, now)
            if holder is None or (holder != who.name and not who.admin):
                raise ReviewError(f"expected an item that {who.name} has; this one is not theirs", "held")
            return Move(ReviewAct.RELEASE, who.name, {**LET_GO, "assignee": None}, words_of(reason))

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
        """Give an item to somebody, or to those who know a field; nobody else may take it then.

        Args:
            tenant: whose.
            id_: the item.
            actor: who does so.
            to: whom it is given to; nobody in particular by default.
            expertise: what a reviewer has to know; as it is by default.
            reason: why.
            version: the version that they have seen.

        Raises:
            ReviewError: it was decided, or somebody else has it.
        """

        named, field = (None if text is None else storable(text) for text in (to, expertise))

        def step(_: Connection, row: Row[Any], now: datetime) -> Move:
            holder = held_by(row, now)
            if holder is not None and holder not in (to, actor):
                raise ReviewError(f"{holder} has the item; let them give it back first", "held")
            values = {**LET_GO, "assignee": named, "expertise": field or row.expertise}
            return Move(ReviewAct.ASSIGN, actor, values, words_of(reason), said=(named, field))

        return self._act(tenant, id_, version, step)

    def decide(self, tenant: str, id_: str, who: Reviewer, verdict: Verdicts, version: int | None = None) -> ReviewItem:
        """Decide on an item, once and for all.

        It need not be claimed before, but nobody else may have it.

        Raises:
            ReviewError: it is not there, was changed, is somebody else's, or was decided already.
        """
        reason = required_words(verdict.reason)

        def step(connection: Connection, row: Row[Any], now: datetime) -> Move:
            if held_by(row, now) != who.name:
                require_free(connection, row, who, now)
            return deciding(connection, row, who, verdict, reason, now)

        return self._act(tenant, id_, version, step)

    def ask(self, tenant: str, id_: str, who: Reviewer, reason: str, version: int | None = None) -> ReviewItem:
        """Ask the caller for evidence; the item waits for it, its deadline stays.

        Raises:
            ReviewError: as for `decide`.
        """
        words = required_words(reason)

        def step(connection: Connection, row: Row[Any], now: datetime) -> Move:
            if held_by(row, now) != who.name:
                require_free(connection, row, who, now)
            values = {**LET_GO, "state": ReviewState.EVIDENCE.value, "assignee": who.name}
            return Move(ReviewAct.ASK, who.name, values, words, event="review.evidence")

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
        """Add what the caller gave, and the report of the output checked against all of it; it waits for a decision
        again.

        Raises:
            ReviewError: it was decided, or there is nothing in it to add.
        """
        if not evidence:
            raise ReviewError("expected at least one piece of evidence", "refused")

        def step(connection: Connection, row: Row[Any], now: datetime) -> Move:
            rules, weight = rules_of(row)
            rows, named, digests = supplied_rows(connection, row, evidence, micros(now))
            new, body = further_report(row, report, now)
            values = {
                "state": ReviewState.OPEN.value,
                "report": named_of(new),
                "deadline": micros(deadline_of(rules, Tier(row.tier), now)),
                "risk": weight * (1 - (report.overall_score or 0.0)),
            }
            return Move(
                ReviewAct.SUPPLY,
                actor,
                values,
                details={"supplied": len(digests)},
                said=(named, digests, body),
                rows={**rows, **new},
                event="review.supplied",
            )

        return self._act(tenant, id_, version, step)

    def settle(self, tenant: str, id_: str) -> ReviewItem:
        """Do what the policy says where the item's deadline has passed, and nothing where it has not.

        Raises:
            ReviewError: it is not there.
        """
        return self._act(tenant, id_, None, None)

    def keep_receipt(self, tenant: str, id_: str, receipt: Receipt) -> ReviewItem:
        """Keep the receipt of a released text with the item, unless it has one, and tell the log of it.

        Raises:
            ReviewError: it is not there, or nothing of it was released.
        """
        stated = receipt.statement
        data = {"at": stated.issued_at, "receipt": stated.receipt_id, "key": stated.key_id, "action": stated.action}

        def work(connection: Connection, row: Row[Any], _: datetime) -> Worked:
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
        def work(connection: Connection, row: Row[Any], now: datetime) -> Worked:
            entries: list[Entry] = []
            try:
                require_as_seen(row, version)
                late = lateness(row, now)
                if late is not None:
                    entries.append(carry_out(connection, row, late, now))
                    row = reread(connection, row)
                if step is not None:
                    require_undecided(row)
                    move = step(connection, row, now)
                    entries += () if move is None else (carry_out(connection, row, move, now),)
            except ReviewError as error:
                return entries, error
            return entries, None

        return self._run(tenant, id_, work)

    def _run(self, tenant: str, id_: str, work: Callable[[Connection, Row[Any], datetime], Worked]) -> ReviewItem:
        """Do something to an item while nobody else can, and give it as it is then."""
        now = self._store.now()
        found: list[ReviewItem | ReviewError] = []

        def act(connection: Connection) -> Sequence[Entry]:
            # It may be run twice: when another change of its transaction could not be stored.
            found.clear()
            row = read_row(connection, tenant, id_)
            if row is None:
                found.append(ReviewError(f"expected an item of {tenant}, and there is none with this id", "missing"))
                return ()
            entries, refused = work(connection, row, now)
            found.append(item_of(reread(connection, row)) if refused is None else refused)
            return entries

        self._store.apply(Change(checked_tenant(tenant), act=act))
        if isinstance(found[0], ReviewError):
            raise found[0]
        return found[0]
