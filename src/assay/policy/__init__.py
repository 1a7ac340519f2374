"""Thresholds, presets, severity and the gate: the deciding core."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.policy.abstention import Abstaining as Abstaining
    from assay.policy.abstention import SignalWeights as SignalWeights
    from assay.policy.abstention import concerns as concerns
    from assay.policy.abstention import with_answering as with_answering
    from assay.policy.escalation import TIERS as TIERS
    from assay.policy.escalation import approved as approved
    from assay.policy.escalation import deadline_of as deadline_of
    from assay.policy.escalation import escalation_of as escalation_of
    from assay.policy.escalation import overdue as overdue
    from assay.policy.escalation import package_of as package_of
    from assay.policy.escalation import rejected as rejected
    from assay.policy.escalation import row_of as row_of
    from assay.policy.escalation import with_escalation as with_escalation
    from assay.policy.findings.severity_formula import claim_weight as claim_weight
    from assay.policy.findings.severity_formula import severity as severity
    from assay.policy.findings.severity_formula import severity_level as severity_level
    from assay.policy.gate import claim_status as claim_status
    from assay.policy.gate import decide as decide
    from assay.policy.gate import escalated as escalated
    from assay.policy.gate import overall_score as overall_score
    from assay.policy.model import Escalation as Escalation
    from assay.policy.model import MetricWeights as MetricWeights
    from assay.policy.model import Policy as Policy
    from assay.policy.model import SeverityWeights as SeverityWeights
    from assay.policy.model import validated as validated
    from assay.policy.modes import Mode as Mode
    from assay.policy.order import looser_settings as looser_settings
    from assay.policy.parse import Part as Part
    from assay.policy.parse import parse_calibration as parse_calibration
    from assay.policy.parse import parse_part as parse_part
    from assay.policy.parse import parse_policy as parse_policy
    from assay.policy.presets import PRESETS as PRESETS
    from assay.policy.presets import preset as preset
    from assay.policy.required_components import requirements as requirements
    from assay.policy.responses import Cause as Cause
    from assay.policy.responses import answer_of as answer_of
    from assay.policy.responses import disclosure_of as disclosure_of
    from assay.policy.responses import fallback_response as fallback_response
    from assay.policy.responses import refusal as refusal
    from assay.policy.responses import silence_notice as silence_notice
    from assay.policy.responses import without_disclosure as without_disclosure
    from assay.policy.routes import LABELS as LABELS
    from assay.policy.routes import Route as Route
    from assay.policy.routes import labels_for as labels_for
    from assay.policy.routes import permissiveness as permissiveness
    from assay.policy.routes import strictest as strictest
    from assay.policy.screening import ScreenPolicy as ScreenPolicy
    from assay.policy.signals import ClaimSignal as ClaimSignal
    from assay.policy.signals import GateInput as GateInput
    from assay.policy.signals import claim_signal as claim_signal
    from assay.policy.signals import is_logic_fault as is_logic_fault
    from assay.policy.signals import signal_of as signal_of
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".abstention": ("Abstaining", "SignalWeights", "concerns", "with_answering"),
            ".escalation": (
                "TIERS",
                "approved",
                "deadline_of",
                "escalation_of",
                "overdue",
                "package_of",
                "rejected",
                "row_of",
                "with_escalation",
            ),
            ".findings.severity_formula": ("claim_weight", "severity", "severity_level"),
            ".gate": ("claim_status", "decide", "escalated", "overall_score"),
            ".model": ("Escalation", "MetricWeights", "Policy", "SeverityWeights", "validated"),
            ".modes": ("Mode",),
            ".order": ("looser_settings",),
            ".parse": ("Part", "parse_calibration", "parse_part", "parse_policy"),
            ".presets": ("PRESETS", "preset"),
            ".required_components": ("requirements",),
            ".responses": (
                "Cause",
                "fallback_response",
                "answer_of",
                "refusal",
                "disclosure_of",
                "without_disclosure",
                "silence_notice",
            ),
            ".routes": ("LABELS", "Route", "labels_for", "permissiveness", "strictest"),
            ".screening": ("ScreenPolicy",),
            ".signals": ("ClaimSignal", "GateInput", "claim_signal", "is_logic_fault", "signal_of"),
        },
        renamed={
            "answer_instead": "fallback_response",
            "told_with": "disclosure_of",
            "untelling": "without_disclosure",
            "untold_words": "silence_notice",
        },
    )
