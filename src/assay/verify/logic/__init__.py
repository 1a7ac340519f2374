"""Checks the logic of one text without evidence: its calculations, orders, conclusions and contradictions
(docs/concepts.md#categories).

    logical_hallucination(O)  <=>  there is a step r_(i+1) that is not a valid inference from r_1, ..., r_i

Sums, units, dates and orders are recomputed (`assay.verify.arithmetic.calculations`, `chronology.ordering`),
conclusions are checked against the premises that the text itself states (`stated_inferences`, `inference`), and
statements against each other (`inference`). What cannot be recomputed is not reported: a false alarm costs more here
than a fault that another tier may still find.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.logic.audit import audit_logic as audit_logic
    from assay.verify.logic.audit import issue_of as issue_of
    from assay.verify.logic.findings import LogicAudit as LogicAudit
    from assay.verify.logic.findings import LogicFinding as LogicFinding
    from assay.verify.logic.findings import LogicLimits as LogicLimits
    from assay.verify.logic.findings import Step as Step
    from assay.verify.logic.findings import StepVerdict as StepVerdict
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".audit": ("audit_logic", "issue_of"),
            ".findings": ("LogicAudit", "LogicFinding", "LogicLimits", "Step", "StepVerdict"),
        },
    )
