"""The entries of the log: canonical JSON of strings and integers.

An entry states what was decided, by which policy and verifier, with which scores. Of everything that a person may have
written (question, output, evidence, names given by the caller) it holds only commitments: HMAC-SHA256 under a random
salt of the run. With the salt and the content, both of which the store keeps, anyone can verify what was decided on.
Once both are erased, the commitments reveal nothing, even to somebody who can guess the content.
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
"""The version of the entry format."""
SALT_BYTES: Final = 32
LONGEST_ENTRY: Final = 1_000_000
"""The most bytes of an entry."""
MOST_SCORES: Final = 1_000
"""The most scores of claims in an entry: the first ones. All scores are in the report, to which the entry commits."""

DECISION: Final = "decision"
"""The gate decided on an output."""
RECEIPT: Final = "receipt"
"""A receipt was issued for an output."""
COMMIT: Final = "commit"
"""A receipt was used for a commit."""
FEEDBACK: Final = "feedback"
"""A user said that an output is wrong or right."""
REVIEW: Final = "review"
"""A reviewer, or a deadline, acted on an output that was held for review."""
ERASURE: Final = "erasure"
"""Content was erased."""
EVIDENCE: Final = "evidence"
"""The value of `of` in an erasure of only the evidence of a run."""
RETENTION: Final = "retention"
"""The retention rules were changed."""
ROWS: Final = "rows"
"""The stored rows of a run, a user, a key or another unit changed (`assay.store.audit.units`)."""
CHANGE: Final = "change"
"""The system whose outputs are checked was changed."""
ALARM: Final = "alarm"
"""A chart raised an alarm, or somebody acted on one."""
BUDGET: Final = "budget"
"""A consequence of the error budget came into force or was lifted."""
ADOPTION: Final = "adoption"
"""A database of an older version was adopted: from here on its rows are bound as they were found."""

_MILLION: Final = 1_000_000
_ENCODE: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
"""Built once: a verification encodes every run."""


def commitment(salt: bytes, label: str, content: bytes) -> str:
    """The commitment that an entry holds in place of content: HMAC-SHA256, in hexadecimal.

    Args:
        salt: the random bytes of the run.
        label: the kind of content, so that no commitment passes for another.
        content: the content.

    >>> commitment(bytes(32), "question", b"Why?")[:16]
    '5e19fc1dd9f591c1'
    """
    return hmac.digest(salt, label.encode() + b"\x00" + content, "sha256").hex()


def exact(value: Any) -> bytes:
    """A JSON value as bytes that parse to exactly this value: 1.0 stays 1.0, which canonical JSON writes as 1.

    The arguments of a check are committed to in this form, so that the check can be repeated to the last digit. Nobody
    has to encode them again to verify them: bundles hold the text itself.

    Raises:
        ReceiptError: it is not a JSON value, or contains a lone surrogate.

    >>> exact({"b": 1.0, "a": [True, None]})
    b'{"a":[true,null],"b":1.0}'
    """
    try:
        return _ENCODE(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ReceiptError(f"expected a JSON value of valid Unicode, got another: {type(error).__name__}") from error


def evidence_content(item: Evidence) -> dict[str, Any]:
    """Evidence as it is stored and digested: everything but the id, which belongs to the run."""
    return item.model_dump(mode="json", exclude={"id"})


def evidence_digest(content: Mapping[str, Any]) -> str:
    """The digest under which evidence is stored.

    Raises:
        ReceiptError: it contains a lone surrogate or a number that is not finite.
    """
    return sha256(exact(content)).hexdigest()


def asked_bytes(asked: Mapping[str, Any], evidence: Iterable[tuple[str, str]]) -> bytes:
    """The input of a check in the form that is committed to: its arguments, and the ids and digests of its evidence."""
    return exact({"asked": dict(asked), "evidence": [list(pair) for pair in evidence]})


def ppm(score: float | None) -> int | None:
    """A score in whole millionths: entries hold no fractions, because their notation differs between languages.

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
    """The entry of a decision of the gate.

    Args:
        record: the id of the run.
        at: the moment, as `assay.receipt.instants` formats it.
        salt: the salt of the run.
        report: the report.
        digest: the `assay.receipt.report_digest` of the report.
        asked: the input of the check (`asked_bytes`).
        evidence: the id and the digest of each piece of evidence, in order.
        bound: further fields that bind the rows stored with it (`assay.store.records.check_rows`).
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
    """An entry with its own fields and those that every entry has.

    Raises:
        AuditError: it is too long.
    """
    data = canonical({"v": VERSION, "kind": kind, "record": record, **fields})
    if len(data) > LONGEST_ENTRY:
        raise AuditError(f"expected an entry of at most {LONGEST_ENTRY:,} bytes, got {len(data):,}")
    return Entry(kind, data, record)


def read_entry_data(data: bytes) -> dict[str, Any]:
    """The fields of an entry.

    Raises:
        AuditError: the bytes are not an entry of this version.
    """
    try:
        value = read_json(data, "an entry of the log", LONGEST_ENTRY)
    except ReceiptError as error:
        raise AuditError(str(error)) from error
    if not isinstance(value, dict) or value.get("v") != VERSION or not isinstance(value.get("kind"), str):
        raise AuditError("expected an entry of the log, got another value")
    return value
