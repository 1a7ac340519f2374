"""Holding the acts of reviewers against the log: each stands among the decisions of its run as its entry says."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from assay.errors import StoreError
from assay.store.audit.entries import commitment
from assay.store.audit.verification.log import FindingCode, Findings
from assay.store.db import tables

ReadEntry = tuple[int, dict[str, Any]]
"""The index of an entry and its fields."""


def check_acts(connection: Connection, tenant: str, acts: Sequence[ReadEntry], findings: Findings) -> None:
    """Compare entries of reviews with what is stored of them.

    Args:
        connection: the same that the log was verified with.
        tenant: whose log.
        acts: the index and the fields of each entry.
        findings: where to add what does not hold.
    """
    runs = sorted({str(one["record"]) for _, one in acts})
    table, of_runs = tables.decisions, tables.runs
    salts = {
        row.id: row.salt
        for row in connection.execute(
            select(of_runs.c.id, of_runs.c.salt).where(of_runs.c.tenant == tenant, of_runs.c.id.in_(runs))
        )
    }
    try:
        rows = {
            (row.run, row.position): row
            for row in connection.execute(select(table).where(table.c.tenant == tenant, table.c.run.in_(runs)))
        }
    except StoreError as error:
        findings.add(FindingCode.ALTERED_CONTENT, f"the decisions of a reviewed run cannot be read: {error}")
        return
    for index, one in acts:
        run = str(one["record"])
        row = rows.get((run, one.get("position")))
        where = f"run {run} (entry {index})"
        if row is None:
            findings.add(FindingCode.MISSING_CONTENT, f"{where}: the act {one.get('act')} is not in the tables", run)
        elif what := _differing(one, row, salts.get(run)):
            findings.add(FindingCode.ALTERED_CONTENT, f"{where}: the {what} of an act is not what was recorded", run)


def _differing(data: Mapping[str, Any], row: Row[Any], salt: bytes | None) -> str | None:
    if row.action != data.get("act"):
        return "name"
    if row.route != data.get("state"):
        return "state"
    if salt is None:
        return None  # the run was erased: what is left is the name of the act
    if data.get("actor") is not None and commitment(bytes(salt), "actor", str(row.actor).encode()) != data["actor"]:
        return "actor"
    reason = data.get("reason")
    if row.reasons is not None and not isinstance(row.reasons, list):
        return "reason"
    words = None if not row.reasons else commitment(bytes(salt), "reason", str(row.reasons[0]).encode())
    return "reason" if words != reason else None
