"""The audit log in the database: appending and reading entries, tiles and checkpoints.

Every transaction that writes for a tenant first locks the tenant's log, so that entries get their indexes one
transaction after the other, whichever process writes. An append reads and writes only the incomplete tiles at the right
edge of the tree.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import Connection, and_, bindparam, or_, select, text, update

from assay.errors import AuditError
from assay.store.audit.merkle.tiles import Edge, Place, edge_places, node_reader, proof_places
from assay.store.audit.merkle.tree import NodeAt, leaf_hash, root_at
from assay.store.db.raw_statements import (
    UNLESS_THERE,
    execute_prepared,
    insert_tuples,
    one_round_trip,
    read_later,
)
from assay.store.db.tables import audit_checkpoints, audit_entries, audit_logs, audit_tiles

CHUNK: Final = 4_096
"""How many entries are read in one query."""


class Entry(NamedTuple):
    """An entry of a log before it is appended."""

    kind: str
    """The kind of event that it records; `data` has it too."""
    data: bytes
    """The bytes that are hashed: canonical JSON (`assay.store.audit.entries`)."""
    record: str | None = None
    """The id of the run that it is about; `data` has it too."""


@dataclass(frozen=True, slots=True)
class Head:
    """The name and the size of a log."""

    origin: str
    """The log's name."""
    size: int
    """The number of its entries."""


def make_origin(prefix: str | None, tenant: str) -> str:
    """A unique name for a new log.

    Args:
        prefix: a domain and path of the operator, such as `example.com/assay`; random by default.
        tenant: the tenant.
    """
    return f"{prefix or f'assay.invalid/{secrets.token_hex(8)}'}/{tenant}"


class Appender:
    """Appends to the logs of all tenants, and caches the edges of their trees between appends.

    A cached edge is used only if the log has not grown since, because another process may have appended. After a
    transaction that did not commit, call `forget`.
    """

    def __init__(self, origin: str | None = None) -> None:
        """Create an appender; `origin` is the prefix for the names of new logs (`make_origin`)."""
        self._origin = origin
        self._edges: dict[str, Edge] = {}

    def lock(self, connection: Connection, tenant: str) -> int:
        """Lock a tenant's log until the transaction ends, and create the log if there is none.

        Returns:
            The number of its entries.
        """
        return self.size_of_locked(connection, tenant, self._lock_existing(connection, tenant))

    def lock_later(self, connection: Connection, tenant: str) -> Callable[[], int | None]:
        """Lock a tenant's log inside of `one_round_trip`.

        Returns:
            A function for what `size_of_locked` takes; to be called after the block.
        """
        return read_later(connection, _LOCK, {"tenant": tenant})

    def size_of_locked(self, connection: Connection, tenant: str, size: int | None) -> int:
        """The number of entries of a log that was locked: `size`, or if that is None, of one that is created now."""
        if size is None:
            insert_tuples(connection, audit_logs, [(tenant, make_origin(self._origin, tenant), 0)], UNLESS_THERE)
            size = self._lock_existing(connection, tenant)
        if size is None:
            raise AuditError("expected the log that was just made, and it is not there")
        return size

    def _lock_existing(self, connection: Connection, tenant: str) -> int | None:
        size: int | None = execute_prepared(connection, _LOCK, {"tenant": tenant}).scalar_one_or_none()
        return size

    def append(self, connection: Connection, tenant: str, entries: Sequence[Entry], first: int) -> None:
        """Append entries in the transaction that locked the log.

        Args:
            connection: the transaction.
            tenant: whose log.
            entries: what to append.
            first: the result of `lock`: the index of the first of them.

        Raises:
            AuditError: the stored edge of the tree does not match the log's size.
        """
        write = self.prepare(connection, tenant, entries, first)
        with one_round_trip(connection):
            write()

    def prepare(self, connection: Connection, tenant: str, entries: Sequence[Entry], first: int) -> Callable[[], None]:
        """Prepare what `append` writes; the result writes it, and may be called inside of `one_round_trip`."""
        if not entries:
            return lambda: None
        edge = self._edges.pop(tenant, None)
        if edge is None or edge.size != first:
            edge = Edge(first, read_tiles(connection, tenant, edge_places(first)))
        tiles = edge.extend([leaf_hash(entry.data) for entry in entries])

        def write() -> None:
            insert_tuples(
                connection,
                audit_entries,
                [(tenant, index, entry.kind, entry.record, entry.data) for index, entry in enumerate(entries, first)],
            )
            insert_tuples(
                connection,
                audit_tiles,
                [(tenant, level, index, data) for (level, index), data in sorted(tiles.items())],
                _REPLACE_TILE,
            )
            execute_prepared(connection, _SET_SIZE, {"tenant": tenant, "to": edge.size})
            self._edges[tenant] = edge

        return write

    def forget(self) -> None:
        """Drop the cached edges, so that they are read again."""
        self._edges.clear()


_LOCK: Final = select(audit_logs.c.size).where(audit_logs.c.tenant == bindparam("tenant")).with_for_update()
_SET_SIZE: Final = update(audit_logs).where(audit_logs.c.tenant == bindparam("tenant")).values(size=bindparam("to"))

_REPLACE_TILE: Final = "ON CONFLICT (tenant, level, idx) DO UPDATE SET hashes = excluded.hashes"


# Reading


def read_head(connection: Connection, tenant: str) -> Head:
    """The name and the size of a log.

    Raises:
        AuditError: the tenant has no log.
    """
    row = connection.execute(
        select(audit_logs.c.origin, audit_logs.c.size).where(audit_logs.c.tenant == tenant)
    ).one_or_none()
    if row is None:
        raise AuditError(f"expected the log of the tenant {tenant}, and there is none: nothing was recorded for it")
    return Head(row.origin, row.size)


def read_tiles(connection: Connection, tenant: str, places: Iterable[Place]) -> dict[Place, bytes]:
    """Tiles by their places; missing ones are left out."""
    conditions = [and_(audit_tiles.c.level == level, audit_tiles.c.idx == index) for level, index in places]
    if not conditions:
        return {}
    rows = connection.execute(
        select(audit_tiles.c.level, audit_tiles.c.idx, audit_tiles.c.hashes).where(
            audit_tiles.c.tenant == tenant, or_(*conditions)
        )
    )
    return {(row.level, row.idx): bytes(row.hashes) for row in rows}


# Built once: building a statement takes longer than SQLite takes to execute it.
_TILE: Final = select(audit_tiles.c.hashes).where(
    audit_tiles.c.tenant == bindparam("tenant"),
    audit_tiles.c.level == bindparam("level"),
    audit_tiles.c.idx == bindparam("at"),
)
_ENTRY: Final = select(audit_entries.c.data).where(
    audit_entries.c.tenant == bindparam("tenant"), audit_entries.c.idx == bindparam("at")
)


_TILES_PER_QUERY: Final = 8
"""Tiles that are read in one query for a proof: all of them for a log of up to 4 thousand million entries."""
_TILES: Final = text(
    "SELECT level, idx, hashes FROM audit_tiles WHERE tenant = :tenant AND ("  # noqa: S608 only numbers
    + " OR ".join(f"(level = :level{number} AND idx = :idx{number})" for number in range(_TILES_PER_QUERY))
    + ")"
)


def tiles_of_proof(connection: Connection, tenant: str, index: int, size: int) -> dict[Place, bytes]:
    """The tiles that the proof of an entry needs in a log of the given size, read in one query. Missing tiles are left
    out, and so are the highest ones where there are more than `_TILES_PER_QUERY`."""
    places = sorted(proof_places(index, size))[:_TILES_PER_QUERY]
    places += places[:1] * (_TILES_PER_QUERY - len(places))
    values: dict[str, int | str] = {"tenant": tenant}
    for number, (level, idx) in enumerate(places):
        values |= {f"level{number}": level, f"idx{number}": idx}
    return {(row.level, row.idx): bytes(row.hashes) for row in execute_prepared(connection, _TILES, values)}


def nodes_of(connection: Connection, tenant: str, known: dict[Place, bytes] | None = None) -> NodeAt:
    """A function that reads hashes of the tree for proofs; each tile is read once, and those in `known` not at all."""
    known = {} if known is None else known

    def tile_at(level: int, index: int) -> bytes:
        place = (level, index)
        if place not in known:
            tile = execute_prepared(
                connection, _TILE, {"tenant": tenant, "level": level, "at": index}
            ).scalar_one_or_none()
            known[place] = b"" if tile is None else bytes(tile)
        return known[place]

    return node_reader(tile_at)


def read_root(connection: Connection, tenant: str, size: int) -> bytes:
    """The root of the first `size` entries of a log, computed from the stored hashes."""
    return root_at(size, nodes_of(connection, tenant))


def read_entries(
    connection: Connection, tenant: str, begin: int = 0, end: int | None = None
) -> Iterator[tuple[int, bytes]]:
    """The entries of a log with their indexes, in order, read in batches; missing ones are skipped."""
    table = audit_entries.c
    query = (
        select(table.idx, table.data)
        .where(table.tenant == tenant, table.idx >= bindparam("from"), table.idx < bindparam("to"))
        .order_by(table.idx)
        .limit(CHUNK)
    )
    to = 2**63 - 1 if end is None else end
    while rows := connection.execute(query, {"from": begin, "to": to}).all():
        for index, data in rows:
            yield index, bytes(data)
        begin = rows[-1].idx + 1


def read_entry(connection: Connection, tenant: str, index: int) -> bytes:
    """The bytes of an entry.

    Raises:
        AuditError: there is no such entry.
    """
    data = execute_prepared(connection, _ENTRY, {"tenant": tenant, "at": index}).scalar_one_or_none()
    if data is None:
        raise AuditError(f"expected entry {index} of the log, and it is not there")
    return bytes(data)


def entries_of(connection: Connection, tenant: str, record: str) -> list[tuple[int, bytes]]:
    """The entries about a run with their indexes, in order."""
    table = audit_entries.c
    rows = connection.execute(
        select(table.idx, table.data).where(table.tenant == tenant, table.record == record).order_by(table.idx)
    )
    return [(row.idx, bytes(row.data)) for row in rows]


def read_checkpoints(connection: Connection, tenant: str) -> list[str]:
    """The stored checkpoints of a log as notes, oldest first."""
    table = audit_checkpoints.c
    return list(connection.execute(select(table.note).where(table.tenant == tenant).order_by(table.size)).scalars())


def last_checkpoint(connection: Connection, tenant: str) -> str | None:
    """The newest stored checkpoint as a note; None if there is none."""
    table = audit_checkpoints.c
    query = select(table.note).where(table.tenant == tenant).order_by(table.size.desc()).limit(1)
    return connection.execute(query).scalar_one_or_none()
