"""Citations in a text, and what each of them is attached to."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.citations.detection import Citation as Citation
    from assay.text.citations.detection import find_citations as find_citations
    from assay.text.citations.passage_references import POINTER as POINTER
    from assay.text.citations.passage_references import find_pointers as find_pointers
    from assay.text.citations.provider_objects import read_citation_objects as read_citation_objects
    from assay.text.citations.source_names import fold as fold
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".detection": ("Citation", "find_citations"),
            ".passage_references": ("POINTER", "find_pointers"),
            ".provider_objects": ("read_citation_objects",),
            ".source_names": ("fold",),
        },
    )
