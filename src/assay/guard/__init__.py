"""The guard: an answer and its evidence in, a report out. It knows interfaces only."""

from assay.guard.core import Guard
from assay.guard.prepared import Limits
from assay.guard.protecting import Answer
from assay.guard.receipts import Idempotent, ReceiptDesk
from assay.guard.request import CheckRequest
from assay.guard.watching import CallDecision, RunWatch

__all__ = ["Answer", "CallDecision", "CheckRequest", "Guard", "Idempotent", "Limits", "ReceiptDesk", "RunWatch"]
