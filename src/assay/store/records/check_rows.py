"""The rows and log entries of a recorded check."""

import re
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Table

from assay.errors import StoreError
from assay.receipt import canonical, instant
from assay.schema import HallucinationReport, Verdict
from assay.store.audit.entries import (
    SALT_BYTES,
    asked_bytes,
    commitment,
    decision_entry,
    evidence_content,
    evidence_digest,
    exact,
)
from assay.store.audit.units import RUN, State, content_of, new_seal
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, storable
from assay.store.db.writer import Change
from assay.store.insights.hourly_increments import counts_of, latency_class
from assay.store.records.interface import CheckRecord
from assay.store.records.search_words import words_of
from assay.store.reviews.opened_items import GATE, merge_rows, review_item

_ID: Final = re.compile(r"[0-9a-f]{32}")

Row = dict[str, Any]
"""A row to insert: a value for each column."""


def change_of(record: CheckRecord, now: datetime) -> Change:
    """The change that records a check.

    Args:
        record: the check.
        now: the moment at which it is recorded.

    Raises:
        StoreError: its tenant or id is malformed.
        ReceiptError: something in it cannot be written as canonical JSON.
    """
    tenant = checked_tenant(record.tenant)
    if not _ID.fullmatch(record.id):
        raise StoreError(f"expected the id of a record: 32 hexadecimal digits, got {ascii(record.id)[:80]}")
    at, salt, seal, report = micros(now), secrets.token_bytes(SALT_BYTES), new_seal(), record.report
    contents = [evidence_content(item) for item in record.evidence]
    digests = [evidence_digest(content) for content in contents]
    pairs = [(item.id, digest) for item, digest in zip(record.evidence, digests, strict=True)]
    body = canonical(report.model_dump(mode="json", exclude={"timing"}))
    asked, tape = asked_bytes(record.asked, pairs), None if report.tape is None else exact(report.tape)
    rows: dict[Table, Sequence[Mapping[str, Any]]] = {
        tables.policies: [_policy(record, at)],
        tables.verifiers: [
            {"tenant": tenant, "digest": report.verifier.digest, "name": storable(report.verifier.name), "created": at}
        ],
        tables.evidence: [
            {"tenant": tenant, "digest": digest, "created": at, "body": tables.pack(exact(content))}
            for digest, content in sorted(dict(zip(digests, contents, strict=True)).items())
        ],
        tables.runs: [_run(record, at, salt, seal, asked, tape)],
        tables.run_evidence: [
            {"tenant": tenant, "run": record.id, "position": position, "evidence_id": storable(name), "digest": digest}
            for position, (name, digest) in enumerate(pairs)
        ],
        **report_rows(
            tenant, record.id, record.id, report, body, at, None if record.caller is None else storable(record.caller)
        ),
        tables.decisions: [
            {
                "tenant": tenant,
                "run": record.id,
                "position": 0,
                "created": at,
                "actor": GATE,
                "action": report.action.value,
                "route": report.decision.route,
                "reasons": tables.pack(list(report.decision.reasons)),
            }
        ],
        tables.hourly: counts_of(tenant, at, report),
    }
    review_rows, review_entries = review_item(record, now, at)
    rows = merge_rows(rows, review_rows)
    entry = decision_entry(
        record.id,
        instant(now),
        salt,
        report,
        sha256(body).hexdigest(),
        asked,
        pairs,
        {
            **_binding_fields(record, at, seal, rows),
            **({} if tape is None else {"tape": commitment(salt, "tape", tape)}),
        },
    )
    return Change(tenant, rows, (entry, *review_entries))


def _binding_fields(
    record: CheckRecord, at: int, seal: bytes, rows: Mapping[Table, Sequence[Mapping[str, Any]]]
) -> Row:
    """The fields with which the entry of a check binds the rows that are stored with it."""
    report = record.report
    return {
        "moment": at,
        "rows": State(seal, content_of(RUN, rows)).commitment(),
        "policy_kept": record.policy is not None,
        "latency": str(latency_class(report.timing.total_ms)),
        "categories": dict(Counter(claim.category.value for claim in report.claims if claim.category is not None)),
    }


def merge_changes(changes: Sequence[Change]) -> Change:
    """Merge changes of one tenant into one, so that all or none are stored. They may have rows and entries, but no
    act."""
    rows: dict[Table, list[Row]] = {}
    for change in changes:
        for table, table_rows in change.rows.items():
            rows.setdefault(table, []).extend(dict(row) for row in table_rows)
    return Change(changes[0].tenant, rows, tuple(entry for change in changes for entry in change.entries))


VERDICT_BITS: Final = {verdict: 1 << place for place, verdict in enumerate(Verdict)}
"""The bit of each verdict in `reports.verdicts`."""


def verdict_bits(verdicts: Iterable[Verdict]) -> int:
    """A bit set of the verdicts that occur.

    >>> verdict_bits([Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.SUPPORTED])
    3
    """
    bits = 0
    for verdict in verdicts:
        bits |= VERDICT_BITS[verdict]
    return bits


def search_row(tenant: str, id_: str, report: HallucinationReport, at: int) -> Row:
    """The row of a report in the search index: the words of its question and its output."""
    words = words_of(f"{report.question}\n{report.output}" if report.question else report.output)
    return {"owner": tenant, "id": id_, "created": at, "words": " ".join(words)}


def report_rows(
    tenant: str, run: str, id_: str, report: HallucinationReport, body: bytes, at: int, caller: str | None = None
) -> dict[Table, Sequence[Row]]:
    """The rows of a report, its claims and its tool calls.

    Args:
        tenant: whose report.
        run: the id of the run that it is about.
        id_: the report's own id.
        report: the report.
        body: its canonical JSON without its timing.
        at: when it was made, in microseconds since 1970.
        caller: the name of the caller.
    """
    return {
        tables.reports: [
            {
                "tenant": tenant,
                "id": id_,
                "run": run,
                "created": at,
                "action": report.action.value,
                "route": report.decision.route,
                "score": report.overall_score,
                "policy": report.policy.digest,
                "verifier": report.verifier.digest,
                "claims": len(report.claims),
                "body": tables.pack(body),
                "timing": tables.pack(report.timing.model_dump(mode="json")),
                "caller": caller,
                "verdicts": verdict_bits(claim.verdict for claim in report.claims),
            }
        ],
        tables.report_search: [search_row(tenant, id_, report, at)],
        tables.claims: [
            {
                "tenant": tenant,
                "report": id_,
                "position": position,
                "text": storable(claim.text),
                "kind": claim.kind.value,
                "critical": claim.critical,
                "verdict": claim.verdict.value,
                "status": claim.status.value,
                "category": None if claim.category is None else claim.category.value,
                "severity": None if claim.severity is None else claim.severity.level.value,
                "score": claim.score,
                "contradiction": claim.contradiction,
                "start": claim.span.start,
                "end": claim.span.end,
            }
            for position, claim in enumerate(report.claims)
        ],
        tables.tool_calls: [
            {
                "tenant": tenant,
                "report": id_,
                "position": position,
                "tool": storable(call.tool),
                "status": call.status,
                "errors": len(call.errors),
                "step": call.step,
                "executed": call.executed,
            }
            for position, call in enumerate(report.tool_call_validations)
        ],
    }


def _run(record: CheckRecord, at: int, salt: bytes, seal: bytes, asked: bytes, tape: bytes | None) -> Row:
    report = record.report
    question = report.question
    return {
        "tenant": record.tenant,
        "id": record.id,
        "run_id": storable(report.run_id),
        "kind": record.kind,
        "caller": None if record.caller is None else storable(record.caller),
        "created": at,
        "stakes": report.stakes.value,
        "task": storable(str(record.asked.get("task", "qa"))),
        "question": None if question is None else storable(question),
        "salt": salt,
        "asked": tables.pack(asked),
        "erased": None,
        "bare": False,
        "seal": seal,
        "tape": None if tape is None else tables.pack(tape),
    }


def _policy(record: CheckRecord, at: int) -> Row:
    named, policy = record.report.policy, record.policy
    # A policy other than the one named in the report would be stored under a digest that is not its own.
    if policy is not None and policy.digest != named.digest:
        raise StoreError(f"expected the policy with the digest {named.digest}, got one with {policy.digest}")
    return {
        "tenant": record.tenant,
        "digest": named.digest,
        "name": storable(named.name),
        "created": at,
        "body": None if policy is None else tables.pack(policy.content),
    }
