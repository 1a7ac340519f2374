"""Retrieval within the evidence: windows over it, their ranking, and the relevance and duplicates of passages."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.retrieve.documents import Passage as Passage
    from assay.retrieve.documents import read_passages as read_passages
    from assay.retrieve.near_duplicates import folded_words as folded_words
    from assay.retrieve.near_duplicates import jaccard_and_containment as jaccard_and_containment
    from assay.retrieve.near_duplicates import minhash_bands as minhash_bands
    from assay.retrieve.near_duplicates import similar_pairs as similar_pairs
    from assay.retrieve.near_duplicates import word_shingles as word_shingles
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
            ".near_duplicates": (
                "minhash_bands",
                "folded_words",
                "similar_pairs",
                "word_shingles",
                "jaccard_and_containment",
            ),
            ".documents": ("Passage", "read_passages"),
            ".premises": ("EvidenceIndex", "IndexCache"),
            ".ranking": ("WindowRanker", "terms"),
            ".relevance": ("relevances",),
            ".windows": ("WindowOptions", "cut_windows", "heading"),
        },
        renamed={
            "bands_of": "minhash_bands",
            "likenesses": "similar_pairs",
            "runs_of": "word_shingles",
            "shares_of": "jaccard_and_containment",
        },
    )
