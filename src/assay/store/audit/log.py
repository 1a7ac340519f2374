"""The audit log in the database: appends, reading, and checkpoints.

All writes of a tenant take the lock of its log first, so that entries get their places one transaction after the other,
whichever process writes. An append reads and writes only the incomplete tiles at the right edge of the tree.
"""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import Connection, and_, bindparam, or_, select, text, update

from assay.errors import AuditError
from assay.store.audit.merkle.tiles import Edge, Place, edge_places, node_reader, proof_places
from assay.store.audit.merkle.tree import NodeAt, leaf_hash, root_at
from assay.store.db.raw_statements import UNLESS_THERE, execute_prepared, insert_tuples, one_round_trip
from assay.store.db.tables import audit_checkpoints, audit_entries, audit_logs, audit_tiles

CHUNK: Final = 4_096
"""How many entries are read at once."""


class Entry(NamedTuple):
    """One entry of a log, as it is to be appended."""

    kind: str
    """What sort of happening it tells of; it is in `data` too."""
    data: bytes
    """What is hashed: canonical JSON (`assay.store.audit.entries`)."""
    record: str | None = None
    """The run that it is about; it is in `data` too."""


@dataclass(frozen=True, slots=True)
class Head:
    """How far a log has come."""

    origin: str
    """The log's name."""
    size: int


def make_origin(prefix: str | None, tenant: str) -> str:
    """A name for a new log, which no other log has.

    Args:
        prefix: a domain and path of the operator, such as `example.com/assay`; a random name by default.
        tenant: the tenant.
    """
    return f"{prefix or f'assay.invalid/{secrets.token_hex(8)}'}/{tenant}"


class Appender:
    """Appends to the logs of all tenants, and keeps their edges between appends.

    What is kept is used only where the log has not grown meanwhile; another process may have appended. After a
    transaction that did not commit, call `forget`.
    """

    def __init__(self, origin: str | None = None) -> None:
        """Name new logs with `make_origin`."""
        self._origin = origin
        self._edges: dict[str, Edge] = {}

    def lock(self, connection: Connection, tenant: str) -> int:
        """Take the lock of a tenant's log until the transaction ends, and make the log where there is none.

        Returns:
            How many entries it has.
        """
        found = self._size(connection, tenant)
        if found is None:
            insert_tuples(connection, audit_logs, [(tenant, make_origin(self._origin, tenant), 0)], UNLESS_THERE)
            found = self._size(connection, tenant)
        if found is None:
            raise AuditError("expected the log that was just made, and it is not there")
        return found

    def _size(self, connection: Connection, tenant: str) -> int | None:
        found: int | None = execute_prepared(connection, _LOCK, {"of": tenant}).scalar_one_or_none()
        return found

    def append(self, connection: Connection, tenant: str, entries: Sequence[Entry], first: int) -> None:
        """Append entries in the transaction that locked the log.

        Args:
            connection: the transaction.
            tenant: whose log.
            entries: what to append.
            first: what `lock` returned: the index of the first of them.

        Raises:
            AuditError: the edge of the tree is not what the log's size says.
        """
        if not entries:
            return
        edge = self._edges.pop(tenant, None)
        if edge is None or edge.size != first:
            edge = Edge(first, read_tiles(connection, tenant, edge_places(first)))
        tiles = edge.extend([leaf_hash(entry.data) for entry in entries])
        with one_round_trip(connection):
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
            execute_prepared(connection, _GROW, {"of": tenant, "to": edge.size})
        self._edges[tenant] = edge

    def forget(self) -> None:
        """Read the edges again next time."""
        self._edges.clear()


_LOCK: Final = select(audit_logs.c.size).where(audit_logs.c.tenant == bindparam("of")).with_for_update()
_GROW: Final = update(audit_logs).where(audit_logs.c.tenant == bindparam("of")).values(size=bindparam("to"))

_REPLACE_TILE: Final = "ON CONFLICT (tenant, level, idx) DO UPDATE SET hashes = excluded.hashes"


# Reading


def read_head(connection: Connection, tenant: str) -> Head:
    """A log's name and size.

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
    """Tiles by their places; those that are not there are left out."""
    wanted = [and_(audit_tiles.c.level == level, audit_tiles.c.idx == index) for level, index in places]
    if not wanted:
        return {}
    rows = connection.execute(
        select(audit_tiles.c.level, audit_tiles.c.idx, audit_tiles.c.hashes).where(
            audit_tiles.c.tenant == tenant, or_(*wanted)
        )
    )
    return {(row.level, row.idx): bytes(row.hashes) for row in rows}


# Made once: working a statement out takes longer than SQLite takes to answer it.
_TILE: Final = select(audit_tiles.c.hashes).where(
    audit_tiles.c.tenant == bindparam("of"),
    audit_tiles.c.level == bindparam("level"),
    audit_tiles.c.idx == bindparam("at"),
)
_ENTRY: Final = select(audit_entries.c.data).where(
    audit_entries.c.tenant == bindparam("of"), audit_entries.c.idx == bindparam("at")
)


_READ_AHEAD: Final = 8
"""Tiles that are read at once for a proof: all of a log of up to 4 thousand million entries."""
_TOGETHER: Final = text(
    "SELECT level, idx, hashes FROM audit_tiles WHERE tenant = :of AND ("  # noqa: S608 numbers alone
    + " OR ".join(f"(level = :level{number} AND idx = :idx{number})" for number in range(_READ_AHEAD))
    + ")"
)


def tiles_of_proof(connection: Connection, tenant: str, index: int, size: int) -> dict[Place, bytes]:
    """The tiles that the proof of an entry in a log of a size is made of, in one query; what is not there is left out,
    and so are the highest ones of a log that is larger than any."""
    places = sorted(proof_places(index, size))[:_READ_AHEAD]
    places += places[:1] * (_READ_AHEAD - len(places))
    values: dict[str, int | str] = {"of": tenant}
    for number, (level, idx) in enumerate(places):
        values |= {f"level{number}": level, f"idx{number}": idx}
    return {(row.level, row.idx): bytes(row.hashes) for row in execute_prepared(connection, _TOGETHER, values)}


def nodes_of(connection: Connection, tenant: str, known: dict[Place, bytes] | None = None) -> NodeAt:
    """Reads hashes of the tree for proofs; each tile is read once, and those that are known are not read."""
    known = {} if known is None else known

    def tile_at(level: int, index: int) -> bytes:
        place = (level, index)
        if place not in known:
            found = execute_prepared(
                connection, _TILE, {"of": tenant, "level": level, "at": index}
            ).scalar_one_or_none()
            known[place] = b"" if found is None else bytes(found)
        return known[place]

    return node_reader(tile_at)


def read_root(connection: Connection, tenant: str, size: int) -> bytes:
    """The root over the first entries of a log, by its stored hashes."""
    return root_at(size, nodes_of(connection, tenant))


def read_entries(
    connection: Connection, tenant: str, begin: int = 0, end: int | None = None
) -> Iterator[tuple[int, bytes]]:
    """The entries of a log with their indexes, in order, some at a time; one that is missing is just not there."""
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
    """One entry.

    Raises:
        AuditError: it is not there.
    """
    data = execute_prepared(connection, _ENTRY, {"of": tenant, "at": index}).scalar_one_or_none()
    if data is None:
        raise AuditError(f"expected entry {index} of the log, and it is not there")
    return bytes(data)


def entries_of(connection: Connection, tenant: str, record: str) -> list[tuple[int, bytes]]:
    """The entries about a run, in order."""
    table = audit_entries.c
    rows = connection.execute(
        select(table.idx, table.data).where(table.tenant == tenant, table.record == record).order_by(table.idx)
    )
    return [(row.idx, bytes(row.data)) for row in rows]


def read_checkpoints(connection: Connection, tenant: str) -> list[str]:
    """The stored checkpoints of a log, oldest first."""
    table = audit_checkpoints.c
    return list(connection.execute(select(table.note).where(table.tenant == tenant).order_by(table.size)).scalars())


def last_checkpoint(connection: Connection, tenant: str) -> str | None:
    """The newest stored checkpoint."""
    table = audit_checkpoints.c
    query = select(table.note).where(table.tenant == tenant).order_by(table.size.desc()).limit(1)
    return connection.execute(query).scalar_one_or_none()
