"""What a report was made of, as digests that stand in it: a copy that was given other members no longer fits them."""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Annotated, Any, Protocol

from pydantic import Field

from assay.schema.base import Value
from assay.schema.evidence import Evidence

Digest = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]
"""SHA-256 in lower-case hexadecimal."""


class Digests(Value):
    """SHA-256 of what was checked and of what was found."""

    output: Digest
    """Of the output's UTF-8 bytes."""
    evidence: Digest
    """`evidence_digest` of all evidence that the check was given."""
    findings: Digest
    """Of what decides about each claim and citation, and of how much was checked."""


class Finding(Protocol):
    """A claim or a citation of a report."""

    def model_dump(self, *, mode: str, include: set[str]) -> dict[str, Any]:
        """Some of its fields as JSON values."""


_OF_CLAIM = {"text", "span", "kind", "critical", "verdict", "score", "contradiction", "status", "part_of"}
_OF_CITATION = {"marker", "span", "status", "evidence_id"}
_OF_COVERAGE = {"characters", "checked", "not_checkable", "unchecked", "evidence_characters", "evidence_read"}


def evidence_digest(evidence: Iterable[Evidence]) -> str:
    """SHA-256 over the evidence of a check: a line with the digest of its content and its id for each piece, sorted.

    The content is everything but the id, as JSON with sorted keys and without white space. In which order the pieces
    were given says nothing of what they say.

    >>> evidence_digest([])[:8], evidence_digest([Evidence(id="a", text="Two weeks.")])[:8]
    ('e3b0c442', 'c1f15f62')
    """
    lines = []
    for item in evidence:
        content = sha256(_bytes(item.model_dump(mode="json", exclude={"id"}))).hexdigest()
        lines.append(content.encode() + b" " + _bytes(item.id) + b"\n")
    return sha256(b"".join(sorted(lines))).hexdigest()


def text_digest(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes; half a surrogate pair counts as itself."""
    return sha256(str.encode(text, "utf-8", "surrogatepass")).hexdigest()


def findings_digest(claims: Sequence[Finding], citations: Sequence[Finding], coverage: Finding) -> str:
    """SHA-256 over what decides about the claims and citations of a report, and over its coverage."""
    found = {
        "claims": [claim.model_dump(mode="json", include=_OF_CLAIM) for claim in claims],
        "citations": [one.model_dump(mode="json", include=_OF_CITATION) for one in citations],
        "coverage": coverage.model_dump(mode="json", include=_OF_COVERAGE),
    }
    return sha256(_bytes(found)).hexdigest()


def digests_of(
    output: str, evidence: Iterable[Evidence], claims: Sequence[Finding], citations: Sequence[Finding],
    coverage: Finding,
) -> Digests:  # fmt: skip
    """What a report is made of.

    Args:
        output: the text that was checked.
        evidence: all that the check was given, in its order.
        claims: the claims of the report.
        citations: its citations.
        coverage: its coverage.
    """
    return Digests(
        output=text_digest(output), evidence=evidence_digest(evidence),
        findings=findings_digest(claims, citations, coverage),
    )  # fmt: skip


def _bytes(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")
