"""Blocks of runs, each with a digest of all their stored rows: they tell a later verification which runs have changed.

A block is a range of runs by their ids. Its digest covers the stored values of every column that is committed to, in
every row of these runs in every table. It can be trusted as far as the place where it is kept: it stands for rows that
an earlier verification checked against the log (`assay.store.audit.verification.incremental`).
"""

import marshal
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, bindparam, select

from assay.store.audit.units import RUN, SEAL, Part, as_stored, bound_columns, join_owner

RUNS: Final = 64
"""Runs of one block: all of them are verified again if one has changed."""
BLOCKS: Final = 16
"""Blocks that are read in one query for each table."""


@dataclass(frozen=True, slots=True)
class Block:
    """A range of runs by their ids."""

    last: str
    """The id of its last run; the block begins behind the last run of the previous one."""
    digest: str
    runs: tuple[str, ...] = ()
    """The runs in it that have rows."""


def read_blocks(connection: Connection, tenant: str, ends: Sequence[str]) -> Iterator[Block]:
    """All runs of a tenant in blocks, as they are stored now.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose runs.
        ends: the last runs of the blocks of an earlier state, in order; later runs are divided into new blocks.
    """
    before = ""
    for begin in range(0, len(ends), BLOCKS):
        part = ends[begin : begin + BLOCKS]
        yield from _blocks(connection, tenant, before, part)
        before = part[-1]
    while ids := _ids_after(connection, tenant, before):
        part = [ids[min(at + RUNS, len(ids)) - 1] for at in range(0, len(ids), RUNS)]
        yield from _blocks(connection, tenant, before, part)
        before = part[-1]


def _ids_after(connection: Connection, tenant: str, before: str) -> Sequence[str]:
    head = RUN.head.c
    query = select(head.id).where(head.tenant == tenant, head.id > before).order_by(head.id).limit(RUNS * BLOCKS)
    return connection.execute(query).scalars().all()


def _blocks(connection: Connection, tenant: str, before: str, ends: Sequence[str]) -> Iterator[Block]:
    """The blocks with the given last ids."""
    rows: list[list[list[Any]]] = [[] for _ in ends]
    runs: list[dict[str, None]] = [{} for _ in ends]
    for part in (None, *RUN.parts):
        part_rows: list[list[Any]] = [[] for _ in ends]
        for row in connection.execute(_query(part), {"tenant": tenant, "after": before, "to": ends[-1]}).all():
            # The database may sort an id that assay would not create differently: it suffices that some block has it.
            block = min(bisect_left(ends, str(row[-1])), len(ends) - 1)
            part_rows[block].append(tuple(row))
            runs[block][str(row[-1])] = None
        for block_rows, more in zip(rows, part_rows, strict=True):
            block_rows.append(more)
    for last, block_rows, block_runs in zip(ends, rows, runs, strict=True):
        yield Block(last, digest_of(block_rows), tuple(block_runs))


def digest_of(value: Any) -> str:
    """A digest of rows as they were read. Version 2 of marshal has no references, so equal values give equal bytes."""
    try:
        data = marshal.dumps(value, 2)
    except ValueError:
        data = repr(value).encode("utf-8", "backslashreplace")
    return sha256(data).hexdigest()


@lru_cache(maxsize=16)
def _query(part: Part | None) -> Select[Any]:
    """The query for the head rows, or the rows of a part, of a range of runs; the last value of each row is its run."""
    table = RUN.head if part is None else part.table
    columns = [*bound_columns(table), *([table.c[SEAL]] if part is None else [])]
    query = select(*as_stored(columns)).where(table.c.tenant == bindparam("tenant"))
    owner: ColumnElement[Any] = RUN.head.c.id
    if part is not None:
        query, owner = join_owner(query, part)
    key = () if part is None else tuple(table.c[name] for name in part.key)
    query = query.where(owner > bindparam("after"), owner <= bindparam("to")).order_by(owner, *key)
    return query.add_columns(owner.label("unit_id"))
