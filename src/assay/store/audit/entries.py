"""What is in the log: entries as canonical JSON of texts and whole numbers.

An entry tells what was decided, by which policy and verifier, with which scores. Of everything that a person may have
written (question, output, evidence, names given by the caller) it holds only commitments: HMAC-SHA256 under a random
salt of the run. With the salt and the content, which the store keeps, anyone can see that they are what was decided on.
Once both are erased, the commitments say nothing, not even to who can guess the content.
"""

import hmac
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from assay.errors import AuditError, ReceiptError
from assay.receipt import canonical, read_json
from assay.schema import Evidence, HallucinationReport
from assay.store.audit.log import Entry

VERSION: Final = 1
"""The version of the form of entries."""
SALT_BYTES: Final = 32
LONGEST_ENTRY: Final = 1_000_000
"""The most bytes of an entry."""
MOST_SCORES: Final = 1_000
"""Of more claims, the entry holds the first scores; all are in the report, to which it commits."""

DECISION: Final = "decision"
"""The gate decided on an output."""
RECEIPT: Final = "receipt"
"""A receipt was issued for an output."""
COMMIT: Final = "commit"
"""A receipt was used for a commit."""
FEEDBACK: Final = "feedback"
"""A user said of an output that it is wrong, or right."""
REVIEW: Final = "review"
"""A person, or a deadline, did something to an output that was held for review."""
ERASURE: Final = "erasure"
"""Content was erased."""
EVIDENCE: Final = "evidence"
"""What an erasure is `of` where the evidence of a run alone was erased."""
RETENTION: Final = "retention"
"""The rules changed by which content is kept."""
ROWS: Final = "rows"
"""What is stored of a run, a user, a key or the like has changed (`assay.store.audit.units`)."""
CHANGE: Final = "change"
"""Something was changed in the system whose outputs are checked."""
ALARM: Final = "alarm"
"""A chart alarmed, or somebody did something about it."""
BUDGET: Final = "budget"
"""A consequence of the error budget came into force, or went out of it."""
ADOPTION: Final = "adoption"
"""A database of an older version was taken over: from here on its rows are bound as they were found."""

_MILLION: Final = 1_000_000
_EXACTLY: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
"""Made once: a verification writes each run again."""


def commitment(salt: bytes, label: str, content: bytes) -> str:
    """What an entry holds in place of content.

    Args:
        salt: the random bytes of the run.
        label: what the content is, so that no commitment passes for another.
        content: the bytes themselves.

    >>> commitment(bytes(32), "question", b"Why?")[:16]
    '5e19fc1dd9f591c1'
    """
    return hmac.digest(salt, label.encode() + b"\x00" + content, "sha256").hex()


def exact(value: Any) -> bytes:
    """A JSON value as bytes that read back as just this value: 1.0 stays 1.0, which canonical JSON writes as 1.

    What a check was given is committed to in this form, so that it can be given again to the last digit. Nobody has to
    write it again to verify it: bundles hold the text itself.

    Raises:
        ReceiptError: it is no JSON value, or holds half a surrogate pair.

    >>> exact({"b": 1.0, "a": [True, None]})
    b'{"a":[true,null],"b":1.0}'
    """
    try:
        return _EXACTLY(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ReceiptError(f"expected a JSON value of valid Unicode, got another: {type(error).__name__}") from error


def evidence_content(item: Evidence) -> dict[str, Any]:
    """Evidence as it is stored and digested: everything but the id, which each run gives again."""
    return item.model_dump(mode="json", exclude={"id"})


def evidence_digest(content: Mapping[str, Any]) -> str:
    """The digest under which evidence is stored.

    Raises:
        ReceiptError: it holds half a surrogate pair or a number that is not finite.
    """
    return sha256(exact(content)).hexdigest()


def asked_bytes(asked: Mapping[str, Any], evidence: Iterable[tuple[str, str]]) -> bytes:
    """What a check was given, as it is committed to: its arguments, and the ids and digests of its evidence."""
    return exact({"asked": dict(asked), "evidence": [list(pair) for pair in evidence]})


def ppm(score: float | None) -> int | None:
    """A score in whole millionths: entries hold no fractions, which are not written alike everywhere.

    >>> ppm(0.97), ppm(None)
    (970000, None)
    """
    return None if score is None else round(score * _MILLION)


def decision_entry(
    record: str,
    at: str,
    salt: bytes,
    report: HallucinationReport,
    digest: str,
    asked: bytes,
    evidence: Sequence[tuple[str, str]],
    bound: Mapping[str, Any],
) -> Entry:
    """The entry of what the gate decided.

    Args:
        record: the id of the run.
        at: when, as `assay.receipt.instants` writes it.
        salt: the salt of the run.
        report: what was found.
        digest: `assay.receipt.report_digest` of it.
        asked: `asked_bytes` of what the check was given.
        evidence: the id and the digest of each piece of evidence, in order.
        bound: what it binds of the rows that are stored with it (`assay.store.records.recording`).
    """
    validations = Counter(call.status for call in report.tool_call_validations)
    return entry(
        DECISION,
        record,
        {
            "at": at,
            "query": commitment(salt, "run_id", report.run_id.encode()),
            "asked": commitment(salt, "asked", asked),
            "output": commitment(salt, "output", report.output.encode()),
            "evidence": [commitment(salt, "evidence", canonical(list(pair))) for pair in evidence],
            "report": commitment(salt, "report", digest.encode()),
            "action": report.action.value,
            "route": report.decision.route,
            "stakes": report.stakes.value,
            "score": ppm(report.overall_score),
            "scores": [ppm(claim.score) for claim in report.claims[:MOST_SCORES]],
            "verdicts": dict(Counter(claim.verdict.value for claim in report.claims)),
            "unchecked_characters": report.coverage.unchecked,
            "tool_calls": dict(validations),
            "citations": dict(Counter(citation.status for citation in report.citations)),
            "policy": report.policy.model_dump(),
            "verifier": report.verifier.model_dump(),
            **bound,
        },
    )


def entry(kind: str, record: str | None, fields: Mapping[str, Any]) -> Entry:
    """An entry with the fields that each has.

    Raises:
        AuditError: it is too long.
    """
    data = canonical({"v": VERSION, "kind": kind, "record": record, **fields})
    if len(data) > LONGEST_ENTRY:
        raise AuditError(f"expected an entry of at most {LONGEST_ENTRY:,} bytes, got {len(data):,}")
    return Entry(kind, data, record)


def read_entry_data(data: bytes) -> dict[str, Any]:
    """An entry out of its bytes.

    Raises:
        AuditError: it is none as they are written.
    """
    try:
        value = read_json(data, "an entry of the log", LONGEST_ENTRY)
    except ReceiptError as error:
        raise AuditError(str(error)) from error
    if not isinstance(value, dict) or value.get("v") != VERSION or not isinstance(value.get("kind"), str):
        raise AuditError("expected an entry of the log, got another value")
    return value
