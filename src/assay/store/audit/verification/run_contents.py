"""Holding what is stored of each run against the log: the second half of a verification.

The tables are what people look at; the log is what is proved. For each decision the stored question, output,
arguments, evidence and report must be those that its entry commits to, and the columns that lists are made from must
agree with the report. What is missing must have been erased by an entry of the log. Policies must have the digest that
they are stored under.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, LargeBinary, Row, bindparam, exists, select, type_coerce
from sqlalchemy.exc import OperationalError

from assay.errors import AssayError, StoreError
from assay.receipt import canonical
from assay.schema import Verdict
from assay.store.audit.entries import (
    COMMIT,
    DECISION,
    ERASURE,
    EVIDENCE,
    REVIEW,
    commitment,
    evidence_digest,
    exact,
    read_entry_data,
)
from assay.store.audit.log import CHUNK
from assay.store.audit.units import RUN, Unit
from assay.store.audit.verification.column_types import CONTENTS, LOG, NO_TEXT, foreign_values, undecodable
from assay.store.audit.verification.commit_contents import CommitCheck
from assay.store.audit.verification.derived_contents import Derived, DerivedCheck
from assay.store.audit.verification.indexes import lacking
from assay.store.audit.verification.log import MOST_FINDINGS, FindingCode, Findings, LogVerification
from assay.store.audit.verification.review_contents import check_acts
from assay.store.audit.verification.unit_contents import UnitCheck, named_unit, unlogged
from assay.store.db import tables
from assay.store.db.tables import unpack_bytes
from assay.store.records.recording import storable, verdict_bits

PART: Final = 500
"""Runs that are read at once."""

ReadEntry = tuple[int, dict[str, Any]]
"""An entry's index and its fields."""


def with_contents(connection: Connection, tenant: str, found: LogVerification) -> LogVerification:
    """A verification of a log, and of what is stored of its runs.

    Args:
        connection: the same that the log was verified with.
        tenant: whose log.
        found: what `verify_log` found.
    """
    if (strange := of_other_types(connection, tenant, found)) is not None:
        return strange
    findings = Findings(list(found.findings))
    for what in lacking(connection):
        findings.add(FindingCode.HIDDEN_ROWS, what)
    contents = Contents(connection, tenant, found.size, findings)
    runs = 0
    try:
        runs = contents.entries()
        contents.finish()
    except OperationalError as error:
        if not undecodable(error):
            raise
        findings.add(FindingCode.ALTERED_CONTENT, NO_TEXT)
    return replace(found, findings=tuple(findings.found), runs=runs)


def of_other_types(connection: Connection, tenant: str, found: LogVerification) -> LogVerification | None:
    """What was found, with the values that are of another type than their column; none where there are none."""
    if next(foreign_values(connection, tenant, LOG), None) is not None:
        return found  # told of where the log is verified
    findings = Findings(list(found.findings))
    for what in foreign_values(connection, tenant, CONTENTS):
        findings.add(FindingCode.ALTERED_CONTENT, what)
    strange = len(findings.found) > len(found.findings)
    return replace(found, findings=tuple(findings.found), runs=0) if strange else None


class Contents:
    """Holds what is stored against a log, or against the end of it where what is before was checked against it
    earlier."""

    def __init__(
        self,
        connection: Connection,
        tenant: str,
        size: int,
        findings: Findings,
        begin: int = 0,
        derived: Derived | None = None,
    ) -> None:
        """Against a log of a size.

        Args:
            connection: the same that the log was verified with.
            tenant: whose log.
            size: of how many entries it is.
            findings: where to add what does not hold.
            begin: the first entry that is read.
            derived: what the earlier verification left of counts and names, where there was one.
        """
        self._connection, self._tenant, self._size, self._findings = connection, tenant, size, findings
        self._begin = begin
        self._units, self._derived = UnitCheck(connection, tenant, size, findings, begin), DerivedCheck(derived)
        self._commits = CommitCheck(findings)
        self._erased = _erased(connection, tenant), _erased(connection, tenant, of=EVIDENCE)
        self._done: set[str] | None = set() if begin else None
        self.again = 0
        """Runs that were checked against the log although no entry that is read tells of them."""

    def entries(self) -> int:
        """Read the entries, and compare what they tell of; how many runs."""
        runs, part, acts = 0, list[ReadEntry](), list[ReadEntry]()
        for index, data in self._commits_before():
            self._commits.add(index, data)
        for index, data in _entries(self._connection, self._tenant, self._begin, self._size, self._findings):
            self._units.add(index, data)
            self._derived.add(data)
            self._commits.add(index, data)
            if self._done is not None and (name := named_unit(data["kind"], data.get("record"))) is not None:
                self._done.add(name)
            if data["kind"] == REVIEW:
                acts.append((index, data))
            if len(acts) == PART:
                check_acts(self._connection, self._tenant, acts, self._findings)
                acts = []
            if data["kind"] == DECISION:
                part.append((index, data))
                runs += 1
            if len(part) == PART:
                self._check(part)
                part = []
        self._check(part)
        check_acts(self._connection, self._tenant, acts, self._findings)
        return runs

    def _check(self, part: Sequence[ReadEntry]) -> None:
        touched = _touched(part, self._units)
        _check(self._connection, self._tenant, touched, self._erased, self._findings)

    def runs(self, ids: Iterable[str]) -> None:
        """Compare runs, whatever entries tell of them, that were not compared yet."""
        left = sorted(id_ for id_ in ids if RUN.name(id_) not in (self._done or ()))
        for begin in range(0, len(left), PART):
            part = left[begin : begin + PART]
            self._units.of_kind(RUN, part)
            self._check(self._entries_of(part, DECISION))
            check_acts(self._connection, self._tenant, self._entries_of(part, REVIEW), self._findings)
        self.again += len(left)

    def units(self, unit: Unit, ids: Iterable[str]) -> None:
        """Compare units of another kind, as `runs` does."""
        left = sorted(id_ for id_ in ids if unit.name(id_) not in (self._done or ()))
        for begin in range(0, len(left), PART):
            self._units.of_kind(unit, left[begin : begin + PART])

    def _commits_before(self) -> list[ReadEntry]:
        """The commits that entries before the first one that is read tell of: one of them may come a second time."""
        log = tables.audit_entries.c
        return self._read(COMMIT, log.idx < self._begin) if self._begin else []

    def _entries_of(self, runs: Sequence[str], kind: str) -> list[ReadEntry]:
        log = tables.audit_entries.c
        return self._read(kind, log.record.in_(runs), log.idx < self._size)

    def _read(self, kind: str, *where: ColumnElement[bool]) -> list[ReadEntry]:
        log = tables.audit_entries.c
        rows = self._connection.execute(
            select(log.idx, log.data).where(log.tenant == self._tenant, log.kind == kind, *where).order_by(log.idx)
        )
        found = []
        for row in rows:
            try:
                data = read_entry_data(bytes(row.data))
            except AssayError as error:
                self._findings.add(FindingCode.ALTERED_ENTRY, f"entry {row.idx} cannot be read: {error}")
                continue
            if data["kind"] == kind:
                found.append((row.idx, data))
        return found

    def finish(self) -> Derived:
        """Compare what belongs to no one run; what to begin with next time, as far as nothing was found."""
        _of_evidence(self._connection, self._tenant, self._erased, self._findings)
        self._units.finish()
        for what in unlogged(self._connection, self._tenant):
            self._findings.add(FindingCode.UNLOGGED, what)
        left = self._derived.finish(self._connection, self._tenant, self._findings)
        _of_policies(self._connection, self._tenant, self._findings)
        return left


def _touched(part: Sequence[ReadEntry], units: UnitCheck) -> list[ReadEntry]:
    """The decisions of runs that are not just as they were stored with them.

    What the others bind is what `_check` would look at: question, report, evidence, and the columns of lists.
    """
    units.flush()
    left = [one for one in part if str(one[1].get("record")) not in units.untouched]
    units.untouched.clear()
    return left


def _of_evidence(connection: Connection, tenant: str, erased: tuple[set[str], set[str]], findings: Findings) -> None:
    """Hold all evidence against the digests that it stands under, each once, and tell of the runs that had it."""
    table, had = tables.evidence, tables.run_evidence.c
    bad: list[str] = []
    query = (
        select(table.c.digest, type_coerce(table.c.body, LargeBinary).label("body"))
        .where(table.c.tenant == tenant, table.c.digest > bindparam("after"))
        .order_by(table.c.digest)
        .limit(CHUNK)
    )
    after = ""
    while rows := connection.execute(query, {"after": after}).all():
        # By the database's own order of texts, in which the next page begins too.
        after = rows[-1].digest
        bad += [str(row.digest) for row in rows if not _is_evidence(row.digest, row.body)]
    there = exists().where(table.c.tenant == had.tenant, table.c.digest == had.digest)
    missing = select(had.run).where(had.tenant == tenant, had.digest.is_not(None), ~there)
    runs = set(connection.execute(missing.limit(MOST_FINDINGS)).scalars())
    for begin in range(0, len(bad), PART):
        of_bad = select(had.run).where(had.tenant == tenant, had.digest.in_(bad[begin : begin + PART]))
        runs |= set(connection.execute(of_bad.limit(MOST_FINDINGS)).scalars())
    used = exists().where(had.tenant == table.c.tenant, had.digest == table.c.digest)
    loose = select(table.c.digest).where(table.c.tenant == tenant, ~used).limit(MOST_FINDINGS)
    for digest in connection.execute(loose).scalars():
        findings.add(FindingCode.UNLOGGED, f"the evidence {str(digest)[:12]} stands in the tables, and no run had it")
    log = tables.audit_entries.c
    data = [
        (row.idx, read_entry_data(bytes(row.data)))
        for run in sorted(runs - findings.about)[:MOST_FINDINGS]
        for row in connection.execute(
            select(log.idx, log.data).where(log.tenant == tenant, log.record == run, log.kind == DECISION)
        )
    ]
    _check(connection, tenant, data, erased, findings)


def _is_evidence(digest: str, body: bytes | None) -> bool:
    """Whether stored evidence has a digest."""
    try:
        return body is not None and sha256(unpack_bytes(bytes(body))).hexdigest() == digest
    except StoreError:
        return False


def _entries(connection: Connection, tenant: str, begin: int, size: int, findings: Findings) -> Iterator[ReadEntry]:
    """The fields of all entries from one on, which must be what the columns beside them repeat."""
    table = tables.audit_entries.c
    query = (
        select(table.idx, table.kind, table.record, table.data)
        .where(table.tenant == tenant, table.idx >= bindparam("from"), table.idx < size)
        .order_by(table.idx)
        .limit(CHUNK)
    )
    while rows := connection.execute(query, {"from": begin}).all():
        begin = rows[-1].idx + 1
        for row in rows:
            try:
                data = read_entry_data(bytes(row.data))
            except AssayError as error:
                findings.add(FindingCode.ALTERED_ENTRY, f"entry {row.idx} cannot be read: {error}")
                continue
            if (data["kind"], data.get("record")) != (row.kind, row.record):
                findings.add(
                    FindingCode.ALTERED_ENTRY, f"entry {row.idx} stands under another kind or run than its own"
                )
            yield row.idx, data


def _erased(connection: Connection, tenant: str, of: str | None = None) -> set[str]:
    """The runs that entries say were erased; those of which so much was erased with `of`."""
    table = tables.audit_entries.c
    rows = connection.execute(select(table.data).where(table.tenant == tenant, table.kind == ERASURE)).scalars()
    found = set()
    for data in rows:
        try:
            entry = read_entry_data(bytes(data))
        except AssayError:
            continue  # told of where all entries are read
        if entry["kind"] == ERASURE and entry.get("of") == of:
            found.add(str(entry.get("record")))
    return found


def _check(
    connection: Connection,
    tenant: str,
    part: Sequence[ReadEntry],
    erased: tuple[set[str], set[str]],
    findings: Findings,
) -> None:
    if not part:
        return
    try:
        read = _Part(connection, tenant, part, erased, findings)
    except StoreError as error:
        # Something among it cannot be unpacked: one run at a time, to say which.
        if len(part) == 1:
            name = str(part[0][1].get("record"))
            findings.add(FindingCode.ALTERED_CONTENT, f"run {name} (entry {part[0][0]}): {error}", name)
            return
        for one in part:
            _check(connection, tenant, [one], erased, findings)
        return
    read.check()


class _Part:
    """Some decisions with all that is stored of their runs."""

    def __init__(
        self,
        connection: Connection,
        tenant: str,
        part: Sequence[ReadEntry],
        erased: tuple[set[str], set[str]],
        findings: Findings,
    ) -> None:
        self._part, self._findings = part, findings
        self._erased, self._bare = erased
        ids = [str(data["record"]) for _, data in part]
        self._runs = {row.id: row for row in _rows(connection, tables.runs, tables.runs.c.id, tenant, ids)}
        self._reports = {row.id: row for row in _rows(connection, tables.reports, tables.reports.c.id, tenant, ids)}
        self._claims: dict[str, list[Row[Any]]] = {}
        for row in _rows(connection, tables.claims, tables.claims.c.report, tenant, ids):
            self._claims.setdefault(row.report, []).append(row)
        self._first = {
            row.run: row
            for row in _rows(connection, tables.decisions, tables.decisions.c.run, tenant, ids)
            if row.position == 0
        }
        # What was asked names what the gate was given; people may have been given more since.
        self._had: dict[str, set[str]] = {id_: {one for _, one in _pairs(run.asked)} for id_, run in self._runs.items()}
        for row in _rows(connection, tables.run_evidence, tables.run_evidence.c.run, tenant, ids):
            if row.digest is not None and row.run in self._had:
                self._had[row.run].add(str(row.digest))
        digests = sorted(set[str]().union(*self._had.values()))
        self._evidence = {
            row.digest: row.body
            for begin in range(0, len(digests), PART)
            for row in _rows(
                connection, tables.evidence, tables.evidence.c.digest, tenant, digests[begin : begin + PART]
            )
        }

    def check(self) -> None:
        for index, data in self._part:
            name = str(data["record"])
            run, report = self._runs.get(name), self._reports.get(name)
            if run is None or report is None:
                self._tell(FindingCode.MISSING_CONTENT, index, name, "it is not in the tables")
            elif run.salt is None or run.asked is None or report.body is None:
                if name not in self._erased:
                    self._tell(FindingCode.MISSING_CONTENT, index, name, "its content is gone, and nothing tells why")
            else:
                claims = sorted(self._claims.get(name, ()), key=lambda claim: claim.position)
                tape = () if name in self._bare else _of_tape(data, run)
                for what in (
                    *_differing(data, run, report),
                    *tape,
                    *_listed(data, report, claims, self._first.get(name)),
                ):
                    self._tell(FindingCode.ALTERED_CONTENT, index, name, f"its {what} is not what was recorded")
                self._of_evidence(index, name)

    def _of_evidence(self, index: int, name: str) -> None:
        for digest in sorted(self._had[name]):
            content = self._evidence.get(digest)
            if content is None and name in self._bare:
                continue
            if content is None:
                self._tell(FindingCode.MISSING_CONTENT, index, name, f"its evidence {digest[:12]} is not there")
            elif evidence_digest(content) != digest:
                self._tell(FindingCode.ALTERED_CONTENT, index, name, f"its evidence {digest[:12]} was changed")

    def _tell(self, code: FindingCode, index: int, name: str, what: str) -> None:
        self._findings.add(code, f"run {name} (entry {index}): {what}", name)


def _rows(connection: Connection, table: Any, key: Any, tenant: str, wanted: Sequence[str]) -> Sequence[Row[Any]]:
    return connection.execute(select(table).where(table.c.tenant == tenant, key.in_(wanted))).all()


def _pairs(asked: Any) -> list[tuple[str, str]]:
    """The ids and digests of evidence in what was asked; none where it is malformed, which the commitment tells."""
    pairs = asked.get("evidence") if isinstance(asked, dict) else None
    if not isinstance(pairs, list):
        return []
    return [(str(pair[0]), str(pair[1])) for pair in pairs if isinstance(pair, list) and len(pair) == 2]


def _differing(data: Mapping[str, Any], run: Row[Any], report: Row[Any]) -> Iterator[str]:
    """What of a run is not what its entry commits to."""
    salt, body = bytes(run.salt), report.body
    pairs = [commitment(salt, "evidence", canonical(list(pair))) for pair in _pairs(run.asked)]
    if commitment(salt, "asked", exact(run.asked)) != data["asked"] or pairs != data["evidence"]:
        yield "record of what was asked"
    if commitment(salt, "report", sha256(canonical(body)).hexdigest().encode()) != data["report"]:
        yield "report"
        return
    if commitment(salt, "output", body["output"].encode()) != data["output"]:
        yield "output"
    if commitment(salt, "run_id", body["run_id"].encode()) != data["query"]:
        yield "name"


def _of_tape(data: Mapping[str, Any], run: Row[Any]) -> Iterator[str]:
    """Whether what chat models said is what the entry commits to; with the evidence it is erased."""
    found = None if run.tape is None else commitment(bytes(run.salt), "tape", exact(run.tape))
    if found != data.get("tape"):
        yield "record of what chat models said"


def _listed(
    data: Mapping[str, Any], report: Row[Any], claims: Sequence[Row[Any]], first: Row[Any] | None
) -> Iterator[str]:
    """Which of the columns that people search and list by do not agree with the entry and the report."""
    if first is None or (first.action, first.route) != (data["action"], data["route"]):
        yield "row in the list of decisions"
    body = report.body
    try:
        expected = (
            body["action"],
            body["decision"]["route"],
            body["overall_score"],
            body["policy"]["digest"],
            body["verifier"]["digest"],
            len(body["claims"]),
            verdict_bits(Verdict(one["verdict"]) for one in body["claims"]),
        )
        wanted = [(storable(one["text"]), one["verdict"], one["status"], one["score"]) for one in body["claims"]]
    except (KeyError, TypeError, ValueError):
        return  # the report itself was told of already
    listed = (
        report.action,
        report.route,
        report.score,
        report.policy,
        report.verifier,
        report.claims,
        report.verdicts,
    )
    if listed != expected:
        yield "row in the list of reports"
    if [(row.text, row.verdict, row.status, row.score) for row in claims] != wanted:
        yield "list of claims"


def _of_policies(connection: Connection, tenant: str, findings: Findings) -> None:
    table = tables.policies.c
    for digest in connection.execute(select(table.digest).where(table.tenant == tenant)).scalars().all():
        try:
            body = connection.execute(
                select(table.body).where(table.tenant == tenant, table.digest == digest)
            ).scalar_one()
            right = body is None or sha256(exact(body)).hexdigest() == digest
        except StoreError:
            right = False
        if not right:
            findings.add(FindingCode.ALTERED_CONTENT, f"the policy {digest[:12]} is not the one with this digest")
