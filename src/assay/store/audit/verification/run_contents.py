"""Comparing the stored content of each run with the log: the second half of a verification.

People look at the tables; what is proved is the log. For each decision, the stored question, output, arguments,
evidence and report must be those that its entry commits to, and the columns from which lists are made must agree with
the report. Missing content must have been erased by an entry of the log. Policies must match the digest under which
they are stored.
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
from assay.store.audit.verification.column_types import CONTENTS, LOG, UNDECODABLE, foreign_values, is_undecodable
from assay.store.audit.verification.commit_contents import CommitCheck
from assay.store.audit.verification.derived_contents import Derived, DerivedCheck
from assay.store.audit.verification.indexes import index_damage
from assay.store.audit.verification.log import MOST_FINDINGS, FindingCode, Findings, LogVerification
from assay.store.audit.verification.review_contents import check_acts
from assay.store.audit.verification.unit_contents import UnitCheck, unit_name_of, unlogged
from assay.store.db import tables
from assay.store.db.column_values import storable
from assay.store.db.tables import unpack_bytes
from assay.store.records.check_rows import verdict_bits

BATCH: Final = 500
"""Runs that are read in one go."""

ReadEntry = tuple[int, dict[str, Any]]
"""The index of an entry and its fields."""


def verify_contents(connection: Connection, tenant: str, verification: LogVerification) -> LogVerification:
    """Verify all rows that a log binds.

    Args:
        connection: the connection with which the log was verified.
        tenant: whose log.
        verification: the result of `verify_log`.

    Returns:
        The result with the findings about the rows added.
    """
    if (foreign := with_foreign_values(connection, tenant, verification)) is not None:
        return foreign
    findings = Findings(list(verification.findings))
    for message in index_damage(connection):
        findings.add(FindingCode.HIDDEN_ROWS, message)
    contents = ContentCheck(connection, tenant, verification.size, findings)
    runs = 0
    try:
        runs = contents.compare_entries()
        contents.finish()
    except OperationalError as error:
        if not is_undecodable(error):
            raise
        findings.add(FindingCode.ALTERED_CONTENT, UNDECODABLE)
    return replace(verification, findings=tuple(findings.items), runs=runs)


def with_foreign_values(connection: Connection, tenant: str, verification: LogVerification) -> LogVerification | None:
    """The result with findings about values of another type than their column; None if there are no such values."""
    if next(foreign_values(connection, tenant, LOG), None) is not None:
        return verification  # reported where the log is verified
    findings = Findings(list(verification.findings))
    foreign = False
    for message in foreign_values(connection, tenant, CONTENTS):
        findings.add(FindingCode.ALTERED_CONTENT, message)
        foreign = True
    return replace(verification, findings=tuple(findings.items), runs=0) if foreign else None


class ContentCheck:
    """Compares stored rows with a log, or only with its last entries if an earlier verification covered the others."""

    def __init__(
        self,
        connection: Connection,
        tenant: str,
        size: int,
        findings: Findings,
        begin: int = 0,
        derived: Derived | None = None,
    ) -> None:
        """Create a check against a log.

        Args:
            connection: the connection with which the log was verified.
            tenant: whose log.
            size: the number of its entries.
            findings: the list to add findings to.
            begin: the index of the first entry that is read.
            derived: the state of counts and names that an earlier verification left, if there was one.
        """
        self._connection, self._tenant, self._size, self._findings = connection, tenant, size, findings
        self._begin = begin
        self._units, self._derived = UnitCheck(connection, tenant, size, findings, begin), DerivedCheck(derived)
        self._commits = CommitCheck(findings)
        self._erased = _erased(connection, tenant), _erased(connection, tenant, of=EVIDENCE)
        self._done: set[str] | None = set() if begin else None
        self.recompared = 0
        """Runs that were compared although no entry from `begin` on is about them."""

    def compare_entries(self) -> int:
        """Read the entries, and compare the rows that they are about; returns the number of runs."""
        runs, decisions, acts = 0, list[ReadEntry](), list[ReadEntry]()
        for index, data in self._commits_before():
            self._commits.add(index, data)
        for index, data in _entries(self._connection, self._tenant, self._begin, self._size, self._findings):
            self._units.add(index, data)
            self._derived.add(data)
            self._commits.add(index, data)
            if self._done is not None and (name := unit_name_of(data["kind"], data.get("record"))) is not None:
                self._done.add(name)
            if data["kind"] == REVIEW:
                acts.append((index, data))
            if len(acts) == BATCH:
                check_acts(self._connection, self._tenant, acts, self._findings)
                acts = []
            if data["kind"] == DECISION:
                decisions.append((index, data))
                runs += 1
            if len(decisions) == BATCH:
                self._compare(decisions)
                decisions = []
        self._compare(decisions)
        check_acts(self._connection, self._tenant, acts, self._findings)
        return runs

    def _compare(self, decisions: Sequence[ReadEntry]) -> None:
        changed = _changed_since_decision(decisions, self._units)
        _compare_decisions(self._connection, self._tenant, changed, self._erased, self._findings)

    def compare_runs(self, ids: Iterable[str]) -> None:
        """Compare those of the given runs that were not compared yet, with all entries about them."""
        left = sorted(id_ for id_ in ids if RUN.name(id_) not in (self._done or ()))
        for begin in range(0, len(left), BATCH):
            part = left[begin : begin + BATCH]
            self._units.compare_ids(RUN, part)
            self._compare(self._entries_of(part, DECISION))
            check_acts(self._connection, self._tenant, self._entries_of(part, REVIEW), self._findings)
        self.recompared += len(left)

    def compare_units(self, unit: Unit, ids: Iterable[str]) -> None:
        """Compare units of another kind, as `compare_runs` does."""
        left = sorted(id_ for id_ in ids if unit.name(id_) not in (self._done or ()))
        for begin in range(0, len(left), BATCH):
            self._units.compare_ids(unit, left[begin : begin + BATCH])

    def _commits_before(self) -> list[ReadEntry]:
        """The commits before the first entry that is read: a later one may use one of their receipts again."""
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
        entries = []
        for row in rows:
            try:
                data = read_entry_data(bytes(row.data))
            except AssayError as error:
                self._findings.add(FindingCode.ALTERED_ENTRY, f"entry {row.idx} cannot be read: {error}")
                continue
            if data["kind"] == kind:
                entries.append((row.idx, data))
        return entries

    def finish(self) -> Derived:
        """Compare what belongs to no single run; returns the state of counts and names for the next verification."""
        _compare_evidence(self._connection, self._tenant, self._erased, self._findings)
        self._units.finish()
        for message in unlogged(self._connection, self._tenant):
            self._findings.add(FindingCode.UNLOGGED, message)
        derived = self._derived.finish(self._connection, self._tenant, self._findings)
        _compare_policies(self._connection, self._tenant, self._findings)
        return derived


def _changed_since_decision(decisions: Sequence[ReadEntry], units: UnitCheck) -> list[ReadEntry]:
    """The decisions of runs whose rows are no longer exactly those stored with the decision.

    The other decisions bind everything that `_compare_decisions` would compare: question, report, evidence, and the
    columns of lists.
    """
    units.flush()
    changed = [(index, data) for index, data in decisions if str(data.get("record")) not in units.untouched]
    units.untouched.clear()
    return changed


def _compare_evidence(
    connection: Connection, tenant: str, erased: tuple[set[str], set[str]], findings: Findings
) -> None:
    """Compare all evidence with the digests that it is stored under, each piece once; report the runs that had it."""
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
        # In the database's own collation, by which the next batch is compared too.
        after = rows[-1].digest
        bad += [str(row.digest) for row in rows if not _has_digest(row.body, row.digest)]
    is_stored = exists().where(table.c.tenant == had.tenant, table.c.digest == had.digest)
    missing = select(had.run).where(had.tenant == tenant, had.digest.is_not(None), ~is_stored)
    runs = set(connection.execute(missing.limit(MOST_FINDINGS)).scalars())
    for begin in range(0, len(bad), BATCH):
        affected = select(had.run).where(had.tenant == tenant, had.digest.in_(bad[begin : begin + BATCH]))
        runs |= set(connection.execute(affected.limit(MOST_FINDINGS)).scalars())
    used = exists().where(had.tenant == table.c.tenant, had.digest == table.c.digest)
    unused = select(table.c.digest).where(table.c.tenant == tenant, ~used).limit(MOST_FINDINGS)
    for digest in connection.execute(unused).scalars():
        findings.add(FindingCode.UNLOGGED, f"the evidence {str(digest)[:12]} stands in the tables, and no run had it")
    log = tables.audit_entries.c
    decisions = [
        (row.idx, read_entry_data(bytes(row.data)))
        for run in sorted(runs - findings.runs)[:MOST_FINDINGS]
        for row in connection.execute(
            select(log.idx, log.data).where(log.tenant == tenant, log.record == run, log.kind == DECISION)
        )
    ]
    _compare_decisions(connection, tenant, decisions, erased, findings)


def _has_digest(body: bytes | None, digest: str) -> bool:
    """Whether the stored body of evidence has the given digest."""
    try:
        return body is not None and sha256(unpack_bytes(bytes(body))).hexdigest() == digest
    except StoreError:
        return False


def _entries(connection: Connection, tenant: str, begin: int, size: int, findings: Findings) -> Iterator[ReadEntry]:
    """The fields of all entries from `begin` on, compared with the columns that repeat them."""
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
    """The runs whose content was erased according to the log; with `of`, those of which only that was erased."""
    table = tables.audit_entries.c
    rows = connection.execute(select(table.data).where(table.tenant == tenant, table.kind == ERASURE)).scalars()
    runs = set()
    for data in rows:
        try:
            entry = read_entry_data(bytes(data))
        except AssayError:
            continue  # reported where all entries are read
        if entry["kind"] == ERASURE and entry.get("of") == of:
            runs.add(str(entry.get("record")))
    return runs


def _compare_decisions(
    connection: Connection,
    tenant: str,
    decisions: Sequence[ReadEntry],
    erased: tuple[set[str], set[str]],
    findings: Findings,
) -> None:
    if not decisions:
        return
    try:
        batch = _DecisionBatch(connection, tenant, decisions, erased, findings)
    except StoreError as error:
        # A value in it cannot be unpacked: the runs are read one at a time, to find out which.
        if len(decisions) == 1:
            index, data = decisions[0]
            run = str(data.get("record"))
            findings.add(FindingCode.ALTERED_CONTENT, f"run {run} (entry {index}): {error}", run)
            return
        for decision in decisions:
            _compare_decisions(connection, tenant, [decision], erased, findings)
        return
    batch.compare()


class _DecisionBatch:
    """Some decisions with all stored rows of their runs."""

    def __init__(
        self,
        connection: Connection,
        tenant: str,
        decisions: Sequence[ReadEntry],
        erased: tuple[set[str], set[str]],
        findings: Findings,
    ) -> None:
        self._decisions, self._findings = decisions, findings
        self._erased, self._evidence_erased = erased
        ids = [str(data.get("record")) for _, data in decisions]
        self._runs = {row.id: row for row in _rows(connection, tables.runs, tables.runs.c.id, tenant, ids)}
        self._reports = {row.id: row for row in _rows(connection, tables.reports, tables.reports.c.id, tenant, ids)}
        self._claims: dict[str, list[Row[Any]]] = {}
        for row in _rows(connection, tables.claims, tables.claims.c.report, tenant, ids):
            self._claims.setdefault(row.report, []).append(row)
        self._gate_decisions = {
            row.run: row
            for row in _rows(connection, tables.decisions, tables.decisions.c.run, tenant, ids)
            if row.position == 0
        }
        # `asked` names the evidence that the gate had; reviewers may have got more since.
        self._had: dict[str, set[str]] = {
            id_: {digest for _, digest in _evidence_pairs(run.asked)} for id_, run in self._runs.items()
        }
        for row in _rows(connection, tables.run_evidence, tables.run_evidence.c.run, tenant, ids):
            if row.digest is not None and row.run in self._had:
                self._had[row.run].add(str(row.digest))
        digests = sorted(set[str]().union(*self._had.values()))
        self._evidence = {
            row.digest: row.body
            for begin in range(0, len(digests), BATCH)
            for row in _rows(
                connection, tables.evidence, tables.evidence.c.digest, tenant, digests[begin : begin + BATCH]
            )
        }

    def compare(self) -> None:
        for index, data in self._decisions:
            name = str(data.get("record"))
            run, report = self._runs.get(name), self._reports.get(name)
            if run is None or report is None:
                self._add_finding(FindingCode.MISSING_CONTENT, index, name, "it is not in the tables")
            elif run.salt is None or run.asked is None or report.body is None:
                if name not in self._erased:
                    self._add_finding(
                        FindingCode.MISSING_CONTENT, index, name, "its content is gone, and nothing tells why"
                    )
            else:
                try:
                    differing = self._differences(data, run, report)
                except (AttributeError, KeyError, TypeError, ValueError):
                    what = "its entry lacks what every decision has, or commits to what is no report"
                    self._add_finding(FindingCode.ALTERED_ENTRY, index, name, what)
                    continue
                for what in differing:
                    self._add_finding(FindingCode.ALTERED_CONTENT, index, name, f"its {what} is not what was recorded")
                self._compare_evidence(index, name)

    def _differences(self, data: Mapping[str, Any], run: Row[Any], report: Row[Any]) -> list[str]:
        """The parts of a run that are not what its entry states; raises KeyError and the like for a malformed entry."""
        name = str(data.get("record"))
        claims = sorted(self._claims.get(name, ()), key=lambda claim: claim.position)
        tape = () if name in self._evidence_erased else _differing_tape(data, run)
        columns = _differing_columns(data, report, claims, self._gate_decisions.get(name))
        return [*_differing(data, run, report), *tape, *columns]

    def _compare_evidence(self, index: int, name: str) -> None:
        for digest in sorted(self._had[name]):
            content = self._evidence.get(digest)
            if content is None and name in self._evidence_erased:
                continue
            if content is None:
                self._add_finding(FindingCode.MISSING_CONTENT, index, name, f"its evidence {digest[:12]} is not there")
            elif evidence_digest(content) != digest:
                self._add_finding(FindingCode.ALTERED_CONTENT, index, name, f"its evidence {digest[:12]} was changed")

    def _add_finding(self, code: FindingCode, index: int, name: str, what: str) -> None:
        self._findings.add(code, f"run {name} (entry {index}): {what}", name)


def _rows(connection: Connection, table: Any, key: Any, tenant: str, values: Sequence[str]) -> Sequence[Row[Any]]:
    return connection.execute(select(table).where(table.c.tenant == tenant, key.in_(values))).all()


def _evidence_pairs(asked: Any) -> list[tuple[str, str]]:
    """The ids and digests of evidence in `runs.asked`; empty if it is malformed, which the commitment reveals."""
    pairs = asked.get("evidence") if isinstance(asked, dict) else None
    if not isinstance(pairs, list):
        return []
    return [(str(pair[0]), str(pair[1])) for pair in pairs if isinstance(pair, list) and len(pair) == 2]


def _differing(data: Mapping[str, Any], run: Row[Any], report: Row[Any]) -> Iterator[str]:
    """The parts of a run that are not what its entry commits to."""
    salt, body = bytes(run.salt), report.body
    pairs = [commitment(salt, "evidence", canonical(list(pair))) for pair in _evidence_pairs(run.asked)]
    if commitment(salt, "asked", exact(run.asked)) != data["asked"] or pairs != data["evidence"]:
        yield "record of what was asked"
    if commitment(salt, "report", sha256(canonical(body)).hexdigest().encode()) != data["report"]:
        yield "report"
        return
    if commitment(salt, "output", body["output"].encode()) != data["output"]:
        yield "output"
    if commitment(salt, "run_id", body["run_id"].encode()) != data["query"]:
        yield "name"


def _differing_tape(data: Mapping[str, Any], run: Row[Any]) -> Iterator[str]:
    """The tape, if it is not what the entry commits to; an erasure of the evidence erases it too."""
    expected = None if run.tape is None else commitment(bytes(run.salt), "tape", exact(run.tape))
    if expected != data.get("tape"):
        yield "record of what chat models said"


def _differing_columns(
    data: Mapping[str, Any], report: Row[Any], claims: Sequence[Row[Any]], first: Row[Any] | None
) -> Iterator[str]:
    """The rows whose columns for lists and searches do not agree with the entry and the report."""
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
            verdict_bits(Verdict(claim["verdict"]) for claim in body["claims"]),
        )
        expected_claims = [
            (storable(claim["text"]), claim["verdict"], claim["status"], claim["score"]) for claim in body["claims"]
        ]
    except (AttributeError, KeyError, TypeError, ValueError):
        return  # the report itself is reported already
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
    if [(row.text, row.verdict, row.status, row.score) for row in claims] != expected_claims:
        yield "list of claims"


def _compare_policies(connection: Connection, tenant: str, findings: Findings) -> None:
    table = tables.policies.c
    for digest in connection.execute(select(table.digest).where(table.tenant == tenant)).scalars().all():
        try:
            body = connection.execute(
                select(table.body).where(table.tenant == tenant, table.digest == digest)
            ).scalar_one()
            matches = body is None or sha256(exact(body)).hexdigest() == digest
        except StoreError:
            matches = False
        if not matches:
            findings.add(FindingCode.ALTERED_CONTENT, f"the policy {digest[:12]} is not the one with this digest")
