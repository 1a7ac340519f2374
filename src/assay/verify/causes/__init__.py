"""Root causes of findings."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.causes.root_causes import Circumstances as Circumstances
    from assay.verify.causes.root_causes import attribute as attribute
    from assay.verify.causes.root_causes import expired_issues as expired_issues
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".root_causes": ("Circumstances", "attribute", "expired_issues"),
        },
    )
