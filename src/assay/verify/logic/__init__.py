"""The logic of one text, without evidence: what it computes, orders, concludes and says twice
(docs/concepts.md#categories).

    logical_hallucination(O)  <=>  there is a step r_(i+1) that is no valid inference from r_1, ..., r_i

Sums, units, dates and orders are recomputed (`calculations`, `ordering`), conclusions are held against the premises
that the text itself gives for them (`chains`, `inference`), and statements against each other (`inference`). What
cannot be recomputed is not doubted: a false alarm costs more here than a fault that another tier may still find.
"""

from assay.verify.logic.audit import audit_logic, issue_of
from assay.verify.logic.findings import LogicAudit, LogicFinding, LogicLimits, Step, StepVerdict

__all__ = ["LogicAudit", "LogicFinding", "LogicLimits", "Step", "StepVerdict", "audit_logic", "issue_of"]
