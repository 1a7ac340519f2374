"""Holding what is stored of each run against the log: the second half of a verification.

The tables are what people look at; the log is what is proved. For each decision the stored question, output,
arguments, evidence and report must be those that its entry commits to, and the columns that lists are made from must
agree with the report. What is missing must have been erased by an entry of the log. Policies must have the digest that
they are stored under.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, select

from assay.errors import AssayError, StoreError
from assay.receipt.canonical import canonical
from assay.schema import Verdict
from assay.store import tables
from assay.store.audit.commit_contents import CommitCheck
from assay.store.audit.derived_contents import DerivedCheck
from assay.store.audit.entries import (
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
from assay.store.audit.review_contents import check_acts
from assay.store.audit.unit_contents import UnitCheck, unlogged
from assay.store.audit.verifying import FindingCode, Findings, LogVerification
from assay.store.recording import storable, verdict_bits

PART: Final = 200
"""Runs that are read at once."""

Told = tuple[int, dict[str, Any]]
"""An entry's index and its fields."""


def with_contents(connection: Connection, tenant: str, found: LogVerification) -> LogVerification:
    """A verification of a log, and of what is stored of its runs.

    Args:
        connection: the same that the log was verified with.
        tenant: whose log.
        found: what `verify_log` found.
    """
    findings, runs = Findings(list(found.findings)), 0
    units, derived = UnitCheck(connection, tenant, found.size, findings), DerivedCheck()
    commits = CommitCheck(findings)
    erased, bare = _erased(connection, tenant), _erased(connection, tenant, of=EVIDENCE)
    part: list[Told] = []
    acts: list[Told] = []
    for index, told in _entries(connection, tenant, found.size, findings):
        units.add(index, told)
        derived.add(told)
        commits.add(index, told)
        if told["kind"] == REVIEW:
            acts.append((index, told))
        if len(acts) == PART:
            check_acts(connection, tenant, acts, findings)
            acts = []
        if told["kind"] == DECISION:
            part.append((index, told))
            runs += 1
        if len(part) == PART:
            _check(connection, tenant, part, (erased, bare), findings)
            part = []
    _check(connection, tenant, part, (erased, bare), findings)
    check_acts(connection, tenant, acts, findings)
    units.finish()
    for what in unlogged(connection, tenant):
        findings.add(FindingCode.UNLOGGED, what)
    derived.finish(connection, tenant, findings)
    _of_policies(connection, tenant, findings)
    return replace(found, findings=tuple(findings.found), runs=runs)


def _entries(connection: Connection, tenant: str, size: int, findings: Findings) -> Iterator[Told]:
    """The fields of all entries, which must be what the columns beside them repeat."""
    table = tables.audit_entries.c
    query = (
        select(table.idx, table.kind, table.record, table.data)
        .where(table.tenant == tenant, table.idx >= bindparam("from"), table.idx < size)
        .order_by(table.idx).limit(CHUNK)
    )  # fmt: skip
    begin = 0
    while rows := connection.execute(query, {"from": begin}).all():
        begin = rows[-1].idx + 1
        for row in rows:
            try:
                told = read_entry_data(bytes(row.data))
            except AssayError as error:
                findings.add(FindingCode.ALTERED_ENTRY, f"entry {row.idx} cannot be read: {error}")
                continue
            if (told["kind"], told.get("record")) != (row.kind, row.record):
                findings.add(
                    FindingCode.ALTERED_ENTRY, f"entry {row.idx} stands under another kind or run than its own"
                )
            yield row.idx, told


def _erased(connection: Connection, tenant: str, of: str | None = None) -> set[str]:
    """The runs that entries say were erased; those of which so much was erased with `of`."""
    table = tables.audit_entries.c
    rows = connection.execute(select(table.data).where(table.tenant == tenant, table.kind == ERASURE)).scalars()
    found = set()
    for data in rows:
        try:
            told = read_entry_data(bytes(data))
        except AssayError:
            continue  # told of where all entries are read
        if told["kind"] == ERASURE and told.get("of") == of:
            found.add(str(told.get("record")))
    return found


def _check(
    connection: Connection, tenant: str, part: Sequence[Told], erased: tuple[set[str], set[str]], findings: Findings
) -> None:  # fmt: skip
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
        self, connection: Connection, tenant: str, part: Sequence[Told], erased: tuple[set[str], set[str]],
        findings: Findings,
    ) -> None:  # fmt: skip
        self._part, self._findings = part, findings
        self._erased, self._bare = erased
        ids = [str(told["record"]) for _, told in part]
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
        for index, told in self._part:
            name = str(told["record"])
            run, report = self._runs.get(name), self._reports.get(name)
            if run is None or report is None:
                self._tell(FindingCode.MISSING_CONTENT, index, name, "it is not in the tables")
            elif run.salt is None or run.asked is None or report.body is None:
                if name not in self._erased:
                    self._tell(FindingCode.MISSING_CONTENT, index, name, "its content is gone, and nothing tells why")
            else:
                claims = sorted(self._claims.get(name, ()), key=lambda claim: claim.position)
                tape = () if name in self._bare else _of_tape(told, run)
                for what in (
                    *_differing(told, run, report),
                    *tape,
                    *_listed(told, report, claims, self._first.get(name)),
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


def _differing(told: Mapping[str, Any], run: Row[Any], report: Row[Any]) -> Iterator[str]:
    """What of a run is not what its entry commits to."""
    salt, body = bytes(run.salt), report.body
    pairs = [commitment(salt, "evidence", canonical(list(pair))) for pair in _pairs(run.asked)]
    if commitment(salt, "asked", exact(run.asked)) != told["asked"] or pairs != told["evidence"]:
        yield "record of what was asked"
    if commitment(salt, "report", sha256(canonical(body)).hexdigest().encode()) != told["report"]:
        yield "report"
        return
    if commitment(salt, "output", body["output"].encode()) != told["output"]:
        yield "output"
    if commitment(salt, "run_id", body["run_id"].encode()) != told["query"]:
        yield "name"


def _of_tape(told: Mapping[str, Any], run: Row[Any]) -> Iterator[str]:
    """Whether what chat models said is what the entry commits to; with the evidence it is erased."""
    found = None if run.tape is None else commitment(bytes(run.salt), "tape", exact(run.tape))
    if found != told.get("tape"):
        yield "record of what chat models said"


def _listed(
    told: Mapping[str, Any], report: Row[Any], claims: Sequence[Row[Any]], first: Row[Any] | None
) -> Iterator[str]:
    """Which of the columns that people search and list by do not agree with the entry and the report."""
    if first is None or (first.action, first.route) != (told["action"], told["route"]):
        yield "row in the list of decisions"
    body = report.body
    try:
        expected = (
            body["action"], body["decision"]["route"], body["overall_score"], body["policy"]["digest"],
            body["verifier"]["digest"], len(body["claims"]),
            verdict_bits(Verdict(one["verdict"]) for one in body["claims"]),
        )  # fmt: skip
        wanted = [(storable(one["text"]), one["verdict"], one["status"], one["score"]) for one in body["claims"]]
    except (KeyError, TypeError, ValueError):
        return  # the report itself was told of already
    listed = (
        report.action, report.route, report.score, report.policy, report.verifier, report.claims, report.verdicts,
    )  # fmt: skip
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
