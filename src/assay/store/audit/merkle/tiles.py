"""The stored hashes of a tree: tiles of up to 256 hashes, as in C2SP tlog-tiles. Pure.

A tile of level 0 holds leaf hashes; a tile of level n + 1 holds the roots of 256 complete tiles of level n. Only the
tiles at the right edge are incomplete, one for each level, and they are all that an append needs. Nodes between these
levels are computed when a proof needs them: at most 255 hashes for each tile that it touches.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from assay.errors import AuditError
from assay.store.audit.merkle.tree import HASH_BYTES, NodeAt, complete_root

TILE_LEVELS: Final = 8
"""Levels of the tree within a tile."""
TILE_WIDTH: Final = 1 << TILE_LEVELS
"""The most hashes of a tile."""
TILE_BYTES: Final = TILE_WIDTH * HASH_BYTES

Place = tuple[int, int]
"""A tile's level and its index among the tiles of its level."""


def edge_places(size: int) -> list[Place]:
    """The places of the incomplete tiles of a log, from level 0 up.

    >>> edge_places(256), edge_places(257), edge_places(65536 + 300)
    ([(1, 0)], [(0, 1), (1, 0)], [(0, 257), (1, 1), (2, 0)])
    """
    return [(level, count >> TILE_LEVELS) for level, count in enumerate(_counts(size)) if count & (TILE_WIDTH - 1)]


def proof_places(index: int, size: int) -> set[Place]:
    """The places of all tiles that the inclusion proof of an entry needs: the tiles over the entry, each of which also
    holds the siblings on its levels, and those at the right edge.

    >>> sorted(proof_places(700, 70_000))
    [(0, 2), (0, 273), (1, 0), (1, 1), (2, 0)]
    """
    places: set[Place] = set()
    for level in range(len(_counts(size))):
        shift = TILE_LEVELS * (level + 1)
        places |= {(level, index >> shift), (level, size >> shift)}
    return places


def _counts(size: int) -> list[int]:
    """The number of hashes at each level of tiles."""
    counts = []
    while size:
        counts.append(size)
        size >>= TILE_LEVELS
    return counts


class Edge:
    """The right edge of a tree: its incomplete tiles. Takes leaf hashes and returns the tiles that they change."""

    __slots__ = ("_open", "size")

    def __init__(self, size: int, tiles: Mapping[Place, bytes]) -> None:
        """The edge of a log with the given size, from the tiles at `edge_places`.

        Raises:
            AuditError: a tile is missing, or has another number of hashes than the size implies.
        """
        self.size = size
        """The number of entries of the log."""
        self._open: list[list[bytes]] = []
        for level, count in enumerate(_counts(size)):
            expected = count & (TILE_WIDTH - 1)
            stored = tiles.get((level, count >> TILE_LEVELS), b"") if expected else b""
            if len(stored) != expected * HASH_BYTES:
                raise AuditError(
                    f"expected {expected} hashes in the tile at level {level}, index {count >> TILE_LEVELS} of a log "
                    f"of {size} entries, got {len(stored) // HASH_BYTES}; the log was altered: verify it"
                )
            self._open.append(hashes_of(stored))

    def extend(self, hashes: Iterable[bytes]) -> dict[Place, bytes]:
        """Add leaf hashes; the returned tiles must be stored, replacing those at the same places."""
        changed: dict[Place, bytes] = {}
        if not self._open:
            self._open.append([])
        leaves, bottom = self._open[0], self.size >> TILE_LEVELS
        for leaf in hashes:
            leaves.append(leaf)
            self.size += 1
            if len(leaves) == TILE_WIDTH:
                self._close(0, bottom, changed)
                leaves, bottom = self._open[0], self.size >> TILE_LEVELS
        if leaves:
            changed[0, bottom] = b"".join(leaves)
        return changed

    def _close(self, level: int, index: int, changed: dict[Place, bytes]) -> None:
        """Add a complete tile to the changed ones, and its root to the tile above, which may then be complete too."""
        while True:
            full = self._open[level]
            changed[level, index] = b"".join(full)
            self._open[level] = []
            level += 1
            if level == len(self._open):
                self._open.append([])
            above = self._open[level]
            above.append(complete_root(full))
            index >>= TILE_LEVELS
            if len(above) < TILE_WIDTH:
                changed[level, index] = b"".join(above)
                return


def hashes_of(tile: bytes) -> list[bytes]:
    """The hashes in a tile.

    Raises:
        AuditError: its length is not a multiple of a hash's, or exceeds that of a tile.
    """
    if len(tile) % HASH_BYTES or len(tile) > TILE_BYTES:
        raise AuditError(f"expected a tile of up to {TILE_WIDTH} hashes of {HASH_BYTES} bytes, got {len(tile)} bytes")
    return [tile[at : at + HASH_BYTES] for at in range(0, len(tile), HASH_BYTES)]


def node_reader(tile_at: Callable[[int, int], bytes]) -> NodeAt:
    """A function that reads the hashes of complete subtrees from tiles.

    Args:
        tile_at: returns the bytes of the tile at a level and an index; empty if there is none.

    Returns:
        The function; it raises AuditError if the tile does not contain the node.
    """

    def node_at(level: int, index: int) -> bytes:
        within = level % TILE_LEVELS
        first = index << within
        tile = tile_at(level // TILE_LEVELS, first >> TILE_LEVELS)
        begin = (first & (TILE_WIDTH - 1)) * HASH_BYTES
        part = hashes_of(tile[begin : begin + (HASH_BYTES << within)])
        if len(part) != 1 << within:
            raise AuditError(
                f"the tile at level {level // TILE_LEVELS}, index {first >> TILE_LEVELS} lacks hashes; the log was "
                "altered: verify it"
            )
        return complete_root(part)

    return node_at
