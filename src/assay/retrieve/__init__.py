"""What may be evidence: windows over it and the ranking of them."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.retrieve.alike import bands_of as bands_of
    from assay.retrieve.alike import folded_words as folded_words
    from assay.retrieve.alike import likenesses as likenesses
    from assay.retrieve.alike import runs_of as runs_of
    from assay.retrieve.alike import shares_of as shares_of
    from assay.retrieve.documents import Passage as Passage
    from assay.retrieve.documents import read_passages as read_passages
    from assay.retrieve.premises import EvidenceIndex as EvidenceIndex
    from assay.retrieve.premises import IndexCache as IndexCache
    from assay.retrieve.ranking import WindowRanker as WindowRanker
    from assay.retrieve.ranking import terms as terms
    from assay.retrieve.relevance import relevances as relevances
    from assay.retrieve.windows import WindowOptions as WindowOptions
    from assay.retrieve.windows import cut_windows as cut_windows
    from assay.retrieve.windows import heading as heading
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".alike": ("bands_of", "folded_words", "likenesses", "runs_of", "shares_of"),
            ".documents": ("Passage", "read_passages"),
            ".premises": ("EvidenceIndex", "IndexCache"),
            ".ranking": ("WindowRanker", "terms"),
            ".relevance": ("relevances",),
            ".windows": ("WindowOptions", "cut_windows", "heading"),
        },
    )
