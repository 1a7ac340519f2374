"""Figures of runs for lists: the beginning of the output, the duration of its check, and its cost."""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, LargeBinary, case, func, select, type_coerce

from assay.store.db import tables
from assay.store.db.store import batches

LARGEST_READ: Final = 256 * 1024
"""The largest packed report that a list reads, in bytes: for larger ones it shows neither output nor cost."""
LARGEST_UNPACKED: Final = 4 * LARGEST_READ
"""The most bytes that it may unpack to: repetitive text packs very small, and a list reads fifty reports."""
LONGEST_PREVIEW: Final = 400
"""The most characters of an output that are shown."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one report."""

    preview: str | None = None
    """The beginning of its output; None if it was erased, or the report is too large for a list to read."""
    duration_ms: float | None = None
    """The duration of the check in milliseconds."""
    tokens: int | None = None
    """The tokens that chat models read and wrote during the check; None if none was called."""
    cost: float | None = None
    """The cost of these tokens; None if a price is unknown."""
    currency: str = "USD"
    estimated: bool = False
    """Whether the tokens are estimated from the lengths of texts."""


def read_figures(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, Figures]:
    """The figures of the reports on one page of a list, by their ids."""
    table, figures = tables.reports.c, dict[str, Figures]()
    body = type_coerce(table.body, LargeBinary)
    small_body = case((func.length(body) <= LARGEST_READ, body), else_=None)
    for part in batches(ids):
        query = select(table.id, table.timing, type_coerce(small_body, LargeBinary).label("body"))
        for row in connection.execute(query.where(table.tenant == tenant, table.id.in_(part))):
            figures[row.id] = _figures(row.timing, row.body)
    return figures


def _figures(timing: Any, packed: bytes | None) -> Figures:
    took = timing.get("total_ms") if isinstance(timing, Mapping) else None
    duration = float(took) if isinstance(took, (int, float)) else None
    body = {} if packed is None else _unpacked(bytes(packed))
    if not isinstance(body, Mapping):
        return Figures(duration_ms=duration)
    output, spending = body.get("output"), [item for item in body.get("spending") or () if isinstance(item, Mapping)]
    tokens = sum(int(item.get("prompt_tokens") or 0) + int(item.get("completion_tokens") or 0) for item in spending)
    currencies = {str(item.get("currency") or "USD") for item in spending}
    costs = [item.get("cost") for item in spending if item.get("requests")]
    known = bool(costs) and None not in costs and len(currencies) == 1
    return Figures(
        preview=output[:LONGEST_PREVIEW] if isinstance(output, str) else None,
        duration_ms=duration,
        tokens=tokens if spending else None,
        cost=sum(float(cost) for cost in costs if cost is not None) if known else None,
        currency=next(iter(currencies), "USD"),
        estimated=any(bool(item.get("estimated")) for item in spending),
    )


def _unpacked(packed: bytes) -> Any:
    """The body of a report; empty if it is larger than a list reads or was altered, which verification reports, not a
    list."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, LARGEST_UNPACKED)
        return json.loads(text) if unpacker.eof else {}
    except (zlib.error, ValueError, RecursionError):
        return {}
