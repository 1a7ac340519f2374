"""What a report was made of, as digests that are in it: a copy that was given other members no longer fits them."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Annotated, Any, Final, Protocol, Self, TypeVar

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
    """Of what was found and decided: `findings_digest`."""


class Checked(Protocol):
    """A report."""

    @property
    def output(self) -> str:
        """The text that was checked."""

    def model_dump(self, *, mode: str, include: Any) -> dict[str, Any]:
        """Some of its fields as JSON values."""


class Decided(Checked, Protocol):
    """A report with its digests."""

    @property
    def digests(self) -> Digests | None:
        """What it was made of."""

    def model_copy(self, *, update: dict[str, Any]) -> Self:
        """A copy with other fields."""


Report = TypeVar("Report", bound=Decided)

_FINDINGS: Final = {
    "claims": {
        "__all__": {
            "text",
            "span",
            "kind",
            "critical",
            "critical_reasons",
            "hedge",
            "verdict",
            "score",
            "contradiction",
            "status",
            "part_of",
            "issues",
        }
    },
    "citations": {"__all__": {"marker", "span", "status", "evidence_id"}},
    "coverage": {"characters", "checked", "not_checkable", "unchecked", "evidence_characters", "evidence_read"},
    "retrieval": {"windows", "conflicts"},
    "issues": {"__all__": {"code"}},
    "omissions": True,
    "consistency_probes": True,
    "stakes": True,
    "overall_score": True,
    "policy": True,
    "verifier": True,
    "action": True,
    "decision": {"action", "route", "reasons", "response"},
    "untold": True,
}
"""What the gate goes by, what it decided, and what a reader is told: a receipt may be for the output with that."""
_DECISIVE: Final = ("citation.", "logic.")
"""The issues of claims that the gate goes by; others are told of by whoever has something to add."""


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


def findings_digest(report: Checked) -> str:
    """SHA-256 over what the gate went by in a report, and over what it decided."""
    found = report.model_dump(mode="json", include=_FINDINGS)
    for claim in found["claims"]:
        claim["issues"] = [one["code"] for one in claim["issues"] if one["code"].startswith(_DECISIVE)]
    return sha256(_bytes(found)).hexdigest()


def digests_of(report: Checked, evidence: Iterable[Evidence]) -> Digests:
    """What a report is made of.

    Args:
        report: what was found; digests that it has already are not read.
        evidence: all that the check was given, in its order.
    """
    return Digests(
        output=text_digest(report.output), evidence=evidence_digest(evidence), findings=findings_digest(report)
    )


def decided(report: Report, changes: Mapping[str, Any]) -> Report:
    """A copy of a report on which another decision was made, with its digests: for whoever may decide.

    A report that no longer fits its digests does not fit them afterwards either.

    Args:
        report: the report, as it was made.
        changes: the fields that are others now: the decision, and what follows from it.
    """
    made = report.model_copy(update=dict(changes))
    if report.digests is None or report.digests.findings != findings_digest(report):
        return made
    return made.model_copy(update={"digests": report.digests.model_copy(update={"findings": findings_digest(made)})})


def _bytes(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")
