"""The claims of a report as rows, and rows as a data frame of polars or pandas, whichever is there."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from assay.errors import InputError, MissingPackageError
from assay.schema.report import HallucinationReport
from assay.schema.views.marks import deciding_spans

LIBRARIES: Final = ("polars", "pandas")
"""The libraries of data frames, the first choice first."""


COLUMNS: Final = (
    "claim",
    "text",
    "verdict",
    "score",
    "contradiction",
    "status",
    "critical",
    "category",
    "start",
    "end",
    "words",
    "codes",
    "reason",
    "evidence_id",
    "passage",
    "action",
    "run_id",
)
"""The columns of a table of claims."""


def claim_frame(report: HallucinationReport, library: str | None = None) -> Any:
    """The claims of a report as a data frame; see `frame_of`."""
    return frame_of(claim_rows(report), COLUMNS, library)


def claim_rows(report: HallucinationReport) -> list[dict[str, Any]]:
    """One row for each claim, with plain values."""
    rows = []
    for number, claim in enumerate(report.claims, 1):
        passage = next(deciding_spans(claim), None)
        rows.append(
            {
                "claim": number,
                "text": claim.text,
                "verdict": claim.verdict.value,
                "score": claim.score,
                "contradiction": claim.contradiction,
                "status": claim.status.value,
                "critical": claim.critical,
                "category": None if claim.category is None else claim.category.value,
                "start": claim.span.start,
                "end": claim.span.end,
                "words": "; ".join(report.output[span.start : span.end] for span in claim.wrong_spans),
                "codes": ", ".join(dict.fromkeys(issue.code for issue in claim.issues)),
                "reason": " ".join(dict.fromkeys(issue.message for issue in claim.issues)),
                "evidence_id": None if passage is None else passage.evidence_id,
                "passage": None if passage is None else passage.text,
                "action": report.action.value,
                "run_id": report.run_id,
            }
        )
    return rows


def frame_of(rows: Sequence[dict[str, Any]], columns: Sequence[str], library: str | None = None) -> Any:
    """Rows as a data frame.

    Args:
        rows: the rows.
        columns: the names of the columns, for a frame without rows.
        library: `polars` or `pandas`; by default the one that is loaded already, else the one that is installed.

    Raises:
        InputError: there is no such library.
        MissingPackageError: it is not installed, or none is.
    """
    if library is not None and library not in LIBRARIES:
        raise InputError(f"expected {' or '.join(LIBRARIES)}, got {library!r}")
    loaded = [name for name in LIBRARIES if sys.modules.get(name)]
    candidates = [library] if library is not None else [*loaded, *LIBRARIES]
    chosen = next((name for name in candidates if _is_installed(name)), None)
    if chosen is None:
        named = library or " or ".join(LIBRARIES)
        raise MissingPackageError(f"a data frame needs {named}: pip install {library or LIBRARIES[0]}")
    module = import_module(chosen)
    table = {name: [row[name] for row in rows] for name in columns}
    return module.DataFrame(table)


def _is_installed(name: str) -> bool:
    """Whether a package can be imported, without importing it."""
    return sys.modules[name] is not None if name in sys.modules else find_spec(name) is not None
