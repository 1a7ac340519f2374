"""Rows of the record: outputs that a server checked, with the evidence that they were checked against."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from assay.batch.values import RawRow

if TYPE_CHECKING:
    from assay.store.db import Store, StoredCheck

SOURCE: Final = "record"
"""The source that the rows name."""


def record_rows(
    store: "Store", tenant: str, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[RawRow]:
    """The outputs of a tenant as rows, the oldest first, so that outputs recorded later are appended.

    An output that cannot be checked again as an answer is a broken row with the reason: an agent's run, and an output
    whose text or evidence was erased.

    Args:
        store: the record.
        tenant: the tenant whose outputs are read.
        since: only outputs that were checked from this moment on.
        until: only those that were checked before this moment.

    Raises:
        StoreError: the record cannot be read.
    """
    from assay.store.db import stored_checks

    for number, check in enumerate(stored_checks(store, tenant, since=since, until=until), 1):
        columns = _columns(check)
        yield RawRow(SOURCE, number, SOURCE, "broken" if isinstance(columns, str) else "columns", columns)


def _columns(check: "StoredCheck") -> dict[str, Any] | str:
    """A row, or why there is none."""
    if check.asked is None:
        return f"{check.run}: its content was erased"
    answer = check.asked.get("answer")
    if not isinstance(answer, str):
        return f"{check.run}: a run of an agent, and no answer; `assay audit replay` checks it again"
    evidence = [one for _, _, one in check.evidence if one is not None]
    if len(evidence) < len(check.evidence):
        return f"{check.run}: some of its evidence was erased"
    return {
        "id": check.run,
        "answer": answer,
        "question": check.asked.get("question"),
        "evidence": [one.model_dump(mode="json", exclude_none=True) for one in evidence],
    }
