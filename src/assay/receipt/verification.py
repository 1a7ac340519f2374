"""Verifying a receipt: pure, with the public ring alone, and with every mismatch named.

What is found never depends on the order in which one looks: all problems are listed. Sentences have one shape for each
code, with digests, key ids and times in them and never foreign text.
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
    """What there is cannot be read as a receipt."""
    UNKNOWN_KEY = "unknown_key"
    """The ring does not hold the key; whether the signature is one is not known."""
    ALTERED = "altered"
    """The signature does not fit: the receipt was changed, or the key that it names did not sign it."""
    REVOKED_KEY = "revoked_key"
    """Issued when the key was revoked already."""
    KEY_REVOKED_SINCE = "key_revoked_since"
    """Issued before the key was revoked, by the receipt's own word, which whoever stole the key could forge."""
    RETIRED_KEY = "retired_key"
    """Issued when the key was retired already."""
    BEFORE_KEY = "before_key"
    """Issued before the key was created."""
    OTHER_OUTPUT = "other_output"
    """It is a receipt for another output."""
    OTHER_POLICY = "other_policy"
    """The output passed another policy than the one that is asked for."""
    OTHER_VERIFIER = "other_verifier"
    """Another verifier than the one that is asked for judged it."""
    OTHER_REPORT = "other_report"
    """It is a receipt for another report."""
    OTHER_EVIDENCE = "other_evidence"
    """The output was checked against other evidence than is asked for."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that does not match."""

    code: ProblemCode
    message: str
    """A sentence for people."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found of a receipt."""

    problems: tuple[Problem, ...]
    """All that does not match; none where the receipt holds."""
    receipt: Receipt | None = None
    """The receipt as it was read, which proves nothing where there are problems."""
    key: PublicKey | None = None
    """The key that it names, where the ring has it."""

    @property
    def valid(self) -> bool:
        """Whether the receipt holds for this output under this ring."""
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
"""A receipt, its text, or the object of a receipt that came inside other JSON."""


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
    """Whether a receipt holds for an output, and if not, what does not match.

    Args:
        output: exactly what is to go out, or went out; another white space or Unicode form is another output.
        receipt: the receipt; whatever it holds, it raises nothing.
        ring: the public keys that are trusted.
        policy: the digest of the policy that it must have passed; any by default.
        verifier: the digest of the verifier that must have judged it; any by default.
        report: the report that it must be about; any by default.
        evidence: all that the output must have been checked against, in any order; whatever it was by default.

    Raises:
        ReceiptError: the output is no text, or `cryptography` is not installed.
    """
    given = output_bytes(output)
    if receipt is None:
        return Verification((Problem(ProblemCode.MISSING, "there is no receipt"),))
    try:
        read = _read(receipt)
    except ReceiptError as error:
        return Verification((Problem(ProblemCode.MALFORMED, f"the receipt cannot be read: {error}"),))
    key = ring.find(read.statement.key_id)
    problems = [*_of_key(read, key), *_of_output(read.statement, given)]
    problems += _of_demands(read.statement, policy, verifier, report)
    if evidence is not None and read.statement.evidence != evidence_digest(evidence):
        reason = "the output was checked against other evidence than what is asked for"
        if read.statement.evidence is None:
            reason = "the receipt is of version 1, which does not name the evidence"
        problems.append(Problem(ProblemCode.OTHER_EVIDENCE, reason))
    return Verification(tuple(problems), read, key)


def _read(receipt: ReceiptLike) -> Receipt:
    if isinstance(receipt, str | bytes):
        return Receipt.from_text(receipt)
    # Read again even if it is a receipt: `model_copy` and `model_construct` pass its rules by.
    if isinstance(receipt, Receipt):
        return Receipt.from_mapping({"statement": receipt.statement.model_dump(), "signature": receipt.signature})
    return Receipt.from_mapping(receipt)


def _of_key(receipt: Receipt, key: PublicKey | None) -> Iterator[Problem]:
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


def _of_output(statement: Statement, given: bytes) -> Iterator[Problem]:
    found = output_digest(given)
    if found != statement.output:
        hint = _nearly(given, statement.output)
        yield Problem(
            ProblemCode.OTHER_OUTPUT,
            f"the receipt is for the output with SHA-256 {statement.output}, and this one has {found}{hint}",
        )


def _of_demands(
    statement: Statement, policy: str | None, verifier: str | None, report: HallucinationReport | None
) -> Iterator[Problem]:
    if policy is not None and statement.policy.digest != policy:
        yield Problem(ProblemCode.OTHER_POLICY, "the output passed another policy than the one that is asked for")
    if verifier is not None and statement.verifier.digest != verifier:
        yield Problem(ProblemCode.OTHER_VERIFIER, "another verifier than the one that is asked for judged the output")
    if report is not None:
        found = report_digest(report)
        if found != statement.report:
            yield Problem(
                ProblemCode.OTHER_REPORT,
                f"the receipt is for the report with SHA-256 {statement.report}, and this one has {found}",
            )


def _nearly(given: bytes, wanted: str) -> str:
    """What small change would make the output fit: what editors and terminals do without asking."""
    try:
        text = given.decode()
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
        if output_digest(candidate) == wanted:
            return f"; it would fit {words}"
    return ""
