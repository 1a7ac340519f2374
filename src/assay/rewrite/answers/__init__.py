"""Answers from evidence: what the model is shown, how it cites, and whether it answers at all."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.rewrite.answers.abstention import Limits as Limits
    from assay.rewrite.answers.chain_of_verification import ChainOptions as ChainOptions
    from assay.rewrite.answers.confidence_signals import assess as assess
    from assay.rewrite.answers.confidence_signals import ceiling as ceiling
    from assay.rewrite.answers.confidence_signals import limits_of as limits_of
    from assay.rewrite.answers.confidence_signals import situation_of as situation_of
    from assay.rewrite.answers.evidence_selection import PromptContext as PromptContext
    from assay.rewrite.answers.evidence_selection import choose_evidence as choose_evidence
    from assay.rewrite.answers.evidence_selection import citable as citable
    from assay.rewrite.answers.evidence_selection import statements_on as statements_on
    from assay.rewrite.answers.evidence_selection import with_source_status as with_source_status
    from assay.rewrite.answers.grounded import ABSTENTION as ABSTENTION
    from assay.rewrite.answers.grounded import GroundedOptions as GroundedOptions
    from assay.rewrite.answers.grounded import Treatment as Treatment
    from assay.rewrite.answers.grounded import grounded_steps as grounded_steps
    from assay.rewrite.answers.steps import Check as Check
    from assay.rewrite.answers.steps import StepHandlers as StepHandlers
    from assay.rewrite.answers.steps import Steps as Steps
    from assay.rewrite.answers.steps import adrive as adrive
    from assay.rewrite.answers.steps import drive as drive
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".abstention": ("Limits",),
            ".chain_of_verification": ("ChainOptions",),
            ".confidence_signals": ("assess", "ceiling", "limits_of", "situation_of"),
            ".evidence_selection": (
                "PromptContext",
                "choose_evidence",
                "citable",
                "statements_on",
                "with_source_status",
            ),
            ".grounded": ("ABSTENTION", "GroundedOptions", "Treatment", "grounded_steps"),
            ".steps": ("Check", "StepHandlers", "Steps", "adrive", "drive"),
        },
        renamed={"Hands": "StepHandlers", "with_standing": "with_source_status"},
    )
