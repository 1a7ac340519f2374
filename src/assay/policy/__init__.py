"""Thresholds, presets, severity and the gate: the deciding core."""

from assay.policy.abstaining import Abstaining, SignalWeights, with_answering
from assay.policy.gate import claim_status, decide, escalated, overall_score
from assay.policy.model import Escalation, MetricWeights, Policy, SeverityWeights, validated
from assay.policy.parse import parse_policy
from assay.policy.presets import PRESETS, preset
from assay.policy.responses import Cause, answer_instead, answer_of, told_with
from assay.policy.routes import LABELS, Route, labels_for, permissiveness, strictest
from assay.policy.screening import ScreenPolicy
from assay.policy.severity_formula import claim_weight, severity, severity_level
from assay.policy.signals import ClaimSignal, GateInput, is_logic_fault

__all__ = [
    "LABELS", "PRESETS", "Abstaining", "Cause", "ClaimSignal", "Escalation", "GateInput", "MetricWeights", "Policy",
    "Route", "ScreenPolicy", "SeverityWeights", "SignalWeights", "answer_instead", "answer_of", "claim_status",
    "claim_weight", "decide", "escalated", "is_logic_fault", "labels_for", "overall_score", "parse_policy",
    "permissiveness", "preset", "severity", "severity_level", "strictest", "told_with", "validated", "with_answering",
]  # fmt: skip
