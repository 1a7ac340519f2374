"""The severity and the category of findings."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.policy.findings.categories import Grounds as Grounds
    from assay.policy.findings.categories import attribute as attribute
    from assay.policy.findings.categories import is_denied as is_denied
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".categories": ("Grounds", "attribute", "is_denied"),
        },
    )
