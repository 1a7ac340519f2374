"""Rows of the record: outputs that a server checked, with the evidence that they had."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from assay.batch.values import RawRow

if TYPE_CHECKING:
    from assay.store.db import Store, StoredCheck

SOURCE: Final = "record"
"""What the rows name as their source."""


def record_rows(
    store: "Store", tenant: str, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[RawRow]:
    """The outputs of a tenant as rows, the oldest first: what is recorded later comes behind.

    What cannot be checked again as an answer is a broken row with the reason: an agent's run, and an output whose text
    or evidence was erased.

    Args:
        store: the record.
        tenant: whose.
        since: only outputs that were checked from this moment on.
        until: only those that were checked before this moment.

    Raises:
        StoreError: the record cannot be read.
    """
    from assay.store.db import stored_checks

    for number, found in enumerate(stored_checks(store, tenant, since=since, until=until), 1):
        columns = _columns(found)
        yield RawRow(SOURCE, number, SOURCE, "broken" if isinstance(columns, str) else "columns", columns)


def _columns(found: "StoredCheck") -> dict[str, Any] | str:
    """A row, or why there is none."""
    if found.asked is None:
        return f"{found.run}: its content was erased"
    answer = found.asked.get("answer")
    if not isinstance(answer, str):
        return f"{found.run}: a run of an agent, and no answer; `assay audit replay` checks it again"
    evidence = [one for _, _, one in found.evidence if one is not None]
    if len(evidence) < len(found.evidence):
        return f"{found.run}: some of its evidence was erased"
    return {
        "id": found.run,
        "answer": answer,
        "question": found.asked.get("question"),
        "evidence": [one.model_dump(mode="json", exclude_none=True) for one in evidence],
    }
