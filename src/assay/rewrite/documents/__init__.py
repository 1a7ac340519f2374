"""Documents that satisfy a schema, generated from evidence."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.rewrite.documents.structured_generation import DocumentOptions as DocumentOptions
    from assay.rewrite.documents.structured_generation import document_steps as document_steps
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".structured_generation": ("DocumentOptions", "document_steps"),
        },
    )
