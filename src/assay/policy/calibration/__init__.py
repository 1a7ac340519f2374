"""Fitted policies: their measured rates, strictness and provenance, and decisions recomputed under another policy."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.policy.calibration.provenance import Calibration as Calibration
    from assay.policy.calibration.provenance import policy_text as policy_text
    from assay.policy.calibration.provenance import policy_with_prior as policy_with_prior
    from assay.policy.calibration.provenance import void_because as void_because
    from assay.policy.calibration.redecision import GateFacts as GateFacts
    from assay.policy.calibration.redecision import facts_of as facts_of
    from assay.policy.calibration.redecision import objection_to_release as objection_to_release
    from assay.policy.calibration.redecision import redecide as redecide
    from assay.policy.calibration.standing import standing_of as standing_of
    from assay.policy.calibration.strictness import at_strictness as at_strictness
    from assay.policy.calibration.strictness import block_grid_of as block_grid_of
    from assay.policy.calibration.strictness import grid_of as grid_of
    from assay.policy.calibration.strictness import levels_of as levels_of
    from assay.policy.calibration.strictness import loosest as loosest
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".provenance": ("Calibration", "policy_text", "policy_with_prior", "void_because"),
            ".redecision": ("GateFacts", "facts_of", "objection_to_release", "redecide"),
            ".standing": ("standing_of",),
            ".strictness": ("at_strictness", "block_grid_of", "grid_of", "levels_of", "loosest"),
        },
        renamed={"undecided": "objection_to_release"},
    )
