"""Verifying from an earlier verification on: what was checked against the log then is only looked at for changes.

A verification that found nothing leaves a state: the size and the root of the log, and digests of all that was held
against it, run by run in blocks, and of what the tables hold once for many runs. A later one

1. reads all entries, as every verification does: they must still begin with what has that root;
2. reads all rows, and compares their digests; what is as it was needs no second look;
3. holds against the log what new entries tell of, and every block that is not as it was.

So a change of any row that a full verification finds is found by this one too, as long as the state is what the earlier
one left: whoever can write it can have anything passed over. It is kept where checkpoints are kept, outside the host.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection, bindparam, literal, select
from sqlalchemy.exc import OperationalError

from assay.errors import AuditError
from assay.store.audit.entries import DECISION, ROWS
from assay.store.audit.log import CHUNK, read_root
from assay.store.audit.units import RUN, UNITS, Unit
from assay.store.audit.verification.column_types import NO_TEXT, undecodable
from assay.store.audit.verification.derived_contents import Derived
from assay.store.audit.verification.indexes import lacking
from assay.store.audit.verification.log import FindingCode, Findings, LogVerification
from assay.store.audit.verification.run_blocks import Block, digest_of, read_blocks
from assay.store.audit.verification.run_contents import Contents, of_other_types, with_contents
from assay.store.db import tables

FORM: Final = "assay.verified/1"
"""The name and version of the form. What is digested may change with it."""
TOGETHER: Final = 2_000
"""Runs of changed blocks that are compared at once."""
LARGEST_STATE: Final = 256 * 1024 * 1024
"""The most bytes of a state that are read."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What an earlier verification left, which found nothing."""

    origin: str
    size: int
    root: str
    """In hexadecimal."""
    entries: tuple[str, ...]
    """Digests of the columns that are next to the entries, some thousand each; the last one ends with the log."""
    runs: tuple[tuple[str, str], ...]
    """The blocks: the last id and the digest of each."""
    derived: Derived = field(default_factory=Derived)
    form: str = FORM

    def to_text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), separators=(",", ":")) + "\n"


def read_verified(text: str) -> Verified:
    """A state out of its JSON.

    Raises:
        AuditError: it is none of this version.
    """
    if len(text) > LARGEST_STATE:
        raise AuditError(f"expected a state of at most {LARGEST_STATE:,} characters, got {len(text):,}")
    try:
        value = json.loads(text)
        if not isinstance(value, dict) or value.get("form") != FORM:
            raise AuditError(f"expected a state of the form {FORM}, got another value; verify in full to make one")
        made = Verified(
            origin=str(value["origin"]),
            size=_whole(value["size"]),
            root=str(value["root"]),
            entries=tuple(map(str, value["entries"])),
            runs=tuple((str(last), str(digest)) for last, digest in value["runs"]),
            derived=Derived.of(value["derived"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise AuditError("expected the state of an earlier verification, but it cannot be read") from error
    ends = [last for last, _ in made.runs]
    if ends != sorted(set(ends)) or len(made.entries) != -(-made.size // CHUNK):
        raise AuditError("expected the state of an earlier verification, but its parts do not fit each other")
    return made


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def with_contents_since(
    connection: Connection, tenant: str, found: LogVerification, since: Verified | None, *, leaves: bool = True
) -> tuple[LogVerification, Verified | None]:
    """A verification of a log and of what is stored of its runs, from an earlier one on.

    Args:
        connection: the same that the log was verified with.
        tenant: whose log.
        found: what `verify_log` found.
        since: what an earlier verification left; without it everything is checked against the log.
        leaves: whether a state is to be left; without one and without `since` rows are read once and not twice.

    Returns:
        What was found, and the state to begin with next time; none where something was found.
    """
    if since is None and not leaves:
        return with_contents(connection, tenant, found), None
    if (strange := of_other_types(connection, tenant, found)) is not None:
        return strange, None
    try:
        return _from(connection, tenant, found, since)
    except OperationalError as error:
        if not undecodable(error):
            raise
        findings = Findings(list(found.findings))
        findings.add(FindingCode.ALTERED_CONTENT, NO_TEXT)
        return replace(found, findings=tuple(findings.found)), None


def _from(
    connection: Connection, tenant: str, found: LogVerification, since: Verified | None
) -> tuple[LogVerification, Verified | None]:
    findings = Findings(list(found.findings))
    for what in lacking(connection):
        findings.add(FindingCode.HIDDEN_ROWS, what)
    since = since if since is None or _begins(connection, tenant, found, since, findings) else None
    beside = _beside(connection, tenant, found.size)
    if since is not None and beside[1](since.size) != since.entries:
        since = None  # which entry it is, a look at all of them tells
    contents = Contents(
        connection, tenant, found.size, findings, since.size if since else 0, since.derived if since else None
    )
    # The last block may have been cut short: it is looked at again, so that blocks stay of one size.
    known = dict(since.runs[:-1]) if since is not None else {}
    blocks: list[tuple[str, str]] = []
    changed: list[tuple[str, Block]] = []
    for block in read_blocks(connection, tenant, list(known)):
        if since is not None and known.get(block.last) != block.digest:
            changed.append((blocks[-1][0] if blocks else "", block))
        blocks.append((block.last, block.digest))
    runs = contents.entries()
    if since is not None:
        ids = _decided_runs(connection, tenant, blocks[-1][0] if blocks else "", None)
        for after, block in changed:
            ids |= {*block.runs, *_decided_runs(connection, tenant, after, block.last)}
            if len(ids) >= TOGETHER:
                contents.runs(ids)
                ids = set()
        contents.runs(ids)
        for unit in UNITS:
            if unit is not RUN:
                contents.units(unit, _names_of(connection, tenant, unit))
    derived = contents.finish()
    whole = replace(found, findings=tuple(findings.found), runs=runs + contents.again, since=since.size if since else 0)
    if findings.found:
        return whole, None
    state = Verified(found.origin, found.size, found.root.hex(), beside[0], tuple(blocks), derived)
    return whole, state


def _begins(connection: Connection, tenant: str, found: LogVerification, since: Verified, findings: Findings) -> bool:
    """Whether a log begins with the one of an earlier state."""
    if found.origin != since.origin:
        findings.add(FindingCode.OTHER_LOG, f"the state is of the log {since.origin!r}, this one is {found.origin!r}")
    elif found.size < since.size:
        findings.add(
            FindingCode.SHORTER,
            f"the state of an earlier verification has {since.size:,} entries, and there are {found.size:,}: the log "
            "was cut, or an older copy put in its place",
        )
    elif not found.findings and read_root(connection, tenant, since.size).hex() != since.root:
        findings.add(
            FindingCode.OTHER_HISTORY,
            f"the first {since.size:,} entries lead to another root than at an earlier verification: history was "
            "rewritten",
        )
    else:
        # Where the log itself does not hold, nothing is passed over.
        return not found.findings
    return False


def _beside(connection: Connection, tenant: str, size: int) -> tuple[tuple[str, ...], Callable[[int], tuple[str, ...]]]:
    """Digests of what is next to the entries of a log; and the same as they were at an earlier size."""
    table = tables.audit_entries.c
    query = (
        select(table.idx, table.kind, table.record)
        .where(table.tenant == tenant, table.idx >= bindparam("from"), table.idx < bindparam("to"))
        .order_by(table.idx)
    )

    def of(begin: int, end: int) -> str:
        return digest_of([tuple(row) for row in connection.execute(query, {"from": begin, "to": end})])

    now = tuple(of(begin, min(begin + CHUNK, size)) for begin in range(0, size, CHUNK))

    def then(earlier: int) -> tuple[str, ...]:
        whole = earlier // CHUNK
        rest = (of(whole * CHUNK, earlier),) if earlier % CHUNK else ()
        return now[:whole] + rest

    return now, then


def _decided_runs(connection: Connection, tenant: str, after: str, to: str | None) -> set[str]:
    """The runs of a stretch of which decisions tell, whether or not there are rows of them."""
    table = tables.audit_entries.c
    query = select(table.record).where(
        table.tenant == tenant,
        table.kind == DECISION,
        table.record > after,
        *([] if to is None else [table.record <= to]),
    )
    return {str(record) for record in connection.execute(query).scalars()}


def _names_of(connection: Connection, tenant: str, unit: Unit) -> set[str]:
    """The units of a kind of which there are rows, or entries."""
    table, head = tables.audit_entries.c, unit.head
    rows = connection.execute(
        select(table.record).where(
            table.tenant == tenant, table.kind == ROWS, table.record.startswith(unit.name(""), autoescape=True)
        )
    ).scalars()
    found = {str(record).partition(":")[2] for record in rows}
    owner = literal("") if unit.id is None else head.c[unit.id]
    return found | {str(one) for one in connection.execute(select(owner).where(head.c.tenant == tenant)).scalars()}
