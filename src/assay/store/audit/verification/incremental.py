"""Incremental verification: what an earlier verification compared with the log is only checked for changes.

A verification without findings leaves a state: the size and the root of the log, and digests of everything that it
compared with the log: of the runs, in blocks, and of the rows that many runs share. A later verification

1. reads all entries, as every verification does: the first ones must still lead to that root;
2. reads all rows, and compares their digests; unchanged blocks are not compared with the log again;
3. compares with the log what new entries state, and every block that changed.

So it detects every changed row that a full verification detects, as long as the state is authentic: anyone who can
write the state can hide any change. Keep it where checkpoints are kept, outside the host.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection, bindparam, literal, select
from sqlalchemy.exc import OperationalError

from assay.errors import AuditError
from assay.store.audit.entries import DECISION, ROWS
from assay.store.audit.log import CHUNK, read_root
from assay.store.audit.units import RUN, UNITS, Unit
from assay.store.audit.verification.column_types import UNDECODABLE, is_undecodable
from assay.store.audit.verification.derived_contents import Derived
from assay.store.audit.verification.indexes import index_damage
from assay.store.audit.verification.log import FindingCode, Findings, LogVerification
from assay.store.audit.verification.run_blocks import Block, digest_of, read_blocks
from assay.store.audit.verification.run_contents import ContentCheck, verify_contents, with_foreign_values
from assay.store.db import tables

FORM: Final = "assay.verified/1"
"""The name and version of the format. What the digests cover may change with it."""
RUNS_AT_ONCE: Final = 2_000
"""Runs of changed blocks that are compared in one go."""
LARGEST_STATE: Final = 256 * 1024 * 1024
"""The most characters of a state that are read."""


@dataclass(frozen=True, slots=True)
class VerificationState:
    """The state that a verification without findings leaves."""

    origin: str
    size: int
    root: str
    """In hexadecimal."""
    entries: tuple[str, ...]
    """Digests of the columns next to the entries, one for each `CHUNK` of entries; the last one ends with the log."""
    runs: tuple[tuple[str, str], ...]
    """The blocks of runs: the last id and the digest of each."""
    derived: Derived = field(default_factory=Derived)
    form: str = FORM

    def to_text(self) -> str:
        """The state as a line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":")) + "\n"


def _state_from(value: Mapping[str, Any]) -> VerificationState:
    return VerificationState(
        origin=str(value["origin"]),
        size=_whole(value["size"]),
        root=str(value["root"]),
        entries=tuple(map(str, value["entries"])),
        runs=tuple((str(last), str(digest)) for last, digest in value["runs"]),
        derived=Derived.from_json(value["derived"]),
    )


def read_verification_state(text: str) -> VerificationState:
    """Parse a state.

    Raises:
        AuditError: it is malformed or of another version.
    """
    if len(text) > LARGEST_STATE:
        raise AuditError(f"expected a state of at most {LARGEST_STATE:,} characters, got {len(text):,}")
    try:
        value = json.loads(text)
        if not isinstance(value, dict) or value.get("form") != FORM:
            raise AuditError(f"expected a state of the form {FORM}, got another value; verify in full to make one")
        state = _state_from(value)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise AuditError("expected the state of an earlier verification, but it cannot be read") from error
    ends = [last for last, _ in state.runs]
    if ends != sorted(set(ends)) or len(state.entries) != -(-state.size // CHUNK):
        raise AuditError("expected the state of an earlier verification, but its parts do not fit each other")
    return state


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def verify_contents_since(
    connection: Connection,
    tenant: str,
    verification: LogVerification,
    since: VerificationState | None,
    *,
    leaves: bool = True,
) -> tuple[LogVerification, VerificationState | None]:
    """Verify the rows that a log binds, beginning with the state of an earlier verification.

    Args:
        connection: the connection with which the log was verified.
        tenant: whose log.
        verification: the result of `verify_log`.
        since: the state of an earlier verification; without it everything is compared with the log.
        leaves: whether to return a state; without that and without `since`, rows are read once and not twice.

    Returns:
        The result, and the state for the next verification; the latter is None if there are findings.
    """
    if since is None and not leaves:
        return verify_contents(connection, tenant, verification), None
    if (foreign := with_foreign_values(connection, tenant, verification)) is not None:
        return foreign, None
    try:
        return _verify_since(connection, tenant, verification, since)
    except OperationalError as error:
        if not is_undecodable(error):
            raise
        findings = Findings(list(verification.findings))
        findings.add(FindingCode.ALTERED_CONTENT, UNDECODABLE)
        return replace(verification, findings=tuple(findings.items)), None


def _verify_since(
    connection: Connection, tenant: str, verification: LogVerification, since: VerificationState | None
) -> tuple[LogVerification, VerificationState | None]:
    findings = Findings(list(verification.findings))
    for message in index_damage(connection):
        findings.add(FindingCode.HIDDEN_ROWS, message)
    since = since if since is None or _begins_with(connection, tenant, verification, since, findings) else None
    column_digests, digests_at = _entry_column_digests(connection, tenant, verification.size)
    if since is not None and digests_at(since.size) != since.entries:
        since = None  # a full verification tells which entry it is
    contents = ContentCheck(
        connection, tenant, verification.size, findings, since.size if since else 0, since.derived if since else None
    )
    # The last block may be incomplete: it is formed anew, so that all blocks keep their size.
    known = dict(since.runs[:-1]) if since is not None else {}
    blocks: list[tuple[str, str]] = []
    changed: list[tuple[str, Block]] = []
    for block in read_blocks(connection, tenant, list(known)):
        if since is not None and known.get(block.last) != block.digest:
            changed.append((blocks[-1][0] if blocks else "", block))
        blocks.append((block.last, block.digest))
    runs = contents.compare_entries()
    if since is not None:
        ids = _decided_runs(connection, tenant, blocks[-1][0] if blocks else "", None)
        for after, block in changed:
            ids |= {*block.runs, *_decided_runs(connection, tenant, after, block.last)}
            if len(ids) >= RUNS_AT_ONCE:
                contents.compare_runs(ids)
                ids = set()
        contents.compare_runs(ids)
        for unit in UNITS:
            if unit is not RUN:
                contents.compare_units(unit, _unit_ids(connection, tenant, unit))
    derived = contents.finish()
    result = replace(
        verification, findings=tuple(findings.items), runs=runs + contents.recompared, since=since.size if since else 0
    )
    if findings.items:
        return result, None
    state = VerificationState(
        verification.origin, verification.size, verification.root.hex(), column_digests, tuple(blocks), derived
    )
    return result, state


def _begins_with(
    connection: Connection, tenant: str, verification: LogVerification, since: VerificationState, findings: Findings
) -> bool:
    """Whether a log begins with the log of an earlier state; adds findings if not."""
    if verification.origin != since.origin:
        findings.add(
            FindingCode.OTHER_LOG, f"the state is of the log {since.origin!r}, this one is {verification.origin!r}"
        )
    elif verification.size < since.size:
        findings.add(
            FindingCode.SHORTER,
            f"the state of an earlier verification has {since.size:,} entries, and there are {verification.size:,}: "
            "the log was cut, or an older copy put in its place",
        )
    elif not verification.findings and read_root(connection, tenant, since.size).hex() != since.root:
        findings.add(
            FindingCode.OTHER_HISTORY,
            f"the first {since.size:,} entries lead to another root than at an earlier verification: history was "
            "rewritten",
        )
    else:
        # If the log itself does not hold, nothing is skipped.
        return not verification.findings
    return False


def _entry_column_digests(
    connection: Connection, tenant: str, size: int
) -> tuple[tuple[str, ...], Callable[[int], tuple[str, ...]]]:
    """Digests of the columns next to the entries of a log, and a function that gives those for an earlier size."""
    table = tables.audit_entries.c
    query = (
        select(table.idx, table.kind, table.record)
        .where(table.tenant == tenant, table.idx >= bindparam("from"), table.idx < bindparam("to"))
        .order_by(table.idx)
    )

    def digest(begin: int, end: int) -> str:
        return digest_of([tuple(row) for row in connection.execute(query, {"from": begin, "to": end})])

    now = tuple(digest(begin, min(begin + CHUNK, size)) for begin in range(0, size, CHUNK))

    def digests_at(earlier: int) -> tuple[str, ...]:
        complete = earlier // CHUNK
        rest = (digest(complete * CHUNK, earlier),) if earlier % CHUNK else ()
        return now[:complete] + rest

    return now, digests_at


def _decided_runs(connection: Connection, tenant: str, after: str, to: str | None) -> set[str]:
    """The runs in a range of ids that have a decision in the log, whether or not they have rows."""
    table = tables.audit_entries.c
    query = select(table.record).where(
        table.tenant == tenant,
        table.kind == DECISION,
        table.record > after,
        *([] if to is None else [table.record <= to]),
    )
    return {str(record) for record in connection.execute(query).scalars()}


def _unit_ids(connection: Connection, tenant: str, unit: Unit) -> set[str]:
    """The ids of the units of a kind that have rows or entries."""
    table, head = tables.audit_entries.c, unit.head
    records = connection.execute(
        select(table.record).where(
            table.tenant == tenant, table.kind == ROWS, table.record.startswith(unit.name(""), autoescape=True)
        )
    ).scalars()
    logged = {str(record).partition(":")[2] for record in records}
    owner = literal("") if unit.id is None else head.c[unit.id]
    return logged | {str(id_) for id_ in connection.execute(select(owner).where(head.c.tenant == tenant)).scalars()}
