"""What a report is made of, besides claims: root causes, judgements, abstention, what it cost."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.schema.report_parts.abstention import Abstention as Abstention
    from assay.schema.report_parts.abstention import AbstentionTrigger as AbstentionTrigger
    from assay.schema.report_parts.abstention import Answering as Answering
    from assay.schema.report_parts.abstention import Caveat as Caveat
    from assay.schema.report_parts.abstention import ConfidenceSignal as ConfidenceSignal
    from assay.schema.report_parts.abstention import FiredTrigger as FiredTrigger
    from assay.schema.report_parts.digests import decided as decided
    from assay.schema.report_parts.digests import digests_of as digests_of
    from assay.schema.report_parts.digests import evidence_digest as evidence_digest
    from assay.schema.report_parts.digests import findings_digest as findings_digest
    from assay.schema.report_parts.digests import text_digest as text_digest
    from assay.schema.report_parts.generation import DocumentAttempt as DocumentAttempt
    from assay.schema.report_parts.generation import DocumentRepair as DocumentRepair
    from assay.schema.report_parts.generation import Generation as Generation
    from assay.schema.report_parts.generation import ShownEvidence as ShownEvidence
    from assay.schema.report_parts.generation import StatementReport as StatementReport
    from assay.schema.report_parts.generation import VerificationQuestion as VerificationQuestion
    from assay.schema.report_parts.judgements import ClaimJudgement as ClaimJudgement
    from assay.schema.report_parts.judgements import JudgeAnswer as JudgeAnswer
    from assay.schema.report_parts.judgements import JudgeReport as JudgeReport
    from assay.schema.report_parts.judgements import Omission as Omission
    from assay.schema.report_parts.provenance import ArgumentProvenance as ArgumentProvenance
    from assay.schema.report_parts.provenance import CallAttempt as CallAttempt
    from assay.schema.report_parts.provenance import EntityKind as EntityKind
    from assay.schema.report_parts.provenance import SourceKind as SourceKind
    from assay.schema.report_parts.provenance import TraceStatus as TraceStatus
    from assay.schema.report_parts.root_causes import Cause as Cause
    from assay.schema.report_parts.root_causes import CauseEstimate as CauseEstimate
    from assay.schema.report_parts.root_causes import CauseReport as CauseReport
    from assay.schema.report_parts.spending import Spending as Spending
    from assay.schema.report_parts.tier import Escalated as Escalated
    from assay.schema.report_parts.tier import Tier as Tier
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".abstention": (
                "Abstention",
                "AbstentionTrigger",
                "Answering",
                "Caveat",
                "ConfidenceSignal",
                "FiredTrigger",
            ),
            ".digests": ("decided", "digests_of", "evidence_digest", "findings_digest", "text_digest"),
            ".generation": (
                "DocumentAttempt",
                "DocumentRepair",
                "Generation",
                "ShownEvidence",
                "StatementReport",
                "VerificationQuestion",
            ),
            ".judgements": ("ClaimJudgement", "JudgeAnswer", "JudgeReport", "Omission"),
            ".provenance": ("ArgumentProvenance", "CallAttempt", "EntityKind", "SourceKind", "TraceStatus"),
            ".root_causes": ("Cause", "CauseEstimate", "CauseReport"),
            ".spending": ("Spending",),
            ".tier": ("Escalated", "Tier"),
        },
    )
