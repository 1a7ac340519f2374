"""The labelled runs of a dataset as rows that `assay eval` and `assay calibrate` read (docs/rows.md)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from assay.store.datasets import DatasetRow, Label
from assay.store.db import StoredCheck, read_check


@dataclass(frozen=True, slots=True)
class ExportedRows:
    """Rows as JSON Lines."""

    text: str
    count: int
    left_out: int
    """Runs that no row can be made of: erased, or without evidence of their own, as most runs of agents."""


def export_rows(
    connection: Connection, tenant: str, name: str, rows: Sequence[DatasetRow], *, labelled: bool = False
) -> ExportedRows:
    """A dataset as JSON Lines.

    Args:
        connection: one that sees one state of the database.
        tenant: whose.
        name: of the dataset: the `set` of each row.
        rows: its rows.
        labelled: whether those without a label are left out, as `assay calibrate` needs it.
    """
    lines, left_out = list[str](), 0
    for row in rows:
        if labelled and row.label is None:
            continue
        check = None if row.erased else read_check(connection, tenant, row.run)
        made = None if check is None else row_of(check, row, name)
        if made is None:
            left_out += 1
        else:
            lines.append(json.dumps(made, ensure_ascii=False, separators=(",", ":")))
    return ExportedRows("".join(f"{line}\n" for line in lines), len(lines), left_out)


def row_of(check: StoredCheck, row: DatasetRow, name: str) -> dict[str, Any] | None:
    """One run as a row; none where it was erased, or has no evidence.

    The wrong claims that a person named are the `spans`: characters of the answer.
    """
    report = check.report
    evidence = [one for _, _, one in check.evidence if one is not None]
    if report is None or not evidence or not report.output.strip():
        return None
    made: dict[str, Any] = {
        "id": row.run,
        "set": name,
        "evidence": [one.model_dump(mode="json", exclude_defaults=True) for one in evidence],
        "answer": report.output,
    }
    if report.question is not None:
        made["question"] = report.question
    if row.label is not None:
        made["label"] = "supported" if row.label is Label.RIGHT else "not_supported"
    spans = [report.claims[at].span for at in row.wrong_claims if at < len(report.claims)]
    if spans:
        made["spans"] = [[span.start, span.end] for span in spans]
    made["meta"] = {"action": report.action.value, "policy": report.policy.name}
    return made
