"""Frozen values: evidence, claims, verdicts and the report, with a published JSON Schema."""

from assay.schema.claim import ExtractedClaim, Span
from assay.schema.evidence import Evidence, EvidenceSpan, Window
from assay.schema.report import (
    SPEC_VERSION,
    CitationReport,
    ClaimReport,
    Conflict,
    ConsistencyProbe,
    Coverage,
    Decision,
    HallucinationReport,
    Identity,
    Issue,
    Labels,
    Metric,
    Retrieval,
    Revision,
    RevisionAttempt,
    Severity,
    Suggestion,
    TextChange,
    Timing,
    ToolCallValidation,
    UncheckedPart,
)
from assay.schema.verdict import Action, Category, ClaimKind, ClaimStatus, Origin, SeverityLevel, Stakes, Verdict

__all__ = [
    "SPEC_VERSION", "Action", "Category", "CitationReport", "ClaimKind", "ClaimReport", "ClaimStatus", "Conflict",
    "ConsistencyProbe", "Coverage", "Decision", "Evidence", "EvidenceSpan", "ExtractedClaim", "HallucinationReport",
    "Identity", "Issue", "Labels", "Metric", "Origin", "Retrieval", "Revision", "RevisionAttempt", "Severity",
    "SeverityLevel", "Span", "Stakes", "Suggestion", "TextChange", "Timing", "ToolCallValidation", "UncheckedPart",
    "Verdict", "Window",
]  # fmt: skip
