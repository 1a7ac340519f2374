"""The guard: an answer and its evidence in, a report out. It knows interfaces only."""

from typing import TYPE_CHECKING, Any

from assay.guard.core import Guard
from assay.guard.prepared import Limits
from assay.guard.protecting import Answer
from assay.guard.receipts import Idempotent, ReceiptDesk
from assay.guard.request import CheckRequest

if TYPE_CHECKING:
    from assay.guard.watching import CallDecision, RunWatch

__all__ = ["Answer", "CallDecision", "CheckRequest", "Guard", "Idempotent", "Limits", "ReceiptDesk", "RunWatch"]


def __getattr__(name: str) -> Any:
    """What watches runs is loaded when it is asked for."""
    if name in {"CallDecision", "RunWatch"}:
        from assay.guard import watching

        return getattr(watching, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
