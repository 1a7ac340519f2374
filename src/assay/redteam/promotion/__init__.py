"""Promotion: failed cases become proposals, and people decide which of them join the static suite."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.promotion.deciding import Book as Book
    from assay.redteam.promotion.deciding import approve as approve
    from assay.redteam.promotion.deciding import carry_out as carry_out
    from assay.redteam.promotion.deciding import let_in as let_in
    from assay.redteam.promotion.deciding import propose as propose
    from assay.redteam.promotion.deciding import reject as reject
    from assay.redteam.promotion.ledger import Ledger as Ledger
    from assay.redteam.promotion.ledger import Proposal as Proposal
    from assay.redteam.promotion.ledger import State as State
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".deciding": ("Book", "approve", "carry_out", "let_in", "propose", "reject"),
            ".ledger": ("Ledger", "Proposal", "State"),
        },
    )
