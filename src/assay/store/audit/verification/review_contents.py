"""Comparing the acts of reviewers with the log: each is among the decisions of its run, as its entry states."""

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
    """Compare the entries of reviews with the stored decisions.

    Args:
        connection: the connection with which the log was verified.
        tenant: whose log.
        acts: the index and the fields of each entry.
        findings: the list to add findings to.
    """
    runs = sorted({str(data.get("record")) for _, data in acts})
    decisions, run_table = tables.decisions, tables.runs
    salts = {
        row.id: row.salt
        for row in connection.execute(
            select(run_table.c.id, run_table.c.salt).where(run_table.c.tenant == tenant, run_table.c.id.in_(runs))
        )
    }
    try:
        rows = {
            (row.run, row.position): row
            for row in connection.execute(
                select(decisions).where(decisions.c.tenant == tenant, decisions.c.run.in_(runs))
            )
        }
    except StoreError as error:
        findings.add(FindingCode.ALTERED_CONTENT, f"the decisions of a reviewed run cannot be read: {error}")
        return
    for index, data in acts:
        run = str(data.get("record"))
        position = data.get("position")
        row = rows.get((run, position)) if isinstance(position, int) else None
        where = f"run {run} (entry {index})"
        if row is None:
            findings.add(FindingCode.MISSING_CONTENT, f"{where}: the act {data.get('act')} is not in the tables", run)
        elif what := _differing(data, row, salts.get(run)):
            findings.add(FindingCode.ALTERED_CONTENT, f"{where}: the {what} of an act is not what was recorded", run)


def _differing(data: Mapping[str, Any], row: Row[Any], salt: bytes | None) -> str | None:
    """The name of the field in which an entry and its row differ; None if they agree."""
    if row.action != data.get("act"):
        return "name"
    if row.route != data.get("state"):
        return "state"
    if salt is None:
        return None  # the run was erased: only the name and the state of the act remain
    if data.get("actor") is not None and commitment(bytes(salt), "actor", str(row.actor).encode()) != data["actor"]:
        return "actor"
    reason = data.get("reason")
    if row.reasons is not None and not isinstance(row.reasons, list):
        return "reason"
    expected = None if not row.reasons else commitment(bytes(salt), "reason", str(row.reasons[0]).encode())
    return "reason" if expected != reason else None
