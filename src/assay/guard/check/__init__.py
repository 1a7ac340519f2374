"""The check of an output, from its claims to the report."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.guard.check.chat_budget import wants_model as wants_model
    from assay.guard.check.report.abstention import limits_from as limits_from
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".report.abstention": ("limits_from",),
            ".chat_budget": ("wants_model",),
        },
    )
