"""Promotion: failed cases become proposals, and people decide which of them join the static suite."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.promotion.decisions import ProposalLog as ProposalLog
    from assay.redteam.promotion.decisions import apply_approvals as apply_approvals
    from assay.redteam.promotion.decisions import approve as approve
    from assay.redteam.promotion.decisions import propose as propose
    from assay.redteam.promotion.decisions import record_approval as record_approval
    from assay.redteam.promotion.decisions import reject as reject
    from assay.redteam.promotion.ledger import Ledger as Ledger
    from assay.redteam.promotion.ledger import Proposal as Proposal
    from assay.redteam.promotion.ledger import State as State
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".decisions": ("ProposalLog", "approve", "apply_approvals", "record_approval", "propose", "reject"),
            ".ledger": ("Ledger", "Proposal", "State"),
        },
        renamed={
            "Book": "ProposalLog",
            "let_in": "record_approval",
            "carry_out": "apply_approvals",
        },
    )
