"""The receipt: what it states, its canonical text, and the digests in it."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, ValidationError, model_validator

from assay.errors import ReceiptError
from assay.receipt.canonical_json import canonical, digest, read_json
from assay.receipt.instants import Instant
from assay.schema import HallucinationReport, Identity, Value

DOMAIN: Final = b"assay receipt 1\n"
"""Prefix of the signed bytes, so that a signature of this key over anything else is never valid for a receipt."""
LONGEST_RECEIPT: Final = 16_384
"""The largest size of a receipt as text, in bytes; an ordinary one has about 900."""

Digest = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]
"""SHA-256 in lower-case hexadecimal."""
KeyId = Annotated[str, Field(pattern=r"\A[0-9a-f]{32}\z")]
"""The first 32 hexadecimal digits of the SHA-256 of the public key."""
ReceiptId = Annotated[str, Field(pattern=r"\A[0-9a-f]{32}\z")]
"""32 random hexadecimal digits."""


class Statement(Value):
    """What is signed: that this exact output passed this policy with this report."""

    version: Literal[1, 2] = 2
    """The version of this form; the first one did not name the evidence."""
    receipt_id: ReceiptId
    """Distinguishes receipts that state the same, so that each can be used once."""
    output: Digest
    """SHA-256 of the output's UTF-8 bytes, exactly as it may be released."""
    policy: Identity
    verifier: Identity
    report: Digest
    """`report_digest` of the report."""
    evidence: Digest | None = None
    """`assay.schema.report_parts.digests.evidence_digest` of all evidence that the output was checked against; none in
    version 1."""
    action: Literal["emit", "revise"]
    """`revise` only where the signed output ends with the disclosure that the gate required."""
    run_id: str
    issued_at: Instant
    """The time by the signer's clock."""
    key_id: KeyId

    @model_validator(mode="after")
    def _names_its_evidence(self) -> Self:
        if (self.evidence is None) != (self.version == 1):
            raise ValueError("a receipt names its evidence from version 2 on")
        return self

    def plain(self) -> dict[str, Any]:
        """The fields of its version, as JSON values."""
        return self.model_dump(mode="json", exclude={"evidence"} if self.version == 1 else None)

    def signed_bytes(self) -> bytes:
        """What the signature covers: the domain, then the canonical bytes of the statement.

        Raises:
            ReceiptError: a text in it is not valid Unicode.
        """
        return DOMAIN + canonical(self.plain())


class Receipt(Value):
    """A signed statement that a particular output passed a policy."""

    statement: Statement
    signature: str = Field(pattern=r"\A[0-9a-f]{128}\z")
    """Ed25519 (RFC 8032) over `statement.signed_bytes()`, in lower-case hexadecimal."""

    def to_text(self) -> str:
        """The receipt as text: canonical JSON on one line, without a newline at the end."""
        return canonical({"statement": self.statement.plain(), "signature": self.signature}).decode()

    @classmethod
    def from_text(cls, text: str | bytes) -> Self:
        """Reads exactly what `to_text` wrote, with at most one newline after it; a text changed in any way is refused.

        Raises:
            ReceiptError: the text is not such a receipt.
        """
        receipt = cls.from_mapping(read_json(text, "the receipt", LONGEST_RECEIPT))
        written = receipt.to_text().encode()
        given = text.encode() if isinstance(text, str) else bytes(text)
        if given.removesuffix(b"\n") != written:
            raise ReceiptError(
                "expected the receipt in the form in which it was written, got another spacing, order or spelling; "
                "take it as it was written, or give it as an object if it came inside other JSON"
            )
        return receipt

    @classmethod
    def from_mapping(cls, value: Any) -> Self:
        """Reads a receipt that was embedded in other JSON.

        Raises:
            ReceiptError: a field is missing, unknown, or malformed.
        """
        if not isinstance(value, Mapping):
            raise ReceiptError(f"expected a receipt as a JSON object, got {type(value).__name__}")
        try:
            receipt = cls.model_validate(dict(value), strict=True)
        except ValidationError as error:
            raise ReceiptError(f"expected a receipt, but {faults(error)}") from error
        receipt.statement.signed_bytes()
        stated = value["statement"]
        # Here the version has no default, and 2.0 is not 2: a receipt must read back as it was written.
        version = stated.version if isinstance(stated, Statement) else stated.get("version")
        if type(version) is not int:
            raise ReceiptError("expected a receipt, but its version is missing or no whole number")
        return receipt


def faults(error: ValidationError) -> str:
    """The errors of a validation in one line: their places and types, without any of the foreign text.

    >>> try:
    ...     Identity.model_validate({"name": 1, "x": 2})
    ... except ValidationError as error:
    ...     print(faults(error))
    3 fields are wrong, first name (string_type)
    """
    found = error.errors(include_url=False, include_input=False, include_context=False)
    # The name of an unknown field is foreign text, so it is counted but not shown.
    known = [one for one in found if one["type"] != "extra_forbidden"]
    first = f"{'.'.join(map(str, known[0]['loc'])) or 'the whole'} ({known[0]['type']})" if known else "an unknown one"
    number = len(found)
    return f"{number} {'field is' if number == 1 else 'fields are'} wrong, first {first}"


def output_bytes(output: str | bytes) -> bytes:
    """The bytes of an output that its digest covers.

    Raises:
        ReceiptError: it is neither text nor bytes, or contains half a surrogate pair.
    """
    if isinstance(output, bytes):
        return output
    if not isinstance(output, str):
        raise ReceiptError(f"expected an output as str or bytes, got {type(output).__name__}")
    try:
        # The method of the base class, so that no subclass can present one text here and another elsewhere.
        return str.encode(output)
    except UnicodeEncodeError as error:
        raise ReceiptError("expected an output that is valid Unicode, got half a surrogate pair") from error


def output_digest(output: str | bytes) -> str:
    """SHA-256, in hexadecimal, of the output's bytes: every byte counts, including white space and Unicode form.

    Raises:
        ReceiptError: it is neither text nor bytes, or contains half a surrogate pair.
    """
    return hashlib.sha256(output_bytes(output)).hexdigest()


def report_digest(report: HallucinationReport) -> str:
    """SHA-256, in hexadecimal, of the canonical bytes of a report without its timing, the only part that differs
    between equal checks.

    Raises:
        ReceiptError: a value in it is not JSON.
    """
    return digest(report.model_dump(mode="json", exclude={"timing"}))
