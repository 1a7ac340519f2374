"""Verifying a whole log: every entry against the stored tree, and the tree against checkpoints that one trusts.

1. The entries are there from the first to the last, each once, and hash to the stored leaves.
2. Each stored tile holds the hashes of the tiles below it.
3. Each stored checkpoint is signed by a key of the ring and has the root that the entries lead to.
4. So has each checkpoint from outside; the log has not become shorter than any of them, and is the same log.

Whoever owns the host can write a log that holds in all of 1 to 3 if the key is on the host too; only 4 finds that.
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
from assay.store.audit.verification.column_types import LOG, NO_TEXT, foreign_values, undecodable
from assay.store.audit.verification.foreign_code import foreign_code
from assay.store.db.tables import audit_anchors, audit_checkpoints, audit_tiles

MOST_FINDINGS: Final = 100
"""Of more findings only the first are reported."""


class FindingCode(StrEnum):
    """What does not hold."""

    NO_LOG = "no_log"
    """The log is not there."""
    MISSING_ENTRY = "missing_entry"
    """An entry is not there."""
    EXTRA_ENTRY = "extra_entry"
    """An entry follows the end of the log."""
    ALTERED_ENTRY = "altered_entry"
    """An entry does not hash to its stored leaf: one of the two was changed."""
    ALTERED_TILE = "altered_tile"
    """A stored tile does not hold the hashes that it should."""
    BAD_CHECKPOINT = "bad_checkpoint"
    """A checkpoint is malformed, or no trusted key signed it as it stands."""
    MISSING_CHECKPOINT = "missing_checkpoint"
    """A checkpoint that was taken out of the host is not stored any more."""
    OTHER_LOG = "other_log"
    """A checkpoint is of another log."""
    OTHER_HISTORY = "other_history"
    """The entries lead to another root than a checkpoint states: history was rewritten."""
    SHORTER = "shorter"
    """A checkpoint states more entries than there are: the log was cut, or an older copy put in its place."""
    ALTERED_CONTENT = "altered_content"
    """What is stored of a run is not what its entry commits to."""
    MISSING_CONTENT = "missing_content"
    """Content of a run is not there, and no entry says that it was erased."""
    UNLOGGED = "unlogged"
    """A run is in the tables of which the log knows nothing."""
    FOREIGN_CODE = "foreign_code"
    """A trigger, a rule or a view is in the database, and none is ours: it changes rows, or hides them."""
    HIDDEN_ROWS = "hidden_rows"
    """An index lacks rows of its table: what is read through it shows less than is stored."""
    USED_TWICE = "used_twice"
    """The log tells of two commits with one receipt: what remembers used receipts was altered in between."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that does not hold."""

    code: FindingCode
    message: str
    """A sentence for people."""


@dataclass(frozen=True, slots=True)
class LogVerification:
    """What was found of a log."""

    origin: str
    size: int
    """How many entries it has."""
    root: bytes
    """The root that its entries lead to."""
    checkpoints: int
    """How many stored checkpoints hold."""
    anchors: int
    """How many checkpoints from outside hold."""
    outside: int = 0
    """How many of its first entries a checkpoint from outside covers that holds."""
    findings: tuple[Finding, ...] = ()
    """What does not hold; nothing where the log is whole."""
    runs: int = 0
    """Of how many runs the content was compared with the log."""
    since: int = 0
    """With how many entries an earlier verification ended from which this one began: what it had checked against the
    log and is unchanged was not compared again (`assay.store.audit.verification.incremental`)."""

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def caution(self) -> str | None:
        """What this verification cannot know, as a sentence that is told before anything else; none where all entries
        are covered from outside.

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
    """Collects what is found, up to a bound."""

    found: list[Finding] = field(default_factory=list)
    about: set[str] = field(default_factory=set)
    """The runs of which something was found."""

    def add(self, code: FindingCode, message: str, about: str | None = None) -> None:
        """One more; where it is about a run, with the run's id."""
        if about is not None and len(self.about) < MOST_FINDINGS:
            self.about.add(about)
        if len(self.found) < MOST_FINDINGS:
            self.found.append(Finding(code, message))


def verify_log(
    connection: Connection, tenant: str, ring: KeyRing, anchors: Sequence[str | bytes] = ()
) -> LogVerification:
    """Whether a log is whole and has the history that checkpoints state.

    Args:
        connection: one that sees one state of the database (`Store.reading`).
        tenant: whose log.
        ring: the public keys that are trusted.
        anchors: checkpoints as notes, from wherever the log's owner cannot change them.

    Raises:
        ReceiptError: `cryptography` is not installed.
    """
    findings = Findings()
    for what in foreign_code(connection):
        findings.add(FindingCode.FOREIGN_CODE, what)
    foreign = len(findings.found)
    for what in foreign_values(connection, tenant, LOG):
        findings.add(FindingCode.ALTERED_ENTRY, what)
    try:
        if len(findings.found) == foreign:
            return _verified(connection, tenant, ring, anchors, findings)
    except OperationalError as error:
        if not undecodable(error):
            raise
        findings.add(FindingCode.ALTERED_ENTRY, NO_TEXT)
    return LogVerification("", 0, EMPTY_ROOT, 0, 0, 0, tuple(findings.found))


def _verified(
    connection: Connection, tenant: str, ring: KeyRing, anchors: Sequence[str | bytes], findings: Findings
) -> LogVerification:
    try:
        head = read_head(connection, tenant)
    except AuditError as error:
        findings.add(FindingCode.NO_LOG, str(error))
        head = Head("", 0)
    stored = _opened(read_checkpoints(connection, tenant), ring, head, "stored checkpoint", findings)
    given = _opened(anchors, ring, head, "checkpoint from outside", findings)
    _of_tables(connection, tenant, stored, given, findings)
    sizes = {checkpoint.size for checkpoint in (*stored, *given)}
    roots, size = _scan(connection, tenant, head, sizes, findings)
    kept = [_compare(checkpoint, size, roots, "stored checkpoint", findings) for checkpoint in stored]
    held = [_compare(checkpoint, size, roots, "checkpoint from outside", findings) for checkpoint in given]
    outside = max((one.size for one, holds in zip(given, held, strict=True) if holds), default=0)
    return LogVerification(
        head.origin, size, roots.get(size, EMPTY_ROOT), sum(kept), sum(held), outside, tuple(findings.found)
    )


def _opened(notes: Iterable[str | bytes], ring: KeyRing, head: Head, what: str, findings: Findings) -> list[Checkpoint]:
    found = []
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
        found.append(checkpoint)
    return found


def _of_tables(
    connection: Connection, tenant: str, stored: Sequence[Checkpoint], given: Sequence[Checkpoint], findings: Findings
) -> None:
    """What else the tables say of the log: keys that repeat what is signed or hashed must agree with it, and what was
    taken out of the host was stored before."""
    table = audit_checkpoints.c
    sizes = list(connection.execute(select(table.size).where(table.tenant == tenant).order_by(table.size)).scalars())
    if len(sizes) == len(stored) and sizes != [checkpoint.size for checkpoint in stored]:
        findings.add(FindingCode.BAD_CHECKPOINT, "stored checkpoints stand under other sizes than they state")
    anchors = select(audit_anchors.c.size).where(audit_anchors.c.tenant == tenant).distinct()
    out = {*connection.execute(anchors).scalars(), *(checkpoint.size for checkpoint in given)}
    for size in sorted(out - set(sizes)):
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
    connection: Connection, tenant: str, head: Head, wanted: set[int], findings: Findings
) -> tuple[dict[int, bytes], int]:
    """The roots at the wanted sizes and at the end, out of the entries alone, which are checked against the tiles.

    Goes on behind the first gap with nothing: what follows has lost its place.
    """
    stack, roots = RootStack(), {0: EMPTY_ROOT}
    marks = sorted(size for size in wanted if size > 0)
    tops = _TileCheck(connection, tenant, findings)
    position = 0
    for leaves in _leaves_of_tiles(connection, tenant, head, findings):
        while marks and position < marks[0] <= position + len(leaves):
            mark = marks.pop(0)
            part = stack.copy()
            part.extend(leaves[: mark - position])
            roots[mark] = part.root()
        if len(leaves) == TILE_WIDTH:
            stack.extend_complete(complete_root(leaves), TILE_LEVELS)
        else:
            stack.extend(leaves)
        tops.add(position >> TILE_LEVELS, leaves)
        position += len(leaves)
    tops.finish(position)
    if position < head.size:
        findings.add(FindingCode.MISSING_ENTRY, f"expected entry {position} of {head.size}, and it is not there")
    roots[position] = stack.root()
    return roots, position


def _leaves_of_tiles(connection: Connection, tenant: str, head: Head, findings: Findings) -> Iterator[list[bytes]]:
    """Leaf hashes, as many as a tile holds at a time, up to the first entry that is missing."""
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
    """Holds the stored tiles against what the entries lead to, level by level, as the scan goes on."""

    def __init__(self, connection: Connection, tenant: str, findings: Findings) -> None:
        self._findings = findings
        self._stored = _stored_tiles(connection, tenant)
        self._next = next(self._stored, None)
        self._above: list[bytes] = []

    def add(self, index: int, leaves: list[bytes]) -> None:
        """The next leaves: those of the tile at an index."""
        self._match(0, index, leaves)
        if len(leaves) == TILE_WIDTH:
            self._above.append(complete_root(leaves))

    def finish(self, size: int) -> None:
        """Now the levels above, whose hashes are few enough to be kept."""
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
            self._tell(self._next[0], self._next[1])

    def _match(self, level: int, index: int, expected: list[bytes]) -> None:
        """Tiles come in the order of their places, as the expected ones do."""
        while self._next is not None and self._next[:2] < (level, index):
            self._tell(self._next[0], self._next[1])
            self._next = next(self._stored, None)
        found = b""
        if self._next is not None and self._next[:2] == (level, index):
            found = self._next[2]
            self._next = next(self._stored, None)
        if found == b"".join(expected):
            return
        if level:
            self._tell(level, index)
            return
        try:
            stored = hashes_of(found)
        except AuditError:
            stored = []
        place = next((at for at, (one, other) in enumerate(zip(expected, stored, strict=False)) if one != other), None)
        if place is None:
            self._tell(level, index)
        else:
            entry = (index << TILE_LEVELS) + place
            self._findings.add(
                FindingCode.ALTERED_ENTRY, f"entry {entry} does not hash to its stored leaf: one of them was changed"
            )

    def _tell(self, level: int, index: int) -> None:
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
