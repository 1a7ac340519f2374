"""How far each citation holds: which evidence it names, and whether its quotations are there."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.citations.quotations import quote_pieces as quote_pieces
    from assay.verify.citations.source_index import source_names as source_names
    from assay.verify.citations.support_levels import ResolvedCitation as ResolvedCitation
    from assay.verify.citations.support_levels import finish_citations as finish_citations
    from assay.verify.citations.support_levels import missing_citations as missing_citations
    from assay.verify.citations.support_levels import pending_pairs as pending_pairs
    from assay.verify.citations.support_levels import pending_passages as pending_passages
    from assay.verify.citations.support_levels import resolve_citations as resolve_citations
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".quotations": ("quote_pieces",),
            ".source_index": ("source_names",),
            ".support_levels": (
                "ResolvedCitation",
                "finish_citations",
                "missing_citations",
                "pending_pairs",
                "pending_passages",
                "resolve_citations",
            ),
        },
    )
