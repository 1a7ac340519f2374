"""Frozen values: evidence, claims, verdicts and the report, with a published JSON Schema."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.schema.access import PERMISSIONS as PERMISSIONS
    from assay.schema.access import Permission as Permission
    from assay.schema.access import Role as Role
    from assay.schema.base import Value as Value
    from assay.schema.claim import ExtractedClaim as ExtractedClaim
    from assay.schema.claim import Span as Span
    from assay.schema.coerce import coerce_evidence as coerce_evidence
    from assay.schema.coerce import coerce_text as coerce_text
    from assay.schema.escalation import Alternative as Alternative
    from assay.schema.escalation import ConfidenceBreakdown as ConfidenceBreakdown
    from assay.schema.escalation import EscalationPackage as EscalationPackage
    from assay.schema.escalation import FlaggedClaim as FlaggedClaim
    from assay.schema.escalation import ReviewAct as ReviewAct
    from assay.schema.escalation import ReviewEvent as ReviewEvent
    from assay.schema.escalation import ReviewItem as ReviewItem
    from assay.schema.escalation import ReviewOutcome as ReviewOutcome
    from assay.schema.escalation import ReviewState as ReviewState
    from assay.schema.escalation import TaskContext as TaskContext
    from assay.schema.evidence import Evidence as Evidence
    from assay.schema.evidence import EvidenceSpan as EvidenceSpan
    from assay.schema.evidence import Window as Window
    from assay.schema.knowledge import External as External
    from assay.schema.knowledge import KnowledgeReport as KnowledgeReport
    from assay.schema.knowledge import SourceUse as SourceUse
    from assay.schema.knowledge import SourceWord as SourceWord
    from assay.schema.outside import OutsideWord as OutsideWord
    from assay.schema.premise import GRANULARITIES as GRANULARITIES
    from assay.schema.premise import ClaimCandidates as ClaimCandidates
    from assay.schema.premise import Granularity as Granularity
    from assay.schema.premise import Premise as Premise
    from assay.schema.report import SPEC_VERSION as SPEC_VERSION
    from assay.schema.report import CitationReport as CitationReport
    from assay.schema.report import ClaimReport as ClaimReport
    from assay.schema.report import Conflict as Conflict
    from assay.schema.report import ConsistencyProbe as ConsistencyProbe
    from assay.schema.report import Coverage as Coverage
    from assay.schema.report import Decision as Decision
    from assay.schema.report import HallucinationReport as HallucinationReport
    from assay.schema.report import Identity as Identity
    from assay.schema.report import Issue as Issue
    from assay.schema.report import Labels as Labels
    from assay.schema.report import Metric as Metric
    from assay.schema.report import Retrieval as Retrieval
    from assay.schema.report import Revision as Revision
    from assay.schema.report import RevisionAttempt as RevisionAttempt
    from assay.schema.report import Severity as Severity
    from assay.schema.report import Suggestion as Suggestion
    from assay.schema.report import TextChange as TextChange
    from assay.schema.report import Timing as Timing
    from assay.schema.report import ToolCallValidation as ToolCallValidation
    from assay.schema.report import UncheckedPart as UncheckedPart
    from assay.schema.screening import DroppedPassage as DroppedPassage
    from assay.schema.screening import DropReason as DropReason
    from assay.schema.screening import PassageConflict as PassageConflict
    from assay.schema.screening import PassageReport as PassageReport
    from assay.schema.screening import Screening as Screening
    from assay.schema.screening import ScreenReason as ScreenReason
    from assay.schema.screening import Signal as Signal
    from assay.schema.screening import Standing as Standing
    from assay.schema.structure import KEYWORD as KEYWORD
    from assay.schema.structure import CitedField as CitedField
    from assay.schema.structure import FieldRule as FieldRule
    from assay.schema.structure import Structure as Structure
    from assay.schema.verdict import Action as Action
    from assay.schema.verdict import Category as Category
    from assay.schema.verdict import ClaimKind as ClaimKind
    from assay.schema.verdict import ClaimStatus as ClaimStatus
    from assay.schema.verdict import Origin as Origin
    from assay.schema.verdict import SeverityLevel as SeverityLevel
    from assay.schema.verdict import Stakes as Stakes
    from assay.schema.verdict import Verdict as Verdict
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".access": ("PERMISSIONS", "Permission", "Role"),
            ".base": ("Value",),
            ".claim": ("ExtractedClaim", "Span"),
            ".coerce": ("coerce_evidence", "coerce_text"),
            ".escalation": (
                "Alternative",
                "ConfidenceBreakdown",
                "EscalationPackage",
                "FlaggedClaim",
                "ReviewAct",
                "ReviewEvent",
                "ReviewItem",
                "ReviewOutcome",
                "ReviewState",
                "TaskContext",
            ),
            ".evidence": ("Evidence", "EvidenceSpan", "Window"),
            ".knowledge": ("External", "KnowledgeReport", "SourceUse", "SourceWord"),
            ".outside": ("OutsideWord",),
            ".premise": ("ClaimCandidates", "GRANULARITIES", "Granularity", "Premise"),
            ".report": (
                "CitationReport",
                "ClaimReport",
                "Conflict",
                "ConsistencyProbe",
                "Coverage",
                "Decision",
                "HallucinationReport",
                "Identity",
                "Issue",
                "Labels",
                "Metric",
                "Retrieval",
                "Revision",
                "RevisionAttempt",
                "SPEC_VERSION",
                "Severity",
                "Suggestion",
                "TextChange",
                "Timing",
                "ToolCallValidation",
                "UncheckedPart",
            ),
            ".screening": (
                "DropReason",
                "DroppedPassage",
                "PassageConflict",
                "PassageReport",
                "ScreenReason",
                "Screening",
                "Signal",
                "Standing",
            ),
            ".structure": ("CitedField", "FieldRule", "KEYWORD", "Structure"),
            ".verdict": (
                "Action",
                "Category",
                "ClaimKind",
                "ClaimStatus",
                "Origin",
                "SeverityLevel",
                "Stakes",
                "Verdict",
            ),
        },
    )
