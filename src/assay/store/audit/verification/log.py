"""Verifying a whole log: every entry against the stored tree, and the tree against trusted checkpoints.

1. The entries are there from the first to the last, each once, and hash to the stored leaves.
2. Each stored tile holds the hashes of the tiles below it.
3. Each stored checkpoint is signed by a key of the ring and has the root that the entries lead to.
4. The same is true of each checkpoint from outside: the log is the same one, and not shorter than any of them states.

If the signing key is on the host, its owner can forge a log that passes 1 to 3; only 4 detects that.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Final

from sqlalchemy import Connection, select
from sqlalchemy.exc import OperationalError

from assay.errors import AuditError
from assay.receipt import KeyRing
from assay.store.audit.log import Head, read_checkpoints, read_entries, read_head
from assay.store.audit.merkle.checkpoint import Checkpoint, open_checkpoint
from assay.store.audit.merkle.tiles import TILE_LEVELS, TILE_WIDTH, hashes_of
from assay.store.audit.merkle.tree import EMPTY_ROOT, RootStack, complete_root
from assay.store.audit.verification.column_types import LOG, UNDECODABLE, foreign_values, is_undecodable
from assay.store.audit.verification.foreign_code import foreign_code
from assay.store.db.tables import audit_anchors, audit_checkpoints, audit_tiles

MOST_FINDINGS: Final = 100
"""The most findings that are reported: the first ones."""


class FindingCode(StrEnum):
    """The kind of a finding."""

    NO_LOG = "no_log"
    """There is no log."""
    MISSING_ENTRY = "missing_entry"
    """An entry is missing."""
    EXTRA_ENTRY = "extra_entry"
    """There is an entry behind the end of the log."""
    ALTERED_ENTRY = "altered_entry"
    """An entry does not hash to its stored leaf: one of the two was changed."""
    ALTERED_TILE = "altered_tile"
    """A stored tile does not hold the hashes that the entries lead to."""
    BAD_CHECKPOINT = "bad_checkpoint"
    """A checkpoint is malformed, or no trusted key signed it in this form."""
    MISSING_CHECKPOINT = "missing_checkpoint"
    """A checkpoint that was copied out of the host is no longer stored."""
    OTHER_LOG = "other_log"
    """A checkpoint is of another log."""
    OTHER_HISTORY = "other_history"
    """The entries lead to another root than a checkpoint states: history was rewritten."""
    SHORTER = "shorter"
    """A checkpoint states more entries than there are: the log was truncated, or replaced by an older copy."""
    ALTERED_CONTENT = "altered_content"
    """Stored rows are not what their entry commits to."""
    MISSING_CONTENT = "missing_content"
    """Content is missing, and no entry records its erasure."""
    UNLOGGED = "unlogged"
    """There are rows in the tables that no entry records."""
    FOREIGN_CODE = "foreign_code"
    """The database has a trigger, a rule or a view, which can change or hide rows; assay creates none."""
    HIDDEN_ROWS = "hidden_rows"
    """An index lacks rows of its table: queries through it show less than is stored."""
    USED_TWICE = "used_twice"
    """The log has two commits with one receipt: the table of used receipts was altered in between."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not hold."""

    code: FindingCode
    message: str
    """A sentence for people."""


@dataclass(frozen=True, slots=True)
class LogVerification:
    """The result of verifying a log."""

    origin: str
    size: int
    """The number of its entries."""
    root: bytes
    """The root that its entries lead to."""
    checkpoints: int
    """The number of stored checkpoints that hold."""
    anchors: int
    """The number of checkpoints from outside that hold."""
    outside: int = 0
    """The number of its first entries that are covered by a valid checkpoint from outside."""
    findings: tuple[Finding, ...] = ()
    """What does not hold; empty if the log is intact."""
    runs: int = 0
    """The number of runs whose content was compared with the log."""
    since: int = 0
    """The number of entries at the end of the earlier verification from which this one began: what that one had
    compared with the log and is unchanged was not compared again (`assay.store.audit.verification.incremental`)."""

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def caution(self) -> str | None:
        """What this verification cannot detect, as a sentence to show before the result; None if a checkpoint from
        outside covers all entries.

        >>> LogVerification("example.com/log", 7, b"", 1, 0).caution
        'no checkpoint from outside was compared with it: whoever has the key could have rewritten all of it'
        """
        if not self.outside:
            return "no checkpoint from outside was compared with it: whoever has the key could have rewritten all of it"
        if self.outside < self.size:
            return (
                f"a checkpoint from outside covers the first {self.outside:,} of {self.size:,} entries: who has the "
                "key could have written the rest anew, and the rows that it binds"
            )
        return None


@dataclass(slots=True)
class Findings:
    """Collects findings, up to `MOST_FINDINGS`."""

    items: list[Finding] = field(default_factory=list)
    runs: set[str] = field(default_factory=set)
    """The ids of the runs and other units with findings."""

    def add(self, code: FindingCode, message: str, run: str | None = None) -> None:
        """Add a finding; with the id of the run if it is about one."""
        if run is not None and len(self.runs) < MOST_FINDINGS:
            self.runs.add(run)
        if len(self.items) < MOST_FINDINGS:
            self.items.append(Finding(code, message))


def verify_log(
    connection: Connection, tenant: str, ring: KeyRing, anchors: Sequence[str | bytes] = ()
) -> LogVerification:
    """Verify that a log is intact and has the history that checkpoints state.

    Args:
        connection: one that sees one snapshot of the database (`Store.reading`).
        tenant: whose log.
        ring: the trusted public keys.
        anchors: checkpoints as notes, from a place where the log's owner cannot change them.

    Raises:
        ReceiptError: `cryptography` is not installed.
    """
    findings = Findings()
    for message in foreign_code(connection):
        findings.add(FindingCode.FOREIGN_CODE, message)
    readable = True
    for message in foreign_values(connection, tenant, LOG):
        findings.add(FindingCode.ALTERED_ENTRY, message)
        readable = False
    try:
        if readable:
            return _verify(connection, tenant, ring, anchors, findings)
    except OperationalError as error:
        if not is_undecodable(error):
            raise
        findings.add(FindingCode.ALTERED_ENTRY, UNDECODABLE)
    return LogVerification("", 0, EMPTY_ROOT, 0, 0, 0, tuple(findings.items))


def _verify(
    connection: Connection, tenant: str, ring: KeyRing, anchors: Sequence[str | bytes], findings: Findings
) -> LogVerification:
    try:
        head = read_head(connection, tenant)
    except AuditError as error:
        findings.add(FindingCode.NO_LOG, str(error))
        head = Head("", 0)
    stored = _open_all(read_checkpoints(connection, tenant), ring, head, "stored checkpoint", findings)
    given = _open_all(anchors, ring, head, "checkpoint from outside", findings)
    _compare_tables(connection, tenant, stored, given, findings)
    sizes = {checkpoint.size for checkpoint in (*stored, *given)}
    roots, size = _scan(connection, tenant, head, sizes, findings)
    stored_hold = [_compare(checkpoint, size, roots, "stored checkpoint", findings) for checkpoint in stored]
    given_hold = [_compare(checkpoint, size, roots, "checkpoint from outside", findings) for checkpoint in given]
    outside = max((checkpoint.size for checkpoint, holds in zip(given, given_hold, strict=True) if holds), default=0)
    return LogVerification(
        head.origin,
        size,
        roots.get(size, EMPTY_ROOT),
        sum(stored_hold),
        sum(given_hold),
        outside,
        tuple(findings.items),
    )


def _open_all(
    notes: Iterable[str | bytes], ring: KeyRing, head: Head, what: str, findings: Findings
) -> list[Checkpoint]:
    checkpoints = []
    for number, note in enumerate(notes, start=1):
        try:
            checkpoint = open_checkpoint(note, ring)
        except AuditError as error:
            findings.add(FindingCode.BAD_CHECKPOINT, f"{what} {number}: {error}")
            continue
        if checkpoint.origin != head.origin:
            findings.add(
                FindingCode.OTHER_LOG,
                f"{what} {number} is of the log {checkpoint.origin!r}, and this one is {head.origin!r}",
            )
            continue
        checkpoints.append(checkpoint)
    return checkpoints


def _compare_tables(
    connection: Connection, tenant: str, stored: Sequence[Checkpoint], given: Sequence[Checkpoint], findings: Findings
) -> None:
    """Compare the other columns of the log's tables: keys must agree with what is signed, and every checkpoint that was
    copied out of the host must still be stored."""
    table = audit_checkpoints.c
    sizes = list(connection.execute(select(table.size).where(table.tenant == tenant).order_by(table.size)).scalars())
    if len(sizes) == len(stored) and sizes != [checkpoint.size for checkpoint in stored]:
        findings.add(FindingCode.BAD_CHECKPOINT, "stored checkpoints stand under other sizes than they state")
    anchors = select(audit_anchors.c.size).where(audit_anchors.c.tenant == tenant).distinct()
    exported = {*connection.execute(anchors).scalars(), *(checkpoint.size for checkpoint in given)}
    for size in sorted(exported - set(sizes)):
        findings.add(
            FindingCode.MISSING_CHECKPOINT, f"the checkpoint at {size:,} entries was taken out, and is not stored"
        )


def _compare(checkpoint: Checkpoint, size: int, roots: dict[int, bytes], what: str, findings: Findings) -> bool:
    if checkpoint.size > size:
        findings.add(
            FindingCode.SHORTER,
            f"a {what} states {checkpoint.size:,} entries, and there are {size:,}: the log was cut, or an older copy "
            "was put in its place",
        )
        return False
    if roots.get(checkpoint.size) != checkpoint.root:
        findings.add(
            FindingCode.OTHER_HISTORY,
            f"the first {checkpoint.size:,} entries lead to another root than a {what} states: history was rewritten",
        )
        return False
    return True


# The scan


def _scan(
    connection: Connection, tenant: str, head: Head, sizes: set[int], findings: Findings
) -> tuple[dict[int, bytes], int]:
    """The roots at the given sizes and at the end, computed from the entries alone, which are compared with the tiles.

    Returns:
        The roots by size, and the number of entries before the first gap, at which the scan ends.
    """
    stack, roots = RootStack(), {0: EMPTY_ROOT}
    pending = sorted(size for size in sizes if size > 0)
    tiles = _TileCheck(connection, tenant, findings)
    position = 0
    for leaves in _leaves_by_tile(connection, tenant, head, findings):
        while pending and position < pending[0] <= position + len(leaves):
            size = pending.pop(0)
            prefix = stack.copy()
            prefix.extend(leaves[: size - position])
            roots[size] = prefix.root()
        if len(leaves) == TILE_WIDTH:
            stack.extend_complete(complete_root(leaves), TILE_LEVELS)
        else:
            stack.extend(leaves)
        tiles.add(position >> TILE_LEVELS, leaves)
        position += len(leaves)
    tiles.finish(position)
    if position < head.size:
        findings.add(FindingCode.MISSING_ENTRY, f"expected entry {position} of {head.size}, and it is not there")
    roots[position] = stack.root()
    return roots, position


def _leaves_by_tile(connection: Connection, tenant: str, head: Head, findings: Findings) -> Iterator[list[bytes]]:
    """Leaf hashes, one tile at a time, up to the first missing entry."""
    leaves: list[bytes] = []
    for expected, (index, data) in enumerate(read_entries(connection, tenant)):
        if index >= head.size:
            findings.add(FindingCode.EXTRA_ENTRY, f"entry {index} stands behind the end of the log of {head.size}")
            break
        if index != expected:
            break
        leaves.append(sha256(b"\x00" + data).digest())
        if len(leaves) == TILE_WIDTH:
            yield leaves
            leaves = []
    if leaves:
        yield leaves


class _TileCheck:
    """Compares the stored tiles with the hashes that the entries lead to, as the scan goes on."""

    def __init__(self, connection: Connection, tenant: str, findings: Findings) -> None:
        self._findings = findings
        self._stored = _stored_tiles(connection, tenant)
        self._next = next(self._stored, None)
        self._above: list[bytes] = []

    def add(self, index: int, leaves: list[bytes]) -> None:
        """Compare the next tile of leaves."""
        self._match(0, index, leaves)
        if len(leaves) == TILE_WIDTH:
            self._above.append(complete_root(leaves))

    def finish(self, size: int) -> None:
        """Compare the tiles of the levels above, whose hashes are few enough to keep in memory."""
        if size % TILE_WIDTH == 0:
            self._match(0, size >> TILE_LEVELS, [])
        level, hashes = 1, self._above
        while hashes:
            roots = []
            for begin in range(0, len(hashes), TILE_WIDTH):
                part = hashes[begin : begin + TILE_WIDTH]
                self._match(level, begin >> TILE_LEVELS, part)
                if len(part) == TILE_WIDTH:
                    roots.append(complete_root(part))
            level, hashes = level + 1, roots
        if self._next is not None:
            self._add_finding(self._next[0], self._next[1])

    def _match(self, level: int, index: int, expected: list[bytes]) -> None:
        """Compare one tile; stored and expected tiles come in the same order."""
        while self._next is not None and self._next[:2] < (level, index):
            self._add_finding(self._next[0], self._next[1])
            self._next = next(self._stored, None)
        stored = b""
        if self._next is not None and self._next[:2] == (level, index):
            stored = self._next[2]
            self._next = next(self._stored, None)
        if stored == b"".join(expected):
            return
        if level:
            self._add_finding(level, index)
            return
        try:
            hashes = hashes_of(stored)
        except AuditError:
            hashes = []
        differing = next(
            (at for at, pair in enumerate(zip(expected, hashes, strict=False)) if pair[0] != pair[1]), None
        )
        if differing is None:
            self._add_finding(level, index)
        else:
            entry = (index << TILE_LEVELS) + differing
            self._findings.add(
                FindingCode.ALTERED_ENTRY, f"entry {entry} does not hash to its stored leaf: one of them was changed"
            )

    def _add_finding(self, level: int, index: int) -> None:
        self._findings.add(
            FindingCode.ALTERED_TILE,
            f"the stored tile at level {level}, index {index} does not hold the hashes that the entries lead to",
        )


def _stored_tiles(connection: Connection, tenant: str) -> Iterator[tuple[int, int, bytes]]:
    table = audit_tiles.c
    level, index = -1, -1
    while True:
        rows = connection.execute(
            select(table.level, table.idx, table.hashes)
            .where(table.tenant == tenant, (table.level > level) | ((table.level == level) & (table.idx > index)))
            .order_by(table.level, table.idx)
            .limit(512)
        ).all()
        if not rows:
            return
        for row in rows:
            yield row.level, row.idx, bytes(row.hashes)
        level, index = rows[-1].level, rows[-1].idx
