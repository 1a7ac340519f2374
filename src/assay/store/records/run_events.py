"""Events of a run after its decision, each with its log entry: issued receipts and users' feedback."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, select

from assay.errors import StoreError
from assay.receipt import Receipt, instant
from assay.store.audit.binding import touch
from assay.store.audit.entries import FEEDBACK, RECEIPT, commitment, entry, exact
from assay.store.audit.log import Entry
from assay.store.audit.units import RUN
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, storable
from assay.store.db.raw_statements import insert_rows
from assay.store.db.store import Store
from assay.store.db.writer import Act, Change
from assay.store.records.interface import DEFAULT_TENANT, new_id

WRONG: Final = "wrong"
RIGHT: Final = "right"
"""The verdicts of feedback on an output or a claim."""
LONGEST_COMMENT: Final = 10_000
"""The most characters of a comment."""


def note_receipt(store: Store, run: str, receipt: Receipt, tenant: str = DEFAULT_TENANT) -> int:
    """Log that a receipt was issued for a recorded run.

    The entry has the ids of the receipt and its key, but not the digest of the output that the receipt contains: that
    plain digest would outlast an erasure.

    Returns:
        The index of the entry.

    Raises:
        StoreError: the tenant has no such run, or it cannot be stored.
    """
    return store.apply(receipt_change(run, receipt, tenant)).entries[0]


def receipt_change(run: str, receipt: Receipt, tenant: str = DEFAULT_TENANT, *, beside: Act | None = None) -> Change:
    """The change that `note_receipt` stores; `beside` is a further act in its transaction.

    Raises:
        StoreError: the name of the tenant is malformed.
    """

    def act(connection: Connection) -> Sequence[Entry]:
        _salt(connection, tenant, run)
        more = () if beside is None else beside(connection)
        return [receipt_entry(run, receipt), *more]

    return Change(checked_tenant(tenant), act=act)


def receipt_entry(run: str, receipt: Receipt) -> Entry:
    """The log entry of a receipt for a run that is stored in the same transaction, or was stored before."""
    return entry(RECEIPT, run, receipt_fields(receipt))


def receipt_fields(receipt: Receipt) -> dict[str, str]:
    """The fields of the log entry of an issued receipt."""
    stated = receipt.statement
    return {"at": stated.issued_at, "receipt": stated.receipt_id, "key": stated.key_id, "action": stated.action}


def give_feedback(
    store: Store,
    run: str,
    verdict: str,
    *,
    tenant: str = DEFAULT_TENANT,
    claim: int | None = None,
    comment: str | None = None,
    author: str | None = None,
) -> str:
    """Store a user's feedback on an output.

    Args:
        store: the store.
        run: the id of the run.
        verdict: `wrong` or `right`.
        tenant: whose run.
        claim: the position of the claim that it is about; the whole output by default.
        comment: the user's comment.
        author: the user, as the caller names them.

    Returns:
        The id of the feedback.

    Raises:
        StoreError: an argument is malformed, or the tenant has no such run or claim.
    """
    if verdict not in (WRONG, RIGHT) or len(comment or "") > LONGEST_COMMENT:
        raise StoreError(
            f"expected the verdict {WRONG!r} or {RIGHT!r} and a comment of at most {LONGEST_COMMENT:,} characters"
        )
    id_, now = new_id(), store.now()
    row = {
        "tenant": checked_tenant(tenant),
        "id": id_,
        "run": run,
        "claim": claim,
        "created": micros(now),
        "author": None if author is None else storable(author),
        "verdict": verdict,
        "comment": None if comment is None else storable(comment),
    }

    def act(connection: Connection) -> Sequence[Entry]:
        salt = _salt(connection, tenant, run)
        _require_claim(connection, tenant, run, claim)
        touch(connection, RUN, [run])
        insert_rows(connection, tables.feedback, [row])
        # Under the run's salt, so that after an erasure of the run this commitment reveals nothing either.
        committed = None if salt is None else commitment(salt, "feedback", exact([row["author"], row["comment"]]))
        data = {"at": instant(now), "feedback": id_, "verdict": verdict, "claim": claim, "said": committed}
        return [entry(FEEDBACK, run, data)]

    store.apply(Change(tenant, act=act))
    return id_


def _salt(connection: Connection, tenant: str, run: str) -> bytes | None:
    """The salt of a run; None if it was erased.

    Raises:
        StoreError: the tenant has no such run.
    """
    table = tables.runs.c
    row = connection.execute(select(table.salt).where(table.tenant == tenant, table.id == run)).one_or_none()
    if row is None:
        raise StoreError(f"expected a run of {tenant}, and there is none with this id")
    return None if row.salt is None else bytes(row.salt)


def _require_claim(connection: Connection, tenant: str, run: str, claim: int | None) -> None:
    if claim is None:
        return
    table = tables.claims.c
    row = connection.execute(
        select(table.position).where(table.tenant == tenant, table.report == run, table.position == claim)
    ).first()
    if row is None:
        raise StoreError(f"expected a claim of the run, and it has none at position {claim}")
