"""What a list shows of runs beside their decisions: how the output begins, how long its check took, its cost."""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, LargeBinary, case, func, select, type_coerce

from assay.store.db import tables
from assay.store.db.store import batches

LARGEST_READ: Final = 256 * 1024
"""Bytes of a packed report that a list reads: of a larger one it shows no beginning and no cost."""
LARGEST_UNPACKED: Final = 4 * LARGEST_READ
"""Bytes that it unpacks to: text of one letter packs well, and a list reads fifty of them."""
LONGEST_PREVIEW: Final = 400
"""Characters of an output."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What is known of one report."""

    preview: str | None = None
    """How its output begins; none where it was erased, or the report is too large for a list to read."""
    duration_ms: float | None = None
    """How long the check took."""
    tokens: int | None = None
    """Tokens that chat models read and wrote in the course of the check; none where none was asked."""
    cost: float | None = None
    """What that cost; none where no price is known."""
    currency: str = "USD"
    estimated: bool = False
    """Whether the tokens are guessed from lengths."""


def read_figures(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, Figures]:
    """What is known of the reports of one page of a list, by their ids."""
    table, found = tables.reports.c, dict[str, Figures]()
    body = type_coerce(table.body, LargeBinary)
    read = case((func.length(body) <= LARGEST_READ, body), else_=None)
    for part in batches(ids):
        query = select(table.id, table.timing, type_coerce(read, LargeBinary).label("body"))
        for row in connection.execute(query.where(table.tenant == tenant, table.id.in_(part))):
            found[row.id] = _figures(row.timing, row.body)
    return found


def _figures(timing: Any, packed: bytes | None) -> Figures:
    took = timing.get("total_ms") if isinstance(timing, Mapping) else None
    duration = float(took) if isinstance(took, (int, float)) else None
    body = {} if packed is None else _unpacked(bytes(packed))
    if not isinstance(body, Mapping):
        return Figures(duration_ms=duration)
    output, spent = body.get("output"), [one for one in body.get("spending") or () if isinstance(one, Mapping)]
    tokens = sum(int(one.get("prompt_tokens") or 0) + int(one.get("completion_tokens") or 0) for one in spent)
    currencies = {str(one.get("currency") or "USD") for one in spent}
    costs = [one.get("cost") for one in spent if one.get("requests")]
    known = bool(costs) and None not in costs and len(currencies) == 1
    return Figures(
        preview=output[:LONGEST_PREVIEW] if isinstance(output, str) else None,
        duration_ms=duration,
        tokens=tokens if spent else None,
        cost=sum(float(one) for one in costs if one is not None) if known else None,
        currency=next(iter(currencies), "USD"),
        estimated=any(bool(one.get("estimated")) for one in spent),
    )


def _unpacked(packed: bytes) -> Any:
    """A report; an empty one where it is larger than a list reads, or was altered: the verification of the log says so,
    and a list must not fail of it."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, LARGEST_UNPACKED)
        return json.loads(text) if unpacker.eof else {}
    except (zlib.error, ValueError, RecursionError):
        return {}
