"""Runs in blocks, each with a digest of all that is stored of them: what tells a later verification what has changed.

A block is a stretch of runs by their ids. Its digest is of the values of every column that is committed to, as they are
stored, of every row of these runs in every table. It is worth as much as the place where it is kept: it stands for rows
that were checked against the log before (`assay.store.audit.verification.incremental`).
"""

import marshal
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, LargeBinary, Select, bindparam, select, type_coerce

from assay.store.audit.units import RUN, SEAL, Part, bound_columns
from assay.store.db.tables import Packed

RUNS: Final = 64
"""Runs of one block: as many are verified again where one of them has changed."""
BLOCKS: Final = 16
"""Blocks that are read at once."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of runs."""

    last: str
    """The id of its last run; the first one follows the last of the block before."""
    digest: str
    runs: tuple[str, ...] = ()
    """The runs of which there are rows."""


def read_blocks(connection: Connection, tenant: str, ends: Sequence[str]) -> Iterator[Block]:
    """All runs of a tenant in blocks, as they are stored now.

    Args:
        connection: one that sees one state of the database.
        tenant: whose runs.
        ends: where the blocks of an earlier state end, in order; what follows them is cut again.
    """
    before = ""
    for begin in range(0, len(ends), BLOCKS):
        part = ends[begin : begin + BLOCKS]
        yield from _blocks(connection, tenant, before, part)
        before = part[-1]
    while ids := _following(connection, tenant, before):
        part = [ids[min(at + RUNS, len(ids)) - 1] for at in range(0, len(ids), RUNS)]
        yield from _blocks(connection, tenant, before, part)
        before = part[-1]


def _following(connection: Connection, tenant: str, before: str) -> Sequence[str]:
    head = RUN.head.c
    query = select(head.id).where(head.tenant == tenant, head.id > before).order_by(head.id).limit(RUNS * BLOCKS)
    return connection.execute(query).scalars().all()


def _blocks(connection: Connection, tenant: str, before: str, ends: Sequence[str]) -> Iterator[Block]:
    """The blocks that end with some ids."""
    rows: list[list[list[Any]]] = [[] for _ in ends]
    runs: list[dict[str, None]] = [{} for _ in ends]
    for part in (None, *RUN.parts):
        of_blocks: list[list[Any]] = [[] for _ in ends]
        for row in connection.execute(_query(part), {"of": tenant, "after": before, "to": ends[-1]}).all():
            # An id that we would not make may be sorted otherwise by the database: it counts somewhere, that is enough.
            at = min(bisect_left(ends, str(row[-1])), len(ends) - 1)
            of_blocks[at].append(tuple(row))
            runs[at][str(row[-1])] = None
        for found, more in zip(rows, of_blocks, strict=True):
            found.append(more)
    for last, found, own in zip(ends, rows, runs, strict=True):
        yield Block(last, digest_of(found), tuple(own))


def digest_of(value: Any) -> str:
    """A digest of rows as they were read. Version 2 of the form has no references: equal values are equal bytes."""
    try:
        data = marshal.dumps(value, 2)
    except ValueError:
        data = repr(value).encode("utf-8", "backslashreplace")
    return sha256(data).hexdigest()


@lru_cache(maxsize=16)
def _query(part: Part | None) -> Select[Any]:
    """The rows of the first table, or of a part, of a stretch of runs; the last value of each is its run."""
    table = RUN.head if part is None else part.table
    columns = [*bound_columns(table), *([table.c[SEAL]] if part is None else [])]
    query = select(
        *(
            type_coerce(column, LargeBinary).label(column.name) if isinstance(column.type, Packed) else column
            for column in columns
        )
    ).where(table.c.tenant == bindparam("of"))
    owner: Any = RUN.head.c.id
    if part is not None:
        owner = table.c[part.of]
        if part.via is not None:
            via = part.via
            query = query.join_from(table, via, (via.c.tenant == table.c.tenant) & (via.c.id == owner))
            owner = via.c.run
    key = () if part is None else tuple(table.c[name] for name in part.key)
    query = query.where(owner > bindparam("after"), owner <= bindparam("to")).order_by(owner, *key)
    return query.add_columns(owner.label("unit_id"))
