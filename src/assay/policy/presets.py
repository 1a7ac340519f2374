"""The named policies. docs/adr/0005-gate.md and docs/concepts.md#thresholds explain how they decide, and why."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from assay.errors import PolicyError
from assay.policy.model import Escalation, Policy

_GENERAL = Policy(
    name="general",
    description="Assistants and agents in general: every claim has to hold.",
    aggregation="joint",
    independence=0.55,
    ungrounded_tasks=("creative", "brainstorm"),
)

_RAG = Policy(
    name="rag",
    description="Answers from documents, routed by a table of bands of support.",
    aggregation="joint",
    independence=0.55,
    support_threshold=0.8,  # below emit_threshold: what is nearly sure is served with a disclosure
    revise_threshold=0.65,
    route_by_table=True,
    block_on_overall=True,
    failed_citation="block",
    omissions="note",
    judge="uncertain",
)

_SUPPORT_DESK = Policy(
    name="support-desk",
    description="Answers to customers: a person approves what is half certain.",
    aggregation="joint",
    independence=0.55,
    block_threshold=0.3,
    weak_action="escalate",
    block_on_overall=True,
    unchecked_action="escalate",
    failed_citation="escalate",
    judge="uncertain",
)

_MONITOR = Policy(
    name="monitor",
    support_threshold=0.8,  # a rate is counted, of claims and not of answers, and read as over many outputs
    description="PASS, WARN or FAIL by the share of unsupported claims.",
    aggregation="unsupported_rate",
    critical_action="revise",
    escalation=Escalation(enabled=False),
)

_HIGH_STAKES = Policy(
    name="high-stakes",
    description="Finance, health, law: tighter thresholds, all evidence read, strict citations, people asked early.",
    aggregation="joint",
    emit_threshold=0.95,
    revise_threshold=0.8,
    block_threshold=0.6,
    support_threshold=0.95,
    contradiction_threshold=0.2,
    windows_per_claim=None,
    citations="strict",
    failed_citation="block",
    block_on_overall=True,
    unchecked_action="escalate",
    max_revisions=1,
    omissions="revise",
    judge="uncertain",
    consistency_probes=True,
    logic="full",
    escalate_critical_severity=True,
    escalation=Escalation(threshold=0.25),
)

_CREATIVE = Policy(
    name="creative",
    description="Fiction, brainstorming, drafts: claims are not held to evidence, tool calls and structure still are.",
    groundedness=False,
    citations="off",
    logic="off",
    escalation=Escalation(enabled=False),
)


@dataclass(frozen=True, slots=True)
class Criterion:
    """The criterion by which a preset's `support_threshold` and `contradiction_threshold` are chosen on labelled data.

    Each is the threshold with the smallest weighted sum of two error rates (`train/fit_thresholds.py`,
    docs/thresholds.md). A rate is relative to its own class and not to all claims: if one claim in ten is wrong, a leak
    with the weight 1 as a rate has the weight 9 as a claim.
    """

    leak: float
    """The weight of the share of wrong claims that pass as supported; the share of right claims flagged weighs 1."""
    false_contradiction: float
    """The weight of the share of claims wrongly called contradicted; the share of missed contradictions weighs 1."""
    because: str
    """The reason for these weights."""


_BALANCED = Criterion(
    leak=1.0,
    false_contradiction=2.0,
    because="a leak and a false block are equally bad; calling a claim contradicted blocks where a missed one is still "
    "flagged as unsupported",
)

CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {
        "general": _BALANCED,
        "rag": _BALANCED,
        "support-desk": _BALANCED,
        "monitor": _BALANCED,
        "creative": _BALANCED,
        "high-stakes": Criterion(
            leak=3.0,
            false_contradiction=1.0,
            because="a leak costs more than a person's look at a claim that was right",
        ),
    }
)
"""The criterion of each preset by its name."""

PRESETS: Mapping[str, Policy] = MappingProxyType(
    {policy.name: policy for policy in (_GENERAL, _RAG, _SUPPORT_DESK, _MONITOR, _HIGH_STAKES, _CREATIVE)}
)
"""The presets by name."""


def preset(name: str) -> Policy:
    """The preset of this name.

    Raises:
        PolicyError: there is none; the message lists the presets and the closest name.

    >>> preset("rag").revise_threshold
    0.65
    >>> preset("genral")
    Traceback (most recent call last):
    ...
    assay.errors.PolicyError: no policy is called 'genral'; did you mean 'general'? \
Presets: general, rag, support-desk, monitor, high-stakes, creative.
    """
    if name in PRESETS:
        return PRESETS[name]
    raise PolicyError(f"no policy is called {shown(name)}{suggestion(name, PRESETS)} Presets: {', '.join(PRESETS)}.")


def suggestion(name: str, known: Mapping[str, object]) -> str:
    """The end of an error message about an unknown name: the closest known name if there is any."""
    normalised = name[:100].lower().replace("_", "-")
    by_form = {entry.lower().replace("_", "-"): entry for entry in known}
    close = difflib.get_close_matches(normalised, by_form, n=1, cutoff=0.6)
    return f"; did you mean {by_form[close[0]]!r}?" if close else "."


def shown(value: object) -> str:
    """A value as an error message quotes it: in ASCII and at most 60 characters long."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
