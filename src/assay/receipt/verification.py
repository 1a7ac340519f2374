"""Verifying a receipt: a pure function of the receipt, the output and the public ring that names every mismatch.

All problems are listed, so the result does not depend on the order of the checks. Each code has one form of message,
with digests, key ids and times in it and never foreign text.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from assay.errors import ReceiptError
from assay.receipt.ed25519 import fits
from assay.receipt.model import Receipt, Statement, output_bytes, output_digest, report_digest
from assay.receipt.ring import KeyRing, PublicKey
from assay.schema import Evidence, HallucinationReport
from assay.schema.report_parts import evidence_digest


class ProblemCode(StrEnum):
    """What does not match."""

    MISSING = "missing"
    """There is no receipt."""
    MALFORMED = "malformed"
    """It cannot be read as a receipt."""
    UNKNOWN_KEY = "unknown_key"
    """The key is not in the ring, so the signature could not be checked."""
    ALTERED = "altered"
    """The signature does not match: the receipt was changed, or another key signed it."""
    REVOKED_KEY = "revoked_key"
    """Issued when the key was already revoked."""
    KEY_REVOKED_SINCE = "key_revoked_since"
    """Issued before the key was revoked, according to the receipt itself; a thief of the key could forge that date."""
    RETIRED_KEY = "retired_key"
    """Issued when the key was already retired."""
    BEFORE_KEY = "before_key"
    """Issued before the key was created."""
    OTHER_OUTPUT = "other_output"
    """It is a receipt for another output."""
    OTHER_POLICY = "other_policy"
    """The output passed another policy than the required one."""
    OTHER_VERIFIER = "other_verifier"
    """The output was judged by another verifier than the required one."""
    OTHER_REPORT = "other_report"
    """It is a receipt for another report."""
    OTHER_EVIDENCE = "other_evidence"
    """The output was checked against other evidence than required."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that does not match."""

    code: ProblemCode
    message: str
    """A sentence for people."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying a receipt."""

    problems: tuple[Problem, ...]
    """Everything that does not match; empty where the receipt is valid."""
    receipt: Receipt | None = None
    """The receipt as it was read; it proves nothing if there are problems."""
    key: PublicKey | None = None
    """The key that it names, if the ring contains it."""

    @property
    def valid(self) -> bool:
        """Whether the receipt is valid for this output under this ring."""
        return not self.problems and self.receipt is not None

    @property
    def codes(self) -> frozenset[ProblemCode]:
        """The codes of the problems."""
        return frozenset(problem.code for problem in self.problems)

    @property
    def message(self) -> str:
        """All problems in one line."""
        return "; ".join(problem.message for problem in self.problems) or "the receipt holds"


ReceiptLike = Receipt | Mapping[str, Any] | str | bytes
"""A receipt, its text, or the object of a receipt that was embedded in other JSON."""


def verify(
    output: str | bytes,
    receipt: ReceiptLike | None,
    ring: KeyRing,
    *,
    policy: str | None = None,
    verifier: str | None = None,
    report: HallucinationReport | None = None,
    evidence: Sequence[Evidence] | None = None,
) -> Verification:
    """Whether a receipt is valid for an output, and if not, what does not match.

    Args:
        output: exactly what is or was released; other white space or another Unicode form is another output.
        receipt: the receipt; no content of it raises an error.
        ring: the trusted public keys.
        policy: the digest of the policy that the output must have passed; any by default.
        verifier: the digest of the verifier that must have judged it; any by default.
        report: the report that the receipt must be about; any by default.
        evidence: all evidence that the output must have been checked against, in any order; any by default.

    Raises:
        ReceiptError: the output is neither text nor bytes, or `cryptography` is not installed.
    """
    content = output_bytes(output)
    if receipt is None:
        return Verification((Problem(ProblemCode.MISSING, "there is no receipt"),))
    try:
        read = _read(receipt)
    except ReceiptError as error:
        return Verification((Problem(ProblemCode.MALFORMED, f"the receipt cannot be read: {error}"),))
    key = ring.find(read.statement.key_id)
    problems = [*_key_problems(read, key), *_output_problems(read.statement, content)]
    problems += _requirement_problems(read.statement, policy, verifier, report)
    if evidence is not None and read.statement.evidence != evidence_digest(evidence):
        reason = "the output was checked against other evidence than what is asked for"
        if read.statement.evidence is None:
            reason = "the receipt is of version 1, which does not name the evidence"
        problems.append(Problem(ProblemCode.OTHER_EVIDENCE, reason))
    return Verification(tuple(problems), read, key)


def _read(receipt: ReceiptLike) -> Receipt:
    if isinstance(receipt, str | bytes):
        return Receipt.from_text(receipt)
    # Read again even if it is a `Receipt`: `model_copy` and `model_construct` skip validation.
    if isinstance(receipt, Receipt):
        return Receipt.from_mapping({"statement": receipt.statement.model_dump(), "signature": receipt.signature})
    return Receipt.from_mapping(receipt)


def _key_problems(receipt: Receipt, key: PublicKey | None) -> Iterator[Problem]:
    statement = receipt.statement
    name, issued = statement.key_id, statement.issued_at
    if key is None:
        yield Problem(ProblemCode.UNKNOWN_KEY, f"the ring does not hold the key {name}, which the receipt names")
        return
    if not fits(bytes.fromhex(key.public), bytes.fromhex(receipt.signature), statement.signed_bytes()):
        yield Problem(
            ProblemCode.ALTERED, f"the signature is not one of the key {name} over this receipt: one was changed"
        )
    if key.revoked is not None:
        at = key.revoked.at
        if issued >= at:
            yield Problem(ProblemCode.REVOKED_KEY, f"issued at {issued}, when the key {name} was revoked since {at}")
        else:
            yield Problem(
                ProblemCode.KEY_REVOKED_SINCE,
                f"issued at {issued} by its own word, before the key {name} was revoked at {at}",
            )
    if key.retired is not None and issued > key.retired:
        yield Problem(
            ProblemCode.RETIRED_KEY, f"issued at {issued}, when the key {name} was retired since {key.retired}"
        )
    if issued < key.created:
        yield Problem(ProblemCode.BEFORE_KEY, f"issued at {issued}, before the key {name} was created at {key.created}")


def _output_problems(statement: Statement, content: bytes) -> Iterator[Problem]:
    digest = output_digest(content)
    if digest != statement.output:
        hint = _near_match_hint(content, statement.output)
        yield Problem(
            ProblemCode.OTHER_OUTPUT,
            f"the receipt is for the output with SHA-256 {statement.output}, and this one has {digest}{hint}",
        )


def _requirement_problems(
    statement: Statement, policy: str | None, verifier: str | None, report: HallucinationReport | None
) -> Iterator[Problem]:
    if policy is not None and statement.policy.digest != policy:
        yield Problem(ProblemCode.OTHER_POLICY, "the output passed another policy than the one that is asked for")
    if verifier is not None and statement.verifier.digest != verifier:
        yield Problem(ProblemCode.OTHER_VERIFIER, "another verifier than the one that is asked for judged the output")
    if report is not None:
        digest = report_digest(report)
        if digest != statement.report:
            yield Problem(
                ProblemCode.OTHER_REPORT,
                f"the receipt is for the report with SHA-256 {statement.report}, and this one has {digest}",
            )


def _near_match_hint(content: bytes, expected_digest: str) -> str:
    """Which small change, of the kind that editors and terminals make unasked, would make the output match."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return ""
    candidates = (
        ("without the white space at its end", text.rstrip()),
        ("with a newline at its end", f"{text}\n"),
        ("without the newline at its end", text.removesuffix("\n")),
        ("without its byte order mark", text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")),
        ("with line feeds in place of its line breaks", text.replace("\r\n", "\n")),
        ("with carriage returns in its line breaks", text.replace("\r\n", "\n").replace("\n", "\r\n")),
        ("in the Unicode form NFC", unicodedata.normalize("NFC", text)),
        ("in the Unicode form NFD", unicodedata.normalize("NFD", text)),
    )
    for words, candidate in candidates:
        if output_digest(candidate) == expected_digest:
            return f"; it would fit {words}"
    return ""
