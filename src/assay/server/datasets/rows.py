"""The labelled runs of a dataset as rows that `assay eval` and `assay calibrate` read (docs/rows.md).

A row has all of the evidence that its answer was checked against. Runs without such a row are left out and counted by
reason: agent runs, whose evidence is in their transcripts, and runs that were erased wholly or in part.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from assay.store.datasets import DatasetRow, Label
from assay.store.db import StoredCheck, read_check
from assay.store.records import NoRow, why_no_row


@dataclass(frozen=True, slots=True)
class ExportedRows:
    """Rows as JSON Lines."""

    text: str
    count: int
    why: Mapping[NoRow, int]
    """The number of runs that no row can be made of, by reason."""

    @property
    def left_out(self) -> int:
        """The number of runs that no row can be made of."""
        return sum(self.why.values())

    @property
    def headers(self) -> dict[str, str]:
        """Headers with the number of runs left out, and the reasons: `erased=2, agent_run=1`."""
        headers = {"x-assay-left-out": str(self.left_out)}
        if self.why:
            headers["x-assay-left-out-why"] = ", ".join(f"{why}={count}" for why, count in sorted(self.why.items()))
        return headers


def export_rows(
    connection: Connection, tenant: str, name: str, rows: Sequence[DatasetRow], *, labelled: bool = False
) -> ExportedRows:
    """A dataset as JSON Lines.

    Args:
        connection: a connection that sees one state of the database.
        tenant: the tenant.
        name: the name of the dataset, which is the `set` of each row.
        rows: its rows.
        labelled: whether rows without a label are left out, as `assay calibrate` needs it.
    """
    lines, why = list[str](), Counter[NoRow]()
    for row in rows:
        if labelled and row.label is None:
            continue
        check = None if row.erased else read_check(connection, tenant, row.run)
        row_json = NoRow.ERASED if check is None else row_of(check, row, name)
        if isinstance(row_json, NoRow):
            why[row_json] += 1
        else:
            lines.append(json.dumps(row_json, ensure_ascii=False, separators=(",", ":")))
    return ExportedRows("".join(f"{line}\n" for line in lines), len(lines), why)


def row_of(check: StoredCheck, row: DatasetRow, name: str) -> dict[str, Any] | NoRow:
    """A run as a row, or the reason why there is none.

    The claims that a person marked as wrong are its `spans`, in characters of the answer.
    """
    why, report = why_no_row(check), check.report
    if why is not None or report is None:
        return why or NoRow.ERASED
    evidence = [one for _, _, one in check.evidence if one is not None]
    row_json: dict[str, Any] = {
        "id": row.run,
        "set": name,
        "evidence": [one.model_dump(mode="json", exclude_defaults=True) for one in evidence],
        "answer": report.output,
    }
    if report.question is not None:
        row_json["question"] = report.question
    if row.label is not None:
        row_json["label"] = "supported" if row.label is Label.RIGHT else "not_supported"
    spans = [report.claims[at].span for at in row.wrong_claims if at < len(report.claims)]
    if spans:
        row_json["spans"] = [[span.start, span.end] for span in spans]
    row_json["meta"] = {"action": report.action.value, "policy": report.policy.name}
    return row_json
