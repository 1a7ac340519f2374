"""Generation, revision and repair of outputs through the guard."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.guard.authors.revision import with_answer as with_answer
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".revision": ("with_answer",),
        },
    )
