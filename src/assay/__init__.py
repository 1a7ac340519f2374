"""assay checks every claim in a model's output against your evidence.

    import assay
    report = assay.check("Partners get 4 weeks of leave.", evidence=["Partners are entitled to 2 weeks of leave."])
    report.action, report.claims[0].verdict

Importing the package costs nothing: what is named here is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay._version import __version__

if TYPE_CHECKING:
    from assay.config import Guard, acheck, check
    from assay.errors import (
        AssayError,
        CallRejectedError,
        ChatError,
        CommitError,
        InputError,
        ModelError,
        PolicyError,
        ReceiptError,
        VerifierError,
        WithheldError,
    )
    from assay.guard import Answer
    from assay.models.chat.load import Chat
    from assay.policy import Policy
    from assay.schema import Action, Category, Evidence, HallucinationReport, Stakes, Verdict

_HOMES = {
    "Action": "assay.schema",
    "Answer": "assay.guard",
    "AssayError": "assay.errors",
    "CallRejectedError": "assay.errors",
    "Category": "assay.schema",
    "Chat": "assay.models.chat.load",
    "ChatError": "assay.errors",
    "CommitError": "assay.errors",
    "Evidence": "assay.schema",
    "Guard": "assay.config",
    "HallucinationReport": "assay.schema",
    "InputError": "assay.errors",
    "ModelError": "assay.errors",
    "Policy": "assay.policy",
    "PolicyError": "assay.errors",
    "ReceiptError": "assay.errors",
    "Stakes": "assay.schema",
    "Verdict": "assay.schema",
    "VerifierError": "assay.errors",
    "WithheldError": "assay.errors",
    "acheck": "assay.config",
    "check": "assay.config",
}

__all__ = [
    "Action",
    "Answer",
    "AssayError",
    "CallRejectedError",
    "Category",
    "Chat",
    "ChatError",
    "CommitError",
    "Evidence",
    "Guard",
    "HallucinationReport",
    "InputError",
    "ModelError",
    "Policy",
    "PolicyError",
    "ReceiptError",
    "Stakes",
    "Verdict",
    "VerifierError",
    "WithheldError",
    "__version__",
    "acheck",
    "check",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
